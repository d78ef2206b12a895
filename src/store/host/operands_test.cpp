// Where paths lead, on a real tree with every kind of link in it.
#include "store/host/operands.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Kind = FileFact::Kind;

class Operands : public testing::Test {
 protected:
  Operands() {
    char name[] = "/var/tmp/cloche-operands-XXXXXX";
    root = fs::canonical(::mkdtemp(name));
    fs::create_directories(root / "ws/sub");
    fs::create_directories(root / "ws-evil");
    std::ofstream(root / "ws/file") << "x";
    std::ofstream(root / "secret") << "x";
    fs::create_symlink("../secret", root / "ws/out");
    fs::create_symlink("/etc/cloche-not-there", root / "ws/dangling");
    fs::create_symlink("sub", root / "ws/in");
    fs::create_symlink("loop", root / "ws/loop");
    fs::create_symlink("/proc/self/cwd", root / "ws/own");
    fs::create_symlink("..", root / "ws/up");
    ::mkfifo((root / "ws/pipe").c_str(), 0600);
  }
  ~Operands() override { fs::remove_all(root); }
  OperandFact at(const std::string& written) { return observe_operand((root / "ws").string(), written); }
  std::string path(const std::string& below) { return (root / below).string(); }
  fs::path root;
};

TEST_F(Operands, EveryLinkIsFollowed) {
  const struct {
    std::string written, resolved;
    Kind kind;
  } rows[] = {
      {"file", path("ws/file"), Kind::file},
      {"./sub/../file", path("ws/file"), Kind::file},
      {"", path("ws"), Kind::directory},
      {"sub//", path("ws/sub"), Kind::directory},
      {"..", root.string(), Kind::directory},
      {"../ws-evil", path("ws-evil"), Kind::directory},
      {"out", path("secret"), Kind::file},
      {"in/x", path("ws/sub/x"), Kind::absent},
      {"in/../file", path("ws/file"), Kind::file},
      {"up/secret", path("secret"), Kind::file},
      {"dangling", "/etc/cloche-not-there", Kind::absent},
      {"missing/../../secret", path("secret"), Kind::file},
      {"file/below", path("ws/file/below"), Kind::absent},
      {path("ws/file"), path("ws/file"), Kind::file},
      {"/", "/", Kind::directory},
      {"/../../..", "/", Kind::directory},
      {"pipe", path("ws/pipe"), Kind::other},
      {std::string(300, 'n'), path("ws/") + std::string(300, 'n'), Kind::absent},
  };
  for (const auto& row : rows) {
    const OperandFact fact = at(row.written);
    EXPECT_EQ(fact.problem, "") << row.written;
    EXPECT_EQ(fact.resolved, row.resolved) << row.written;
    EXPECT_EQ(fact.kind, row.kind) << row.written;
    EXPECT_EQ(fact.written, row.written);
  }
}

// A tree that is shown somewhere else is looked up where it is, and named as the command sees it.
TEST_F(Operands, AShownTreeIsWalkedInTheCommandsView) {
  fs::create_directories(root / "data/inner");
  std::ofstream(root / "data/file") << "x";
  std::ofstream(root / "data/inner/hidden") << "x";
  fs::create_symlink("inner", root / "data/in");
  fs::create_symlink("../etc/passwd", root / "data/up");
  fs::create_symlink(root / "secret", root / "data/out");
  fs::create_symlink("/cloche-shown/file", root / "data/around");
  const std::vector<ShownTree> trees = {
      {path("data"), "/cloche-shown"}, {path("ws"), "/cloche-shown/inner"}, {path("secret"), "/cloche-one"}};
  const struct {
    std::string written, resolved;
    Kind kind;
  } rows[] = {
      {"/cloche-shown", "/cloche-shown", Kind::directory},
      {"/cloche-shown/file", "/cloche-shown/file", Kind::file},
      {"/cloche-shown/missing", "/cloche-shown/missing", Kind::absent},
      {"/cloche-shown/up", "/etc/passwd", Kind::file},  // not the host's etc beside data
      {"/cloche-shown/out", path("secret"), Kind::file},
      {"/cloche-shown/around", "/cloche-shown/file", Kind::file},
      {"/cloche-shown/inner/hidden", "/cloche-shown/inner/hidden", Kind::absent},  // the inner tree covers it
      {"/cloche-shown/in/file", "/cloche-shown/inner/file", Kind::file},
      {"/cloche-shown-not/file", "/cloche-shown-not/file", Kind::absent},
      {"/cloche-one", "/cloche-one", Kind::file},
      {path("data/file"), path("data/file"), Kind::file},
  };
  for (const auto& row : rows) {
    const OperandFact fact = observe_operand(path("ws"), row.written, trees);
    EXPECT_EQ(fact.problem, "") << row.written;
    EXPECT_EQ(fact.resolved, row.resolved) << row.written;
    EXPECT_EQ(fact.kind, row.kind) << row.written;
  }
  EXPECT_TRUE(observe_operand(path("ws"), "/cloche-shown/file", trees).rooted);
}

