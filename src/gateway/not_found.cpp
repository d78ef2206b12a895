#include "gateway/not_found.hpp"

#include <unistd.h>

#include <optional>
#include <vector>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

constexpr int most_links = 8;

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

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

std::optional<std::string> program_on_host(const ConfinementPlan& plan, const std::string& name) {
  for (const auto& place : candidates_in(plan, name)) {
    const auto shown = shown_at(plan, place);
    if (shown && ::access(shown->on_host.c_str(), X_OK) == 0) return shown->on_host;
  }
  return std::nullopt;
}

std::optional<std::string> directory_on_host(const ConfinementPlan& plan) {
  const auto shown = shown_at(plan, plan.directory);
  return shown ? std::optional(shown->on_host) : std::nullopt;
}

NotFound why_not_found(const ConfinementPlan& plan, const std::string& callers_path) {
  const std::string& name = plan.argv.front();
  if (name.empty()) return {};
  for (const auto& place : candidates_in(plan, plan.argv.front())) {
    const auto shown = shown_at(plan, place);
    if (shown && exists(shown->on_host))
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
    if (!shown)
      return {name + ": exists on the host as " + place + " and is not in the sandbox's view",
              "; show it with --ro " + std::string(parent_of(place))};
    if (exists(shown->on_host)) return {missing + "; it is there as " + place};
    return {missing + "; instead of the host's " + shown->entry->target + " there is " +
            shown->entry->source};
  }
  return {};
}

}  // namespace cloche
