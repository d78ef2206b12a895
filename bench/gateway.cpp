// Section 8: what the gateway itself costs a call - reading it, judging it, planning it, writing it down -
// without the process that it would start.
#include <fcntl.h>
#include <stdlib.h>
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

// A run in a directory that ends with it.
struct Site {
  std::string directory;
  std::unique_ptr<Gateway> gateway = {};

  explicit Site(const std::string& below) : directory(below + "/cloche-bench-XXXXXX") {
    (void)::mkdtemp(directory.data());
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  ~Site() { remove_tree(directory); }
};

Result<void> open(Site& site) {
  SessionOptions options = default_session();
  options.run = site.directory + "/run";
  options.programs = CLOCHE_BIN_DIR;
  site.gateway = TRY(Gateway::open(options, Environment(environ)));
  return {};
}

// Everything of a run_shell call but its process.
Result<Samples> judged_and_recorded(Site& site, size_t rounds) {
  const ToolCall call{"run_shell", R"({"cmd": "cat add.py"})"};
  Run& run = *site.gateway->record();
  Samples samples;
  for (size_t i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    const Judged judged = TRY(judge(site.gateway->session(), call, {}));
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

Samples calls(Site& site, const ToolCall& call, size_t rounds, bool expect_error) {
  TerminalApprover nobody(0, "/nonexistent");
  Samples samples;
  for (size_t i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    const CallResult result = site.gateway->call(call, {}, nobody);
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
  // In memory first: what a file system needs to make a file is not ours, and ext4 needs ten times as long
  // while many were deleted in the last minutes.
  Site site("/dev/shm");
  TRY(open(site));
  Table table{8, "The gateway's own part of a call", {"call", "p50 us", "p99 us"}};
  const auto add = [&](const std::string& name, const Samples& samples) {
    table.rows.push_back(
        {name, Cell::number(median(samples), 1), Cell::number(percentile(samples, 0.99), 1)});
    return median(samples);
  };
  const std::string file = site.gateway->session().workspace + "/add.py";
  const OwnedFd made = TRY(sys::open(file, O_WRONLY | O_CREAT, 0644));
  TRY(sys::write_all(made.get(), "x = 1\n"));
  (void)calls(site, {"run_shell", R"({"cmd": "ls | sh"})"}, 200, true);  // warm
  const double own = add("run_shell, without its process", TRY(judged_and_recorded(site, rounds)));
  add("run_shell, refused", calls(site, {"run_shell", R"({"cmd": "ls | sh"})"}, rounds, true));
  const double write =
      add("write_artifact of 4 KiB", calls(site, {"write_artifact", write_call()}, rounds, false));
  add("read_artifact of 4 KiB",
      calls(site, {"read_artifact", R"({"path": "out/report.md"})"}, rounds, false));
  report.targets.push_back({"the gateway's own part of a call, us", own, 60, Target::Sense::at_most, {}});
  report.targets.push_back({"write_artifact of 4 KiB, us", write, 150, Target::Sense::at_most, {}});

  Site on_disk("/tmp");
  TRY(open(on_disk));
  add("run_shell, without its process, recorded in /tmp", TRY(judged_and_recorded(on_disk, rounds)));
  add("write_artifact of 4 KiB, in /tmp", calls(on_disk, {"write_artifact", write_call()}, rounds, false));

  const size_t many = pace == Pace::quick ? 10'000 : 100'000;
  const size_t descriptors = open_descriptors();
  const size_t before = resident_kib();
  (void)calls(site, {"run_shell", R"({"cmd": "ls | sh"})"}, many, true);
  table.notes.push_back(
      "After " + std::to_string(many) + " more calls: " + std::to_string(open_descriptors() - descriptors) +
      " more descriptors, " + std::to_string(static_cast<long>(resident_kib()) - static_cast<long>(before)) +
      " KiB more memory.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