// Where a grant is shown around the directory, its names are looked up in the grant's source.
TEST_F(Operands, ADirectoryWithinAShownTreeIsWalkedInThatTree) {
  fs::create_directories(root / "data/ws");
  fs::create_symlink("/etc", root / "data/ws/file");
  const std::vector<ShownTree> trees = {{path("data"), root.string()}};
  EXPECT_EQ(observe_operand(path("ws"), "file", trees).resolved, "/etc");
  EXPECT_EQ(observe_operand(path("ws"), "file", {{path("data"), "/cloche-shown"}}).resolved, path("ws/file"));
}

TEST_F(Operands, WhetherTheHostHasTheFirstDirectory) {
  const std::pair<std::string, bool> rows[] = {
      {"/etc/x", true},
      {"//etc", true},
      {"/cloche-nowhere/../etc/x", true},
      {"/bin/x", true},
      {"file", true},
      {"../../../../../../etc", true},
      {"/cloche-nowhere", false},
      {"/cloche-nowhere/etc", false},
      {"/etc/../cloche-nowhere", false},
      {"/", false},
      {"//", false},
      {"/" + std::string(5000, 'x'), true},  // was not looked up
  };
  for (const auto& [written, rooted] : rows) EXPECT_EQ(at(written).rooted, rooted) << written.substr(0, 60);
}

TEST_F(Operands, ADoubtIsAProblem) {
  for (const std::string written :
       {"loop", "own", "own/x", "/proc/self/root/etc/passwd", "/dev/fd/0", "/proc/1"}) {
    EXPECT_NE(at(written).problem, "") << written;
  }
  EXPECT_NE(at(std::string("a\0b", 3)).problem, "");
  if (::geteuid() != 0) {
    ::chmod(path("ws/sub").c_str(), 0);
    EXPECT_NE(at("sub/x").problem, "");
    ::chmod(path("ws/sub").c_str(), 0755);
  }
}

TEST_F(Operands, WhatIsTooLongToOpenIsTakenByItsLetters) {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "a/";
  EXPECT_TRUE(at(deep + "x").resolved.starts_with(path("ws/a/a/")));
  std::string up;
  for (int i = 0; i < 5000; ++i) up += "../";
  EXPECT_EQ(at(up + "etc/passwd").resolved, "/etc/passwd");
  EXPECT_EQ(at(up).resolved, "/");
  EXPECT_EQ(at("/" + std::string(5000, '/') + "etc").resolved, "/etc");
  EXPECT_EQ(at(std::string(60'000, 'n')).resolved, path("ws/") + std::string(60'000, 'n'));
}

TEST_F(Operands, OneFactForEachInOrder) {
  const auto facts = observe_operands(path("ws"), {"file", "out"});
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].written, "file");
  EXPECT_EQ(facts[1].resolved, path("secret"));
}

}  // namespace
}  // namespace cloche
