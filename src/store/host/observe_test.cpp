// The one look at the world, from a directory that the test makes.
#include "store/host/observe.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "policy/plan/system_view.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Kind = FileFact::Kind;

class Observe : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(path_.data()), nullptr);
    path_ = fs::canonical(path_).string();
    fs::create_directories(path_ + "/home/project");
    set({"HOME=" + path_ + "/home", "PATH=/usr/bin:/bin", "TERM=xterm", "SECRET=hidden", "ASKED=value"});
    request_.argv = {"true"};
    request_.workspace = path_ + "/home/project";
    request_.toolchains = "none";
  }
  void TearDown() override { fs::remove_all(path_); }

  void set(std::vector<std::string> variables) {
    variables_ = std::move(variables);
    block_.clear();
    for (auto& variable : variables_) block_.push_back(variable.data());
    block_.push_back(nullptr);
  }
  Environment environment() { return Environment(block_.data()); }
  CallerFact caller() { return observe_caller(request_, environment(), IdRange{}); }
  Observation observed() {
    auto seen = observe(request_, environment(), caller(), {path_ + "/state"});
    EXPECT_TRUE(seen.ok()) << seen.error().what;
    return std::move(seen).value();
  }

  std::string path_ = testing::TempDir() + "cloche-unit-XXXXXX";
  RunRequest request_;
  std::vector<std::string> variables_;
  std::vector<char*> block_;
};

TEST_F(Observe, TheCallerIsWhoRunsThis) {
  const CallerFact seen = caller();
  EXPECT_EQ(seen.uid, ::geteuid());
  EXPECT_EQ(seen.gid, ::getegid());
  EXPECT_EQ(seen.home, path_ + "/home");
  EXPECT_EQ(seen.path, "/usr/bin:/bin");
  EXPECT_TRUE(!seen.privileged || seen.uid == 0);
}

TEST_F(Observe, OfTheEnvironmentOnlyWhatWasAskedForIsRead) {
  request_.environment = {{.name = "ASKED"}, {.name = "ABSENT"}};
  const CallerFact seen = caller();
  EXPECT_EQ(seen.environment, (std::map<std::string, std::string>{{"ASKED", "value"}, {"TERM", "xterm"}}));
}

