// The protected set around one command: a mark while it runs, a look at what it wrote when it is dead, and
// the quarantine for what something on the host would execute. Before the result is anybody's.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/outcome.hpp"
#include "store/host/observe.hpp"
#include "store/protected/open_call.hpp"
#include "store/protected/quarantine.hpp"
#include "store/protected/saved_members.hpp"

namespace cloche {

class ProtectedLook {
 public:
  // Before the command starts. Makes up for a look that an earlier call here did not live to take.
  // Whether anybody will use the workspace after this call, and make up for its look where that is missing.
  // Without anybody there is no mark of it: nobody would ever take that away.
  enum class Afterwards { somebody_comes, nobody_comes };
  // `quarantine` is where what it made is put; empty: a directory of its own in the state.
  static Result<ProtectedLook> begin(const Facts& facts, const std::string& quarantine,
                                     const std::string& state,
                                     Afterwards afterwards = Afterwards::somebody_comes);

  // Whether there was one to make up for, and so what was observed before it may not be so any more.
  bool has_made_up() const { return has_made_up_; }
  const std::vector<Quarantined>& taken_so_far() const { return found_.quarantined; }

  // Takes from the members that are to be mounted those that changed since the first of the calls in their
  // tree began: another may have made them, and will take them away.
  void let_go_of_doubtful(GuardFacts& guard) const;

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
    bool compares = false;        // contents too, because times do not tell of every change here
    std::string before_gap = {};  // why what they were is not known of all
  };
  ProtectedLook(std::string quarantine, std::string state, std::string workspace)
      : quarantine_(std::move(quarantine)), state_(std::move(state)), workspace_(std::move(workspace)) {}
  // What members were like when changes began to count.
  struct Before {
    const ChangeTime& since;
    const SavedMembers& saved;
    const Leads& leads;
    const Digests* digests;  // nullptr: nobody knows
  };
  void make_up_for_abandoned(Tree& tree, const GuardFacts& guard);
  void learn_contents(Tree& tree, const GuardFacts& guard);
  // Whether it was complete.
  bool look(const Tree& tree, const GuardFacts& facts, const Before& before);
  LookAfter find_suspects(const Tree& tree, const GuardFacts& facts, const Before& before) const;
  bool is_as_before(const Tree& tree, const Suspect& suspect, const Before& before) const;
  void put_back(const Tree& tree, const SavedMembers& saved, const GuardFacts& facts, Places places);
  // What all of them are told by, in whichever tree: several may hold the same names.
  std::string named(const Tree& tree, const std::string& path) const;
  void add(const Tree& tree, Quarantined taken);
  void add_gap(const Tree& tree, const std::string& gap);

  std::vector<Tree> trees_;
  Quarantine quarantine_;
  std::string state_;
  std::string workspace_;
  Found found_;
  bool has_made_up_ = false;
};

// Whether one that is to be mounted is not there any more, or another has its name.
bool has_lost_a_member(const GuardFacts& guard);

}  // namespace cloche
