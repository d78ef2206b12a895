#include "confine/watch/watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/sys/sys.hpp"
#include "confine/watch/process_table.hpp"

namespace cloche {
namespace {

constexpr uint64_t first_interval_ms = 10;
constexpr uint64_t small_cpu_s = 600;         // a limit of hours is kept well enough by a look a second
constexpr uint64_t cost_share = 10;           // a sample may cost one part in ten of the time
constexpr uint64_t longest_interval_ms = 50;  // whatever it costs: a command can make samples dear

std::vector<WatchedTree> writable_trees(const ConfinementPlan& plan,
                                        const std::map<std::string, std::string>& upper_directories) {
  std::vector<WatchedTree> trees;
  for (const auto& entry : plan.view) {
    const bool writes = entry.access == Access::write || entry.access == Access::write_run;
    const auto upper = upper_directories.find(entry.target);
    const bool is_layered = entry.layered && upper != upper_directories.end();
    if (entry.kind != EntryKind::tree || !writes) continue;
    trees.push_back(is_layered ? WatchedTree{upper->second, TreeOf::call} : WatchedTree{entry.source});
  }
  return trees;
}

std::vector<std::string> memory_file_systems(const ConfinementPlan& plan) {
  std::vector<std::string> paths;
  for (const auto& entry : plan.view) {
    if (entry.kind == EntryKind::tmpfs && entry.access != Access::none) paths.push_back(entry.target);
  }
  return paths;
}

constexpr uint64_t ticks_a_second = 100;  // what the kernel counts in /proc, on every machine
constexpr uint64_t ms_a_tick = 1000 / ticks_a_second;

LimitHit too_large(uint64_t size) {
  return {LimitId::tmp, size == SizeWatch::untold
                            ? "the task's home or /tmp can no longer be measured, it is too deep or closed"
                            : "the task's home or /tmp has become larger"};
}

std::string mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + "M"; }

}  // namespace

Watch::Watch(const ConfinementPlan& plan, const Cgroup* cgroup, uint64_t start_ms,
             const std::map<std::string, std::string>& upper_directories)
    : limits_(plan.limits),
      cgroup_(cgroup),
      next_ms_(start_ms + first_interval_ms),
      next_cpu_ms_(plan.limits.cpu_s < small_cpu_s ? 0 : start_ms + 1000),
      processes_(plan.backend == Backend::runsc ? Processes::of_runtime : Processes::of_command),
      disk_(writable_trees(plan, upper_directories), plan.limits.disk_bytes, plan.limits.new_files),
      tmpfs_(memory_file_systems(plan)) {
  for (const auto& entry : plan.view) {
    if (entry.kind == EntryKind::tree && entry.size_bytes != 0)
      sizes_.emplace_back(entry.source, entry.size_bytes);
  }
  if (cgroup == nullptr) memory_.emplace(plan.limits.memory_bytes);
}

void Watch::attach(int root) {
  auto table = open_process_table(root);
  if (table.ok()) proc_ = std::move(table).value();
  tmpfs_.attach(root);
}

void Watch::attach_to_descendants(pid_t ancestor) {
  ancestor_ = ancestor;
  auto table = sys::open("/proc", O_RDONLY | O_DIRECTORY);
  if (table.ok()) proc_ = std::move(table).value();
}

std::optional<LimitHit> Watch::check(uint64_t now_ms) {
  const uint64_t in_files = tmpfs_.sample();
  auto hit = cgroup_ != nullptr ? check_cgroup() : check_memory(in_files);
  if (!hit) hit = check_cpu(now_ms);
  if (!hit) hit = check_disk();
  const uint64_t cost = sys::monotonic_ms() - now_ms;
  next_ms_ = now_ms + std::clamp(cost * cost_share, first_interval_ms, longest_interval_ms);
  return hit;
}

bool Watch::has_lost_a_part(uint64_t now_ms) {
  return processes_ == Processes::of_runtime && proc_ && dead_parts_.remain(table(), now_ms);
}

std::optional<LimitHit> Watch::check_disk() {
  if (const auto growth = disk_.beyond_limit(table())) {
    const bool too_large = growth->bytes > limits_.disk_bytes;
    return too_large ? LimitHit{LimitId::disk, "the workspace has grown by " + mebibytes(growth->bytes)}
                     : LimitHit{LimitId::new_files, std::to_string(growth->files) + " new files"};
  }
  for (auto& tree : sizes_) {
    if (const auto size = tree.beyond_limit()) return too_large(*size);
  }
  return std::nullopt;
}

std::optional<LimitHit> Watch::sizes_at_start() {
  for (auto& tree : sizes_) {
    const auto size = tree.beyond_limit();
    if (!size) continue;
    LimitHit hit = too_large(*size);
    hit.what += " by earlier calls, so nothing was started";
    return hit;
  }
  return std::nullopt;
}

