// Calls a second at 1 to 128 at once, and how long each of them takes. The library's calls and bubblewrap's
// have a network namespace of their own.
//
// Theory of operation. A burst is so many threads, each of which calls again and again until the burst's time
// is over; what was begun is ended and counted. The contenders take turns at bursts, in an order drawn anew
// for each round.
#include <algorithm>
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

struct Bursts {
  ByName rates = {};  // one of each burst
  ByName tooks = {};  // one of each call, us
};

Result<double> burst(const Contender& contender, size_t at_once, Clock::duration length, Samples& tooks) {
  std::mutex mutex;
  std::optional<Error> failed;
  size_t calls = 0;
  const auto begin = Clock::now();
  const auto end = begin + length;
  const auto work = [&] {
    Samples own;
    while (Clock::now() < end) {
      auto called = contender.call();
      if (!called.ok()) {
        const std::scoped_lock lock(mutex);
        failed = std::move(called).take_error();
        return;
      }
      own.push_back(called.value());
    }
    const std::scoped_lock lock(mutex);
    calls += own.size();
    tooks.insert(tooks.end(), own.begin(), own.end());
  };
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < at_once; ++i) threads.emplace_back(work);
  }
  if (failed) return *std::move(failed);
  return static_cast<double>(calls) / std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<Bursts> bursts(const std::vector<Contender>& contenders, size_t at_once, Pace pace) {
  const size_t rounds = pace == Pace::quick ? 3 : 9;
  const auto length = std::chrono::milliseconds(pace == Pace::quick ? 200 : 400);
  Bursts seen;
  auto order = contenders;
  std::minstd_rand random(1);
  for (size_t round = 0; round <= rounds; ++round) {  // the first one warms up
    TRY(go_on());
    std::shuffle(order.begin(), order.end(), random);
    for (const auto& contender : order) {
      Samples tooks;
      const double rate = TRY(burst(contender, at_once, length, tooks));
      if (round == 0) continue;
      seen.rates[contender.name].push_back(rate);
      Samples& all = seen.tooks[contender.name];
      all.insert(all.end(), tooks.begin(), tooks.end());
    }
  }
  return seen;
}

Row row_of(const Bursts& seen, size_t at_once) {
  Row row = {std::to_string(at_once)};
  for (const char* name : {bare, library, bubblewrap})
    row.push_back(seen.rates.contains(name) ? Cell::number(median(seen.rates.at(name)), 0) : Cell("-"));
  for (const char* to : {bare, bubblewrap}) {
    const auto peer = seen.rates.find(to);
    row.push_back(peer == seen.rates.end()
                      ? Cell("-")
                      : Cell::spread(ratio_of_pairs(seen.rates.at(library), peer->second)));
  }
  for (const char* name : {bare, library, bubblewrap})
    row.push_back(seen.tooks.contains(name) ? Cell::number(percentile(seen.tooks.at(name), 0.99) / 1000, 1)
                                            : Cell("-"));
  return row;
}

void add_targets(Report& report, const Bursts& seen, size_t at_once) {
  const std::string number = std::to_string(at_once);
  constexpr auto least = Target::Sense::at_least;
  const auto ratio = [&](const char* to) {
    return ratio_of_pairs(seen.rates.at(library), seen.rates.at(to)).middle;
  };
  if (at_once == 8 || at_once == 32) {
    report.targets.push_back({"calls a second at " + number + " at once, to bare", ratio(bare), 0.4, least});
    if (seen.rates.contains(bubblewrap))
      report.targets.push_back(
          {"calls a second at " + number + " at once, to bwrap", ratio(bubblewrap), 3.5, least});
  }
  if (at_once == 128) {
    const auto p99 = [&](const char* name) { return percentile(seen.tooks.at(name), 0.99); };
    report.targets.push_back(
        {"p99 at 128 at once, to bare's", p99(library) / p99(bare), 2.0, Target::Sense::at_most});
  }
}

}  // namespace

Result<void> measure_throughput(const Scene& scene, Pace pace, Report& report) {
  std::vector<Contender> contenders = bubblewrap_contender(scene.workspace());
  contenders.push_back(bare_contender());
  contenders.push_back(TRY(library_contender(scene)));
  Table table{"throughput",
              "Calls a second",
              {"at once", "bare, a second", "library, a second", "bwrap, a second", "library to bare",
               "library to bwrap", "bare p99 ms", "library p99 ms", "bwrap p99 ms"}};
  Plot plot{"throughput", "Calls of /bin/true a second", "calls at once", "calls a second",
            YScale::logarithmic};
  for (const char* name : {library, bubblewrap, bare}) plot.series.push_back({name});
  for (const size_t at_once : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U}) {
    if (pace == Pace::quick && (at_once == 2 || at_once == 4 || at_once == 16 || at_once == 64)) continue;
    say("throughput at " + std::to_string(at_once) + " at once");
    const Bursts seen = TRY(bursts(contenders, at_once, pace));
    table.rows.push_back(row_of(seen, at_once));
    add_targets(report, seen, at_once);
    for (auto& series : plot.series) {
      if (seen.rates.contains(series.name))
        series.points.emplace_back(static_cast<double>(at_once), median(seen.rates.at(series.name)));
    }
  }
  std::erase_if(plot.series, [](const Series& series) { return series.points.empty(); });
  table.notes.push_back(
      "Each number is the median of the bursts, each ratio that of the bursts of one round, with its "
      "quartiles; a p99 is of all calls. The library's calls are threads of one process.");
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  return {};
}

}  // namespace cloche::bench
