// The files that an approved command names, locked as they are from when they are compared with what was
// approved until it has ended: no other call changes its workspace meanwhile
// (store/workspace/workspace_lock.hpp).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/plan.hpp"
#include "store/workspace/workspace_lock.hpp"

namespace cloche {

// What an approval of such a command is about: its words, and the directories beneath which they may name
// files, the first of which relative ones are taken from.
struct NamedFiles {
  std::vector<std::string> words = {};
  std::vector<std::string> directories = {};
};

// A word may be a path as it is, behind an =, or behind the letter of an option.
std::vector<std::string> spellings_of(const std::string& word);

// Whether a word looks like the name of a file beneath one of the directories, whether or not one is there:
// what was not there when the question was asked may not come afterwards either.
bool looks_for_files(const NamedFiles& named);

class ApprovedFilesLock {
 public:
  ApprovedFilesLock() = default;  // there is nothing to be held
  ApprovedFilesLock(std::string state, const ConfinementPlan& plan, const NamedFiles& named,
                    Patience patience);

  // That files were found by their names, of whatever look.
  void found_some() { needed_ = true; }
  // Whether they could be held: before an approver is asked for a yes that would be spent in vain.
  Result<void> check() const;
  Result<void> hold();
  // Nothing: it was not needed. To be held until the command has ended.
  OwnedFd take() { return std::move(turn_); }

 private:
  std::string state_;
  WorkspaceClaim wanted_;
  Patience patience_;
  bool needed_ = false;
  OwnedFd turn_ = {};
};

}  // namespace cloche
