// The walk of the look after a command. Of a directory that was quiet in the look before and has not changed
// since (store/protected/tree_memory.hpp) nothing is opened or read: one question to the kernel, and on to
// the directories in it.
//
// The walk goes down with every directory on its way open, to a certain depth. What is deeper is set aside,
// and walked from there when the rest is done: so there is no depth in which something could hide.
#include <time.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/sys/path.hpp"
#include "policy/protected/folded_name.hpp"
#include "store/protected/file_system_times.hpp"
#include "store/protected/home_links.hpp"
#include "store/protected/protected_judge.hpp"
#include "store/protected/protected_walk.hpp"
#include "store/protected/tree_memory.hpp"
#include "store/trust/symlink_trace.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

DirectoryState state_of(const struct stat& seen) { return {seen.st_dev, seen.st_ino, change_of(seen)}; }

// Nothing about the way to it gives the names in it a meaning.
bool is_neutral(const Trail& trail, GitPart part) { return trail.empty() && part == GitPart::none; }

bool has_nothing(const WalkedPlace& here, const DirectoryNames& names) {
  const auto& subs = names.subdirectories();
  return is_neutral(here.trail, here.part) && !names.is_git_directory() && !names.is_common_part() &&
         names.dot_git().empty() && names.members().empty() &&
         std::all_of(subs.begin(), subs.end(),
                     [](const SubdirectoryName& sub) { return is_neutral(sub.trail, sub.part); });
}

// What may be a directory of sources, so that only some of it is judged
// (policy/protected/protected_directory.hpp).
bool is_without_head(const std::string& directory) {
  const auto has = [&](const char* name) { return look_in(AT_FDCWD, directory + "/" + name).has_value(); };
  return folded_name(last_of(directory)) != ".git" && has("objects") && has("refs") && !has("HEAD");
}

class WalkAfter {
 public:
  WalkAfter(const HeldRoot& root, const TreeFacts& known, const ChangeTime& since, const LookLimits& limits,
            std::string_view remembered)
      : root_path_(root.path),
        findings_(limits),
        judge_(root, known, since, findings_),
        git_(limits.git),
        limits_(limits),
        began_(change_time_now()),
        remembers_(keeps_change_times(file_system_type(root.fd.get()))),
        remembered_(remembered),
        memory_(remembered.size()) {}

  LookAfter take(int root) {
    root_ = root;
    const auto place = memory_.enter("");
    const auto before = take_directory(remembered_);
    const RootMeaning meaning = meaning_of_tree(root_path_);
    look_in_directory({root, "", meaning.trail, meaning.part, false, 0}, before ? before->inside : "", place);
    memory_.leave(place);
    std::string memory;
    if (memory_.count() >= limits_.fewest_remembered) memory = std::move(memory_).text();
    look_at_set_aside();
    judge_leads();
    LookAfter found = findings_.take();
    found.leads = judge_.leads_to_remember();
    found.has_all_leads = judge_.has_come_by_all() && !has_met_closed_;
    if (remembers_ && found.gap.empty()) found.memory = std::move(memory);
    return found;
  }

 private:
  // Longer ones are not asked for at once, but step by step.
  static constexpr size_t longest_path = 3072;

  // A way to a directory: `name` is beneath `from`, one name or several.
  struct Step {
    int from;
    const std::string& name;
    const std::string& path;
    const SubdirectoryName& sub;
    const WalkedPlace& above;
  };

  // A directory that lies too deep for those around it to stay open until it was looked at.
  struct SetAside {
    std::string path;
    SubdirectoryName sub;
    bool way_is_new;
  };

  void look_in_directory(WalkedPlace here, std::string_view remembered, TreeMemory::Place place) {
    if (!findings_.may_go_on()) return;
    struct stat seen {};
    const bool is_old = ::fstat(here.fd, &seen) == 0 && change_of(seen) < began_;
    DirectoryNames names(here.trail, here.part);
    const bool read = for_each_name(here.fd, [&](const dirent& entry) {
      names.add(entry.d_name, kind_in(here.fd, entry));
      return findings_.count();
    });
    if (!read) findings_.gap("'" + here.path + "' could not be read");
    names.settle();
    // One that changed in this very tick of the clock could change again without showing it.
    if (remembers_ && is_old && has_nothing(here, names)) memory_.call_quiet(place, state_of(seen));
    const auto kind = names.is_git_directory() ? LeadFact::Kind::git_directory : LeadFact::Kind::common_part;
    const bool is_git = names.is_git_directory() || names.is_common_part();
    const bool is_new_git = is_git && has_become_git(kind, here, seen);
    const bool is_new_part = names.is_worktree_part() && has_become_worktree_part(here, seen);
    here.way_is_new = here.way_is_new || is_new_git || is_new_part;
    if (!names.dot_git().empty()) checkouts_.emplace_back(judge_.absolute(here.path), names.dot_git());
    if (is_found_by_content(names, here.part)) git_directories_.push_back(judge_.absolute(here.path));
    for (const auto& member : names.members()) judge_.judge(here, member, here.way_is_new);
    const RememberedNames before(remembered);
    for (const auto& sub : names.subdirectories()) {
      const std::string path = joined(here.path, sub.name);
      visit({here.fd, sub.name, path, sub, here}, before.find(sub.name));
    }
  }

