// The memory file systems of a view, held open from outside: how much is in them, and which have been full.
// They stay readable when the command has ended, until they are let go of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/sys/fd.hpp"

namespace cloche {

class TmpfsWatch {
 public:
  // By their paths in the view.
  explicit TmpfsWatch(std::vector<std::string> targets) : targets_(std::move(targets)) {}

  void attach(int root);
  // The bytes in all of them.
  uint64_t sample();
  // Those in which at one look nothing more had room, by their paths. Lets go of all of them.
  std::vector<std::string> end();

 private:
  struct Held {
    std::string target;
    OwnedFd root;
    bool was_full = false;
  };
  std::vector<std::string> targets_;  // that are not held yet
  std::vector<Held> held_;
};

}  // namespace cloche
