// What holds for every plan, whatever was asked and whatever the host looks like: thousands of requests and
// hosts from a fixed seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/sys/path.hpp"
#include "policy/plan/plan_run.hpp"
#include "policy/plan/system_view.hpp"
#include "policy/plan/without_network.hpp"

namespace cloche {
namespace {

using Kind = FileFact::Kind;

bool writes(const ViewEntry& entry) {
  return entry.access == Access::write || entry.access == Access::write_run;
}

// A request and a host that could be asked it. Paths come from a small pool, so that they often meet.
class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}

  struct Case {
    RunRequest request;
    Facts facts;
  };

  Case next() {
    Case made;
    made.request = request();
    made.facts = facts(made.request);
    return made;
  }

 private:
  bool one_in(unsigned n) { return random_() % n == 0; }

  std::string path() {
    static constexpr const char* roots[] = {
        "/home/user", "/home/other",        "/srv", "/tmp", "/var/tmp", "/opt",     "/data",
        "/run",       "/home/user/project", "/usr", "/etc", "/bin",     "/mnt/disk"};
    static constexpr const char* names[] = {"/a", "/b", "/project", "/.ssh", "/.cargo", "/cache", "/lib"};
    std::string made = roots[random_() % std::size(roots)];
    for (auto depth = random_() % 4; depth > 0; --depth) made += names[random_() % std::size(names)];
    return made;
  }

  FileFact fact(std::string path) {
    static constexpr Kind kinds[] = {Kind::directory, Kind::directory, Kind::directory, Kind::directory,
                                     Kind::file,      Kind::absent,    Kind::other};
    return {.kind = kinds[random_() % std::size(kinds)],
            .path = std::move(path),
            .device = 1,
            .inode = random_() % 100,
            .uid = static_cast<unsigned>(random_() % 3),
            .gid = 0};
  }

  RunRequest request() {
    RunRequest request{.argv = {"command"}};
    if (one_in(4)) request.profile = Profile::readonly;
    if (one_in(4)) request.view = View::host;
    for (auto i = random_() % 4; i > 0; --i) {
      request.grants.push_back({.source = "given", .target = one_in(2) ? "" : path(), .writable = one_in(3)});
    }
    for (const char* name : {"ASKED", "PATH", "TERM", "WITH_VALUE"}) {
      if (one_in(4)) request.environment.push_back({.name = name});
    }
    if (!request.environment.empty() && one_in(2)) request.environment[0].value = "operators";
    request.terminal = one_in(4);
    request.debugging = one_in(4);
    return request;
  }

  Facts facts(const RunRequest& request) {
    Facts facts;
    facts.caller = {.uid = one_in(2) ? 0U : 1001U,
                    .gid = 1001,
                    .privileged = one_in(2),
                    .home = "/home/user",
                    .path = path() + ":/usr/bin"};
    for (const char* name : {"ASKED", "PATH", "TERM", "WITH_VALUE", "NOT_ASKED"})
      facts.caller.environment[name] = "callers";
    facts.state.path = "/home/user/.local/state/cloche";
    if (one_in(2)) facts.state.kind = Kind::directory;
    facts.workspace = {.kind = Kind::directory, .path = path(), .device = 1, .inode = 7};
    if (one_in(4)) facts.git_common = FileFact{.kind = Kind::directory, .path = path()};
    for (size_t i = 0; i < request.grants.size(); ++i) facts.grants.push_back(fact(path()));
    facts.system = {{.kind = Kind::directory, .path = "/usr"},
                    {.kind = Kind::link, .path = "/bin", .link = "usr/bin"}};
    facts.etc = {{.kind = Kind::file, .path = "/etc/services"},
                 {.kind = Kind::directory, .path = "/etc/ssl/certs"}};
    facts.root = {{.kind = Kind::directory, .path = "/home"}, {.kind = Kind::directory, .path = "/usr"}};
    facts.secrets = {{.kind = Kind::directory, .path = "/home/user/.ssh"},
                     {.kind = Kind::file, .path = "/home/user/.netrc"}};
    for (auto i = random_() % 3; i > 0; --i)
      facts.mounts_below.push_back({.kind = Kind::directory, .path = path()});
    if (one_in(3)) {
      facts.toolchains.push_back({.name = "pyenv",
                                  .trees = {{.kind = Kind::directory, .path = path()}},
                                  .path = {path()},
                                  .environment = {{"PYENV_ROOT", "chain"}}});
    }
    return facts;
  }

