// Starting and ending /bin/true, in a repository and with a home that has things in it: as root and as an
// ordinary user in the same rounds, on a machine that is quiet and then on one whose cores are all busy.
#include <unistd.h>

#include <memory>
#include <string>

#include "load.hpp"
#include "sections.hpp"
#include "worker.hpp"

namespace cloche::bench {
namespace {

constexpr const char* as_root = "root ";
constexpr const char* as_user = "user ";

// Anew for each load: what a process has started keeps the priority that it had then.
Result<std::vector<std::unique_ptr<Worker>>> start_workers(const Scene& scene,
                                                           std::vector<Contender>& contenders) {
  std::vector<std::unique_ptr<Worker>> workers;
  const auto add = [&](Result<std::unique_ptr<Worker>> worker, const char* prefix) -> Result<void> {
    workers.push_back(TRY(std::move(worker)));
    const auto served = workers.back()->contenders(prefix);
    contenders.insert(contenders.end(), served.begin(), served.end());
    return {};
  };
  const bool is_root = ::geteuid() == 0;
  TRY(add(Worker::start([&] { return contenders_for(scene); }), is_root ? as_root : as_user));
  if (!is_root) return workers;
  const auto own_scene = [&]() -> Result<std::vector<Contender>> {
    const auto own = std::make_shared<Scene>(TRY(Scene::create(scene.programs())));
    std::vector<Contender> all = TRY(contenders_for(*own));
    for (auto& contender : all) contender.call = [own, call = std::move(contender.call)] { return call(); };
    return all;
  };
  TRY(add(Worker::start_as_nobody(own_scene), as_user));
  return workers;
}

Result<ByName> measure(const Scene& scene, Pace pace, size_t rounds) {
  std::vector<Contender> contenders;
  const auto workers = TRY(start_workers(scene, contenders));
  // The first call makes the self-proof and the skeleton, too.
  return interleave(contenders, pace == Pace::quick ? 5 : 20, rounds);
}

// Of one user, without the prefix.
ByName samples_of(const ByName& all, std::string_view prefix) {
  ByName some;
  for (const auto& [name, samples] : all) {
    if (name.starts_with(prefix)) some[name.substr(prefix.size())] = samples;
  }
  return some;
}

Cell ratio_to(const ByName& samples, const std::string& name, const char* to) {
  const auto peer = samples.find(to);
  if (peer == samples.end()) return "-";
  return Cell::spread(ratio_of_medians(samples.at(name), peer->second));
}

Table table_of(const std::string& id, const std::string& title, const ByName& root, const ByName& user) {
  Table table{id,
              title,
              {"start of /bin/true", "root: p50 us", "root: p99 us", "root: to bare", "root: to bwrap",
               "user: p50 us", "user: p99 us", "user: to bare", "user: to bwrap"}};
  for (const std::string name : {bare, command_line, library_live, library, over_mcp, bubblewrap, "nsjail",
                                 "runc run", "runsc do", "srt", "codex sandbox"}) {
    Row row = {name};
    bool is_here = false;
    for (const ByName* samples : {&root, &user}) {
      const auto mine = samples->find(name);
      if (mine == samples->end()) {
        row.insert(row.end(), 4, Cell("-"));
        continue;
      }
      is_here = true;
      for (const double share : {0.5, 0.99}) row.push_back(Cell::number(percentile(mine->second, share), 0));
      row.push_back(ratio_to(*samples, name, bare));
      row.push_back(ratio_to(*samples, name, bubblewrap));
    }
    if (is_here) table.rows.push_back(row);
  }
  const Samples& counted = (user.empty() ? root : user).at(bare);
  table.notes.push_back(
      std::to_string(counted.size()) +
      " rounds, each with every contender once in an order drawn anew; runc, runsc, srt and codex in one "
      "round of twenty. A ratio is of medians; in brackets its least and greatest over five blocks of the "
      "rounds.");
  return table;
}

struct Goal {
  const char* what;
  const char* name;
  const char* to;
  std::optional<double> quiet;
  std::optional<double> busy = {};
};

const Goal goals[] = {
    {"`cloche run -- true`, cold, to bare", command_line, bare, 5.0},
    {"`cloche run -- true`, cold, to bwrap", command_line, bubblewrap, 0.65, 0.9},
    {"library, `true`, writes `live`, to bare", library_live, bare, 1.25},
    {"library, `true`, writes `commit`, to bare", library, bare, 1.8},
    {"`tools/call` of run_shell `true` over MCP, to bare", over_mcp, bare, 2.2},
};

void add_targets(Report& report, const ByName& samples, Situation situation) {
  const bool is_busy = situation == Situation::root_busy || situation == Situation::user_busy;
  for (const Goal& goal : goals) {
    if (!samples.contains(goal.name) || !samples.contains(goal.to)) continue;
    const double ratio = ratio_of_medians(samples.at(goal.name), samples.at(goal.to)).middle;
    report.targets.push_back(
        {goal.what, ratio, is_busy ? goal.busy : goal.quiet, Target::Sense::at_most, situation});
  }
}

}  // namespace

Result<void> measure_start(const Scene& scene, Pace pace, Report& report) {
  const bool quick = pace == Pace::quick;
  const auto add = [&](const char* id, const char* title, const ByName& all, Situation of_root,
                       Situation of_user) {
    const ByName root = samples_of(all, as_root);
    const ByName user = samples_of(all, as_user);
    add_targets(report, root, of_root);
    add_targets(report, user, of_user);
    report.tables.push_back(table_of(id, title, root, user));
  };
  add("start", "Start", TRY(measure(scene, pace, quick ? 40 : 400)), Situation::root, Situation::user);
  say("measuring start under load");
  const Load load = TRY(Load::start());
  add("start-busy", "Start, with every core busy", TRY(measure(scene, pace, quick ? 20 : 200)),
      Situation::root_busy, Situation::user_busy);
  return {};
}

}  // namespace cloche::bench
