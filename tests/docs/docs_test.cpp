// Documents are true: the commands in them are run and must print what stands below them, and what the
// reference lists is what --help lists.
//
// In a ```console block a line that begins with "$ " is a command; the lines below it are its output, stdout
// and stderr together, with "(exit code N)" last when that is not 0. "..." stands for any text within a line,
// and alone for any lines. Blanks at the end of a line cannot be seen in a document and are not compared.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <regex>
#include <sstream>

#include "harness/harness.hpp"
#include "store/config/settings.hpp"
#include "store/record/record.hpp"

namespace cloche::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct Example {
  std::string command;
  std::vector<std::string> expected;
};

std::vector<Example> examples_in(const fs::path& document) {
  std::vector<Example> examples;
  bool inside = false;
  for (const auto& line : lines_of(read_file(document))) {
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && line.starts_with("$ ")) {
      examples.push_back({line.substr(2), {}});
    } else if (inside && !examples.empty()) {
      examples.back().expected.push_back(line);
    }
  }
  return examples;
}

std::string without_last_blanks(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

bool line_matches(const std::string& pattern, const std::string& line) {
  size_t at = 0;
  size_t begin = 0;
  while (true) {
    const size_t dots = pattern.find("...", begin);
    const std::string part = pattern.substr(begin, dots == std::string::npos ? dots : dots - begin);
    const size_t found = line.find(part, at);
    if (found == std::string::npos || (begin == 0 && found != 0)) return false;
    at = found + part.size();
    if (dots == std::string::npos) return at == line.size() || part.empty();
    begin = dots + 3;
  }
}

bool matches(const std::vector<std::string>& expected, const std::vector<std::string>& printed) {
  if (expected.size() == 1 && expected[0] == "...") return true;
  if (expected.size() != printed.size()) return false;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!line_matches(without_last_blanks(expected[i]), without_last_blanks(printed[i]))) return false;
  }
  return true;
}

const std::string system_path = std::string(CLOCHE_TEST_BIN_DIR) + ":/usr/bin:/bin";

// `instead`: words of the commands, and what is used in their place.
void expect_examples_hold(const fs::path& document, As as, const fs::path& directory, size_t at_least,
                          std::map<std::string, std::string> env = {},
                          const std::map<std::string, std::string>& instead = {}) {
  const auto examples = examples_in(document);
  ASSERT_GE(examples.size(), at_least);
  env.insert({"PATH", system_path});
  for (const auto& example : examples) {
    std::string command = example.command;
    for (const auto& [word, used] : instead) command = std::regex_replace(command, std::regex(word), used);
    const Ran ran =
        run({.argv = {"sh", "-c", "{ " + command + "; } 2>&1"}, .as = as, .cwd = directory, .env = env});
    auto printed = lines_of(ran.out);
    if (ran.exit_code != 0) printed.push_back("(exit code " + std::to_string(ran.exit_code) + ")");
    EXPECT_TRUE(matches(example.expected, printed)) << "$ " << example.command << "\n"
                                                    << ran.out << "exit " << ran.exit_code;
  }
}

// The first block of this language.
std::string code_in(const fs::path& document, const std::string& language) {
  const std::string text = read_file(document);
  const std::string fence = "```" + language + "\n";
  const size_t begin = text.find(fence);
  if (begin == std::string::npos) return {};
  return text.substr(begin + fence.size(), text.find("```", begin + fence.size()) - begin - fence.size());
}

class Documents : public testing::TestWithParam<As> {};

TEST_P(Documents, CommandsOfTheReadmePrintWhatStandsThere) {
  Scene project(GetParam());
  project.write("workspace/build.py",
                "print(\"built:\", sum(range(10)))\nopen(\"result.txt\", \"w\").write(\"45\\n\")\n");
  expect_examples_hold(fs::path(CLOCHE_SOURCE_DIR) / "README.md", GetParam(), project.workspace(), 6,
                       {{"XDG_STATE_HOME", project.root() / "state"}});
}

// A mirror of npm's registry and a git server on the loopback, at ports that were free.
class LoopbackServers {
 public:
  LoopbackServers(As as, const fs::path& repositories)
      : servers_({.argv = {"python3", std::string(CLOCHE_SOURCE_DIR) + "/tests/docs/loopback_servers.py",
                           repositories.string()},
                  .as = as,
                  .cwd = repositories.string(),
                  .input = ""}) {
    std::string line;
    for (char c = 0; ::read(servers_.output(), &c, 1) == 1 && c != '\n';) line += c;
    std::istringstream(line) >> registry_ >> git_;
  }
  std::string registry() const { return registry_; }
  std::string git() const { return git_; }

