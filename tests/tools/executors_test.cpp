// What an executor has: its own code to read, and exactly what its capabilities declare and autonomy leaves.
// The golden file has, for every row of the capability table and every level, the decision and the whole
// plan: first what all of them have, then the rest of each. Only the system's own paths, of which every host
// has others, are left out of it; the test sees that they are the same in every plan. After a change that is
// meant: CLOCHE_UPDATE_GOLDEN=1 build/release/tests/tools_test
// --gtest_filter='*Golden*'
#include <cstdlib>
#include <fstream>
#include <optional>
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
  Json explained(const std::string& capabilities, const std::string& level, const Words& more = {}) {
    executor("tool", "print('{}')\n", {.capabilities = capabilities});
    Words words = {"explain",   "call",       "tool", "{}",    "--executors",
                   executors(), "--autonomy", level,  "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = cloche_words(words);
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

// What is another one on every host, for every caller and in every scene. Git inside is told of ids where
// root calls.
bool of_this_host(const std::string& key) {
  return key == "device" || key == "inode" || key == "owned" || key == "owner_uid" || key == "owner_gid" ||
         key == "uid" || key == "gid" || key == "GIT_CONFIG_SYSTEM";
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
    if (of_this_host(key)) continue;
    if (!value.is(Json::Kind::array)) lines.insert(key + " " + compact(value));
    for (const auto& item : value.array) lines.insert(key + " " + compact(item));
  }
  return lines;
}

using Lines = std::set<std::string>;

// Of the system's own: which of these there are is the host's affair. Where names lead is the plan's.
bool is_of_system(const std::string& line) {
  for (const char* own :
       {"target:/dev/shm", "target:/dev/mqueue", "target:/etc/hosts ", "target:/etc/resolv.conf "})
    if (contains(line, own)) return false;
  for (const char* root :
       {"/usr", "/bin", "/sbin", "/lib", "/opt", "/etc", "/dev", "/proc", "/sys", "/var/lib/dpkg"}) {
    const std::string target = std::string("target:") + root;
    if (line.starts_with("view ") && contains(line, target)) return true;
  }
  return false;
}

Lines system_part(const Lines& lines) {
  Lines part;
  for (const auto& line : lines)
    if (is_of_system(line)) part.insert(line);
  return part;
}

Lines lines_of_one_alone(const Lines& one, const Lines& other) {
  Lines alone;
  for (const auto& line : one)
    if (other.count(line) == 0) alone.insert(line);
  return alone;
}

std::string listed(const Lines& lines, const Lines& without, const std::string& indent) {
  std::string text;
  for (const auto& line : lines)
    if (without.count(line) == 0 && !is_of_system(line)) text += indent + line + "\n";
  return text;
}

Lines common_to(const std::vector<Lines>& plans) {
  Lines common = plans.front();
  for (const auto& plan : plans) {
    for (auto line = common.begin(); line != common.end();)
      line = plan.count(*line) == 0 ? common.erase(line) : std::next(line);
  }
  return common;
}

struct Row {
  std::string what;        // how it stands in the golden file
  std::string capability;  // empty: none
  Words flags = {};
};

// One row at one level.
struct Cell {
  std::string heading;  // the row and the level, the decision, and who objected
  std::optional<Lines> plan = {};
};

Cell cell_of(const Json& answer, const std::string& level) {
  Cell cell{"  " + level + ": " + answer["decision"].string + "\n"};
  for (const auto& gate : answer["gates"].array)
    if (gate["decision"].string != "allow")
      cell.heading += "    " + gate["gate"].string + ": " + gate["reason"].string + "\n";
  for (const auto& note : answer["notes"].array) cell.heading += "    note: " + note.string + "\n";
  if (answer["plan"].is(Json::Kind::object)) cell.plan = lines_of(answer["plan"]);
  return cell;
}

const char* const levels[] = {"readonly", "supervised", "full"};

TEST_P(Executors, GoldenPlansOfEachCapabilityAtEachLevel) {
  const std::string read_outside = "fs:read:" + outside() + "/**";
  const std::string write_outside = "fs:write:" + outside() + "/**";
  const std::string network = "network:https:api.example.org";
  const Row rows[] = {{"no capability", ""},
                      {"fs:read:./data/**", "fs:read:./data/**"},
                      {read_outside, read_outside},
                      {"fs:write:./data/**", "fs:write:./data/**"},
                      {write_outside, write_outside},
                      {network, network},
                      {network + ", --profile workspace-write", network, {"--profile", "workspace-write"}},
                      {write_outside + ", --profile readonly", write_outside, {"--profile", "readonly"}},
                      {"code:exec", "code:exec"},
                      {"mail:send:somebody", "mail:send:somebody"}};
  std::vector<Cell> cells;
  std::vector<Lines> plans;
  for (const auto& row : rows) {
    for (const char* level : levels) {
      const std::string list = row.capability.empty() ? "[]" : "[\"" + row.capability + "\"]";
      cells.push_back(cell_of(explained(list, level, row.flags), level));
      if (level == levels[0]) cells.back().heading.insert(0, row.what + "\n");
      if (cells.back().plan) plans.push_back(*cells.back().plan);
    }
  }
  ASSERT_FALSE(plans.empty());
  for (const auto& plan : plans) {
    EXPECT_EQ(lines_of_one_alone(system_part(plan), system_part(plans.front())), Lines());
    EXPECT_EQ(lines_of_one_alone(system_part(plans.front()), system_part(plan)), Lines());
  }
  const Lines common = common_to(plans);
  std::string text = "every plan\n" + listed(common, {}, "  ");
  for (const auto& cell : cells)
    text += cell.heading + (cell.plan ? listed(*cell.plan, common, "    ") : "    no plan\n");
  text = placeless(text);
  const std::string path = std::string(CLOCHE_GOLDEN_DIR) + "/executor-plans.txt";
  if (std::getenv("CLOCHE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, read_file(path)) << "when that is meant, CLOCHE_UPDATE_GOLDEN=1 writes it anew";
}

// What was approved by name is not asked about, and readonly refuses it all the same.
TEST_P(Executors, AnApprovedOneIsNotAskedAbout) {
  scene().write("home/.config/cloche/config.json", R"({"approved_executors": ["tool"]})");
  EXPECT_EQ(explained(R"(["code:exec"])", "readonly")["decision"].string, "deny");
  EXPECT_EQ(explained(R"(["code:exec"])", "supervised")["decision"].string, "allow");
  EXPECT_EQ(explained(R"(["code:exec"])", "full")["decision"].string, "allow");
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
