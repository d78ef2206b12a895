// Which files are read, and which are refused although they are there.
#include "store/config/rule_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view known[] = {"permissions"};
constexpr const char* allow = R"({"permissions": {"default": "allow"}})";
constexpr const char* ask = R"({"permissions": {"default": "ask"}})";
constexpr const char* deny = R"({"permissions": {"default": "deny"}})";

class RuleFilesOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    root_ = fs::canonical(root_).string();
    for (const char* directory : {"/etc", "/home/.config/cloche", "/project/.cloche", "/project-two"})
      fs::create_directories(root_ + directory);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const { std::ofstream(root_ + path) << text; }

  ConfigPaths paths() const {
    return {.managed = root_ + "/etc/config.json",
            .user = root_ + "/home/.config/cloche/config.json",
            .workspace = root_ + "/project",
            .administrator = ::geteuid()};
  }

  // The decision about any call, or the refusal.
  std::string answer(const ConfigPaths& where) const {
    const auto files = read_config_files(where, known);
    if (!files.ok()) return without_root(files.error().what.text());
    const auto rules = rules_of(files.value());
    if (!rules.ok()) return without_root(rules.error().what.text());
    return std::string(name_of(rules_gate(rules.value(), {"run_shell", {}}).decision));
  }
  std::string answer() const { return answer(paths()); }

  std::string without_root(std::string text) const {
    for (size_t at = text.find(root_); at != std::string::npos; at = text.find(root_))
      text.erase(at, root_.size());
    return text;
  }

  std::string root_ = "/tmp/cloche-rules-XXXXXX";
};

TEST_F(RuleFilesOnDisk, AbsentIsFine) {
  EXPECT_EQ(answer(), "allow");
  fs::remove_all(root_ + "/project/.cloche");
  fs::remove_all(root_ + "/home");
  EXPECT_EQ(answer(), "allow");
  EXPECT_EQ(answer({.managed = "", .user = "", .workspace = root_ + "/project"}), "allow");
}

TEST_F(RuleFilesOnDisk, EachIsReadAndTheStrictestWins) {
  write("/project/.cloche/config.json", allow);
  EXPECT_EQ(answer(), "allow");
  write("/home/.config/cloche/config.json", ask);
  EXPECT_EQ(answer(), "ask") << "a project does not loosen the user's";
  write("/etc/config.json", deny);
  EXPECT_EQ(answer(), "deny") << "a user does not loosen the managed";
  write("/etc/config.json", allow);
  write("/project/.cloche/config.json", deny);
  EXPECT_EQ(answer(), "deny") << "a project tightens";
}

TEST_F(RuleFilesOnDisk, AWrongFileRefusesWithItsLine) {
  write("/home/.config/cloche/config.json", "{\n  \"permissions\": {},\n  \"sandbox\": \"off\"\n}");
  EXPECT_EQ(answer(), "/home/.config/cloche/config.json:3: unknown key \"sandbox\"");
  write("/home/.config/cloche/config.json", "{\n  \"permissions\": {\"rules\": [\n{\"tool\": \"a\"}]}\n}");
  EXPECT_EQ(answer(), "/home/.config/cloche/config.json:3: action is missing: allow, deny or ask");
  write("/home/.config/cloche/config.json", "");
  EXPECT_EQ(answer(), "/home/.config/cloche/config.json:1: expected a value, not the end of the text");
  write("/home/.config/cloche/config.json", "[]");
  EXPECT_EQ(answer(), "/home/.config/cloche/config.json:1: a configuration must be an object");
  write("/home/.config/cloche/config.json", "{}");
  write("/project/.cloche/config.json", "{");
  EXPECT_EQ(answer(), "/project/.cloche/config.json:1: expected a key in quotes, not the end of the text");
}

TEST_F(RuleFilesOnDisk, WhatIsNoPlainFileRefuses) {
  const std::string user = root_ + "/home/.config/cloche/config.json";
  ASSERT_EQ(::mkfifo(user.c_str(), 0600), 0);
  EXPECT_EQ(answer(), "/home/.config/cloche/config.json is not a regular file");
  fs::remove(user);
  fs::create_directory(user);
  EXPECT_EQ(answer(), "/home/.config/cloche/config.json is not a regular file");
  fs::remove(user);
  const std::string project = root_ + "/project/.cloche/config.json";
  ASSERT_EQ(::mkfifo(project.c_str(), 0600), 0);
  EXPECT_EQ(answer(), "/project/.cloche/config.json is not a regular file");
  fs::remove(project);
  fs::remove(root_ + "/project/.cloche");
  write("/project/.cloche", "");
  EXPECT_EQ(answer(), "open /project/.cloche/config.json: Not a directory");
}