TEST_F(Observe, WhoCommitsIsReadFromTheUsersOwnConfiguration) {
  struct Row {
    std::string home;           // ~/.gitconfig; "-": there is none
    std::string beside;         // ~/.config/git/config
    std::string more_variable;  // of the environment
    GitIdentity identity;
  };
  const std::string config = path_ + "/home/.config/git/config";
  const std::string both = "[user]\n\tname = Ada\n\temail = a@b\n";
  const Row rows[] = {
      {both, "[user]\n\tname = Grace\n", "A=b", {"Ada", "a@b"}},
      {"[user]\n\tname = Ada\n", "[user]\n\tname = Grace\n\temail = g@h\n", "A=b", {"Ada", "g@h"}},
      {"-", both, "A=b", {"Ada", "a@b"}},
      {"-", "-", "A=b", {}},
      {both, both, "XDG_CONFIG_HOME=/nonexistent", {"Ada", "a@b"}},
      {"-", both, "XDG_CONFIG_HOME=/nonexistent", {}},
      {"-", both, "XDG_CONFIG_HOME=" + path_ + "/home/.config/", {"Ada", "a@b"}},
      {"[user]\n\tname = Grace\n", both, "GIT_CONFIG_GLOBAL=" + config, {"Ada", "a@b"}},
      {both, both, "GIT_CONFIG_GLOBAL=", {}},
      {both + std::string(70'000, '#'), "-", "A=b", {}},
  };
  fs::create_directories(path_ + "/home/.config/git");
  const auto put = [](const std::string& path, const std::string& text) {
    fs::remove(path);
    if (text != "-") std::ofstream(path) << text;
  };
  for (const auto& row : rows) {
    put(path_ + "/home/.gitconfig", row.home);
    put(config, row.beside);
    set({"HOME=" + path_ + "/home", row.more_variable});
    EXPECT_EQ(observed().facts.caller.git, row.identity) << row.home << row.beside << row.more_variable;
  }
}

TEST_F(Observe, AHomeIsResolvedOrNotThere) {
  fs::create_directory_symlink(path_ + "/home", path_ + "/link");
  const std::pair<std::string, std::string> rows[] = {{"HOME=" + path_ + "/link", path_ + "/home"},
                                                      {"HOME=" + path_ + "/home/", path_ + "/home"},
                                                      {"HOME=" + path_ + "/absent", ""},
                                                      {"HOME=", ""},
                                                      {"NOTHOME=x", ""},
                                                      {"HOME=/", ""}};
  for (const auto& [variable, home] : rows) {
    set({variable});
    EXPECT_EQ(caller().home, home) << variable;
  }
}

TEST_F(Observe, TheWorkspaceIsResolvedAndHeld) {
  fs::create_directory_symlink("home/project", path_ + "/link");
  request_.workspace = path_ + "/link";
  const Observation seen = observed();
  EXPECT_EQ(seen.facts.workspace.kind, Kind::directory);
  EXPECT_EQ(seen.facts.workspace.path, path_ + "/home/project");
  struct stat there {};
  ASSERT_EQ(::stat((path_ + "/home/project").c_str(), &there), 0);
  EXPECT_EQ(seen.facts.workspace.device, there.st_dev);
  EXPECT_EQ(seen.facts.workspace.inode, there.st_ino);
  EXPECT_EQ(seen.facts.workspace.uid, there.st_uid);
  EXPECT_GE(seen.held.size(), 1U);
}

TEST_F(Observe, WhatIsHiddenIsKnownByWhereItReallyIs) {
  const std::string project = path_ + "/home/project";
  fs::create_directories(path_ + "/run/tasks");
  fs::create_directories(project + "/tool_calls");
  std::ofstream(path_ + "/run/audit") << "x";
  fs::create_symlink("audit", path_ + "/run/link");
  fs::create_directory_symlink("run", path_ + "/around");
  const struct {
    std::string hidden, path;
    Kind kind;
  } rows[] = {
      {path_ + "/run/audit", path_ + "/run/audit", Kind::file},
      {path_ + "/run/tasks", path_ + "/run/tasks", Kind::directory},
      {path_ + "/run/absent", path_ + "/run/absent", Kind::absent},
      {path_ + "/absent/audit", path_ + "/absent/audit", Kind::absent},
      {path_ + "/run/audit/below", path_ + "/run/audit/below", Kind::absent},
      {path_ + "/run/link", path_ + "/run/audit", Kind::file},
      {path_ + "/around/tasks", path_ + "/run/tasks", Kind::directory},
      {path_ + "/run/../run/audit", path_ + "/run/audit", Kind::file},
      {project + "/tool_calls", project + "/tool_calls", Kind::directory},
  };
  for (const auto& row : rows) request_.hidden.push_back(row.hidden);
  const std::vector<FileFact> hidden = observed().facts.hidden;
  ASSERT_EQ(hidden.size(), std::size(rows));
  for (size_t i = 0; i < hidden.size(); ++i) {
    EXPECT_EQ(hidden[i].path, rows[i].path) << rows[i].hidden;
    EXPECT_EQ(hidden[i].kind, rows[i].kind) << rows[i].hidden;
  }
}

TEST_F(Observe, WhatIsMissingOrOddIsAFactAndNoError) {
  std::ofstream(path_ + "/file") << "x";
  const std::pair<std::string, Kind> rows[] = {{"/absent", Kind::absent},
                                               {"/file", Kind::file},
                                               {"/file/below", Kind::absent},
                                               {"/home", Kind::directory}};
  for (const auto& [name, kind] : rows) {
    request_.workspace = path_ + name;
    EXPECT_EQ(observed().facts.workspace.kind, kind) << name;
  }
  request_.workspace = "";
  EXPECT_EQ(observed().facts.workspace.kind, Kind::absent);
}

TEST_F(Observe, GrantsComeInTheirOrder) {
  std::ofstream(path_ + "/file") << "x";
  ASSERT_EQ(::mkfifo((path_ + "/fifo").c_str(), 0600), 0);
  request_.grants = {{.source = path_ + "/file"},
                     {.source = path_ + "/absent"},
                     {.source = path_ + "/fifo"},
                     {.source = path_ + "/home"}};
  const auto facts = observed().facts;
  ASSERT_EQ(facts.grants.size(), 4U);
  const Kind kinds[] = {Kind::file, Kind::absent, Kind::other, Kind::directory};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(facts.grants[i].kind, kinds[i]) << i;
}

TEST_F(Observe, WhatWasJudgedIsNotLookedUpAgain) {
  fs::create_directories(path_ + "/data");
  fs::create_directories(path_ + "/keys");
  struct stat judged {};
  ASSERT_EQ(::stat((path_ + "/data").c_str(), &judged), 0);
  Grant grant{.source = path_ + "/data"};
  grant.judged = FileFact{
      .kind = Kind::directory, .path = path_ + "/data", .device = judged.st_dev, .inode = judged.st_ino};
  request_.grants = {grant, {.source = path_ + "/data"}};
  fs::rename(path_ + "/data", path_ + "/away");  // by a call that runs meanwhile
  fs::create_directory_symlink(path_ + "/keys", path_ + "/data");
  const Observation seen = observed();
  EXPECT_EQ(seen.facts.grants[0].inode, judged.st_ino);
  EXPECT_EQ(seen.facts.grants[0].path, path_ + "/data");
  // What was not: where it leads, and by which link.
  EXPECT_EQ(seen.facts.grants[1].path, path_ + "/keys");
  EXPECT_EQ(seen.facts.grants[1].turns, std::vector{path_ + "/data"});
}

TEST_F(Observe, WhatLiesAboveOwnFilesIsKnownByWhatItIs) {
  fs::create_directories(path_ + "/runs/one");
  request_.hidden = {path_ + "/runs/one/audit.jsonl"};
  const Observation seen = observed();
  for (const std::string& above : {path_ + "/runs/one", path_ + "/runs", path_, std::string("/")}) {
    struct stat expected {};
    ASSERT_EQ(::lstat(above.c_str(), &expected), 0);
    const auto found = std::find_if(seen.facts.above_own.begin(), seen.facts.above_own.end(),
                                    [&](const FileFact& fact) { return fact.path == above; });
    ASSERT_NE(found, seen.facts.above_own.end()) << above;
    EXPECT_EQ(found->inode, expected.st_ino);
  }
}

TEST_F(Observe, TheSystemIsWhatTheTableNames) {
  const auto facts = observed().facts;
  EXPECT_FALSE(facts.system.empty());
  for (const auto& fact : facts.system) {
    EXPECT_TRUE(find_by(system_paths, &ShownPath::path, fact.path) != nullptr ||
                find_by(data_paths, &ShownPath::path, fact.path) != nullptr)
        << fact.path;
    EXPECT_TRUE(fact.kind == Kind::directory || fact.kind == Kind::link) << fact.path;
  }
  EXPECT_TRUE(facts.root.empty() && facts.secrets.empty()) << "only for the host view";
}

TEST_F(Observe, OfEtcNothingSecretIsSeen) {
  for (const auto& fact : observed().facts.etc) {
    EXPECT_TRUE(is_beneath("/etc", fact.path) && fact.path != "/etc") << fact.path;
    for (const char* secret : {"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_rsa_key",
                               "/etc/ssl/private/key.pem", "/etc/passwd", "/etc/hosts", "/etc/resolv.conf",
                               "/etc/krb5.keytab", "/etc/machine-id"}) {
      EXPECT_FALSE(is_beneath(fact.path, secret)) << fact.path << " shows " << secret;
    }
  }
}

bool has(const SharedList<FileFact>& list, const std::string& path) {
  return std::any_of(list.begin(), list.end(), [&](const FileFact& fact) { return fact.path == path; });
}

TEST_F(Observe, TheHostViewSeesTheRootAndTheSecrets) {
  fs::create_directories(path_ + "/home/.ssh");
  std::ofstream(path_ + "/home/.netrc") << "machine x";
  request_.view = View::host;
  CallerFact ordinary = caller();
  ordinary.privileged = false;
  const auto seen = observe(request_, environment(), ordinary, {""}).value();
  EXPECT_TRUE(seen.facts.system.empty() && seen.facts.etc.empty());
  EXPECT_TRUE(has(seen.facts.root, "/usr"));
  for (const char* own : {"/proc", "/sys", "/dev", "/tmp", "/run"})
    EXPECT_FALSE(has(seen.facts.root, own)) << own;
  EXPECT_TRUE(has(seen.facts.secrets, path_ + "/home/.ssh"));
  EXPECT_TRUE(has(seen.facts.secrets, path_ + "/home/.netrc"));
}

TEST_F(Observe, ASecretBehindALinkIsMaskedWhereItIs) {
  fs::create_directories(path_ + "/vault/keys");
  fs::create_directory_symlink(path_ + "/vault/keys", path_ + "/home/.ssh");
  fs::create_directory_symlink(path_ + "/home", path_ + "/linked-home");
  request_.view = View::host;
  CallerFact ordinary = caller();
  ordinary.privileged = false;
  ordinary.home = path_ + "/linked-home";
  const auto seen = observe(request_, environment(), ordinary, {""}).value();
  EXPECT_TRUE(has(seen.facts.secrets, path_ + "/vault/keys"));
  EXPECT_FALSE(has(seen.facts.secrets, path_ + "/home/.ssh")) << "a mask cannot be put on a link";
}

TEST_F(Observe, ForRootEveryHomeIsASecretWhole) {
  request_.view = View::host;
  CallerFact root = caller();
  root.privileged = true;
  const auto seen = observe(request_, environment(), root, {""}).value();
  EXPECT_TRUE(has(seen.facts.secrets, path_ + "/home"));
}

TEST_F(Observe, ForRootWhatIsClosedAboveItsOwnFilesIsASecretWhole) {
  std::string outside = "/var/tmp/cloche-unit-XXXXXX";  // the host's /tmp is in no view
  ASSERT_NE(::mkdtemp(outside.data()), nullptr);
  fs::create_directories(outside + "/inner/state");
  request_.view = View::host;
  CallerFact caller_now = caller();
  const auto is_masked = [&](const std::string& path) {
    const auto seen = observe(request_, environment(), caller_now, {outside + "/inner/state"}).value();
    return has(seen.facts.secrets, path);
  };
  caller_now.privileged = true;
  EXPECT_TRUE(is_masked(outside)) << "the outermost";
  EXPECT_FALSE(is_masked(outside + "/inner"));
  fs::permissions(outside, fs::perms(0755));
  EXPECT_FALSE(is_masked(outside) || is_masked(outside + "/inner"));
  fs::permissions(outside + "/inner", fs::perms(0750));
  EXPECT_TRUE(is_masked(outside + "/inner"));
  caller_now.privileged = false;
  EXPECT_FALSE(is_masked(outside + "/inner")) << "to the caller's own command it is open";
  fs::remove_all(outside);
}

TEST_F(Observe, OwnStateIsSeenWhereItIsOrWouldBe) {
  EXPECT_EQ(observed().facts.state.path, path_ + "/state");
  EXPECT_FALSE(observed().facts.state.exists());
  fs::create_directory(path_ + "/state");
  EXPECT_TRUE(observed().facts.state.exists());
  fs::create_directory_symlink(path_ + "/home", path_ + "/link");
  const auto behind_a_link =
      observe(request_, environment(), caller(), {path_ + "/link/below/state"}).value();
  EXPECT_EQ(behind_a_link.facts.state.path, path_ + "/home/below/state");
  EXPECT_FALSE(behind_a_link.facts.state.exists());
  EXPECT_EQ(observe(request_, environment(), caller(), {""}).value().facts.state.path, "");
}

TEST_F(Observe, AnUnknownToolchainIsAnErrorAndNotSilence) {
  request_.toolchains = "rust";
  const auto seen = observe(request_, environment(), caller(), {""});
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().cause, Cause::usage);
}

TEST_F(Observe, MountsBelowAreThoseOfTheKernelsTable) {
  Facts facts;
  ASSERT_TRUE(observe_mounts_below(facts).ok());
  EXPECT_TRUE(has(facts.mounts_below, "/"));
  EXPECT_TRUE(has(facts.mounts_below, "/proc"));
  for (const auto& fact : facts.mounts_below) EXPECT_TRUE(fact.exists() && fact.path[0] == '/') << fact.path;
}

}  // namespace
}  // namespace cloche
