// Sandbox profiles: the shipped ones do what they say, the operator's own are found by name, and one that
// cannot be taken refuses everything.
#include "config/fixture.hpp"

namespace cloche::test {
namespace {

class Profiles : public Configured {
 protected:
  Profiles() { user_file(R"({"profiles_dir": ")" + (root() / "profiles").string() + R"("})"); }
  void SetUp() override {
    profile("mine", R"({
      "description": "reads the data beside it",
      "extends": "workspace-write-no-network",
      "ro": [")" + data() +
                        R"("],
      "limits": {"timeout": "2s"},
      "examples": [
        {"argv": ["cat", ")" +
                        data() + R"(/file"], "expect": "allow", "says": "of the data"},
        {"argv": ["touch", ")" +
                        data() + R"(/x"], "expect": "deny"},
        {"argv": ["sleep", "20"], "expect": "deny", "why": "two seconds are all"}
      ]})");
    scene().write("data/file", "of the data\n");
  }
  std::string data() const { return (root() / "data").string(); }
  void profile(const std::string& name, const std::string& text) {
    scene().write("profiles/" + name + ".json", text);
  }
  std::string profile_path(const std::string& file) const { return (root() / "profiles" / file).string(); }
};
FOR_EVERYONE(Profiles);

TEST_P(Profiles, TheShippedExamplesHold) {
  const Ran ran =
      cloche_words({"profiles", "check", "readonly", "workspace-write-no-network", "workspace-write"});
  EXPECT_TRUE(exited(ran, 0)) << ran.out;
  EXPECT_TRUE(contains(ran.out, "19 examples: all hold")) << ran.out;
}

TEST_P(Profiles, ACustomOneIsFoundByName) {
  EXPECT_TRUE(contains(cloche_words({"profiles", "list"}).out, "mine  "));
  EXPECT_TRUE(contains(cloche_words({"profiles", "show", "mine"}).out, "ro          " + data()));
  EXPECT_TRUE(exited(cloche_words({"profiles", "check", "mine"}), 0));
  EXPECT_TRUE(printed(shell("cat " + data() + "/file", {"--profile", "mine"}), "of the data\n"));
  EXPECT_NE(shell("cat " + data() + "/file").exit_code, 0);
  EXPECT_NE(shell("touch " + data() + "/x", {"--profile", "mine"}).exit_code, 0);
  EXPECT_EQ(shell("sleep 20", {"--profile", "mine"}).exit_code, 124);
  const Words call = {"call", "read_artifact", R"({"path": "x"})", "--profile", "mine"};
  EXPECT_FALSE(contains(cloche_words(call).err, "no such profile"));
  const Ran explained = cloche_words({"explain", "run", "--profile", "mine", "--", "true"});
  EXPECT_TRUE(exited(explained, 0)) << explained.err;
}

// As a command has them that is run under the profile.
TEST_P(Profiles, ExamplesHaveTheOperatorsLimitsProgramsAndRung) {
  scene().write("tools/operators-own", "#!/bin/sh\necho of the operator\n");
  fs::permissions(root() / "tools/operators-own", fs::perms(0755));
  const std::string folder = R"("profiles_dir": ")" + (root() / "profiles").string() + "\"";
  const auto holds = [&](const std::string& configuration, const std::string& example) {
    profile("mine", R"({"extends": "workspace-write-no-network", "examples": [)" + example + "]}");
    user_file("{" + folder + configuration + "}");
    return cloche_words({"profiles", "check", "mine"}).exit_code == 0;
  };
  const std::string slow = R"({"argv": ["sleep", "3"], "expect": "deny"})";
  EXPECT_FALSE(holds("", slow));
  EXPECT_TRUE(holds(R"(, "limits": {"timeout": "1s"})", slow));
  const std::string own = R"({"argv": ["operators-own"], "expect": "allow", "says": "of the operator"})";
  EXPECT_FALSE(holds("", own));
  EXPECT_TRUE(holds(R"(, "tool_path": [")" + (root() / "tools").string() + "\"]", own));
  const std::string of_host = R"({"argv": ["readlink", "/proc/self/ns/pid"], "expect": "allow", "says": ")" +
                              fs::read_symlink("/proc/self/ns/pid").string() + "\"}";
  EXPECT_FALSE(holds("", of_host));
  EXPECT_TRUE(holds(R"(, "isolation": "subprocess")", of_host));
}

