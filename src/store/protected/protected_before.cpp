#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/protected_directory.hpp"
#include "store/host/system_facts.hpp"
#include "store/protected/git_places.hpp"
#include "store/protected/home_links.hpp"
#include "store/protected/protected_walk.hpp"
#include "store/trust/symlink_trace.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr size_t most_directories_before = 48;
constexpr size_t most_first = 1024;
constexpr size_t most_kept = 64;        // mounts; what is beyond is found afterwards
constexpr size_t most_searched = 1024;  // names in one member, for links; likewise

class LookBefore {
 public:
  LookBefore(const std::string& root, const BeforeQuery& query, TreeFacts& found, std::vector<OwnedFd>& held)
      : root_(root), query_(query), facts_(found), found_(found.files), held_(held), git_(query.git) {}

  Result<void> look(OwnedFd root) {
    root_fd_ = root.get();
    const RootMeaning meaning = meaning_of_tree(root_);
    const Here top{{"", meaning.trail, meaning.part, true}, std::move(root)};
    DirectoryNames names(top.trail, top.part);
    take_names(top, names);
    // The repository's own members before all others: only so many are kept, and a command may have made
    // more.
    if (!first_.empty() && first_.front().path == ".git") look_in_next(first_);
    add_members(top, names);
    for (size_t count = 0; !first_.empty() || (!waiting_.empty() && count < most_directories_before);) {
      std::deque<Waiting>& queue = first_.empty() ? waiting_ : first_;
      if (first_.empty()) ++count;
      look_in_next(queue);
    }
    if (!waiting_.empty()) leave_out();
    add_places(git_.around(root_), true);
    add_places(home_links(query_.git.home, root_), true);
    for (const auto& lead : query_.remembered) {
      remembered_.emplace(lead.name, &lead);
      if (lead.lost != 0) add_leading({lead.name.path, lead.name.kind, false, false});
    }
    // Last, because the members themselves are to be kept first.
    add_ends();
    if (failure_) return *failure_;
    if (facts_.is_complete || !query_.find_others) return {};
    const AllLeads all = query_.find_others();
    for (const auto& lead : all.leads) add_leading({lead.name.path, lead.name.kind, false, false});
    add_ends();
    facts_.is_complete = all.is_complete;
    return failure_ ? Result<void>(*failure_) : Result<void>();
  }

 private:
  // More may come while these are looked at.
  void add_ends() {
    for (; ended_ < leading_.size(); ++ended_) add_end(Leading(leading_[ended_]));
  }

  // Not opened before it is its turn: a command may have made any number of them.
  struct Waiting {
    std::string path;
    Trail trail;
    GitPart part;
    bool top;  // what is in it is shown read-only
  };

  struct Here : Waiting {
    OwnedFd fd;
  };

  // A path that something is executed by, and that may go by links.
  struct Leading {
    std::string path;  // absolute
    LeadFact::Kind kind;
    bool keeps_end;  // what it leads to is shown read-only: not a directory of hooks, nor a program
    bool top;        // what links in there lead to is

    bool is_link() const { return kind == LeadFact::Kind::link; }
  };

  void look_in_next(std::deque<Waiting>& queue) {
    Waiting next = std::move(queue.front());
    queue.pop_front();
    OwnedFd fd = open_to_look(root_fd_, next.path, absolute(next.path));
    if (!fd) return;
    const Here here{std::move(next), std::move(fd)};
    DirectoryNames names(here.trail, here.part);
    take_names(here, names);
    add_members(here, names);
  }

  // Nothing: it is gone, or another mount, which the command does not see; or it is closed, and to the
  // command too until it changes that. Anything else is a reason not to begin: what is there has to be known.
  OwnedFd open_to_look(int from, const std::string& name, const std::string& path) {
    OpenedDirectory opened = open_directory(from, name);
    if (opened.barrier == Barrier::closed || opened.error == EACCES) leave_out();
    if (opened.barrier == Barrier::unknown && opened.error != EACCES) fail(path, opened.error);
    return std::move(opened.fd);
  }

  void fail(const std::string& path, int error) {
    if (!failure_) failure_ = system_error("look at " + path, error);
  }

  void add_members(const Here& here, const DirectoryNames& names) {
    for (const auto& member : names.members()) add_member(here, member);
  }