TEST_F(RuleFilesOnDisk, WhatEveryUserCanWriteRefuses) {
  write("/home/.config/cloche/config.json", allow);
  fs::permissions(root_ + "/home/.config/cloche/config.json", fs::perms(0646));
  EXPECT_EQ(answer(), "/home/.config/cloche/config.json can be written by every user");
}

TEST_F(RuleFilesOnDisk, WhatBelongsToAnotherRefuses) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files away";
  write("/home/.config/cloche/config.json", allow);
  ASSERT_EQ(::chown((root_ + "/home/.config/cloche/config.json").c_str(), 12345, 0), 0);
  EXPECT_EQ(answer(), "/home/.config/cloche/config.json belongs to another user, id 12345");
}

TEST_F(RuleFilesOnDisk, OnlyTheAdministratorWritesTheManagedOneAndItsDirectory) {
  const struct {
    const char* path;
    unsigned mode;
    unsigned group;
    const char* answer;
  } rows[] = {
      {"/etc", 0755, 12345, "deny"},
      {"/etc", 0775, 0, "deny"},
      {"/etc", 0775, 12345, "/etc can be written by the group 12345"},
      {"/etc", 0777, 0, "/etc can be written by every user"},
      {"/etc", 01777, 0, "/etc can be written by every user"},
      {"/etc/config.json", 0664, 12345, "/etc/config.json can be written by the group 12345"},
      {"/etc/config.json", 0646, 0, "/etc/config.json can be written by every user"},
      {"/home/.config/cloche", 0775, 12345, "deny"},
      {"/home/.config/cloche", 0777, 0, "/home/.config/cloche can be written by every user"},
  };
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files to a group";
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.path) + " " + std::to_string(row.mode));
    write("/etc/config.json", deny);
    const std::string path = root_ + row.path;
    ASSERT_EQ(::chown(path.c_str(), 0, row.group), 0);
    ASSERT_EQ(::chmod(path.c_str(), row.mode), 0);
    EXPECT_EQ(answer(), row.answer);
    if (fs::is_directory(path) && std::string(row.answer) != "deny") {
      fs::remove(root_ + "/etc/config.json");  // another user may have removed it
      EXPECT_EQ(answer(), row.answer);
    }
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
    ASSERT_EQ(::chmod(path.c_str(), fs::is_directory(path) ? 0755 : 0644), 0);
  }
  ASSERT_EQ(::chown((root_ + "/etc").c_str(), 12345, 0), 0);
  EXPECT_EQ(answer(), "/etc belongs to another user, id 12345");
}

TEST_F(RuleFilesOnDisk, WhatCannotBeReadRefuses) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root reads everything";
  write("/home/.config/cloche/config.json", allow);
  fs::permissions(root_ + "/home/.config/cloche/config.json", fs::perms::none);
  EXPECT_EQ(answer(), "open /home/.config/cloche/config.json: Permission denied");
}

TEST_F(RuleFilesOnDisk, TheOperatorsFilesAreNotInTheWorkspace) {
  const std::string inside =
      "the configuration /project/x/config.json lies in the workspace /project, where an agent can write it";
  auto where = paths();
  where.user = root_ + "/project/x/config.json";
  EXPECT_EQ(answer(where), inside) << "also when it is not there yet";
  fs::create_directory(root_ + "/project/x");
  write("/project/x/config.json", allow);
  EXPECT_EQ(answer(where), inside);
  where = paths();
  where.managed = root_ + "/project/x/config.json";
  EXPECT_EQ(answer(where), inside);
  where.managed = root_ + "/project-two/../project/x/config.json";
  EXPECT_EQ(answer(where).find("allow"), std::string::npos);
  where.managed = root_ + "/project-two/config.json";
  write("/project-two/config.json", ask);
  EXPECT_EQ(answer(where), "ask") << "a sibling that shares the name's beginning is outside";
}

