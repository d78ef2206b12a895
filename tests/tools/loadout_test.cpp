// The loadout is the boundary at dispatch, the list of tools shows it and nothing else, and the three things
// that a model can be told stay apart to the byte.
#include <algorithm>
#include <set>

#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

using Kind = Json::Kind;

class Loadout : public Tools {
 protected:
  Json listed(const std::string& format, const Words& flags) const {
    Words words = {"tools", "--format", format};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = cloche_words(words);
    EXPECT_TRUE(exited(ran, 0));
    auto json = parse_json(ran.out);
    EXPECT_TRUE(json) << ran.out;
    return json.value_or(Json{});
  }
};

std::vector<std::string> names_in(const std::vector<Json>& tools, const std::string& inside = {}) {
  std::vector<std::string> names;
  for (const auto& tool : tools) names.push_back((inside.empty() ? tool : tool[inside])["name"].string);
  return names;
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.object) keys.insert(key);
  return keys;
}

const char* const two_tools = "tool_loadout: [run_shell, write_artifact]";

TEST_P(Loadout, WhatIsNotInItIsRefusedBeforeAnythingHappens) {
  const Words flags = {"--skill", skill(two_tools)};
  const Answer answer = call({"run_script", script("touch happened")}, flags);
  EXPECT_TRUE(
      refused_by(answer, "loadout", "run_script is not in the loadout; it has run_shell, write_artifact"));
  EXPECT_EQ(answer.ran.exit_code, 126);
  EXPECT_FALSE(fs::exists(workspace() / "happened"));
  // Arguments that would be refused on their own are not even spoken of.
  EXPECT_TRUE(refused_by(call({"run_script", "no JSON"}, flags), "loadout"));
}

TEST_P(Loadout, TheLibraryRefusesTheSame) {
  const auto answers = session(
      {{"run_script", script("touch happened")}, {"write_artifact", R"({"path": "a", "content": "b"})"}},
      {"--skill", skill(two_tools)});
  EXPECT_TRUE(refused_by(answers[0], "loadout"));
  EXPECT_TRUE(ended(answers[1], "exited"));
  EXPECT_FALSE(fs::exists(workspace() / "happened"));
  EXPECT_EQ(read_file(workspace() / "a"), "b");
}

TEST_P(Loadout, UnsetIsEveryToolAndAnEmptyListIsNone) {
  EXPECT_TRUE(ended(call({"run_python", code("1")}, {"--skill", skill("commands: passive")}), "exited"));
  const Words none = {"--skill", skill("tool_loadout: []")};
  EXPECT_TRUE(refused_by(call({"run_python", code("1")}, none), "loadout"));
  EXPECT_TRUE(listed("anthropic", none).array.empty());
}

TEST_P(Loadout, AnExecutorIsInItWhenNamed) {
  executor("mine", "print('{}')\n");
  Words flags = with_executors();
  EXPECT_TRUE(ended(call({"mine"}, flags), "exited"));
  flags.insert(flags.end(), {"--skill", skill("tool_loadout: [run_shell]")});
  EXPECT_TRUE(refused_by(call({"mine"}, flags), "loadout"));
  flags.back() = skill("tool_loadout: [mine]");
  EXPECT_TRUE(ended(call({"mine"}, flags), "exited"));
  EXPECT_EQ(names_in(listed("anthropic", flags).array), Words{"mine"});
}

TEST_P(Loadout, EveryFormatShowsTheLoadoutAlone) {
  const Words flags = {"--skill", skill(two_tools)};
  const Words expected = {"run_shell", "write_artifact"};
  EXPECT_EQ(names_in(listed("openai", flags).array, "function"), expected);
  EXPECT_EQ(names_in(listed("anthropic", flags).array), expected);
  EXPECT_EQ(names_in(listed("mcp", flags)["tools"].array), expected);
  const Ran table = cloche_words({"tools", "--skill", flags[1]});
  EXPECT_TRUE(exited(table, 0));
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 2) << table.out;
}

