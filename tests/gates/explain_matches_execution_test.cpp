// What `cloche explain` says of a request is what happens to it: the same decision, the same answer of every
// gate, and the plan by its digest - in the answer, and in the record. A row is a request. What asks is
// refused at first, and done as it was explained once the operator has approved it; so only the gate of
// approval may differ.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "../run/json.hpp"
#include "harness/harness.hpp"

namespace cloche::test {
namespace {

using Words = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

// In words, variables and files @ is the scene's directory, in which `workspace` is the repository.
struct Request {
  Words words;  // `run FLAGS -- CMD` or `call TOOL ARGUMENTS FLAGS`
  std::string decision = "allow";
  std::string config = {};  // the user's
  Files files = {};         // beside and in the workspace, made before
  std::map<std::string, std::string> env = {};
  std::string umask = "022";
  Words before = {};  // a request that is made first
};

std::string placed(std::string text, const std::string& root) {
  for (size_t at = 0; (at = text.find('@', at)) != std::string::npos; at += root.size())
    text.replace(at, 1, root);
  return text;
}

constexpr const char* rules = R"({"permissions": {"rules": [
    {"tool": "run_shell", "args": {"cmd": "^touch"}, "action": "deny", "reason": "nothing is touched"},
    {"tool": "write_artifact", "args": {"path": "^docs/"}, "action": "deny", "reason": "no documents"},
    {"tool": "run_shell", "args": {"cmd": "^(echo|ls) ?.*$"}, "action": "allow"},
    {"tool": "write_artifact", "action": "allow"}], "default": "ask"}})";

constexpr const char* narrow = R"({"default_profile": "narrow", "profiles_dir": "@/profiles",
    "rules": [{"tool": "run_python", "profile": "readonly"}]})";
const Files narrow_files = {{"profiles/narrow.json", R"({"description": "Little.",
    "extends": "workspace-write-no-network", "ro": ["@/beside"], "limits": {"timeout": "20s", "pids": 50}})"},
                            {"beside/data", "of the data\n"}};

const Files beside = {{"beside/data", "of the data\n"}, {"other/file", "x\n"}};

std::string skill(const std::string& declared) {
  return "---\nname: test\ndescription: of a test\n" + declared + "\n---\nDo it.\n";
}

const Files executor = {{"executors/count/tool.py", "print('{\"n\": 1}')\n"},
                        {"executors/count/manifest.json", R"({"name": "count", "description": "Counts.",
    "code": "tool.py", "input_schema": {"type": "object"}, "output_schema": {"type": "object"},
    "capabilities": ["fs:read:./**"], "limits": {"timeout": "10s"}})"}};

const Words record_made = {"run", "--run", "@/recorded", "--", "true"};

