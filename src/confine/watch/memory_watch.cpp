#include "confine/watch/memory_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "base/sys/sys.hpp"
#include "confine/watch/process_table.hpp"

namespace cloche {
namespace {

constexpr uint64_t pipe_bytes = 1 << 20;  // the most an ordinary user may ask for
constexpr uint64_t bytes_a_mapping = 256;

// What a socket holds at most in both directions: the kernel doubles what may be asked for.
uint64_t socket_bytes() {
  uint64_t total = 0;
  for (const char* path : {"/proc/sys/net/core/wmem_max", "/proc/sys/net/core/rmem_max"}) {
    const auto text = sys::read_file(path, 64);
    total += 2 * (text.ok() ? field_of(text.value(), 0) : 4 << 20);
  }
  return total;
}

// Each inode once, by the largest size it may have.
struct Hidden {
  bool by_tables;  // sockets count where they are held: there is no network of its own that tells of all
  std::map<uint64_t, uint64_t> sizes = {};
  std::set<uint64_t> sockets = {};  // those in a table of descriptors
  uint64_t mappings = 0;
  bool complete = true;
};

void add_mapping(const Mapping& mapping, Hidden& hidden) {
  hidden.mappings += 1;
  const bool shared_memory = mapping.name == "/dev/zero (deleted)" || mapping.name.starts_with("/SYSV") ||
                             mapping.name.starts_with("/memfd:");
  if (!shared_memory) return;
  auto& size = hidden.sizes[mapping.inode];
  size = std::max(size, mapping.bytes);
}

// Whether descriptors wait in it to be received, by its line "scm_fds: 1".
bool carries_descriptors(int fds, const std::string& name) {
  const auto text = sys::read_file_at(fds, "../fdinfo/" + name, 4096);
  const size_t line = text.ok() ? text.value().find("scm_fds:") : std::string::npos;
  return line != std::string::npos && field_of(text.value().substr(line), 1) != 0;
}

void add_descriptor(int fds, const std::string& name, Hidden& hidden) {
  char link[64] = {};
  if (::readlinkat(fds, name.c_str(), link, sizeof link - 1) <= 0) return;
  struct stat seen {};
  if (::fstatat(fds, name.c_str(), &seen, 0) != 0) return;
  if (S_ISSOCK(seen.st_mode)) {
    // What is on its way is in no process's table, and may be a socket that is full.
    const bool fresh = hidden.by_tables && hidden.sockets.insert(seen.st_ino).second;
    if (fresh && carries_descriptors(fds, name)) hidden.complete = false;
    return;
  }
  uint64_t most = 0;
  if (S_ISFIFO(seen.st_mode)) most = pipe_bytes;
  if (std::string_view(link).starts_with("/memfd:")) most = static_cast<uint64_t>(seen.st_blocks) * 512;
  auto& size = hidden.sizes[seen.st_ino];
  size = std::max(size, most);
}

// By the sandbox's own network namespace, which knows of sockets that are in no process's table: those on
// their way from one process to another. Process 1 is always there.
uint64_t sockets_of_namespace(const ProcessTable& table) {
  uint64_t sockets = 0;
  const auto local = sys::read_file_at(table.directory, "1/net/unix", 64 << 20);
  if (local.ok())
    sockets += static_cast<uint64_t>(std::count(local.value().begin(), local.value().end(), '\n'));
  for (const char* file : {"1/net/tcp", "1/net/tcp6", "1/net/udp", "1/net/udp6"}) {
    const auto lines = sys::read_file_at(table.directory, file, 64 << 20);
    if (lines.ok())
      sockets += static_cast<uint64_t>(std::count(lines.value().begin(), lines.value().end(), '\n')) - 1;
  }
  return sockets;
}

}  // namespace

uint64_t hidden_at_most(const ProcessTable& table, const LookBudget& budget) {
  const bool own_network = table.ancestor == 0;
  Hidden hidden{.by_tables = !own_network && table.processes == Processes::of_command};
  for_each_process(table, [&](const std::string& process) {
    if (!hidden.complete || budget.is_spent()) return;
    if (const auto shown = memory_shown(table, process)) {
      hidden.complete = for_each_mapping(table, shown->at, [&](const Mapping& mapping) {
        add_mapping(mapping, hidden);
        return !budget.is_spent();
      });
    }
    const bool seen = for_each_descriptor(table, process, [&](int fds, const std::string& name) {
      add_descriptor(fds, name, hidden);
      return !budget.is_spent();
    });
    // Otherwise pipes alone can be missing, and of these the kernel gives a user no more than 64 MiB.
    if (!seen && hidden.by_tables) hidden.complete = false;
  });
  if (!hidden.complete || budget.is_spent()) return ~0ULL;
  const uint64_t sockets = own_network ? sockets_of_namespace(table) : hidden.sockets.size();
  uint64_t total = hidden.mappings * bytes_a_mapping + sockets * socket_bytes();
  for (const auto& [inode, size] : hidden.sizes) total += size;
  return total;
}

namespace {

const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
constexpr uint64_t kibi = 1024;

// "Name:   123 kB"
uint64_t kibibytes_of(const std::string& text, std::string_view name) {
  size_t at = text.find(name);
  if (at == std::string::npos) return 0;
  at = text.find_first_of("0123456789", at + name.size());
  uint64_t value = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value * kibi;
}

uint64_t page_tables_of(const ProcessTable& table, const std::string& process) {
  const auto text = sys::read_file_at(table.directory, process + "/status", 1 << 16);
  return text.ok() ? kibibytes_of(text.value(), "VmPTE:") : 0;
}

struct Held {
  uint64_t resident = 0;
  uint64_t tables = 0;  // page tables, looked up where an address space is so large that they can matter
};

Held held_by_all(const ProcessTable& table, uint64_t limit) {
  Held held;
  for_each_process(table, [&](const std::string& process) {
    const auto shown = memory_shown(table, process);
    if (!shown) return;
    held.resident += field_of(shown->statm, 1) * page;
    if (field_of(shown->statm, 0) * page > 16 * limit) held.tables += page_tables_of(table, shown->at);
  });
  return held;
}

// As much as there is time for; the others are taken to be like those that were looked at.
uint64_t shares_of_all(const ProcessTable& table, const LookBudget& budget) {
  uint64_t total = 0;
  uint64_t processes = 0;
  uint64_t looked_at = 0;
  for_each_process(table, [&](const std::string& process) {
    ++processes;
    if (budget.is_spent()) return;
    ++looked_at;
    const auto shown = memory_shown(table, process);
    if (!shown) return;
    const auto text = sys::read_file_at(table.directory, shown->at + "/smaps_rollup", 1 << 16);
    total += page_tables_of(table, shown->at);
    // Who does not let us look, as one that made itself undumpable, is taken to have shared none of it.
    total += text.ok() ? kibibytes_of(text.value(), "Pss_Anon:") + kibibytes_of(text.value(), "Pss_Shmem:") +
                             kibibytes_of(text.value(), "SwapPss:")
                       : field_of(shown->statm, 1) * page;
  });
  return looked_at == 0 ? total : total * processes / looked_at;
}

}  // namespace

MemoryWatch::Host MemoryWatch::look_at_host() {
  const auto text = sys::read_file("/proc/meminfo", 1 << 16);
  if (!text.ok()) return {};
  return {kibibytes_of(text.value(), "MemAvailable:"), kibibytes_of(text.value(), "Shmem:")};
}

MemoryWatch::MemoryWatch(uint64_t limit_bytes) : limit_(limit_bytes), best_(look_at_host()) {}

uint64_t MemoryWatch::sample(const ProcessTable& table, uint64_t in_files) {
  const Held held = held_by_all(table, limit_);
  uint64_t total = in_files + held.resident + held.tables;
  // Page tables are not shared, and shares take the longer to add up the more of them there are.
  const LookBudget budget;
  if (total > limit_ && in_files + held.tables <= limit_) total = in_files + shares_of_all(table, budget);
  const Host now = look_at_host();
  if (now.available == 0) return total;  // nothing to compare with
  best_ = {std::max(best_.available, now.available), std::min(best_.shared, now.shared)};
  const uint64_t lost = std::max(best_.available - now.available, now.shared - best_.shared);
  if (total <= limit_ && lost > limit_ / 2) {
    // Others may have taken it, so at most what this sandbox could be hiding is charged to it.
    const uint64_t exact = in_files + shares_of_all(table, budget);
    const uint64_t unexplained = lost > exact ? lost - exact : 0;
    total = std::max(total, exact + std::min(unexplained, hidden_at_most(table, budget)));
  }
  peak_ = std::max(peak_, total);
  return total;
}

}  // namespace cloche