// No later call comes to the workspace of an example: what is kept of it would be kept for ever.
TEST_P(Profiles, ACheckThatIsKilledLeavesNothingBeyondTheNextCall) {
  const fs::path state = fs::path(state_home(as())) / "of-a-killed-check";
  Command check{.argv = {"timeout", "-s", "KILL", "1.5", cloche(), "profiles", "check", "mine"},
                .as = as(),
                .cwd = workspace(),
                .env = {{"XDG_CONFIG_HOME", (root() / "config").string()}, {"XDG_STATE_HOME", state}}};
  EXPECT_EQ(run(check).signal, SIGKILL);
  const auto is_empty = [&](const char* name) {
    return !fs::exists(state / "cloche" / name) || fs::is_empty(state / "cloche" / name);
  };
  ASSERT_FALSE(is_empty("tried")) << "it was to be in the middle of an example";
  const fs::path note = fs::directory_iterator(state / "cloche/tried")->path();
  const fs::path left = fs::path(read_file(note)) / note.filename();
  EXPECT_TRUE(fs::exists(left));
  EXPECT_TRUE(exited(cloche_words({"run", "--", "true"}, {{"XDG_STATE_HOME", state}}), 0));
  EXPECT_FALSE(fs::exists(left));
  for (const char* name : {"tried", "open", "before"}) EXPECT_TRUE(is_empty(name)) << name;
  fs::remove_all(state);
}

TEST_P(Profiles, WhatAnExampleSaysIsTried) {
  profile("wrong",
          "{\"extends\": \"workspace-write-no-network\",\n\"examples\": [\n"
          "{\"argv\": [\"touch\", \"x\"], \"expect\": \"deny\"},\n"
          "{\"argv\": [\"touch\", \"/usr/x\"], \"expect\": \"allow\"},\n"
          "{\"argv\": [\"no-such-program\"], \"expect\": \"deny\"},\n"
          "{\"argv\": [\"echo\", \"a\"], \"expect\": \"allow\", \"says\": \"b\"}]}");
  const Ran ran = cloche_words({"profiles", "check", profile_path("wrong.json")});
  EXPECT_TRUE(exited(ran, 1));
  const std::string file = profile_path("wrong.json");
  EXPECT_TRUE(contains(ran.out, file + ":3: touch x: expected deny, and it was allowed")) << ran.out;
  EXPECT_TRUE(contains(ran.out, file + ":4: touch /usr/x: expected allow, and it was denied")) << ran.out;
  EXPECT_TRUE(contains(ran.out, file + ":5: no-such-program: expected deny, and it could not be tried"))
      << ran.out;
  EXPECT_TRUE(contains(ran.out, file + ":6: echo a: expected allow, and it did not say \"b\"")) << ran.out;
  const Ran tested = cloche_words({"test", profile_path("wrong.json"), profile_path("mine.json")});
  EXPECT_TRUE(exited(tested, 1));
  EXPECT_TRUE(contains(tested.out, file + ":3: it was allowed")) << tested.out;
  EXPECT_TRUE(contains(tested.out, "mine.json: a sandbox profile, 3 examples")) << tested.out;
  const auto json = parse_json(cloche_words({"profiles", "check", "wrong", "--json"}).out);
  ASSERT_TRUE(json);
  EXPECT_FALSE((*json)["holds"].boolean);
  EXPECT_EQ((*json)["examples"].array.size(), 4U);
}

