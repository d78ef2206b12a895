#include "store/changes/git_around.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/sys/path.hpp"
#include "policy/protected/folded_name.hpp"
#include "policy/protected/git_config.hpp"
#include "policy/protected/git_resolutions.hpp"
#include "store/layers/layer_place.hpp"
#include "store/protected/home_links.hpp"
#include "store/record/run_place.hpp"

namespace cloche {
namespace {

constexpr size_t most_repositories = 512;
constexpr size_t most_names = 4096;            // of one directory of hooks, modules or worktrees
constexpr size_t most_names_for_links = 4096;  // in members around the changes, all together
constexpr int deepest_member = 4;
constexpr const char* too_many = "there are too many repositories around the changes to judge them";
constexpr std::string_view on_way_reason = "tells git to take hooks and config from another directory";

std::string reason_of(PlaceKind kind) {
  if (kind == PlaceKind::config)
    return "a configuration of git includes it, and commands in it are run by git";
  if (kind == PlaceKind::hooks) return "a configuration of git names it as a place of hooks, which git runs";
  return "a configuration of git names it as a program, which git runs";
}

TreePath below(const TreePath& directory, const std::string& name) {
  return {directory.tree, joined(directory.path, name)};
}

}  // namespace

void GitAround::add_executed(const std::string& path, ExecutedPath::Kind kind, const std::string& reason) {
  for (const Side side : {Side::before, Side::after}) {
    std::vector<TreePath> links;
    const PathEnd end = trees_.follow(path, side, &links);
    for (auto& link : links) facts_.executed.push_back({std::move(link), ExecutedPath::Kind::file, reason});
    if (end.place == PathEnd::Place::inside) facts_.executed.push_back({end.where, kind, reason});
  }
}

void GitAround::add_places(const TreePath& checkout, const std::vector<NamedPlace>& found) {
  for (const auto& place : found) {
    if (place.kind == PlaceKind::repository) {
      add_repository(checkout, place.path);
      continue;
    }
    const auto kind =
        place.kind == PlaceKind::hooks ? ExecutedPath::Kind::directory : ExecutedPath::Kind::file;
    add_executed(place.path, kind, reason_of(place.kind));
  }
}

// Whichever link on the way to it is changed, git would come to another one.
void GitAround::add_repository(const TreePath& checkout, const std::string& path) {
  std::vector<TreePath> links;
  const PathEnd end = trees_.follow(path, Side::before, &links);
  if (end.place == PathEnd::Place::inside) facts_.git_directories[checkout].insert(end.where);
  if (end.place == PathEnd::Place::outside) facts_.repositories_outside.insert(end.where.path);
  for (auto& link : links)
    facts_.executed.push_back({std::move(link), ExecutedPath::Kind::file, std::string(on_way_reason)});
}

// Where the configuration is of the git directory that a pointer leads to; empty: there is none. One that the
// call made, of a worktree for instance, has a file that leads on.
std::string GitAround::git_led_to(const PathEnd& end) const {
  if (end.place == PathEnd::Place::outside) return end.where.path;
  if (end.place != PathEnd::Place::inside) return {};
  const std::string git = trees_.absolute(end.where);
  const auto text = trees_.read(below(end.where, "commondir"), Side::after, longest_pointer);
  const std::string common = text ? pointer_in(*text, "", git) : "";
  const PathEnd led = common.empty() ? PathEnd{} : trees_.follow(common, Side::after);
  if (led.place == PathEnd::Place::outside) return led.where.path;
  return led.place == PathEnd::Place::inside ? trees_.absolute(led.where) : git;
}

// Of a checkout that a changed .git makes of its directory. What a configuration names from the top of a
// checkout is executed there as well; where something lies there already, it is the .git that has git run it.
void GitAround::add_made_checkout(const Change& change) {
  const std::string top = trees_.absolute(change.around());
  std::vector<NamedPlace> found = places_.of_own(top);
  if (change.after->kind != FileKind::directory) {
    const std::string git = git_led_to(end_of_pointer(change, Side::after, "gitdir: "));
    if (!git.empty()) found = places_.of_led_checkout(top, git);
  }
  const std::string usual = trees_.absolute(change.where()) + "/hooks";
  std::erase_if(found, [&](const NamedPlace& place) {
    const std::string path = tidied("", place.path);
    return path == usual || !is_beneath(top, path);
  });
  for (const auto& place : found) {
    const PathEnd end = trees_.follow(place.path, Side::before);
    if (end.place != PathEnd::Place::inside ||
        trees_.look(end.where, Side::before).presence == BeforeAndAfter::Presence::absent)
      continue;
    facts_.executed.push_back(
        {change.where(), ExecutedPath::Kind::directory,
         "it makes a working tree of a directory that holds what git would run there: " +
             reason_of(place.kind)});
  }
  add_places(change.around(), found);
}

// Of repositories that the call made: what the operator's own configurations say holds in these as well.
void GitAround::add_made_repositories() {
  const bool has_own = !places_.of_own("/").empty();
  for (const auto& change : set_.changes) {
    if (change.path.empty() || !change.after) continue;
    const std::string_view name = name_in(change.path);
    const bool is_dot_git = name.size() >= 4 && folded_name(name) == ".git";
    const bool is_led = !change.before || change.differs.contents || change.differs.kind;
    if (is_dot_git && is_led) add_made_checkout(change);
    if (!has_own || change.before) continue;
    const bool is_bare = change.after->kind == FileKind::directory &&
                         directories_.meaning(change.tree, change.path, Side::after).is_git;
    if (!is_dot_git && !is_bare) continue;
    if (++repositories_ > most_repositories) return stop(too_many);
    const TreePath git = change.where();
    const TreePath checkout = change.around();
    const std::string usual = trees_.absolute(git) + "/hooks";
    for (const auto& tree : {git, checkout}) {
      std::vector<NamedPlace> found = places_.of_own(trees_.absolute(tree));
      // The usual place is a member anyway, and judged with an eye for the samples.
      std::erase_if(found, [&](const NamedPlace& place) { return tidied("", place.path) == usual; });
      if (is_dot_git || tree == git) add_places(tree, found);
    }
  }
}

// None: it is no directory. One that has too many, or cannot be read, may hold anything.
std::optional<std::vector<DirectoryAround::Name>> GitAround::names_in(const TreePath& where) {
  auto names = trees_.names_before(where, most_names);
  const auto seen = names ? BeforeAndAfter::Entry{} : trees_.look(where, Side::before);
  const bool is_absent = seen.presence == BeforeAndAfter::Presence::absent;
  const bool is_other =
      seen.presence == BeforeAndAfter::Presence::present && seen.kind != FileKind::directory;
  if (!names && !is_absent && !is_other) stop("a directory of git's around the changes cannot be read");
  return names;
}

// Submodules and worktrees have configurations of their own, which say where they are checked out.
void GitAround::add_parts_of_repository(const TreePath& git) {
  constexpr const char* by_git = "git runs it at commit, checkout, merge or push";
  const TreePath hooks = below(git, "hooks");
  if (trees_.look(hooks, Side::before).kind == FileKind::link) add_led(hooks, by_git);
  add_links_in(hooks, by_git);
  std::vector<TreePath> waiting = {below(git, "modules"), below(git, "worktrees")};
  while (!waiting.empty()) {
    const TreePath directory = std::move(waiting.back());
    waiting.pop_back();
    const auto names = names_in(directory);
    if (!names) continue;
    for (const auto& part : *names) {
      if (part.kind != NameKind::directory) continue;
      if (++repositories_ > most_repositories) return stop(too_many);
      const TreePath where = below(directory, part.name);
      // The name of a submodule may have slashes, and one may have submodules of its own.
      const bool is_one =
          trees_.look(below(where, "HEAD"), Side::before).presence == BeforeAndAfter::Presence::present;
      waiting.push_back(is_one ? below(where, "modules") : where);
      std::vector<NamedPlace> found = places_.of_git_directory(trees_.absolute(where));
      // A part of the repository leads to nothing that is not the repository's.
      std::erase_if(found, [](const NamedPlace& place) { return place.kind == PlaceKind::repository; });
      add_places(where, found);
    }
  }
}

void GitAround::add_repositories() {
  for (size_t tree = 0; tree < set_.trees.size(); ++tree) {
    const std::string& root = set_.trees[tree].path;
    add_places({tree, ""}, places_.around(root));
    for (const auto& link : home_links(home_, root))
      add_executed(link.path,
                   link.kind == PlaceKind::hooks ? ExecutedPath::Kind::directory : ExecutedPath::Kind::file,
                   "a link in the home directory leads here");
  }
  std::set<TreePath> repositories;
  for (const auto& [where, around] : facts_.directories) {
    std::vector<NamedPlace> found;
    for (const auto& name : around.names) {
      if (folded_name(name.name) != ".git") continue;
      found = places_.of_checkout(trees_.absolute(where), name.name);
      for (const std::string& path : to_be_resolved_in(below(where, name.name)))
        facts_.to_be_resolved.insert(below(where, path));
    }
    const DirectoryMeaning& meaning = directories_.meaning(where.tree, where.path, Side::before);
    if (meaning.is_git || meaning.is_worktree) {
      auto more = places_.of_git_directory(trees_.absolute(where));
      std::move(more.begin(), more.end(), std::back_inserter(found));
    }
    if (found.empty()) continue;
    if (++repositories_ > most_repositories) return stop(too_many);
    add_places(where, found);
    const auto known = facts_.git_directories.find(where);
    if (known != facts_.git_directories.end())
      repositories.insert(known->second.begin(), known->second.end());
  }
  for (const auto& git : repositories) add_parts_of_repository(git);
}

void GitAround::add_led(const TreePath& link, std::string_view reason) {
  for (const Side side : {Side::before, Side::after}) {
    std::vector<TreePath> links;
    const PathEnd end = trees_.follow(trees_.absolute(link), side, &links);
    for (auto& passed : links) {
      if (passed != link)
        facts_.executed.push_back({std::move(passed), ExecutedPath::Kind::file, std::string(reason)});
    }
    // One that leads back to where it is in does not make all of that executed.
    if (end.place != PathEnd::Place::inside || is_at_or_below(end.where.path, link.path)) continue;
    const bool is_directory = trees_.look(end.where, side).kind == FileKind::directory;
    const auto kind = is_directory ? ExecutedPath::Kind::directory : ExecutedPath::Kind::file;
    facts_.executed.push_back({end.where, kind, std::string(reason)});
  }
}

void GitAround::add_links_in(const TreePath& directory, std::string_view reason) {
  std::vector<std::pair<TreePath, int>> waiting = {{directory, 0}};
  while (!waiting.empty()) {
    const auto [where, depth] = std::move(waiting.back());
    waiting.pop_back();
    const auto names = names_in(where);
    if (!names) continue;
    for (const auto& name : *names) {
      if (++links_looked_for_ > most_names_for_links) return stop(too_many);
      const TreePath child = below(where, name.name);
      if (name.kind == NameKind::link) add_led(child, reason);
      const bool is_project = holds_checkouts(child.path);
      if (name.kind == NameKind::directory && depth < deepest_member && !is_project)
        waiting.emplace_back(child, depth + 1);
    }
  }
}

void GitAround::add_led_by_links() {
  for (const auto& [where, around] : facts_.directories) {
    for (const auto& name : around.names) {
      const TreePath child = below(where, name.name);
      const auto member = directories_.membership(child.tree, child.path, Side::before);
      if (!member || member->rule == MemberRule::inner_link || member->length != child.path.size()) continue;
      if (name.kind == NameKind::link) add_led(child, member->reason);
      if (name.kind == NameKind::directory) add_links_in(child, member->reason);
    }
  }
}

PathEnd GitAround::end_of_pointer(const Change& change, Side side, std::string_view key) const {
  const TreePath where = change.where();
  const auto& state = side == Side::before ? change.before : change.after;
  if (state->kind == FileKind::link) return trees_.follow(trees_.absolute(where), side);
  const auto text = trees_.read(where, side, longest_pointer);
  if (!text) return {};
  const std::string base = trees_.absolute(change.around());
  const std::string target = pointer_in(*text, key, base);
  return target.empty() ? PathEnd{} : trees_.follow(target, side);
}

PathEnd GitAround::end_of_dot_git(const TreePath& checkout) const {
  const auto text = trees_.read(below(checkout, ".git"), Side::after, longest_pointer);
  const std::string led = text ? pointer_in(*text, "gitdir: ", trees_.absolute(checkout)) : "";
  return led.empty() ? PathEnd{} : trees_.follow(led, Side::after);
}

void GitAround::add_pointer(const Change& change, std::string_view key) {
  const auto is_pointer = [](const std::optional<FileState>& state) {
    return state && (state->kind == FileKind::file || state->kind == FileKind::link);
  };
  const TreePath where = change.where();
  if (is_pointer(change.before)) facts_.pointers_before[where] = end_of_pointer(change, Side::before, key);
  if (!is_pointer(change.after)) return;
  const PathEnd end = end_of_pointer(change, Side::after, key);
  // By its paths git would come to other files than those that they were judged by.
  const bool has_conflicts = end.place == PathEnd::Place::inside && !to_be_resolved_in(end.where).empty();
  facts_.pointers_after[where] = has_conflicts ? PathEnd{} : end;
}

void GitAround::add_working_tree(const Change& config) {
  const TreePath where = config.where();
  const auto text = facts_.texts_after.find(where);
  if (text == facts_.texts_after.end()) return;
  const std::string said = places_said(text->second).working_tree;
  if (said.empty()) return;
  const std::string base = trees_.absolute(config.around());
  const std::string place = place_from(said, base, [](std::string_view) { return std::string(); });
  const PathEnd end = place.empty() ? PathEnd{} : trees_.follow(place, Side::after);
  if (end.place != PathEnd::Place::inside) return;
  // In any other directory git of this repository would come upon what belongs to another one; and with
  // another one it would come to other files by the paths of a MERGE_RR.
  const PathEnd back = end_of_dot_git(end.where);
  const bool leads_back = back.place == PathEnd::Place::inside && back.where == config.around();
  if (leads_back && to_be_resolved_in(config.around()).empty()) facts_.working_trees[where] = end;
}

std::vector<std::string> GitAround::to_be_resolved_in(const TreePath& git) const {
  const auto text = trees_.read(below(git, "MERGE_RR"), Side::after, max_merge_rr_bytes);
  auto paths = text ? paths_in_merge_rr(*text) : std::nullopt;
  return paths ? *std::move(paths) : std::vector<std::string>();
}

bool GitAround::says_no_working_tree(const TreePath& config) const {
  const auto text = trees_.read(config, Side::after, max_git_config_bytes);
  return text && places_said(*text).working_tree.empty();
}

void GitAround::add_resolutions(const Change& merge_rr) {
  const TreePath git = merge_rr.around();
  const TreePath second = below(git, "config.worktree");
  const bool has_second = trees_.look(second, Side::after).presence != BeforeAndAfter::Presence::absent;
  if (name_in(git.path) == ".git" && name_in(merge_rr.path) == "MERGE_RR" &&
      says_no_working_tree(below(git, "config")) && (!has_second || says_no_working_tree(second)))
    facts_.usual_working_trees.insert(merge_rr.where());
}

// By the repository's configuration, also of a worktree's own index.
void GitAround::add_index(const Change& index) {
  std::string git = trees_.absolute(index.around());
  if (name_in(parent_of(git)) == "worktrees") git = parent_of(parent_of(git));
  const PathEnd config = trees_.follow(git + "/config", Side::after);
  if (config.place != PathEnd::Place::inside) return;
  const auto text = trees_.read(config.where, Side::after, max_git_config_bytes);
  if (text && object_format(*text) == "sha256") facts_.sha256_indexes.insert(index.where());
}

namespace {

bool is_same_place(const struct stat& one, const std::string& path) {
  struct stat other {};
  return ::stat(path.c_str(), &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The nearest to the path that is there, without links.
std::string end_of(std::string path) {
  for (; !path.empty(); path.resize(path.rfind('/'))) {
    char* const whole = ::realpath(path.c_str(), nullptr);
    if (whole == nullptr) continue;
    path = whole;
    ::free(whole);
    return path;
  }
  return path;
}

// Where calls write and nothing is judged: Cloche's own directory, the layers, and the homes of tasks, which
// lie in the directory of a run (store/record). By identity, because a path has many names.
bool is_written_unjudged(const std::string& path, const std::string& state) {
  const std::string in_memory = layers_in_memory();
  std::string_view below;  // the name that the way goes on with
  const std::string end = end_of(path);
  for (std::string at = end; !at.empty(); at.resize(at.rfind('/'))) {
    struct stat seen {};
    if (::stat(at.c_str(), &seen) != 0) return true;
    if (is_same_place(seen, state) || is_same_place(seen, in_memory)) return true;
    if (below == task_homes_name && ::access((at + "/" + audit_name).c_str(), F_OK) == 0) return true;
    below = std::string_view(end).substr(at.rfind('/') + 1, at.size() - at.rfind('/') - 1);
  }
  return false;
}

}  // namespace

// Git reads a path from the top of the checkout, or of a bare repository from its own directory.
void GitAround::add_remotes(const Change& config) {
  const TreePath where{config.tree, config.path};
  const auto text = facts_.texts_after.find(where);
  if (text == facts_.texts_after.end() || state_.empty()) return;
  const std::string git = trees_.absolute({config.tree, std::string(directory_in(config.path))});
  for (const std::string& remote : local_remotes(text->second)) {
    for (const std::string& base : {git, std::string(parent_of(git))}) {
      const std::string path = remote.starts_with('/') ? remote : base + "/" + remote;
      // A program of git's puts a home in the place of "~".
      if (remote.starts_with('~') || climbs_behind_a_name(remote) || is_written_unjudged(path, state_))
        facts_.unjudged_remotes.insert(where);
    }
  }
}

// What git would obey or run. Of its own data nothing is looked at.
GitContents GitAround::contents_of(const TreePath& directory) const {
  constexpr std::string_view data[] = {"head",     "objects",  "refs",      "logs",
                                       "reftable", "rr-cache", "lost-found"};
  GitContents contents;
  int parts = 0;  // of the three that every git directory has
  const auto names = trees_.names_before(directory, most_names);
  if (!names) return {.has_others = true};
  for (const auto& name : *names) {
    const std::string folded = folded_name(name.name);
    if (!is_name_of_git(name.name)) continue;
    const bool is_data = std::find(std::begin(data), std::end(data), folded) != std::end(data);
    if (folded == "head" || folded == "objects" || folded == "refs") ++parts;
    if (name.kind == NameKind::link) {
      contents.has_others = true;
      contents.has_linked_hooks = contents.has_linked_hooks || folded == "hooks" || folded == "config";
    } else if (folded == "config" && !contents.config && name.kind == NameKind::other) {
      contents.config = trees_.read(below(directory, name.name), Side::before, max_git_config_bytes);
      contents.has_others = contents.has_others || !contents.config;
    } else if (folded == "hooks" || folded == "info" || folded == "branches") {
      const auto inside = trees_.names_before(below(directory, name.name), most_names);
      for (const auto& hook : inside.value_or(std::vector<DirectoryAround::Name>{})) {
        if (folded == "hooks" && !is_sample_hook(hook.name)) contents.has_hooks = true;
        if (folded == "hooks" && is_hook(folded_name(hook.name))) contents.has_known_hooks = true;
        if (folded == "branches" || folded_name(hook.name) == "attributes") contents.has_others = true;
      }
      contents.has_others = contents.has_others || !inside;
    } else if (!is_data) {
      contents.has_others = true;
    }
  }
  contents.is_repository = parts >= 3;
  return contents;
}

void GitAround::add_contents_of(const PathEnd& end) {
  if (end.place != PathEnd::Place::inside || facts_.git_contents.contains(end.where)) return;
  const auto target = trees_.look(end.where, Side::before);
  if (target.presence == BeforeAndAfter::Presence::present && target.kind == FileKind::directory)
    facts_.git_contents.emplace(end.where, contents_of(end.where));
}

void GitAround::add_contents() {
  for (const auto& [where, around] : facts_.directories) {
    const DirectoryMeaning& before = directories_.meaning(where.tree, where.path, Side::before);
    const DirectoryMeaning& after = directories_.meaning(where.tree, where.path, Side::after);
    if (becomes_git(before, after)) facts_.git_contents[where] = contents_of(where);
  }
  for (const auto& [pointer, end] : facts_.pointers_after) add_contents_of(end);
  for (const auto& [link, end] : facts_.links) add_contents_of(end);
}

}  // namespace cloche
