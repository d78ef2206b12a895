// A mark for as long as a command may write to a tree, so that a Cloche that was killed meanwhile is noticed:
// its look at the tree never happened, and the next call there makes up for it.
//
// A mark is a file in STATE/open, locked by whoever made it. Its name says which tree, and since when changes
// count; in it is what was known of the tree, so that whoever looks later takes nothing that was there
// before. A mark that nobody holds is of a call that is dead, or whose look was not complete.
//
// By the mark's name there is more in STATE/before, for whoever is in the tree at the same time or comes
// after a call that was killed: copies of members (store/protected/saved_members.hpp has the order of steps),
// what members held where times do not tell (store/protected/member_contents.hpp), and where leads led
// (store/protected/leads.hpp).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/sys/fd.hpp"
#include "model/facts.hpp"
#include "store/protected/leads.hpp"
#include "store/protected/member_contents.hpp"
#include "store/protected/saved_members.hpp"

namespace cloche {

// A call in a tree that ended without a look.
struct UnlookedCall {
  ChangeTime since;
  std::vector<ProtectedFact> known;  // what was there when it began
};

// The first of them in the tree at `root`. Leaves everything as it is.
std::optional<UnlookedCall> find_unlooked(const std::string& state, int root);

// Where leads led.
struct Leads {
  std::vector<LeadFact> facts = {};
  bool are_all = false;  // there were no others

  // Of another call, which began later.
  void take_over(const Leads& later);
};

class OpenCall {
 public:
  OpenCall(OpenCall&&) = default;
  OpenCall& operator=(OpenCall&&) = delete;
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  ~OpenCall() { close(); }  // a command that was never started leaves nothing to look for

  // Adds to what was taken over from the calls that are open. Nobody else begins or ends meanwhile.
  using Save = std::function<void(SavedMembers& saved, const OpenCall& call)>;

  // Without a state directory there is no mark, and nobody will notice.
  static OpenCall begin(const std::string& state, int root, const ChangeTime& now, const TreeFacts& known,
                        const Save& save = {});

  // Changes count from here: from when the first of the calls began that are in this tree now. Two of them
  // could move things past each other's looks.
  const ChangeTime& since() const { return since_; }
  // Another call was in this tree when this one began. The clock does not tell: who waited for his turn may
  // have looked at it before one who is there already.
  bool overlaps() const { return kept_by_others_.has_value(); }
  // Whether what changed then may be the work of another call: one that is in this tree as well, or one that
  // ended without a look. That it was there before this one says nothing.
  bool is_doubtful(const ChangeTime& changed) const {
    return (overlaps() && changed >= since_) || (abandoned_ && changed >= *abandoned_);
  }
  // A call ended without a look; whatever changed since then was seen by nobody.
  const std::optional<ChangeTime>& abandoned() const { return abandoned_; }
  // What that call knew when it began.
  const std::vector<ProtectedFact>& known_to_abandoned() const { return known_to_abandoned_; }

  // Where leads led before the first of the calls that are in this tree.
  const Leads& leads() const { return leads_; }
  const Leads& leads_of_abandoned() const { return leads_of_abandoned_; }

  // Found when it had begun.
  void add_leads(const Leads& more);

  // Whether this was read-only to every other call that is in this tree, by this path: then only the host can
  // have changed it.
  bool is_kept_by_others(const std::string& path) const {
    return !kept_by_others_ || kept_by_others_->contains(path);
  }

  // As it was before every call that is in this tree.
  const SavedMembers& saved() const { return saved_; }
  const SavedMembers& saved_by_abandoned() const { return saved_by_abandoned_; }
  // Once more of its own, found when it had begun.
  void add_saved(const SavedMembers& more);

  // What members held before the first of the calls that are in this tree; empty: nobody said.
  const Digests& digests() const { return digests_; }
  const Digests& digests_of_abandoned() const { return digests_of_abandoned_; }
  // What this one found, where none of the others says anything.
  void add_digests(const Digests& found);

  // The look for the abandoned ones is done.
  void forget_abandoned();
  // The look for this one is done, or was never due.
  void close();
  // It is not complete: the next call makes up for it.
  void leave();

 private:
  OpenCall() = default;
  std::vector<ProtectedFact> certain_of(std::vector<ProtectedFact> known) const;
  void look_at_others(int directory, const std::string& of_root);
  void take_over_abandoned(int directory);
  bool make_mark(int directory, const std::string& of_root, const std::vector<ProtectedFact>& known);
  SavedMembers saved_by(const std::string& name) const;
  Leads leads_by(const std::string& name) const;
  Digests digests_by(const std::string& name) const;
  void add_own_leads(const Leads& own);
  void write_saved() const;
  void remove(const std::string& name) const;

  std::string directory_;
  std::string before_;
  std::string name_;
  OwnedFd lock_;
  std::vector<std::string> dead_;  // the oldest first
  ChangeTime since_;
  std::optional<ChangeTime> abandoned_;
  std::vector<ProtectedFact> known_to_abandoned_;
  Leads leads_ = {.are_all = true};
  Leads leads_of_abandoned_ = {.are_all = true};
  std::optional<std::set<std::string>> kept_by_others_;  // nothing: there are no others
  SavedMembers saved_;
  SavedMembers saved_by_abandoned_;
  Digests digests_;
  Digests digests_of_abandoned_;
};

}  // namespace cloche