// An operator's commands.
const std::vector<Request> commands = {
    {.words = {"run", "--", "true"}},
    {.words = {"run", "--", "/bin/sh", "-c", "exit 3"}},
    {.words = {"run", "--", "no-such-program"}},
    {.words = {"run", "--", "touch", "new"}},
    {.words = {"run", "--profile", "readonly", "--", "ls"}},
    {.words = {"run", "--profile", "workspace-write", "--", "ls"}},
    {.words = {"run", "--profile", "no-such", "--", "ls"}, .decision = "deny"},
    {.words = {"run", "--workspace", "@/other", "--", "ls"}, .files = beside},
    {.words = {"run", "--workspace", "@/absent", "--", "ls"}, .decision = "deny"},
    {.words = {"run", "--ro", "@/beside", "--", "ls"}, .files = beside},
    {.words = {"run", "--ro", "@/beside/data:/data", "--rw", "@/other", "--", "cat", "/data"},
     .files = beside},
    {.words = {"run", "--rw", "@/other:/elsewhere", "--", "touch", "/elsewhere/x"}, .files = beside},
    {.words = {"run", "--ro", "@/absent", "--", "ls"}, .decision = "deny"},
    // What an execution makes first, an explanation plans: the directory of the record, the home of a task.
    {.words = {"run", "--run", "@/recorded", "--", "true"}},
    {.words = {"run", "--run", "@/recorded", "--task", "T", "--", "true"}},
    {.words = {"run", "--ro", "@/beside", "--run", "@/absent/recorded", "--", "true"},
     .decision = "deny",
     .files = beside},
    {.words = {"run", "--workspace", "@/other", "--run", "@/recorded", "--", "true"},
     .files = beside,
     .before = record_made},
    {.words = {"run", "--task", "T", "--", "true"}},
    {.words = {"run", "--task", "T", "--", "true"}, .before = {"run", "--task", "T", "--", "true"}},
    {.words = {"run", "--task", "T", "--", "true"}, .decision = "ask", .config = rules},
    {.words = {"run", "--task", "T", "-C", "/tmp", "--", "true"}},
    {.words = {"run", "-C", "absent", "--", "ls"}, .decision = "deny"},
    {.words = {"run", "-C", "a.txt", "--", "ls"}, .decision = "deny"},
    {.words = {"run", "-C", "/tmp/absent", "--", "ls"}, .decision = "deny"},
    {.words = {"run", "-C", "/home", "--", "ls"}},
    {.words = {"run", "-C", "src", "--", "ls"}},
    {.words = {"run", "-e", "A=1", "-e", "B", "--", "env"}, .env = {{"B", "2"}}},
    {.words = {"run", "-e", "A_TOKEN", "--", "env"}, .env = {{"A_TOKEN", "2"}}},
    {.words = {"run", "--timeout", "5s", "--memory", "256M", "--pids", "20", "--", "true"}},
    {.words = {"run", "--fsize", "1M", "--nofile", "64", "--disk", "1M", "--files", "10", "--", "true"}},
    {.words = {"run", "--cpu", "3", "--tmp", "8M", "--output", "1M", "--", "true"}},
    {.words = {"run", "--timeout", "300ms", "--", "sleep", "20"}},
    {.words = {"run", "--view", "host", "--", "true"}},
    {.words = {"run", "--toolchains", "none", "--", "true"}},
    {.words = {"run", "--grant", "debug", "--", "true"}},
    {.words = {"run", "--allow-protected", ".envrc", "--", "touch", ".envrc"}},
    {.words = {"run", "--net", "localhost:9", "--", "true"}},
    {.words = {"run", "--net", "example.org", "--net-bytes", "1M", "--", "true"}},
    {.words = {"run", "--net-any", "--", "true"}},
    {.words = {"run", "--net-host", "--", "true"}},
    {.words = {"run", "--isolation", "subprocess", "--", "true"}},
    {.words = {"run", "--backend", "subprocess", "--", "true"}},
    {.words = {"run", "--run", "@/recorded", "--", "true"}, .before = record_made},
    {.words = {"run", "--skill", "@/SKILL.md", "--", "ls"},
     .files = {{"SKILL.md", skill("pass_env: [B]\ncapabilities: [\"fs:read:@/beside/**\"]")},
               {"beside/data", "x\n"}},
     .env = {{"B", "2"}}},
    {.words = {"run", "--skill", "@/SKILL.md", "--", "ls"},
     .files = {{"SKILL.md", skill("limits: {timeout: 9s}\ntool_loadout: [run_shell]")}}},
    {.words = {"run", "--", "ls"}, .config = R"({"limits": {"timeout": "9s", "memory": "300M"}})"},
    {.words = {"run", "--", "ls"}, .config = R"({"autonomy": "readonly"})"},
    {.words = {"run", "--net", "example.org", "--", "ls"},
     .decision = "deny",
     .config = R"({"autonomy": "readonly"})"},
    {.words = {"run", "--", "ls"}, .config = R"({"default_profile": "readonly"})"},
    {.words = {"run", "--", "cat", "@/beside/data"}, .config = narrow, .files = narrow_files},
    {.words = {"run", "--", "ls"}, .config = R"({"isolation": "subprocess"})"},
    {.words = {"run", "--", "ls"}, .config = R"({"missing": "degrade"})"},
    {.words = {"run", "--", "echo", "fine"}, .config = rules},
    {.words = {"run", "--", "touch", "new"}, .decision = "deny", .config = rules},
    {.words = {"run", "--", "uname"}, .decision = "ask", .config = rules},
    {.words = {"run", "--run", "@/recorded", "--ro", "@/beside", "--", "uname"},
     .decision = "ask",
     .config = rules,
     .files = beside,
     .before = record_made},
    {.words = {"run", "--run", "@/recorded", "--", "touch", "new"},
     .decision = "deny",
     .config = rules,
     .before = record_made},
    {.words = {"run", "--", "ls"}, .decision = "deny", .config = R"({"limitz": {}})"},
    {.words = {"run", "--", "ls"},
     .files = {{"workspace/.cloche/config.json", R"({"limits": {"pids": 40}})"}}},
    {.words = {"run", "--", "ls"},
     .decision = "deny",
     .files = {{"workspace/.cloche/config.json",
                R"({"permissions": {"rules": [{"tool": "*", "action": "deny", "reason": "no"}]}})"}}},
    {.words = {"run", "--", "ls"}, .env = {{"CLOCHE_SANDBOX", "off"}}},
    {.words = {"run", "--", "ls"}, .config = R"({"enabled": false})"},
};

