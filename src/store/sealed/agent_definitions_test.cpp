#include "store/sealed/agent_definitions.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Check = AgentToolRow::Check;

class AgentDefinitions : public testing::Test {
 protected:
  AgentDefinitions() {
    ::umask(022);
    fs::create_directories(workspace());
    fs::create_directories(config());
    table.builtin_subagents = {"general-purpose", "Explore"};
    table.skill_keys = table.subagent_keys = {"name", "description"};
  }

  fs::path workspace() const { return root() / "home/proj"; }
  fs::path config() const { return root() / "home/.claude"; }
  fs::path root() const { return fs::canonical(scratch.path); }

  static void write(const fs::path& path, const std::string& text = "text") {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  std::string why(Check kind, const std::string& name) const {
    const DefinitionSearch search{.kind = kind, .name = name, .workspace = workspace(), .config = config()};
    return why_ask_about_definition(search, table).value_or("");
  }
  std::string skill(const std::string& name) const { return why(Check::skill, name); }
  std::string subagent(const std::string& name) const { return why(Check::subagent, name); }

  Scratch scratch;
  AgentToolTable table;
};

TEST_F(AgentDefinitions, ASkillOfTheUsersPasses) {
  write(config() / "skills/review/SKILL.md", "---\nname: review\ndescription: d\n---\ntext");
  write(config() / "skills/odd/SKILL.md", "---\nname: shown\n---\n");
  write(config() / "commands/sub/one.md");
  for (const char* name : {"review", "odd", "sub:one"}) EXPECT_EQ(skill(name), "") << name;
  EXPECT_NE(skill("shown"), "") << "the client may have one of its own that is called so";
  EXPECT_NE(skill("one"), "");
  write(config() / "plugins/cache/p/skills/brought/SKILL.md");
  EXPECT_NE(skill("brought"), "") << "its name has the plug-in's in front";
  EXPECT_NE(skill("absent"), "") << "what is not found may be anything";
  EXPECT_NE(subagent("review"), "");
}

TEST_F(AgentDefinitions, OneInTheWorkspaceAsks) {
  write(config() / "skills/review/SKILL.md");
  const std::pair<std::string, std::string> rows[] = {
      {".claude/skills/review/SKILL.md", "text"},
      {".claude/skills/other/SKILL.md", "---\nname: review\n---\n"},
      {".claude/skills/other/SKILL.md", "---\nname: [\n---\n"},
      {".claude/commands/review.md", "text"},
      {".claude/commands/sub/review.md", "text"},
      {"packages/a/.claude/skills/review/SKILL.md", "text"},
      {"plugin/skills/review/skill.md", "text"},
  };
  for (const auto& [path, text] : rows) {
    EXPECT_EQ(skill("review"), "") << "the control";
    write(workspace() / path, text);
    EXPECT_NE(skill("review").find("in the workspace"), std::string::npos) << path << ": " << skill("review");
    fs::remove(workspace() / path);
  }
  write(workspace() / ".claude/skills/deploy/SKILL.md");
  EXPECT_EQ(skill("review"), "") << "another one";
}

TEST_F(AgentDefinitions, ASubagentInTheWorkspaceAsksByWhateverItsHeadMayMean) {
  for (const char* head : {"<<: {name: general-purpose, description: d}", "\"<<\": {name: general-purpose}",
                           "<<: [{name: general-purpose}, {description: d}]", "<<:\n  name: general-purpose",
                           "name: !!str other", "a: &b c\nname: other", "name: other",
                           // one long text to us, and to a reader that refuses it and tries again, keys
                           "description: \"a {\nname: general-purpose\nhooks: {}\ntail: }b\""}) {
    EXPECT_EQ(subagent("general-purpose"), "") << "the control";
    const fs::path file = workspace() / ".claude/agents/z.md";
    write(file, "---\n" + std::string(head) + "\nhooks: {}\n---\ntext");
    EXPECT_NE(subagent("general-purpose").find("in the workspace"), std::string::npos) << head;
    fs::remove(file);
  }
}

TEST_F(AgentDefinitions, APipeIsNotWaitedFor) {
  write(config() / "skills/review/SKILL.md");
  fs::create_directories(workspace() / "a");
  ASSERT_EQ(::mkfifo((workspace() / "a/SKILL.md").c_str(), 0600), 0);
  EXPECT_NE(skill("review"), "");
}

TEST_F(AgentDefinitions, OneThatStartsSomethingAsks) {
  write(config() / "skills/runs/SKILL.md", "now: !`git log $ARGUMENTS`");
  write(config() / "skills/hooked/SKILL.md", "---\nname: hooked\nhooks: {}\n---\n");
  write(config() / "plugins/cache/p/skills/review/SKILL.md", "!`id`");
  write(config() / "skills/review/SKILL.md");
  for (const char* name : {"runs", "hooked", "review"}) EXPECT_NE(skill(name), "") << name;
}

TEST_F(AgentDefinitions, OneAboveTheWorkspaceIsLookedAtToo) {
  write(config() / "skills/review/SKILL.md");
  write(root() / ".claude/skills/review/SKILL.md", "!`id`");
  EXPECT_NE(skill("review"), "");
}

TEST_F(AgentDefinitions, LinksIntoTheWorkspaceAsk) {
  write(workspace() / "planted/SKILL.md", "text");
  fs::create_directories(config() / "skills");
  fs::create_directory_symlink(workspace() / "planted", config() / "skills/review");
  EXPECT_NE(skill("review"), "");
  fs::remove_all(config() / "skills");
  write(config() / "skills/review/SKILL.md");
  EXPECT_EQ(skill("review"), "") << "the control";
  fs::create_directories(workspace() / ".claude");
  fs::create_directory_symlink(root() / "elsewhere", workspace() / ".claude/skills");
  fs::create_directories(root() / "elsewhere/review");
  EXPECT_NE(skill("review"), "") << "a directory of definitions that is a link";
}

TEST_F(AgentDefinitions, WhatAnotherUserCanWriteAsks) {
  write(config() / "skills/review/SKILL.md");
  fs::permissions(config() / "skills/review/SKILL.md", static_cast<fs::perms>(0666));
  EXPECT_NE(skill("review"), "");
}

TEST_F(AgentDefinitions, SettingsOfTheProjectThatBringInOthersAsk) {
  write(config() / "skills/review/SKILL.md");
  for (const char* text :
       {R"({"permissions": {"additionalDirectories": ["/x"]}})", R"({"enabledPlugins": {}})", "{"}) {
    write(workspace() / ".claude/settings.json", text);
    EXPECT_NE(skill("review"), "") << text;
  }
  write(workspace() / ".claude/settings.json", R"({"env": {}})");
  EXPECT_EQ(skill("review"), "") << "the control";
}

TEST_F(AgentDefinitions, SubagentsThatComeWithTheAgentPass) {
  EXPECT_EQ(subagent("general-purpose"), "");
  EXPECT_NE(subagent("unheard-of"), "");
  write(workspace() / ".claude/agents/x.md", "---\nname: Explore\nhooks: {}\n---\n");
  EXPECT_NE(subagent("Explore").find("in the workspace"), std::string::npos)
      << "one of the project's takes its place";
  fs::remove(workspace() / ".claude/agents/x.md");
  EXPECT_EQ(subagent("general-purpose"), "");
  write(config() / "agents/general.md", "---\nname: general-purpose\nisolation: worktree\n---\n");
  EXPECT_NE(subagent("general-purpose"), "");
  write(config() / "agents/mine.md", "---\nname: mine\ndescription: d\n---\n");
  EXPECT_EQ(subagent("mine"), "");
}

TEST_F(AgentDefinitions, AConfigurationInTheWorkspaceAsks) {
  const DefinitionSearch search{.kind = Check::subagent,
                                .name = "Explore",
                                .workspace = workspace(),
                                .config = workspace() / ".claude"};
  EXPECT_TRUE(why_ask_about_definition(search, table));
}

}  // namespace
}  // namespace cloche
