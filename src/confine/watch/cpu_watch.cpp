#include "confine/watch/cpu_watch.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/sys/sys.hpp"
#include "confine/watch/process_table.hpp"

namespace cloche {

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

}  // namespace cloche
