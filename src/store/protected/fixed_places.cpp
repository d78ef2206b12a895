#include "store/protected/fixed_places.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/protected_trees.hpp"
#include "store/host/observe.hpp"
#include "store/host/system_facts.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/protected/git_places.hpp"
#include "store/protected/home_links.hpp"
#include "store/trust/symlink_trace.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr size_t most_places = 4096;
constexpr size_t most_directories = 256;
constexpr size_t most_kept = 64;  // each is a mount; what is beyond is only compared afterwards
constexpr size_t most_content = size_t{1} << 20;

// Where members lie in a git directory. Of its objects and references nothing is executed.
bool leads_to_members(const SubdirectoryName& sub) {
  switch (sub.part) {
    case GitPart::none: return !sub.trail.empty();
    case GitPart::objects:
    case GitPart::inside: return false;
    default: return true;
  }
}

// Git writes these itself: they are judged by what is in them when the command has ended.
bool is_written_by_git(MemberRule rule) {
  return rule == MemberRule::git_pointer || rule == MemberRule::git_todo ||
         rule == MemberRule::git_strategy || rule == MemberRule::git_index ||
         rule == MemberRule::git_resolutions || rule == MemberRule::inner_link;
}

class FixedLook {
 public:
  FixedLook(int root, FixedTree tree, const GitSources& git)
      : root_(root), tree_(std::move(tree)), git_(git) {}

  // After the command: what was there before it is looked at whatever says so now, and what was kept is not
  // looked into.
  void compare_with(const FixedTree& before) { before_ = &before; }

  FixedTree look() {
    const RootMeaning meaning = meaning_of_tree(tree_.root);
    waiting_.push_back({"", meaning.trail, meaning.part});
    for (size_t count = 0; !waiting_.empty(); ++count) {
      if (count == most_directories) {
        leave_out("there are more than " + std::to_string(most_directories) + " directories at them");
        break;
      }
      look_in_next();
    }
    // What a link among them leads to is executed in its place.
    for (size_t i = 0; i < links_.size() && i < most_places; ++i)
      add_named({absolute(std::string(links_[i])), PlaceKind::config});
    add_all_named(git_places_.around(tree_.root));
    add_all_named(home_links(git_.home, tree_.root));
    for (const auto& place : before_ != nullptr ? before_->places : std::vector<FixedPlace>{})
      if (!places_.contains(place.path)) add(place.path, Keep::no);
    for (auto& [path, place] : places_) tree_.places.push_back(std::move(place));
    return std::move(tree_);
  }

 private:
  struct Waiting {
    std::string path;
    Trail trail;
    GitPart part;
  };

  void look_in_next() {
    const Waiting here = std::move(waiting_.front());
    waiting_.pop_front();
    const OpenedDirectory opened = open_directory(root_, here.path);
    if (opened.barrier == Barrier::absent) return;
    if (opened.barrier != Barrier::none) return leave_out(opened.describe(here.path));
    DirectoryNames names(here.trail, here.part);
    const bool read = for_each_name(opened.fd.get(), [&](const dirent& entry) {
      names.add(entry.d_name, kind_in(opened.fd.get(), entry));
      return true;
    });
    if (!read) leave_out(here.path + " could not be read");
    names.settle();
    if (!names.dot_git().empty())
      add_all_named(git_places_.of_checkout(absolute(here.path), names.dot_git()));
    if (is_found_by_content(names, here.part))
      add_all_named(git_places_.of_git_directory(absolute(here.path)));
    for (const auto& member : names.members())
      add(joined(here.path, member.name), is_written_by_git(member.rule) ? Keep::no : Keep::yes);
    for (const auto& sub : names.subdirectories()) {
      if (!leads_to_members(sub)) continue;
      add(joined(here.path, sub.name), Keep::no, Inside::no);
      waiting_.push_back({joined(here.path, sub.name), sub.trail, sub.part});
    }
  }

