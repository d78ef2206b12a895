#include "confine/watch/hidden_memory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

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

}  // namespace cloche