TEST_P(Loadout, OpenaiIsAListOfFunctions) {
  const auto tools = listed("openai", {}).array;
  ASSERT_EQ(tools.size(), 10U);
  for (const auto& tool : tools) {
    EXPECT_EQ(keys_of(tool), (std::set<std::string>{"type", "function"}));
    EXPECT_EQ(tool["type"].string, "function");
    EXPECT_EQ(keys_of(tool["function"]), (std::set<std::string>{"name", "description", "parameters"}));
    EXPECT_FALSE(tool["function"]["description"].string.empty());
    EXPECT_EQ(tool["function"]["parameters"]["type"].string, "object");
  }
}

TEST_P(Loadout, AnthropicIsAListOfTools) {
  const auto tools = listed("anthropic", {}).array;
  ASSERT_EQ(tools.size(), 10U);
  for (const auto& tool : tools) {
    EXPECT_EQ(keys_of(tool), (std::set<std::string>{"name", "description", "input_schema"}));
    EXPECT_EQ(tool["input_schema"]["type"].string, "object");
  }
}

TEST_P(Loadout, McpHasAnnotationsAndSchemas) {
  const Json list = listed("mcp", {});
  EXPECT_EQ(keys_of(list), std::set<std::string>{"tools"});
  ASSERT_EQ(list["tools"].array.size(), 10U);
  for (const auto& tool : list["tools"].array) {
    SCOPED_TRACE(tool["name"].string);
    EXPECT_TRUE(tool["description"].is(Kind::string));
    EXPECT_EQ(tool["inputSchema"]["type"].string, "object");
    EXPECT_FALSE(tool.has("outputSchema")) << "what the tools of Cloche give is text";
    for (const char* hint : {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
      EXPECT_TRUE(tool["annotations"][hint].is(Kind::boolean)) << hint;
    const bool both =
        tool["annotations"]["readOnlyHint"].boolean && tool["annotations"]["destructiveHint"].boolean;
    EXPECT_FALSE(both);
  }
}

TEST_P(Loadout, TheThreeAnswersStayApartToTheByte) {
  const struct {
    const char* command;
    const char* result;
    int exit_code;
  } rows[] = {
      {"ls 'x",
       "refused by shape: the call cannot be read: cmd: a single quote is not closed; send {\"cmd\": TEXT} "
       "or {\"argv\": [WORD, "
       "...]}, with "
       "profile, timeout_s, stdin or cwd if need be",
       126},
      {"no-such-program --version", "[INFO] tool 'no-such-program' not installed", 127},
      {"sh say.sh", "exit_code: 3\nstdout: to stdout\n\nstderr: to stderr\n", 3},
      {"sh lie.sh", "exit_code: 127\nstdout: [INFO] tool 'x' not installed\nstderr: ", 127},
  };
  file("say.sh", "echo to stdout; echo to stderr >&2; exit 3\n");
  file("lie.sh", "printf \"[INFO] tool 'x' not installed\"; exit 127\n");
  for (const auto& row : rows) {
    const std::string arguments = R"({"cmd": )" + quoted(row.command) + "}";
    const Ran ran = cloche_words({"call", "run_shell", arguments, "--commands", "any"});
    const std::string expected = row.result;
    EXPECT_EQ(ran.out, expected + (expected.ends_with('\n') ? "" : "\n")) << row.command;
    EXPECT_EQ(ran.exit_code, row.exit_code) << row.command;
    EXPECT_EQ(call({"run_shell", arguments}, {"--commands", "any"}).result(), expected);
  }
}

TEST_P(Loadout, TheNetworkIsRefusedWithItsReason) {
  EXPECT_TRUE(refused_by(call({"http_get", R"({"url": "http://127.0.0.1:1/"})"}), "network", "no network"));
}

FOR_EVERYONE(Loadout);

}  // namespace
}  // namespace cloche::test
