#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "policy/protected_directory.hpp"
#include "store/git_places.hpp"
#include "store/link_way.hpp"
#include "store/protected_walk.hpp"
#include "store/system_facts.hpp"
#include "store/tree_steps.hpp"

namespace cloche {
namespace {

constexpr size_t most_directories_before = 48;
constexpr size_t most_first = 1024;
constexpr size_t most_kept = 64;        // mounts; what is beyond is found afterwards
constexpr size_t most_searched = 1024;  // names in members, for links; likewise

class LookBefore {
 public:
  LookBefore(const std::string& root, std::vector<ProtectedFact>& found, std::vector<OwnedFd>& held,
             const std::vector<std::string>& hidden, const GitSources& git)
      : root_(root), found_(found), held_(held), hidden_(hidden), git_(git) {}

  Result<void> look(OwnedFd root) {
    const RootMeaning meaning = meaning_of_tree(root_);
    first_.push_back({std::move(root), "", meaning.trail, meaning.part, true});
    for (size_t count = 0; !first_.empty() || (!waiting_.empty() && count < most_directories_before);) {
      std::deque<Waiting>& queue = first_.empty() ? waiting_ : first_;
      if (first_.empty()) ++count;
      const Waiting next = std::move(queue.front());
      queue.pop_front();
      if (!look_in_directory(next) && next.path.empty()) return system_error("read " + root_);
    }
    add_places(git_.around(root_), true);
    // Last, because the members themselves are to be kept first. More may come while these are looked at.
    for (size_t i = 0; i < leading_.size(); ++i) add_end(Leading(leading_[i]));
    return {};
  }

 private:
  struct Waiting {
    OwnedFd fd;
    std::string path;
    Trail trail;
    GitPart part;
    bool top;  // what is in it is shown read-only
  };

  // A path that something is executed by, and that may go by links.
  struct Leading {
    std::string path;  // absolute
    bool is_link;      // otherwise a place that a configuration names
    bool keeps_end;    // what it leads to is shown read-only: not a directory of hooks, nor a program
    bool top;          // what links in there lead to is
  };

  bool look_in_directory(const Waiting& here) {
    DirectoryNames names(here.trail, here.part);
    const bool read = for_each_name(here.fd.get(), [&](const dirent& entry) {
      names.add(entry.d_name, kind_in(here.fd.get(), entry));
      return true;
    });
    names.settle();
    if (names.is_git_directory()) add_identity(here.fd.get(), here.path);
    if (!names.dot_git().empty())
      add_places(git_.of_checkout(absolute(here.path), names.dot_git()), here.top);
    if (is_found_by_content(names, here.part))
      add_places(git_.of_git_directory(absolute(here.path)), here.top);
    for (const auto& member : names.members()) add_member(here, member);
    for (const auto& sub : names.subdirectories()) wait_for(here, sub, names.is_git_directory());
    return read;
  }

  // Of a repository only where other git directories are; of packages nothing.
  void wait_for(const Waiting& here, const SubdirectoryName& sub, bool in_git) {
    const std::string place = absolute(joined(here.path, sub.name));
    if (std::find(hidden_.begin(), hidden_.end(), place) != hidden_.end()) return;
    const bool leads_to_members = sub.part == GitPart::info || sub.part == GitPart::worktrees ||
                                  sub.name == "modules" || here.part == GitPart::worktrees;
    if ((in_git && !leads_to_members) || sub.part == GitPart::objects) return remember(here, sub.name);
    if (sub.name == "node_modules") return;
    OwnedFd fd = open_child(here.fd.get(), sub.name.c_str(), directory_flags);
    if (!fd) return;  // not ours to read, or another mount: then the command does not see it either
    // Of the top: its repository with what is in it, and directories like .config.
    const bool within = !here.path.empty() && here.trail.empty();
    const bool top = here.top && (within || in_git || sub.part != GitPart::none || !sub.trail.empty());
    const bool is_way = !sub.trail.empty() || sub.part != GitPart::none;
    if (top || is_way) add_identity(fd.get(), joined(here.path, sub.name));
    // However many others there are: what is shown read-only does not wait behind them. A command may have
    // made them for that.
    const bool is_first = top && first_seen_ < most_first;
    if (is_first) ++first_seen_;
    if (!is_first && waiting_.size() >= most_directories_before) return;
    (is_first ? first_ : waiting_)
        .push_back({std::move(fd), joined(here.path, sub.name), sub.trail, sub.part, top});
  }

  // So that it is not new afterwards because something was made in it.
  void remember(const Waiting& here, const std::string& name) {
    const auto seen = look_in(here.fd.get(), name);
    if (seen)
      found_.push_back({fact_from(*seen, absolute(joined(here.path, name))), change_of(*seen), false});
  }

  void add_identity(int fd, const std::string& path) {
    struct stat seen {};
    if (::fstat(fd, &seen) != 0) return;
    found_.push_back({fact_from(seen, absolute(path)), change_of(seen), false});
  }

