// What the gateway itself costs a call - reading it, judging it, planning it, writing it down -
// without the process that it would start.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/json/json_writer.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "doors/approve/terminal_approver.hpp"
#include "gateway/gateway.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

size_t open_descriptors() { return names_in("/proc/self/fd").size(); }

// Pages of memory that are ours, in KiB.
size_t resident_kib() {
  const auto text = sys::read_small_file("/proc/self/statm");
  return text.ok() ? std::stoul(text.value().substr(text.value().find(' ') + 1)) * 4 : 0;
}

Result<std::unique_ptr<Gateway>> open_in(const std::string& directory) {
  SessionOptions options = default_session();
  options.run = directory + "/run";
  options.programs.folder = CLOCHE_BIN_DIR;
  return Gateway::open(options, Environment(environ));
}

// Everything of a run_shell call but its process.
Result<Samples> judged_and_recorded(Gateway& gateway, size_t rounds) {
  const ToolCall call{"run_shell", R"({"cmd": "cat add.py"})"};
  Run& run = *gateway.record();
  Samples samples;
  for (size_t i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    const Judged judged = TRY(judge(gateway.session(), call, {}));
    CallRecord record{.decided = decision_of(judged, call, {.task = "bench"})};
    record.call_id = TRY(run.begin(record.decided));
    record.outcome.end = End::exited;
    record.outcome.exit_code = 0;
    record.result = "exit_code: 0\nstdout: x = 1\n\nstderr: ";
    TRY(run.finish(record, record.result));
    samples.push_back(microseconds_since(start));
  }
  return samples;
}

Samples calls(Gateway& gateway, const ToolCall& call, size_t rounds, bool expect_error) {
  TerminalApprover nobody(0, "/nonexistent");
  Samples samples;
  for (size_t i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    const CallResult result = gateway.call(call, {}, nobody);
    if (result.is_error() == expect_error) samples.push_back(microseconds_since(start));
  }
  return samples;
}

std::string write_call() {
  return R"({"path": "out/report.md", "content": )" + json_quote(std::string(4096, 'x')) + "}";
}

}  // namespace

Result<void> measure_gateway(const Scene&, Pace pace, Report& report) {
  const size_t rounds = pace == Pace::quick ? 2000 : 10'000;
  const MemoryPlace place;
  const auto opened = TRY(open_in(place.directory()));
  Gateway& gateway = *opened;
  Table table{"gateway", "The gateway's own part of a call", {"call", "p50 us", "p99 us"}};
  const auto add = [&](const std::string& name, const Samples& samples) {
    table.rows.push_back(
        {name, Cell::number(median(samples), 1), Cell::number(percentile(samples, 0.99), 1)});
    return median(samples);
  };
  const std::string file = gateway.session().workspace + "/add.py";
  const OwnedFd made = TRY(sys::open(file, O_WRONLY | O_CREAT, 0644));
  TRY(sys::write_all(made.get(), "x = 1\n"));
  (void)calls(gateway, {"run_shell", R"({"cmd": "ls | sh"})"}, 200, true);  // warm
  const double own = add("run_shell, without its process", TRY(judged_and_recorded(gateway, rounds)));
  add("run_shell, refused", calls(gateway, {"run_shell", R"({"cmd": "ls | sh"})"}, rounds, true));
  const double write =
      add("write_artifact of 4 KiB", calls(gateway, {"write_artifact", write_call()}, rounds, false));
  const double read = add("read_artifact of 4 KiB",
                          calls(gateway, {"read_artifact", R"({"path": "out/report.md"})"}, rounds, false));
  constexpr auto most = Target::Sense::at_most;
  report.targets.push_back({"the gateway's own part of run_shell, us", own, 60, most});
  report.targets.push_back({"write_artifact of 4 KiB, us", write, 150, most});
  report.targets.push_back({"read_artifact of 4 KiB, us", read, 80, most});

  const size_t many = pace == Pace::quick ? 10'000 : 100'000;
  const size_t descriptors = open_descriptors();
  const size_t before = resident_kib();
  (void)calls(gateway, {"run_shell", R"({"cmd": "ls | sh"})"}, many, true);
  table.notes.push_back(
      "The record, the project and Cloche's state are in memory. After " + std::to_string(many) +
      " more calls: " + std::to_string(open_descriptors() - descriptors) + " more descriptors, " +
      std::to_string(static_cast<long>(resident_kib()) - static_cast<long>(before)) + " KiB more memory.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
