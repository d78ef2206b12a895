// Where a benchmark happens: a directory of its own under /var/tmp with a workspace, a home, a state
// directory and copies of the programs. Copies, because another user must reach them and a rebuild halfway
// must not change what is measured. The workspace is a git repository of 2,000 directories and 5,000 files,
// and the home has in it what a developer's has.
#pragma once

#include <string>

#include "base/result.hpp"
#include "gateway/configuration/installation.hpp"

namespace cloche::bench {

class Scene {
 public:
  // Also makes the workspace the working directory, and names the home and the state in the environment.
  static Result<Scene> create();
  // With the copies of another one.
  static Result<Scene> create(const std::string& programs);

  Scene(Scene&& other) noexcept;
  Scene& operator=(Scene&&) = delete;
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene();

  std::string directory() const { return root_; }
  std::string workspace() const { return root_ + "/workspace"; }
  std::string programs() const { return programs_; }
  std::string program(const std::string& name) const { return programs_ + "/" + name; }
  Installation installation() const;

 private:
  Scene() = default;
  static Result<Scene> with_places();
  Result<void> enter() const;

  std::string root_;
  std::string programs_;
};

// So many directories, by the hundred: one, with ninety-nine in it. The files are spread over them.
Result<void> make_tree(const std::string& root, int directories, int files);

// A directory in memory, where Cloche keeps its state while this lives: what a file system of a disk needs to
// make a file is not ours, and ext4 needs ten times as long while many were deleted in the last minutes.
class MemoryPlace {
 public:
  MemoryPlace();
  MemoryPlace(const MemoryPlace&) = delete;
  MemoryPlace& operator=(const MemoryPlace&) = delete;
  ~MemoryPlace();

  const std::string& directory() const { return directory_; }

 private:
  std::string directory_ = "/dev/shm/cloche-bench-XXXXXX";
  std::string state_before_;
};

}  // namespace cloche::bench
