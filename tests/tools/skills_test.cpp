// What a skill declares reaches the plan: both spellings alike, an operator's up to the ceiling, a project's
// only to tighten.
#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Skills : public Tools {
 protected:
  Skills() {
    scene().write("notes/note.txt", "a note\n");
    scene().write("workspace/out/.keep", "");
  }
  std::string notes() const { return (scene_root() / "notes").string(); }
  Answer shell(const std::string& command, const std::string& skill_file, const Words& more = {},
               const Command& how = {}) const {
    Words flags = {"--skill", skill_file};
    flags.insert(flags.end(), more.begin(), more.end());
    return call({"run_script", script(command)}, flags, how);
  }
  std::string digest(const std::string& skill_file, const Call& asked) const {
    const Ran ran =
        cloche_words({"explain", "call", asked.tool, asked.arguments, "--skill", skill_file, "--json"});
    const auto json = parse_json(ran.out);
    EXPECT_TRUE(json) << ran.out << ran.err;
    return json ? (*json)["plan_digest"].string : "";
  }
};

bool noted(const Answer& answer, const std::string& words) {
  for (const auto& note : answer.json["notes"].array)
    if (contains(note.string, words)) return true;
  return false;
}

TEST_P(Skills, BothSpellingsGiveTheSamePlan) {
  const std::string ours = skill(
      "tool_loadout: [run_shell, run_script]\ncommands: full\npass_env: [LANG, CI]\ncapabilities: "
      "[\"fs:read:" +
      notes() + "/**\", \"fs:write:./out/**\", \"code:exec\"]");
  const Call asked = {"run_script", script("true")};
  const std::string first = digest(ours, asked);
  const std::string strict = skill(
      "metadata:\n  cloche.tool_loadout: \"run_shell, run_script\"\n  cloche.commands: \"full\"\n"
      "  cloche.pass_env: \"LANG CI\"\n  cloche.capabilities: '[\"fs:read:" +
      notes() + "/**\", \"fs:write:./out/**\", \"code:exec\"]'");
  EXPECT_EQ(digest(strict, asked), first);
  EXPECT_TRUE(first.starts_with("sha256:")) << first;
  // The control: another skill has another plan.
  EXPECT_NE(digest(skill("capabilities: [\"code:exec\"]"), asked), first);
}

TEST_P(Skills, AnOperatorsReadsWhatItNames) {
  const std::string read = "cat " + notes() + "/note.txt";
  const std::string operators = skill("capabilities: [\"fs:read:" + notes() + "/**\", \"code:exec\"]");
  EXPECT_EQ(shell(read, operators).result(), "exit_code: 0\nstdout: a note\n\nstderr: ");
  EXPECT_TRUE(
      contains(shell("echo x > " + notes() + "/note.txt", operators).result(), "Read-only file system"));
  EXPECT_EQ(read_file(notes() + "/note.txt"), "a note\n");
  EXPECT_NE(shell(read, skill("capabilities: [\"code:exec\"]")).exit_code(), 0);
}

TEST_P(Skills, AProjectsStaysInTheWorkspaceAndTheRecordSaysSo) {
  const std::string project =
      project_skill("pass_env: [CI]\ncapabilities: [\"fs:read:" + notes() + "/**\", \"code:exec\"]");
  const Answer answer =
      shell("cat " + notes() + "/note.txt; echo CI=$CI", project, {}, {.env = {{"CI", "yes"}}});
  EXPECT_TRUE(contains(answer.result(), "No such file or directory"));
  EXPECT_TRUE(contains(answer.result(), "CI=\n"));
  EXPECT_TRUE(noted(answer, "is dropped: what came with a project stays in the workspace"));
  EXPECT_TRUE(noted(answer, "pass_env CI is left out"));
}

TEST_P(Skills, AnOperatorsWidensUpToTheCeilingAndAProjectsDoesNot) {
  const Call full = {"run_shell", R"({"cmd": "python3 -c 'print(1)'", "profile": "full"})"};
  EXPECT_TRUE(ended(call(full, {"--skill", skill("commands: full")}), "exited"));
  EXPECT_TRUE(refused_by(call(full, {"--skill", skill("commands: passive")}), "shape"));
  EXPECT_TRUE(refused_by(call(full, {"--skill", skill("commands: full"), "--commands", "passive"}), "shape"));
  EXPECT_TRUE(
      refused_by(call(full, {"--skill", project_skill("commands: full"), "--commands", "passive"}), "shape"));
  const Ran any = cloche_words({"tools", "--skill", skill("commands: any")});
  EXPECT_EQ(any.exit_code, 125) << any.out;
}

TEST_P(Skills, TheWorkspaceIsReadOnlyButForWhatItWrites) {
  const std::string writes = skill("capabilities: [\"fs:write:./out/**\", \"code:exec\"]");
  const Answer answer = shell("echo in > out/file; echo top > top; cat out/file", writes);
  EXPECT_EQ(
      answer.result(),
      "exit_code: 0\nstdout: in\n\nstderr: /run/cloche/script.sh: line 1: top: Read-only file system\n");
  EXPECT_EQ(read_file(workspace() / "out/file"), "in\n");
  EXPECT_FALSE(fs::exists(workspace() / "top"));
}

