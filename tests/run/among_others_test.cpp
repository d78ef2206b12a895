// Several calls in one tree: what was there before the first is there after the last, in whatever order they
// end and whoever is killed; and nobody fails for what another took away.
#include <signal.h>

#include <memory>
#include <thread>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class AmongOthers : public Run {
 protected:
  static constexpr const char* hook = ".git/hooks/pre-commit";
  // What the first does, and what would be left if nobody looked.
  static constexpr const char* evil =
      "echo evil > .git/hooks/pre-commit; echo evil > .envrc; echo evil > .vscode/tasks.json; "
      "git config core.fsmonitor evil; ";

  void stage() {
    ASSERT_TRUE(exited(outside("git init -q -b main ."), 0));
    file(hook, "#!/bin/sh\n", 0755);
    file(".envrc", "the user's\n");
    file(".vscode/tasks.json", "{}\n");
    config_ = read_file(workspace() / ".git/config");
  }
  void expect_as_it_was() const {
    EXPECT_EQ(read_file(workspace() / hook), "#!/bin/sh\n");
    EXPECT_EQ(read_file(workspace() / ".envrc"), "the user's\n");
    EXPECT_EQ(read_file(workspace() / ".vscode/tasks.json"), "{}\n");
    EXPECT_EQ(read_file(workspace() / ".git/config"), config_);
  }
  std::unique_ptr<Started> start(const std::string& backend, const std::string& script,
                                 const std::vector<std::string>& allowed = {}) const {
    std::vector<std::string> flags = {"--backend", backend};
    for (const auto& path : allowed) flags.insert(flags.end(), {"--allow-protected", path});
    const std::string wait = "wait_for() { until [ -e $1 ]; do sleep 0.02; done; }; ";
    return std::make_unique<Started>(under(flags, {"bash", "-c", wait + script}));
  }
  void clear() const { ASSERT_TRUE(exited(outside("rm -rf -- .git .g2 .envrc .vscode *"), 0)); }

 private:
  std::string config_;
};
FOR_EVERYONE(AmongOthers);

struct Order {
  const char* name;
  const char* first_backend;
  const char* second_backend;
  const char* first;   // after the evil; it ends when `first_may_end` is there
  const char* second;  // began after the evil; `first_ended` is there when the first has
};

constexpr Order orders[] = {
    {"the second does nothing", "subprocess", "subprocess", "wait_for first_may_end",
     "touch first_may_end; wait_for first_ended"},
    {"the second removes everything", "subprocess", "subprocess", "wait_for first_may_end",
     "touch first_may_end; wait_for first_ended; rm -rf .git/hooks .envrc .vscode .git/config"},
    {"the second does the same", "subprocess", "subprocess", "wait_for first_may_end",
     "touch first_may_end; wait_for first_ended; echo evil > .envrc; echo evil > .git/hooks/pre-commit; "
     "echo evil > .vscode/tasks.json"},
    {"the second moves the repository", "subprocess", "subprocess", "wait_for first_may_end",
     "touch first_may_end; wait_for first_ended; rm -rf .git/hooks .envrc .vscode; mv .git .g2; "
     "cp -r .g2 .git"},
    {"the second ends first", "subprocess", "subprocess", "wait_for first_may_end; wait_for second_ended",
     "touch first_may_end; chmod 777 .envrc .git/hooks/pre-commit; rm -r .vscode"},
    {"the second has mounts", "subprocess", "native", "wait_for first_may_end",
     "touch first_may_end; wait_for first_ended"},
};

TEST_P(AmongOthers, WhatWasThereBeforeTheFirstIsThereAfterTheLast) {
  NEEDS("git");
  for (const auto& row : orders) {
    SCOPED_TRACE(row.name);
    stage();
    const auto first = start(row.first_backend, std::string(evil) + "touch changed; " + row.first);
    wait_for("changed");
    const auto second = start(row.second_backend, row.second);
    wait_for("first_may_end");
    const bool second_ends_first = std::string(row.first).find("second_ended") != std::string::npos;
    (second_ends_first ? second : first)->finish();
    file(second_ends_first ? "second_ended" : "first_ended", "");
    (second_ends_first ? first : second)->finish();
    expect_as_it_was();
    clear();
  }
}

TEST_P(AmongOthers, AlsoWhenTheFirstIsKilled) {
  NEEDS("git");
  stage();
  const auto first = start("subprocess", std::string(evil) + "touch changed; sleep 100");
  wait_for("changed");
  const auto second = start("subprocess", "touch first_may_end; wait_for first_ended");
  wait_for("first_may_end");
  ::kill(first->pid(), SIGKILL);
  first->finish();
  file("first_ended", "");
  second->finish();
  expect_as_it_was();
  // And when nobody else was there: the next one makes up for it.
  const auto alone = start("subprocess", "rm -r .vscode; echo evil > .envrc; touch alone; sleep 100");
  wait_for("alone");
  ::kill(alone->pid(), SIGKILL);
  alone->finish();
  EXPECT_TRUE(exited(cloche_shell({}, "true"), 0));
  expect_as_it_was();
}

// It has the first one's copy, and is not held to it.
TEST_P(AmongOthers, WhatTheOperatorAllowsOneToChangeStaysChanged) {
  NEEDS("git");
  stage();
  const auto first = start("subprocess", "touch changed; wait_for first_may_end");
  wait_for("changed");
  const auto second =
      start("subprocess", "touch first_may_end; wait_for first_ended; echo allowed > .envrc", {".envrc"});
  wait_for("first_may_end");
  first->finish();
  file("first_ended", "");
  second->finish();
  EXPECT_EQ(read_file(workspace() / ".envrc"), "allowed\n");
}

// Each makes the same member, so whoever ends takes away what another has just found there.
TEST_P(AmongOthers, NobodyFailsForWhatAnotherTookAway) {
  constexpr int many = 30;
  for (const char* backend : {"native", "subprocess"}) {
    std::vector<std::unique_ptr<Started>> calls;
    for (int i = 0; i < many; ++i)
      calls.push_back(start(
          backend, "{ mkdir -p .claude; echo x > .claude/x" + std::to_string(i) + "; } 2>/dev/null; true"));
    for (const auto& call : calls) EXPECT_TRUE(exited(call->finish(), 0)) << backend;
    EXPECT_TRUE(fs::is_empty(workspace())) << backend;
  }
}

}  // namespace
}  // namespace cloche::test
