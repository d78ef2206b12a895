// The limits of one call. Each has a default and none can be "unlimited": zero is refused where it is parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"

namespace cloche {

struct Limits {
  uint64_t wall_ms = 60ULL * 60 * 1000;
  uint64_t cpu_s = 60ULL * 60;
  uint64_t memory_bytes = 4ULL << 30;
  uint64_t processes = 512;
  uint64_t open_files = 4096;
  uint64_t file_bytes = 4ULL << 30;
  uint64_t disk_bytes = 4ULL << 30;  // what writable host directories may grow by
  uint64_t new_files = 200'000;      // how many more there may be
  uint64_t tmp_bytes = 512ULL << 20;
  uint64_t output_bytes = 1ULL << 30;
  uint64_t changes = 1'000'000;  // paths that are looked at to find and judge what the call changed
  uint64_t judge_ms = 60'000;    // that this may take

  // Of a network by name:
  uint64_t net_connections = 1024;
  uint64_t net_bytes = 4ULL << 30;
  uint64_t net_idle_ms = 5ULL * 60 * 1000;
  uint64_t net_time_ms = 60ULL * 60 * 1000;

  bool operator==(const Limits&) const = default;
};

enum class LimitId {
  wall,
  cpu,
  memory,
  processes,
  open_files,
  file_size,
  disk,
  new_files,
  tmp,
  output,
  changes,
  judge_time,
  net_connections,
  net_bytes,
  net_idle,
  net_time,
};

struct LimitInfo {
  LimitId id;
  std::string_view flag;  // what raises it
  std::string_view what;  // for --help
  enum class Unit { milliseconds, seconds, bytes, count } unit;
  uint64_t Limits::*field;                 // whose first value is the default
  uint64_t least = 1;                      // below it not even the jail would fit
  std::string_view name = flag.substr(2);  // in outcomes, configuration, profiles and skills
};

// The one table of the limits, in the order of LimitId and of --help: flags, keys, units, defaults and help
// come from it.
inline constexpr LimitInfo limit_table[] = {
    {LimitId::wall, "--timeout", "wall clock", LimitInfo::Unit::milliseconds, &Limits::wall_ms},
    {LimitId::cpu, "--cpu", "processor time of the whole tree", LimitInfo::Unit::seconds, &Limits::cpu_s},
    {LimitId::memory, "--memory", "memory of the whole tree, its /tmp included", LimitInfo::Unit::bytes,
     &Limits::memory_bytes, uint64_t{1} << 20},
    {LimitId::processes, "--pids", "processes and threads", LimitInfo::Unit::count, &Limits::processes},
    {LimitId::open_files, "--nofile", "open files of each process", LimitInfo::Unit::count,
     &Limits::open_files, 16},
    {LimitId::file_size, "--fsize", "size of each file", LimitInfo::Unit::bytes, &Limits::file_bytes},
    {LimitId::disk, "--disk", "growth of the workspace", LimitInfo::Unit::bytes, &Limits::disk_bytes},
    {LimitId::new_files, "--files", "new files in the workspace", LimitInfo::Unit::count, &Limits::new_files},
    {LimitId::tmp, "--tmp", "/tmp, $HOME and /dev/shm, each", LimitInfo::Unit::bytes, &Limits::tmp_bytes},
    {LimitId::output, "--output", "stdout and stderr together", LimitInfo::Unit::bytes,
     &Limits::output_bytes},
    {LimitId::changes, "--changes", "paths to look at; beyond it all is staged", LimitInfo::Unit::count,
     &Limits::changes},
    {LimitId::judge_time, "--judge-time", "time to judge changes; the same", LimitInfo::Unit::milliseconds,
     &Limits::judge_ms},
    {LimitId::net_connections, "--net-connections", "connections to declared hosts, at once",
     LimitInfo::Unit::count, &Limits::net_connections},
    {LimitId::net_bytes, "--net-bytes", "bytes to and from each host", LimitInfo::Unit::bytes,
     &Limits::net_bytes},
    {LimitId::net_idle, "--net-idle", "a connection on which nothing moves", LimitInfo::Unit::milliseconds,
     &Limits::net_idle_ms},
    {LimitId::net_time, "--net-time", "each connection", LimitInfo::Unit::milliseconds, &Limits::net_time_ms},
};
constexpr const LimitInfo& info_of(LimitId id) { return limit_table[static_cast<size_t>(id)]; }
// Whether it is about the network: of a plan without one it says nothing.
constexpr bool is_of_network(LimitId id) { return id >= LimitId::net_connections; }

// "30", "30s", "5m", "2h", "500ms" -> milliseconds; "512M", "512MiB", "1G", "4096" -> bytes. Zero, overflow,
// signs and anything else are usage errors that name the flag.
Result<uint64_t> parse_duration_ms(std::string_view flag, std::string_view text);
Result<uint64_t> parse_size(std::string_view flag, std::string_view text);
Result<uint64_t> parse_count(std::string_view flag, std::string_view text);
// By the row's unit, into the row's field.
Result<void> set_limit(Limits& limits, const LimitInfo& row, std::string_view text);

// "512M", "30s": what the parsers would read back.
std::string show_size(uint64_t bytes);
std::string show_duration_ms(uint64_t milliseconds);
std::string show_limit(const Limits& limits, const LimitInfo& row);

// One limit as configuration, a profile or a skill has it.
struct LimitSetting {
  LimitId id = LimitId::wall;
  uint64_t value = 0;
  int line = 0;
};

// Who lowered a limit below what the operator gives by a flag, so that a refusal does not name the wrong
// place.
struct LimitSource {
  LimitId id;
  std::string by;  // "skill x", "/etc/cloche/config.json:3"

  bool operator==(const LimitSource&) const = default;
};

// Notes `by`, in place of who was noted before, for each limit that is now lower than `before`.
void note_lowered(std::vector<LimitSource>& sources, const Limits& before, const Limits& now,
                  std::string_view by);
// Empty: the operator.
std::string_view source_of(const std::vector<LimitSource>& sources, LimitId id);

// Limits as configuration, profiles and skills write them: an object of names to numbers or texts like "30s",
// "512M".
// By the names of the flags: timeout, cpu, memory, ... Refuses what is unknown or no limit, with file:line.
Result<std::vector<LimitSetting>> read_limit_settings(const JsonValue& object, const std::string& source);

// "512M", "30s"
std::string show_limit(LimitId id, uint64_t value);

// Of each the smaller one.
void narrow(Limits& limits, const std::vector<LimitSetting>& words);

}  // namespace cloche