  std::mt19937 random_;
};

class EveryPlan : public testing::Test {
 protected:
  template <typename Check>
  static void for_each(Check check) {
    Chance chance(20);
    int planned = 0;
    for (int i = 0; i < 300; ++i) {
      const auto [request, facts] = chance.next();
      const auto plan = plan_run(request, facts);
      if (!plan.ok()) continue;
      ++planned;
      check(request, facts, plan.value());
      if (HasFailure()) FAIL() << "case " << i << ": " << to_json(plan.value());
    }
    EXPECT_GT(planned, 60) << "too few of the cases are plans at all";
  }
};

TEST_F(EveryPlan, WritesOnlyToTheWorkspaceAGrantOrMemoryOfItsOwn) {
  for_each([](const RunRequest& request, const Facts& facts, const ConfinementPlan& plan) {
    for (const auto& entry : plan.view) {
      if (!writes(entry)) continue;
      // A directory of the view lies in the root, which is sealed, or in memory of its own.
      bool allowed = entry.kind == EntryKind::tmpfs || entry.kind == EntryKind::directory ||
                     entry.kind == EntryKind::queues;
      allowed = allowed || (entry.kind == EntryKind::tree && entry.source == facts.workspace.path);
      for (size_t i = 0; i < request.grants.size(); ++i) {
        allowed = allowed || (request.grants[i].writable && entry.source == facts.grants[i].path);
      }
      EXPECT_TRUE(allowed) << entry.target << " <- " << entry.source;
    }
  });
}

TEST_F(EveryPlan, ThatIsReadonlyWritesNowhere) {
  for_each([](const RunRequest& request, const Facts&, const ConfinementPlan& plan) {
    if (request.profile != Profile::readonly) return;
    EXPECT_TRUE(plan.workspace.empty());
    for (const auto& entry : plan.view) EXPECT_FALSE(writes(entry)) << entry.target;
  });
}

TEST_F(EveryPlan, NamesParentsBeforeChildrenAndEveryTargetOnce) {
  for_each([](const RunRequest&, const Facts&, const ConfinementPlan& plan) {
    std::set<std::string> targets;
    for (size_t i = 0; i < plan.view.size(); ++i) {
      const ViewEntry& entry = plan.view[i];
      EXPECT_TRUE(is_plain_absolute(entry.target) && entry.target != "/") << entry.target;
      EXPECT_TRUE(targets.insert(entry.target).second) << "twice: " << entry.target;
      const auto later = plan.view.begin() + static_cast<long>(i) + 1;
      EXPECT_TRUE(std::none_of(later, plan.view.end(),
                               [&](const ViewEntry& e) {
                                 return is_beneath(e.target, entry.target) ||
                                        (entry.kind == EntryKind::link && is_beneath(entry.target, e.target));
                               }))
          << entry.target << " stands before its parent, or is a link with something below it";
    }
  });
}

// By construction: each tree comes from one of the lists that name what may be seen.
TEST_F(EveryPlan, ThatIsCuratedShowsNothingOfTheHostThatWasNotNamed) {
  for_each([](const RunRequest& request, const Facts& facts, const ConfinementPlan& plan) {
    if (request.view != View::curated) return;
    std::set<std::string> named = {"/dev/null", facts.workspace.path};
    for (std::string_view node : device_nodes) named.insert("/dev/" + std::string(node));
    for (const auto& fact : facts.system) named.insert(fact.path);
    for (const auto& fact : facts.etc) named.insert(fact.path);
    for (const auto& fact : facts.grants) named.insert(fact.path);
    for (const auto& chain : facts.toolchains) {
      for (const auto& tree : chain.trees) named.insert(tree.path);
    }
    if (facts.git_common) named.insert(facts.git_common->path);
    for (const auto& fact : facts.git_written) named.insert(fact.path);
    for (const auto& entry : plan.view) {
      EXPECT_TRUE(entry.kind != EntryKind::tree || named.contains(entry.source)) << entry.source;
    }
  });
}