  // And what is to be looked at because of them.
  void take_names(const Here& here, DirectoryNames& names) {
    const bool read = for_each_name(here.fd.get(), [&](const dirent& entry) {
      names.add(entry.d_name, kind_in(here.fd.get(), entry));
      return true;
    });
    if (!read) fail(absolute(here.path), errno);
    names.settle();
    const bool is_git = names.is_git_directory() || names.is_common_part();
    if (is_git) add_identity(here.fd.get(), here.path);
    const auto add_itself = [&](bool is_one, LeadFact::Kind kind) {
      if (is_one) add_leading({absolute(here.path), kind, false, false});
    };
    add_itself(names.is_git_directory(), LeadFact::Kind::git_directory);
    add_itself(names.is_common_part(), LeadFact::Kind::common_part);
    add_itself(names.is_worktree_part(), LeadFact::Kind::worktree_part);
    if (!names.dot_git().empty())
      add_places(git_.of_checkout(absolute(here.path), names.dot_git()), here.top);
    if (is_found_by_content(names, here.part))
      add_places(git_.of_git_directory(absolute(here.path)), here.top);
    // Without a HEAD it may be a directory of sources, and what is in it any project's.
    const bool in_git = names.is_git_directory() || (names.is_common_part() && here.part != GitPart::none);
    for (const auto& sub : names.subdirectories()) wait_for(here, sub, in_git);
  }

  // Of a repository only where other git directories are, also where a command made one of the whole tree; of
  // packages nothing.
  void wait_for(const Here& here, const SubdirectoryName& sub, bool in_git) {
    const std::string place = absolute(joined(here.path, sub.name));
    if (std::find(query_.hidden.begin(), query_.hidden.end(), place) != query_.hidden.end()) return;
    const bool leads_to_members = sub.part == GitPart::info || sub.part == GitPart::worktrees ||
                                  sub.part == GitPart::dot_git || sub.name == "modules" ||
                                  here.part == GitPart::worktrees;
    if ((in_git && !leads_to_members) || sub.part == GitPart::objects) {
      if (!is_name_of_git(sub.name)) leave_out();  // a checkout that lies in a bare repository
      return remember(here, sub.name);
    }
    if (sub.name == "node_modules") return leave_out();
    // Of the top: its repository with what is in it, and directories like .config.
    const bool within = !here.path.empty() && here.trail.empty();
    const bool top = here.top && (within || in_git || sub.part != GitPart::none || !sub.trail.empty());
    const bool is_way = !sub.trail.empty() || sub.part != GitPart::none;
    if (!top && !is_way && waiting_.size() >= most_directories_before) return leave_out();
    if (top || is_way) remember(here, sub.name);
    Waiting next{joined(here.path, sub.name), sub.trail, sub.part, top};
    // However many others there are: the repository of the tree does not wait behind them, and what else is
    // shown read-only hardly. A command may have made them for that.
    if (here.path.empty() && sub.name == ".git") return first_.push_front(std::move(next));
    if (top && first_seen_ < most_first) {
      ++first_seen_;
      return first_.push_back(std::move(next));
    }
    if (waiting_.size() >= most_directories_before) return leave_out();
    waiting_.push_back(std::move(next));
  }

  void leave_out() { facts_.is_complete = false; }

  // So that it is not new afterwards because something was made in it.
  void remember(const Here& here, const std::string& name) {
    const auto seen = look_in(here.fd.get(), name);
    if (seen)
      found_.push_back({fact_from(*seen, absolute(joined(here.path, name))), change_of(*seen), false});
  }

  void add_identity(int fd, const std::string& path) {
    struct stat seen {};
    if (::fstat(fd, &seen) != 0) return;
    found_.push_back({fact_from(seen, absolute(path)), change_of(seen), false});
  }

  void add_member(const Here& here, const MemberName& member) {
    OwnedFd fd = open_child(here.fd.get(), member.name.c_str(), O_PATH);
    struct stat seen {};
    if (!fd || ::fstat(fd.get(), &seen) != 0)
      return is_absent(errno) ? void() : fail(absolute(joined(here.path, member.name)), errno);
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
    if (S_ISLNK(seen.st_mode) && is_executed)
      add_leading({fact.file.path, LeadFact::Kind::link, here.top, here.top});
    searched_ = 0;
    if (S_ISDIR(seen.st_mode)) find_links(here.fd.get(), member.name, fact.file.path, here.top);
    found_.push_back(std::move(fact));
    if (inside) add_inside(here, member.name);
  }

  // What a configuration sends git to: afterwards another directory by that name is new, and this one is not.
  void add_places(std::vector<NamedPlace> places, bool top) {
    add_links_of_hooks_outside(root_, places);
    for (const auto& place : places)
      add_leading({place.path, kind_of(place.kind), place.kind == PlaceKind::config && top, top});
  }

  void add_leading(Leading leading) {
    if (led_by_.insert({leading.path, leading.kind}).second) leading_.push_back(std::move(leading));
  }

