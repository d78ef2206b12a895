#include "confine/boxes/dead_runtime_processes.hpp"

#include <algorithm>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr uint64_t between_ms = 200;
constexpr int enough_looks = 15;  // on a busy machine a runtime that lives comes late as well

// "17 (name) Z 16 ...": ended, and not waited for by 16.
bool is_left_dead(const ProcessTable& table, const std::string& process) {
  const auto line = sys::read_small_file_at(table.directory, process + "/stat");
  if (!line.ok()) return false;
  const size_t name_end = line.value().rfind(')');  // the name may hold anything, a ')' too
  if (name_end == std::string::npos) return false;
  const std::string rest = line.value().substr(name_end + 1);
  return rest.starts_with(" Z ") && field_of(rest, 2) != static_cast<uint64_t>(table.ancestor);
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
