// The protected set around one command: a mark while it runs, a look at what it wrote when it is dead, and
// the quarantine for what something on the host would execute. Before the result is anybody's.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/outcome.hpp"
#include "store/observe.hpp"
#include "store/open_call.hpp"
#include "store/quarantine.hpp"
#include "store/saved_members.hpp"

namespace cloche {

class ProtectedLook {
 public:
  // Before the command starts. Makes up for a look that an earlier call here did not live to take.
  static Result<ProtectedLook> begin(const Observation& seen, const std::string& state);

  // What there was for that, and so what was observed before it may be gone.
  bool has_changed_tree() const { return !found_.quarantined.empty(); }

  struct Found {
    std::vector<Quarantined> quarantined = {};
    std::vector<std::string> restored = {};
    std::string gap = {};
  };
  // After its last process. `facts` are those that the plan was made from.
  Found finish(const GuardFacts& facts);

 private:
  struct Tree {
    HeldRoot root;
    OpenCall call;
    SavedMembers saved = {};
  };
  ProtectedLook(std::string quarantine, std::string state, std::string workspace)
      : quarantine_(std::move(quarantine)), state_(std::move(state)), workspace_(std::move(workspace)) {}
  // Whether it was complete.
  bool look(const Tree& tree, const GuardFacts& facts, const ChangeTime& since);
  void put_back(const Tree& tree);
  // What all of them are told by, in whichever tree: several may hold the same names.
  std::string named(const Tree& tree, const std::string& path) const;
  void add(const Tree& tree, Quarantined taken);
  void add_gap(const Tree& tree, const std::string& gap);

  std::vector<Tree> trees_;
  Quarantine quarantine_;
  std::string state_;
  std::string workspace_;
  Found found_;
};

}  // namespace cloche
