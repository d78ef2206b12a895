// What an executor has: its own code to read, and exactly what its capabilities declare and autonomy leaves.
// The golden file has, for every row of the capability table and every level, the decision and what the plan
// has more or less than that of an executor without capabilities.
// After a change that is meant: CLOCHE_UPDATE_GOLDEN=1 build/release/tests/tools_test
// --gtest_filter='*Golden*'
#include <cstdlib>
#include <fstream>
#include <set>

#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Executors : public Tools {
 protected:
  Executors() {
    scene().write("workspace/data/file", "of the workspace\n");
    scene().write("outside/file", "of elsewhere\n");
  }
  std::string outside() const { return (scene_root() / "outside").string(); }
  Answer asked(const std::string& python, const Manifest& manifest, Words more = {"--autonomy", "full"}) {
    executor("tool", python, manifest);
    const Words flags = with_executors();
    more.insert(more.end(), flags.begin(), flags.end());
    return call({"tool"}, more);
  }
  Json explained(const std::string& capabilities, const std::string& level) {
    executor("tool", "print('{}')\n", {.capabilities = capabilities});
    const Ran ran = cloche_words(
        {"explain", "call", "tool", "{}", "--executors", executors(), "--autonomy", level, "--json"});
    auto json = parse_json(ran.out);
    EXPECT_TRUE(json) << ran.out << ran.err;
    return json.value_or(Json{});
  }
  // The same for every scene.
  std::string placeless(std::string text) const {
    const std::string root = scene_root();
    for (size_t at = text.find(root); at != std::string::npos; at = text.find(root, at))
      text.replace(at, root.size(), "@");
    return text;
  }
};

// What is another one on every host and in every scene.
bool of_this_host(const std::string& key) {
  return key == "device" || key == "inode" || key == "owned" || key == "owner_uid" || key == "owner_gid";
}

std::string compact(const Json& value) {
  switch (value.kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::boolean: return value.boolean ? "true" : "false";
    case Json::Kind::number: return std::to_string(static_cast<long long>(value.number));
    case Json::Kind::string: return value.string;
    case Json::Kind::array: {
      std::string text;
      for (const auto& item : value.array) text += (text.empty() ? "" : " ") + compact(item);
      return "[" + text + "]";
    }
    case Json::Kind::object: {
      std::string text;
      for (const auto& [key, member] : value.object)
        if (!of_this_host(key)) text += (text.empty() ? "" : " ") + key + ":" + compact(member);
      return "{" + text + "}";
    }
  }
  return {};
}

// One line for each thing that a plan says: of a list, for each item.
std::set<std::string> lines_of(const Json& plan) {
  std::set<std::string> lines;
  for (const auto& [key, value] : plan.object) {
    if (!value.is(Json::Kind::array)) lines.insert(key + " " + compact(value));
    for (const auto& item : value.array) lines.insert(key + " " + compact(item));
  }
  return lines;
}

std::string difference(const std::set<std::string>& before, const std::set<std::string>& after) {
  std::string text;
  for (const auto& line : before)
    if (after.count(line) == 0) text += "    - " + line + "\n";
  for (const auto& line : after)
    if (before.count(line) == 0) text += "    + " + line + "\n";
  return text;
}

const char* const levels[] = {"readonly", "supervised", "full"};