TEST_P(Skills, TheFileToolsWriteNowhereElseEither) {
  const Words flags = {"--skill", skill("capabilities: [\"fs:write:./out/*.md\"]")};
  const auto write = [&](const std::string& path) {
    return call({"write_artifact", R"({"path": )" + quoted(path) + R"(, "content": "x"})"}, flags);
  };
  EXPECT_TRUE(ended(write("out/a.md"), "exited"));
  EXPECT_TRUE(refused_by(write("out/a.txt"), "path", "declares as fs:write"));
  EXPECT_TRUE(refused_by(write("top.md"), "path", "declares as fs:write"));
  EXPECT_TRUE(fs::exists(workspace() / "out/a.md"));
  EXPECT_FALSE(fs::exists(workspace() / "top.md"));
}

TEST_P(Skills, ASecretShapedNameIsLeftOutAndTheRecordSaysSo) {
  const std::string passes = skill("pass_env: [CI, MY_API_KEY]\ncapabilities: [\"code:exec\"]");
  const fs::path run = scene_root() / "run";
  const Command how{.env = {{"CI", "yes"}, {"MY_API_KEY", "do not show"}}};
  const Answer answer = shell("echo CI=$CI KEY=$MY_API_KEY; env", passes, {"--run", run}, how);
  EXPECT_TRUE(contains(answer.result(), "CI=yes KEY=\n"));
  EXPECT_FALSE(contains(answer.result(), "do not show"));
  const auto lines = json_lines(run / "artifacts/tool_calls/main.jsonl");
  ASSERT_EQ(lines.size(), 1U);
  ASSERT_EQ(lines[0]["notes"].array.size(), 1U);
  EXPECT_EQ(lines[0]["notes"].array[0].string, "pass_env MY_API_KEY is left out: it looks like a secret");
}

TEST_P(Skills, WithoutCodeExecNoScriptRuns) {
  EXPECT_TRUE(ended(call({"run_script", script("true")}), "exited"));
  const Answer answer = shell("touch happened", skill("capabilities: [\"fs:read:" + notes() + "\"]"));
  EXPECT_TRUE(ended(answer, "refused"));
  EXPECT_TRUE(contains(answer.result(), "code:exec")) << answer.result();
  EXPECT_FALSE(fs::exists(workspace() / "happened"));
}

TEST_P(Skills, TheSecretSetAndWideHintsAreErrors) {
  for (const char* hint :
       {"~/.ssh/**", "~/.ssh", "~/**", "/**", "/", "/tmp/**", "~/.aws/credentials", "../**"}) {
    const std::string bad = skill(std::string("capabilities: [\"fs:read:") + hint + "\"]");
    const Ran ran = cloche_words({"call", "run_python", code("print('ran')"), "--skill", bad});
    EXPECT_EQ(ran.exit_code, 125) << hint;
    EXPECT_FALSE(contains(ran.out, "stdout: ran")) << hint << ran.out;
  }
}

TEST_P(Skills, TheSecretSetNeedsAGrantOfTheUsersAndAProjectsIsNone) {
  const std::string reads = skill("capabilities: [\"fs:read:~/.ssh/**\", \"code:exec\"]");
  const std::string read = script("cat " + (home() / ".ssh/id_ed25519").string());
  const std::string granted = R"({"secret_grants": ["~/.ssh"]})";
  file(".cloche/config.json", granted);
  EXPECT_EQ(cloche_words({"call", "run_script", read, "--skill", reads}).exit_code, 125);
  fs::remove_all(workspace() / ".cloche");
  scene().write("home/.config/cloche/config.json", granted);
  EXPECT_EQ(call({"run_script", read}, {"--skill", reads}).result(),
            "exit_code: 0\nstdout: the key of the caller\n\nstderr: ");
}

TEST_P(Skills, AWrongTypeRefusesAndAnUnknownKeyWarns) {
  const Ran wrong = cloche_words({"tools", "--skill", skill("tool_loadout: 3")});
  EXPECT_EQ(wrong.exit_code, 125);
  EXPECT_TRUE(contains(wrong.err, "SKILL.md:3")) << wrong.err;
  const Ran alias = cloche_words({"tools", "--skill", skill("a: &x [run_shell]\ntool_loadout: *x")});
  EXPECT_EQ(alias.exit_code, 125);
  EXPECT_TRUE(exited(cloche_words({"tools", "--skill", skill("colour: blue")}), 0));
}

TEST_P(Skills, TheShippedOnesLoadAndWork) {
  const std::string source = CLOCHE_SOURCE_DIR;
  file("add.py", "def add(a, b):\n    return a + b\n");
  const std::string coding = scene().write("coding/SKILL.md", read_file(source + "/skills/coding/SKILL.md"));
  const std::string review =
      scene().write("review/SKILL.md", read_file(source + "/skills/code-review/SKILL.md"));
  const Call check = {"run_shell", R"({"cmd": "python3 -m py_compile add.py"})"};
  const Call runs = {"run_shell", R"({"cmd": "python3 add.py", "profile": "full"})"};
  EXPECT_EQ(call(check, {"--skill", coding}).result(), "exit_code: 0\nstdout: \nstderr: ");
  EXPECT_TRUE(refused_by(call(runs, {"--skill", coding}), "shape"));
  EXPECT_EQ(call(runs, {"--skill", review}).result(), "exit_code: 0\nstdout: \nstderr: ");
}

FOR_EVERYONE(Skills);

}  // namespace
}  // namespace cloche::test
