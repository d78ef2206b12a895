// What the operator's word is read from is no command's to change, whatever was granted around it: the next
// call is judged by what the operator wrote.
#include <unistd.h>

#include <cstdlib>

#include "config/fixture.hpp"

namespace cloche::test {
namespace {

class Kept : public Configured {
 protected:
  // Each of our own backends, which never have an excuse, and one more where it is installed.
  static Words backends() {
    Words names = {"native", "subprocess"};
    if (installed("bwrap")) names.emplace_back("bwrap");
    return names;
  }
  Ran on(const std::string& backend, const std::string& granted, const std::string& script) {
    Words flags = {"--backend", backend, "--rw", granted};
    if (backend == "subprocess") flags.insert(flags.begin(), {"--isolation", "subprocess"});
    return shell(script, flags);
  }
  // Whether the next command is still held, by its profile too.
  void expect_held(const std::string& after) {
    const Ran next = shell("grep Seccomp: /proc/self/status; touch made");
    EXPECT_EQ(next.out, "Seccomp:\t2\n") << after << next.err;
    EXPECT_FALSE(contains(next.err, "isolation is off")) << after << next.err;
  }
  // Of the identity that runs, so that only Cloche stands between a command and the file.
  void give_away(const fs::path& path) const {
    if (::geteuid() != 0) return;
    for (const auto& entry : fs::recursive_directory_iterator(path)) own(entry.path());
    own(path);
  }

 private:
  void own(const fs::path& path) const {
    const unsigned id = as() == As::nobody ? nobody : 0;
    ASSERT_EQ(::lchown(path.c_str(), id, id), 0) << path;
  }
};
FOR_EVERYONE(Kept);

TEST_P(Kept, AGrantAroundTheConfigurationChangesNothing) {
  const std::string attack = "echo '{\"enabled\": false}' > '" + user_path() + "'";
  for (const auto& backend : backends()) {
    user_file("{}");
    give_away(root() / "config");
    for (const fs::path& granted : {root() / "config", root() / "config/cloche", fs::path(user_path())}) {
      on(backend, granted, attack);
      expect_held(backend + " " + granted.string() + "\n");
      EXPECT_EQ(outside("cat '" + user_path() + "'").out, "{}");
    }
  }
}

TEST_P(Kept, NorOneAroundWhereItWouldBe) {
  const std::string attack = "mkdir -p '" + (root() / "config/cloche").string() +
                             "' && echo '{\"enabled\": false}' > '" + user_path() + "'";
  for (const auto& backend : backends()) {
    fs::remove_all(root() / "config");
    fs::create_directories(root() / "config");
    give_away(root() / "config");
    const Ran ran = on(backend, root() / "config", attack);
    EXPECT_TRUE(refused(ran, {125}, {"would be writable", "grant directories beside it"})) << backend;
    expect_held(backend + "\n");
    EXPECT_FALSE(fs::exists(user_path())) << backend;
  }
}

TEST_P(Kept, NorOneAroundTheFileThatALinkLeadsTo) {
  scene().write("dotfiles/cloche.json", "{}");
  fs::create_directories(root() / "config/cloche");
  fs::create_symlink(root() / "dotfiles/cloche.json", user_path());
  give_away(root() / "dotfiles");
  for (const auto& backend : backends()) {
    on(backend, root() / "dotfiles",
       "echo '{\"enabled\": false}' > '" + (root() / "dotfiles/cloche.json").string() + "'");
    expect_held(backend + "\n");
  }
}

TEST_P(Kept, DirectoriesThatItNamesAreNotWritable) {
  const std::string profiles = (root() / "own/profiles").string();
  const std::string executors = (root() / "own/executors").string();
  scene().write("own/profiles/tight.json", R"({"extends": "readonly"})");
  fs::create_directories(executors);
  give_away(root() / "own");
  user_file(R"({"profiles_dir": ")" + profiles + R"(", "executors_dir": ")" + executors + R"("})");
  for (const auto& backend : backends()) {
    for (const fs::path& granted : {fs::path(profiles), fs::path(executors), root() / "own"}) {
      const Ran ran = on(backend, granted, "touch '" + granted.string() + "/made'");
      EXPECT_TRUE(refused(ran, {125}, {"would be writable", "takes the operator's word from"})) << backend;
      EXPECT_FALSE(fs::exists(granted / "made"));
    }
  }
  EXPECT_TRUE(exited(shell("ls '" + profiles + "'", {"--ro", profiles}), 0)) << "to read is no harm";
}

// From another workspace they are the operator's word, and so they are in this one.
TEST_P(Kept, NorWhereTheWorkspaceIsOrHoldsThem) {
  const std::string executors = (workspace() / "sub/executors").string();
  fs::create_directories(executors);
  give_away(workspace() / "sub");
  user_file(R"({"executors_dir": ")" + executors + R"("})");
  for (const auto& backend : backends()) {
    for (const char* place : {"sub/executors", "sub", "."}) {
      const Ran ran = shell("touch made", {"--backend", backend, "--workspace", workspace() / place});
      EXPECT_TRUE(refused(ran, {125}, {"takes the operator's word from"})) << backend << ' ' << place;
    }
  }
  EXPECT_TRUE(exited(shell("true", {"--profile", "readonly"}), 0)) << "to read is no harm";
  const Ran call = cloche_words({"call", "write_artifact", R"({"path": "sub/executors/x", "content": "y"})"});
  EXPECT_EQ(call.exit_code, 126) << call.out << call.err;
  EXPECT_FALSE(fs::exists(executors + "/x"));
}

TEST_P(Kept, NorAToolPathByAnotherName) {
  const std::string tools = (root() / "tools").string();
  fs::create_directories(tools);
  give_away(tools);
  user_file(R"({"tool_path": [")" + tools + R"("]})");
  EXPECT_TRUE(refused(shell("touch /q/made", {"--rw", tools + ":/q"}), {125}, {"operator's word"}));
  EXPECT_FALSE(fs::exists(tools + "/made"));
}

// From the second call on there is something to hide: the first made it.
TEST_P(Kept, TheHostsViewHidesAStateBehindAClosedDirectory) {
  std::string place = "/var/tmp/cloche-kept-XXXXXX";  // 0700
  ASSERT_NE(::mkdtemp(place.data()), nullptr);
  give_away(place);
  for (int i = 0; i < 3; ++i) {
    const Ran ran = cloche_words({"run", "--view", "host", "--", "sh", "-c", "ls '" + place + "/cloche'"},
                                 {{"XDG_STATE_HOME", place}});
    EXPECT_FALSE(contains(ran.err, "could not place a mount")) << i << ran.err;
    EXPECT_NE(ran.exit_code, 125) << i << ran.err;
    EXPECT_EQ(ran.out, "") << i;
  }
  fs::remove_all(place);
}

}  // namespace
}  // namespace cloche::test