// A model's calls: every shipped tool, every way of judging its words.
const std::vector<Request> calls = {
    {.words = {"call", "run_shell", R"({"cmd": "ls -la"})"}},
    {.words = {"call", "run_shell", R"({"argv": ["cat", "a.txt"]})"}},
    {.words = {"call", "run_shell", R"({"argv": ["cat", "../../etc/passwd"]})"}, .decision = "deny"},
    {.words = {"call", "run_shell", R"({"cmd": "python3 -m py_compile a.py"})"}},
    {.words = {"call", "run_shell", R"({"cmd": "git log"})"}, .decision = "deny"},
    {.words = {"call", "run_shell", R"({"cmd": "git log"})", "--commands", "any"}},
    {.words = {"call", "run_shell", R"({"cmd": "ls", "cwd": "src"})"}},
    {.words = {"call", "run_shell", R"({"cmd": "ls", "cwd": "../other"})"},
     .decision = "deny",
     .files = beside},
    {.words = {"call", "run_shell", R"({"cmd": "ls", "timeout_s": 7})"}},
    {.words = {"call", "run_shell", R"({"cmd": "cat", "stdin": "text"})", "--commands", "any"}},
    {.words = {"call", "run_shell", R"({"cmd": "python3 a.py"})"}, .decision = "deny"},
    {.words = {"call", "run_shell", R"({"cmd": "python3 a.py", "profile": "full"})"}},
    {.words = {"call", "run_shell", R"({"cmd": "python3 a.py"})", "--commands", "full"}},
    {.words = {"call", "run_shell", R"({"cmd": "ls | wc"})"}, .decision = "deny"},
    {.words = {"call", "run_shell", R"({"cmd": "ls | wc"})", "--commands", "any"}},
    {.words = {"call", "run_shell", R"({"cmd": "ls | wc", "profile": "any"})", "--commands", "any"}},
    {.words = {"call", "run_shell", R"({"argv": ["make"], "profile": "any"})", "--commands", "any"}},
    {.words = {"call", "run_shell", R"({"argv": ["no-such-program"], "profile": "any"})", "--commands",
               "any"}},
    {.words = {"call", "run_shell", R"({"cmd": "rm a.txt"})"}, .decision = "deny"},
    {.words = {"call", "run_shell", "{"}, .decision = "deny"},
    {.words = {"call", "run_shell", R"({"cmd": 1})"}, .decision = "deny"},
    {.words = {"call", "no_such_tool", "{}"}, .decision = "deny"},
    {.words = {"call", "run_shell_command", R"({"command": "ls"})"}},
    {.words = {"call", "run_python", R"x({"code": "print(1)"})x"}},
    {.words = {"call", "run_python", R"x({"code": "while True: pass", "timeout_s": 1})x"}},
    {.words = {"call", "run_script", R"({"code": "echo 1 > made", "interpreter": "bash"})"}},
    {.words = {"call", "run_script", R"x({"code": "print(1)", "interpreter": "python3"})x"}},
    {.words = {"call", "run_script", R"x({"code": "console.log(1)", "interpreter": "node"})x"}},
    {.words = {"call", "run_script", R"({"code": "echo", "interpreter": "perl"})"}, .decision = "deny"},
    {.words = {"call", "write_artifact", R"({"path": "out/new.md", "content": "x\n"})"}},
    {.words = {"call", "write_artifact", R"({"path": "a.txt", "content": "x\n"})"}},
    {.words = {"call", "write_artifact", R"({"path": "../x", "content": ""})"}, .decision = "deny"},
    {.words = {"call", "write_artifact", R"({"path": ".git/hooks/pre-commit", "content": ""})"},
     .decision = "deny"},
    {.words = {"call", "write_artifact", R"({"path": ".github/x.yml", "content": ""})"}, .decision = "deny"},
    {.words = {"call", "edit_artifact", R"({"path": "a.txt", "old": "some", "new": "other"})"}},
    {.words = {"call", "edit_artifact", R"({"path": "a.txt", "old": "absent", "new": "other"})"}},
    {.words = {"call", "read_artifact", R"({"path": "a.txt"})"}},
    {.words = {"call", "read_artifact", R"({"path": "absent"})"}},
    {.words = {"call", "read_artifact", R"({"path": "/etc/passwd"})"}, .decision = "deny"},
    {.words = {"call", "list_artifacts", "{}"}},
    {.words = {"call", "list_artifacts", R"({"path": "src", "glob": "*.py"})"}},
    {.words = {"call", "search_artifacts", R"({"pattern": "text"})"}},
    {.words = {"call", "search_artifacts", R"({"pattern": "("})"}, .decision = "deny"},
    {.words = {"call", "read_tool_result", R"({"call_id": "c-0001"})"}},
    {.words = {"call", "http_get", R"({"url": "http://localhost:9/"})"}, .decision = "deny"},
    {.words = {"call", "http_get", R"({"url": "http://localhost:9/"})", "--net", "localhost:9"},
     .decision = "ask"},
    {.words = {"call", "http_get", R"({"url": "http://localhost:9/"})", "--net", "localhost:9", "--autonomy",
               "full"}},
    {.words = {"call", "count", "{}", "--executors", "@/executors"}, .files = executor},
    {.words = {"call", "count", "{}"}, .config = R"({"executors_dir": "@/executors"})", .files = executor},
    {.words = {"call", "count", "[]", "--executors", "@/executors"}, .decision = "deny", .files = executor},
    {.words = {"call", "run_shell", R"({"argv": ["cat", "@/beside/data"]})", "--ro", "@/beside"},
     .files = beside},
    {.words = {"call", "run_script", R"({"code": "touch @/other/x", "interpreter": "bash"})", "--rw",
               "@/other"},
     .files = beside},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--pass-env", "B"}, .env = {{"B", "2"}}},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--pass-env", "A_TOKEN"}, .env = {{"A_TOKEN", "2"}}},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--autonomy", "readonly"}},
    {.words = {"call", "write_artifact", R"({"path": "x", "content": ""})", "--autonomy", "readonly"},
     .decision = "deny"},
    {.words = {"call", "run_script", R"({"code": "true", "interpreter": "bash"})", "--autonomy", "full"}},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--isolation", "subprocess"}},
    {.words = {"call", "run_python", R"x({"code": "print(1)"})x", "--isolation", "subprocess"}},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--pids", "30", "--memory", "200M", "--timeout",
               "9s"}},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--profile", "readonly"}},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--profile", "no-such"}, .decision = "deny"},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--workspace", "@/other"}, .files = beside},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--run", "@/recorded"}},
    {.words = {"call", "write_artifact", R"({"path": "x", "content": ""})", "--run", "@/recorded"},
     .before = record_made},
    {.words = {"call", "run_shell", R"({"cmd": "cat absent"})", "--run", "@/recorded"}},
    {.words = {"call", "run_script", R"({"code": "true", "interpreter": "bash"})", "--task", "T"}},
    {.words = {"call", "count", "{}", "--executors", "@/executors", "--task", "T"}, .files = executor},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--run", "@/recorded"}, .before = record_made},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})"}, .config = rules},
    {.words = {"call", "run_shell", R"({"cmd": "cat a.txt"})"}, .decision = "ask", .config = rules},
    {.words = {"call", "run_script", R"({"code": "true", "interpreter": "bash"})"},
     .decision = "ask",
     .config = rules},
    {.words = {"call", "write_artifact", R"({"path": "docs/x", "content": ""})"},
     .decision = "deny",
     .config = rules},
    {.words = {"call", "write_artifact", R"({"path": "src/x", "content": ""})"}, .config = rules},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})"},
     .config = R"({"limits": {"timeout": "9s", "memory": "300M"}})"},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})"}, .config = narrow, .files = narrow_files},
    {.words = {"call", "run_python", R"x({"code": "print(1)"})x"}, .config = narrow, .files = narrow_files},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})"}, .decision = "deny", .config = R"({"limitz": {}})"},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})"},
     .files = {{"workspace/.cloche/config.json", R"({"limits": {"pids": 40}})"}}},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--skill", "@/SKILL.md"},
     .files = {{"SKILL.md", skill("tool_loadout: [run_shell]\ncommands: passive\npass_env: [B]\n"
                                  "limits: {timeout: 9s}")}},
     .env = {{"B", "2"}}},
    {.words = {"call", "run_script", R"({"code": "true", "interpreter": "bash"})", "--skill", "@/SKILL.md"},
     .decision = "deny",
     .files = {{"SKILL.md", skill("tool_loadout: [run_shell]")}}},
    {.words = {"call", "run_script", R"({"code": "true", "interpreter": "bash"})", "--skill", "@/SKILL.md"},
     .files = {{"SKILL.md", skill("capabilities: [\"fs:write:./src/**\", \"code:exec\"]")}}},
    {.words = {"call", "write_artifact", R"({"path": "x", "content": ""})", "--skill", "@/SKILL.md"},
     .decision = "deny",
     .files = {{"SKILL.md", skill("capabilities: [\"fs:write:./src/**\"]")}}},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})", "--skill", "@/absent.md"}, .decision = "deny"},
    {.words = {"call", "run_shell", R"({"cmd": "ls"})"}, .umask = "077"},
    {.words = {"run", "--", "true"}, .umask = "077"},
};