TEST_F(EveryPlan, WithoutGrantsHasNothingOfRunTmpOrHome) {
  for_each([](const RunRequest& request, const Facts& facts, const ConfinementPlan& plan) {
    if (request.view != View::curated || !request.grants.empty() || !facts.toolchains.empty() ||
        facts.git_common)
      return;
    for (const auto& entry : plan.view) {
      if (entry.kind != EntryKind::tree || entry.source == facts.workspace.path) continue;
      for (const char* place : {"/run", "/tmp", "/var", "/home", "/root", "/sys", "/proc"}) {
        EXPECT_FALSE(is_beneath(place, entry.source)) << entry.source;
      }
    }
  });
}

TEST_F(EveryPlan, HasOfTheCallersEnvironmentOnlyWhatWasAskedFor) {
  for_each([](const RunRequest& request, const Facts& facts, const ConfinementPlan& plan) {
    std::set<std::string> asked;
    for (const auto& pass : request.environment) asked.insert(pass.name);
    if (request.terminal) asked.insert("TERM");
    std::set<std::string> own = {
        "PATH",         "HOME",      "USER",         "LOGNAME",           "SHELL",
        "LANG",         "TMPDIR",    "ASAN_OPTIONS", "GIT_CONFIG_SYSTEM", "JDK_JAVA_OPTIONS",
        "NODE_OPTIONS", "GOMEMLIMIT"};
    for (const auto& [name, value] : environment_without_network()) own.emplace(name);
    for (const auto& chain : facts.toolchains) {
      for (const auto& [name, value] : chain.environment) own.insert(name);
    }
    std::set<std::string> seen;
    for (const auto& [name, value] : plan.environment) {
      EXPECT_TRUE(own.contains(name) || asked.contains(name)) << name;
      EXPECT_TRUE(value != "callers" || asked.contains(name)) << name;
      EXPECT_TRUE(seen.insert(name).second) << name << " twice";
    }
  });
}

TEST_F(EveryPlan, KeepsWhatIsNoCommandsToSeeOutOfEveryTreeAroundIt) {
  for_each([](const RunRequest&, const Facts& facts, const ConfinementPlan& plan) {
    EXPECT_FALSE(is_beneath(facts.workspace.path, facts.state.path)) << "also when it does not exist yet";
    if (!facts.state.exists()) return;
    for (const auto& entry : plan.view) {
      if (entry.kind != EntryKind::tree || entry.access == Access::none ||
          !is_beneath(entry.source, facts.state.path))
        continue;
      const std::string place = entry.target + facts.state.path.substr(entry.source.size());
      const bool masked = std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& e) {
        return e.target == place && e.access == Access::none;
      });
      EXPECT_TRUE(masked) << place;
    }
  });
}

TEST_F(EveryPlan, IsSoundInEveryEntry) {
  for_each([](const RunRequest&, const Facts&, const ConfinementPlan& plan) {
    EXPECT_NE(plan.inside_uid, 0U);
    EXPECT_NE(plan.inside_gid, 0U);
    EXPECT_EQ(plan.directory[0], '/');
    for (const auto& entry : plan.view) {
      EXPECT_EQ(entry.mode & ~01777U, 0U) << entry.target << ": no set-id bits";
      EXPECT_FALSE(entry.why.empty()) << entry.target << ": every entry has its reason";
      EXPECT_TRUE(entry.kind != EntryKind::tmpfs || entry.size_bytes > 0) << entry.target;
      EXPECT_TRUE(entry.kind != EntryKind::tree || is_plain_absolute(entry.source)) << entry.source;
      EXPECT_TRUE(entry.kind != EntryKind::link || !entry.source.empty()) << entry.target;
    }
  });
}

TEST_F(EveryPlan, IsTheSameForTheSameInput) {
  for_each([](const RunRequest& request, const Facts& facts, const ConfinementPlan& plan) {
    EXPECT_EQ(to_json(plan), to_json(plan_run(request, facts).value()));
  });
}

}  // namespace
}  // namespace cloche
