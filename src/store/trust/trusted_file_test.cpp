// Paths to files of the operator, by what they pass: a command can replace a link in the workspace, whatever
// the link leads to.
#include "store/trust/trusted_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace cloche {
namespace {

namespace fs = std::filesystem;

class PathsPassed : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    root_ = fs::canonical(root_).string();
    for (const char* directory : {"ws/own", "ws-two", "out/tools"}) fs::create_directories(at(directory));
    link("ws/leads-out", "out");
    link("ws/to-tools", "out/tools");
    link("ws/nowhere", "out/missing");
    link("outer", "ws/leads-out");
    link("beside", "out");
    fs::create_symlink("../ws/own/../../out", at("out/by-parents"));
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string at(const std::string& below) const { return root_ + "/" + below; }
  void link(const std::string& name, const std::string& to) const { fs::create_symlink(at(to), at(name)); }
  std::string said(const std::string& path) const {
    const auto judged = judge_crossing("it", observe_crossing(at(path), at("ws")));
    if (judged.ok()) return "";
    return judged.error().what.text().find("reached through") != std::string::npos ? "reached" : "lies";
  }

  std::string root_ = "/tmp/cloche-passed-XXXXXX";
};

TEST_F(PathsPassed, AreJudgedOneByOne) {
  const struct {
    const char* path;
    const char* said;  // empty: a command can change none of it
  } rows[] = {
      {"out/tools", ""},
      {"beside/tools", ""},
      {"ws-two", ""},
      {"out/missing", ""},
      {"ws", "lies"},
      {"ws/own", "lies"},
      {"ws/missing", "lies"},
      {"ws/to-tools", "reached"},
      {"ws/leads-out/tools", "reached"},  // in the middle
      {"outer/tools", "reached"},         // behind a link outside the workspace
      {"out/by-parents/tools", "reached"},
      {"ws/nowhere", "lies"},
  };
  for (const auto& row : rows) EXPECT_EQ(said(row.path), row.said) << row.path;
  EXPECT_TRUE(judge_crossing("it", observe_crossing(at("ws/own"), "")).ok()) << "there is no workspace";
}

}  // namespace
}  // namespace cloche
