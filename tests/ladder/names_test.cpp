// What a path is called and where it lies makes no difference to what holds: names that no JSON can carry,
// links, places that others would make, and the host's own directories mean the same at every isolation
// level, or the call is refused.
#include <unistd.h>

#include <set>

#include "ladder/rungs.hpp"

namespace cloche::test {
namespace {

class Names : public Rungs {
 protected:
  Ran held(const std::vector<std::string>& flags, const std::vector<std::string>& argv) {
    return run(on_rung(flags, argv));
  }
  bool has_view() const { return backend() != "subprocess"; }
  bool by_bundle() const { return backend() == "crun" || backend() == "runc" || backend() == "runsc"; }

  std::set<std::string> in_workspace() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(workspace())) names.insert(entry.path());
    return names;
  }
  // Files of the scene belong to the caller.
  void make(const std::string& script) {
    ASSERT_TRUE(exited(run({.argv = {"bash", "-ec", script}, .as = as(), .cwd = workspace()}), 0));
  }
};
INSTANTIATE_TEST_SUITE_P(Rung, Names, ::testing::ValuesIn(seats()),
                         [](const auto& param) { return name_of(param); });

TEST_P(Names, WhatIsNotUtf8IsKeptOrRefused) {
  make(R"(mkdir -p $'sub\xff/keep'; echo kept > $'sub\xff/keep/f')");
  const auto before = in_workspace();
  const std::string kept = workspace().string() + "/sub\xff/keep";
  const Ran ran = held({"--ro", kept}, {"sh", "-c", "echo pwn > sub*/keep/f"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_EQ(read_file(kept + "/f"), "kept\n");
  EXPECT_EQ(in_workspace(), before) << "nothing was made";
  if (!by_bundle()) return;
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_TRUE(contains(ran.err, "is not UTF-8")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "native or bwrap")) << ran.err;
}

TEST_P(Names, TwoNamesThatLookTheSameAreTwo) {
  if (!has_view()) GTEST_SKIP() << "skipped: the trees need a view";
  make(R"(mkdir -p $'../ab\xff' $'../ab\xfe'; echo kept > $'../ab\xff/f')");
  const std::string beside = scene().root();
  const Ran ran = held({"--ro", beside + "/ab\xff", "--rw", beside + "/ab\xfe"},
                       {"sh", "-c", "for d in " + beside + "/ab*; do echo pwn > $d/f; done"});
  EXPECT_EQ(read_file(beside + "/ab\xff/f"), "kept\n") << ran.err;
}

TEST_P(Names, WordsAndVariablesArriveByteForByte) {
  make(R"(touch $'k\xff' $'k\xef\xbf\xbd' 'k%FF')");
  EXPECT_TRUE(exited(held({}, {"rm", "k\xff"}), 0));
  EXPECT_FALSE(fs::exists(workspace() / "k\xff"));
  EXPECT_TRUE(fs::exists(workspace() / "k\xef\xbf\xbd"));
  EXPECT_TRUE(fs::exists(workspace() / "k%FF"));
  EXPECT_TRUE(
      printed(held({"-e", "V=a\xfe%41\xc3\xa9"}, {"sh", "-c", "printf '%s' \"$V\""}), "a\xfe%41\xc3\xa9"));
}

TEST_P(Names, AMountPointThatIsMissingIsNotMade) {
  make("mkdir -p ../data");
  const auto before = in_workspace();
  const std::string data = scene().root() / "data";
  const Ran ran = held({"--ro", data + ":" + (workspace() / "mnt").string()}, {"true"});
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
  EXPECT_EQ(contains(ran.err, "mnt has no place to be mounted"), has_view()) << ran.err;
  EXPECT_EQ(in_workspace(), before);
}

TEST_P(Names, AGrantByALinkIsThereByBothNames) {
  make("mkdir -p ../data; echo given > ../data/f; ln -s data ../dl");
  const std::string root = scene().root();
  EXPECT_TRUE(
      printed(held({"--ro", root + "/dl"}, {"cat", root + "/dl/f", root + "/data/f"}), "given\ngiven\n"));
  EXPECT_TRUE(printed(held({"--ro", "../dl"}, {"cat", root + "/data/f"}), "given\n"));
  EXPECT_NE(held({"--ro", root + "/dl"}, {"sh", "-c", "echo pwn > " + root + "/dl/f"}).exit_code, 0);
  EXPECT_EQ(read_file(root + "/data/f"), "given\n");
}

TEST_P(Names, TheHostsOwnViewIsThere) {
  if (!has_view()) GTEST_SKIP() << "skipped: there is no view";
  EXPECT_TRUE(printed(held({"--view", "host"},
                           {"sh", "-c", "test -d /usr/bin && test -r /etc/passwd && echo a > a && cat a"}),
                      "a\n"));
}

TEST_P(Names, TheHostsOwnRunCanBeShown) {
  EXPECT_TRUE(printed(held({"--ro", "/run"}, {"sh", "-c", "test -d /run && echo there"}), "there\n"));
  EXPECT_FALSE(fs::exists("/run/cloche-jail"));
  EXPECT_FALSE(fs::exists("/run/cloche-report"));
}

TEST_P(Names, ADirectoryThatIsNotThereIsNamed) {
  const Ran ran = held({"-C", "nope"}, {"true"});
  EXPECT_EQ(ran.exit_code, 125);
  const std::string named = "could not enter the working directory (" + (workspace() / "nope").string() +
                            "): No such file or directory; name a directory inside the view with -C";
  EXPECT_TRUE(contains(ran.err, named)) << ran.err;
}

TEST_P(Names, ManyWordsAreRunOrRefusedByNumber) {
  std::vector<std::string> words = {"true"};
  words.resize(20'000, "a");
  const Ran ran = held({}, words);
  EXPECT_EQ(ran.exit_code, backend() == "bwrap" ? 125 : 0) << ran.err;
  EXPECT_EQ(contains(ran.err, "takes 9000 words at most"), backend() == "bwrap") << ran.err;
}

TEST_P(Names, AWorkspaceInSharedMemoryWorks) {
  if (!has_view()) GTEST_SKIP() << "skipped: /dev/shm cannot be used without a view";
  const fs::path place = "/dev/shm/cloche-names-" + std::to_string(getpid());
  ASSERT_TRUE(exited(run({.argv = {"mkdir", place}, .as = as()}), 0));
  EXPECT_TRUE(printed(held({"--workspace", place}, {"sh", "-c", "echo made > m; cat m"}), "made\n"));
  EXPECT_EQ(read_file(place / "m"), "made\n");
  fs::remove_all(place);
}

}  // namespace
}  // namespace cloche::test
