// The lessons that rules, configuration, schemas and approvals can meet, by the number under which we keep
// them.
#include <gtest/gtest.h>

#include <fstream>

#include "base/text/sha256.hpp"
#include "harness/harness.hpp"
#include "policy/gates/approval.hpp"
#include "policy/rules/rules.hpp"
#include "policy/schema/json_schema.hpp"
#include "store/config/rule_files.hpp"

namespace cloche::test {
namespace {

RuleFile rules(const std::string& permissions) {
  const auto json = read_json(permissions, "rules.json");
  EXPECT_TRUE(json.ok()) << json.error().what;
  auto file = RuleFile::read(&json.value(), "rules.json");
  EXPECT_TRUE(file.ok()) << file.error().what;
  return std::move(file).value();
}

Decision judge(const RuleFile& file, const std::string& command) {
  return rules_gate({.user = file}, {"run_shell", {{"cmd", command}}}).decision;
}

constexpr const char* careful = R"({"rules": [
  {"tool": "run_shell", "args": {"cmd": "rm\\s+-rf|sudo"}, "action": "deny"},
  {"tool": "run_shell", "args": {"cmd": "^(git|ls|cat|grep) "}, "action": "allow"}]})";

TEST(LessonOfRules, L01_AGoodBeginningDoesNotExcuseTheRest) {
  const RuleFile file = rules(careful);
  EXPECT_EQ(judge(file, "git log"), Decision::allow);
  EXPECT_EQ(judge(file, "git log '; sudo sh'"), Decision::deny);
  EXPECT_EQ(judge(file, "git -c 'core.pager=rm -rf /' log"), Decision::deny);
  EXPECT_EQ(judge(file, "ls 'a\n' sudo"), Decision::deny) << "a newline hides nothing";
  EXPECT_EQ(judge(file, "'git ' log"), Decision::deny) << "a quoted name is not the name";
}

TEST(LessonOfRules, L02_ANeighbourWithALongerNameIsNotInside) {
  Scene scene(As::self);
  const auto config = [&](const fs::path& user) {
    return read_config_files({.managed = "", .user = user, .workspace = scene.workspace()},
                             std::vector<std::string_view>{"permissions"})
        .ok();
  };
  EXPECT_TRUE(config(scene.workspace().string() + "-two/config.json"));
  EXPECT_FALSE(config(scene.workspace() / "config.json"));
  EXPECT_FALSE(config(scene.root() / "x/../workspace/config.json"));
}

TEST(LessonOfRules, L07_AnEmptyListAllowsNothing) {
  EXPECT_EQ(judge(rules(R"({"rules": []})"), "ls"), Decision::deny);
  EXPECT_EQ(judge(rules("{}"), "ls"), Decision::allow) << "unset is another thing: the other gates decide";
}

TEST(LessonOfRules, L08_ALimitInsideACheckerDenies) {
  EXPECT_EQ(judge(rules(R"({"default": "allow"})"), std::string(5 << 20, 'a')), Decision::deny);
  const auto endless =
      read_json(R"({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/a"}}})", "");
  EXPECT_TRUE(JsonSchema::compile(endless.value(), "").value().check(JsonValue{}).has_value());
  ApprovalSubject subject{.tool = "run_shell"};
  subject.plan.argv = {"sh", "-c", std::string(100'000, ' ') + "hidden"};
  EXPECT_TRUE(std::holds_alternative<Verdict>(make_question(subject))) << "what is not shown is not asked";
}

TEST(LessonOfRules, L09_OtherNamesOfAProgramAreNotAllowedByItsName) {
  const RuleFile file = rules(careful);
  for (const char* command : {"/proc/self/root/usr/bin/git log", "./git log", "/tmp/git log",
                              "ld-linux.so git log", "g\xd1\x96t log", "git\xe2\x80\x8b log"})
    EXPECT_EQ(judge(file, command), Decision::deny) << command;
}

TEST(LessonOfRules, L11_EnvironmentAndDirectoryBelongToWhatWasApproved) {
  ApprovalSubject subject{.tool = "run_shell"};
  subject.plan.argv = {"git", "branch"};
  subject.plan.directory = "/work";
  const Question question = std::get<Question>(make_question(subject));
  ApprovalBook book;
  book.add(make_answer(question, Reply::session, 0));
  const auto is_approved = [&] { return book.approves(approval_digest(subject), 1); };
  EXPECT_TRUE(is_approved());
  subject.plan.environment = {{"PAGER", "evil"}};
  EXPECT_FALSE(is_approved());
  subject.plan.environment.clear();
  subject.plan.directory = "/work/evil";
  EXPECT_FALSE(is_approved());
}

TEST(LessonOfRules, L12_WhatDoesNotParseRefuses) {
  Scene scene(As::self);
  const fs::path user = scene.write("config.json", "{\"permissions\": {\"rules\": [");
  const ConfigPaths paths{.managed = "", .user = user, .workspace = scene.workspace()};
  const auto read = read_config_files(paths, std::vector<std::string_view>{"permissions"});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().what.text().find(user.string() + ":1: "), 0U);
  const auto patterns =
      rules(R"({"rules": [{"tool": "*", "args": {"cmd": "rm"}, "action": "deny"}], "default": "allow"})");
  EXPECT_EQ(judge(patterns, "\xff"), Decision::deny);
}

TEST(LessonOfRules, L13_ARepositoryDoesNotPermitItself) {
  Scene scene(As::self);
  const fs::path user = scene.write("config.json", R"({"permissions": {"default": "ask"}})");
  scene.write("workspace/.cloche/config.json", R"({"permissions": {"default": "allow"}})");
  const ConfigPaths paths{.managed = "", .user = user, .workspace = scene.workspace()};
  const auto files = read_config_files(paths, std::vector<std::string_view>{"permissions"});
  ASSERT_TRUE(files.ok()) << files.error().what;
  ASSERT_TRUE(files.value().project.has_value());
  const auto loaded = rules_of(files.value());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(rules_gate(loaded.value(), {"run_shell", {{"cmd", "ls"}}}).decision, Decision::ask);
}

TEST(LessonOfRules, L24_WhatWasShownIsWhatCounts) {
  ApprovalSubject subject{.tool = "run_shell"};
  subject.plan.argv = {"python3", "build.py"};
  subject.files = {{"/work/build.py", sha256("good")}};
  ApprovalBook book;
  book.add(make_answer(std::get<Question>(make_question(subject)), Reply::once, 0));
  EXPECT_TRUE(book.approves(approval_digest(subject), 1));
  subject.files = {{"/work/build.py", sha256("evil")}};
  EXPECT_FALSE(book.approves(approval_digest(subject), 1)) << "the file was changed after the person looked";
}

}  // namespace
}  // namespace cloche::test
