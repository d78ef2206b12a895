// Both cores, or as many as there are, busy with other processes for as long as this lives.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

#include "base/result.hpp"

namespace cloche::bench {

class Load {
 public:
  // What is started meanwhile competes with it: a real-time priority of the benchmark is given up until the
  // end.
  static Result<Load> start();
  Load(Load&& other) noexcept;
  Load& operator=(Load&&) = delete;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load();

 private:
  Load() = default;

  std::vector<pid_t> busy_ = {};
  int policy_ = SCHED_OTHER;
  sched_param priority_ = {};
};

}  // namespace cloche::bench
