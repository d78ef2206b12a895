// Boxes that others build from a stage, by table: what the keeper puts there, what each runtime is told, and
// what no command line of theirs may say.
#include "confine/boxes/box_stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"
#include "confine/boxes/boxes_fixture.hpp"
#include "confine/boxes/inner_command.hpp"
#include "jail/boxes/percent_decode.hpp"

namespace cloche {
namespace {

using namespace fixture;
using Words = std::vector<std::string>;

constexpr Backend backends[] = {Backend::bwrap, Backend::crun, Backend::runc, Backend::runsc};
const HostProbe able{.landlock_abi = 6, .has_filter = true, .user_namespaces = true};

StagedParts parts(Backend backend) {
  return {.jail = "/opt/cloche/bin/cloche-jail",
          .program = "/usr/bin/" + std::string(name_of(backend)),
          .name = "cloche-one"};
}

CallResources resources(bool privileged = false, CountedBy memory_by = CountedBy::cgroup2) {
  return {.privileged = privileged, .outside_uid = 1001, .outside_gid = 1002, .memory_by = memory_by};
}

LaunchSpec staged(Backend backend, const ConfinementPlan& plan) {
  return staged_spec(backend, plan, able, resources(), parts(backend));
}

const wire::MountText* staged_at(const LaunchSpec& spec, const std::string& target) {
  const auto& mounts = spec.jail.mounts;
  const auto found =
      std::find_if(mounts.begin(), mounts.end(), [&](const auto& mount) { return mount.target == target; });
  return found != mounts.end() ? &*found : nullptr;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What the box is told in a file: bubblewrap's words, or the bundle.
std::string told(const LaunchSpec& spec) {
  const auto* file = staged_at(spec, spec.backend == Backend::bwrap ? "args" : "bundle/config.json");
  return file != nullptr ? file->content : "";
}

TEST(Staged, EveryTreeIsACloneOnTheStage) {
  for (Backend backend : backends) {
    for (const auto& [name, plan] : cases()) {
      const LaunchSpec spec = staged(backend, plan);
      for (size_t at = 0; at < plan.view.size(); ++at) {
        const ViewEntry& entry = plan.view[at];
        if (entry.kind != EntryKind::tree || is_made_in_dev(entry)) continue;
        const auto* mount = staged_at(spec, "entry/" + std::to_string(at));
        ASSERT_NE(mount, nullptr) << name_of(backend) << " " << name << " " << entry.target;
        EXPECT_EQ(mount->source, entry.source) << "what was judged is what is cloned";
        // A bundle masks in /proc by maskedPaths, because no runtime mounts there.
        if (backend != Backend::bwrap && is_beneath("/proc", entry.target)) continue;
        const std::string word =
            "/tmp/entry/" + std::to_string(at) + (backend == Backend::bwrap ? '\0' : '"');
        EXPECT_NE(told(spec).find(word), std::string::npos)
            << name_of(backend) << " " << name << " " << entry.target;
      }
    }
  }
}

TEST(Staged, NoRuntimeIsToldAPathOfTheOperators) {
  const ConfinementPlan plan = with_grants();
  for (Backend backend : {Backend::crun, Backend::runc, Backend::runsc}) {
    auto config = read_json(told(staged(backend, plan)), "config.json");
    ASSERT_TRUE(config.ok());
    for (const auto& mount : config.value().find("mounts")->items) {
      const JsonValue* source = mount.find("source");
      if (source == nullptr || !source->text.starts_with("/")) continue;
      EXPECT_TRUE(source->text.starts_with("/tmp/")) << name_of(backend) << " " << source->text;
    }
  }
}

TEST(Staged, ValuesOfVariablesAreOnNoCommandLine) {
  const ConfinementPlan plan = with_grants();  // TOKEN is "a b"
  for (Backend backend : backends) {
    const LaunchSpec spec = staged(backend, plan);
    for (const auto& word : spec.jail.argv)
      EXPECT_EQ(word.find("a b"), std::string::npos) << name_of(backend);
    for (const auto& line : spec.jail.env) EXPECT_EQ(line.find("a b"), std::string::npos) << name_of(backend);
    EXPECT_NE(told(spec).find("a b"), std::string::npos) << name_of(backend) << ": and yet it is told";
  }
}

TEST(Staged, EachRuntimeIsStartedItsOwnWay) {
  struct Row {
    Backend backend;
    Words begins;
    const char* ends;
  };
  const Row rows[] = {
      {Backend::bwrap, {"bwrap", "--args", "3"}, "build.py"},
      {Backend::runc, {"runc", "--root", "/tmp/state", "run", "--no-new-keyring"}, "cloche-one"},
      {Backend::crun,
       {"crun", "--root", "/tmp/state", "--cgroup-manager=disabled", "run", "--no-new-keyring"},
       "cloche-one"},
      {Backend::runsc, {"runsc", "--root", "/tmp/state", "--rootless", "--network=none"}, "cloche-one"},
  };
  for (const auto& [backend, begins, ends] : rows) {
    const LaunchSpec spec = staged(backend, default_plan());
    const Words& argv = spec.jail.argv;
    ASSERT_GT(argv.size(), begins.size());
    EXPECT_EQ(Words(argv.begin(), argv.begin() + static_cast<long>(begins.size())), begins);
    EXPECT_EQ(argv.back(), ends) << name_of(backend);
    EXPECT_EQ(spec.jail.programs, Words{"/usr/bin/" + std::string(name_of(backend))});
    EXPECT_EQ(spec.backend, backend);
  }
}

// gVisor's processes are looked at from outside, its reports come by a file, and it knows no Landlock.
TEST(Staged, OnlyGvisorIsSpeechless) {
  for (Backend backend : backends) {
    const bool gvisor = backend == Backend::runsc;
    const LaunchSpec spec = staged(backend, default_plan());
    EXPECT_EQ((spec.jail.flags & wire::speechless) != 0, gvisor) << name_of(backend);
    EXPECT_EQ(spec.by_descendants, gvisor) << name_of(backend);
    EXPECT_EQ(told(spec).find("/run/cloche-report") != std::string::npos, gvisor) << name_of(backend);
    const bool ended_inside = told(spec).find("cpu=") != std::string::npos || has(spec.jail.argv, "cpu=3601");
    EXPECT_EQ(ended_inside, !gvisor) << name_of(backend) << ": gVisor's clock is not the host's";
    const bool landlock = std::any_of(spec.layers.begin(), spec.layers.end(),
                                      [](const Layer& layer) { return layer.id == LayerId::landlock; });
    EXPECT_EQ(landlock, !gvisor) << name_of(backend);
  }
}

// A runtime that can send it out makes it inside; gVisor's runner makes it before.
TEST(Staged, ATerminalIsMadeByTheJailOrByTheRunner) {
  for (const bool wanted : {true, false}) {
    ConfinementPlan plan = default_plan();
    plan.terminal = wanted;
    for (Backend backend : backends) {
      const LaunchSpec spec = staged(backend, plan);
      const bool gvisor = backend == Backend::runsc;
      const bool inside =
          told(spec).find("--terminal") != std::string::npos || has(spec.jail.argv, "--terminal");
      EXPECT_EQ(inside, wanted && !gvisor) << name_of(backend);
      EXPECT_EQ((spec.jail.flags & wire::terminal) != 0, wanted && gvisor) << name_of(backend);
      EXPECT_EQ(told(spec).find("\"terminal\": true") != std::string::npos, wanted && gvisor)
          << name_of(backend);
    }
  }
}

TEST(Staged, OnlyCrunSeesNoGroups) {
  for (Backend backend : backends) {
    EXPECT_EQ((staged(backend, default_plan()).jail.flags & wire::groupless) != 0, backend == Backend::crun)
        << name_of(backend);
  }
}

TEST(Staged, RootsRuntimeIsLoweredToTheCallsId) {
  for (Backend backend : backends) {
    for (const bool privileged : {true, false}) {
      const LaunchSpec spec =
          staged_spec(backend, default_plan(), able, resources(privileged), parts(backend));
      EXPECT_EQ((spec.jail.flags & wire::lowered) != 0, privileged) << name_of(backend);
      EXPECT_EQ((spec.jail.flags & wire::privileged) != 0, privileged) << name_of(backend);
      EXPECT_NE(spec.jail.flags & wire::staged, 0U) << name_of(backend);
      EXPECT_EQ(spec.jail.outside_uid, 1001U);
    }
  }
}

TEST(Staged, WhatCountsMemoryIsSaid) {
  for (Backend backend : backends) {
    for (const CountedBy by : {CountedBy::cgroup1, CountedBy::watched}) {
      const LaunchSpec spec =
          staged_spec(backend, default_plan(), able, resources(false, by), parts(backend));
      const auto memory = std::find_if(spec.layers.begin(), spec.layers.end(),
                                       [](const Layer& layer) { return layer.id == LayerId::memory_limit; });
      ASSERT_NE(memory, spec.layers.end());
      EXPECT_EQ(memory->by, name_of(by)) << name_of(backend);
      const bool watched =
          told(spec).find("--watched") != std::string::npos || has(spec.jail.argv, "--watched");
      EXPECT_EQ(watched, by == CountedBy::watched) << name_of(backend);
    }
  }
}

TEST(Staged, WhatTheKeeperCountsItselfIsNotMissing) {
  for (Backend backend : backends)
    EXPECT_TRUE(staged_missing(backend, default_plan(), able).empty()) << name_of(backend);
}

TEST(Staged, WhatTheHostLacksIsMissingByName) {
  HostProbe without = able;
  without.user_namespaces = false;
  without.user_namespaces_fix = "allow them";
  for (Backend backend : backends) {
    const auto missing = staged_missing(backend, default_plan(), without);
    ASSERT_FALSE(missing.empty()) << name_of(backend);
    EXPECT_EQ(missing.front().id, LayerId::user_ids);
    EXPECT_EQ(missing.front().fix, "allow them");
  }
}

// What is not UTF-8 is somewhere else in JSON: the file that was judged would not be the one that is mounted.
TEST(Staged, ANameThatABundleCannotSayIsRefused) {
  struct Row {
    const char* what;
    std::string target;
    bool said_by_bundle;
  };
  const Row rows[] = {{"ascii", "/srv/plain", true},
                      {"letters of other languages", "/srv/caf\xc3\xa9", true},
                      {"U+FFFD itself", "/srv/\xef\xbf\xbd", true},
                      {"a lone byte", "/srv/sub\xff", false},
                      {"a directory on the way", "/srv/\xfe/keep", false},
                      {"a sequence that is too long", "/srv/\xc0\xaf", false},
                      {"half a surrogate", "/srv/\xed\xa0\x80", false}};
  for (const auto& [what, target, said_by_bundle] : rows) {
    for (const EntryKind kind : {EntryKind::tree, EntryKind::tmpfs}) {  // a grant, and what covers a mount
      ConfinementPlan plan = default_plan();
      plan.view.push_back({.kind = kind, .access = Access::run, .target = target, .source = "/srv/given"});
      for (Backend backend : backends) {
        const auto spec = render_staged(backend, plan, able, resources(), parts(backend));
        EXPECT_EQ(spec.ok(), said_by_bundle || backend == Backend::bwrap) << name_of(backend) << " " << what;
        if (spec.ok()) continue;
        EXPECT_EQ(spec.error().cause, Cause::configuration);
        EXPECT_NE(spec.error().what.text().find(shown(target)), std::string::npos);
        EXPECT_NE(spec.error().fix.text().find("native or bwrap"), std::string::npos);
      }
    }
  }
}

TEST(Staged, WordsAndVariablesReachTheJailByteForByte) {
  ConfinementPlan plan = default_plan();
  plan.argv = {"rm", "k\xff", "100%", "caf\xc3\xa9"};
  plan.directory = "/home/user/project/sub\xfe";
  plan.environment = {{"NAME", "v\x80%41"}};
  for (Backend backend : {Backend::crun, Backend::runc, Backend::runsc}) {
    auto config = read_json(told(staged(backend, plan)), "config.json");
    ASSERT_TRUE(config.ok());
    const JsonValue* process = config.value().find("process");
    Words args;
    for (const auto& word : process->find("args")->items) args.push_back(word.text);
    ASSERT_GT(args.size(), 7U);
    EXPECT_EQ(Words(args.begin(), args.begin() + 3), (Words{"/run/cloche-jail", "--inner", "--escaped"}));
    for (auto& word : args) ASSERT_TRUE(jail::unescape(word.data()));
    Words plain;
    for (const auto& word : args) plain.emplace_back(word.c_str());
    EXPECT_EQ(Words(plain.end() - 4, plain.end()), plan.argv) << name_of(backend);
    EXPECT_TRUE(has(plain, plan.directory)) << name_of(backend);
    std::string variable = process->find("env")->items.front().text;
    ASSERT_TRUE(jail::unescape(variable.data()));
    EXPECT_STREQ(variable.c_str(), "NAME=v\x80%41") << name_of(backend);
  }
}

TEST(Staged, PlainWordsAreSaidAsTheyAre) {
  ConfinementPlan plan = default_plan();
  plan.argv = {"echo", "100%", "caf\xc3\xa9"};
  for (Backend backend : {Backend::crun, Backend::runc, Backend::runsc}) {
    EXPECT_EQ(told(staged(backend, plan)).find("--escaped"), std::string::npos) << name_of(backend);
    EXPECT_NE(told(staged(backend, plan)).find("\"100%\""), std::string::npos) << name_of(backend);
  }
}

// The host's own /run has no place for it, and none is made there.
TEST(Staged, TheJailGivesWayToTheHostsOwnRun) {
  ConfinementPlan plan = default_plan();
  std::erase_if(plan.view.edit(), [](const ViewEntry& entry) { return entry.target == "/run"; });
  plan.view.push_back({.kind = EntryKind::tree, .access = Access::run, .target = "/run", .source = "/run"});
  for (Backend backend : backends) {
    const LaunchSpec spec = staged(backend, plan);
    const std::string words = told(spec);
    EXPECT_EQ(words.find("/run/cloche-"), std::string::npos) << name_of(backend);
    EXPECT_NE(words.find("/cloche-jail"), std::string::npos) << name_of(backend);
    EXPECT_EQ(staged_at(spec, "bundle/rootfs/cloche-jail") != nullptr, backend != Backend::bwrap);
    EXPECT_EQ(staged_at(spec, "bundle/rootfs/cloche-report") != nullptr, backend == Backend::runsc);
  }
}

TEST(Escaped, WhatIsNotWrittenLikeThatIsNoWord) {
  for (const char* text : {"%", "a%4", "%4G", "%ff", "%00", "%%"}) {
    std::string word = text;
    EXPECT_FALSE(jail::unescape(word.data())) << text;
  }
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  std::string word = escaped(all);
  EXPECT_TRUE(is_utf8(word));
  ASSERT_TRUE(jail::unescape(word.data()));
  EXPECT_STREQ(word.c_str(), all.c_str());
}

}  // namespace
}  // namespace cloche
