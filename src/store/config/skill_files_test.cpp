// Which files are read, whose they are, and which are refused although they exist.
#include "store/config/skill_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"
#include "tools/commands/executor.hpp"
#include "tools/skill.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr const char* skill_text = "---\nname: x\n---\n";

std::string manifest(const std::string& name) {
  return R"({"name": ")" + name + R"(", "description": "d", "input_schema": true, "code": "tool.py"})";
}

class SkillFiles : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::canonical(scratch_.path).string();
    for (const char* directory : {"/home/skills", "/home/work/sub", "/home/out", "/home/repo/.git",
                                  "/home/repo/a/b", "/home/dotted/.cloche", "/home/tools"})
      fs::create_directories(root_ + directory);
  }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
    ::chmod((root_ + path).c_str(), 0644);
  }

  SessionPlaces places() const {
    return {
        .workspace = root_ + "/home/work", .writable_roots = {root_ + "/home/out"}, .home = root_ + "/home"};
  }

  // "project", "operators", or the refusal.
  std::string loaded(const std::string& path) const {
    const auto skill = load_skill(root_ + path, places());
    if (!skill.ok()) return without_root(describe(skill.error()));
    return skill.value().trust == Trust::project ? "project" : "operators";
  }

  // Names in the order of the list, each with its trust's letter; or the refusal.
  std::string executors() const {
    const auto list = load_executors(root_ + "/home/tools", places());
    if (!list.ok()) return without_root(describe(list.error()));
    std::string text;
    for (const auto& one : list.value())
      text += (text.empty() ? "" : " ") + one.name + (one.trust == Trust::project ? ":p" : ":o");
    return text;
  }

  std::string without_root(std::string text) const {
    for (size_t at = text.find(root_); at != std::string::npos; at = text.find(root_))
      text.erase(at, root_.size());
    return text;
  }

  Scratch scratch_;
  std::string root_;
};

TEST_F(SkillFiles, WhereItLiesIsWhoseWordItIs) {
  struct Row {
    const char* path;
    const char* answer;
  };
  for (const Row& row :
       {Row{"/home/skills/x/SKILL.md", "operators"}, Row{"/home/work/SKILL.md", "project"},
        Row{"/home/work/sub/SKILL.md", "project"}, Row{"/home/workshop/SKILL.md", "operators"},
        Row{"/home/out/SKILL.md", "project"}, Row{"/home/repo/a/b/SKILL.md", "project"},
        Row{"/home/repo/SKILL.md", "project"}, Row{"/home/dotted/SKILL.md", "project"}}) {
    write(row.path, skill_text);
    EXPECT_EQ(loaded(row.path), row.answer) << row.path;
  }
}

TEST_F(SkillFiles, AHomeThatIsARepositoryIsNoProject) {
  write("/home/skills/SKILL.md", skill_text);
  fs::create_directories(root_ + "/home/.git");
  EXPECT_EQ(loaded("/home/skills/SKILL.md"), "operators");
}

TEST_F(SkillFiles, WhatOthersCouldHaveWritten) {
  write("/home/skills/SKILL.md", skill_text);
  ::chmod((root_ + "/home/skills/SKILL.md").c_str(), 0666);
  EXPECT_EQ(loaded("/home/skills/SKILL.md"), "project");
  ::chmod((root_ + "/home/skills/SKILL.md").c_str(), 0644);
  EXPECT_EQ(loaded("/home/skills/SKILL.md"), "operators");
  ::chmod((root_ + "/home/skills").c_str(), 0777);
  EXPECT_EQ(loaded("/home/skills/SKILL.md"), "project");
}

TEST_F(SkillFiles, ASecondNameMayLieAnywhere) {
  write("/home/skills/SKILL.md", skill_text);
  fs::create_hard_link(root_ + "/home/skills/SKILL.md", root_ + "/home/work/other");
  EXPECT_EQ(loaded("/home/skills/SKILL.md"), "project");
}

