// Layers: a missing one refuses with its name and a fix; `cloche doctor` says what this host can enforce and
// proves it.
#include <sys/stat.h>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using Kind = Json::Kind;

class Layers : public Run {
 protected:
  // In a user namespace of the test's own where no further one may be made.
  Ran without_namespaces(const std::string& words) {
    return run(
        {.argv = {"unshare", "-U", "-r", "sh", "-c",
                  "echo 0 > /proc/sys/user/max_user_namespaces || exit 99; exec '" + cloche() + "' " + words},
         .as = as(),
         .cwd = workspace(),
         .env = {{"HOME", workspace().parent_path()}}});
  }
  bool can_try() { return exited(run({.argv = {"unshare", "-U", "-r", "true"}, .as = as()}), 0); }
};
FOR_EVERYONE(Layers);

TEST_P(Layers, WithoutUserNamespacesItRefusesAndSaysWhatToDo) {
  if (!can_try()) GTEST_SKIP() << "skipped: no user namespaces";
  const Ran ran = without_namespaces("run -- touch ran");
  EXPECT_TRUE(refused(ran, {125}, {"user", "namespace", "max_user_namespaces"}));
  EXPECT_FALSE(fs::exists(workspace() / "ran"));
  const Ran json = without_namespaces("run --json -- touch ran");
  EXPECT_TRUE(exited(json, 125));
  const auto answer = parse_json(json.out);
  ASSERT_TRUE(answer) << json.out;
  EXPECT_EQ((*answer)["outcome"].string, "failed");
  EXPECT_TRUE(contains((*answer)["reason"].string, "namespace")) << (*answer)["reason"].string;
}

TEST_P(Layers, WithoutUserNamespacesTheDoctorSaysSo) {
  if (!can_try()) GTEST_SKIP() << "skipped: no user namespaces";
  const Ran ran = without_namespaces("doctor");
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_FALSE(ran.timed_out);
  EXPECT_TRUE(contains(ran.out + ran.err, "namespace")) << ran.out << ran.err;
}

class Doctor : public Run {
 protected:
  Ran doctor(const std::vector<std::string>& flags) {
    Command command = {.argv = {cloche(), "doctor"}, .as = as(), .cwd = workspace()};
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    command.env["XDG_STATE_HOME"] = scene().root() / "state";
    return run(command);
  }
};
FOR_EVERYONE(Doctor);

TEST_P(Doctor, IsContentHereAndNamesEachLayer) {
  const Ran first = doctor({});
  ASSERT_TRUE(exited(first, 0));
  for (const char* promise : {"files    holds", "network  holds", "secrets  holds", "limits   holds"})
    EXPECT_TRUE(contains(first.out, promise)) << first.out;
  EXPECT_FALSE(contains(first.out, "landlock")) << first.out;
  const Ran ran = doctor({"-v"});
  ASSERT_TRUE(exited(ran, 0));
  for (const char* layer :
       {"user-ids", "mount-view", "pid-namespace", "net-namespace", "ipc-namespace", "uts-namespace",
        "cgroup-namespace", "syscall-filter", "landlock", "no-new-privileges", "no-capabilities",
        "session-keyring", "memory-limit", "process-limit"}) {
    EXPECT_TRUE(contains(ran.out, layer)) << layer << "\n" << ran.out;
  }
}

TEST_P(Doctor, JsonHasThePromisedKeys) {
  const Ran ran = doctor({"--json"});
  ASSERT_TRUE(exited(ran, 0));
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_TRUE((*json)["active"].boolean);
  EXPECT_TRUE((*json)["bwrap_available"].is(Kind::boolean));
  EXPECT_TRUE(json->has("bwrap_path"));
  EXPECT_EQ((*json)["bwrap_available"].boolean, !(*json)["bwrap_path"].string.empty());
  EXPECT_TRUE((*json)["disabled_via_env"].is(Kind::boolean));
  EXPECT_TRUE((*json)["rungs"].is(Kind::object));
  EXPECT_TRUE((*json)["rungs"].has("namespace"));
  ASSERT_GE((*json)["layers"].array.size(), 14U);
  for (const auto& layer : (*json)["layers"].array) {
    for (const char* key : {"name", "enforced", "by", "proof", "fix"}) EXPECT_TRUE(layer.has(key)) << key;
    EXPECT_TRUE(layer["enforced"].boolean) << layer["name"].string;
  }
}

TEST_P(Doctor, RejectsWhatItDoesNotKnow) {
  EXPECT_TRUE(refused(doctor({"--nonsense"}), {2}, {"--nonsense"}));
}

class Proof : public Run {
 protected:
  // Others cannot even enter `folder`, and every proof in it is the caller's alone.
  size_t count_private_proofs(const fs::path& folder) {
    struct stat seen = {};
    EXPECT_EQ(lstat(folder.c_str(), &seen), 0) << folder;
    EXPECT_EQ(seen.st_mode & 07777U, 0700U) << folder;
    size_t count = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder / "proofs", ignored)) {
      EXPECT_EQ(lstat(entry.path().c_str(), &seen), 0);
      EXPECT_EQ(seen.st_mode, S_IFREG | 0600U) << entry.path();
      ++count;
    }
    return count;
  }
};
FOR_EVERYONE(Proof);

TEST_P(Proof, IsKeptPrivatelyInTheStateDirectory) {
  const fs::path state = scene().root() / "state";
  const Command how = {.env = {{"XDG_STATE_HOME", state}}};
  const auto first = answer({}, {"true"}, how);
  EXPECT_TRUE(exited(first.ran, 0));
  EXPECT_GE(count_private_proofs(state / "cloche"), 1U);
  const auto second = answer({}, {"true"}, how);
  EXPECT_FALSE(first.json["proof"].string.empty());
  EXPECT_EQ(first.json["proof"].string, second.json["proof"].string);
}

TEST_P(Proof, IsNeverKeptInTheWorkspace) {
  cloche_run({}, {"true"}, {.env = {{"XDG_STATE_HOME", workspace() / "state"}}});
  EXPECT_TRUE(fs::is_empty(workspace()));
}

TEST_P(Proof, WorksWhereNothingCanBeKept) {
  scene().write("config/cloche/config.json", R"({"record": "off"})");
  scene().write("state-file", "");
  const std::string config = scene().root() / "config";
  const Command places[] = {
      {.env = {{"XDG_STATE_HOME", "/proc/no"}, {"HOME", "/nonexistent"}, {"XDG_CONFIG_HOME", config}}},
      {.env = {{"XDG_STATE_HOME", scene().root() / "state-file"}, {"XDG_CONFIG_HOME", config}}}};
  for (const Command& how : places) {
    EXPECT_TRUE(exited(cloche_run({"--live"}, {"true"}, how), 0));
    EXPECT_TRUE(refused(cloche_run({}, {"true"}, how), {125}, {"what a call writes", "--live"}));
  }
}

TEST_P(Proof, DamageIsNoticedAndProvenAgain) {
  const fs::path state = scene().root() / "state";
  const Command how = {.env = {{"XDG_STATE_HOME", state}}};
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, how), 0));
  ASSERT_TRUE(exited(outside("find '" + (state / "cloche").string() +
                             "' -name layers -prune -o -type f -exec sh -c 'echo damaged > \"$0\"' {} ';'"),
                     0));
  EXPECT_TRUE(exited(cloche_run({}, {"true"}, how), 0));
}

}  // namespace
}  // namespace cloche::test
