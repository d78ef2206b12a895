#include "store/protected/git_places.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/git_config.hpp"
#include "store/trust/symlink_trace.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr size_t longest_config = size_t{1} << 20;
constexpr int deepest_include = 10;    // as git has it
constexpr size_t most_included = 128;  // of one configuration, which may include one file many times

// Only of a file: what is in the tree may by now be a pipe. And of one with a size: those of the kernel have
// none, and reading some of them does something, such as taking the lines of its log.
std::string read_regular(const std::string& path, size_t most) {
  const auto fd = sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat seen {};
  if (!fd.ok() || ::fstat(fd.value().get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return {};
  if (seen.st_size == 0) return {};
  const auto text = sys::read_all(fd.value().get(), most);
  return text.ok() ? text.value() : std::string();
}

std::string read_pointer(const std::string& file, std::string_view key, const std::string& base) {
  return pointer_in(read_regular(file, longest_pointer), key, base);
}

bool is_link(const std::string& path) {
  const auto seen = look_in(AT_FDCWD, path);
  return seen && S_ISLNK(seen->st_mode);
}

// The git directory of a checkout; empty: there is none.
std::string git_of(const std::string& checkout, const std::string& dot_git) {
  std::string named = checkout + "/" + dot_git;
  return leads_to_directory(named) ? named : read_pointer(named, "gitdir: ", checkout);
}

// Where the configuration is that a git directory shares with others, a worktree's for example.
std::string common_of(const std::string& git) {
  const std::string common = read_pointer(git + "/commondir", "", git);
  return common.empty() ? git : common;
}

// Which directories git takes everything from; they may lie behind links.
void add_repository(const std::string& git, const std::string& pointer, std::vector<NamedPlace>& places) {
  places.push_back({git, PlaceKind::repository, pointer});
  if (const std::string common = common_of(git); common != git)
    places.push_back({common, PlaceKind::repository, git + "/commondir"});
}

// Every link resolved, whether or not anything is there.
std::string end_of(const std::string& path) {
  const SymlinkTrace way = trace_symlinks(path);
  return way.error == 0 ? way.path : way.missing;
}

// The usual place is a member anyway, and judged with an eye for the samples that git itself puts there.
// By where both lead: `..` behind a link is another directory than it looks.
void leave_out_usual_place(std::vector<NamedPlace>& places, const std::string& git) {
  const auto is_hooks = [](const NamedPlace& place) { return place.kind == PlaceKind::hooks; };
  if (std::none_of(places.begin(), places.end(), is_hooks)) return;
  const std::string usual = end_of(git + "/hooks");
  std::erase_if(places, [&](const NamedPlace& place) {
    return is_hooks(place) && !usual.empty() && end_of(place.path) == usual;
  });
}

}  // namespace

bool leads_to_directory(const std::string& path) {
  struct stat seen {};
  return ::stat(path.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode);
}

GitSources find_git_sources(const Environment& environment, const std::string& home,
                            const std::string& state) {
  GitSources own{.home = home, .files = {"/etc/gitconfig"}, .state = state};
  const auto add = [&](const std::string& directory, const char* name) {
    if (directory.starts_with('/')) own.files.push_back(directory + name);
  };
  add(environment.get("GIT_CONFIG_SYSTEM"), "");
  add(environment.get("GIT_CONFIG_GLOBAL"), "");
  add(environment.get("XDG_CONFIG_HOME"), "/git/config");
  add(home, "/.config/git/config");
  add(home, "/.gitconfig");
  return own;
}

GitPlaces::GitPlaces(const GitSources& own) : home_(own.home), own_files_(own.files) {
  for (const auto& file : own.files) read(file, 0, own_);
  // In the operator's own it would be for every repository, which makes no sense.
  own_.working_tree.clear();
}

std::string GitPlaces::home_of(std::string_view user) const {
  constexpr size_t most_bytes = size_t{1} << 20;
  if (user.empty()) return home_;
  if (!users_) users_ = read_regular("/etc/passwd", most_bytes);
  return home_in_passwd(*users_, user);
}

std::string GitPlaces::place(const std::string& said, const std::string& base) const {
  return place_from(said, base, [this](std::string_view user) { return home_of(user); });
}

void GitPlaces::read(const std::string& file, int depth, Read& found) const {
  const std::string directory(parent_of(file));
  SaidPlaces said = places_said(read_regular(file, longest_config));
  if (!said.working_tree.empty()) found.working_tree = place(said.working_tree, directory);
  for (auto& place : said.places) {
    if (place.kind != PlaceKind::config) {
      found.said.push_back(std::move(place));
      continue;
    }
    const std::string included = this->place(place.path, directory);
    if (included.empty() || depth >= deepest_include || ++found.files > most_included) continue;
    found.included.push_back({included, PlaceKind::config});
    read(included, depth + 1, found);
  }
}

void GitPlaces::add(const Read& found, const std::string& tree, std::vector<NamedPlace>& places) const {
  places.insert(places.end(), found.included.begin(), found.included.end());
  for (const auto& place : found.said) {
    std::string path = this->place(place.path, tree);
    if (!path.empty()) places.push_back({std::move(path), place.kind});
  }
}

// A repository that is pushed to has its hooks run in the git directory itself.
void GitPlaces::add_hooks(const Read& found, const std::string& git, std::vector<NamedPlace>& places) const {
  for (const auto* said : {&found.said, &own_.said}) {
    for (const auto& hooks : *said) {
      if (hooks.kind != PlaceKind::hooks) continue;
      if (std::string path = place(hooks.path, git); !path.empty())
        places.push_back({std::move(path), PlaceKind::hooks});
    }
  }
}

std::vector<NamedPlace> GitPlaces::of_checkout(const std::string& tree, const std::string& dot_git) const {
  std::vector<NamedPlace> places;
  const std::string named = tree + "/" + dot_git;
  const std::string git = git_of(tree, dot_git);
  if (git.empty() && is_link(named)) places.push_back({named, PlaceKind::repository, named});
  if (git.empty()) return places;
  add_repository(git, named, places);
  Read found;
  read(common_of(git) + "/config", 0, found);
  read(git + "/config.worktree", 0, found);
  add(found, tree, places);
  add_hooks(found, git, places);
  if (!found.working_tree.empty() && found.working_tree != tree) {
    add(found, found.working_tree, places);
    add(own_, found.working_tree, places);
  }
  add(own_, tree, places);
  leave_out_usual_place(places, common_of(git));
  return places;
}

std::vector<NamedPlace> GitPlaces::of_own(const std::string& tree) const {
  std::vector<NamedPlace> places;
  add(own_, tree, places);
  return places;
}

std::vector<NamedPlace> GitPlaces::of_led_checkout(const std::string& tree, const std::string& git) const {
  std::vector<NamedPlace> places = of_own(tree);
  Read found;
  read(common_of(git) + "/config", 0, found);
  read(git + "/config.worktree", 0, found);
  add(found, tree, places);
  return places;
}

std::vector<NamedPlace> GitPlaces::of_git_directory(const std::string& directory) const {
  std::vector<NamedPlace> places;
  add_repository(directory, "", places);
  Read found;
  read(directory + "/config", 0, found);
  read(directory + "/config.worktree", 0, found);
  const std::string pointer = directory + "/gitdir";
  const std::string dot_git = read_pointer(pointer, "", directory);
  const std::string checkout(dot_git.empty() ? "" : parent_of(dot_git));
  // Git writes there too, to mend what was moved.
  if (!checkout.empty()) places.push_back({checkout, PlaceKind::repository, pointer});
  // Any of them, and the directory itself: who works there decides.
  for (const std::string& tree : {found.working_tree, checkout, directory}) {
    if (tree.empty()) continue;
    add(found, tree, places);
    add(own_, tree, places);
  }
  leave_out_usual_place(places, directory);
  return places;
}

// What lies in a repository elsewhere is not looked at, but may be a link that leads into the tree at `root`.
void GitPlaces::add_own_of_outside(const std::string& checkout, const std::string& root,
                                   std::vector<NamedPlace>& places) {
  const std::string git = git_of(checkout, ".git");
  const std::string common = git.empty() ? "" : common_of(git);
  if (common.empty() || is_beneath(root, end_of(common))) return;
  places.push_back({common + "/config", PlaceKind::config});
  places.push_back({git + "/config.worktree", PlaceKind::config});
  places.push_back({common + "/info/attributes", PlaceKind::config});
  places.push_back({common + "/hooks", PlaceKind::hooks});
}

void add_links_of_hooks_outside(const std::string& root, std::vector<NamedPlace>& places) {
  std::set<std::string> directories;
  for (const auto& place : places) {
    if (place.kind == PlaceKind::hooks)
      directories.insert({place.path, place.path + "/hooks"});  // a template
    if (place.kind == PlaceKind::repository) directories.insert(common_of(place.path) + "/hooks");
  }
  for (const auto& directory : directories) {
    const SymlinkTrace way = trace_symlinks(directory);
    if (way.error != 0 || !S_ISDIR(way.seen.st_mode) || is_beneath(root, way.path)) continue;
    for (const auto& name : names_in(way.path)) {
      if (std::string hook = directory + "/" + name; is_link(hook))
        places.push_back({std::move(hook), PlaceKind::config});
    }
  }
}

std::vector<NamedPlace> GitPlaces::around(const std::string& root) const {
  std::vector<NamedPlace> places;
  add(own_, "", places);
  for (const auto& file : own_files_) places.push_back({file, PlaceKind::config});
  add_own_of_outside(root, root, places);
  for (std::string at = root; at.size() > 1;) {
    at = std::string(parent_of(at));
    const std::string tree = at == "/" ? "" : at;
    if (!look_in(AT_FDCWD, tree + "/.git")) continue;
    for (auto& place : of_checkout(tree)) places.push_back(std::move(place));
    add_own_of_outside(tree, root, places);
  }
  return places;
}

}  // namespace cloche
