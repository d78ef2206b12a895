// What a call of /bin/true costs in a process that stays, with sandboxes that wait for it and without:
// through the library, live and with layers, and through `cloche mcp`.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

#include "doors/approve/terminal_approver.hpp"
#include "gateway/gateway.hpp"
#include "mcp_client.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

using Clock = std::chrono::steady_clock;

// As between the calls of a model. What is prepared meanwhile would disturb the others.
constexpr unsigned until_prepared_us = 15'000;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

Result<Measured> calling_library(const Scene& scene, Writes writes, size_t pool) {
  SessionOptions options = default_session();
  options.programs.folder = scene.programs();
  options.operators.asked_writes = writes;
  options.front_end = FrontEnd::agent;
  options.pool = pool;
  const std::shared_ptr<Gateway> gateway = TRY(Gateway::open(options, Environment(environ)));
  return Measured([gateway]() -> Result<double> {
    TerminalApprover nobody(0, "/nonexistent");
    double took = 0;
    {
      const auto start = Clock::now();
      const CallResult result = gateway->call({"run_shell", R"({"argv":["true"]})"}, {}, nobody);
      took = microseconds_since(start);
      if (result.is_error()) return refusal("the call failed: " + result.result);
    }
    ::usleep(until_prepared_us);
    return took;
  });
}

Result<Measured> calling_server(const Scene& scene, const char* pool) {
  const auto server =
      std::make_shared<McpClient>(TRY(McpClient::start(scene.program("cloche"), {}, {"--pool", pool})));
  return Measured([server, number = 0]() mutable -> Result<double> {
    const std::string line = call_line(++number, {"run_shell", R"({"cmd":"true"})"});
    const auto start = Clock::now();
    TRY(server->send(line));
    const std::string answer = TRY(server->receive());
    const double took = microseconds_since(start);
    ::usleep(until_prepared_us);
    if (answer.find("\"isError\":false") == std::string::npos)
      return refusal("cloche mcp answered: " + answer);
    return took;
  });
}

}  // namespace

Result<void> measure_warm_calls(const Scene& scene, Pace pace, Report& report) {
  const char* bare_name = "posix_spawn";
  const std::vector<Contender> all = {
      {bare_name, spawning({.argv = {"/bin/true"}})},
      {"library, live, cold", TRY(calling_library(scene, Writes::live, 0))},
      {"library, live, pooled", TRY(calling_library(scene, Writes::live, 2))},
      {"library, commit, cold", TRY(calling_library(scene, Writes::commit, 0))},
      {"library, commit, pooled", TRY(calling_library(scene, Writes::commit, 2))},
      {"cloche mcp, commit, cold", TRY(calling_server(scene, "0"))},
      {"cloche mcp, commit, pooled", TRY(calling_server(scene, "2"))},
  };
  const double goals[] = {0, 0, 1.25, 0, 1.8, 0, 2.2};
  const ByName samples = TRY(interleave(all, 20, pace == Pace::quick ? 60 : 400));
  Table table{"pool", "A call of true in a process that stays", {"call", "p50 us", "p99 us", "to bare"}};
  for (size_t i = 0; i < all.size(); ++i) {
    const Samples& of = samples.at(all[i].name);
    const Spread ratio = ratio_of_medians(of, samples.at(bare_name));
    table.rows.push_back({all[i].name, Cell::number(median(of), 0), Cell::number(percentile(of, 0.99), 0),
                          Cell::spread(ratio)});
    if (goals[i] != 0) report.targets.push_back({all[i].name + ", to bare", ratio.middle, goals[i]});
  }
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
