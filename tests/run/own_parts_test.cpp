// A Cloche that lies in its own workspace, as in a checkout that builds it: a command there works on
// everything else, and neither changes nor moves the programs and the rules that it is judged by.
#include <fstream>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class OwnParts : public Run {
 protected:
  void SetUp() override {
    const fs::path built = fs::path(cloche()).parent_path();
    fs::create_directories(workspace() / "tools/bin");
    for (const char* name : {"cloche", "cloche-jail", "cloche-probe"})
      fs::copy_file(built / name, workspace() / "tools/bin" / name);
    if (as() == As::nobody) {
      const std::string own = "chown -R 65534:65534 '" + (workspace() / "tools").string() + "'";
      ASSERT_EQ(std::system(own.c_str()), 0);
    }
  }
  // With the copy in the workspace.
  Ran own(std::vector<std::string> words) const {
    words.insert(words.begin(), workspace() / "tools/bin/cloche");
    return run({.argv = std::move(words),
                .as = as(),
                .cwd = workspace(),
                .env = {{"XDG_STATE_HOME", state_home(as())}}});
  }
  Ran own_shell(const std::string& script, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), "run");
    for (const char* word : {"--", "sh", "-c"}) flags.emplace_back(word);
    flags.push_back(script);
    return own(std::move(flags));
  }
};
FOR_EVERYONE(OwnParts);

// Each is what its owner can do without Cloche, and each would decide what the next call is judged by.
TEST_P(OwnParts, NoCommandChangesOrMovesThem) {
  const char* const attacks[] = {
      "echo broken > tools/bin/cloche-jail",
      "rm tools/bin/cloche-jail",
      "touch tools/bin/more",
      "mv tools/bin tools/other",
      "mv tools other",
      "chmod 777 tools/bin",
      "ln tools/bin/cloche-jail linked",
      "rm -rf tools/bin",
  };
  for (const char* attack : attacks) {
    EXPECT_FALSE(exited(own_shell(attack), 0)) << attack;
    EXPECT_TRUE(exited(outside(std::string("cp -a tools copy; cd copy && mkdir tools && mv bin tools && ") +
                               attack + "; status=$?; cd ..; rm -rf copy; exit $status"),
                       0))
        << attack;
  }
  EXPECT_TRUE(printed(own_shell("echo still here"), "still here\n"));
}

// As after an upgrade that replaced one of the two.
TEST_P(OwnParts, AJailOfAnotherBuildIsRefusedForThat) {
  const fs::path jail = workspace() / "tools/bin/cloche-jail";
  std::string bytes = read_file(jail);
  constexpr uint32_t number = CLOCHE_WIRE_FORMAT;
  const std::string format(reinterpret_cast<const char*>(&number), sizeof number);
  size_t changed = 0;
  for (size_t at = bytes.find(format); at != std::string::npos; at = bytes.find(format, at + 1), ++changed)
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
  ASSERT_GT(changed, 0U);
  std::ofstream(jail, std::ios::binary) << bytes;
  const Ran ran = own_shell("echo ran");
  EXPECT_TRUE(refused(ran, {125, 126}, {"cloche-jail is of another build"}));
  EXPECT_FALSE(contains(ran.out, "ran"));
}

// A program may be a link to elsewhere in the tree: a command that could turn it would choose what it leads
// to.
TEST_P(OwnParts, LinksOnTheWayAreKeptAsWell) {
  ASSERT_TRUE(exited(
      outside("mkdir real; mv tools/bin/cloche-jail real/; ln -s ../../real/cloche-jail tools/bin/"), 0));
  for (const char* attack : {"mv real other", "rm real/cloche-jail", "echo x > real/cloche-jail"}) {
    EXPECT_FALSE(exited(own_shell(attack), 0)) << attack;
  }
  EXPECT_TRUE(printed(own_shell("touch made; echo still here"), "still here\n"));
}

// No mount keeps a file that was given another name before.
TEST_P(OwnParts, AnotherNameOfOneIsRefused) {
  for (const char* file : {"tools/bin/cloche-jail", "tools/bin/cloche"}) {
    ASSERT_TRUE(exited(outside(std::string("ln ") + file + " other"), 0));
    const Ran ran = own_shell("echo broken > other");
    EXPECT_TRUE(refused(ran, {125}, {"has another name (a hard link)"})) << file;
    ASSERT_TRUE(exited(outside("rm other"), 0));
    EXPECT_TRUE(exited(own_shell("true"), 0)) << file;
  }
  ASSERT_TRUE(exited(outside("ln tools/bin/cloche-jail other"), 0));
  EXPECT_TRUE(exited(own_shell("true", {"--profile", "readonly"}), 0));  // nothing can be written
}

// Where an installed tree has them, which is not asked here.
TEST_P(OwnParts, ThoseThatACommandMakesElsewhereAreNotUsed) {
  ASSERT_TRUE(exited(
      own_shell("set -e; mkdir -p tools/libexec/cloche; cd tools/libexec/cloche; printf '#!/bin/sh\necho "
                "planted\n' > cloche-jail; chmod 755 cloche-jail"),
      0));
  ASSERT_TRUE(fs::exists(workspace() / "tools/libexec/cloche/cloche-jail"));
  EXPECT_TRUE(printed(own_shell("echo still here"), "still here\n"));
}

TEST_P(OwnParts, TheRestOfTheWorkspaceIsTheCommands) {
  const Ran ran = own_shell(
      "set -e; echo a > a; mkdir tools/obj; echo b > tools/obj/b; mv tools/obj/b tools/c; cat a tools/c; "
      "test -x tools/bin/cloche-jail; rm -r tools/obj");
  EXPECT_TRUE(printed(ran, "a\nb\n"));
}

TEST_P(OwnParts, NeitherIsAToolsWrite) {
  for (const char* path : {"tools/bin/cloche-jail", "tools/BIN/x"}) {
    const Ran ran = own({"call", "write_artifact", std::string(R"({"content":"x","path":")") + path + "\"}"});
    EXPECT_TRUE(exited(ran, 126)) << path;
    EXPECT_TRUE(contains(ran.out, "belongs to the Cloche that judges this call")) << ran.out;
  }
  EXPECT_TRUE(exited(own({"call", "write_artifact", R"({"content":"x","path":"tools/x"})"}), 0));
}

TEST_P(OwnParts, WhereNothingCanKeepThemItIsRefused) {
  EXPECT_TRUE(refused(own_shell("true", {"--isolation", "subprocess"}), {125},
                      {"holds the Cloche that is running", "install Cloche elsewhere"}));
  EXPECT_TRUE(refused(own_shell("true", {"--rw", "tools/bin"}), {125}, {"no command writes there"}));
  EXPECT_TRUE(refused(own_shell("true", {"--workspace", "tools/bin"}), {125}, {"no command writes there"}));
}

}  // namespace
}  // namespace cloche::test
