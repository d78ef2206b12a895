#include <algorithm>
#include <deque>
#include <utility>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "policy/protected_directory.hpp"
#include "store/protected_walk.hpp"
#include "store/system_facts.hpp"
#include "store/tree_steps.hpp"

namespace cloche {
namespace {

constexpr size_t most_directories_before = 48;
constexpr size_t most_kept = 64;  // mounts; what is beyond is found afterwards

class LookBefore {
 public:
  LookBefore(const std::string& root, std::vector<ProtectedFact>& found, std::vector<OwnedFd>& held,
             const std::vector<std::string>& hidden)
      : root_(root), found_(found), held_(held), hidden_(hidden) {}

  Result<void> look(OwnedFd root) {
    const RootMeaning meaning = meaning_of_tree(root_);
    waiting_.push_back({std::move(root), "", meaning.trail, meaning.part, true});
    for (size_t count = 0; !waiting_.empty() && count < most_directories_before; ++count) {
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      if (!look_in_directory(next) && next.path.empty()) return system_error("read " + root_);
    }
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

  bool look_in_directory(const Waiting& here) {
    DirectoryNames names(here.trail, here.part);
    const bool read = for_each_name(here.fd.get(), [&](const dirent& entry) {
      names.add(entry.d_name, kind_in(here.fd.get(), entry));
      return true;
    });
    names.settle();
    if (names.is_git_directory()) add_identity(here.fd.get(), here.path);
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
    if (waiting_.size() >= most_directories_before) return;
    OwnedFd fd = open_child(here.fd.get(), sub.name.c_str(), directory_flags);
    if (!fd) return;  // not ours to read, or another mount: then the command does not see it either
    // Of the top: its repository with what is in it, and directories like .config.
    const bool within = !here.path.empty() && here.trail.empty();
    const bool top = here.top && (within || in_git || sub.part != GitPart::none || !sub.trail.empty());
    const bool is_way = !sub.trail.empty() || sub.part != GitPart::none;
    if (top || is_way) add_identity(fd.get(), joined(here.path, sub.name));
    waiting_.push_back({std::move(fd), joined(here.path, sub.name), sub.trail, sub.part, top});
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
    if (S_ISLNK(seen.st_mode) && is_executed && here.top) keep_target(fact.file.path);
    found_.push_back(std::move(fact));
    if (inside) add_inside(here, member.name);
    if (member.rule == MemberRule::git_config) add_places(here, member.name);
  }

  // What a configuration sends git to: afterwards another directory by that name is new, and this one is not.
  void add_places(const Waiting& here, const std::string& config) {
    for (const auto& place : executed_places_of(here.fd.get(), config, absolute(here.path), here.part)) {
      const auto held = sys::hold(place);
      struct stat seen {};
      if (!held.ok() || ::fstat(held.value().fd.get(), &seen) != 0 || !S_ISDIR(seen.st_mode)) continue;
      found_.push_back({fact_from(seen, held.value().path), change_of(seen), false});
    }
  }

  // What a member that is a link leads to is executed in its place.
  void keep_target(const std::string& link) {
    auto target = sys::hold(link);
    struct stat seen {};
    if (!target.ok() || ::fstat(target.value().fd.get(), &seen) != 0) return;
    const std::string& path = target.value().path;
    const bool mountable = S_ISREG(seen.st_mode) || S_ISDIR(seen.st_mode);
    if (!mountable || path == root_ || !is_beneath(root_, path) || kept_ >= most_kept) return;
    ++kept_;
    found_.push_back({fact_from(seen, path), change_of(seen), true});
    held_.push_back(std::move(target.value().fd));
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
  std::deque<Waiting> waiting_;
  size_t kept_ = 0;
};

}  // namespace

Result<void> look_before(const std::string& root, std::vector<ProtectedFact>& found,
                         std::vector<OwnedFd>& held, const std::vector<std::string>& hidden) {
  OwnedFd fd = TRY(sys::open(root, directory_flags | O_NOFOLLOW));
  return LookBefore(root, found, held, hidden).look(std::move(fd));
}

}  // namespace cloche
