#include "policy/gates/agent_definition.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

bool called(std::string_view text, const std::vector<std::string>& by_place, std::string_view name) {
  return may_be_called(read_agent_definition(text), by_place, name);
}

TEST(AgentDefinition, WhatItMayBeCalled) {
  EXPECT_TRUE(called("text", {"review"}, "review"));
  EXPECT_FALSE(called("text", {"review"}, "deploy"));
  EXPECT_TRUE(called("---\nname: deploy\n---\ntext", {"review"}, "deploy")) << "by its head as well";
  EXPECT_TRUE(called("---\nname: \"d\\u0065ploy\"\n---\n", {"review"}, "deploy"));
  EXPECT_TRUE(called("\xef\xbb\xbf---\nName: deploy\n---\n", {"review"}, "deploy"));
  EXPECT_TRUE(called("text", {"sub:review"}, "review"));
  EXPECT_TRUE(called("text", {"Review"}, "review"));
  EXPECT_TRUE(called("text", {"review"}, "plugin:review"));
  EXPECT_FALSE(called("name: deploy", {"review"}, "deploy")) << "there is no head";
}

TEST(AgentDefinition, WhatIsNotUnderstoodMayBeAnything) {
  for (const char* text :
       {"---\nname: [a\n---\n", "---\nname: [deploy]\n---\n", "---\n- a\n---\n", "---\nname: &a x\n---\n",
        "---\nname: a\nName: b\n---\n", "---\nname: a: b: c\n---\n",
        // keys that another reader merges, or finds by way of a prototype
        "---\n<<: {name: deploy, description: d}\n---\n", "---\n\"<<\": {name: deploy}\n---\n",
        "---\n'<<': {name: deploy}\n---\n", "---\n\"\\x3c<\": {name: deploy}\n---\n",
        "---\n<<: [{name: deploy}, {description: d}]\n---\n", "---\n<<:\n  name: deploy\n---\n",
        "---\n? <<\n: {name: deploy}\n---\n", "---\n{<<: {name: deploy}}\n---\n",
        "---\na: {b: [{<<: {name: c}}]}\n---\n", "---\n__proto__: {name: deploy}\n---\n",
        // anchors, aliases and tags
        "---\na: &x {name: deploy}\nb: *x\n---\n", "---\n!!str name: a\n---\n", "---\nname: !!str a\n---\n",
        "---\nname: ! a\n---\n", "---\n!!map {name: a}\n---\n", "---\n! {name: a}\n---\n",
        "---\na: ! [b]\n---\n", "---\na: [! b]\n---\n", "---\na: !\n---\n",
        "---\n\xc3\xa4: \"\xe2\x82\xac\"\nname: ! a\n---\n",
        "---\r\na: b\r\nc:\r\n  - d\r\nname: ! a\r\n---\r\n",
        "---\na: |\n  b\n\n  c\nd: \"e\n  f\"\nname: !!str a\n---\n",
        // where the head, or a line of it, may end for another reader
        "---\nx: \"\nname: deploy\ny: --- \"\n---\n", "---\nx: |\n name: a\n --- \nname: b\n---\n",
        "---\nq: 1\rname: deploy\n---\n", "---\nq: 1\xc2\x85name: deploy\n---\n",
        "---\nq: 1\xe2\x80\xa8name: deploy\n---\n", "---\nq: 1\n...\nname: deploy\n---\n"})
    EXPECT_TRUE(called(text, {"review"}, "deploy")) << text;
  for (const char* text :
       {"\f---\nname: deploy\n---\n", "\xc2\xa0---\nname: deploy\n---\n", "---\nname: |\n  deploy\n---\n"})
    EXPECT_TRUE(called(text, {"review"}, "deploy")) << text;
  for (const char* text :
       {"---\nname: a\ndescription: \"wow! it < 3 & * 4\"\nmodel: 'x'\n---\n",
        "---\r\nname: a\r\ntools:\r\n  - Read\r\n---\r\ntext\r\n---\r\n", "---\nname: a\nb: d << !x\n---\n"})
    EXPECT_FALSE(called(text, {"review"}, "deploy")) << "understood: " << text;
}

TEST(AgentDefinition, WhatStartsSomethingIsNotHarmless) {
  const std::vector<std::string> keys = {"name", "description"};
  const auto harmless = [&](std::string_view text) {
    return !why_not_harmless(read_agent_definition(text), keys, ModelsWords::none).has_value();
  };
  EXPECT_TRUE(harmless("text"));
  EXPECT_TRUE(harmless("---\nname: a\ndescription: b\n---\nwith `code` and ```\nfences\n```"));
  for (const char* text :
       {"run !`id`", "a!`id`", "```!\nid\n```", "---\nname: a\nhooks:\n  PreToolUse: []\n---\n",
        "---\nname: a\nmcpServers: {}\n---\n", "---\nname: a\nisolation: worktree\n---\n",
        "---\npermissionMode: bypassPermissions\n---\n", "---\nname: [a\n---\n", "---\nhooks: x\n"})
    EXPECT_FALSE(harmless(text)) << text;
  const AgentDefinition reads = read_agent_definition("look at @$1");
  EXPECT_FALSE(why_not_harmless(reads, keys, ModelsWords::none)) << "the user's own choice";
  EXPECT_TRUE(why_not_harmless(reads, keys, ModelsWords::some)) << "the model's choice";
}

}  // namespace
}  // namespace cloche
