// Which places of a tree are fixed, and what differs there afterwards.
#include "store/protected/fixed_places.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

struct Project {
  Scratch scratch;
  OwnedFd root{std::move(sys::open(scratch.path, O_RDONLY | O_DIRECTORY)).value()};
  FixedTree empty{.root = scratch.path};

  void write(const std::string& name, const std::string& text = "x") const {
    fs::create_directories(fs::path(scratch.path + "/" + name).parent_path());
    std::ofstream(scratch.path + "/" + name) << text;
  }
  FixedTree look(const FixedTree& before) const { return look_at_fixed_places(root.get(), before, {}); }
  FixedTree look() const { return look(empty); }
  static std::string paths(const FixedTree& tree) {
    std::string all;
    for (const auto& place : tree.places) all += place.path + (place.kept ? "! " : " ");
    return all;
  }
  static std::string changes(const FixedTree& before, const FixedTree& after) {
    std::string all;
    for (const auto& change : changes_between({before}, {after}).changes)
      all += std::string(name_of(change.kind)) + " " + change.path + "; ";
    return all;
  }
};

TEST(FixedPlaces, AreTheTopAndItsRepository) {
  Project project;
  for (const char* name : {".envrc", "a/.envrc", ".config/fish/config.fish", ".git/config", ".git/HEAD",
                           ".git/objects/aa/x", ".git/info/attributes", ".git/rebase-merge/git-rebase-todo"})
    project.write(name);
  const std::string found = Project::paths(project.look());
  for (const char* there : {".envrc! ", ".config/fish! ", ".git/config! ", ".git/info/attributes! ",
                            ".git/rebase-merge/git-rebase-todo "})
    EXPECT_NE(found.find(there), std::string::npos) << there << "in " << found;
  for (const char* not_there : {"a/", "objects/aa", ".git/HEAD!"})
    EXPECT_EQ(found.find(not_there), std::string::npos) << not_there << " in " << found;
}

TEST(FixedPlaces, AreWhatAConfigurationNames) {
  Project project;
  project.write(".git/config", "[core]\n\thooksPath = hk\n[include]\n\tpath = ../more\n");
  project.write("hk/pre-commit");
  const FixedTree tree = project.look();
  EXPECT_NE(Project::paths(tree).find("hk! hk/pre-commit "), std::string::npos) << Project::paths(tree);
  EXPECT_FALSE(tree.is_executed);
  project.write(".git/config", "[core]\n\thooksPath = .\n");
  EXPECT_TRUE(project.look().is_executed);
}

TEST(FixedPlaces, ChangesAreByContent) {
  Project project;
  project.write(".envrc", "one");
  project.write(".mcp.json");
  project.write(".git/config", "[core]\n\thooksPath = hk\n");
  project.write("hk/pre-commit", "one");
  FixedTree before = project.look();
  for (auto& place : before.places) place.kept = false;
  EXPECT_EQ(Project::changes(before, project.look(before)), "");
  project.write(".new", "one");  // the same bytes under the same name are no change, by whatever inode
  fs::rename(project.scratch.path + "/.new", project.scratch.path + "/.envrc");
  EXPECT_EQ(Project::changes(before, project.look(before)), "");
  project.write(".envrc", "two");
  fs::remove(project.scratch.path + "/.mcp.json");
  fs::remove_all(project.scratch.path + "/.git");
  project.write("hk/pre-commit", "two");
  project.write(".vscode/tasks.json");
  EXPECT_EQ(Project::changes(before, project.look(before)),
            "changed .envrc; deleted .git; deleted .git/config; deleted .mcp.json; created .vscode; created "
            ".vscode/tasks.json; changed hk/pre-commit; ");
}

TEST(FixedPlaces, ManyNamesAreAGap) {
  Project project;
  for (int i = 0; i < 4200; ++i) project.write(".vscode/" + std::to_string(i));
  EXPECT_NE(project.look().gap.find("more than 4096 names"), std::string::npos);
}

}  // namespace
}  // namespace cloche
