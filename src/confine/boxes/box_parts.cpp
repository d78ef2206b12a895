#include "confine/boxes/box_parts.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

// Bubblewrap and crun add a link to /proc/kcore, which only root of the host can read.
constexpr std::string_view made_in_dev[] = {"/dev/null",    "/dev/zero",  "/dev/full",   "/dev/random",
                                            "/dev/urandom", "/dev/tty",   "/dev/pts",    "/dev/ptmx",
                                            "/dev/fd",      "/dev/stdin", "/dev/stdout", "/dev/stderr"};

bool is_file(const ViewEntry& entry) { return entry.file || entry.kind == EntryKind::text; }

// Nothing of ours is ever made in a tree of the host's.
std::string beside_everything(const ConfinementPlan& plan, const std::string& name) {
  const ViewEntry* holder = holder_of(plan, {.target = "/run/" + name});
  return (holder != nullptr && holder->kind == EntryKind::tree ? "/" : "/run/") + name;
}

}  // namespace

std::string jail_inside(const ConfinementPlan& plan) { return beside_everything(plan, "cloche-jail"); }
std::string report_inside(const ConfinementPlan& plan) { return beside_everything(plan, "cloche-report"); }

bool may_write(Access access) { return access == Access::write || access == Access::write_run; }

bool may_run(Access access) { return access == Access::run || access == Access::write_run; }

bool requires_layer(const ConfinementPlan& plan, LayerId layer) {
  return std::find(plan.required.begin(), plan.required.end(), layer) != plan.required.end();
}

std::string source_at(const std::map<size_t, std::string>& sources, size_t at, const std::string& own) {
  const auto found = sources.find(at);
  return found != sources.end() ? found->second : own;
}

bool is_made_in_dev(const ViewEntry& entry) {
  return std::find(std::begin(made_in_dev), std::end(made_in_dev), entry.target) != std::end(made_in_dev);
}

bool has_dev(const ConfinementPlan& plan) {
  return std::any_of(plan.view.begin(), plan.view.end(), is_made_in_dev);
}

const ViewEntry* holder_of(const ConfinementPlan& plan, const ViewEntry& entry) {
  const ViewEntry* innermost = nullptr;
  for (const auto& other : plan.view) {
    const bool holds =
        other.kind == EntryKind::tree || other.kind == EntryKind::tmpfs || other.kind == EntryKind::proc;
    if (!holds || &other == &entry || !is_beneath(other.target, entry.target)) continue;
    if (innermost == nullptr || is_beneath(innermost->target, other.target)) innermost = &other;
  }
  return innermost;
}

std::vector<size_t> texts_in(const ConfinementPlan& plan) {
  std::vector<size_t> texts;
  for (size_t at = 0; at < plan.view.size(); ++at) {
    if (plan.view[at].kind == EntryKind::text) texts.push_back(at);
  }
  return texts;
}

std::vector<HostPlace> host_mount_points(const ConfinementPlan& plan) {
  std::vector<HostPlace> places;
  for (const auto& entry : plan.view) {
    const ViewEntry* holder = holder_of(plan, entry);
    if (holder == nullptr || holder->kind != EntryKind::tree || entry.kind == EntryKind::link) continue;
    places.push_back({holder->source + entry.target.substr(holder->target.size()), entry.target, entry.source,
                      is_file(entry)});
  }
  return places;
}

std::vector<std::string> parents_to_make(const ConfinementPlan& plan, const ViewEntry& entry) {
  const ViewEntry* holder = holder_of(plan, entry);
  if (holder != nullptr && holder->kind != EntryKind::tmpfs) return {};
  std::vector<std::string> parents;
  const std::string_view above = holder != nullptr ? std::string_view(holder->target) : "/";
  for (std::string_view at = parent_of(entry.target); at != above; at = parent_of(at))
    parents.emplace_back(at);
  return {parents.rbegin(), parents.rend()};
}

bool is_shown_by_its_tree(const ConfinementPlan& plan, const ViewEntry& entry) {
  const ViewEntry* holder = entry.kind == EntryKind::link ? holder_of(plan, entry) : nullptr;
  return holder != nullptr && holder->kind == EntryKind::tree;
}

}  // namespace cloche
