// Everyday git where a repository is more than one directory: commits in a submodule, in a workspace that is
// one, in a linked worktree, and in a submodule of one, on each rung that shows them in its own way. Nothing
// of it is the protected set's business, and what the host sees afterwards is whole.
#include "ladder/rungs.hpp"
#include "run/json.hpp"

namespace cloche::test {
namespace {

constexpr const char* identity =
    "export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=A "
    "GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@example.org "
    "GIT_CONFIG_KEY_2=protocol.file.allow GIT_CONFIG_VALUE_2=always; set -e; ";

class Repositories : public Rungs {
 protected:
  Ran outside(const std::string& script) const {
    Command command = on_rung({}, {});
    command.argv = {"bash", "-c", identity + script};
    return run(command);
  }
  // at the isolation level; what it printed.
  std::string inside(const std::string& script) const {
    const Ran ran = run(on_rung({"--json"}, {"bash", "-c", identity + script}));
    const Json json = parse_json(ran.out).value_or(Json{});
    EXPECT_TRUE(exited(ran, 0)) << ran.out << ran.err;
    EXPECT_TRUE(json["quarantined"].array.empty()) << ran.out;
    EXPECT_TRUE(json["restored"].array.empty()) << ran.out;
    EXPECT_TRUE(json["look_gap"].is(Json::Kind::null)) << ran.out;
    return json["stdout"].string;
  }
  void library() const {
    ASSERT_TRUE(exited(
        outside("cd ..; git init -q -b main lib; cd lib; echo x > f; git add f; git commit -qm lib"), 0));
  }
};
INSTANTIATE_TEST_SUITE_P(Rung, Repositories, ::testing::ValuesIn(seats_of_three()),
                         [](const auto& param) { return name_of(param); });

constexpr const char* commit_in_both =
    "cd lib; echo y > f; git commit -qam inside; cd ..; git add lib; git commit -qm super; "
    "git status --short; git log -1 --format=%s; git -C lib log -1 --format=%s";
constexpr const char* look_at_both =
    "git fsck --no-progress; git -C lib fsck --no-progress; git status --short; git log -1 --format=%s; git "
    "-C lib log -1 --format=%s";

TEST_P(Repositories, CommitsInASubmodule) {
  library();
  ASSERT_TRUE(
      exited(outside("git init -q -b main .; git submodule --quiet add ../lib lib; git commit -qm one; "
                     "git -C lib checkout -q main"),
             0));
  EXPECT_EQ(inside(commit_in_both), "super\ninside\n");
  EXPECT_EQ(outside(look_at_both).out, "super\ninside\n");
}

// The workspace is the submodule: its git directory lies in the repository around, outside.
TEST_P(Repositories, CommitsWhereTheWorkspaceIsASubmodule) {
  library();
  ASSERT_TRUE(exited(outside("cd ..; rmdir workspace; git init -q -b main .; git submodule --quiet add "
                             "./lib workspace; git commit -qm one; git -C workspace checkout -q main"),
                     0));
  EXPECT_EQ(inside("echo y > f; git add f; git commit -qm inside; git checkout -q -b side; echo z > g; git "
                   "add g; git commit -qm side; git checkout -q main; git merge -q side; git branch -d -q "
                   "side; git status --short; git log -1 --format=%s; git -C .. log 2> /dev/null || true"),
            "side\n");
  EXPECT_EQ(outside("git fsck --no-progress; git status --short; git log -2 --format=%s; git -C .. status "
                    "--short workspace; git -C .. log -1 --format=%s")
                .out,
            "side\ninside\n M workspace\none\n");
}

TEST_P(Repositories, CommitsInALinkedWorktree) {
  ASSERT_TRUE(exited(outside("cd ..; git init -q -b main whole; cd whole; echo x > f; git add f; git commit "
                             "-qm one; git worktree add -q -b side ../workspace"),
                     0));
  EXPECT_EQ(inside("echo y > f; git commit -qam side; git status --short; git log -1 --format=%s"), "side\n");
  EXPECT_EQ(
      outside("git fsck --no-progress; git status --short; git -C ../whole log -1 --format=%s side").out,
      "side\n");
}

TEST_P(Repositories, CommitsInASubmoduleOfALinkedWorktree) {
  library();
  ASSERT_TRUE(
      exited(outside("cd ..; git init -q -b main whole; cd whole; git submodule --quiet add ../lib lib; git "
                     "commit -qm one; git worktree add -q -b side ../workspace; cd ../workspace; "
                     "git submodule --quiet update --init; git -C lib checkout -q main"),
             0));
  EXPECT_EQ(inside(commit_in_both), "super\ninside\n");
  EXPECT_EQ(outside(look_at_both).out, "super\ninside\n");
}

}  // namespace
}  // namespace cloche::test
