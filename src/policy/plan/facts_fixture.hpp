// For tests: what a look at a Debian host might have found.
#pragma once

#include <string>
#include <utility>

#include "model/facts.hpp"

namespace cloche::fixture {

inline FileFact directory(std::string path, uint64_t inode = 0, unsigned owner = 0) {
  return {.kind = FileFact::Kind::directory,
          .path = std::move(path),
          .device = 2049,
          .inode = inode,
          .uid = owner,
          .gid = owner};
}
inline FileFact file(std::string path, uint64_t inode = 0, unsigned owner = 0) {
  return {.kind = FileFact::Kind::file,
          .path = std::move(path),
          .device = 2049,
          .inode = inode,
          .uid = owner,
          .gid = owner};
}
inline FileFact link(std::string path, std::string says) {
  return {.kind = FileFact::Kind::link, .path = std::move(path), .link = std::move(says), .device = 2049};
}

// A Debian host and an ordinary caller.
inline Facts debian() {
  Facts facts;
  facts.caller = {.uid = 1001,
                  .gid = 1002,
                  .home = "/home/user",
                  .path = "/home/user/.cargo/bin:/usr/local/bin:/usr/bin:/bin"};
  facts.workspace = directory("/home/user/project", 77, 1001);
  facts.system = {directory("/usr"),       link("/bin", "usr/bin"),     link("/sbin", "usr/sbin"),
                  link("/lib", "usr/lib"), link("/lib64", "usr/lib64"), directory("/opt")};
  facts.etc = {file("/etc/ld.so.cache"),
               file("/etc/nsswitch.conf"),
               link("/etc/os-release", "../usr/lib/os-release"),
               link("/etc/localtime", "/usr/share/zoneinfo/Etc/UTC"),
               directory("/etc/alternatives"),
               directory("/etc/ssl/certs")};
  return facts;
}

}  // namespace cloche::fixture