TEST_P(Profiles, OneThatCannotBeTakenRefusesEverything) {
  const struct {
    const char* text;
    const char* says;
  } rows[] = {{"{", ":1"},
              {"{\"extends\": \"readonly\",\n\"nonsense\": 1}", ":2: unknown key \"nonsense\""},
              {"{\n\"workspace\": \"write\"}", ":1: extends is missing"},
              {"{\"extends\": \"readonly\",\n\"workspace\": \"write\"}", ":2: workspace is more than"}};
  for (const auto& row : rows) {
    profile("bad", row.text);
    const std::string says = profile_path("bad.json") + row.says;
    EXPECT_TRUE(refused(shell("touch made"), {125}, {says}));
    EXPECT_TRUE(refused(cloche_words({"call", "run_shell", R"({"cmd": "ls"})"}), {125}, {says}));
    EXPECT_TRUE(refused(cloche_words({"profiles", "list"}), {125}, {says}));
    const Ran doctor = cloche_words({"doctor", "--json"});
    const auto json = parse_json(doctor.out);
    ASSERT_TRUE(json) << doctor.out;
    EXPECT_TRUE(contains((*json)["misconfiguration"].string, says)) << doctor.out;
    EXPECT_TRUE(exited(doctor, 1));
  }
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

TEST_P(Profiles, OneThatCannotBeEnforcedHereRefusesWhatHasIt) {
  profile("high", R"({"extends": "readonly", "isolation": "microvm"})");
  EXPECT_TRUE(refused(shell("true", {"--profile", "high"}), {125}, {"high", "microvm"}));
  const Words call = {"call", "run_shell", R"({"cmd": "ls"})", "--profile", "high"};
  const Ran ran = cloche_words(call);
  EXPECT_TRUE(exited(ran, 125) && contains(ran.out, "microvm")) << ran.out;
  const Ran doctor = cloche_words({"doctor"});
  EXPECT_TRUE(exited(doctor, 1) && contains(doctor.out, "microvm")) << doctor.out;
  profile("high", R"({"extends": "readonly", "ro": ["/nowhere/at/all"]})");
  EXPECT_TRUE(refused(shell("true", {"--profile", "high"}), {125}, {"/nowhere/at/all"}));
}

// Also what starts nothing: a tool that only writes files would seem to be held.
TEST_P(Profiles, AsTheDefaultItRefusesEveryCall) {
  user_file(R"({"default_profile": "high", "profiles_dir": ")" + (root() / "profiles").string() + R"("})");
  struct Row {
    std::string text;
    std::string says;
  };
  std::vector<Row> rows = {
      {R"({"extends": "workspace-write-no-network", "ro": ["/nowhere/at/all"]})", "/nowhere/at/all"}};
  rows.push_back({R"({"extends": "workspace-write-no-network", "rw": ["/"]})", "--rw / would make"});
  if (!installed("runsc"))
    rows.push_back({R"({"extends": "workspace-write-no-network", "isolation": "gvisor"})", "gvisor"});
  const Words calls[] = {
      {"write_artifact", R"({"path": "made", "content": "x"})"},
      {"edit_artifact", R"({"path": "there", "old": "a", "new": "b"})"},
      {"read_artifact", R"({"path": "there"})"},
      {"list_artifacts", "{}"},
      {"search_artifacts", R"({"pattern": "a"})"},
      {"run_shell", R"({"cmd": "ls"})"},
  };
  scene().write("workspace/there", "a\n");
  for (const auto& [text, says] : rows) {
    profile("high", text);
    for (const auto& call : calls) {
      const Ran ran = cloche_words({"call", call[0], call[1]});
      EXPECT_TRUE(exited(ran, 125) && contains(ran.err, says)) << text << call[0] << ran.out << ran.err;
      EXPECT_TRUE(contains(ran.out, "cloche failed: ") && !contains(ran.out, "/nowhere")) << ran.out;
    }
  }
  EXPECT_FALSE(fs::exists(workspace() / "made"));
  profile("high", R"({"extends": "workspace-write-no-network", "isolation": "namespace"})");
  EXPECT_TRUE(exited(cloche_words({"call", calls[0][0], calls[0][1]}), 0));
}

// Configured is not enforced: a caller who asks is told, before a command is refused.
TEST_P(Profiles, OneThatCannotBeEnforcedHereIsShown) {
  const struct {
    const char* text;
    const char* says;
  } rows[] = {{R"({"extends": "readonly", "isolation": "microvm"})", "microvm"},
              {R"({"extends": "workspace-write-no-network", "ro": ["/nowhere/at/all"]})", "/nowhere/at/all"},
              {R"({"extends": "workspace-write-no-network", "rw": ["/"]})", "--rw / would make"}};
  const std::string holds = "Everything that the default needs holds";
  EXPECT_TRUE(contains(cloche_words({"doctor"}).out, holds));
  for (const auto& [text, says] : rows) {
    SCOPED_TRACE(text);
    profile("high", text);
    const Ran check = cloche_words({"profiles", "check", "high"});
    EXPECT_TRUE(exited(check, 1) && contains(check.out, "FAILED") && contains(check.out, says)) << check.out;
    const Ran doctor = cloche_words({"doctor"});
    EXPECT_TRUE(exited(doctor, 1) && !contains(doctor.out, holds)) << doctor.out;
    EXPECT_TRUE(contains(doctor.out, "MISCONFIGURED: every call under the profile high is refused") &&
                contains(doctor.out, says))
        << doctor.out;
    EXPECT_TRUE(exited(shell("true"), 0)) << "the default is another";
  }
  user_file(R"({"default_profile": "high", "profiles_dir": ")" + (root() / "profiles").string() + R"("})");
  const Ran doctor = cloche_words({"doctor", "-v"});
  EXPECT_TRUE(contains(doctor.out, "MISCONFIGURED: every call is refused: " + user_path() + ":1"))
      << doctor.out;
  EXPECT_TRUE(contains(doctor.out, "a command gets              nothing")) << doctor.out;
  user_file(R"({"default_profile": "nobodys"})");
  const Ran unknown = cloche_words({"doctor"});
  EXPECT_TRUE(exited(unknown, 1) && contains(unknown.out, "nobodys") && !contains(unknown.out, holds))
      << unknown.out;
}

// It could give itself what it wants: a profile is as much the operator's word as the configuration.
TEST_P(Profiles, OneThatEverybodyCanWriteRefusesEverything) {
  fs::permissions(profile_path("mine.json"), fs::perms(0666));
  const std::string says = profile_path("mine.json") + " can be written by every user";
  EXPECT_TRUE(refused(shell("touch made"), {125}, {says}));
  EXPECT_TRUE(refused(cloche_words({"call", "run_shell", R"({"cmd": "ls"})"}), {125}, {says}));
  const Ran doctor = cloche_words({"doctor"});
  EXPECT_TRUE(exited(doctor, 1) && contains(doctor.out, says)) << doctor.out;
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

TEST_P(Profiles, SoDoCommandShapesThatEverybodyCanWrite) {
  scene().write("config/cloche/commands/mine.json",
                R"({"profile": "passive", "shapes": [{"id": "t", "usage": "touch FILE", "argv": ["touch"],
                    "accepts": ["touch"], "refuses": ["touch x"]}]})");
  const std::string shapes = (root() / "config/cloche/commands/mine.json").string();
  EXPECT_TRUE(exited(cloche_words({"doctor"}), 0));
  fs::permissions(shapes, fs::perms(0666));
  const std::string says = shapes + " can be written by every user";
  EXPECT_TRUE(refused(cloche_words({"call", "run_shell", R"({"cmd": "ls"})"}), {125}, {says}));
  const Ran doctor = cloche_words({"doctor"});
  EXPECT_TRUE(exited(doctor, 1) && contains(doctor.out, says)) << doctor.out;
}