TEST_P(Executors, GoldenEachCapabilityChangesExactlyWhatItShould) {
  const std::string rows[] = {"",
                              "fs:read:./data/**",
                              "fs:read:" + outside() + "/**",
                              "fs:write:./data/**",
                              "fs:write:" + outside() + "/**",
                              "network:https:api.example.org",
                              "code:exec",
                              "mail:send:somebody"};
  const auto bare = lines_of(explained("[]", "supervised")["plan"]);
  ASSERT_FALSE(bare.empty());
  std::string text;
  for (const auto& row : rows) {
    text += (row.empty() ? "no capability" : row) + "\n";
    for (const char* level : levels) {
      const Json answer = explained(row.empty() ? "[]" : "[\"" + row + "\"]", level);
      text += std::string("  ") + level + ": " + answer["decision"].string + "\n";
      for (const auto& gate : answer["gates"].array)
        if (gate["decision"].string != "allow")
          text += "    " + gate["gate"].string + ": " + gate["reason"].string + "\n";
      for (const auto& note : answer["notes"].array) text += "    note: " + note.string + "\n";
      text += answer["plan"].is(Json::Kind::object) ? difference(bare, lines_of(answer["plan"]))
                                                    : "    no plan\n";
    }
  }
  text = placeless(text);
  const std::string path = std::string(CLOCHE_GOLDEN_DIR) + "/executor-plans.txt";
  if (std::getenv("CLOCHE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, read_file(path)) << "when that is meant, CLOCHE_UPDATE_GOLDEN=1 writes it anew";
}

TEST_P(Executors, WithNothingDeclaredThereIsNothing) {
  const Answer answer = asked(
      "import json, os\n"
      "print(json.dumps({'workspace': os.path.exists('" +
          workspace().string() + "'), 'outside': os.path.exists('" + outside() +
          "'), 'home': os.listdir(os.path.expanduser('~'))}))\n",
      {});
  EXPECT_EQ(answer.result(), "{\"workspace\": false, \"outside\": false, \"home\": []}\n");
}

TEST_P(Executors, TheCodeDirectoryIsReadOnly) {
  const Answer answer = asked(
      "import json, os\n"
      "here = os.path.dirname(os.path.abspath(__file__))\n"
      "done = []\n"
      "for name in ['tool.py', 'manifest.json', 'new']:\n"
      "    try: open(here + '/' + name, 'a').write('x'); done.append(name)\n"
      "    except OSError: pass\n"
      "try: os.rename(here, here + '2'); done.append('rename')\n"
      "except OSError: pass\n"
      "print(json.dumps({'changed': done, 'reads': len(open(__file__).read()) > 0}))\n",
      {.capabilities = R"(["fs:write:./data/**", "code:exec"])"});
  EXPECT_EQ(answer.result(), "{\"changed\": [], \"reads\": true}\n");
  EXPECT_FALSE(fs::exists(executors() / "tool/new"));
}

const char* const reads_and_writes =
    "import json, sys\n"
    "said = {}\n"
    "for path in PATHS:\n"
    "    try: said['read'] = open(path).read()\n"
    "    except OSError: said['read'] = None\n"
    "    try: open(path, 'a').write('x'); said['wrote'] = True\n"
    "    except OSError: said['wrote'] = False\n"
    "print(json.dumps(said))\n";

std::string on(const std::string& path) {
  std::string program = reads_and_writes;
  return program.replace(program.find("PATHS"), 5, "['" + path + "']");
}

TEST_P(Executors, APathIsReadOrWrittenAsDeclared) {
  const std::string in_workspace = workspace() / "data/file";
  const std::string elsewhere = outside() + "/file";
  const struct {
    std::string capability;
    const char* level;
    std::string path;
    bool reads;
    bool writes;
  } rows[] = {
      {"fs:read:./data/**", "full", in_workspace, true, false},
      {"fs:write:./data/**", "full", in_workspace, true, true},
      {"fs:write:./data/**", "supervised", in_workspace, true, true},
      {"fs:write:./data/**", "readonly", in_workspace, true, false},
      {"fs:read:./data/**", "full", elsewhere, false, false},
      {"fs:read:" + outside() + "/**", "readonly", elsewhere, true, false},
      {"fs:write:" + outside() + "/**", "full", elsewhere, true, true},
      {"fs:write:" + outside() + "/**", "readonly", elsewhere, true, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.capability + " at " + row.level + ": " + row.path);
    const Answer answer =
        asked(on(row.path), {.capabilities = "[\"" + row.capability + "\"]"}, {"--autonomy", row.level});
    EXPECT_TRUE(ended(answer, "exited"));
    EXPECT_EQ(answer.json["structured"]["read"].is(Json::Kind::string), row.reads);
    EXPECT_EQ(answer.json["structured"]["wrote"].boolean, row.writes);
  }
}

TEST_P(Executors, WhatSupervisedAsksIsDeniedWithNobodyThere) {
  for (const std::string& capability : {"fs:write:" + outside() + "/**", std::string("code:exec")}) {
    const Answer answer =
        asked("print('{}')\n", {.capabilities = "[\"" + capability + "\"]"}, {"--autonomy", "supervised"});
    EXPECT_TRUE(refused_by(answer, "approval")) << capability;
  }
}

TEST_P(Executors, WhatTheOperatorApprovedByNameIsNotAsked) {
  scene().write("home/.config/cloche/config.json", R"({"approved_executors": ["tool"]})");
  EXPECT_TRUE(ended(
      asked("print('{}')\n", {.capabilities = R"(["code:exec"])"}, {"--autonomy", "supervised"}), "exited"));
}

TEST_P(Executors, WithoutCodeExecNothingItWroteRuns) {
  const std::string runs_its_own =
      "import json, os, subprocess\n"
      "path = os.path.expanduser('~/own.sh')\n"
      "open(path, 'w').write('#!/bin/sh\\nexit 0\\n'); os.chmod(path, 0o755)\n"
      "try: code = subprocess.run([path]).returncode\n"
      "except OSError: code = -1\n"
      "print(json.dumps({'code': code}))\n";
  EXPECT_EQ(asked(runs_its_own, {}).result(), "{\"code\": -1}\n");
  EXPECT_EQ(asked(runs_its_own, {.capabilities = R"(["code:exec"])"}).result(), "{\"code\": 0}\n");
}

TEST_P(Executors, TheArgumentsComeByStdinAndAreCheckedFirst) {
  scene().write("executors/adder/tool.py",
                "import json, sys\na = json.load(sys.stdin)\nprint(json.dumps({'sum': a['x'] + a['y']}))\n");
  scene().write(
      "executors/adder/manifest.json",
      R"({"name": "adder", "description": "adds", "code": "tool.py", "input_schema": {"type": "object",
                "required": ["x", "y"], "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}},
                "output_schema": {"type": "object", "properties": {"sum": {"type": "integer"}}}})");
  EXPECT_EQ(call({"adder", R"({"x": 2, "y": 3})"}, with_executors()).result(), "{\"sum\": 5}\n");
  EXPECT_TRUE(refused_by(call({"adder", R"({"x": 2})"}, with_executors()), "schema"));
  EXPECT_TRUE(refused_by(call({"adder", R"({"x": 2, "y": "3"})"}, with_executors()), "schema"));
}

TEST_P(Executors, OneInTheWorkspaceOnlyTightens) {
  file("tools/tool/tool.py", on(outside() + "/file"));
  file(
      "tools/tool/manifest.json",
      R"({"name": "tool", "description": "a project's", "code": "tool.py", "input_schema": {"type": "object"},
       "capabilities": ["fs:write:)" +
          outside() + R"(/**"]})");
  const Answer answer = call({"tool"}, {"--executors", workspace() / "tools", "--autonomy", "full"});
  EXPECT_EQ(answer.result(), "{\"read\": null, \"wrote\": false}\n");
  ASSERT_FALSE(answer.json["notes"].array.empty());
  EXPECT_TRUE(
      contains(answer.json["notes"].array[0].string, "what came with a project stays in the workspace"));
}

TEST_P(Executors, OneBadManifestRefusesAll) {
  executor("good", "print('{}')\n");
  scene().write("executors/bad/manifest.json", "{\"name\": \"bad\",\n \"colour\": 1}");
  const Ran ran = cloche_words({"call", "good", "{}", "--executors", executors()});
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_TRUE(contains(ran.err, "bad/manifest.json:2")) << ran.err;
}

FOR_EVERYONE(Executors);

}  // namespace
}  // namespace cloche::test