 private:
  Started servers_;
  std::string registry_ = {};
  std::string git_ = {};
};

TEST_P(Documents, CommandsOfTheRecipesPrintWhatStandsThere) {
  Scene scene(GetParam());
  const fs::path document = fs::path(CLOCHE_SOURCE_DIR) / "docs/recipes.md";
  scene.write("home/.local/bin/claude", "#!/bin/sh\n[ \"$ANTHROPIC_API_KEY\" = key-1 ] && echo done\n", 0755);
  scene.write("home/.local/bin/codex", "#!/bin/sh\n[ \"$OPENAI_API_KEY\" = key-2 ] && echo done\n", 0755);
  scene.write("workspace/.venv/bin/pip", "#!/bin/sh\necho Successfully installed six-1.17.0\n", 0755);
  scene.write("workspace/test_sum.py",
              "import unittest\n\n\nclass Sum(unittest.TestCase):\n    def test_sum(self):\n"
              "        self.assertEqual(sum(range(10)), 45)\n");
  scene.write("workspace/config.json", code_in(document, "json"));
  const auto outside = [&](const std::string& script) {
    return run({.argv = {"sh", "-c", script}, .as = GetParam(), .cwd = scene.workspace()});
  };
  const Ran made = outside(
      "git init -q --bare ../remote.git && git init -q . && git -c user.name=A -c user.email=a@example.org "
      "commit -q --allow-empty -m one && " +
      cloche() + " config check config.json");
  ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
  const LoopbackServers servers(GetParam(), scene.root());
  ASSERT_NE(servers.git(), "");
  const std::string home = (scene.root() / "home").string();
  expect_examples_hold(document, GetParam(), scene.workspace(), 14,
                       {{"PATH", home + "/.local/bin:" + system_path},
                        {"HOME", home},
                        {"XDG_STATE_HOME", scene.root() / "state"},
                        {"ANTHROPIC_API_KEY", "key-1"},
                        {"OPENAI_API_KEY", "key-2"}},
                       {{"4873", servers.registry()}, {"9418", servers.git()}});
}

TEST_P(Documents, CommandsOfTheSkillsPrintWhatStandsThere) {
  Scene project(GetParam());
  expect_examples_hold(fs::path(CLOCHE_SOURCE_DIR) / "docs/skills.md", GetParam(), project.workspace(), 6);
}

TEST_P(Documents, CommandsOfTheLadderPrintWhatStandsThere) {
  if (run({.argv = {"bwrap", "--version"}}).exit_code != 0) GTEST_SKIP() << "skipped: bwrap is not installed";
  Scene project(GetParam());
  expect_examples_hold(fs::path(CLOCHE_SOURCE_DIR) / "docs/ladder.md", GetParam(), project.workspace(), 5,
                       {{"XDG_STATE_HOME", project.root() / "state"}});
}

TEST_P(Documents, CommandsOfTheReferencePrintWhatStandsThere) {
  Scene scene(GetParam());
  expect_examples_hold(fs::path(CLOCHE_SOURCE_DIR) / "docs/configuration.md", GetParam(), scene.root(), 6);
}

TEST_P(Documents, CommandsOfTheMcpServerPrintWhatStandsThere) {
  Scene scene(GetParam());
  expect_examples_hold(fs::path(CLOCHE_SOURCE_DIR) / "docs/mcp.md", GetParam(), scene.workspace(), 5,
                       {{"XDG_STATE_HOME", scene.root() / "state"}});
}

std::string shipped_skill(const std::string& name) {
  return read_file(fs::path(CLOCHE_SOURCE_DIR) / "skills" / name / "SKILL.md");
}

TEST_P(Documents, CommandsOfTheToolsPrintWhatStandsThere) {
  Scene scene(GetParam());
  scene.write("skills/coding/SKILL.md", shipped_skill("coding"));
  expect_examples_hold(fs::path(CLOCHE_SOURCE_DIR) / "docs/tools.md", GetParam(), scene.root(), 25);
}

TEST_P(Documents, CommandsAboutApprovalsAndTheHookPrintWhatStandsThere) {
  for (const char* name : {"docs/approvals.md", "docs/hook.md"}) {
    Scene project(GetParam());
    project.write("home/.profile", "");
    expect_examples_hold(fs::path(CLOCHE_SOURCE_DIR) / name, GetParam(), project.workspace(), 8,
                         {{"HOME", project.root() / "home"}});
  }
}

TEST_P(Documents, CommandsOfTheProfilesPrintWhatStandsThere) {
  Scene project(GetParam());
  const fs::path document = fs::path(CLOCHE_SOURCE_DIR) / "docs/profiles.md";
  project.write("workspace/quick.json", code_in(document, "json"));
  expect_examples_hold(document, GetParam(), project.workspace(), 5);
}