class ExplainMatchesExecution : public testing::TestWithParam<As> {
 protected:
  // The request in a repository of its own; Cloche's state is one for all, so that each shape of plan proves
  // itself once.
  class Place {
   public:
    Place(const Request& request, const fs::path& state, As as)
        : request_(request), state_(state), as_(as), scene_(as) {
      for (const char* name : {"a.txt", "a.py", "src/b.py"})
        scene_.write(std::string("workspace/") + name, "text = 'some'\n");
      scene_.write("workspace/Makefile", "all:\n\t@true\n");
      const std::string commit =
          "git init -q && git add . && git -c user.name=t -c user.email=t@t commit -qm t";
      const Ran made = test::run({.argv = {"/bin/sh", "-c", commit}, .as = as_, .cwd = scene_.workspace()});
      EXPECT_EQ(made.exit_code, 0) << made.err;
      for (const auto& [name, text] : request_.files) scene_.write(name, placed(text, root()));
      if (!request_.config.empty())
        scene_.write("config/cloche/config.json", placed(request_.config, root()));
      if (!request_.before.empty()) (void)cloche(request_.before);
    }
    std::string root() const { return scene_.root().string(); }
    Ran cloche(const Words& words) const {
      Words argv = {"/bin/sh", "-c", "umask " + request_.umask + " && exec \"$0\" \"$@\"", test::cloche()};
      for (const auto& word : words) argv.push_back(placed(word, root()));
      std::map<std::string, std::string> env = request_.env;
      env["XDG_CONFIG_HOME"] = root() + "/config";
      env["XDG_STATE_HOME"] = state_.string();
      return test::run({.argv = argv, .as = as_, .cwd = scene_.workspace(), .env = env});
    }