  // When the walk is done: what was closed on the way to a configuration is open by then.
  void judge_leads() {
    judge_places(git_.around(root_path_));
    judge_.judge_places(home_links(limits_.git.home, root_path_), MemberJudge::by_home);
    for (const auto& [tree, dot_git] : checkouts_) judge_places(git_.of_checkout(tree, dot_git));
    for (const auto& directory : git_directories_) {
      const std::vector<NamedPlace> places = git_.of_git_directory(directory);
      judge_places(places);
      for (const auto& place : places) judge_common_part(place);
    }
    judge_.judge_known_leads();
  }

  void judge_places(std::vector<NamedPlace> places) {
    add_links_of_hooks_outside(root_path_, places);
    judge_.judge_places(places);
  }

  // Where a commondir leads git reads everything, and itself keeps a HEAD there. However old the file is: a
  // command may have removed that HEAD, or made the rest of what git asks for.
  void judge_common_part(const NamedPlace& place) {
    if (place.kind != PlaceKind::repository || !place.pointer.ends_with("/commondir")) return;
    const SymlinkTrace way = trace_symlinks(place.path);
    if (way.error != 0 || !is_beneath(root_path_, way.path) || !is_without_head(way.path)) return;
    findings_.suspect(place.pointer.substr(root_path_.size() + 1),
                      "leads git to a directory that is none of its own");
  }

  // Nothing has come into it, and what is in it has no meaning: only the directories remain.
  void pass_through(const WalkedPlace& here, std::string_view remembered) {
    if (!findings_.may_go_on()) return;
    SubdirectoryName sub;
    std::string path;
    while (const auto below = take_directory(remembered)) {
      sub.name = below->name;
      path = joined(here.path, sub.name);
      visit({root_, path, path, sub, here}, below);
    }
  }

  // Then git obeys what was in it before too. Where nobody knows which there were, the times tell: it is new,
  // or what makes it one is.
  bool has_become_git(LeadFact::Kind kind, const WalkedPlace& here, const struct stat& seen) {
    if (judge_.has_become(kind, seen, here.path)) return true;
    if (judge_.knows_all()) return false;
    return judge_.is_new(seen, here.path) || has_new(here, {"objects", "refs"}) || has_new_head(here, seen);
  }

  bool has_become_worktree_part(const WalkedPlace& here, const struct stat& seen) {
    if (judge_.has_become(LeadFact::Kind::worktree_part, seen, here.path)) return true;
    if (judge_.knows_all()) return false;
    return has_new(here, {"commondir"}) || has_new_head(here, seen);
  }

  // Git writes it anew all the time in what is known, and the other names once.
  bool has_new_head(const WalkedPlace& here, const struct stat& seen) const {
    return !judge_.is_known(seen, here.path) && has_new(here, {"HEAD"});
  }

  bool has_new(const WalkedPlace& here, std::initializer_list<const char*> names) const {
    return std::any_of(names.begin(), names.end(), [&](const char* name) {
      const auto part = look_in(here.fd, name);
      return part && judge_.is_new(*part, joined(here.path, name));
    });
  }

  // A directory of git's objects that nobody has touched and that has no other in it.
  bool can_be_skipped(const Step& step) const {
    if (step.above.part != GitPart::objects || step.above.way_is_new || !is_object_directory(step.sub.name))
      return false;
    const auto seen = look_in(step.from, step.name);
    return seen && S_ISDIR(seen->st_mode) && seen->st_nlink == 2 && !judge_.is_touched(*seen);
  }

  bool is_hidden(const std::string& path) const {
    const auto& hidden = limits_.hidden;
    return !hidden.empty() && std::find(hidden.begin(), hidden.end(), judge_.absolute(path)) != hidden.end();
  }

  // Every directory has its place in the memory, also one that is not looked at: whoever passes through the
  // one above it goes by that list.
  void visit(const Step& step, const std::optional<RememberedDirectory>& before) {
    if (findings_.has_stopped()) return;
    const auto place = memory_.enter(step.sub.name);
    if (!can_be_skipped(step) && !is_hidden(step.path)) {
      if (step.above.depth >= limits_.depth) {
        set_aside(step);
      } else if (before && is_still_quiet(step, *before)) {
        memory_.call_quiet(place, before->state);
        pass_through({-1, step.path, {}, GitPart::none, false, step.above.depth + 1}, before->inside);
      } else {
        descend(step, before ? before->inside : "", place);
      }
    }
    memory_.leave(place);
  }

  void set_aside(const Step& step) {
    set_aside_bytes_ += sizeof(SetAside) + step.path.size() + step.sub.name.size();
    if (set_aside_bytes_ > limits_.set_aside_bytes) return findings_.stop("too much in it lies too deep");
    set_aside_.push_back({step.path, step.sub, step.above.way_is_new});
  }

