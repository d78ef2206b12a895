// Section 2: calls a second at 1, 8 and 32 at once.
//
// Theory of operation. A burst is so many threads, each of which calls again and again until the burst's time
// is over; what was begun is ended and counted. The contenders take turns at bursts, in an order drawn anew
// for each round.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "sections.hpp"

namespace cloche::bench {
namespace {

using Clock = std::chrono::steady_clock;

Result<double> burst(const Contender& contender, size_t at_once, Clock::duration length) {
  std::atomic<size_t> calls{0};
  std::mutex mutex;
  std::optional<Error> failed;
  const auto begin = Clock::now();
  const auto end = begin + length;
  const auto work = [&] {
    while (Clock::now() < end) {
      auto called = contender.call();
      if (!called.ok()) {
        const std::scoped_lock lock(mutex);
        failed = std::move(called).take_error();
        return;
      }
      ++calls;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < at_once; ++i) threads.emplace_back(work);
  }
  if (failed) return *std::move(failed);
  return static_cast<double>(calls) / std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<ByName> bursts(const std::vector<Contender>& contenders, size_t at_once, Pace pace) {
  const size_t rounds = pace == Pace::quick ? 3 : 9;
  const auto length = std::chrono::milliseconds(pace == Pace::quick ? 200 : 400);
  ByName rates;
  auto order = contenders;
  std::minstd_rand random(1);
  for (size_t round = 0; round <= rounds; ++round) {  // the first one warms up
    TRY(go_on());
    std::shuffle(order.begin(), order.end(), random);
    for (const auto& contender : order) {
      const double rate = TRY(burst(contender, at_once, length));
      if (round > 0) rates[contender.name].push_back(rate);
    }
  }
  return rates;
}

void add_rows(Table& table, const ByName& rates, size_t at_once) {
  for (const char* name : {bare, library, command_line, bubblewrap}) {
    const auto mine = rates.find(name);
    if (mine == rates.end()) continue;
    const auto peer = rates.find(bubblewrap);
    table.rows.push_back(
        {name, Cell::number(static_cast<double>(at_once), 0), Cell::number(median(mine->second), 0),
         peer == rates.end() ? Cell("no bwrap") : Cell::spread(ratio_of_pairs(mine->second, peer->second))});
  }
}

}  // namespace

Result<void> measure_throughput(const Scene& scene, Pace pace, Report& report) {
  const auto contenders = contenders_for(scene);
  Table table{2, "Throughput", {"calls of /bin/true", "at once", "calls a second", "to bwrap"}};
  for (size_t at_once : {1, 8, 32}) {
    say("throughput at " + std::to_string(at_once) + " at once");
    const ByName rates = TRY(bursts(contenders, at_once, pace));
    add_rows(table, rates, at_once);
    if (at_once != 8 || !rates.contains(bubblewrap)) continue;
    for (const char* name : {library, command_line}) {
      const double ratio = ratio_of_pairs(rates.at(name), rates.at(bubblewrap)).middle;
      report.targets.push_back({"throughput at 8 at once, " + std::string(name) + " to bwrap",
                                ratio,
                                2.2,
                                Target::Sense::at_least,
                                {}});
    }
  }
  table.notes.push_back(
      "Each number is the median of the bursts, each ratio that of the bursts of one round, with its "
      "quartiles. The library's calls are threads of one process.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