  // What a link leads to is executed in its place.
  void add_end(const Leading& leading) {
    const SymlinkTrace way = trace_symlinks(leading.path);
    facts_.leads.push_back(fact_of(leading, way));
    if (is_git_part(leading.kind)) facts_.leads.back().dangers = GitPlaces::dangers_in(leading.path);
    const bool in_tree = way.path != root_ && is_beneath(root_, way.path);
    // One that leads back to a directory that it lies in would have all of that read-only.
    const bool leads_back = leading.is_link() && is_beneath(way.path, leading.path);
    if (way.error != 0 || !in_tree || leads_back || !LeadFact::is_executed(leading.kind)) return;
    if (!ends_.insert(way.path).second) return;
    ProtectedFact fact{fact_from(way.seen, way.path), change_of(way.seen), false};
    const bool is_directory = S_ISDIR(way.seen.st_mode);
    auto held = sys::hold(way.path);
    if (!held.ok() && !is_absent(held.error().number)) fail(way.path, held.error().number);
    const bool mountable = is_directory || S_ISREG(way.seen.st_mode);
    if (held.ok() && leading.keeps_end && mountable && kept_ < most_kept) {
      ++kept_;
      fact.kept = true;
      held_.push_back(std::move(held.value().fd));
    }
    found_.push_back(std::move(fact));
    if (!is_directory || !held.ok()) return;
    const OwnedFd around = open_to_look(root_fd_, way.path.substr(root_.size() + 1), way.path);
    searched_ = 0;
    if (around) find_links_in(around.get(), way.path, leading.top, 0);
  }

  static bool is_git_part(LeadFact::Kind kind) { return kind > LeadFact::Kind::repository; }

  // Of one whose way is gone: what is now where it led last.
  LeadFact fact_of(const Leading& leading, const SymlinkTrace& way) const {
    LeadFact fact = lead_fact({leading.path, leading.kind}, way);
    const auto remembered = remembered_.find(LeadName{leading.path, leading.kind});
    if (remembered == remembered_.end()) return fact;
    fact.lost = remembered->second->lost;
    if (way.error == 0 || remembered->second->end.empty()) return fact;
    const SymlinkTrace former = trace_symlinks(remembered->second->end);
    fact.end = {.path = remembered->second->end};
    if (former.error == 0 && former.path == remembered->second->end)
      fact.end = lead_fact({former.path, leading.kind}, former).end;
    for (const auto& link : remembered->second->links) add_step(fact.links, link);
    return fact;
  }

  static void add_step(std::vector<LeadFact::Step>& links, const std::string& path) {
    struct stat seen {};
    if (::lstat(path.c_str(), &seen) == 0 && S_ISLNK(seen.st_mode))
      links.push_back({path, seen.st_dev, seen.st_ino, change_of(seen)});
  }

  void find_links(int around, const std::string& name, const std::string& path, bool top, int depth = 0) {
    const OwnedFd fd = open_to_look(around, name, path);
    if (fd) find_links_in(fd.get(), path, top, depth);
  }

  void find_links_in(int fd, const std::string& path, bool top, int depth) {
    constexpr int deepest = 16;
    std::vector<std::string> directories;
    for_each_name(fd, [&](const dirent& entry) {
      const NameKind kind = kind_in(fd, entry);
      if (kind == NameKind::link) add_link(fd, entry.d_name, path, top);
      // Checkouts that an agent keeps in its own directory are no part of it.
      const bool is_left_out = depth >= deepest || holds_checkouts(entry.d_name);
      if (kind == NameKind::directory)
        is_left_out ? leave_out() : void(directories.emplace_back(entry.d_name));
      if (++searched_ >= most_searched) leave_out();
      return searched_ < most_searched;
    });
    for (const auto& name : directories) find_links(fd, name, path + "/" + name, top, depth + 1);
  }

  void add_link(int fd, const std::string& name, const std::string& around, bool top) {
    const auto seen = look_in(fd, name);
    if (!seen) return;
    const std::string path = around + "/" + name;
    found_.push_back({fact_from(*seen, path), change_of(*seen), false});
    add_leading({path, LeadFact::Kind::link, top, top});
  }

  // So that what was made just before the command is not taken for the command's.
  void add_inside(const Here& here, const std::string& name) {
    constexpr int most_inside = 64;
    const OwnedFd directory = open_to_look(here.fd.get(), name, absolute(joined(here.path, name)));
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
  const BeforeQuery& query_;
  TreeFacts& facts_;
  std::vector<ProtectedFact>& found_;
  std::vector<OwnedFd>& held_;
  const GitPlaces git_;
  std::deque<Waiting> first_;  // what is at the top of the tree, and in its repository
  std::deque<Waiting> waiting_;
  size_t first_seen_ = 0;
  std::vector<Leading> leading_;
  size_t ended_ = 0;           // of these
  std::set<LeadName> led_by_;  // their names
  std::map<LeadName, const RememberedLead*> remembered_;
  std::set<std::string> ends_;  // that were looked at
  size_t kept_ = 0;
  size_t searched_ = 0;
  int root_fd_ = -1;
  std::optional<Error> failure_;  // the first
};

}  // namespace

Result<void> look_before(const std::string& root, const BeforeQuery& query, TreeFacts& found,
                         std::vector<OwnedFd>& held) {
  OwnedFd fd = TRY(sys::open(root, directory_flags | O_NOFOLLOW));
  return LookBefore(root, query, found, held).look(std::move(fd));
}

}  // namespace cloche