  enum class Keep { no, yes };
  enum class Inside { no, yes };
  void add(const std::string& path, Keep keep, Inside inside = Inside::yes) {
    if (places_.size() >= most_places)
      return leave_out("there are more than " + std::to_string(most_places) + " names at them");
    const OwnedFd parent = open_descendant(root_, directory_in(path), O_PATH | O_DIRECTORY);
    const std::string name = last_of(path);
    struct stat seen {};
    if (!parent || ::fstatat(parent.get(), name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) return;
    FixedPlace place{.path = path, .state = state_of({parent.get(), name.c_str()}, seen)};
    place.device = seen.st_dev;
    place.inode = seen.st_ino;
    const bool is_directory = S_ISDIR(seen.st_mode);
    // Nothing can be mounted on a link.
    place.kept = keep == Keep::yes && (is_directory || S_ISREG(seen.st_mode)) && kept_ < most_kept;
    if (place.kept) ++kept_;
    if (S_ISREG(seen.st_mode)) place.content = content_of(parent.get(), name);
    if (S_ISLNK(seen.st_mode) && !places_.contains(path)) links_.push_back(path);
    const bool looks_inside = is_directory && inside == Inside::yes && !is_passed_over(place);
    places_.insert_or_assign(path, std::move(place));
    if (looks_inside) add_inside(path);
  }

  bool is_passed_over(const FixedPlace& place) const {
    if (before_ == nullptr) return false;
    return std::any_of(before_->places.begin(), before_->places.end(), [&](const FixedPlace& then) {
      return then.kept && then.path == place.path && then.device == place.device && then.inode == place.inode;
    });
  }

  // Of a member that is a directory everything in it is one. Checkouts that an agent keeps there are not.
  void add_inside(const std::string& path) {
    const OwnedFd fd = open_descendant(root_, path, directory_flags);
    if (!fd) return leave_out(path + " could not be read");
    std::vector<std::string> names;
    for_each_name(fd.get(), [&](const dirent& entry) {
      if (!holds_checkouts(joined(path, entry.d_name))) names.emplace_back(entry.d_name);
      return names.size() < most_places;
    });
    for (const auto& name : names) {
      add(joined(path, name), Keep::no);
      if (!tree_.gap.empty()) return;
    }
  }

  static std::optional<std::string> content_of(int parent, const std::string& name) {
    const OwnedFd fd = open_child(parent, name.c_str(), O_RDONLY);
    auto text = fd ? sys::read_all(fd.get(), most_content) : system_error("open " + name);
    return text.ok() ? std::optional(std::move(text).value()) : std::nullopt;
  }

  std::string absolute(const std::string& path) const {
    return path.empty() ? tree_.root : tree_.root + "/" + path;
  }

  void add_all_named(std::vector<NamedPlace> places) {
    add_links_of_hooks_outside(tree_.root, places);
    for (const auto& place : places) add_named(place);
  }

  // What is executed because a configuration or a link says so, with the links on the way to it.
  void add_named(const NamedPlace& place) {
    if (place.kind == PlaceKind::repository) return;  // by its own names
    const SymlinkTrace way = trace_symlinks(place.path);
    const auto within = [&](const std::string& path) {
      return path != tree_.root && is_beneath(tree_.root, path);
    };
    for (const auto& link : way.links)
      if (within(link.path)) add_executed(link.path, Keep::no);
    const std::string& end = way.error == 0 ? way.path : way.missing;
    if (within(end)) add_executed(end, Keep::yes);
    tree_.is_executed = tree_.is_executed || (way.error == 0 && is_beneath(way.path, tree_.root));
  }

  void add_executed(const std::string& path, Keep keep) {
    const std::string within = path.substr(tree_.root.size() + 1);
    add(within, keep);
    if (const auto found = places_.find(within); found != places_.end()) found->second.is_executed = true;
  }

  void leave_out(const std::string& why) {
    if (tree_.gap.empty()) tree_.gap = "not all of the protected places were looked at: " + why;
  }

  int root_;
  FixedTree tree_;
  const GitSources& git_;
  const GitPlaces git_places_{git_};
  std::deque<Waiting> waiting_;
  std::map<std::string, FixedPlace> places_;
  const FixedTree* before_ = nullptr;
  std::vector<std::string> links_;
  size_t kept_ = 0;
};

// The git directory that a path lies in, when its name says so, is not to be renamed.
void pin_git_directory(std::vector<FileFact>& pinned, const std::string& member) {
  constexpr std::string_view name = "/.git/";
  const size_t at = member.rfind(name);
  if (at == std::string::npos) return;
  const std::string directory = member.substr(0, at + name.size() - 1);
  const auto is_it = [&](const FileFact& fact) { return fact.path == directory; };
  struct stat seen {};
  if (std::none_of(pinned.begin(), pinned.end(), is_it) && ::lstat(directory.c_str(), &seen) == 0 &&
      S_ISDIR(seen.st_mode))
    pinned.push_back(fact_from(seen, directory));
}

// Those of a tree that a mount is to keep.
Result<void> keep_places(int root, FixedTree& tree, Observation& seen) {
  GuardFacts& guard = seen.facts.guard;
  for (auto& place : tree.places) {
    const std::string path = tree.root + "/" + place.path;
    place.kept = place.kept && !meets_allowed(guard.allowed, path);
    if (!place.kept) continue;
    OwnedFd held = open_descendant(root, place.path, O_PATH);
    struct stat now {};
    if (!held || ::fstat(held.get(), &now) != 0 || now.st_ino != place.inode)
      return refusal(path + " changed while it was looked at", "call again");
    guard.kept.push_back(fact_from(now, path));
    pin_git_directory(guard.pinned, path);
    seen.held.push_back(std::move(held));
  }
  return {};
}

}  // namespace

