// What it costs that a call writes to a layer, and that what it wrote is judged and moved into the
// project when it has ended.
#include <algorithm>
#include <filesystem>
#include <string>

#include "base/json/json_writer.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
constexpr auto at_most = Target::Sense::at_most;

// Made for the first that asks for one of this size.
Result<fs::path> tree_of(const Scene& scene, int directories) {
  const std::string number = std::to_string(directories);
  const fs::path root = fs::path(scene.directory()) / "trees" / number;
  if (!fs::exists(root)) TRY(make_tree(root, directories, std::min(directories, 3000)));
  return root;
}

Words run_words(const Scene& scene, const fs::path& workspace, const char* writes, const Words& command) {
  Words words = {scene.program("cloche"), "run", "--workspace", workspace, "--writes", writes, "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// Each time another text, as a model's edits are.
Measured writing_artifact(const Scene& scene, const fs::path& workspace) {
  return [cloche = scene.program("cloche"), workspace, number = 0]() mutable -> Result<double> {
    std::string content = std::to_string(++number);
    content.resize(4096, 'x');
    const std::string arguments = R"({"path": "artifact.md", "content": )" + json_quote(content) + "}";
    return spawning(
        {.argv = {cloche, "call", "write_artifact", arguments, "--workspace", workspace}, .silent = true})();
  };
}

// How a call that writes one file grows with the tree that it writes to.
Result<void> measure_one_file(const Scene& scene, Pace pace, Report& report) {
  struct Size {
    int directories;
    std::string name;
  };
  const Size trees[] = {{10, "10 directories"}, {3000, "3,000 directories"}, {30'000, "30,000 directories"}};
  const Words write_file = {"/bin/dd", "if=/dev/urandom", "of=note", "bs=64", "count=1", "status=none"};
  std::vector<Contender> all;
  for (const Size& tree : trees) {
    const fs::path root = TRY(tree_of(scene, tree.directories));
    for (const char* writes : {"live", "commit"})
      all.push_back({tree.name + writes, spawning({.argv = run_words(scene, root, writes, write_file)})});
    all.push_back({tree.name + "artifact", writing_artifact(scene, root)});
  }
  const ByName samples = TRY(interleave(all, 5, pace == Pace::quick ? size_t{20} : size_t{200}));

  Table table{"writes",
              "Workspace writes: one file",
              {"tree", "live p50 us", "commit p50 us", "commit to live", "commit to the first tree",
               "write_artifact p50 us", "write_artifact to the first tree"}};
  for (const Size& tree : trees) {
    const auto of = [&](const char* what) -> const Samples& { return samples.at(tree.name + what); };
    const auto to_first = [&](const char* what) {
      return ratio_of_medians(of(what), samples.at(trees[0].name + what));
    };
    const Spread to_live = ratio_of_medians(of("commit"), of("live"));
    const Spread commit = to_first("commit");
    const Spread artifact = to_first("artifact");
    table.rows.push_back({tree.name, Cell::number(median(of("live")), 0),
                          Cell::number(median(of("commit")), 0), Cell::spread(to_live), Cell::spread(commit),
                          Cell::number(median(of("artifact")), 0), Cell::spread(artifact)});
    report.targets.push_back(
        {"a call that writes one file, commit to live, " + tree.name, to_live.middle, 1.6, at_most});
    if (tree.directories == trees[0].directories) continue;
    report.targets.push_back(
        {"a call that writes one file, " + tree.name + " to 10", commit.middle, 1.1, at_most});
    report.targets.push_back(
        {"write_artifact of 4 KiB, " + tree.name + " to 10", artifact.middle, 1.1, at_most});
  }
  table.notes.push_back(
      "`cloche run --writes live|commit` with `dd`, which writes 64 other bytes to a file at the top of the "
      "tree, and `cloche call write_artifact` of 4 KiB; each call is a process of its own.");
  report.tables.push_back(std::move(table));
  return {};
}

// How a start grows with the tree that it may write to; bubblewrap has the tree bound, writable.
Result<void> measure_tree_sizes(const Scene& scene, Pace pace, Report& report) {
  const int sizes[] = {10, 100, 1000, 3000, 10'000, 30'000};
  std::vector<Contender> all;
  for (const int size : sizes) {
    const std::string number = std::to_string(size);
    const fs::path root = TRY(tree_of(scene, size));
    all.push_back(
        {command_line + number, spawning({.argv = run_words(scene, root, "commit", {"/bin/true"})})});
    for (auto& peer : bubblewrap_contender(root)) all.push_back({bubblewrap + number, std::move(peer.call)});
  }
  const ByName samples = TRY(interleave(all, 5, pace == Pace::quick ? size_t{10} : size_t{200}));
  Table table{
      "tree-size", "Start by the size of the tree", {"directories", "cloche run p50 us", "bwrap p50 us"}};
  Plot plot{"tree-size", "A start of /bin/true, by the size of the tree", "directories in the workspace",
            "ms, p50"};
  plot.series = {{command_line}, {bubblewrap}};
  for (const int size : sizes) {
    Row row = {std::to_string(size)};
    for (auto& series : plot.series) {
      const auto mine = samples.find(series.name + std::to_string(size));
      row.push_back(mine == samples.end() ? Cell("-") : Cell::number(median(mine->second), 0));
      if (mine != samples.end()) series.points.emplace_back(size, median(mine->second) / 1000);
    }
    table.rows.push_back(std::move(row));
  }
  std::erase_if(plot.series, [](const Series& series) { return series.points.empty(); });
  table.notes.emplace_back("`cloche run --writes commit`; bubblewrap with the tree bound, writable.");
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  return {};
}

}  // namespace

Result<void> measure_writes(const Scene& scene, Pace pace, Report& report) {
  TRY(measure_one_file(scene, pace, report));
  TRY(measure_tree_sizes(scene, pace, report));
  return measure_many_changes(scene, pace, report);
}

}  // namespace cloche::bench
