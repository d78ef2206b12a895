// Sections 5 and 6: what an ordinary user gets. When root runs the benchmark, this program executes itself as
// nobody, who has a scene of his own and prints samples, one "name<TAB>value" a line; root reads and shows
// them.
#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/sys/sys.hpp"
#include "gateway/checks/own_run.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

constexpr unsigned nobody = 65534;
constexpr uint64_t hog_limit_bytes = 256ULL << 20;
constexpr const char* seen_over = "overshoot";  // what the watched total saw above the limit
constexpr const char* truly_over =
    "touched";  // what the program had touched when it was ended, above the limit
constexpr const char* to_the_end = "milliseconds";

ByName parse_samples(const std::string& text) {
  ByName samples;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t tab = line.find('\t');
    if (tab != std::string::npos)
      samples[line.substr(0, tab)].push_back(std::strtod(line.c_str() + tab + 1, nullptr));
  }
  return samples;
}

[[noreturn]] void become_nobody(const std::string& program, const std::string& what, size_t rounds,
                                int output) {
  ::dup2(output, 1);
  const bool changed = ::setgroups(0, nullptr) == 0 && ::setresgid(nobody, nobody, nobody) == 0 &&
                       ::setresuid(nobody, nobody, nobody) == 0 && ::chdir("/") == 0;
  if (changed) {
    ::execl(program.c_str(), program.c_str(), "--samples", what.c_str(), std::to_string(rounds).c_str(),
            nullptr);
  }
  std::perror("cloche-bench: become nobody");
  ::_exit(1);
}

Result<ByName> samples_of_nobody(const Scene& scene, const std::string& what, size_t rounds) {
  Pipe pipe = TRY(sys::make_pipe());
  const pid_t child = ::fork();
  if (child < 0) return system_error("start a program as nobody");
  if (child == 0) become_nobody(scene.program("cloche-bench"), what, rounds, pipe.write.get());
  pipe.write.reset();
  auto text = sys::read_all(pipe.read.get(), 16 << 20);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  TRY(go_on());
  if (!text.ok()) return text.take_error();
  if (status != 0) return Error{Cause::internal, "the benchmark as nobody failed", 0, {}};
  return parse_samples(text.value());
}

// One run of the hog under a watched limit.
Result<void> overshoot_once(const Scene& scene, ByName& samples) {
  RunRequest request;
  const std::string tally = "tally";  // in the workspace, which is the working directory inside and outside
  ::unlink(tally.c_str());
  request.argv = {scene.program("cloche-bench"), "--hog", tally};
  request.grants.push_back({.source = scene.programs()});
  request.limits.memory_bytes = hog_limit_bytes;
  request.limits.wall_ms = 20'000;
  const Ran ran = TRY(run_own(request, Environment(environ), scene.installation()));
  const Usage& usage = ran.outcome.usage;
  if (!usage.memory_overshoot_bytes) return refusal("memory is limited by a cgroup here, not watched");
  if (ran.outcome.limit != LimitId::memory)
    return refusal("the memory limit did not end the hog: " + ran.outcome.reason);
  const auto touched_bytes = TRY(hogged_bytes(tally));
  samples[seen_over].push_back(static_cast<double>(*usage.memory_overshoot_bytes));
  samples[truly_over].push_back(static_cast<double>(touched_bytes) - static_cast<double>(hog_limit_bytes));
  samples[to_the_end].push_back(static_cast<double>(usage.wall_ms));
  return {};
}

Result<ByName> overshoots(const Scene& scene, size_t rounds) {
  ByName samples;
  for (size_t round = 0; round < rounds; ++round) {
    TRY(go_on());
    TRY(overshoot_once(scene, samples));
  }
  return samples;
}

}  // namespace

Result<void> print_samples(const std::string& what, size_t rounds) {
  const Scene scene = TRY(Scene::create(Scene::Programs::beside_us));
  // Nothing of what is measured may write into our lines.
  const OwnedFd lines(::fcntl(1, F_DUPFD_CLOEXEC, 3));
  ::dup2(2, 1);
  const ByName samples =
      what == "start" ? TRY(interleave(contenders_for(scene), 10, rounds)) : TRY(overshoots(scene, rounds));
  std::string text;
  for (const auto& [name, values] : samples) {
    for (double value : values) text += name + "\t" + std::to_string(value) + "\n";
  }
  return sys::write_all(lines.get(), text);
}

Result<void> measure_ordinary_user(const Scene& scene, Pace pace, Report& report) {
  const std::string title = "Start cost for an ordinary user";
  if (::geteuid() != 0) {
    report.tables.push_back({5, title, {}, {}, {"skipped: this was not run by root, so section 1 shows it"}});
    return {};
  }
  const ByName samples = TRY(samples_of_nobody(scene, "start", pace == Pace::quick ? 60 : 120));
  report.tables.push_back(start_cost_table(5, title, samples));
  return {};
}

Result<void> measure_overshoot(const Scene& scene, Pace, Report& report) {
  constexpr size_t rounds = 10;
  const ByName samples =
      ::geteuid() == 0 ? TRY(samples_of_nobody(scene, "overshoot", rounds)) : TRY(overshoots(scene, rounds));
  Table table{
      6, "The watched memory limit of an ordinary user", {"limit 256 MiB", "median MiB", "worst MiB"}};
  const auto mebibytes = [](double bytes) { return Cell::number(bytes / (1 << 20), 0); };
  const auto add = [&](const char* name, const char* what) {
    const Samples& all = samples.at(name);
    table.rows.push_back({what, mebibytes(median(all)), mebibytes(percentile(all, 1.0))});
  };
  add(seen_over, "beyond the limit, as the watched total saw it");
  add(truly_over, "beyond the limit, as the program itself had counted when it was ended");
  table.notes.push_back(
      std::to_string(rounds) + " runs of a program that touches memory as fast as it can, huge pages and " +
      "all cores; it was ended after " + std::to_string(std::lround(median(samples.at(to_the_end)))) +
      " ms (median), its start included.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
