// For unit tests of the file tools' hands: a workspace with a neighbour that must stay as it is.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "base/scratch.hpp"
#include "policy/gates/permit_fixture.hpp"
#include "store/workspace/workspace_files.hpp"

namespace cloche {

namespace fs = std::filesystem;

class WorkspaceFixture {
 public:
  Scratch scratch;
  std::string root = scratch.path + "/ws";
  std::string outside = scratch.path + "/outside";

  WorkspaceFixture() {
    fs::create_directory(root);
    fs::create_directory(outside);
    put(outside + "/secret", "secret");
  }

  static void put(const std::string& path, const std::string& content) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << content;
  }
  static std::string content_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static struct stat status_of(const std::string& path) {
    struct stat seen {};
    EXPECT_EQ(::lstat(path.c_str(), &seen), 0) << path;
    return seen;
  }
  static unsigned mode_of(const std::string& path) { return status_of(path).st_mode & 07777; }

  HeldWorkspace open(FreshFile fresh = FreshFile::unnamed) const {
    auto opened = HeldWorkspace::open(test::permit_in(root), {fresh});
    EXPECT_TRUE(opened.ok());
    return std::move(opened).value();
  }

  // Everything in the scratch directory, sorted and relative to it.
  std::vector<std::string> everything() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path))
      names.push_back(entry.path().lexically_relative(scratch.path).string());
    std::sort(names.begin(), names.end());
    return names;
  }
  bool outside_is_untouched() const {
    return content_of(outside + "/secret") == "secret" &&
           std::distance(fs::directory_iterator(outside), fs::directory_iterator()) == 1;
  }
  bool has_leftovers() const {
    for (const auto& name : everything()) {
      if (name.find(".cloche-") != std::string::npos) return true;
    }
    return false;
  }
};

// What `body` says in a process of its own, where it may change limits and ids.
inline bool in_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace cloche
