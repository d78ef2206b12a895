// Two readers, two texts: what an agent's model reads of a refusal names no flag, no command of Cloche's and
// no place of a rule; the operator finds all of it.
#include <regex>

#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class ModelReads : public Hook {
 protected:
  ModelReads() {
    rules(R"({"default": "ask", "rules": [
      {"tool": "run_*", "args": {"cmd": "^rm"}, "action": "deny"},
      {"tool": "run_*", "args": {"code": "^rm"}, "action": "deny", "reason": "nothing is deleted here"},
      {"tool": "run_script", "args": {"code": "^deploy"}, "action": "ask", "approver": "operator"},
      {"tool": "write_artifact", "args": {"path": "secret"}, "action": "deny"},
      {"tool": "http_get", "action": "allow"},
      {"tool": "run_python", "action": "allow"}]})");
  }
  ::testing::AssertionResult names_no_way_around(const std::string& text) const {
    static const std::regex flags(" --(ro|rw|net|profile|autonomy|commands|isolation|skill|memory)");
    static const std::regex commands(
        "cloche (approve|run|call|hook|log|config|explain|doctor|test|changes|diff|undo)");
    static const std::regex places("[.]json|permissions[.]|[.]config|[.]local");
    for (const auto* pattern : {&flags, &commands, &places})
      if (std::regex_search(text, *pattern)) return ::testing::AssertionFailure() << text;
    return ::testing::AssertionSuccess();
  }
};

TEST_P(ModelReads, NoWayAroundInWhatACallIsAnswered) {
  const Call calls[] = {
      {"run_shell", R"({"cmd": "rm -rf build", "profile": "full"})"},
      {"run_shell", R"({"argv": ["rm", "x"]})"},
      {"run_shell", R"({"cmd": "ls | wc"})"},
      {"run_shell", R"({"cmd": "cat /etc/passwd"})"},
      {"run_shell", R"({"cmd": "python3 x.py"})"},
      {"run_shell", R"({"cmd": "cat a", "nonsense": 1})"},
      {"run_shell", "{"},
      {"run_script", script("rm -rf build")},
      {"run_script", script("deploy now")},
      {"run_script", script("anything else")},
      {"write_artifact", R"({"path": ".git/hooks/x", "content": ""})"},
      {"write_artifact", R"({"path": "secret", "content": ""})"},
      {"write_artifact", R"({"path": ".env", "content": ""})"},
      {"write_artifact", R"({"path": "/etc/x", "content": ""})"},
      {"http_get", R"({"url": "http://example.org/"})"},
      {"no_such_tool", "{}"},
  };
  for (const auto& one : calls) {
    const Answer answer = call(one);
    EXPECT_TRUE(answer.result().starts_with("refused by ")) << answer.result();
    EXPECT_TRUE(names_no_way_around(answer.result()));
  }
  const Answer denied =
      call({"run_shell", R"({"argv": ["rm", "x"], "profile": "any"})"}, {"--commands", "any"});
  EXPECT_TRUE(contains(denied.result(), "the operator forbids it, so do not try")) << denied.result();
}

TEST_P(ModelReads, NoWayAroundInWhatTheHookAnswers) {
  const std::pair<const char*, const char*> calls[] = {
      {"Bash", R"({"command": "rm -rf build"})"},
      {"Bash", R"({"command": "deploy now"})"},
      {"Bash", R"({"command": "make"})"},
      {"Write", R"({"file_path": "secret", "content": ""})"},
      {"Read", R"({"file_path": "/etc/passwd"})"},
      {"Write", R"({"file_path": "/etc/x", "content": ""})"},
      {"WebFetch", R"({"url": "http://a.example"})"},
      {"Nonsense", R"({})"},
      {"mcp__x__y", R"({})"},
      {"Read", R"({"file_path": 3})"},
      {"apply_patch", R"({"command": "*** Nonsense"})"},
  };
  for (const auto& [tool, input] : calls) {
    const HookSaid said = hook(tool, input);
    if (said.decision.empty()) continue;
    EXPECT_NE(said.decision, "allow") << tool << input;
    EXPECT_TRUE(names_no_way_around(said.reason)) << tool << input;
  }
  const HookSaid denied = hook("Bash", R"({"command": "rm -rf build"})");
  EXPECT_TRUE(contains(denied.reason, "nothing is deleted here; the operator forbids it")) << denied.reason;
}

TEST_P(ModelReads, AConfigurationThatCannotBeReadIsNotShown) {
  scene().write("home/.config/cloche/config.json", "{\"nonsense\": 1}");
  const Ran ran = hook_bytes(call_of("Bash", R"({"command": "true"})"));
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(contains(ran.err, "tell the user")) << ran.err;
  EXPECT_TRUE(names_no_way_around(ran.err));
}

TEST_P(ModelReads, TheOperatorFindsAllOfIt) {
  const Answer denied = call({"run_shell", R"({"argv": ["rm", "x"]})"});
  EXPECT_TRUE(contains(denied.ran.out, "config.json:")) << denied.ran.out;
  EXPECT_TRUE(contains(denied.ran.out, "cmd matching ^rm")) << denied.ran.out;
  const Ran explained =
      cloche_in_state({"explain", "call", "run_shell", R"({"argv": ["rm", "x"]})", "--commands", "any"});
  EXPECT_TRUE(contains(explained.out, "fix     change ")) << explained.out;
  const Ran log = cloche_in_state({"log", "show", "last"});
  EXPECT_TRUE(contains(log.out, "config.json:")) << log.out;
}

FOR_EVERYONE(ModelReads);

}  // namespace
}  // namespace cloche::test
