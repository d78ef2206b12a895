// The processes of a sandbox, read from outside through its own /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace cloche {

// /proc of the view whose root is given.
Result<OwnedFd> open_process_table(int root);

// Calls `visit` with the directory name ("17") of each process.
void for_each_process(int table, const std::function<void(const std::string& process)>& visit);

// The n-th field (from 0) of a line of numbers such as statm.
uint64_t field_of(const std::string& line, size_t index);
// utime + stime + cutime + cstime of a stat line, in clock ticks.
uint64_t ticks_of(const std::string& stat_line);

}  // namespace cloche