TEST_F(SkillFiles, LinksOnTheWay) {
  write("/home/skills/x/SKILL.md", skill_text);
  fs::create_directory_symlink(root_ + "/home/skills", root_ + "/home/mine");
  EXPECT_EQ(loaded("/home/mine/x/SKILL.md"), "operators");
  fs::create_directory_symlink(root_ + "/home/skills", root_ + "/home/work/link");
  EXPECT_EQ(loaded("/home/work/link/x/SKILL.md"), "project");
  // Through the workspace in the middle: an agent could replace that link.
  fs::create_directory_symlink(root_ + "/home/work/link", root_ + "/home/far");
  EXPECT_EQ(loaded("/home/far/x/SKILL.md"), "project");
  EXPECT_EQ(loaded("/home/work/../skills/x/SKILL.md"), "project");
}

TEST_F(SkillFiles, WhatIsNoPlainFileIsRefused) {
  write("/home/skills/SKILL.md", skill_text);
  fs::create_symlink(root_ + "/home/skills/SKILL.md", root_ + "/home/link.md");
  EXPECT_EQ(loaded("/home/link.md"), "/home/link.md is a symbolic link; name the file that it leads to");
  ASSERT_EQ(::mkfifo((root_ + "/home/pipe").c_str(), 0600), 0);
  EXPECT_EQ(loaded("/home/pipe"), "/home/pipe is not a regular file");
  EXPECT_EQ(loaded("/home/skills"), "/home/skills is not a regular file");
  EXPECT_NE(loaded("/home/absent").find("No such file"), std::string::npos);
  write("/home/skills/long.md", skill_text + std::string(max_skill_bytes, 'x'));
  EXPECT_EQ(loaded("/home/skills/long.md"), "/home/skills/long.md is longer than 65536 bytes");
  write("/home/skills/bad.md", "---\nname: x\ncommands: any\n---\n");
  EXPECT_EQ(loaded("/home/skills/bad.md"),
            "/home/skills/bad.md:3: commands: only the operator gives any, with --commands any");
}

TEST_F(SkillFiles, ExecutorsOfADirectory) {
  EXPECT_EQ(executors(), "");
  for (const char* name : {"beta", "alpha"}) {
    write("/home/tools/" + std::string(name) + "/manifest.json", manifest(name));
    write("/home/tools/" + std::string(name) + "/tool.py", "");
  }
  fs::create_directories(root_ + "/home/tools/notes");
  write("/home/tools/README", "");
  EXPECT_EQ(executors(), "alpha:o beta:o");
  write("/home/tools/manifest.json", manifest("own"));
  write("/home/tools/tool.py", "");
  EXPECT_EQ(executors(), "own:o alpha:o beta:o");
  const auto list = load_executors(root_ + "/home/tools", places());
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list.value()[1].folder, root_ + "/home/tools/alpha");
  EXPECT_EQ(list.value()[1].code, root_ + "/home/tools/alpha/tool.py");
}

TEST_F(SkillFiles, OneBadManifestRefusesAll) {
  write("/home/tools/alpha/manifest.json", manifest("alpha"));
  write("/home/tools/alpha/tool.py", "");
  write("/home/tools/beta/manifest.json", "{\n\"nam\": 1}");
  EXPECT_EQ(executors(), "/home/tools/beta/manifest.json:2: unknown key \"nam\"; did you mean name?");
  write("/home/tools/beta/manifest.json", manifest("alpha"));
  write("/home/tools/beta/tool.py", "");
  EXPECT_EQ(executors(),
            "/home/tools/beta/manifest.json: the name alpha is taken by /home/tools/alpha/manifest.json");
  fs::remove(root_ + "/home/tools/beta/manifest.json");
  fs::create_symlink("/nowhere", root_ + "/home/tools/beta/manifest.json");
  EXPECT_EQ(executors(), "/home/tools/beta/manifest.json is a symbolic link; name the file that it leads to");
}

