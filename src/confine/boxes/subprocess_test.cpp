// The isolation level without a box, by table: what of a plan becomes a rule, what is refused, where what
// would be mounted elsewhere lies, and how the words of the command follow it.
#include "confine/boxes/subprocess.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "confine/boxes/boxes_fixture.hpp"

namespace cloche {
namespace {

using namespace fixture;
using Words = std::vector<std::string>;

const HostProbe able{.landlock_abi = 6, .has_filter = true};

SubprocessParts parts() {
  return {
      .jail = "/opt/cloche/bin/cloche-jail", .scratch = "/state/scratch/c1", .as_on_host = {"/etc/passwd"}};
}

ViewEntry tree(const std::string& target, Access access, const std::string& source = {}) {
  return {.kind = EntryKind::tree,
          .access = access,
          .target = target,
          .source = source.empty() ? target : source,
          .why = "because"};
}
ViewEntry memory(const std::string& target) {
  return {.kind = EntryKind::tmpfs, .access = Access::write_run, .target = target};
}
ViewEntry text(const std::string& target, const std::string& content) {
  return {.kind = EntryKind::text, .target = target, .content = content, .mode = 0644};
}

// A plan of this level with nothing but this view.
ConfinementPlan with_view(std::vector<ViewEntry> view) {
  ConfinementPlan plan;
  plan.level = IsolationLevel::subprocess;
  plan.required = required_by(IsolationLevel::subprocess);
  plan.argv = {"/bin/true"};
  for (auto& entry : view) plan.view.push_back(std::move(entry));
  return plan;
}

CallResources resources(CountedBy memory_by = CountedBy::cgroup2) {
  return {.outside_uid = 1001, .outside_gid = 1002, .memory_by = memory_by};
}

Words words_of(const ConfinementPlan& plan) {
  return render_subprocess(plan, able, resources(), parts()).jail.argv;
}

// The values of every `--allow`.
Words rules_of(const ConfinementPlan& plan) {
  const Words words = words_of(plan);
  Words rules;
  for (size_t at = 1; at < words.size() && words[at - 1] != "--"; ++at) {
    if (words[at - 1] == "--allow") rules.push_back(words[at]);
  }
  std::sort(rules.begin(), rules.end());
  return rules;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string variable(const LaunchSpec& spec, const std::string& name) {
  for (const auto& line : spec.jail.env) {
    if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
  }
  return "(none)";
}

TEST(Subprocess, WhatTheHostHasInItsPlaceIsARuleAndTheRestIsNot) {
  struct Row {
    const char* what;
    ViewEntry entry;
    Words rules;
  };
  ViewEntry proc{.kind = EntryKind::proc, .access = Access::read, .target = "/proc"};
  ViewEntry file = tree("/work/log", Access::write);
  file.file = true;
  ViewEntry home = tree("/home/cloche", Access::write_run, "/state/homes/t1/home");
  home.role = EntryRole::placed;
  const Row rows[] = {
      {"a tree to read", tree("/srv/data", Access::read), {"read:/srv/data"}},
      {"a tree to run", tree("/usr", Access::run), {"run:/usr"}},
      {"a tree to write", tree("/work", Access::write_run), {"looked_at:/work", "write_run:/work"}},
      {"a tree to write and never run", tree("/work", Access::write), {"looked_at:/work", "write:/work"}},
      {"a file to write", file, {"write:/work/log"}},
      {"a task's home", home, {"write_run:/state/homes/t1/home"}},
      {"what is masked", tree("/work/secret", Access::none), {}},
      {"a directory that is made", {.kind = EntryKind::directory, .target = "/srv"}, {}},
      {"a link", {.kind = EntryKind::link, .target = "/bin", .source = "usr/bin"}, {}},
      {"a text that the host has a file for", text("/etc/passwd", "x"), {"read:/etc/passwd"}},
      {"a text that it has none for", text("/etc/motd", "x"), {}},
      {"the host's processes", proc, {"read:/proc"}},
      {"memory for /tmp", memory("/tmp"), {"write_run:/state/scratch/c1/tmp"}},
      {"memory for a home", memory("/home/cloche"), {"write_run:/state/scratch/c1/home"}},
      {"memory that is a device's", memory("/dev/shm"), {}},
  };
  for (const auto& [what, entry, rules] : rows) EXPECT_EQ(rules_of(with_view({entry})), rules) << what;
}

TEST(Subprocess, SaysWhichFilesWereJudged) {
  ViewEntry granted = tree("/data", Access::write_run);
  granted.device = 2049;
  granted.inode = 77;
  ViewEntry system = tree("/usr", Access::run);
  CallResources with_directory = resources();
  with_directory.directory = {2049, 78};
  const ConfinementPlan plan = with_view({system, granted});
  const Words words = render_subprocess(plan, able, with_directory, parts()).jail.argv;
  const auto after = [&](const std::string& word, size_t by) {
    const auto at = std::find(words.begin(), words.end(), word);
    return words.end() - at > static_cast<long>(by) ? at[static_cast<long>(by)] : "";
  };
  for (const char* rule : {"write_run:/data", "looked_at:/data"}) {
    EXPECT_EQ(after(rule, 1), "--judged") << rule;
    EXPECT_EQ(after(rule, 2), "2049:77") << rule;
  }
  EXPECT_EQ(after("run:/usr", 1), "--allow") << "trees of the system may be upgraded at any time";
  EXPECT_EQ(after("--judged-directory", 1), "2049:78");
  EXPECT_EQ(after("--judged-directory", 0), "--judged-directory");
  const Words open = render_open(plan, with_directory, parts()).jail.argv;
  EXPECT_TRUE(has(open, "--judged-directory")) << "also where nothing else holds";
  EXPECT_FALSE(has(words_of(plan), "--judged-directory"));
}

TEST(Subprocess, WhatOnlyAMountCouldKeepIsRefused) {
  struct Row {
    const char* what;
    std::vector<ViewEntry> view;
    const char* refusal;  // empty: it is none
  };
  ViewEntry placed = tree("/home/cloche", Access::write_run, "/state/homes/t1/home");
  placed.role = EntryRole::placed;
  const Row rows[] = {
      {"trees beside each other", {tree("/a", Access::write_run), tree("/b", Access::read)}, ""},
      {"wider inside", {tree("/a", Access::read), tree("/a/out", Access::write_run)}, ""},
      {"narrower inside",
       {tree("/a", Access::write_run), tree("/a/git", Access::read)},
       "/a/git cannot be kept apart"},
      {"a mask inside",
       {tree("/a", Access::read), tree("/a/key", Access::none)},
       "/a/key cannot be kept apart"},
      {"a mask beside", {tree("/a", Access::read), tree("/ab", Access::none)}, ""},
      {"memory inside", {tree("/a", Access::write_run), memory("/a/tmp")}, ""},
      {"of /proc nothing can be masked here",
       {tree("/proc", Access::read), tree("/proc/sys", Access::none)},
       ""},
      {"shown elsewhere", {tree("/data", Access::read, "/srv/data")}, "/srv/data cannot be shown as /data"},
      {"put there by Cloche", {placed}, ""},
  };
  for (const auto& [what, view, refusal] : rows) {
    const auto missing = subprocess_missing(with_view(view), able);
    if (*refusal == '\0') {
      EXPECT_TRUE(missing.empty()) << what << ": " << missing.front().why;
      continue;
    }
    ASSERT_EQ(missing.size(), 1U) << what;
    EXPECT_EQ(missing.front().id, LayerId::mount_view) << what;
    EXPECT_TRUE(missing.front().why.starts_with(refusal)) << what << ": " << missing.front().why;
    EXPECT_FALSE(missing.front().fix.empty()) << what;
  }
}

TEST(Subprocess, AnOlderKernelIsToldWhichLayerItLacksAndWhatToDo) {
  const auto missing = subprocess_missing(with_view({}), {.landlock_abi = 0, .has_filter = true});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing.front().id, LayerId::landlock);
  EXPECT_EQ(
      missing.front().why,
      "the kernel offers Landlock ABI 0, and 1 is the least that keeps files away; without a box nothing "
      "else does");
  EXPECT_EQ(missing.front().fix,
            "boot Linux 5.13 or newer with landlock in the lsm= list, or use --isolation namespace");
}

TEST(Subprocess, NeedsNoNamespaceButTheKernelsFilterAndLandlock) {
  struct Row {
    HostProbe probe;
    std::vector<LayerId> missing;
  };
  const Row rows[] = {
      {{.landlock_abi = 6, .has_filter = true}, {}},
      {{.landlock_abi = 6, .has_filter = true, .user_namespaces = true}, {}},
      {{.landlock_abi = 6, .has_filter = false}, {LayerId::syscall_filter}},
      {{.landlock_abi = 5, .has_filter = true}, {}},
      {{.landlock_abi = 1, .has_filter = true}, {}},
      {{.landlock_abi = 0, .has_filter = true}, {LayerId::landlock}},
      {{.landlock_abi = -1, .has_filter = true}, {LayerId::landlock}},
  };
  for (const auto& [probe, expected] : rows) {
    std::vector<LayerId> missing;
    for (const auto& layer : subprocess_missing(with_view({}), probe)) missing.push_back(layer.id);
    EXPECT_EQ(missing, expected) << "Landlock " << probe.landlock_abi << " filter " << probe.has_filter;
  }
}

TEST(Subprocess, ScratchHasWhatWouldBeMemory) {
  const auto entries =
      scratch_entries(with_view({memory("/tmp"), memory("/home/cloche"), memory("/run/cloche"),
                                 text("/run/cloche/script.sh", "echo\n"), text("/etc/passwd", "x"),
                                 tree("/usr", Access::run)}),
                      parts());
  Words made;
  for (const auto& entry : entries)
    made.push_back(entry.path + (entry.directory ? "/" : "=" + entry.content));
  const std::string scratch = parts().scratch;
  EXPECT_EQ(made.front(), scratch + "/files/") << "before what lies in it";
  std::sort(made.begin(), made.end());
  EXPECT_EQ(made, (Words{scratch + "/files/", scratch + "/files/0/", scratch + "/files/0/script.sh=echo\n",
                         scratch + "/home/", scratch + "/tmp/"}));
}

TEST(Subprocess, WordsFollowTheFilesThatHaveMoved) {
  struct Row {
    const char* word;
    std::string becomes;
  };
  const std::string script = parts().scratch + "/files/0/script.sh";
  const Row rows[] = {
      {"/run/cloche/script.sh", script},
      {"--config=/run/cloche/script.sh", "--config=" + script},
      {"/tmp/x", "/tmp/x"},  // the caller's own words are his
      {"plain", "plain"},
      {"/etc/passwd", "/etc/passwd"},
  };
  for (const auto& [word, becomes] : rows) {
    auto plan =
        with_view({memory("/run/cloche"), text("/run/cloche/script.sh", "echo\n"), text("/etc/passwd", "x")});
    plan.argv = {"bash", word};
    EXPECT_EQ(words_of(plan).back(), becomes) << word;
  }
}

TEST(Subprocess, HomeAndTmpdirAreTheScratchPlaces) {
  auto plan = with_view({memory("/tmp"), memory("/home/cloche"), tree("/tmp/work", Access::write_run)});
  plan.environment = {{"HOME", "/home/cloche"}, {"OTHER", "/home/cloche"}};
  plan.directory = "/tmp/work";
  const LaunchSpec spec = render_subprocess(plan, able, resources(), parts());
  EXPECT_EQ(variable(spec, "HOME"), parts().scratch + "/home");
  EXPECT_EQ(variable(spec, "TMPDIR"), parts().scratch + "/tmp") << "nothing else would tell of it";
  EXPECT_EQ(variable(spec, "OTHER"), "/home/cloche") << "values of the caller's are his";
  ASSERT_TRUE(spec.as_run);
  EXPECT_EQ(spec.as_run->directory, "/tmp/work") << "a workspace in /tmp stays where it is";
  EXPECT_FALSE(spec.as_run->terminal);
}

TEST(Subprocess, SaysWhatHoldsAndByWhat) {
  const auto by = [](const LaunchSpec& spec, LayerId id) {
    const auto found =
        std::find_if(spec.layers.begin(), spec.layers.end(), [&](const Layer& l) { return l.id == id; });
    return found != spec.layers.end() ? found->by : "";
  };
  const LaunchSpec counted = render_subprocess(with_view({}), able, resources(CountedBy::cgroup1), parts());
  EXPECT_EQ(counted.backend, Backend::subprocess);
  EXPECT_TRUE(counted.by_descendants);
  EXPECT_EQ(by(counted, LayerId::memory_limit), "cgroup1");
  EXPECT_EQ(by(counted, LayerId::landlock), "landlock-abi6");
  EXPECT_EQ(by(counted, LayerId::mount_view), "") << "there is none, so none is claimed";
  EXPECT_EQ(by(counted, LayerId::net_namespace), "");
  EXPECT_EQ(by(counted, LayerId::pid_namespace), "") << "other processes can be seen";
  EXPECT_FALSE(has(counted.jail.argv, "--watched"));
  const LaunchSpec watched = render_subprocess(with_view({}), able, resources(CountedBy::watched), parts());
  EXPECT_EQ(by(watched, LayerId::process_limit), "rlimit-user");
  EXPECT_TRUE(has(watched.jail.argv, "--watched"));
  EXPECT_TRUE(has(watched.jail.argv, "--alone"));
}

// The kernel counts all processes of the user, so its limit is one only with those that are there already.
TEST(Subprocess, TheUsersOwnLimitIsUsedWhereNoGroupCounts) {
  auto plan = with_view({});
  plan.limits.processes = 100;
  auto some = parts();
  some.others = 40;
  const auto limit = [](const LaunchSpec& spec) {
    for (const auto& word : spec.jail.argv) {
      if (word.starts_with("nproc=")) return word;
    }
    return std::string("none");
  };
  const auto seen = [](const LaunchSpec& spec) {
    const auto& words = spec.jail.argv;
    const auto flag = std::find(words.begin(), words.end(), "--others");
    return flag != words.end() ? *(flag + 1) : std::string("none");
  };
  EXPECT_EQ(seen(render_subprocess(plan, able, resources(CountedBy::watched), some)), "40");
  EXPECT_EQ(seen(render_subprocess(plan, able, resources(CountedBy::cgroup1), parts())), "none");
  EXPECT_EQ(limit(render_subprocess(plan, able, resources(CountedBy::watched), some)), "nproc=141");
  EXPECT_EQ(limit(render_open(plan, resources(CountedBy::watched), some)), "nproc=141");
  EXPECT_EQ(limit(render_subprocess(plan, able, resources(CountedBy::cgroup1), parts())), "none");
}

TEST(Subprocess, ScratchHasNoPlaceForFilesWhenThereAreNone) {
  const auto entries = scratch_entries(with_view({memory("/tmp"), tree("/usr", Access::run)}), parts());
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries.front().path, parts().scratch + "/tmp");
}

TEST(Subprocess, OfTheOpenBackendNothingIsClaimed) {
  auto plan = with_view({memory("/home/cloche"), tree("/usr", Access::run)});
  plan.environment = {{"HOME", "/home/cloche"}};
  SubprocessParts its = parts();
  its.callers_home = "/home/user";
  const LaunchSpec spec = render_open(plan, resources(), its);
  EXPECT_EQ(spec.backend, Backend::none);
  EXPECT_TRUE(spec.layers.empty());
  EXPECT_TRUE(has(spec.jail.argv, "--open"));
  EXPECT_FALSE(has(spec.jail.argv, "--allow"));
  EXPECT_EQ(variable(spec, "HOME"), "/home/user");
}

// Whatever is planned for a box: a rule for anything but the host's own trees would open the wrong place.
TEST(Subprocess, EveryRuleOfARealPlanIsATreeOfItOrScratch) {
  for (const auto& [name, plan] : cases()) {
    for (const auto& rule : rules_of(plan)) {
      const std::string path = rule.substr(rule.find(':') + 1);
      const bool known = std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& entry) {
        return entry.access != Access::none && (entry.source == path || entry.target == path);
      });
      EXPECT_TRUE(known || path.starts_with(parts().scratch)) << name << " " << rule;
    }
  }
}

}  // namespace
}  // namespace cloche
