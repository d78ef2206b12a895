// The processes of a sandbox, read from outside through its own /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

// Whom a table shows: gVisor's kernel is a program like others, and its files are not the command's.
enum class Processes { of_command, of_runtime };

// A /proc that is held open elsewhere. Of a sandbox without a pid namespace of its own it is the host's, and
// then only what `ancestor` has started, directly or not, is meant.
struct ProcessTable {
  ProcessTable(int proc, pid_t of = 0,
               Processes who = Processes::of_command)  // NOLINT: a table is its directory
      : directory(proc), ancestor(of), processes(who) {}
  int directory;
  pid_t ancestor;
  Processes processes;
};

// /proc of the view whose root is given.
Result<OwnedFd> open_process_table(int root);

// Calls `visit` with the directory name ("17") of each process.
void for_each_process(const ProcessTable& table,
                      const std::function<void(const std::string& process)>& visit);

// Where the kernel shows the memory that the threads of a process share, with its line of numbers (statm):
// under the name of the process or, when its first thread has ended before the others, under one of theirs
// ("17/task/19"). nullopt: all have ended.
struct MemoryShown {
  std::string at;
  std::string statm;
};
std::optional<MemoryShown> memory_shown(const ProcessTable& table, const std::string& process);

// Calls `visit` with each descriptor of each thread, for a thread can have a table of its own, until that
// returns false: `directory` is its table (17/task/19/fd), in which `name` is its number. False: a process
// that the command has started does not let us look, as one that made itself undumpable.
bool for_each_descriptor(const ProcessTable& table, const std::string& process,
                         const std::function<bool(int directory, const std::string& name)>& visit);

// One line of a process's maps.
struct Mapping {
  uint64_t begin = 0;  // its addresses
  uint64_t bytes = 0;
  uint64_t offset = 0;  // into the file
  uint64_t device = 0;
  uint64_t inode = 0;
  std::string_view name;  // with " (deleted)" at its end when it is
};
// Calls `visit` with each, until that returns false. False: there may be more of them than were visited, for
// it was stopped, or a process that the command has started does not let us look.
bool for_each_mapping(const ProcessTable& table, const std::string& process,
                      const std::function<bool(const Mapping&)>& visit);

// The most memory that any one of them has had resident at once.
uint64_t largest_process_bytes(const ProcessTable& table);
// Of a status file: the line "VmHWM:   1234 kB", in bytes; 0 when there is none.
uint64_t peak_bytes_in(const std::string& status);

// The n-th field (from 0) of a line of numbers such as statm.
uint64_t field_of(const std::string& line, size_t index);
// What a stat line says behind the process's name, which may hold anything, a ')' too: "S 16 ...". Empty: it
// is none.
std::string behind_name(const std::string& stat_line);
// Of a stat line, in clock ticks: the process's own time, that of the children it has waited for, and when it
// was started, which tells it from another one with its number.
struct Ticks {
  uint64_t own = 0;
  uint64_t children = 0;
  uint64_t started = 0;
};
Ticks ticks_of(const std::string& stat_line);

}  // namespace cloche
