// Section 13: what a call of /bin/true costs in a process that stays: through the library's Gateway, with and
// without layers, and through `cloche mcp`.
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

#include "doors/approve/terminal_approver.hpp"
#include "gateway/gateway.hpp"
#include "sections.hpp"
#include "served.hpp"

namespace cloche::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned until_prepared_us = 12'000;  // as between the calls of a model; or it disturbs the others

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

Result<Measured> calling_gateway(const Scene& scene, Writes writes) {
  SessionOptions options = default_session();
  options.run = scene.directory() + "/run-" + (writes == Writes::live ? "live" : "commit");
  options.programs = scene.programs();
  options.operators.asked_writes = writes;
  options.front_end = FrontEnd::agent;
  options.pool = 2;
  const std::shared_ptr<Gateway> gateway = TRY(Gateway::open(options, Environment(environ)));
  return Measured([gateway]() -> Result<double> {
    TerminalApprover nobody(0, "/nonexistent");
    const auto start = Clock::now();
    const CallResult result = gateway->call({"run_shell", R"({"argv":["true"]})"}, {}, nobody);
    const double took = microseconds_since(start);
    ::usleep(until_prepared_us);
    if (result.is_error()) return Error{Cause::internal, "the call failed: " + result.result, 0, {}};
    return took;
  });
}

Result<Measured> calling_server(const Scene& scene) {
  const auto served =
      std::make_shared<Served>(TRY(Served::start(scene.program("cloche"), scene.directory() + "/run-mcp")));
  return Measured([served, id = 0]() mutable -> Result<double> {
    const std::string line = call_line(++id, "run_shell", R"({"cmd":"true"})");
    const auto start = Clock::now();
    TRY(served->send(line));
    const std::string answer = TRY(served->receive());
    const double took = microseconds_since(start);
    ::usleep(until_prepared_us);
    if (answer.find("\"isError\":false") == std::string::npos)
      return Error{Cause::internal, "the call failed: " + answer, 0, {}};
    return took;
  });
}

}  // namespace

Result<void> measure_warm_calls(const Scene& scene, Pace pace, Report& report) {
  const std::vector<Contender> all = {
      {bare, spawning({.argv = {"/bin/true"}})},
      {"library, live", TRY(calling_gateway(scene, Writes::live))},
      {"library, commit", TRY(calling_gateway(scene, Writes::commit))},
      {"cloche mcp, commit", TRY(calling_server(scene))},
  };
  const double goals[] = {0, 1.25, 1.8, 2.2};
  const ByName samples = TRY(interleave(all, 20, pace == Pace::quick ? size_t{200} : size_t{1000}));
  Table table{13, "A call of true in a process that stays", {"call", "p50 us", "p99 us", "to bare"}};
  for (size_t i = 0; i < all.size(); ++i) {
    const Samples& of = samples.at(all[i].name);
    const Spread ratio = ratio_of_medians(of, samples.at(bare));
    table.rows.push_back({all[i].name, Cell::number(median(of), 0), Cell::number(percentile(of, 0.99), 0),
                          Cell::spread(ratio)});
    if (goals[i] != 0)
      report.targets.push_back(
          {all[i].name + ", to bare", ratio.middle, goals[i], Target::Sense::at_most, {}});
  }
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