  // Each as a walk of its own from where it lies. Of these nothing is remembered.
  void look_at_set_aside() {
    while (!set_aside_.empty() && findings_.may_go_on()) {
      const SetAside next = std::move(set_aside_.back());
      set_aside_.pop_back();
      set_aside_bytes_ -= sizeof(SetAside) + next.path.size() + next.sub.name.size();
      const std::string around = directory_of(next.path);
      const OwnedFd from = open_descendant(root_, around, O_PATH | O_DIRECTORY);
      if (!from && errno != ENOENT) findings_.gap("'" + around + "' could not be opened again");
      if (!from) continue;
      memory_ = TreeMemory(0);
      const auto place = memory_.enter(next.sub.name);
      const WalkedPlace above{from.get(), around, {}, GitPart::none, next.way_is_new, 0};
      descend({from.get(), next.sub.name, next.path, next.sub, above}, "", place);
    }
  }

  bool is_still_quiet(const Step& step, const RememberedDirectory& before) const {
    if (!remembers_ || !before.quiet || !is_neutral(step.sub.trail, step.sub.part)) return false;
    if (step.path.size() > longest_path) return false;
    const auto seen = look_in(step.from, step.name);
    return seen && S_ISDIR(seen->st_mode) && state_of(*seen) == before.state;
  }

  // Also one that the command closed, perhaps to hide what is in it. Nothing: it is gone, or was closed
  // before the command came, and so to it as well; of all else the look is not complete.
  OwnedFd open_again(const Step& step) {
    OpenedDirectory opened = open_directory(step.from, step.name);
    if (opened.barrier == Barrier::none || opened.barrier == Barrier::absent) return std::move(opened.fd);
    const auto seen = look_in(step.from, step.name);
    if (seen && judge_.is_touched(*seen) && limits_.opens_closed) {
      open_to_owner(step.from, step.name, *seen);
      opened = open_directory(step.from, step.name);
      if (opened.barrier == Barrier::closed) opened.barrier = Barrier::unknown;
    }
    if (opened.barrier == Barrier::unknown) findings_.gap(opened.describe(step.path));
    has_met_closed_ = has_met_closed_ || opened.barrier == Barrier::closed;
    return std::move(opened.fd);
  }

  void descend(const Step& step, std::string_view remembered, TreeMemory::Place place) {
    const OwnedFd fd = open_again(step);
    if (!fd) return;
    struct stat seen {};
    const bool is_way = !is_neutral(step.sub.trail, step.sub.part);
    const bool way_is_new = is_way && (step.above.way_is_new ||
                                       (::fstat(fd.get(), &seen) == 0 && judge_.is_new(seen, step.path)));
    look_in_directory({fd.get(), step.path, step.sub.trail, step.sub.part, way_is_new, step.above.depth + 1},
                      remembered, place);
  }

  const std::string& root_path_;
  Findings findings_;
  MemberJudge judge_;
  const GitPlaces git_;
  const LookLimits& limits_;
  ChangeTime began_;
  bool remembers_;
  std::string_view remembered_;
  int root_ = -1;
  TreeMemory memory_;
  std::vector<std::pair<std::string, std::string>> checkouts_;  // and what their .git is called
  std::vector<std::string> git_directories_;
  std::vector<SetAside> set_aside_;
  size_t set_aside_bytes_ = 0;
  bool has_met_closed_ = false;
};

}  // namespace

ChangeTime change_time_now() {
  // The kernel stamps files with the time of its last tick, not with the exact one.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return {now.tv_sec, now.tv_nsec};
}

LookAfter look_after(const HeldRoot& root, const TreeFacts& known, const ChangeTime& since,
                     const LookLimits& limits, std::string_view remembered) {
  // One that somebody removed meanwhile had to be empty for that, and nothing can be made in it any more.
  struct stat seen {};
  const bool is_there = ::fstat(root.fd.get(), &seen) == 0;
  if (is_there && seen.st_nlink == 0) return {};
  // With a position of its own.
  OwnedFd fd = open_child(root.fd.get(), ".", directory_flags);
  if (!fd && errno == EACCES && is_there && limits.opens_closed && change_of(seen) >= since) {
    ::fchmod(root.fd.get(), (seen.st_mode | S_IRWXU) & 07777);
    fd = open_child(root.fd.get(), ".", directory_flags);
  }
  if (!fd) return {.gap = system_error(root.path + " could not be opened").what.text()};
  return WalkAfter(root, known, since, limits, remembered).take(fd.get());
}

AllLeads find_leads(const HeldRoot& root, const LookLimits& limits, std::string_view remembered) {
  constexpr ChangeTime never{std::numeric_limits<int64_t>::max(), 0};
  LookLimits unchanged = limits;
  unchanged.opens_closed = false;
  LookAfter found = look_after(root, {}, never, unchanged, remembered);
  return {std::move(found.leads), found.gap.empty() && found.has_all_leads};
}

}  // namespace cloche