// What was closed just now may be opened again, and is not started in otherwise.
std::optional<LimitHit> Watch::sizes_at_end() {
  for (auto& tree : sizes_) {
    const auto size = tree.beyond_limit_exactly();
    if (size && *size != SizeWatch::untold) return too_large(*size);
  }
  return std::nullopt;
}

void Watch::note_usage() {
  if (!proc_) return;
  cpu_ms_ = std::max(cpu_ms_, cpu_.sample(table()) * ms_a_tick);
  max_rss_bytes_ = std::max(max_rss_bytes_, largest_process_bytes(table()));
}

std::optional<LimitHit> Watch::check_cgroup() {
  return cgroup_ != nullptr ? judge_cgroup(cgroup_->numbers()) : std::nullopt;
}

std::optional<LimitHit> Watch::judge_cgroup(const Cgroup::Numbers& numbers) {
  if (cgroup_ == nullptr) return std::nullopt;
  if (numbers.memory_peak_bytes != 0) last_numbers_ = numbers;  // zero: the group is gone already
  if (last_numbers_.memory_kills == 0) return std::nullopt;
  return LimitHit{LimitId::memory,
                  "the kernel ended a process for it (" + std::string(name_of(cgroup_->by())) + ")"};
}

std::optional<LimitHit> Watch::check_memory(uint64_t in_files) {
  if (!proc_) return std::nullopt;
  const uint64_t used = memory_->sample(table(), in_files);
  if (used <= limits_.memory_bytes) return std::nullopt;
  return LimitHit{LimitId::memory, "seen in use: " + mebibytes(used) + ", " +
                                       mebibytes(used - limits_.memory_bytes) + " over (watched total)"};
}

std::optional<LimitHit> Watch::check_cpu(uint64_t now_ms) {
  if (!proc_ || now_ms < next_cpu_ms_) return std::nullopt;
  next_cpu_ms_ = now_ms + (limits_.cpu_s < small_cpu_s ? 0 : 1000);
  const uint64_t ticks = cpu_.sample(table());
  if (ticks < limits_.cpu_s * ticks_a_second) return std::nullopt;
  return LimitHit{LimitId::cpu, std::to_string(ticks / ticks_a_second) + " s used by the whole tree"};
}

std::optional<uint64_t> Watch::memory_peak_bytes() const {
  if (cgroup_ != nullptr) return last_numbers_.memory_peak_bytes;
  return memory_->peak_bytes();
}

std::optional<uint64_t> Watch::memory_overshoot_bytes() const {
  if (cgroup_ != nullptr) return std::nullopt;
  return memory_->peak_bytes() > memory_->limit_bytes() ? memory_->peak_bytes() - memory_->limit_bytes() : 0;
}

uint64_t CpuWatch::sample(const ProcessTable& table) {
  std::map<Process, uint64_t> now;
  uint64_t living = 0;
  for_each_process(table, [&](const std::string& process) {
    const auto line = sys::read_small_file_at(table.directory, process + "/stat");
    if (!line.ok()) return;
    const Ticks ticks = ticks_of(line.value());
    uint64_t number = 0;
    std::from_chars(process.data(), process.data() + process.size(), number);
    const Process which{number, ticks.started};
    const auto before = seen_.find(which);
    grown_ += ticks.own - std::min(ticks.own, before != seen_.end() ? before->second : 0);
    now[which] = ticks.own;
    living += ticks.own + ticks.children;
  });
  seen_ = std::move(now);
  return std::max(grown_, living);
}

namespace {

constexpr uint64_t between_ms = 200;
constexpr int enough_looks = 15;  // on a busy machine a runtime that lives comes late as well

// "17 (name) Z 16 ...": ended, and not waited for by 16.
bool is_left_dead(const ProcessTable& table, const std::string& process) {
  const auto line = sys::read_small_file_at(table.directory, process + "/stat");
  if (!line.ok()) return false;
  const std::string rest = behind_name(line.value());
  return rest.starts_with("Z ") && field_of(rest, 1) != static_cast<uint64_t>(table.ancestor);
}

}  // namespace

bool DeadRuntimeProcesses::remain(const ProcessTable& table, uint64_t now_ms) {
  if (now_ms < next_ms_) return false;
  next_ms_ = now_ms + between_ms;
  std::map<std::string, int> seen;
  for_each_process(table, [&](const std::string& process) {
    if (is_left_dead(table, process)) seen[process] = looks_[process] + 1;
  });
  looks_ = std::move(seen);
  return std::any_of(looks_.begin(), looks_.end(),
                     [](const auto& dead) { return dead.second >= enough_looks; });
}

}  // namespace cloche