TEST_F(SkillFiles, TheCodeMustBeThereAndPlain) {
  write("/home/tools/a/manifest.json", manifest("a"));
  EXPECT_EQ(
      executors(),
      "/home/tools/a/manifest.json: the code /home/tools/a/tool.py cannot be opened; code is a path beneath "
      "the manifest's folder");
  fs::create_symlink("/bin/sh", root_ + "/home/tools/a/tool.py");
  EXPECT_EQ(executors(),
            "/home/tools/a/manifest.json: the code /home/tools/a/tool.py is reached through a link");
  fs::remove(root_ + "/home/tools/a/tool.py");
  fs::create_directory(root_ + "/home/tools/a/tool.py");
  EXPECT_EQ(executors(), "/home/tools/a/manifest.json: the code /home/tools/a/tool.py is not a regular file");
}

TEST_F(SkillFiles, AManifestIsWorthNoMoreThanItsProgram) {
  write("/home/tools/a/manifest.json", manifest("a"));
  write("/home/tools/a/tool.py", "");
  ::chmod((root_ + "/home/tools/a/tool.py").c_str(), 0666);
  EXPECT_EQ(executors(), "a:p");
}

TEST_F(SkillFiles, GrantsAreLookedAtOnce) {
  const HostPaths names{.home = root_ + "/home", .workspace = root_ + "/home/work"};
  fs::create_directories(root_ + "/home/.ssh");
  fs::create_directory_symlink(root_ + "/home/skills", root_ + "/home/notes");
  fs::create_directory_symlink(root_ + "/home/.ssh", root_ + "/home/keys");
  fs::create_directory_symlink(root_ + "/home/.ssh", root_ + "/home/work/data");
  const auto settled = [&](const std::string& path) {
    const auto result = settle_grants({.grants = {{.source = root_ + path}}}, names);
    if (!result.ok()) return without_root(result.error().what.text());
    const Authority& authority = result.value().authority;
    if (authority.grants.empty()) return without_root(authority.notes.at(0));
    return without_root(authority.grants[0].source + ">" + authority.grants[0].target);
  };
  EXPECT_EQ(settled("/home/out"), "/home/out>");
  fs::create_directory_symlink("/usr/share", root_ + "/home/share");
  EXPECT_TRUE(settle_grants({.grants = {{.source = root_ + "/home/share"}}}, names).ok());
  for (const std::string& workspace : {names.workspace, std::string()})
    EXPECT_FALSE(settle_grants({.grants = {{.source = root_ + "/home/share", .writable = true}}},
                               {.home = names.home, .workspace = workspace})
                     .ok());
  EXPECT_EQ(settled("/home/notes"), "/home/skills>/home/notes");
  EXPECT_EQ(settled("/home/absent"), "/home/absent is not there and is left out");
  EXPECT_EQ(settled("/home/work/data"),
            "a link leads from \"/home/work/data\" out of the workspace, to \"/home/.ssh\"");
  EXPECT_EQ(settled("/home/keys"), "a capability for \"/home/.ssh\" meets the secrets in /home/.ssh");
}

TEST_F(SkillFiles, WhatWasFoundGoesWithTheGrant) {
  const HostPaths names{.home = root_ + "/home", .workspace = root_ + "/home/work"};
  auto settled = settle_grants({.grants = {{.source = root_ + "/home/out"}}}, names);
  ASSERT_TRUE(settled.ok());
  struct stat seen {};
  ASSERT_EQ(::stat((root_ + "/home/out").c_str(), &seen), 0);
  const auto& judged = settled.value().authority.grants.at(0).judged;
  ASSERT_TRUE(judged);
  EXPECT_EQ(judged->inode, seen.st_ino);
  EXPECT_EQ(settled.value().held.size(), 1U);
}

TEST_F(SkillFiles, NoGrantGoesThroughALinkOfACall) {
  HostPaths names{.home = root_ + "/home", .workspace = root_ + "/home/work"};
  names.written = {names.workspace, root_ + "/home/out"};
  fs::create_directory_symlink(root_ + "/home/skills", root_ + "/home/out/data");
  const auto refused = settle_grants({.grants = {{.source = root_ + "/home/out/data"}}}, names);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().what.text().find("where calls can write"), std::string::npos)
      << refused.error().what;
  names.written = {names.workspace};
  EXPECT_TRUE(settle_grants({.grants = {{.source = root_ + "/home/out/data"}}}, names).ok());
}