TEST_P(Profiles, WhatIsPassedOverIsTold) {
  scene().write("profiles/G.JSON", "{");
  scene().write("profiles/.hid.json", "{");
  for (const char* action : {"list", "check"}) {
    const Ran ran = cloche_words({"profiles", action});
    EXPECT_TRUE(exited(ran, 0)) << ran.out;
    for (const char* name : {"G.JSON", ".hid.json"})
      EXPECT_TRUE(contains(ran.err, profile_path(name) + " is ignored")) << ran.err;
  }
}

TEST_P(Profiles, ASeatbeltFileIsRefusedWithTheNearest) {
  scene().write("mac.sb", "(version 1)\n(deny default)\n(allow file-write* (subpath \"/x\"))\n");
  EXPECT_TRUE(refused(cloche_words({"profiles", "check", (root() / "mac.sb").string()}), {125},
                      {"seatbelt", "workspace-write-no-network"}));
  EXPECT_TRUE(refused(shell("true", {"--profile", "mac.sb"}), {125}, {"the nearest here is readonly"}));
  for (const std::string& path : {(root() / "mac.sb").string(), std::string("../mac.sb")}) {
    const char* nearest = "the nearest here is workspace-write-no-network";
    EXPECT_TRUE(refused(shell("true", {"--profile", path}), {125}, {path, nearest}));
    EXPECT_TRUE(refused(cloche_words({"call", "run_shell", R"({"cmd": "ls"})", "--profile", path}), {125},
                        {nearest}));
  }
  user_file(R"({"default_profile": "x.sb"})");
  for (const Words& words : {Words{"run", "--", "true"}, Words{"profiles", "check", "x.sb"}})
    EXPECT_TRUE(refused(cloche_words(words), {125}, {user_path() + ":1", "the nearest here is readonly"}));
  user_file(R"({"profiles_dir": ")" + (root() / "profiles").string() + R"("})");
  scene().write("profiles/mac.sb", "(allow network*)\n");
  EXPECT_TRUE(refused(shell("true"), {125}, {profile_path("mac.sb"), "the nearest here is workspace-write"}));
}

