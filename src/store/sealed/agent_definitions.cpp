#include "store/sealed/agent_definitions.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/fd.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/ascii.hpp"
#include "base/text/visible_text.hpp"
#include "store/trust/bind_mount_alias.hpp"

namespace cloche {
namespace {

using Check = AgentToolRow::Check;

constexpr uint64_t most_ms = 3000;  // for one tree; the agent waits meanwhile
constexpr int most_depth = 40;
constexpr size_t most_bytes = 256 << 10;

// A file that may define something, and what it may be called by its place.
struct Candidate {
  std::string path;
  std::vector<std::string> names;
};

bool is_markdown(std::string_view name) {
  constexpr std::string_view ending = ".md";
  return name.size() > ending.size() &&
         ascii::same_without_case(name.substr(name.size() - ending.size()), ending);
}

// A tree's candidates, within limits. Links are not walked into: what a link leads to is looked at as a
// definition, and a link in the place of a whole directory of definitions is not understood.
class Search {
  // The names beneath the nearest directory of commands or agents; none: there is no such.
  using Below = std::optional<std::vector<std::string>>;

 public:
  explicit Search(Check kind) : kind_(kind) {}

  void walk(const std::string& top) {
    const bool holds = holds_definitions(std::string_view(top).substr(top.rfind('/') + 1));
    descend(top, holds ? Below(std::vector<std::string>{}) : Below(), 0);
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }
  // Why it is not known what else is there; empty: all was seen.
  const std::string& unsure() const { return unsure_; }

 private:
  bool holds_definitions(std::string_view name) const {
    return ascii::same_without_case(name, kind_ == Check::subagent ? "agents" : "commands");
  }
  bool is_known_directory(std::string_view name) const {
    return holds_definitions(name) || ascii::same_without_case(name, ".claude") ||
           (kind_ == Check::skill && ascii::same_without_case(name, "skills"));
  }

  void descend(const std::string& directory, const Below& below, int depth) {
    if (depth > most_depth) unsure_ = directory + " is nested too deeply";
    if (!unsure_.empty()) return;
    if (::access(directory.c_str(), R_OK | X_OK) != 0 && errno != ENOENT)
      unsure_ = directory + " cannot be read";
    if (sys::monotonic_ms() >= deadline_ms_) unsure_ = "there are too many files to look through";
    for_each_entry(directory, [&](std::string_view name, unsigned char type) {
      if (unsure_.empty()) visit(directory, std::string(name), type, below, depth);
    });
  }

  void visit(const std::string& directory, const std::string& name, unsigned char type, const Below& below,
             int depth) {
    const std::string path = directory == "/" ? "/" + name : directory + "/" + name;
    struct stat seen {};
    if (type == DT_UNKNOWN && ::lstat(path.c_str(), &seen) == 0)
      type = static_cast<unsigned char>(IFTODT(seen.st_mode));
    if (type == DT_LNK) {
      visit_link(path, name, below);
    } else if (type == DT_DIR) {
      descend(path, below_next(name, below), depth + 1);
    } else {
      visit_file(path, name, below);
    }
  }

  Below below_next(const std::string& name, const Below& below) const {
    if (holds_definitions(name)) return std::vector<std::string>{};
    if (!below) return below;
    Below next = below;
    next->push_back(name);
    return next;
  }

  void visit_link(const std::string& path, const std::string& name, const Below& below) {
    struct stat target {};
    if (::stat(path.c_str(), &target) != 0) return;
    if (!S_ISDIR(target.st_mode)) return visit_file(path, name, below);
    if (is_known_directory(name) || below) unsure_ = path + " is a link";
    if (kind_ == Check::skill && ::access((path + "/SKILL.md").c_str(), F_OK) == 0)
      candidates_.push_back({path + "/SKILL.md", {name}});
  }

  void visit_file(const std::string& path, const std::string& name, const Below& below) {
    if (kind_ == Check::skill && ascii::same_without_case(name, "SKILL.md")) {
      const std::string_view directory = parent_of(path);
      candidates_.push_back({path, {std::string(directory.substr(directory.rfind('/') + 1))}});
    } else if (below && is_markdown(name)) {
      std::string joined;
      for (const auto& part : *below) joined += part + ":";
      joined += name.substr(0, name.size() - 3);
      candidates_.push_back({path, {std::move(joined)}});
    }
  }