// The loops of the README, with clients that answer as the two APIs do and a model that follows a script.
TEST_P(Documents, LoopsOfTheReadmeCarryAScriptedModel) {
  Scene scene(GetParam());
  const std::string loops = code_in(fs::path(CLOCHE_SOURCE_DIR) / "README.md", "python");
  ASSERT_FALSE(loops.empty());
  scene.write("loops.py", loops);
  scene.write("scripted_clients.py",
              read_file(fs::path(CLOCHE_SOURCE_DIR) / "tests/docs/scripted_clients.py"));
  const Ran ran = run({.argv = {"python3", "scripted_clients.py"},
                       .as = GetParam(),
                       .cwd = scene.root(),
                       .env = {{"PATH", std::string(CLOCHE_TEST_BIN_DIR) + ":/usr/bin:/bin"}}});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out, "openai: done\nanthropic: done\n");
}

TEST_P(Documents, ProgramOfTheReadmeGetsItsAnswer) {
  Scene scene(GetParam());
  const fs::path program = fs::path(CLOCHE_TEST_BIN_DIR) / "readme_program";
  const Ran ran = run({.argv = {program.string()}, .as = GetParam(), .cwd = scene.root()});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

// A run of two calls, one of which a gate refused.
void write_run(const std::string& directory) {
  const auto place = place_given_run(directory, "");
  ASSERT_TRUE(place.ok()) << describe(place.error());
  const auto record = Run::open(place.value(), Durability::buffered);
  ASSERT_TRUE(record.ok()) << describe(record.error());
  const auto write = [&](const DecisionRecord& decided, End end, const std::string& result) {
    CallRecord call{.decided = decided, .call_id = record.value()->begin(decided).value(), .result = result};
    call.outcome.end = end;
    call.outcome.exit_code = end == End::exited ? 0 : 126;
    ASSERT_TRUE(record.value()->finish(call, result).ok());
  };
  DecisionRecord decided{.task_id = "T-001", .role = "coder", .tool = "run_shell", .args = R"({"cmd":"ls"})"};
  decided.decision = Decision::allow;
  write(decided, End::exited, "exit_code: 0\nstdout: add.py\nstderr: ");
  decided.args = R"({"cmd":"ls | sh"})";
  decided.decision = Decision::deny;
  decided.verdicts = {{GateId::no_shell, Decision::deny, "unquoted |: one command, no shell", "", ""}};
  write(decided, End::refused, "refused");
}

TEST(Record, CommandsOfItsPagePrintWhatStandsThere) {
  Scene scene(As::self);
  write_run(scene.root() / "run1");
  expect_examples_hold(fs::path(CLOCHE_SOURCE_DIR) / "docs/record.md", As::self, scene.root(), 6);
}

INSTANTIATE_TEST_SUITE_P(As, Documents, testing::ValuesIn(identities()),
                         [](const auto& given) { return std::string(name_of(given.param)); });

std::string help_of(const std::string& command) {
  const Ran ran = run({.argv = {cloche(), command, "--help"}});
  EXPECT_EQ(ran.exit_code, 0);
  return ran.out;
}

TEST(Reference, ListsTheFlagsOfHelp) {
  const std::string help = help_of("run") + help_of("call");
  const std::string reference = read_file(fs::path(CLOCHE_SOURCE_DIR) / "docs/configuration.md");
  const std::regex flag("--[a-z][a-z-]+");
  size_t seen = 0;
  for (std::sregex_iterator at(help.begin(), help.end(), flag), end; at != end; ++at, ++seen) {
    EXPECT_NE(reference.find(at->str()), std::string::npos)
        << at->str() << " is in --help and not in the reference";
  }
  EXPECT_GT(seen, 20U);
  const std::regex table_flag("^\\| `(--[a-z-]+)");
  for (const auto& line : lines_of(reference)) {
    std::smatch found;
    if (std::regex_search(line, found, table_flag)) {
      EXPECT_NE(help.find(found[1].str()), std::string::npos)
          << found[1] << " is in the reference and not in --help";
    }
  }
}

TEST(Reference, HasTheDefaultsOfHelp) {
  const std::string reference = read_file(fs::path(CLOCHE_SOURCE_DIR) / "docs/configuration.md");
  const std::regex row("(--[a-z-]+) (?:TIME|SIZE|N) +.*\\(default ([^)]+)\\)");
  size_t seen = 0;
  const std::string help = help_of("run");
  for (std::sregex_iterator at(help.begin(), help.end(), row), end; at != end; ++at, ++seen) {
    const std::regex documented("\\| `" + (*at)[1].str() + "` \\|[^|]*\\| " + (*at)[2].str() + " \\|");
    EXPECT_TRUE(std::regex_search(reference, documented)) << (*at)[1] << " defaults to " << (*at)[2];
  }
  EXPECT_EQ(seen, 16U);
}

// What stands below a heading of the reference as a configuration is one that Cloche takes.
TEST(Reference, ItsSettingsAreTaken) {
  const std::string reference = read_file(fs::path(CLOCHE_SOURCE_DIR) / "docs/configuration.md");
  Scene scene(As::self);
  scene.write("reference.md", reference.substr(reference.find("## Settings")));
  const std::string settings = code_in(scene.root() / "reference.md", "json");
  for (const char* key : {"dotfiles", "durable", "executors_dir", "secret_grants", "approved_executors"})
    EXPECT_NE(settings.find(key), std::string::npos) << key;
  for (const auto& row : settings_table()) {
    const std::string cell = "| `" + std::string(row.key) + "` |";
    EXPECT_TRUE(row.key == "permissions" || reference.find(cell) != std::string::npos) << row.key;
  }
  scene.write("executors/word-count/manifest.json",
              R"({"name": "word-count", "description": "counts", "input_schema": {}, "code": "tool.py"})");
  scene.write("executors/word-count/tool.py", "#!/usr/bin/python3\nprint('{}')\n", 0755);
  const std::string here = (scene.root() / "executors").string();
  scene.write("config/cloche/config.json",
              std::regex_replace(settings, std::regex("/srv/cloche/executors"), here));
  const Ran ran = run({.argv = {cloche(), "tools"},
                       .cwd = scene.workspace(),
                       .env = {{"XDG_CONFIG_HOME", (scene.root() / "config").string()}}});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("word-count"), std::string::npos) << ran.out;
}

