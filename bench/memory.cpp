// The memory limit of an ordinary user, who has no cgroup: how far a program gets beyond a limit that is only
// watched.
#include <unistd.h>

#include <memory>
#include <string>

#include "gateway/checks/own_run.hpp"
#include "sections.hpp"
#include "worker.hpp"

namespace cloche::bench {
namespace {

constexpr uint64_t hog_limit_bytes = 256ULL << 20;

// Bytes that the program had touched beyond its limit when it was ended.
Result<double> overshoot_once(const Scene& scene) {
  RunRequest request;
  const std::string tally = "tally";  // in the workspace, which is the working directory inside and outside
  ::unlink(tally.c_str());
  request.argv = {scene.program("cloche-bench"), "--hog", tally};
  request.grants.push_back({.source = scene.programs()});
  request.limits.memory_bytes = hog_limit_bytes;
  request.limits.wall_ms = 20'000;
  const Ran ran = TRY(run_own(request, Environment(environ), scene.installation()));
  if (!ran.outcome.usage.memory_overshoot_bytes)
    return refusal("memory is limited by a cgroup here, not watched");
  if (ran.outcome.limit != LimitId::memory)
    return refusal("the memory limit did not end the hog: " + ran.outcome.reason);
  return static_cast<double>(TRY(hogged_bytes(tally))) - static_cast<double>(hog_limit_bytes);
}

}  // namespace

Result<void> measure_overshoot(const Scene& scene, Pace, Report& report) {
  constexpr size_t rounds = 10;
  constexpr const char* hog = "hog";
  const auto prepare = [&]() -> Result<std::vector<Contender>> {
    const auto own = std::make_shared<Scene>(TRY(Scene::create(scene.programs())));
    return std::vector<Contender>{{hog, [own] { return overshoot_once(*own); }}};
  };
  const auto worker = TRY(::geteuid() == 0 ? Worker::start_as_nobody(prepare) : Worker::start(prepare));
  const Samples beyond = TRY(interleave(worker->contenders(""), 0, rounds)).at(hog);
  Table table{
      "memory", "The watched memory limit of an ordinary user", {"limit 256 MiB", "median MiB", "worst MiB"}};
  const auto mebibytes = [&](double share) { return Cell::number(percentile(beyond, share) / (1 << 20), 0); };
  table.rows.push_back({"touched beyond the limit when it was ended", mebibytes(0.5), mebibytes(1)});
  table.notes.push_back(
      std::to_string(rounds) +
      " runs of a program that touches memory as fast as it can, huge pages and all cores.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