  Check kind_;
  std::vector<Candidate> candidates_;
  std::string unsure_;
  uint64_t deadline_ms_ = sys::monotonic_ms() + most_ms;
};

// A pipe is no definition, and is not waited for.
Result<std::string> read_regular(const std::string& path) {
  const OwnedFd file = TRY(sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat seen {};
  if (::fstat(file.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return refusal(path + " is no regular file");
  return sys::read_all(file.get(), most_bytes);
}

AgentDefinition definition_in(const std::string& path) {
  const auto text = read_regular(path);
  return text.ok() ? read_agent_definition(text.value()) : AgentDefinition{};
}

// A setting by which the project brings in definitions of another place.
bool names_other_places(const JsonValue& value) {
  constexpr std::string_view keys[] = {"additionalDirectories", "enabledPlugins", "extraKnownMarketplaces",
                                       "pluginDirectories"};
  for (const auto& member : value.members)
    if (std::find(std::begin(keys), std::end(keys), member.name) != std::end(keys) ||
        names_other_places(member.value))
      return true;
  return std::any_of(value.items.begin(), value.items.end(), names_other_places);
}

std::optional<std::string> unsure_by_settings(const std::string& workspace) {
  for (const char* name : {"/.claude/settings.json", "/.claude/settings.local.json"}) {
    const std::string path = workspace + name;
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) continue;
    const auto text = read_regular(path);
    const auto read = text.ok() ? read_json(text.value(), "") : Result<JsonValue>(text.error());
    if (!read.ok() || names_other_places(read.value()))
      return path + " may bring in definitions of another place";
  }
  return std::nullopt;
}

// The trees outside that the client reads, without the workspace.
std::vector<std::string> trees_outside(const DefinitionSearch& search) {
  std::vector<std::string> tops = {search.config, "/etc/claude-code/.claude"};
  for (std::string_view at = search.workspace; at != "/";) {
    at = parent_of(at);
    tops.push_back((at == "/" ? "" : std::string(at)) + "/.claude");
  }
  std::vector<std::string> trees;
  for (const auto& top : tops)
    for (const char* part : {"/skills", "/commands", "/agents", "/plugins"}) trees.push_back(top + part);
  std::sort(trees.begin(), trees.end());
  trees.erase(std::unique(trees.begin(), trees.end()), trees.end());
  return trees;
}

// What is called so outside: each has to be a file that only the caller or root could write, not in the
// workspace by any name, and harmless.
std::optional<std::string> why_not_outside(const Candidate& candidate, const AgentDefinition& definition,
                                           const DefinitionSearch& search,
                                           const std::vector<std::string>& keys) {
  const auto held = sys::hold(candidate.path);
  if (!held.ok()) return candidate.path + " cannot be opened";
  if (lies_in(search.workspace, held.value().path)) return candidate.path + " lies in the workspace";
  if (!is_ours_alone(candidate.path)) return candidate.path + " could have been written by another user";
  if (auto why = why_not_harmless(definition, keys, search.words)) return candidate.path + ": " + *why;
  return std::nullopt;
}

// A skill by its place and a subagent by its head, which is how the client knows them; by anything else the
// name may be that of one which comes with the client. What plug-ins bring has another name in front.
bool is_surely_called(const Candidate& candidate, const AgentDefinition& definition,
                      const DefinitionSearch& search, const std::string& tree) {
  if (tree.ends_with("/plugins")) return false;
  if (search.kind == Check::subagent) return definition.name == search.name;
  return std::find(candidate.names.begin(), candidate.names.end(), search.name) != candidate.names.end();
}

}  // namespace

std::optional<std::string> why_ask_about_definition(const DefinitionSearch& search,
                                                    const AgentToolTable& table) {
  if (lies_in(search.workspace, search.config)) return "the agent's configuration lies in the workspace";
  if (auto unsure = unsure_by_settings(search.workspace)) return unsure;
  Search inside(search.kind);
  inside.walk(search.workspace);
  // A subagent is called what its head says to the client, whose reader of heads is not ours: the project's
  // text is not taken apart for it. A skill is called what its place says.
  for (const auto& one : inside.candidates())
    if (search.kind == Check::subagent || may_be_called(definition_in(one.path), one.names, search.name))
      return "its definition may be " + one.path + ", in the workspace";
  if (!inside.unsure().empty()) return "it may be defined in the workspace: " + inside.unsure();

  const bool is_subagent = search.kind == Check::subagent;
  const auto& builtin = table.builtin_subagents;
  bool found = is_subagent && std::find(builtin.begin(), builtin.end(), search.name) != builtin.end();
  const auto& keys = is_subagent ? table.subagent_keys : table.skill_keys;
  for (const auto& tree : trees_outside(search)) {
    struct stat seen {};
    if (::stat(tree.c_str(), &seen) != 0) continue;
    Search outside(search.kind);
    outside.walk(tree);
    if (!outside.unsure().empty()) return outside.unsure();
    for (const auto& one : outside.candidates()) {
      const AgentDefinition definition = definition_in(one.path);
      if (!may_be_called(definition, one.names, search.name)) continue;
      if (auto why = why_not_outside(one, definition, search, keys)) return why;
      found = found || is_surely_called(one, definition, search, tree);
    }
  }
  if (!found) return "no definition of " + shown(search.name, 80) + " was found";
  return std::nullopt;
}

}  // namespace cloche
