// The limits of one call. Each has a default and none can be "unlimited": zero is refused where it is parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

struct Limits {
  uint64_t wall_ms = 60ULL * 60 * 1000;  // --timeout
  uint64_t cpu_s = 60ULL * 60;           // --cpu, of the whole tree
  uint64_t memory_bytes = 4ULL << 30;    // --memory, of the whole tree, its tmpfs included
  uint64_t processes = 512;              // --pids, threads included
  uint64_t open_files = 4096;            // --nofile, of each process
  uint64_t file_bytes = 4ULL << 30;      // --fsize, of each file
  uint64_t disk_bytes = 4ULL << 30;      // --disk, what writable host directories may grow by
  uint64_t new_files = 200'000;          // --files, how many files more there may be
  uint64_t tmp_bytes = 512ULL << 20;     // --tmp, of /tmp, $HOME and /dev/shm each
  uint64_t output_bytes = 1ULL << 30;    // --output, stdout and stderr together

  // Of a network by name:
  uint64_t net_connections = 1024;           // --net-connections, at once
  uint64_t net_bytes = 4ULL << 30;           // --net-bytes, to and from each host
  uint64_t net_idle_ms = 5ULL * 60 * 1000;   // --net-idle, of a connection on which nothing moves
  uint64_t net_time_ms = 60ULL * 60 * 1000;  // --net-time, of each connection

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
  net_connections,
  net_bytes,
  net_idle,
  net_time,
};

struct LimitInfo {
  LimitId id;
  std::string_view name;  // as the outcome says it
  std::string_view flag;  // what raises it
  std::string_view what;  // for --help
  enum class Unit { milliseconds, seconds, bytes, count } unit;
  uint64_t Limits::*field;
  uint64_t least = 1;  // below it not even the jail would fit
};

// One row a limit, in the order of --help.
extern const LimitInfo limit_table[14];
const LimitInfo& info_of(LimitId id);
// Whether it is about the network: of a plan without one it says nothing.
bool is_of_network(LimitId id);

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

}  // namespace cloche