Result<void> observe_fixed_places(const RunRequest& request, Observation& seen) {
  Facts& facts = seen.facts;
  GuardFacts& guard = facts.guard;
  const auto roots = guarded_roots(request, facts);
  const bool has_mounts = request.level >= IsolationLevel::namespaces;
  if (!has_mounts) {
    auto points = TRY(mount_points());
    for (size_t i = 0; i < request.grants.size(); ++i)  // named for what they are
      if (request.grants[i].writable) std::erase(points, facts.grants[i].path);
    TRY(judge_mounts_below(roots, points));
  }
  guard.allowed = TRY(allowed_paths(request.allow_protected, facts.workspace.path, roots));
  for (const auto& root : roots) {
    if (root == facts.workspace.path && facts.workspace.inode == 0) continue;  // not made yet
    const OwnedFd fd = TRY(sys::open(root, directory_flags | O_NOFOLLOW));
    struct stat now {};
    if (::fstat(fd.get(), &now) != 0) return system_error("look at " + root);
    FixedTree tree{.root = root, .device = now.st_dev, .inode = now.st_ino};
    tree = FixedLook(fd.get(), std::move(tree), guard.git).look();
    TRY(judge_executed_root(root, tree.is_executed || are_hooks_of_repository(root), guard.allowed));
    if (has_mounts) {
      TRY(keep_places(fd.get(), tree, seen));
    } else {
      for (auto& place : tree.places) place.kept = false;
    }
    guard.trees.push_back(std::move(tree));
  }
  return {};
}

FixedTree look_at_fixed_places(int root, const FixedTree& before, const GitSources& git) {
  FixedLook look(root, {.root = before.root, .device = before.device, .inode = before.inode}, git);
  look.compare_with(before);
  return look.look();
}

Result<void> put_back(int root, const FixedPlace& place) {
  const OwnedFd parent = TRY(open_parent(root, place.path));
  const std::string name = last_of(place.path);
  const auto done = [&](int result) -> Result<void> {
    if (result != 0) return system_error("put back " + place.path);
    return {};
  };
  if (place.state.kind == FileKind::directory)
    return done(::mkdirat(parent.get(), name.c_str(), place.state.mode));
  if (place.state.kind == FileKind::link)
    return done(::symlinkat(place.state.link.c_str(), parent.get(), name.c_str()));
  if (!place.content) return refusal("what was in " + place.path + " is not known");
  const OwnedFd fd = TRY(sys::open_at(parent.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  constexpr int64_t second = 1'000'000'000;
  const timespec modified{place.state.modified_ns / second, place.state.modified_ns % second};
  const timespec times[2] = {modified, modified};
  const auto written = sys::write_all(fd.get(), *place.content);
  if (!written.ok()) ::unlinkat(parent.get(), name.c_str(), 0);  // no half of it
  TRY(written);
  TRY(done(::fchmod(fd.get(), place.state.mode)));
  return done(::futimens(fd.get(), times));
}

ChangeSet changes_between(const std::vector<FixedTree>& before, const std::vector<FixedTree>& after) {
  ChangeSet set;
  for (size_t tree = 0; tree < after.size(); ++tree) {
    set.trees.push_back({after[tree].root, after[tree].device, after[tree].inode});
    std::map<std::string_view, const FixedPlace*> then;
    for (const auto& place : before[tree].places) then.emplace(place.path, &place);
    for (const auto& place : after[tree].places) {
      Change change{.tree = tree, .path = place.path, .after = place.state};
      if (const auto found = then.find(place.path); found != then.end()) {
        const FixedPlace& was = *found->second;
        change.kind = ChangeKind::changed;
        change.before = was.state;
        change.differs.kind = was.state.kind != place.state.kind;
        change.differs.contents = was.content != place.content || was.state.link != place.state.link;
        change.differs.mode = was.state.mode != place.state.mode;
        // What could not be read may have been anything.
        const bool is_unread = place.state.kind == FileKind::file && !place.content;
        if (is_unread && (was.inode != place.inode || was.state != place.state))
          change.differs.contents = true;
        then.erase(found);
        // What was read-only to the command and is still the same file, the host itself has changed.
        if (was.kept && was.device == place.device && was.inode == place.inode) continue;
        if (!change.differs.any()) continue;
      }
      set.changes.push_back(std::move(change));
    }
    const auto is_in_kept = [&](const std::string& path) {  // which was not looked into again
      return std::any_of(
          before[tree].places.begin(), before[tree].places.end(), [&](const FixedPlace& place) {
            return place.kept && path.size() > place.path.size() && path.starts_with(place.path + "/");
          });
    };
    for (const auto& [path, place] : then) {
      if (!is_in_kept(place->path))
        set.changes.push_back(
            {.tree = tree, .path = place->path, .kind = ChangeKind::deleted, .before = place->state});
    }
  }
  std::sort(set.changes.begin(), set.changes.end(), [](const Change& one, const Change& other) {
    return std::pair(one.tree, std::string_view(one.path)) <
           std::pair(other.tree, std::string_view(other.path));
  });
  return set;
}

}  // namespace cloche
