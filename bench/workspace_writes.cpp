// Section 9: what it costs that a call writes to a layer, and that what it wrote is judged and moved into the
// project when it has ended.
#include <filesystem>
#include <fstream>
#include <string>

#include "base/json/json_writer.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
constexpr auto at_most = Target::Sense::at_most;

struct Tree {
  std::string name;
  int directories;
  int files;
};

// By the hundred: one, with ninety-nine in it.
fs::path directory_at(const fs::path& root, int number) {
  const fs::path first = root / std::to_string(number / 100);
  return number % 100 == 0 ? first : first / std::to_string(number % 100);
}

Result<fs::path> make_tree(const Scene& scene, const Tree& tree) {
  const fs::path root = fs::path(scene.directory()) / "trees" / tree.name;
  std::error_code failed;
  fs::create_directories(root, failed);
  for (int i = 0; i < tree.directories && !failed; ++i) fs::create_directory(directory_at(root, i), failed);
  if (failed) return system_error("make " + root.string(), failed.value());
  for (int i = 0; i < tree.files; ++i) {
    std::ofstream file(directory_at(root, i % tree.directories) / ("file-" + std::to_string(i)));
    if (!(file << i << '\n')) return system_error("write below " + root.string());
  }
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
  const Tree trees[] = {
      {"10 directories", 10, 10}, {"3,600 directories", 3600, 3600}, {"30,000 directories", 30'000, 300}};
  const Words write_file = {"/bin/dd", "if=/dev/urandom", "of=note", "bs=64", "count=1", "status=none"};
  std::vector<Contender> all;
  for (const Tree& tree : trees) {
    const fs::path root = TRY(make_tree(scene, tree));
    for (const char* writes : {"live", "commit"})
      all.push_back({tree.name + writes, spawning({.argv = run_words(scene, root, writes, write_file)})});
    all.push_back({tree.name + "artifact", writing_artifact(scene, root)});
  }
  const ByName samples = TRY(interleave(all, 5, pace == Pace::quick ? size_t{20} : size_t{200}));

  Table table{9,
              "Workspace writes: one file",
              {"tree", "live p50 us", "commit p50 us", "commit to live", "commit to the first tree",
               "write_artifact p50 us", "write_artifact to the first tree"}};
  for (const Tree& tree : trees) {
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
        {"a call that writes one file, commit to live, " + tree.name, to_live.middle, 1.6, at_most, {}});
    if (tree.directories == trees[0].directories) continue;
    report.targets.push_back(
        {"a call that writes one file, " + tree.name + " to 10", commit.middle, 1.1, at_most, {}});
    report.targets.push_back(
        {"write_artifact of 4 KiB, " + tree.name + " to 10", artifact.middle, 1.1, at_most, {}});
  }
  table.notes.push_back(
      "`cloche run --writes live|commit` with `dd`, which writes 64 other bytes to a file at the top of the "
      "tree, and `cloche call write_artifact` of 4 KiB; each call is a process of its own.");
  report.tables.push_back(std::move(table));
  return {};
}

Result<fs::path> make_repository(const Scene& scene, const std::string& git) {
  fs::path root = TRY(make_tree(scene, {"repository", 2000, 5000}));
  for (const Words& step :
       {Words{"init", "-q"}, Words{"add", "-A"},
        Words{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "bench"}}) {
    Words words = {git, "-C", root};
    words.insert(words.end(), step.begin(), step.end());
    TRY(spawning({.argv = words, .silent = true})());
  }
  return root;
}

// Both with the whole repository in view, writable.
Result<void> measure_repository_start(const Scene& scene, const fs::path& repository, Pace pace,
                                      Report& report) {
  Words bwrap = bubblewrap_words();
  if (bwrap.empty()) return {};
  for (const std::string& word : Words{"--bind", repository, repository, "--chdir", repository, "/bin/true"})
    bwrap.push_back(word);
  const ByName samples = TRY(
      interleave({{bubblewrap, spawning({.argv = bwrap})},
                  {command_line, spawning({.argv = run_words(scene, repository, "commit", {"/bin/true"})})}},
                 5, pace == Pace::quick ? size_t{30} : size_t{200}));
  const Spread ratio = ratio_of_medians(samples.at(command_line), samples.at(bubblewrap));
  Table table{9,
              "Workspace writes: a repository of 2,000 directories",
              {"start of", "bwrap p50 us", "cloche run p50 us", "ratio"}};
  table.rows.push_back({"/bin/true", Cell::number(median(samples.at(bubblewrap)), 0),
                        Cell::number(median(samples.at(command_line)), 0), Cell::spread(ratio)});
  report.targets.push_back(
      {"`cloche run` to bwrap, in a repository of 2,000 directories", ratio.middle, 0.65, at_most, {}});
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace

Result<void> measure_writes(const Scene& scene, Pace pace, Report& report) {
  TRY(measure_one_file(scene, pace, report));
  const size_t pairs = pace == Pace::quick ? 9 : 31;
  Table inside = inside_table(9, "Workspace writes: reading the project inside", pairs);
  if (const std::string git = find_program("git"); !git.empty()) {
    const fs::path repository = TRY(make_repository(scene, git));
    TRY(measure_repository_start(scene, repository, pace, report));
    const Command status{.argv = {git, "-C", repository, "status"}};
    TRY(measure_inside_work(scene, {"git status of 5,000 files", status, 1.5, repository}, pairs, inside,
                            report));
  } else {
    inside.notes.push_back("git is not installed: its row, and the start in a repository, are left out.");
  }
  TRY(measure_many_changes(scene, pace, report));
  const fs::path tree = TRY(make_tree(scene, {"searched", 2000, 18'000}));
  const Command find{.argv = {find_program("find"), tree}};
  TRY(measure_inside_work(scene, {"find of 20,000 entries", find, 1.5, tree}, pairs, inside, report));
  report.tables.push_back(std::move(inside));
  return {};
}

}  // namespace cloche::bench