   private:
    const Request& request_;
    fs::path state_;
    As as_;
    Scene scene_;
  };

  Json answer(const Place& place, Words words, const std::string& first = {}) {
    // Behind -- nothing is a flag.
    words.insert(words[0] == "run" ? words.begin() + 1 : words.end(), "--json");
    if (!first.empty()) words.insert(words.begin(), first);
    const Ran ran = place.cloche(words);
    const auto json = parse_json(ran.out);
    EXPECT_TRUE(json) << ran.out << ran.err;
    return json.value_or(Json{});
  }

  // Each gate but that of approval, which is answered in between.
  static std::vector<std::string> gates(const Json& list, const Words& keys) {
    std::vector<std::string> lines;
    for (const auto& gate : list.array) {
      if (gate["gate"].string == "approval") continue;
      std::string line;
      for (const auto& key : keys) line += key + "=" + gate[key].string + " ";
      lines.push_back(line);
    }
    return lines;
  }
  static Words strings(const Json& list) {
    Words texts;
    for (const auto& text : list.array) texts.push_back(text.string);
    return texts;
  }

  static std::string shown(const Request& request) {
    std::string text;
    for (const auto& word : request.words) text += word + " ";
    return text + (request.config.empty() ? "" : "under " + request.config);
  }

  // Of the record's last line.
  std::optional<Json> recorded(const Place& place, const std::string& run) {
    const Ran ran = place.cloche({"log", "show", run, "--json"});
    const size_t end = ran.out.find_last_not_of('\n');
    if (end == std::string::npos) return std::nullopt;
    const size_t begin = ran.out.rfind('\n', end);
    return parse_json(std::string_view(ran.out).substr(begin == std::string::npos ? 0 : begin + 1));
  }

