// The protected set and tool calls: what a call made of it is gone before the model has its answer, which
// says so; and no model can ask to be let.
#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class ProtectedCalls : public Tools {
 protected:
  fs::path run_place() const { return scene_root() / "run"; }
  static std::vector<std::string> withheld(const Json& json) {
    std::vector<std::string> paths;
    for (const auto& change : json["changes"]["paths"].array)
      if (change["verdict"].string == "withheld") paths.push_back(change["path"].string);
    return paths;
  }
};
using Paths = std::vector<std::string>;

TEST_P(ProtectedCalls, TheAnswerSaysWhatWasWithheld) {
  const Answer answer = call({"run_script", script("echo evil > .envrc; echo done")});
  EXPECT_TRUE(contains(answer.result(), "stdout: done\n")) << answer.result();
  EXPECT_TRUE(contains(answer.result(), "not in the project: .envrc: direnv runs it")) << answer.result();
  EXPECT_EQ(withheld(answer.json), Paths{".envrc"});
  EXPECT_FALSE(fs::exists(workspace() / ".envrc"));
}

TEST_P(ProtectedCalls, TheRecordHasIt) {
  const Answer answer =
      call({"run_script", script("mkdir -p a; echo evil > a/.mcp.json")}, {"--run", run_place()});
  EXPECT_EQ(withheld(answer.json), Paths{"a/.mcp.json"});
  const auto lines = json_lines(run_place() / "artifacts/tool_calls/main.jsonl");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["changes"]["withheld"].array.at(0)["path"].string, "a/.mcp.json");
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(ProtectedCalls, LiveTheRunKeepsAndRecordsIt) {
  const Answer answer =
      call({"run_script", script("echo evil > .mcp.json")}, {"--run", run_place(), "--live"});
  ASSERT_EQ(answer.json["quarantined"].array.size(), 1U);
  const fs::path kept = run_place() / "quarantine" / answer.text("call_id") / "1/.mcp.json";
  EXPECT_EQ(answer.json["quarantined"].array[0]["kept_at"].string, kept.string());
  EXPECT_EQ(read_file(kept), "evil\n");
  const auto lines = json_lines(run_place() / "artifacts/tool_calls/main.jsonl");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["quarantined"].array.at(0)["path"].string, ".mcp.json");
  EXPECT_TRUE(verified(run_place()));
  const Answer again = call({"run_script", script("cat " + kept.string())}, {"--run", run_place()});
  EXPECT_NE(again.exit_code(), 0);
}

TEST_P(ProtectedCalls, EveryCallOfASessionIsJudgedOnItsOwn) {
  const auto answers = session({{"run_script", script("echo 1 > .envrc")},
                                {"run_script", script("echo 2 > fine")},
                                {"run_script", script("echo 3 > .envrc")}});
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(withheld(answers[0].json), Paths{".envrc"});
  EXPECT_EQ(withheld(answers[1].json), Paths{});
  EXPECT_EQ(withheld(answers[2].json), Paths{".envrc"});
}

TEST_P(ProtectedCalls, AnExecutorsAnswerSaysItToo) {
  const std::string left = workspace() / "data/.envrc";
  executor("leaver", "import json\nopen('" + left + "', 'w').write('evil')\nprint(json.dumps({}))\n",
           {.capabilities = R"(["fs:write:./data/**", "code:exec"])"});
  file("data/there", "x\n");
  Words flags = with_executors();
  flags.insert(flags.end(), {"--autonomy", "full"});
  const Answer answer = call({"leaver", "{}"}, flags);
  EXPECT_TRUE(contains(answer.result(), "not in the project: data/.envrc")) << answer.result();
  EXPECT_FALSE(fs::exists(workspace() / "data/.envrc"));
}

// By its name it is a file like any other.
TEST_P(ProtectedCalls, NoFileToolWritesWhatGitExecutes) {
  NEEDS("git");
  ASSERT_TRUE(
      exited(outside("git init -q .; git config core.hooksPath hk; git config include.path ../shared; "
                     "mkdir hk; echo exit > hk/pre-commit; git init -q --bare bare"),
             0));
  for (const Words& mode : {Words{}, Words{"--live"}}) {
    for (const char* path : {"hk/pre-commit", "hk/new", "shared", "bare/config", "bare/hooks/post-receive"}) {
      const Answer wrote =
          call({"write_artifact", R"({"path": ")" + std::string(path) + R"(", "content": "x"})"}, mode);
      EXPECT_EQ(wrote.exit_code(), 1) << path;
      EXPECT_TRUE(contains(wrote.result(), "not in the project: " + std::string(path))) << wrote.result();
    }
  }
  const Answer edited = call({"edit_artifact", R"({"path": "hk/pre-commit", "old": "exit", "new": "evil"})"});
  EXPECT_EQ(edited.exit_code(), 1);
  EXPECT_EQ(read_file(workspace() / "hk/pre-commit"), "exit\n");
  EXPECT_EQ(call({"write_artifact", R"({"path": "hk2/pre-commit", "content": "x"})"}).exit_code(), 0);
  EXPECT_EQ(call({"write_artifact", R"({"path": "hk/new", "content": "x"})"}, {"--allow-protected", "hk"})
                .exit_code(),
            0);
}

TEST_P(ProtectedCalls, OnlyTheOperatorLetsItGo) {
  EXPECT_TRUE(
      refused_by(call({"run_script", R"({"code": "true", "interpreter": "bash", "allow_protected": ["."]})"}),
                 "schema"));
  const Answer answer = call({"run_script", script("echo new > .envrc")}, {"--allow-protected", ".envrc"});
  EXPECT_EQ(withheld(answer.json), Paths{});
  EXPECT_EQ(read_file(workspace() / ".envrc"), "new\n");
}

FOR_EVERYONE(ProtectedCalls);

}  // namespace
}  // namespace cloche::test
