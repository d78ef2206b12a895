#include "jail/core/keeper_exit.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jail/core/report.hpp"
#include "jail/groups.hpp"

namespace cloche::jail {

wire::Report reaped(pid_t child) {
  rusage usage{};
  int status = 0;
  ::wait4(child, &status, 0, &usage);
  const auto cpu_us = static_cast<uint64_t>((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                                            usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  return {.kind = wire::ReportKind::gone,
          .status = status,
          .cpu_us = cpu_us,
          .max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024};
}

void take_leave(const wire::Start& start, wire::Report gone) {
  read_groups(start, gone);
  remove_groups(start);
  send(gone);
  ::_exit(0);
}

}  // namespace cloche::jail