  void check_record(const Place& place, const std::string& run, const Json& explained,
                    const std::string& decision) {
    const auto line = recorded(place, run);
    ASSERT_TRUE(line) << "no record of " << run;
    const Words keys = {"gate", "decision", "reason", "rule"};
    EXPECT_EQ(gates((*line)["verdicts"], keys), gates(explained["gates"], keys));
    EXPECT_EQ((*line)["decision"].string, decision);
    if (decision == "allow") {
      EXPECT_EQ((*line)["plan_digest"].string, explained["plan_digest"].string);
    }
  }

  // With the answer that the refusal asks for.
  static void approve(const Place& place, const Json& refused) {
    const std::string before = "waiting for approval ";
    const std::string reason = refused["reason"].string;
    const size_t at = reason.find(before);
    ASSERT_NE(at, std::string::npos) << reason;
    const std::string id = reason.substr(at + before.size(), reason.find(':', at) - at - before.size());
    const Ran ran = place.cloche({"approve", "yes", id});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  }

  void check_command(const Place& place, const Request& request, const Json& explained) {
    Words dry = request.words;
    dry.insert(dry.begin() + 1, "--dry-run");
    const Json dried = answer(place, dry);
    EXPECT_EQ(dried["decision"].string, explained["decision"].string);
    const Words keys = {"gate", "decision", "reason", "rule", "fix", "instead"};
    EXPECT_EQ(gates(dried["gates"], keys), gates(explained["gates"], keys));
    EXPECT_EQ(dried["plan_digest"].string, explained["plan_digest"].string);
    EXPECT_EQ(strings(dried["notes"]), strings(explained["notes"]));

    check_done_command(place, request, explained, request.decision == "allow" ? "allow" : "deny");
    if (request.decision == "ask") check_done_command(place, request, explained, "allow");
  }