TEST_P(Profiles, TheyMayNotLieInTheWorkspace) {
  scene().write("workspace/profiles/mine.json", R"({"extends": "readonly"})");
  user_file(R"({"profiles_dir": ")" + (workspace() / "profiles").string() + R"("})");
  EXPECT_TRUE(refused(shell("true"), {125}, {"lies in the workspace"}));
  EXPECT_TRUE(
      refused(cloche_words({"call", "run_shell", R"({"cmd": "ls"})"}), {125}, {"lies in the workspace"}));
}

// Only judged: the name is somebody's.
TEST_P(Profiles, ADeclaredHostIsReachedUnderTheOneThatHasANetwork) {
  scene().write("skills/net/SKILL.md",
                "---\nname: net\ndescription: d\nneeds_network: [api.example.org]\n---\n");
  const Words get = {"explain",    "call",
                     "http_get",   R"({"url": "https://api.example.org/"})",
                     "--skill",    (root() / "skills/net/SKILL.md").string(),
                     "--autonomy", "full"};
  const Ran without = cloche_words(get);
  EXPECT_TRUE(exited(without, 126) && contains(without.out, "the sandbox profile has no network"))
      << without.out;
  Words with = get;
  with.insert(with.end(), {"--profile", "workspace-write"});
  const Ran ran = cloche_words(with);
  EXPECT_TRUE(exited(ran, 0) && contains(ran.out, "every host is declared")) << ran.out;
  EXPECT_TRUE(exited(shell("touch made", {"--profile", "workspace-write"}), 0));
}

TEST_P(Profiles, BadWordsAreBadUsage) {
  for (const Words& words :
       {Words{"profiles", "nonsense"}, Words{"profiles", "show"}, Words{"profiles", "list", "x"},
        Words{"profiles", "--nonsense"}, Words{"profiles", "show", "nobodys"},
        Words{"run", "--profile", "nobodys", "--", "true"}})
    EXPECT_TRUE(exited(cloche_words(words), 2));
  EXPECT_TRUE(exited(cloche_words({"profiles", "--help"}), 0));
}

}  // namespace
}  // namespace cloche::test