TEST_F(SkillFiles, AnExecutorIsTheFolderThatWasLoaded) {
  write("/home/tools/a/manifest.json", manifest("a"));
  write("/home/tools/a/tool.py", "");
  const auto list = load_executors(root_ + "/home/tools", places());
  ASSERT_TRUE(list.ok());
  const Executor& executor = list.value().at(0);
  struct stat seen {};
  ASSERT_EQ(::stat(executor.folder.c_str(), &seen), 0);
  EXPECT_EQ(executor.folder_fact.inode, seen.st_ino);
  EXPECT_TRUE(check_unchanged(executor).ok());
  const std::string digest = digest_of_code(executor).value();
  EXPECT_EQ(digest, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // Another folder in its place, a link to it, and nothing.
  fs::rename(executor.folder, root_ + "/home/tools/away");
  EXPECT_FALSE(check_unchanged(executor).ok());
  fs::create_directory_symlink(root_ + "/home/tools/away", executor.folder);
  EXPECT_FALSE(check_unchanged(executor).ok());
  fs::remove(executor.folder);
  fs::create_directories(executor.folder);
  write("/home/tools/a/tool.py", "other");
  const auto changed = check_unchanged(executor);
  ASSERT_FALSE(changed.ok());
  EXPECT_NE(changed.error().what.text().find("has changed since it was loaded"), std::string::npos);
  EXPECT_EQ(digest_of_code(executor).value(), digest);  // of the folder that is held
}

TEST_F(SkillFiles, WhatLiesInTheArtifactsOfAnyRunOnlyTightens) {
  for (const char* run : {"/home/run", "/home/half"})
    write(std::string(run) + "/artifacts/x/SKILL.md", skill_text);
  write("/home/run/audit.jsonl", "");
  write("/home/run/.lock", "");
  write("/home/half/audit.jsonl", "");
  write("/home/run/SKILL.md", skill_text);
  EXPECT_EQ(loaded("/home/run/artifacts/x/SKILL.md"), "project");
  EXPECT_EQ(loaded("/home/half/artifacts/x/SKILL.md"), "operators");
  EXPECT_EQ(loaded("/home/run/SKILL.md"), "operators");
}

class ExecutorFiles : public SkillFiles {
 protected:
  bool is_projects(const std::string& directory) {
    write(directory + "/manifest.json", manifest("a"));
    write(directory + "/tool.py", "");
    const auto list = load_executors(root_ + directory, places());
    EXPECT_TRUE(list.ok()) << describe(list.error());
    return list.ok() && list.value().at(0).trust == Trust::project;
  }
};

TEST_F(ExecutorFiles, WhoseWordAnExecutorIs) {
  EXPECT_FALSE(is_projects("/home/tools/a"));
  EXPECT_TRUE(is_projects("/home/repo/a"));
  EXPECT_TRUE(is_projects("/home/work/a"));
  EXPECT_TRUE(is_projects("/home/out/a"));
  fs::create_directory_symlink(root_ + "/home/tools", root_ + "/home/work/link");
  EXPECT_TRUE(is_projects("/home/work/link/a"));
  // Where every user can write, any of them could have put it there.
  fs::create_directories(root_ + "/home/open");
  fs::permissions(root_ + "/home/open", fs::perms::all);
  EXPECT_TRUE(is_projects("/home/open/a"));
}

TEST_F(ExecutorFiles, CodeOfAnotherUserIsNotTheOperatorsWord) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files away";
  ASSERT_FALSE(is_projects("/home/tools/a"));
  ASSERT_EQ(::chown((root_ + "/home/tools/a/tool.py").c_str(), 65534, 65534), 0);
  EXPECT_TRUE(is_projects("/home/tools/a"));
}

TEST_F(SkillFiles, WhatIsNoDirectoryOfExecutors) {
  EXPECT_FALSE(load_executors(root_ + "/home/absent", places()).ok());
  write("/home/file", "");
  EXPECT_EQ(without_root(describe(load_executors(root_ + "/home/file", places()).error())),
            "/home/file is not a directory of executors");
}

}  // namespace
}  // namespace cloche