  void add_member(const Waiting& here, const MemberName& member) {
    OwnedFd fd = open_child(here.fd.get(), member.name.c_str(), O_PATH);
    struct stat seen {};
    if (!fd || ::fstat(fd.get(), &seen) != 0) return;
    ProtectedFact fact{fact_from(seen, absolute(joined(here.path, member.name))), change_of(seen), false};
    // Nothing can be mounted on a link.
    const bool mountable = S_ISREG(seen.st_mode) || S_ISDIR(seen.st_mode);
    // `git worktree remove` takes away the part of a worktree that lies in this tree, with what is in it.
    const bool removable = member.rule == MemberRule::git_pointer && !here.path.empty();
    fact.kept = here.top && mountable && !removable && kept_ < most_kept;
    if (fact.kept) {
      ++kept_;
      held_.push_back(std::move(fd));
    }
    const bool inside = S_ISDIR(seen.st_mode) && !fact.kept;
    const bool is_executed = member.rule != MemberRule::inner_link;
    if (S_ISLNK(seen.st_mode) && is_executed) leading_.push_back({fact.file.path, true, here.top, here.top});
    if (S_ISDIR(seen.st_mode)) find_links(here.fd.get(), member.name, fact.file.path, here.top);
    found_.push_back(std::move(fact));
    if (inside) add_inside(here, member.name);
  }

  // What a configuration sends git to: afterwards another directory by that name is new, and this one is not.
  void add_places(const std::vector<NamedPlace>& places, bool top) {
    for (const auto& place : places)
      leading_.push_back({place.path, false, place.kind == PlaceKind::config && top, top});
  }

  // What a link leads to is executed in its place.
  void add_end(const Leading& leading) {
    const LinkWay way = follow_links(leading.path);
    const bool in_tree = way.path != root_ && is_beneath(root_, way.path);
    // One that leads back to a directory that it lies in would have all of that read-only.
    const bool leads_back = leading.is_link && is_beneath(way.path, leading.path);
    // Whatever is there afterwards is another, however old: a directory above it may have been moved away by
    // an earlier call, with what that put in it.
    if (!leading.is_link && (way.error == ENOENT || way.error == ENOTDIR))
      found_.push_back({FileFact{.path = leading.path}, {}, false});
    if (way.error != 0 || !in_tree || leads_back) return;
    if (!ends_.insert(way.path).second) return;
    ProtectedFact fact{fact_from(way.seen, way.path), change_of(way.seen), false};
    const bool is_directory = S_ISDIR(way.seen.st_mode);
    auto held = sys::hold(way.path);
    const bool mountable = is_directory || S_ISREG(way.seen.st_mode);
    if (held.ok() && leading.keeps_end && mountable && kept_ < most_kept) {
      ++kept_;
      fact.kept = true;
      held_.push_back(std::move(held.value().fd));
    }
    found_.push_back(std::move(fact));
    if (!is_directory || !held.ok()) return;
    const auto around = sys::open(way.path, directory_flags | O_NOFOLLOW);
    if (around.ok()) find_links_in(around.value().get(), way.path, leading.top, 0);
  }

  void find_links(int around, const std::string& name, const std::string& path, bool top, int depth = 0) {
    const OwnedFd fd = open_child(around, name.c_str(), directory_flags);
    if (fd) find_links_in(fd.get(), path, top, depth);
  }

  void find_links_in(int fd, const std::string& path, bool top, int depth) {
    constexpr int deepest = 16;
    std::vector<std::string> directories;
    for_each_name(fd, [&](const dirent& entry) {
      const NameKind kind = kind_in(fd, entry);
      if (kind == NameKind::link) add_link(fd, entry.d_name, path, top);
      // Checkouts that an agent keeps in its own directory are no part of it.
      if (kind == NameKind::directory && depth < deepest && !holds_checkouts(entry.d_name))
        directories.emplace_back(entry.d_name);
      return ++searched_ < most_searched;
    });
    for (const auto& name : directories) find_links(fd, name, path + "/" + name, top, depth + 1);
  }

  void add_link(int fd, const std::string& name, const std::string& around, bool top) {
    const auto seen = look_in(fd, name);
    if (!seen) return;
    const std::string path = around + "/" + name;
    found_.push_back({fact_from(*seen, path), change_of(*seen), false});
    leading_.push_back({path, true, top, top});
  }

  // So that what was made just before the command is not taken for the command's.
  void add_inside(const Waiting& here, const std::string& name) {
    constexpr int most_inside = 64;
    const OwnedFd directory = open_child(here.fd.get(), name.c_str(), directory_flags);
    if (!directory) return;
    int count = 0;
    for_each_name(directory.get(), [&](const dirent& entry) {
      const auto seen = look_in(directory.get(), entry.d_name);
      if (seen) found_.push_back({fact_from(*seen, ""), change_of(*seen), false});
      return ++count < most_inside;
    });
  }

  std::string absolute(const std::string& path) const { return path.empty() ? root_ : root_ + "/" + path; }

  const std::string& root_;
  std::vector<ProtectedFact>& found_;
  std::vector<OwnedFd>& held_;
  const std::vector<std::string>& hidden_;
  const GitPlaces git_;
  std::deque<Waiting> first_;  // what is at the top of the tree, and in its repository
  std::deque<Waiting> waiting_;
  size_t first_seen_ = 0;
  std::vector<Leading> leading_;
  std::set<std::string> ends_;  // that were looked at
  size_t kept_ = 0;
  size_t searched_ = 0;
};

}  // namespace

Result<void> look_before(const std::string& root, std::vector<ProtectedFact>& found,
                         std::vector<OwnedFd>& held, const std::vector<std::string>& hidden,
                         const GitSources& git) {
  OwnedFd fd = TRY(sys::open(root, directory_flags | O_NOFOLLOW));
  return LookBefore(root, found, held, hidden, git).look(std::move(fd));
}

}  // namespace cloche
