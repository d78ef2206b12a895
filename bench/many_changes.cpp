// Workspace writes, of sets of many files: what it takes to read and judge them, and to bring them into the
// project.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "base/json/json_text.hpp"
#include "base/sys/environment.hpp"
#include "policy/changes/judge_changes.hpp"
#include "sections.hpp"
#include "store/changes/change_facts.hpp"
#include "store/commit/change_sets.hpp"
#include "store/layers/layer_reader.hpp"
#include "store/protected/git_places.hpp"

namespace cloche::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr auto at_most = Target::Sense::at_most;

struct Batch {
  std::string name;
  int directories;
  int files;  // in each
  bool is_new;
};

Result<fs::path> make_workspace(const Scene& scene, const std::string& name) {
  fs::path workspace = fs::path(scene.directory()) / "workspaces" / name;
  std::error_code failed;
  fs::create_directories(workspace, failed);
  if (failed) return system_error("make " + workspace.string(), failed.value());
  return workspace;
}

// Writes the files of a batch inside. The id of the set that is staged.
Result<std::string> stage(const Scene& scene, const fs::path& workspace, const Batch& batch, int round) {
  constexpr const char* script =
      "d=0; while [ $d -lt $2 ]; do mkdir -p \"$1/$d\"; i=0; "
      "while [ $i -lt $3 ]; do echo $4 > \"$1/$d/$i\"; i=$((i+1)); done; d=$((d+1)); done";
  const std::string number = std::to_string(round);
  const std::string place = batch.name + (batch.is_new ? number : "");
  const std::string output =
      TRY(output_of({scene.program("cloche"), "run", "--json", "--workspace", workspace, "--writes", "stage",
                     "--", "/bin/sh", "-c", script, "sh", place, std::to_string(batch.directories),
                     std::to_string(batch.files), number}));
  const JsonValue outcome = TRY(read_json(output, "cloche run"));
  const JsonValue* changes = outcome.find("changes");
  const JsonValue* set = changes != nullptr ? changes->find("set") : nullptr;
  if (set == nullptr) return refusal("cloche run staged nothing");
  return set->text;
}

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Of a set that is staged anew for it: the whole command.
Measured applying(const Scene& scene, const fs::path& workspace, const Batch& batch) {
  return [&scene, workspace, batch, round = 0]() mutable -> Result<double> {
    const std::string id = TRY(stage(scene, workspace, batch, ++round));
    return spawning({.argv = {scene.program("cloche"), "changes", "apply", id}, .silent = true})();
  };
}

// The part of it that moves the files and records that, as at the end of a call.
Measured committing(const Scene& scene, const fs::path& workspace, const Batch& batch) {
  return [&scene, workspace, batch, round = 0]() mutable -> Result<double> {
    const std::string id = TRY(stage(scene, workspace, batch, ++round));
    const ChangeSets sets(scene.installation().state, boot_id());
    SetInWork work = TRY(sets.work_on(id));
    const StoredSet set = TRY(sets.find(id));
    const std::vector<ChangeVerdict> verdicts(set.changes.changes.size(), {.fate = Fate::committed});
    const auto begin = Clock::now();
    const Committed committed = TRY(sets.commit(work, set.changes, verdicts));
    const double took = microseconds_since(begin);
    if (committed.end != CommitEnd::committed) return refusal("the set " + id + " was not committed");
    return took;
  };
}

Result<void> measure_apply(const Scene& scene, const Batch& batch, size_t rounds, double goal_ms,
                           Report& report, Table& table) {
  const fs::path workspace = TRY(make_workspace(scene, batch.name));
  Batch moved = batch;
  moved.name += " moved";  // files of its own
  // The first round makes the files that later ones change.
  const ByName samples = TRY(interleave({{"one", applying(scene, workspace, {"one", 1, 1, false})},
                                         {"many", applying(scene, workspace, batch)},
                                         {"moved", committing(scene, workspace, moved)}},
                                        batch.is_new ? 0 : 1, rounds));
  const auto add = [&](const std::string& what, double ms) {
    table.rows.push_back({what, Cell::number(ms, 1)});
    report.targets.push_back({what, ms, goal_ms, at_most});
  };
  const double whole = median(samples.at("many")) - median(samples.at("one"));
  add("`cloche changes apply` of " + batch.name + " files, ms", whole / 1000);
  add("the commit of " + batch.name + " files alone, ms", median(samples.at("moved")) / 1000);
  return {};
}

// What settle_changes() does with a layer before it commits; microseconds for each entry that is in it.
Result<double> read_and_judge(const std::string& state, const std::string& id) {
  const StoredSet set = TRY(ChangeSets(state, boot_id()).find(id));
  const HeldTrees held = TRY(hold_trees(set.header.trees));
  std::vector<TreeLayers> layers;
  for (size_t i = 0; i < held.trees.size(); ++i)
    layers.push_back(
        {set.changes.trees[i], held.trees[i].project, held.trees[i].source, set.header.attributes});
  const Environment environment(environ);
  const GitSources git = find_git_sources(environment, environment.get("HOME"), {});
  const auto begin = Clock::now();
  const ReadChanges read = TRY(read_changes(layers, {}));
  const JudgedChanges judged = judge_changes(read.set, TRY(look_around_changes(read.set, layers, git)), {});
  const double took = microseconds_since(begin);
  if (!read.is_exact() || judged.verdicts.size() != set.changes.changes.size())
    return refusal("the set " + id + " was not read as it was staged");
  return took / static_cast<double>(judged.verdicts.size());
}

Result<void> measure_judging(const Scene& scene, Pace pace, Report& report, Table& table) {
  const int directories = pace == Pace::quick ? 20 : 100;
  const Batch changed{"changed", directories, 100, false};
  const Batch fresh{"new", directories, 100, true};
  const fs::path workspace = TRY(make_workspace(scene, "judged"));
  TRY(applying(scene, workspace, changed)());  // so that they are there to be changed
  std::vector<Contender> both;
  for (const Batch& batch : {changed, fresh}) {
    const std::string id = TRY(stage(scene, workspace, batch, 2));
    both.push_back(
        {batch.name, [state = scene.installation().state, id] { return read_and_judge(state, id); }});
  }
  const ByName samples = TRY(interleave(both, 1, pace == Pace::quick ? size_t{5} : size_t{20}));
  for (const auto& [name, of] : samples) {
    const std::string what = "read and judge " + name + " files, us an entry";
    table.rows.push_back({what, Cell::number(median(of), 1)});
    report.targets.push_back({what, median(of), 8, at_most});
  }
  return {};
}

}  // namespace

Result<void> measure_many_changes(const Scene& scene, Pace pace, Report& report) {
  const bool quick = pace == Pace::quick;
  Table table{"writes-many", "Workspace writes: many files", {"what", "p50"}};
  TRY(measure_apply(scene, {"1,000 changed", 10, 100, false}, quick ? 3 : 15, 60, report, table));
  // The goal is 150 ms for 100,000.
  const Batch fresh{quick ? "10,000 new" : "100,000 new", quick ? 10 : 100, 1000, true};
  TRY(measure_apply(scene, fresh, quick ? 2 : 3, quick ? 15 : 150, report, table));
  TRY(measure_judging(scene, pace, report, table));
  table.notes.push_back(
      "The whole command less the same command for a set of one file: it reads the stored list, compares it "
      "with the project, asks the judge again, moves the files and records what it did. The commit alone, "
      "and the reading and judging, are the functions that a call uses at its end, called in this process. "
      "Sets are staged before the clock starts; those that are read have " +
      std::string(quick ? "2,000" : "10,000") + " files in directories of a hundred.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
