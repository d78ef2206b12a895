// Section 9: what the looks for the protected set cost, by the size of the tree. In a workspace that cannot
// be written there is none, so the same call with --profile readonly is what it is held against.
#include <filesystem>
#include <fstream>
#include <string>

#include "sections.hpp"

namespace cloche::bench {
namespace {

namespace fs = std::filesystem;

struct Kind {
  const char* name;
  int modules;     // directories with eight others in each
  bool a_project;  // with a repository and some of the set
};
constexpr Kind kinds[] = {
    {"empty", 0, false}, {"300 directories", 33, true}, {"3600 directories", 400, true}};

void write(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "x\n";
}

void make_tree(const fs::path& root, const Kind& kind) {
  fs::create_directories(root);
  for (int i = 0; i < kind.modules; ++i) {
    for (int j = 0; j < 8; ++j) write(root / std::to_string(i) / std::to_string(j) / "file");
  }
  if (!kind.a_project) return;
  for (const char* name : {".git/config", ".git/hooks/a.sample", ".git/HEAD", ".vscode/settings.json",
                           ".npmrc", ".pre-commit-config.yaml", ".gitmodules"})
    write(root / name);
}

Contender contender(const Scene& scene, const std::string& name, const fs::path& tree, const char* profile) {
  return {name, spawning({.argv = {scene.program("cloche"), "run", "--workspace", tree, "--profile", profile,
                                   "--", "/bin/true"}})};
}

}  // namespace

Result<void> measure_protected(const Scene& scene, Pace pace, Report& report) {
  Table table{9, "The look for the protected set", {"tree", "without p50 us", "with p50 us", "ratio"}};
  for (const auto& kind : kinds) {
    const fs::path tree = fs::path(scene.directory()) / "trees" / kind.name;
    make_tree(tree, kind);
    const std::vector<Contender> both = {contender(scene, "without", tree, "readonly"),
                                         contender(scene, "with", tree, "workspace-write-no-network")};
    const ByName samples = TRY(interleave(both, 10, pace == Pace::quick ? size_t{40} : size_t{200}));
    const Samples& with = samples.at("with");
    const Samples& without = samples.at("without");
    table.rows.push_back({kind.name, Cell::number(percentile(without, 0.5), 0),
                          Cell::number(percentile(with, 0.5), 0),
                          Cell::spread(ratio_of_medians(with, without))});
  }
  table.notes.push_back(
      "`cloche run -- /bin/true` with --profile readonly, which needs no look, and without.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