TEST_F(RuleFilesOnDisk, NoLinkLeadsThroughTheWorkspace) {
  const std::string user = root_ + "/home/.config/cloche/config.json";
  write("/outside.json", allow);
  fs::create_symlink(root_ + "/outside.json", root_ + "/project/link");
  fs::create_symlink("../../../project/link", user);
  EXPECT_EQ(
      answer(),
      "the configuration /home/.config/cloche/config.json lies in the workspace /project, where an agent "
      "can write it");
  fs::remove(user);
  fs::create_symlink(root_ + "/outside.json", user);
  write("/outside.json", ask);
  EXPECT_EQ(answer(), "ask") << "the control: a link elsewhere is the user's choice";
  fs::remove(root_ + "/outside.json");
  EXPECT_EQ(answer(), "follow a link of /home/.config/cloche/config.json: No such file or directory")
      << "rules that are only not mounted yet must not be taken for none";
}

TEST_F(RuleFilesOnDisk, ALinkIsWorthNoMoreThanThePlaceThatItLeadsTo) {
  fs::create_directory(root_ + "/elsewhere");
  write("/elsewhere/config.json", ask);
  fs::create_symlink(root_ + "/elsewhere/config.json", root_ + "/home/.config/cloche/config.json");
  EXPECT_EQ(answer(), "ask");
  fs::permissions(root_ + "/elsewhere", fs::perms(0777));
  EXPECT_EQ(answer(), "/elsewhere can be written by every user");
}

TEST_F(RuleFilesOnDisk, ALinkOnTheWayLeadsSomewhereOrRefuses) {
  fs::remove_all(root_ + "/home/.config");
  fs::create_directory_symlink(root_ + "/elsewhere", root_ + "/home/.config");
  EXPECT_EQ(answer(), "follow a link of /home/.config/cloche/config.json: No such file or directory");
  fs::create_directory(root_ + "/elsewhere");
  EXPECT_EQ(answer(), "allow") << "the link is whole and there is no file";
}

TEST_F(RuleFilesOnDisk, TheWorkspaceMayItselfBeALink) {
  fs::create_directory_symlink(root_ + "/project", root_ + "/alias");
  auto where = paths();
  where.workspace = root_ + "/alias";
  where.user = root_ + "/project/config.json";
  EXPECT_EQ(answer(where).find("the configuration /project/config.json lies in the workspace"), 0U);
}

TEST_F(RuleFilesOnDisk, TheProjectsFileIsItsOwn) {
  write("/secret.json", "{\"password-hunter2\": 1}");
  fs::create_symlink(root_ + "/secret.json", root_ + "/project/.cloche/config.json");
  EXPECT_EQ(answer(), "open /project/.cloche/config.json: Too many levels of symbolic links");
}

TEST(ConfigPaths, FollowTheEnvironment) {
  const auto user_of = [](std::vector<std::string> variables) {
    std::vector<char*> block;
    for (auto& variable : variables) block.push_back(variable.data());
    block.push_back(nullptr);
    const auto paths = config_paths(Environment(block.data()), "/w");
    return paths.ok() ? paths.value().user : "refused";
  };
  EXPECT_EQ(user_of({"XDG_CONFIG_HOME=/x", "HOME=/usr"}), "/x/cloche/config.json");
  EXPECT_EQ(user_of({"XDG_CONFIG_HOME=", "HOME=/usr"}), "/usr/.config/cloche/config.json");
  EXPECT_EQ(user_of({"HOME=/usr"}), "/usr/.config/cloche/config.json");
  EXPECT_EQ(user_of({"XDG_CONFIG_HOME=//x/./y/", "HOME=/usr"}), "/x/y/cloche/config.json");
  EXPECT_EQ(user_of({"XDG_CONFIG_HOME=/x", "HOME=h"}), "refused");
  EXPECT_EQ(user_of({"HOME=/usr/"}), "/usr/.config/cloche/config.json");
  EXPECT_EQ(user_of({"HOME=/"}), "/.config/cloche/config.json");
  EXPECT_EQ(user_of({}), "refused");
  EXPECT_EQ(user_of({"XDG_CONFIG_HOME=/x"}), "refused");
  EXPECT_EQ(user_of({"HOME=/nonexistent"}), "refused");
  EXPECT_EQ(user_of({"XDG_CONFIG_HOME=x", "HOME=/usr"}), "refused");
  EXPECT_EQ(user_of({"XDG_CONFIG_HOME=/x/../y", "HOME=/usr"}), "refused");
  EXPECT_EQ(user_of({"XDG_CONFIG_HOME=/", "HOME=/usr"}), "refused");
  EXPECT_EQ(user_of({"HOME=/usr/.."}), "refused");
  EXPECT_EQ(user_of({"HOME=h"}), "refused");
}

}  // namespace
}  // namespace cloche