TEST(Commands, TheExampleInTheGrammarHolds) {
  const std::string text = read_file(fs::path(CLOCHE_SOURCE_DIR) / "docs/commands.md");
  const size_t begin = text.find("```json\n");
  ASSERT_NE(begin, std::string::npos);
  Scene scene(As::self);
  scene.write("example.json", text.substr(begin + 8, text.find("```", begin + 8) - begin - 8));
  const Ran ran = run({.argv = {cloche(), "test", "example.json"}, .cwd = scene.root()});
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  EXPECT_NE(ran.out.find("all hold"), std::string::npos) << ran.out;
}

// The table of the document is the one that decides (policy/authority/authority.hpp), which a golden file
// has.
TEST(Skills, TheTableOfAutonomyIsTheOneInUse) {
  const std::string document = read_file(fs::path(CLOCHE_SOURCE_DIR) / "docs/skills.md");
  const auto golden = lines_of(read_file(fs::path(CLOCHE_SOURCE_DIR) / "tests/golden/capabilities.txt"));
  ASSERT_GE(golden.size(), 7U);
  for (size_t row = 1; row < 7; ++row)
    EXPECT_NE(document.find("| " + golden[row] + " |\n"), std::string::npos) << golden[row];
}

TEST(Links, LeadToWhatExists) {
  std::vector<std::string> names = {"README.md", "SECURITY.md", "CHANGELOG.md"};
  for (const auto& entry : fs::directory_iterator(fs::path(CLOCHE_SOURCE_DIR) / "docs")) {
    if (entry.path().extension() == ".md") names.push_back("docs/" + entry.path().filename().string());
  }
  EXPECT_GT(names.size(), 20U);
  for (const std::string& name : names) {
    const fs::path document = fs::path(CLOCHE_SOURCE_DIR) / name;
    const std::string text = read_file(document);
    ASSERT_FALSE(text.empty()) << name;
    const std::regex link("\\]\\(([^)#:]+)\\)");
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      EXPECT_TRUE(fs::exists(document.parent_path() / (*at)[1].str())) << name << " links to " << (*at)[1];
    }
  }
}

TEST(Tour, NamesFilesThatExist) {
  const std::string text = read_file(fs::path(CLOCHE_SOURCE_DIR) / "docs/tour.md");
  const std::regex file(
      "`((?:base|jail|model|policy|tools|confine|store|gateway|doors|app)/[a-z_]+\\.[ch]pp)`");
  size_t seen = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), file), end; at != end; ++at, ++seen) {
    EXPECT_TRUE(fs::exists(fs::path(CLOCHE_SOURCE_DIR) / "src" / (*at)[1].str())) << (*at)[1];
  }
  EXPECT_GT(seen, 10U);
}

}  // namespace
}  // namespace cloche::test
