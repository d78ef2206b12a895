// What `cloche new` writes is what the readers take, word for word.
#include "doors/cli/new_templates.hpp"

#include <gtest/gtest.h>

#include "base/json/json_text.hpp"
#include "policy/rules/rules.hpp"
#include "tools/commands/executor.hpp"
#include "tools/skill.hpp"

namespace cloche {
namespace {

const NewFile& file_of(const NewThing& thing, const std::string& path) {
  for (const auto& file : thing.files)
    if (file.path == path) return file;
  ADD_FAILURE() << "no file " << path;
  return thing.files.front();
}

TEST(NewTemplates, TheSkillLoadsWithoutAWord) {
  const NewThing thing = new_skill("my-skill");
  const auto skill = read_skill(file_of(thing, "my-skill/SKILL.md").text, "SKILL.md", Trust::operators);
  ASSERT_TRUE(skill.ok()) << describe(skill.error());
  EXPECT_EQ(skill.value().name, "my-skill");
  EXPECT_TRUE(skill.value().warnings.empty());
}

TEST(NewTemplates, TheExecutorLoads) {
  const NewThing thing = new_executor("my_tool");
  const auto executor = read_executor(file_of(thing, "my_tool/manifest.json").text, "manifest.json",
                                      "/x/my_tool", Trust::operators);
  ASSERT_TRUE(executor.ok()) << describe(executor.error());
  EXPECT_EQ(executor.value().name, "my_tool");
  EXPECT_EQ(executor.value().code, "/x/" + file_of(thing, "my_tool/tool.py").path);
  EXPECT_TRUE(file_of(thing, "my_tool/tool.py").executable);
  EXPECT_NE(file_of(thing, "my_tool/test.sh").text.find("cloche call my_tool "), std::string::npos);
}

TEST(NewTemplates, TheRulesHoldTheirExamples) {
  const NewThing thing = new_rule("my-rule");
  const auto json = read_json(file_of(thing, "my-rule.json").text, "r");
  ASSERT_TRUE(json.ok()) << describe(json.error());
  const auto rules = RuleFile::read(json.value().find("permissions"), "r", {});
  ASSERT_TRUE(rules.ok()) << describe(rules.error());
  EXPECT_EQ(rules.value().example_count(), 4U);
}

TEST(NewTemplates, NoMarkIsLeft) {
  for (const auto& thing : {new_skill("a"), new_executor("a"), new_rule("a")})
    for (const auto& file : thing.files) EXPECT_EQ(file.text.find('@'), std::string::npos) << file.path;
}

}  // namespace
}  // namespace cloche
