#include "confine/kernel_rules.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

wire::Access access_of(Access access) {
  switch (access) {
    case Access::none:
    case Access::read: return wire::Access::read;
    case Access::run: return wire::Access::run;
    case Access::write: return wire::Access::write;
    case Access::write_run: return wire::Access::write_run;
    case Access::device: return wire::Access::device;
  }
  return wire::Access::list;
}

bool includes(Access wide, Access narrow) {
  if (wide == narrow) return true;
  if (wide == Access::write_run) return narrow != Access::device;
  return narrow == Access::read && (wide == Access::run || wide == Access::write || wide == Access::device);
}

using Said = std::vector<std::pair<std::string, Access>>;

// Whether a mount has checked that a source is what was judged; without one the rule says what it must be.
enum class Checked { by_mount, by_rule };

// Of the view what is not said yet.
void add_rules(const ConfinementPlan& plan, Said said, Checked checked, std::vector<wire::RuleText>& rules) {
  for (const auto& entry : plan.view) {
    const bool reachable = entry.kind != EntryKind::link && entry.kind != EntryKind::text &&
                           entry.kind != EntryKind::directory && entry.access != Access::none;
    if (!reachable) continue;
    const bool included = std::any_of(said.begin(), said.end(), [&](const auto& outer) {
      return is_beneath(outer.first, entry.target) && includes(outer.second, entry.access);
    });
    if (included) continue;
    const wire::Identity judged{entry.device, entry.inode};
    rules.push_back(
        {access_of(entry.access), entry.target, checked == Checked::by_rule ? judged : wire::Identity{}});
    said.emplace_back(entry.target, entry.access);
  }
}

// What a call leaves in the trees that it is shown is looked at by when it changed; not so in those that
// Cloche places. A directory that came from there as a whole would bring files that no call in the tree had
// changed.
void add_marks(const ConfinementPlan& plan, std::vector<wire::RuleText>& rules) {
  for (const auto& entry : plan.view) {
    const bool written = entry.access == Access::write || entry.access == Access::write_run;
    if (entry.kind == EntryKind::tree && written && !entry.file && entry.role == EntryRole::shown)
      rules.push_back({wire::Access::looked_at, entry.target, {entry.device, entry.inode}});
  }
}

}  // namespace

std::vector<wire::RuleText> rules_for(const ConfinementPlan& plan) {
  std::vector<wire::RuleText> rules = {
      {wire::Access::list, "/"}, {wire::Access::read, "/etc"}, {wire::Access::device, "/dev"}};
  const bool has_etc = std::any_of(plan.view.begin(), plan.view.end(),
                                   [](const ViewEntry& entry) { return is_beneath("/etc", entry.target); });
  if (!has_etc) rules.erase(rules.begin() + 1);
  add_rules(plan, {{"/etc", Access::read}, {"/dev", Access::device}}, Checked::by_mount, rules);
  return rules;
}

std::vector<wire::RuleText> shown_rules_for(const ConfinementPlan& plan) {
  std::vector<wire::RuleText> rules;
  add_rules(plan, {}, Checked::by_rule, rules);
  add_marks(plan, rules);
  return rules;
}

std::vector<wire::Limit> limits_for(const Limits& limits, CountedBy by) {
  const uint64_t behind_cgroup = by == CountedBy::watched ? 0 : 1;
  return {
      {RLIMIT_CORE, 1},  // too little for any; and 0 would still feed a host's core_pattern that is a pipe
      {RLIMIT_CPU,
       limits.cpu_s + 1},  // of each process; the supervisor adds the tree up, and should come first
      {RLIMIT_FSIZE, limits.file_bytes},
      {RLIMIT_NOFILE, limits.open_files},
      {RLIMIT_NPROC, limits.processes + 1 +
                         behind_cgroup},  // counted in the call's own user namespace; `first` is one more
      {RLIMIT_MEMLOCK, 64ULL << 20},
      {RLIMIT_MSGQUEUE, 819'200},
      {RLIMIT_SIGPENDING, 4096},
      {RLIMIT_RTPRIO, 0},
      {RLIMIT_NICE, 0},
  };
}

std::string_view name_of_resource(uint32_t resource) {
  switch (resource) {
    case RLIMIT_CORE: return "core";
    case RLIMIT_CPU: return "cpu";
    case RLIMIT_FSIZE: return "fsize";
    case RLIMIT_NOFILE: return "nofile";
    case RLIMIT_NPROC: return "nproc";
    case RLIMIT_MEMLOCK: return "memlock";
    case RLIMIT_MSGQUEUE: return "msgqueue";
    case RLIMIT_SIGPENDING: return "sigpending";
    case RLIMIT_RTPRIO: return "rtprio";
    case RLIMIT_NICE: return "nice";
    default: return "";
  }
}

// As many files as pages: enough for small ones, and a number all the same.
uint64_t files_of_memory(uint64_t size_bytes) { return std::max<uint64_t>(size_bytes / 4096, 16); }

}  // namespace cloche
