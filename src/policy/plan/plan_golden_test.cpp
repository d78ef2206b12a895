// Whole plans against golden files, one a case: whatever changes in a plan shows in a diff that a person
// reads. After a change that is meant: CLOCHE_UPDATE_GOLDEN=1 build/release/tests/unit_test
// --gtest_filter='*Golden*'
#include <gtest/gtest.h>

#include "base/golden.hpp"
#include "policy/plan/facts_fixture.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche {
namespace {

using namespace fixture;

RunRequest request_for(std::vector<std::string> argv) { return {.argv = std::move(argv)}; }

void expect_golden_plan(const std::string& name, const RunRequest& request, const Facts& facts) {
  const auto plan = plan_run(request, facts);
  ASSERT_TRUE(plan.ok()) << plan.error().what;
  expect_golden("plan-" + name + ".json", one_element_a_line(to_json(plan.value())));
}

TEST(GoldenPlan, Default) { expect_golden_plan("default", request_for({"python3", "build.py"}), debian()); }

TEST(GoldenPlan, Readonly) {
  RunRequest request = request_for({"git", "log"});
  request.profile = Profile::readonly;
  expect_golden_plan("readonly", request, debian());
}

TEST(GoldenPlan, RootCaller) {
  Facts facts = debian();
  facts.caller = {
      .uid = 0, .gid = 0, .privileged = true, .home = "/root", .path = "/usr/sbin:/usr/bin:/sbin:/bin"};
  facts.workspace = directory("/root/project", 78, 0);
  expect_golden_plan("root-caller", request_for({"make"}), facts);
}

TEST(GoldenPlan, RootOfAContainerWithoutIdsToMap) {
  Facts facts = debian();
  facts.caller = {.uid = 0, .gid = 0, .privileged = false, .home = "/root", .path = "/usr/bin"};
  facts.workspace = directory("/root/project", 78, 0);
  expect_golden_plan("unprivileged-root", request_for({"make"}), facts);
}

TEST(GoldenPlan, GrantsWithTargets) {
  RunRequest request = request_for({"./job", "--all"});
  request.grants = {{.source = "~/data"},
                    {.source = "./out", .writable = true},
                    {.source = "key.pem", .target = "/run/key.pem"},
                    {.source = "/srv/cache", .target = "/var/tmp/cache", .writable = true}};
  request.directory = "sub";
  request.environment = {{.name = "TOKEN", .value = "abc"}, {.name = "EDITOR"}, {.name = "ABSENT"}};
  request.limits.memory_bytes = 512ULL << 20;
  request.limits.wall_ms = 30'000;
  Facts facts = debian();
  facts.caller.environment = {{"EDITOR", "vim"}, {"TERM", "xterm-256color"}};
  facts.grants = {directory("/home/user/data", 80, 1001), directory("/home/user/project/out", 81, 1001),
                  file("/home/user/key.pem", 82, 1001), directory("/srv/cache", 83, 33)};
  expect_golden_plan("grants", request, facts);
}

TEST(GoldenPlan, HostView) {
  RunRequest request = request_for({"sh"});
  request.view = View::host;
  Facts facts = debian();
  facts.system.clear();
  facts.etc.clear();
  facts.root = {link("/bin", "usr/bin"), directory("/etc"), directory("/home"),
                link("/lib", "usr/lib"), directory("/usr"), directory("/var")};
  facts.secrets = {directory("/home/user/.ssh", 90, 1001), file("/home/user/.netrc", 91, 1001),
                   directory("/root/.aws", 92)};
  expect_golden_plan("host-view", request, facts);
}

TEST(GoldenPlan, Worktree) {
  Facts facts = debian();
  facts.git_common = directory("/home/user/repository/.git", 95, 1001);
  expect_golden_plan("worktree", request_for({"git", "status"}), facts);
}

TEST(GoldenPlan, Toolchains) {
  Facts facts = debian();
  facts.toolchains = {
      {.name = "pyenv",
       .trees = {directory("/home/user/.pyenv", 100, 1001)},
       .path = {"/home/user/.pyenv/shims", "/home/user/.pyenv/bin"},
       .environment = {{"PYENV_ROOT", "/home/user/.pyenv"}}},
      {.name = "cargo",
       .trees = {directory("/home/user/.cargo/bin", 101, 1001), directory("/home/user/.rustup", 102, 1001)},
       .path = {"/home/user/.cargo/bin"},
       .environment = {{"RUSTUP_HOME", "/home/user/.rustup"}}}};
  expect_golden_plan("toolchains", request_for({"cargo", "build"}), facts);
}

TEST(GoldenPlan, MountsBelow) {
  Facts facts = debian();
  facts.mounts_below = {directory("/"), directory("/proc"), directory("/home/user/project/mnt"),
                        file("/home/user/project/bound.txt")};
  expect_golden_plan("mounts-below", request_for({"ls"}), facts);
}

TEST(GoldenPlan, TerminalAndDebugging) {
  RunRequest request = request_for({"gdb", "./a.out"});
  request.terminal = true;
  request.debugging = true;
  request.umask = 077;
  Facts facts = debian();
  facts.caller.environment = {{"TERM", "screen"}};
  expect_golden_plan("terminal", request, facts);
}

TEST(GoldenPlan, OwnStateInAGrant) {
  RunRequest request = request_for({"ls"});
  request.grants = {{.source = "/home/user/.local"}};
  Facts facts = debian();
  facts.state = directory("/home/user/.local/state/cloche");
  facts.grants = {directory("/home/user/.local", 110, 1001)};
  expect_golden_plan("own-state", request, facts);
}

}  // namespace
}  // namespace cloche
