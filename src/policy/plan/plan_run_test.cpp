// The rules of the planner one by one; plan_golden_test.cpp has whole plans, plan_properties_test.cpp what
// always holds.
#include <algorithm>
#include <functional>

#include "policy/plan/plan_run_fixture.hpp"
#include "policy/plan/system_view.hpp"

namespace cloche {
namespace {

using namespace plan_run_fixture;

// By whichever of these a command could choose what the next call reads, shows or writes.
TEST(PlanRun, NothingOfTheOperatorsIsReachedThroughWhatCommandsWrite) {
  const struct {
    const char* turn;
    bool refused;
  } rows[] = {{"/home/user/project/link", true},
              {"/srv/shared/link", true},     // --rw
              {"/srv/task/home/link", true},  // what a task shares
              {"/srv/read/link", false},
              {"/home/user/link", false}};
  for (const auto& row : rows) {
    const auto planned = [&](const std::function<void(Facts&, const FileFact&)>& reached) {
      RunRequest request = plain_request();
      request.grants = {{.source = "/srv/shared", .writable = true}, {.source = "/srv/read"}};
      request.own = {{.source = "/srv/task/home", .target = "/home/cloche", .writable = true},
                     {.source = "/opt/tools"}};
      Facts facts = plain_host();
      facts.grants = {directory("/srv/shared"), directory("/srv/read")};
      facts.own = {directory("/srv/task/home"), directory("/opt/tools")};
      FileFact place = directory("/opt/elsewhere");
      place.turns = {row.turn};
      reached(facts, place);
      return plan_run(request, facts);
    };
    const Result<ConfinementPlan> plans[] = {
        planned([](Facts& facts, const FileFact& place) { facts.state = place; }),
        planned([](Facts& facts, const FileFact& place) { facts.configuration = {place}; }),
        planned([](Facts& facts, const FileFact& place) { facts.kept = {place}; }),
        planned([](Facts& facts, const FileFact& place) { facts.own[1] = place; })};
    for (const auto& plan : plans) {
      EXPECT_EQ(plan.ok(), !row.refused) << row.turn;
      if (!plan.ok()) {
        EXPECT_NE(plan.error().what.text().find(row.turn), std::string::npos) << plan.error().what;
      }
    }
  }
}

struct GrantCase {
  const char* target;
  Kind kind;
  bool writable;
  Profile profile;
  const char* complaint;  // nullptr: granted
};

TEST(PlanRun, JudgesEveryGrant) {
  constexpr auto usual = Profile::workspace_write_no_network;
  const GrantCase rows[] = {
      {"", Kind::directory, false, usual, nullptr},
      {"", Kind::file, true, usual, nullptr},
      {"/data", Kind::directory, true, usual, nullptr},
      {"/tmp/in", Kind::directory, false, usual, nullptr},
      {"/device", Kind::directory, false, usual, nullptr},
      {"/processes", Kind::directory, false, usual, nullptr},
      {"", Kind::directory, false, Profile::readonly, nullptr},
      {"", Kind::absent, false, usual, "no such file or directory"},
      {"/data", Kind::absent, true, usual, "no such file or directory"},
      {"", Kind::other, false, usual, "a socket, a device or a pipe"},
      {"/", Kind::directory, false, usual, "cannot be shown at /"},
      {"/proc", Kind::directory, false, usual, "cannot be shown at /proc"},
      {"/proc/self", Kind::directory, false, usual, "cannot be shown at /proc/self"},
      {"/dev", Kind::directory, false, usual, "cannot be shown at /dev"},
      {"/dev/null", Kind::file, false, usual, "cannot be shown at /dev/null"},
      {"data", Kind::directory, false, usual, "must be an absolute path"},
      {"/data/", Kind::directory, false, usual, "must be an absolute path"},
      {"/data/../etc", Kind::directory, false, usual, "must be an absolute path"},
      {"/./data", Kind::directory, false, usual, "must be an absolute path"},
      {"//data", Kind::directory, false, usual, "must be an absolute path"},
      {"", Kind::directory, true, Profile::readonly, "contradicts --profile readonly"},
  };
  for (const auto& row : rows) {
    RunRequest request = plain_request();
    request.profile = row.profile;
    request.grants = {{.source = "given", .target = row.target, .writable = row.writable}};
    Facts facts = plain_host();
    facts.grants = {{.kind = row.kind, .path = "/srv/given"}};
    const auto plan = plan_run(request, facts);
    if (row.complaint != nullptr) {
      ASSERT_FALSE(plan.ok()) << row.target;
      EXPECT_NE(plan.error().what.text().find(row.complaint), std::string::npos) << plan.error().what;
      EXPECT_NE(plan.error().what.text().find(row.writable ? "--rw given" : "--ro given"), std::string::npos)
          << plan.error().what;
      continue;
    }
    ASSERT_TRUE(plan.ok()) << plan.error().what;
    const ViewEntry* entry = find(plan.value(), *row.target != '\0' ? row.target : "/srv/given");
    ASSERT_NE(entry, nullptr) << row.target;
    EXPECT_EQ(entry->source, "/srv/given");
    EXPECT_EQ(entry->access, row.writable ? Access::write_run : Access::run);
    EXPECT_EQ(entry->file, row.kind == Kind::file);
    EXPECT_TRUE(entry->owned);
  }
}

TEST(PlanRun, TheLaterOfTwoGrantsForOnePlaceWins) {
  RunRequest request = plain_request();
  request.grants = {{.source = "a", .target = "/data", .writable = true}, {.source = "b", .target = "/data"}};
  Facts facts = plain_host();
  facts.grants = {directory("/srv/a"), directory("/srv/b")};
  const auto plan = plan_run(request, facts);
  EXPECT_EQ(find(plan.value(), "/data")->source, "/srv/b");
  EXPECT_EQ(find(plan.value(), "/data")->access, Access::run);
}

TEST(PlanRun, AGrantDoesNotCoverTheCommandsOwnHome) {
  RunRequest request = plain_request();
  Facts facts = plain_host();
  const struct {
    const char* target;
    bool taken;
  } rows[] = {
      {"/home", false}, {"/home/cloche", true}, {"/home/cloche/data", true}, {"/home/user/data", true}};
  for (const auto& row : rows) {
    request.grants = {{.source = "a", .target = row.target}};
    facts.grants = {directory("/srv/a")};
    const auto plan = plan_run(request, facts);
    ASSERT_EQ(plan.ok(), row.taken) << row.target;
    if (!plan.ok()) {
      EXPECT_NE(plan.error().what.text().find("own home"), std::string::npos) << plan.error().what;
    }
  }
}

TEST(PlanRun, AGrantCanTakeTheWorkspacesPlace) {
  RunRequest request = plain_request();
  request.grants = {{.source = "."}};
  Facts facts = plain_host();
  facts.grants = {facts.workspace};
  EXPECT_EQ(find(plan_run(request, facts).value(), "/home/user/project")->access, Access::run);
}

TEST(PlanRun, ALinkGivesWayToWhatLiesBelowIt) {
  Facts facts = plain_host();
  facts.workspace = directory("/var/tmp/project");
  const auto plan = plan_run(plain_request(), facts);
  EXPECT_EQ(find(plan.value(), "/var/tmp"), nullptr);
  EXPECT_NE(find(plan.value(), "/var/tmp/project"), nullptr);
  EXPECT_NE(find(plan_run(plain_request(), plain_host()).value(), "/var/tmp"), nullptr);
}

TEST(PlanRun, RefusesItsOwnStateInTheWorkspace) {
  for (const char* state : {"/home/user/project", "/home/user/project/.state/cloche"}) {
    Facts facts = plain_host();
    facts.state.path = state;  // also before it exists: this call would make it there
    const auto plan = plan_run(plain_request(), facts);
    ASSERT_FALSE(plan.ok()) << state;
    EXPECT_NE(plan.error().what.text().find(state), std::string::npos);
    EXPECT_NE(plan.error().fix.text().find("XDG_STATE_HOME"), std::string::npos);
  }
  Facts facts = plain_host();
  facts.state = directory("/home/user/project2/cloche");
  EXPECT_TRUE(plan_run(plain_request(), facts).ok());
}

TEST(PlanRun, RefusesAWorkspaceThatCannotBeOne) {
  for (const char* path : {"/", "/etc", "/home/user", "/home"}) {
    Facts facts = plain_host();
    facts.workspace = directory(path);
    EXPECT_FALSE(plan_run(plain_request(), facts).ok()) << path;
  }
}

struct PathCase {
  const char* callers;
  const char* expected;
};

TEST(PlanRun, ToolchainsStandOnPathWhereTheCallerHasThem) {
  const std::string system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const std::string before = "/chain:" + system;
  const std::string after = system + ":/chain";
  const std::pair<const char*, std::string> rows[] = {
      {"/chain:/usr/bin:/bin", before},
      {"/x:/chain:/usr/local/bin:/bin", before},
      {"/usr/bin:/bin:/chain", after},
      {"/usr/bin:/chain:/bin", after},
      {"/usr/bin", after},
      {"", after},
      {"/chain", before},
      {"/chain2:/usr/bin", after},
      {"/x/chain:/usr/bin", after},
  };
  for (const auto& [callers, expected] : rows) {
    Facts facts = plain_host();
    facts.caller.path = callers;
    facts.toolchains = {{.name = "go", .path = {"/chain"}}};
    EXPECT_EQ(variable(plan_run(plain_request(), facts).value(), "PATH"), expected) << callers;
  }
}

TEST(PlanRun, WhatIsGrantedStandsOnThePathWhereTheCallerHasIt) {
  const std::string system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  struct Row {
    const char* callers;
    Grant grant;
    FileFact found;
    std::string expected;
  };
  const FileFact program{.kind = Kind::file, .path = "/home/u/bin/tool"};
  const Row rows[] = {
      {"/home/u/bin:/usr/bin", {"/home/u/bin"}, directory("/home/u/bin"), "/home/u/bin:" + system},
      {"/usr/bin:/home/u/bin", {"/home/u/bin"}, directory("/home/u/bin"), system + ":/home/u/bin"},
      {"/home/u/bin:/usr/bin", {"/home/u"}, directory("/home/u"), "/home/u/bin:" + system},
      {"/home/u/bin:/usr/bin", {"/home/u/bin/tool"}, program, "/home/u/bin:" + system},
      {"/home/u/bin:/usr/bin", {"bin"}, directory("/home/u/bin"), "/home/u/bin:" + system},
      {"/link:/usr/bin", {"/link"}, directory("/home/u/bin"), "/link:" + system},
      {"/home/u/bin:/usr/bin", {"/other"}, directory("/other"), system},
      {"/home/u/bin:/usr/bin", {"/home/u/bin/deep"}, directory("/home/u/bin/deep"), system},
      {"/usr/bin", {"/home/u/bin"}, directory("/home/u/bin"), system},
      {"/home/u/bin:/usr/bin", {"/home/u/bin", "/elsewhere"}, directory("/home/u/bin"), system},
      {"/home/u/bin:/usr/bin", {"/home/u/bin", "", true}, directory("/home/u/bin"), system},
      {"/usr/local/bin:/usr/bin", {"/usr/local"}, directory("/usr/local"), system},
      {"bin:.::/usr/bin", {"/home/u/bin"}, directory("/home/u/bin"), system},
  };
  for (const auto& row : rows) {
    RunRequest request = plain_request();
    request.grants = {row.grant};
    Facts facts = plain_host();
    facts.caller.path = row.callers;
    facts.grants = {row.found};
    const std::string about = std::string(row.callers) + " " + row.grant.source;
    EXPECT_EQ(variable(plan_run(request, facts).value(), "PATH"), row.expected) << about;
    request.tool_call = true;
    EXPECT_EQ(variable(plan_run(request, facts).value(), "PATH"), system) << about;
  }
}

TEST(PlanRun, WhatCannotWorkInAToolchainIsEmptyWhereThereAreMounts) {
  Facts facts = plain_host();
  facts.toolchains = {
      {.name = "pyenv", .trees = {directory("/data/pyenv")}, .masked = {"/data/pyenv/pyenv.d/exec"}}};
  RunRequest request = plain_request();
  const auto plan = plan_run(request, facts).value();
  const ViewEntry* mask = find(plan, "/data/pyenv/pyenv.d/exec");
  ASSERT_NE(mask, nullptr);
  EXPECT_EQ(mask->access, Access::none);
  request.level = IsolationLevel::subprocess;
  EXPECT_EQ(find(plan_run(request, facts).value(), "/data/pyenv/pyenv.d/exec"), nullptr);
}

// Of a workspace that has the home, or a directory that a setting names, in it.
TEST(PlanRun, NoLinkOfAToolchainIsMadeInTheWorkspace) {
  Facts facts = plain_host();
  const std::string within = facts.workspace.path + "/.npm/_cacache";
  const auto link = [](const std::string& path) {
    return FileFact{.kind = Kind::link, .path = path, .link = "/data/npm"};
  };
  facts.toolchains = {
      {.name = "npm", .trees = {link(within), link("/home/x/.npm/_cacache"), directory("/data/npm")}}};
  const auto plan = plan_run(plain_request(), facts).value();
  EXPECT_EQ(find(plan, within), nullptr);
  EXPECT_NE(find(plan, "/home/x/.npm/_cacache"), nullptr);
  EXPECT_NE(find(plan, "/data/npm"), nullptr);
}

TEST(PlanRun, TheEnvironmentIsBuiltFromNothing) {
  RunRequest request = plain_request();
  request.environment = {{.name = "GIVEN", .value = "value"},
                         {.name = "PASSED"},
                         {.name = "ABSENT"},
                         {.name = "EMPTY", .value = ""},
                         {.name = "HOME", .value = "/elsewhere"}};
  Facts facts = plain_host();
  facts.caller.environment = {{"PASSED", "callers"}, {"TERM", "xterm-256color"}};
  const auto plan = plan_run(request, facts).value();
  EXPECT_EQ(variable(plan, "GIVEN"), "value");
  EXPECT_EQ(variable(plan, "PASSED"), "callers");
  EXPECT_EQ(variable(plan, "EMPTY"), "");
  EXPECT_EQ(variable(plan, "HOME"), "/elsewhere") << "what the operator says comes last";
  EXPECT_EQ(variable(plan, "ABSENT"), "(unset)");
  EXPECT_EQ(variable(plan, "TERM"), "(unset)") << "there is no terminal";
  EXPECT_EQ(variable(plan, "TMPDIR"), "/tmp");
  EXPECT_EQ(variable(plan_run(plain_request(), facts).value(), "HOME"), "/home/cloche");
}

TEST(PlanRun, ASecretStandsOverEveryVariableOfItsName) {
  RunRequest request = plain_request();
  request.environment = {{.name = "A", .value = "shown"}, {.name = "PASSED"}};
  request.secrets = {{"A", "one", "f1"}, {"PASSED", "two", "f2"}, {"NODE_OPTIONS", "three", "f3"}};
  Facts facts = plain_host();
  facts.caller.environment = {{"PASSED", "callers"}};
  const auto plan = plan_run(request, facts).value();
  EXPECT_EQ(plan.secrets, request.secrets);
  for (const char* name : {"A", "PASSED", "NODE_OPTIONS"}) EXPECT_EQ(variable(plan, name), "(unset)") << name;
  EXPECT_NE(variable(plan, "GOMEMLIMIT"), "(unset)") << "the other runtimes are told all the same";
}

TEST(PlanRun, WithoutANetworkProgramsAreToldNotToTryAgain) {
  const auto retries = [](const RunRequest& request) {
    return variable(plan_run(request, plain_host()).value(), "npm_config_fetch_retries");
  };
  EXPECT_EQ(retries(plain_request()), "0");
  RunRequest request = plain_request();
  request.environment = {{.name = "npm_config_fetch_retries", .value = "5"}};
  EXPECT_EQ(retries(request), "5");
  for (const auto& own :
       {Pass{.name = "NPM_CONFIG_FETCH_RETRIES", .value = "5"}, Pass{.name = "npm_config_fetch_retries"}}) {
    request.environment = {own};
    EXPECT_EQ(retries(request), "(unset)") << "what the caller passes in other letters, or by its name alone";
  }
  request = plain_request();
  request.profile = Profile::workspace_write;
  request.hosts = {"a.org:443"};
  EXPECT_EQ(retries(request), "(unset)");
  request.hosts = {};
  request.network = Network::of_host;
  EXPECT_EQ(retries(request), "(unset)");
  request = plain_request();
  request.level = IsolationLevel::permissive;
  EXPECT_EQ(retries(request), "(unset)") << "nothing keeps it from the host's network";
}

TEST(PlanRun, PublishesPortsOfOurOwnSandboxAlone) {
  RunRequest request = plain_request();
  request.published = {{8080, 3000}};
  const auto plan = plan_run(request, plain_host()).value();
  EXPECT_EQ(plan.published, request.published);
  EXPECT_NE(digest_of(plan), digest_of(plan_run(plain_request(), plain_host()).value()));
  request.backend = Backend::bwrap;
  EXPECT_FALSE(plan_run(request, plain_host()).ok());
  request.backend = {};
  request.level = IsolationLevel::subprocess;
  EXPECT_FALSE(plan_run(request, plain_host()).ok());
  request = plain_request();
  request.published = {{8080, 3000}};
  request.profile = Profile::workspace_write;
  request.network = Network::of_host;
  EXPECT_FALSE(plan_run(request, plain_host()).ok()) << "its servers are the host's already";
}

// Where names may lead is the operator's word, and of a plan only what is about its hosts.
TEST(PlanRun, TakesTheRangesOfTheHostsThatItReaches) {
  RunRequest request = plain_request();
  request.ranges = {"a.org@10.0.0.0/8:443", "*.corp.example@10.1.0.0/16:443", "b.org@10.2.0.0/16:443"};
  const auto ranges = [&](const std::vector<std::string>& hosts) {
    request.hosts = hosts;
    request.profile = hosts.empty() ? Profile::workspace_write_no_network : Profile::workspace_write;
    return plan_run(request, plain_host()).value().ranges;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(ranges({}), Texts{});
  EXPECT_EQ(ranges({"a.org:80"}), Texts{});
  EXPECT_EQ(ranges({"a.org:443"}), (Texts{"a.org@10.0.0.0/8:443"}));
  EXPECT_EQ(ranges({"x.corp.example:443"}), (Texts{"*.corp.example@10.1.0.0/16:443"}));
  EXPECT_EQ(ranges({"*.corp.example:443", "c.org:443"}), (Texts{"*.corp.example@10.1.0.0/16:443"}));
}

TEST(PlanRun, WhereNoProcessAnswersNamesAreLookedUpInFilesAlone) {
  RunRequest request = plain_request();
  const auto switches = [&] {
    const auto plan = plan_run(request, plain_host()).value();
    const ViewEntry* file = find(plan, "/etc/nsswitch.conf");
    return file != nullptr && file->content.find("hosts: files\n") != std::string::npos;
  };
  EXPECT_FALSE(switches()) << "our own sandbox has a resolver, which hears the names";
  request.backend = Backend::bwrap;
  EXPECT_TRUE(switches());
}

TEST(PlanRun, WhoCommitsIsSaidWhereARepositorysOwnWordCounts) {
  struct Row {
    GitIdentity identity;
    View view;
    IsolationLevel level;
    const char* file;  // what GIT_CONFIG_SYSTEM says
    const char* email;
  };
  const char* const no = "(unset)";
  const char* const ours = "/etc/cloche-gitconfig";
  const GitIdentity ada = {"Ada", "a@b"};
  const Row rows[] = {
      {ada, View::curated, IsolationLevel::namespaces, ours, no},
      {ada, View::curated, IsolationLevel::container, ours, no},
      {{"Ada", ""}, View::curated, IsolationLevel::namespaces, ours, no},
      {{}, View::curated, IsolationLevel::namespaces, no, no},
      {ada, View::curated, IsolationLevel::subprocess, no, "a@b"},
      {ada, View::host, IsolationLevel::namespaces, no, "a@b"},
      {{"Ada", ""}, View::host, IsolationLevel::namespaces, no, no},
  };
  for (const auto& row : rows) {
    Facts facts = plain_host();
    facts.caller.git = row.identity;
    RunRequest request = plain_request();
    request.view = row.view;
    request.level = row.level;
    const auto plan = plan_run(request, facts).value();
    EXPECT_EQ(variable(plan, "GIT_CONFIG_SYSTEM"), row.file);
    EXPECT_EQ(variable(plan, "EMAIL"), row.email);
    const ViewEntry* file = find(plan, ours);
    ASSERT_EQ(file != nullptr, row.file == ours);
    if (file != nullptr) {
      EXPECT_NE(file->content.find("name = \"Ada\""), std::string::npos) << file->content;
    }
  }
  Facts facts = plain_host();
  facts.caller.git = ada;
  RunRequest request = plain_request();
  request.environment = {{"GIT_CONFIG_SYSTEM", "/dev/null"}};
  EXPECT_EQ(variable(plan_run(request, facts).value(), "GIT_CONFIG_SYSTEM"), "/dev/null");
}

TEST(PlanRun, GitOfRootDoesNotTakeTheIdsOfFilesForChanges) {
  Facts facts = plain_host();
  facts.caller.git = {};
  EXPECT_EQ(find(plan_run(plain_request(), facts).value(), "/etc/cloche-gitconfig"), nullptr);
  facts.caller.privileged = true;
  const auto plan = plan_run(plain_request(), facts).value();
  EXPECT_EQ(variable(plan, "GIT_CONFIG_SYSTEM"), "/etc/cloche-gitconfig");
  EXPECT_NE(find(plan, "/etc/cloche-gitconfig")->content.find("checkStat = minimal"), std::string::npos);
}

TEST(PlanRun, TermComesWithATerminal) {
  RunRequest request = plain_request();
  request.terminal = true;
  Facts facts = plain_host();
  EXPECT_EQ(variable(plan_run(request, facts).value(), "TERM"), "xterm");
  facts.caller.environment["TERM"] = "screen";
  EXPECT_EQ(variable(plan_run(request, facts).value(), "TERM"), "screen");
}

TEST(PlanRun, LeakDetectionIsOffExactlyWhenTracingIs) {
  RunRequest request = plain_request();
  EXPECT_EQ(variable(plan_run(request, plain_host()).value(), "ASAN_OPTIONS"), "detect_leaks=0");
  request.debugging = true;
  EXPECT_EQ(variable(plan_run(request, plain_host()).value(), "ASAN_OPTIONS"), "(unset)");
}

TEST(PlanRun, RuntimesAreToldOfTheMemoryLimitUnlessTheCallerDoes) {
  RunRequest request = plain_request();
  request.limits.memory_bytes = 256 << 20;
  EXPECT_EQ(variable(plan_run(request, plain_host()).value(), "NODE_OPTIONS"), "--max-old-space-size=128");
  request.environment = {{.name = "NODE_OPTIONS", .value = "--enable-source-maps"},
                         {.name = "_JAVA_OPTIONS"}};
  Facts facts = plain_host();
  facts.caller.environment["_JAVA_OPTIONS"] = "-Xmx64m";
  const ConfinementPlan plan = plan_run(request, facts).value();
  EXPECT_EQ(variable(plan, "NODE_OPTIONS"), "--enable-source-maps");
  EXPECT_EQ(variable(plan, "JDK_JAVA_OPTIONS"), "(unset)");
  EXPECT_NE(variable(plan, "GOMEMLIMIT"), "(unset)");
}

TEST(PlanRun, NobodyIsRootInside) {
  const struct {
    CallerFact caller;
    unsigned uid;
    unsigned gid;
  } rows[] = {
      {{.uid = 0, .gid = 0, .privileged = true}, 1000, 1000},
      {{.uid = 0, .gid = 0, .privileged = false}, 1000, 1000},
      {{.uid = 1001, .gid = 1002, .privileged = false}, 1001, 1002},
      {{.uid = 65534, .gid = 65534, .privileged = false}, 65534, 65534},
      {{.uid = 1001, .gid = 0, .privileged = false}, 1001, 1000},
  };
  for (const auto& [caller, uid, gid] : rows) {
    Facts facts = plain_host();
    facts.caller = caller;
    const auto plan = plan_run(plain_request(), facts).value();
    EXPECT_EQ(plan.inside_uid, uid);
    EXPECT_EQ(plan.inside_gid, gid);
    const std::string passwd = find(plan, "/etc/passwd")->content;
    const std::string own = ":x:" + std::to_string(uid) + ":";
    EXPECT_NE(passwd.find(own), std::string::npos) << passwd;
    EXPECT_EQ(passwd.find(own), passwd.rfind(own)) << "one user for one id: " << passwd;
  }
}

TEST(PlanRun, StartsInTheDirectoryThatWasAskedFor) {
  const std::pair<std::optional<std::string>, const char*> rows[] = {
      {std::nullopt, "/home/user/project"},
      {"/tmp", "/tmp"},
      {"sub", "/home/user/project/sub"},
      {".", "/home/user/project"},
      {"/home/user/project/", "/home/user/project"},
      {".//sub/.", "/home/user/project/sub"},
      {"sub/..", "/home/user/project/sub/.."},
      {"/", "/"}};
  for (const auto& [asked, expected] : rows) {
    RunRequest request = plain_request();
    request.directory = asked;
    EXPECT_EQ(plan_run(request, plain_host()).value().directory, expected);
  }
}

TEST(PlanRun, TheGitDirectoryOfAWorktreeIsReadOnlyAndNotShownTwice) {
  Facts facts = plain_host();
  facts.git_common = directory("/home/user/repository/.git");
  EXPECT_EQ(find(plan_run(plain_request(), facts).value(), "/home/user/repository/.git")->access,
            Access::read);
  facts.git_common = directory("/home/user/project/inner/.git");
  EXPECT_EQ(find(plan_run(plain_request(), facts).value(), "/home/user/project/inner/.git"), nullptr);
}

TEST(PlanRun, HostMountsBelowAreCoveredAndNothingElseIs) {
  Facts facts = plain_host();
  facts.mounts_below = {directory("/"),
                        directory("/home/user/project"),
                        directory("/home/user/project/mnt"),
                        {.kind = Kind::file, .path = "/home/user/project/file"},
                        directory("/home/user/project2/mnt")};
  const auto plan = plan_run(plain_request(), facts).value();
  EXPECT_TRUE(find(plan, "/home/user/project")->recursive)
      << "an ordinary user can clone it only with what is below";
  EXPECT_EQ(find(plan, "/home/user/project")->access, Access::write_run);
  ASSERT_NE(find(plan, "/home/user/project/mnt"), nullptr);
  EXPECT_EQ(find(plan, "/home/user/project/mnt")->kind, EntryKind::tmpfs);
  EXPECT_EQ(find(plan, "/home/user/project/mnt")->access, Access::none);
  EXPECT_EQ(find(plan, "/home/user/project/file")->source, "/dev/null");
  EXPECT_EQ(find(plan, "/home/user/project2/mnt"), nullptr);
  EXPECT_FALSE(find(plan_run(plain_request(), plain_host()).value(), "/home/user/project")->recursive);
}

TEST(PlanRun, AMountThatWasGrantedIsNotCovered) {
  RunRequest request = plain_request();
  request.grants = {{.source = "mnt"}, {.source = "mnt", .target = "/data"}};
  Facts facts = plain_host();
  facts.grants = {directory("/home/user/project/mnt"), directory("/home/user/project/mnt")};
  facts.mounts_below = {directory("/home/user/project/mnt")};
  const auto plan = plan_run(request, facts).value();
  EXPECT_EQ(find(plan, "/home/user/project/mnt")->access, Access::run);
  EXPECT_EQ(find(plan, "/data")->access, Access::run);
}

TEST(PlanRun, AMountInsideACoveredOneNeedsNoCoverOfItsOwn) {
  Facts facts = plain_host();
  facts.mounts_below = {directory("/home/user/project/mnt"), directory("/home/user/project/mnt/inner"),
                        directory("/home/user/project/mnt2")};
  const auto plan = plan_run(plain_request(), facts).value();
  EXPECT_NE(find(plan, "/home/user/project/mnt"), nullptr);
  EXPECT_EQ(find(plan, "/home/user/project/mnt/inner"), nullptr) << "nothing can be placed inside a cover";
  EXPECT_NE(find(plan, "/home/user/project/mnt2"), nullptr);
}

TEST(PlanRun, AMaskedSecretIsEmptyAndClosed) {
  RunRequest request = plain_request();
  request.view = View::host;
  Facts facts = plain_host();
  facts.root = {directory("/home"), directory("/usr")};
  facts.secrets = {directory("/home/user/.ssh"), {.kind = Kind::file, .path = "/home/user/.netrc"}};
  const auto plan = plan_run(request, facts).value();
  EXPECT_EQ(find(plan, "/home/user/.ssh")->access, Access::none);
  EXPECT_EQ(find(plan, "/home/user/.ssh")->mode & 0666U, 0U) << "nothing to list";
  EXPECT_EQ(find(plan, "/home/user/.netrc")->source, "/dev/null");
  EXPECT_EQ(find(plan, "/home")->access, Access::run) << "read-only";
  EXPECT_EQ(variable(plan, "HOME"), "/run/home");
  EXPECT_NE(find(plan, "/run/home"), nullptr) << "the home that is named is there";
}

TEST(PlanRun, ASecretThatLeadsToAWholeSystemDirectoryRefusesTheHostView) {
  for (const char* whole : {"/", "/usr"}) {
    Facts facts = plain_host();
    facts.root = {directory("/usr")};
    facts.secrets = {{.kind = Kind::directory, .path = whole}};
    RunRequest request = plain_request();
    request.view = View::host;
    EXPECT_FALSE(plan_run(request, facts).ok()) << whole;
    facts.secrets[0].path = "/usr/share/keys";
    EXPECT_TRUE(plan_run(request, facts).ok());
  }
}

TEST(PlanRun, NoWritableGrantHoldsClochesOwnDirectory) {
  for (bool exists : {false, true}) {
    Facts facts = plain_host();
    facts.state = {.kind = exists ? Kind::directory : Kind::absent, .path = "/home/u/.local/state/cloche"};
    facts.grants = {directory("/home/u/.local")};
    RunRequest request = plain_request();
    request.grants = {{.source = "/home/u/.local", .writable = true}};
    EXPECT_FALSE(plan_run(request, facts).ok());
    request.grants[0].writable = false;
    EXPECT_TRUE(plan_run(request, facts).ok());
  }
}

TEST(PlanRun, MoreGrantsThanAPlanCanHoldAreRefusedByNumber) {
  Facts facts = plain_host();
  RunRequest request = plain_request();
  for (int i = 0; i < 300; ++i) {
    request.grants.push_back({.source = "/data/" + std::to_string(i)});
    facts.grants.push_back({.kind = Kind::directory, .path = "/data/" + std::to_string(i)});
  }
  const auto plan = plan_run(request, facts);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().what.text().find("300"), std::string::npos) << plan.error().what;
}

TEST(PlanRun, ANamedToolchainThatIsNotInstalledIsRefused) {
  Facts facts = plain_host();
  facts.toolchains = {{.name = "go", .path = {"/chain"}}, {.name = "cargo"}};
  RunRequest request = plain_request();
  request.toolchains = "go,cargo";
  const auto plan = plan_run(request, facts);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(describe(plan.error()), "--toolchains: cargo is not installed here");
  request.toolchains = "none";
  EXPECT_TRUE(plan_run(request, facts).ok()) << "this call does not see them";
}

TEST(PlanRun, AToolchainsOtherNameIsALinkInTheView) {
  Facts facts = plain_host();
  facts.toolchains = {{.name = "pyenv",
                       .trees = {{.kind = Kind::link, .path = "/home/u/.pyenv", .link = "/data/pyenv"},
                                 directory("/data/pyenv")}}};
  const auto plan = plan_run(plain_request(), facts).value();
  ASSERT_NE(find(plan, "/home/u/.pyenv"), nullptr);
  EXPECT_EQ(find(plan, "/home/u/.pyenv")->kind, EntryKind::link);
  EXPECT_EQ(find(plan, "/home/u/.pyenv")->source, "/data/pyenv");
  EXPECT_EQ(find(plan, "/data/pyenv")->kind, EntryKind::tree);
}

// Where a program fetches it writes to its cache as well.
TEST(PlanRun, ACacheOfTheCallersIsLedToWhereNothingElseIsFetched) {
  Facts facts = plain_host();
  facts.toolchains = {{.name = "npm", .path = {"/chain"}, .offline = {{"npm_config_cache", "/home/u/.npm"}}}};
  const auto is_led = [&](const RunRequest& request) {
    const auto plan = plan_run(request, facts);
    EXPECT_TRUE(plan.ok());
    return plan.ok() && std::ranges::any_of(plan.value().environment, [](const Variable& variable) {
             return variable.name == "npm_config_cache";
           });
  };
  RunRequest request = plain_request();
  EXPECT_TRUE(is_led(request));
  request.profile = Profile::workspace_write;
  request.network = Network::of_host;
  EXPECT_FALSE(is_led(request));
  request = plain_request();
  request.own = {{.source = "/state/task/home", .target = std::string(home_inside), .writable = true}};
  facts.own = {directory("/state/task/home")};
  EXPECT_FALSE(is_led(request)) << "what its calls fetched is there";
  request.fresh_home = true;
  EXPECT_TRUE(is_led(request));
}

TEST(PlanRun, ATasksHomeHasRoomForWhatItsCallsFetch) {
  Facts facts = plain_host();
  RunRequest request = plain_request();
  request.own = {{.source = "/state/task/home", .target = std::string(home_inside), .writable = true},
                 {.source = "/state/task/tmp", .target = "/tmp", .writable = true}};
  facts.own = {directory("/state/task/home"), directory("/state/task/tmp")};
  request.limits.tmp_bytes = 100;
  const auto plan = plan_run(request, facts).value();
  EXPECT_EQ(find(plan, home_inside)->size_bytes, 400U);
  EXPECT_EQ(find(plan, "/tmp")->size_bytes, 100U);
}

TEST(PlanRun, RunIsItsOwnAndSmall) {
  const auto plan = plan_run(plain_request(), plain_host()).value();
  const ViewEntry* run = find(plan, "/run");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->kind, EntryKind::tmpfs);
  EXPECT_EQ(run->access, Access::write);
  EXPECT_EQ(run->size_bytes, 16U << 20);
  RunRequest request = plain_request();
  request.limits.tmp_bytes = 4096;
  EXPECT_EQ(find(plan_run(request, plain_host()).value(), "/run")->size_bytes, 4096U);
  request.profile = Profile::readonly;
  EXPECT_EQ(find(plan_run(request, plain_host()).value(), "/run")->access, Access::read);
}

TEST(PlanRun, WhatHoldsNoProgramsIsReadAlone) {
  Facts facts = plain_host();
  for (const ShownPath& row : data_paths) facts.system.push_back(directory(std::string(row.path)));
  const auto plan = plan_run(plain_request(), facts).value();
  for (const ShownPath& row : data_paths) {
    ASSERT_NE(find(plan, row.path), nullptr) << row.path;
    EXPECT_EQ(find(plan, row.path)->access, Access::read) << row.path;
    EXPECT_EQ(find(plan, row.path)->why, row.why);
  }
}

// What the host executes later is there to read and to run wherever it is shown, and nowhere to write.
TEST(PlanRun, TheProtectedSetIsReadOnly) {
  Facts facts = plain_host();
  const std::string project = facts.workspace.path;
  const auto kept = [](std::string path, Kind kind) {
    return FileFact{.kind = kind, .path = std::move(path), .device = 1, .inode = 2};
  };
  facts.guard.kept = {kept(project + "/.git/hooks", Kind::directory), kept(project + "/.envrc", Kind::file),
                      kept(project + "/.vscode", Kind::directory)};
  RunRequest request = plain_request();
  request.grants = {{.source = project, .target = "/again", .writable = true},
                    {.source = project + "/.vscode/x", .writable = true}};
  facts.grants = {facts.workspace, directory(project + "/.vscode/x")};
  const auto plan = plan_run(request, facts);
  ASSERT_TRUE(plan.ok());
  for (const char* target : {"/home/user/project/.git/hooks", "/home/user/project/.envrc",
                             "/again/.git/hooks", "/again/.envrc", "/home/user/project/.vscode/x"}) {
    const ViewEntry* entry = find(plan.value(), target);
    ASSERT_NE(entry, nullptr) << target;
    EXPECT_EQ(entry->access, Access::run) << target;
  }
  EXPECT_TRUE(find(plan.value(), project + "/.envrc")->file);

  request.noexec = true;
  EXPECT_EQ(find(plan_run(request, facts).value(), project + "/.git/hooks")->access, Access::read);
  request.grants.clear();
  request.profile = Profile::readonly;
  EXPECT_EQ(find(plan_run(request, facts).value(), project + "/.git/hooks"), nullptr);
}

// Nothing is made in a directory of the operator's: it is shown as it is.
TEST(PlanRun, WhatIsOursGivesWayToAGrant) {
  RunRequest request = plain_request();
  request.grants = {{.source = "/etc"}, {.source = "/var"}};
  Facts facts = plain_host();
  facts.etc = {{.kind = Kind::link, .path = "/etc/localtime", .link = "/usr/share/zoneinfo/UTC"},
               directory("/etc/ssl/certs")};
  facts.grants = {directory("/etc"), directory("/var")};
  const auto plan = plan_run(request, facts);
  ASSERT_TRUE(plan.ok()) << describe(plan.error());
  for (const auto& entry : plan.value().view) {
    const bool within = is_beneath("/etc", entry.target) || is_beneath("/var", entry.target);
    EXPECT_TRUE(!within || entry.target == "/etc" || entry.target == "/var") << entry.target;
  }
  EXPECT_NE(find(plan.value(), "/etc"), nullptr);
}

}  // namespace
}  // namespace cloche
