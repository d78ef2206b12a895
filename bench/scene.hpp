// Where a benchmark happens: a directory of its own under /var/tmp with a workspace, a state directory and
// copies of the programs. Copies, because another user must reach them and a rebuild halfway must not change
// what is measured.
#pragma once

#include <string>

#include "base/result.hpp"
#include "gateway/configuration/installation.hpp"

namespace cloche::bench {

class Scene {
 public:
  // The programs of this build are copied, or those beside the running program are used.
  enum class Programs { copied, beside_us };
  // Also makes the workspace the working directory and names the state directory in the environment.
  static Result<Scene> create(Programs programs);

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

  std::string root_;
  std::string programs_;
};

}  // namespace cloche::bench
