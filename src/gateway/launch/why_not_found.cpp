#include "gateway/launch/why_not_found.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "base/text/shell_parts.hpp"
#include "base/text/visible_text.hpp"
#include "policy/plan/system_view.hpp"
#include "store/host/system_facts.hpp"
#include "store/trust/bind_mount_alias.hpp"

namespace cloche {
namespace {

constexpr int most_links = 8;
constexpr uint64_t no_inode = ~0ULL;  // of no file

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_link(const std::string& path) {
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 && S_ISLNK(seen.st_mode);
}

const ViewEntry* innermost_around(const ConfinementPlan& plan, const std::string& path) {
  const ViewEntry* found = nullptr;
  for (const auto& entry : plan.view) {
    if (!is_beneath(entry.target, path)) continue;
    if (found == nullptr || entry.target.size() >= found->target.size()) found = &entry;
  }
  return found;
}

// What the view has at a path, as the host knows it. None: nothing of the host's.
struct Shown {
  std::string on_host;
  const ViewEntry* entry;
};
std::optional<Shown> shown_at(const ConfinementPlan& plan, std::string path) {
  for (int links = 0; links < most_links; ++links) {
    const ViewEntry* entry = innermost_around(plan, path);
    if (entry == nullptr || entry->access == Access::none) return std::nullopt;
    const std::string rest = path.substr(entry->target.size());
    if (entry->kind == EntryKind::tree) return Shown{entry->source + rest, entry};
    if (entry->kind != EntryKind::link) return std::nullopt;
    const bool absolute = entry->source.starts_with('/');
    const std::string above(parent_of(entry->target));
    path = (absolute ? "" : above == "/" ? above : above + "/") + entry->source + rest;
  }
  return std::nullopt;
}

std::vector<std::string> candidates_in(const ConfinementPlan& plan, const std::string& name) {
  std::vector<std::string> places = program_candidates(plan, name);
  for (auto& place : places) place = tidied(plan.directory, place);
  return places;
}

std::string path_of(const ConfinementPlan& plan) {
  for (const auto& [name, value] : plan.environment) {
    if (name == "PATH") return value;
  }
  return {};
}

}  // namespace

std::optional<ShownFile> file_on_host(const ConfinementPlan& plan, const std::string& path) {
  if (plan.level < IsolationLevel::namespaces) return ShownFile{"/", path};  // there is no view
  const auto shown = shown_at(plan, path);
  if (!shown) return std::nullopt;
  const ViewEntry& entry = *shown->entry;
  return ShownFile{entry.file ? std::string(parent_of(entry.source)) : entry.source, shown->on_host};
}

std::optional<ShownFile> program_on_host(const ConfinementPlan& plan, const std::string& name) {
  for (const auto& place : candidates_in(plan, name)) {
    auto shown = file_on_host(plan, place);
    // A link that leads nowhere on the host may lead to a file of the view.
    if (shown && (::access(shown->path.c_str(), X_OK) == 0 || is_link(shown->path))) return shown;
  }
  return std::nullopt;
}

bool is_same_in_view(const ConfinementPlan& plan, const std::string& path) {
  if (plan.level < IsolationLevel::namespaces) return true;
  const auto is_system = [&](const ShownPath& row) { return is_beneath(row.path, path); };
  const auto leads_to = [&](const ViewEntry& entry) { return is_beneath(path, entry.target); };
  if (std::any_of(std::begin(system_paths), std::end(system_paths), is_system)) return true;
  const auto shown = shown_at(plan, path);
  if (!shown) return std::any_of(plan.view.begin(), plan.view.end(), leads_to);
  // A mount of the host below a tree is not in the view, unless the tree is shown with its mounts.
  MountCache mounts;
  return shown->on_host == path &&
         (shown->entry->recursive || mounts.look(shown->entry->source).mount == mounts.look(path).mount);
}

std::optional<std::string> directory_on_host(const ConfinementPlan& plan) {
  const auto shown = shown_at(plan, plan.directory);
  return shown ? std::optional(shown->on_host) : std::nullopt;
}

namespace {

// Why a path of the host is no directory; 0: it is one, or a link on the way decides.
int why_no_directory(const std::string& path) {
  for (size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    struct stat seen {};
    if (::lstat(path.substr(0, end).c_str(), &seen) != 0) return errno == ENOENT ? ENOENT : 0;
    if (S_ISLNK(seen.st_mode)) return 0;
    if (!S_ISDIR(seen.st_mode)) return ENOTDIR;
  }
  return 0;
}

int why_not_entered(const ConfinementPlan& plan) {
  const std::string directory = tidied("/", plan.directory);
  if (plan.level < IsolationLevel::namespaces) return why_no_directory(directory);
  const auto leads_to_entry = [&](const ViewEntry& entry) { return is_beneath(directory, entry.target); };
  if (std::any_of(plan.view.begin(), plan.view.end(), leads_to_entry)) return 0;
  const ViewEntry* entry = innermost_around(plan, directory);
  const bool empty = entry == nullptr || entry->kind == EntryKind::directory ||
                     (entry->kind == EntryKind::tmpfs && entry->access != Access::none);
  if (empty) return ENOENT;
  return entry->kind == EntryKind::tree
             ? why_no_directory(entry->source + directory.substr(entry->target.size()))
             : 0;
}

}  // namespace

Result<void> judge_directory(const ConfinementPlan& plan) {
  const int number = why_not_entered(plan);
  if (number == 0) return {};
  Error error = system_error("could not enter the working directory (" + plan.directory + ")", number);
  error.fix = "name a directory inside the view with -C";
  return error;
}

FileFact hold_directory(const ConfinementPlan& plan, std::vector<OwnedFd>& held) {
  const auto shown = shown_at(plan, tidied("/", plan.directory));
  // Trees of the system are root's, and the view may have a copy of them.
  if (!shown || shown->entry->inode == 0) return {};
  const FileFact none{.path = plan.directory, .inode = no_inode};
  auto opened = sys::open(shown->on_host, O_PATH | O_DIRECTORY);
  if (!opened.ok()) return none;
  struct stat seen {};
  const auto place = sys::read_link("/proc/self/fd/" + std::to_string(opened.value().get()));
  if (!place.ok() || ::fstat(opened.value().get(), &seen) != 0) return none;
  // A link may lead to where the view has something else than the host.
  const ViewEntry& tree = *shown->entry;
  const auto shows_it = [&](const std::string& path) {
    const auto there = shown_at(plan, path);
    return there && there->on_host == place.value() && !there->entry->copied;
  };
  const bool in_tree = is_beneath(tree.source, place.value()) &&
                       shows_it(tree.target + place.value().substr(tree.source.size()));
  if (!in_tree && !shows_it(place.value())) return none;
  held.push_back(std::move(opened).value());
  return fact_from(seen, place.value());
}

namespace {

// What a name on the host is a link to, where the view does not have that.
std::optional<std::string> target_out_of_view(const ConfinementPlan& plan, const std::string& on_host) {
  const auto held = sys::hold(on_host);
  if (!held.ok() || held.value().path == on_host || shown_at(plan, held.value().path)) return std::nullopt;
  return held.value().path;
}

std::string grant_of(const std::string& path) {
  return " " + words_to_copy({"--ro", std::string(parent_of(path))});
}

// What is not visible in a name is written out: the sentence is one line.
NotFound made_visible(const NotFound& found) {
  constexpr size_t most_shown = 16384;
  return {shown(found.why, most_shown), shown(found.advice, most_shown)};
}

NotFound look_for_cause(const ConfinementPlan& plan, const std::string& callers_path) {
  const std::string& name = plan.argv.front();
  if (name.empty()) return {};
  for (const auto& place : candidates_in(plan, plan.argv.front())) {
    const auto shown = shown_at(plan, place);
    if (!shown || !exists(shown->on_host)) continue;
    if (const auto target = target_out_of_view(plan, shown->on_host))
      return {name + ": found inside as " + place + ", a link to " + *target +
                  ", which is not in the sandbox's view",
              "; show it with" + grant_of(*target)};
    return {name + ": found inside as " + place + ", but its interpreter is not"};
  }
  const bool by_path = name.find('/') == std::string::npos;
  const std::string missing =
      name + (by_path ? ": not on the PATH inside, which is " + path_of(plan) : ": not found inside");
  ConfinementPlan outside{.argv = {name}, .directory = plan.directory};
  outside.environment = {{"PATH", callers_path}};
  for (const auto& place : candidates_in(outside, name)) {
    if (!exists(place)) continue;
    const auto shown = shown_at(plan, place);
    if (!shown) {
      const auto target = target_out_of_view(plan, place);
      const bool elsewhere = target && !is_beneath(parent_of(place), *target);
      return {name + ": exists on the host as " + place + " and is not in the sandbox's view",
              "; show it with" + grant_of(place) + (elsewhere ? grant_of(*target) : "")};
    }
    if (exists(shown->on_host)) return {missing + "; it is there as " + place};
    return {missing + "; instead of the host's " + shown->entry->target + " there is " +
            shown->entry->source};
  }
  // What was meant for a shell, or for several words.
  if (is_shell_word(name))
    return {name + ": not found inside; it is a word of the shell and no program",
            "; write it like this: cloche run -- bash -c " + quote_words({quote_words(plan.argv)})};
  if (name.find(' ') == std::string::npos) return {};
  const bool is_for_shell = name.find_first_of("|&;<>()$`*?~'\"\\#!{}[]\n") != std::string::npos;
  return {name + ": not found inside; it is one word with a blank in it",
          "; write it like this: cloche run -- " + (is_for_shell ? "sh -c " + quote_words({name}) : name)};
}

}  // namespace

NotFound why_not_found(const ConfinementPlan& plan, const std::string& callers_path) {
  return made_visible(look_for_cause(plan, callers_path));
}

}  // namespace cloche