  void check_done_command(const Place& place, const Request& request, const Json& explained,
                          const std::string& decision) {
    const Json done = answer(place, request.words);
    const std::string outcome = done["outcome"].string;
    EXPECT_EQ(outcome != "refused" && outcome != "failed", decision == "allow") << done["reason"].string;
    if (decision == "allow") {
      EXPECT_EQ(done["plan_digest"].string, explained["plan_digest"].string);
    }
    EXPECT_EQ(strings(done["notes"]), strings(explained["notes"]));
    if (request.words[1] == "--run")
      check_record(place, placed(request.words[2], place.root()), explained, decision);
    if (request.decision == "ask" && decision == "deny") approve(place, done);
  }

  void check_call(const Place& place, const Request& request, const Json& explained) {
    check_done_call(place, request, explained, request.decision == "allow" ? "allow" : "deny");
    if (request.decision == "ask") check_done_call(place, request, explained, "allow");
  }

  void check_done_call(const Place& place, const Request& request, const Json& explained,
                       const std::string& decision) {
    const Json done = answer(place, request.words);
    EXPECT_EQ(done["decision"].string, decision) << done["reason"].string;
    const Words keys = {"gate", "decision", "reason", "rule", "fix", "instead"};
    EXPECT_EQ(gates(done["gates"], keys), gates(explained["gates"], keys));
    EXPECT_EQ(strings(done["notes"]), strings(explained["notes"]));
    if (decision == "allow") {
      EXPECT_EQ(done["plan_digest"].string, explained["plan_digest"].string);
    }
    const bool named = request.words.back() == "@/recorded";
    const std::string run = named ? placed(request.words.back(), place.root()) : done["run_id"].string;
    // What could not be judged at all may have no record: no gate has answered.
    EXPECT_EQ(run.empty(), explained["gates"].array.empty());
    if (!run.empty()) check_record(place, run, explained, decision);
    if (request.decision == "ask" && decision == "deny") approve(place, done);
  }

  void check(const Request& request) {
    const Place place(request, state.root() / "state", GetParam());
    check_in(place, request);
  }

  void check_in(const Place& place, const Request& request) {
    SCOPED_TRACE(shown(request));
    const Json explained = answer(place, request.words, "explain");
    EXPECT_EQ(explained["decision"].string, request.decision) << explained["reason"].string;
    EXPECT_EQ(explained["plan_digest"].string.starts_with("sha256:"), request.decision != "deny");
    request.words[0] == "run" ? check_command(place, request, explained)
                              : check_call(place, request, explained);
  }

  Scene state{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Everyone, ExplainMatchesExecution, testing::ValuesIn(identities()),
                         [](const auto& given) { return name_of(given.param); });

TEST_P(ExplainMatchesExecution, OfCommands) {
  for (const auto& request : commands) check(request);
}

TEST_P(ExplainMatchesExecution, OfCalls) {
  for (const auto& request : calls) check(request);
}

// The kernel leaves out a mount of the host below the workspace for root alone. For an ordinary user the plan
// covers it, and one approval is enough.
TEST_P(ExplainMatchesExecution, WithAMountOfTheHostInTheWorkspace) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount here";
  ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  for (const Request& request :
       {Request{.words = {"run", "--live", "--", "true"}},
        Request{.words = {"run", "--live", "--", "uname"}, .decision = "ask", .config = rules}}) {
    const Place place(request, state.root() / "state", GetParam());
    const std::string below = place.root() + "/workspace/src";
    ASSERT_EQ(::mount("none", below.c_str(), "tmpfs", 0, nullptr), 0);
    check_in(place, request);
    EXPECT_EQ(::umount2(below.c_str(), MNT_DETACH), 0);
  }
}

}  // namespace
}  // namespace cloche::test
