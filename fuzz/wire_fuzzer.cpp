// Feeds bytes to the jail's decoder. A plan that is accepted must keep what the jail relies on: every string
// ends, every target stays beneath the root, no id is root.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "jail/core/wire.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

void check_path(const char* path, const char* begin, const char* end) {
  require((path >= begin && path < end) || *path == '\0');
  require(std::strlen(path) <= cloche::wire::max_path_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cloche::wire;
  static Storage storage;
  // A copy of exactly this size, so that a read past the end is seen.
  const std::vector<char> bytes(data, data + size);
  Plan plan;
  if (decode(bytes, storage, plan) != nullptr) return 0;
  const char* begin = bytes.data();
  const char* end = begin + bytes.size();
  for (const auto& mount : plan.mounts) {
    check_path(mount.target, begin, end);
    check_path(mount.source, begin, end);
    require(mount.target[0] != '/' && std::strstr(mount.target, "..") != mount.target);
    require(mount.kind != MountKind::tmpfs || mount.size_bytes != 0);
    size_t sum = 0;
    for (char c : mount.content) sum += static_cast<unsigned char>(c);
    require(sum <= mount.content.size() * 255);
  }
  for (const auto& rule : plan.rules) require(rule.path[0] == '/');
  require(plan.inside_uid != 0 && plan.inside_gid != 0);
  for (const Words& words : {plan.programs, plan.argv, plan.env}) {
    for (const char* word : words) require(word >= begin && word + std::strlen(word) < end);
    require(words.data()[words.size()] == nullptr);
  }
  return 0;
}
