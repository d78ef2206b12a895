// What a call leaves behind does not decide what the next one is shown: no link of its making is followed, no
// folder in the place of another, no file in a home that is somebody else's.
#include <unistd.h>
#include <fstream>

#include <thread>

#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Grants : public Tools {
 protected:
  fs::path run_place() const { return scene_root() / "run"; }
  Words in_task(Words more = {}) const {
    more.insert(more.end(), {"--run", run_place(), "--task", "A"});
    return more;
  }
  std::string key() const { return home() / ".ssh"; }
  // In the workspace, and so a project's.
  void project_executor(const std::string& python, const std::string& capabilities = "[]") {
    file("tools/mine/tool.py", python);
    file("tools/mine/manifest.json",
         R"({"name": "mine", "description": "a project's", "code": "tool.py",
             "input_schema": {"type": "object"}, "capabilities": )" +
             capabilities + "}");
  }
  Words project_tools(Words more = {}) const {
    more.insert(more.end(), {"--executors", workspace() / "tools", "--autonomy", "full"});
    return more;
  }
};

::testing::AssertionResult says(const Answer& answer, const std::string& words) {
  if (contains(answer.text("reason"), words)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << answer.text("reason") << "\n" << answer.result();
}

const char* const lists_its_folder =
    "import json, os\nprint(json.dumps({'files': sorted(os.listdir(os.path.dirname(__file__)))}))\n";

TEST_P(Grants, AnExecutorsFolderIsTheOneThatWasLoaded) {
  project_executor(lists_its_folder);
  const struct {
    std::string meanwhile;
    bool runs;
  } rows[] = {{"true", true},
              {"mv tools/mine tools/away && ln -s " + key() + " tools/mine", false},
              {"mv tools/mine tools/other && cp -r tools/other tools/mine", false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.meanwhile);
    const auto answers =
        session({{"mine"}, {"run_script", script(row.meanwhile)}, {"mine"}}, project_tools({"--live"}));
    EXPECT_EQ(answers[0].result(), "{\"files\": [\"manifest.json\", \"tool.py\"]}\n");
    EXPECT_EQ(answers[1].exit_code(), 0) << answers[1].result();
    if (row.runs) {
      EXPECT_EQ(answers[2].result(), answers[0].result());
    } else {
      EXPECT_TRUE(says(answers[2], "has changed since it was loaded"));
      EXPECT_EQ(
          outside("rm -rf tools/mine; mv tools/away tools/mine 2>/dev/null || mv tools/other tools/mine")
              .exit_code,
          0);
    }
  }
}

TEST_P(Grants, NoLinkOfACallsIsFollowed) {
  const std::string links = "ln -s " + key() + " data && mkdir plain";
  ASSERT_EQ(call({"run_script", script(links)}).exit_code(), 0);
  EXPECT_FALSE(fs::exists(fs::symlink_status(workspace() / "data")));  // it leads out, and is withheld
  ASSERT_EQ(call({"run_script", script("rmdir plain; " + links)}, {"--live"}).exit_code(), 0);
  EXPECT_TRUE(says(call({"run_script", script("cat data/*")}, {"--ro", workspace() / "data"}),
                   "where calls can write"));
  EXPECT_TRUE(says(call({"run_script", script("cat data/*")}, {"--rw", "data", "--allow-protected", key()}),
                   "where calls can write"));
  EXPECT_EQ(call({"run_script", script("true")}, {"--ro", workspace() / "plain"}).exit_code(), 0);
  const Ran ran = cloche_words({"run", "--ro", "data", "--", "true"});
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_TRUE(contains(ran.err, "where calls can write")) << ran.err;
}

TEST_P(Grants, NorInWhatASkillWritesTo) {
  scene().write("out/kept", "");
  scene().write("elsewhere/file", "");
  const std::string out = scene_root() / "out";
  const std::string with_skill = skill("capabilities: [\"fs:write:" + out + "/**\", \"code:exec\"]\n");
  executor("reader", "import os\nprint('{\"n\": %d}' % len(os.listdir('" + out + "/data')))\n",
           {.capabilities = "[\"fs:read:" + out + "/data/**\"]"});
  const Words flags = {"--executors", executors(), "--autonomy", "full", "--skill", with_skill};
  ASSERT_EQ(call({"run_script", script("mkdir " + out + "/data")}, flags).exit_code(), 0);
  EXPECT_EQ(call({"reader"}, flags).result(), "{\"n\": 0}\n");
  const std::string turned =
      "rmdir " + out + "/data && ln -s " + (scene_root() / "elsewhere").string() + " " + out + "/data";
  Words live = flags;
  live.push_back("--live");
  ASSERT_EQ(call({"run_script", script(turned)}, live).exit_code(), 0);
  EXPECT_TRUE(says(call({"reader"}, flags), "where calls can write"));
}

TEST_P(Grants, ATreeWithTheRecordDeepInItIsNotWritable) {
  const Answer answer = call({"run_script", script("true")}, {"--run", run_place(), "--rw", scene_root()});
  EXPECT_TRUE(says(answer, "could move it to another name"));
  const std::string look = "cat " + (run_place() / "audit.jsonl").string() + " && echo seen";
  const Words readable = {"--run", run_place(), "--ro", scene_root()};
  EXPECT_FALSE(contains(call({"run_script", script(look)}, readable).result(), "stdout: {"));
}

TEST_P(Grants, WhatASkillCanWriteToOnlyTightens) {
  scene().write("outside/file", "of elsewhere\n");
  executor("reader",
           "import json, os\nprint(json.dumps({'sees': os.path.exists('" +
               (scene_root() / "outside/file").string() + "')}))\n",
           {.capabilities = "[\"fs:read:" + (scene_root() / "outside").string() + "/**\"]"});
  const Words flags = {"--executors", executors(), "--autonomy", "full"};
  EXPECT_EQ(call({"reader"}, flags).result(), "{\"sees\": true}\n");
  Words under = flags;
  under.insert(under.end(),
               {"--skill", skill("capabilities: [\"fs:write:" + executors().string() + "/**\"]\n")});
  EXPECT_EQ(call({"reader"}, under).result(), "{\"sees\": false}\n");
}

TEST_P(Grants, ANameApprovesNothingThatCallsCanWrite) {
  project_executor("print('{}')\n", R"(["code:exec"])");
  const Words flags = {"--executors", workspace() / "tools", "--autonomy", "supervised"};
  const auto approve = [&](const std::string& what) {
    scene().write("home/.config/cloche/config.json", "{\"approved_executors\": [\"" + what + "\"]}");
  };
  approve("mine");
  const Answer by_name = call({"mine"}, flags);
  EXPECT_TRUE(refused_by(by_name, "approval"));
  ASSERT_FALSE(by_name.json["notes"].array.empty());
  const std::string note = by_name.json["notes"].array[0].string;
  const size_t at = note.find("mine@sha256:");
  ASSERT_NE(at, std::string::npos) << note;
  approve(note.substr(at, note.find(' ', at) - at));
  EXPECT_EQ(call({"mine"}, flags).result(), "{}\n");
  file("tools/mine/tool.py", "print('{\"other\": 1}')\n");
  EXPECT_TRUE(refused_by(call({"mine"}, flags), "approval"));
}

// Python would read it at start-up, with all that the executor may do.
TEST_P(Grants, AnExecutorsHomeInATaskIsItsOwn) {
  const std::string plant =
      "d=$(python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p $d && "
      "echo 'print(\"taken over\")' > $d/usercustomize.py && echo x > $HOME/left && python3 -c 1";
  ASSERT_EQ(call({"run_script", script(plant)}, in_task()).result(),
            "exit_code: 0\nstdout: taken over\n\nstderr: ");
  executor("counter",
           "import json, os\nkept = os.path.expanduser('~/kept')\n"
           "n = len(open(kept).read()) if os.path.exists(kept) else 0\nopen(kept, 'a').write('x')\n"
           "left = os.path.exists(os.path.expanduser('~/left'))\n"
           "open('/tmp/shared', 'w').write('by the executor')\nprint(json.dumps({'n': n, 'left': left}))\n");
  for (int n = 0; n < 2; ++n)
    EXPECT_EQ(call({"counter"}, in_task(with_executors())).result(),
              "{\"n\": " + std::to_string(n) + ", \"left\": false}\n");
  EXPECT_EQ(call({"run_script", script("cat /tmp/shared; ls $HOME")}, in_task()).result(),
            "exit_code: 0\nstdout: by the executorleft\n\nstderr: ");
  EXPECT_TRUE(exited(cloche_words({"log", "prune", run_place()}), 0));
  EXPECT_FALSE(fs::exists(run_place() / "tasks"));
}

// Their mount points lie in the /tmp that they share: side by side one could move the other's away.
TEST_P(Grants, CallsOfATaskWithTheirWorkspaceInTmpRunOneByOne) {
  char name[] = "/tmp/cloche-tools-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const fs::path place = name;
  if (as() == As::nobody) {
    ASSERT_EQ(chown(name, nobody, nobody), 0);
  }
  const Words flags = {"--run", place / "run", "--task", "A"};
  const Call alone{"run_script", script("mkdir /tmp/inside && sleep 0.3 && rmdir /tmp/inside")};
  ASSERT_EQ(call({"run_script", script("true")}, flags).exit_code(), 0);
  Answer answers[3];
  {
    std::vector<std::jthread> callers;
    for (auto& answer : answers) callers.emplace_back([&] { answer = call(alone, flags); });
  }
  for (const auto& answer : answers) EXPECT_EQ(answer.exit_code(), 0) << answer.result();
  fs::remove_all(place);
}

TEST_P(Grants, ARepositoryInATasksHomeIsNoneOfTheWorkspace) {
  ASSERT_EQ(call({"run_script", script("true")}, in_task()).exit_code(), 0);
  const std::string at = run_place() / "tasks/A/home/repo";
  const std::string pose =
      "mkdir -p ~/repo/objects ~/repo/refs ~/repo/worktrees/w && echo 'ref: x' > ~/repo/HEAD && "
      "echo " +
      (run_place() / "artifacts/.git").string() + " > ~/repo/worktrees/w/gitdir";
  ASSERT_EQ(call({"run_script", script(pose)}, in_task()).exit_code(), 0);
  // One that a call makes is withheld: this is an operator's.
  const std::string link = "gitdir: " + at + "/worktrees/w";
  const Answer made = call({"run_script", script("echo '" + link + "' > .git")}, in_task());
  EXPECT_TRUE(contains(made.result(), "not in the project: .git")) << made.result();
  std::ofstream(run_place() / "artifacts/.git") << link << "\n";
  fs::permissions(run_place() / "artifacts/.git", fs::perms(0644));
  const Answer answer = call({"run_script", script("echo works")}, {"--run", run_place(), "--task", "B"});
  EXPECT_EQ(answer.result(), "exit_code: 0\nstdout: works\n\nstderr: ");
  ASSERT_FALSE(answer.json["notes"].array.empty());
  EXPECT_TRUE(contains(answer.json["notes"].array[0].string, "one of Cloche's own files and is left out"));
}

FOR_EVERYONE(Grants);

}  // namespace
}  // namespace cloche::test
