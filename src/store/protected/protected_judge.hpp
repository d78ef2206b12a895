// Judges what a look after a command comes by: is this member of the protected set the command's doing? And
// keeps what was found, within the bounds of the look. The walk itself is
// store/protected/protected_after.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/protected/protected_directory.hpp"
#include "store/protected/git_places.hpp"
#include "store/protected/protected_walk.hpp"
#include "store/trust/symlink_trace.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {

// What was there before the command.
class Known {
 public:
  explicit Known(const std::vector<ProtectedFact>& facts);

  const ProtectedFact* find(const struct stat& seen) const;
  // A directory that has come to a name is new by it, whatever is known of it by another: what is in it is
  // older.
  bool is_at(const struct stat& seen, const std::string& path) const;
  bool is_unchanged(const struct stat& seen) const;

 private:
  std::map<std::pair<uint64_t, uint64_t>, const ProtectedFact*> files_;
};

// What was found so far, and whether the look may go on.
class Findings {
 public:
  explicit Findings(const LookLimits& limits);

  void suspect(const std::string& path, std::string reason);
  void gap(const std::string& what);
  bool may_go_on();  // asked for each directory
  bool count();      // one name more; false: there are too many
  void stop(const std::string& why);
  bool has_stopped() const { return stopped_; }
  LookAfter take() { return std::move(found_); }

 private:
  uint64_t most_names_;
  size_t most_suspects_;
  uint64_t deadline_ms_;
  uint64_t names_ = 0;
  uint64_t directories_ = 0;
  bool stopped_ = false;
  std::set<std::string> suspected_;
  LookAfter found_;
};

// A directory that the walk is in.
struct WalkedPlace {
  int fd;
  std::string path;  // relative to the root
  Trail trail;
  GitPart part;
  bool way_is_new;  // it came by this name just now: everything in it did
  size_t depth;
};

// Something by which a file or directory elsewhere in the tree is executed.
struct Led {
  LeadName lead;
  std::string reason;
  std::string pointer = {};  // the file or link that names a repository, absolute

  bool is_link() const { return lead.kind == LeadFact::Kind::link; }
};

class MemberJudge {
 public:
  MemberJudge(const HeldRoot& root, const TreeFacts& known, const ChangeTime& since, Findings& findings)
      : root_(root.path),
        root_fd_(root.fd.get()),
        known_(known.files),
        leads_(known.leads),
        knows_all_(known.is_complete),
        since_(since),
        findings_(findings) {}

  void judge(const WalkedPlace& here, const MemberName& member, bool way_is_new);
  // What configurations, which may well be as they were, have git execute.
  static constexpr const char* by_git = "a configuration of git has it execute what is here";
  static constexpr const char* by_home = "a link in the home directory leads here";
  void judge_places(const std::vector<NamedPlace>& places, const char* reason = by_git);
  // What led somewhere before the command, whoever says so now.
  void judge_known_leads();
  // Those that there are, and those that there were while their ends are there, as far as it is worth
  // remembering them.
  std::vector<RememberedLead> leads_to_remember() const;
  bool has_come_by_all() const { return come_by_.size() < most_come_by; }

  // Of a directory that is one now: it was none before, as far as anybody knows all that were.
  bool has_become(LeadFact::Kind kind, const struct stat& seen, const std::string& path);
  bool knows_all() const { return knows_all_; }

  bool is_touched(const struct stat& seen) const { return change_of(seen) >= since_; }
  bool is_new(const struct stat& seen, const std::string& path) const {
    return is_touched(seen) && !known_.is_at(seen, absolute(path));
  }
  bool is_known(const struct stat& seen, const std::string& path) const {
    return known_.is_at(seen, absolute(path));
  }
  std::string absolute(const std::string& path) const { return path.empty() ? root_ : root_ + "/" + path; }

 private:
  void judge_member(const WalkedPlace& here, const MemberName& member, bool way_is_new);
  bool is_out_of_reach(const struct stat& seen) const;
  std::vector<std::string> dangers_before(const WalkedPlace& here) const;
  void judge_always(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                    bool way_is_new);
  void judge_config(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                    bool way_is_new);
  void judge_hooks(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                   bool way_is_new);
  void judge_strategy(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                      bool way_is_new);
  void judge_todo(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                  bool way_is_new);
  void judge_inner_link(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                        bool way_is_new);
  void judge_link(const WalkedPlace& here, const MemberName& member, const struct stat& seen, bool way_is_new,
                  std::string_view key);
  // What of a directory's content may be the command's: of one that was read-only only what links in it lead
  // to.
  enum class Inside { everything, links };
  void look_inside(const std::string& path, const std::string& reason, Inside inside = Inside::everything);
  void judge_unread(const OpenedDirectory& opened, const struct stat& seen, const std::string& path,
                    const std::string& reason);
  std::vector<std::string> look_in_one(int fd, const std::string& path, const std::string& reason,
                                       Inside inside);
  // Of a link that is as it was: it is followed when whoever met it is done.
  void judge_end(const std::string& link, const std::string& reason);
  void add_led(Led led);
  void judge_all_led();
  void judge_former_end(const LeadFact& lead);
  void remember(const LeadName& name, const SymlinkTrace& way);
  void judge_led(const Led& led);
  void judge_repository(const Led& led, const SymlinkTrace& way);
  bool may_be_executed(const Led& led, const SymlinkTrace& way) const;
  void judge_shown_path(const Led& led, const SymlinkTrace& way);
  void judge_content(const Led& led, const SymlinkTrace& way, const std::string& goes);
  bool has_turned(const Led& led, const SymlinkTrace& way);
  bool was_on_way(const Led& led, const SymlinkTrace::Link& link) const;
  // Whether something else is at its end than was, or than anybody knew of.
  bool is_another(const Led& led, const SymlinkTrace& way) const;
  bool is_other_end(const LeadFact& before, const SymlinkTrace& way) const;
  bool has_new_way(const std::string& path) const;
  SymlinkTrace follow(const std::string& path) const;
  bool is_inside(const std::string& path) const;
  std::string relative(const std::string& path) const { return path.substr(root_.size() + 1); }

  const std::string& root_;
  int root_fd_;
  Known known_;
  KnownLeads leads_;
  bool knows_all_;
  ChangeTime since_;
  Findings& findings_;
  std::vector<Led> led_;  // still to be followed
  static constexpr size_t most_come_by = 1 << 16;
  std::map<LeadName, RememberedLead> come_by_;
  std::set<std::string> ends_;  // directories that were looked at because something leads there
};

}  // namespace cloche
