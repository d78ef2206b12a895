// The rules by which a plan becomes what a box is told, by table.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json/json_text.hpp"
#include "base/sys/path.hpp"
#include "confine/boxes/boxes_fixture.hpp"
#include "confine/boxes/bwrap.hpp"
#include "confine/boxes/seatbelt.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche {
namespace {

using namespace fixture;
using Words = std::vector<std::string>;

bool has_words(const Words& words, const Words& wanted) {
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

ViewEntry tree(std::string target, Access access, std::string source = {}) {
  return {.kind = EntryKind::tree,
          .access = access,
          .target = target,
          .source = source.empty() ? target : std::move(source)};
}

std::string text_of(const JsonValue& object, std::string_view key) {
  const JsonValue* found = object.find(key);
  return found != nullptr ? found->text : "";
}

JsonValue config_of(const ConfinementPlan& plan, const OciOptions& options) {
  auto value = read_json(bundle_text(plan, options), "config.json");
  EXPECT_TRUE(value.ok());
  return std::move(value).value();
}

TEST(Boxes, WhatIsWritableIsBoundAndNothingElse) {
  for (const auto& [name, plan] : cases()) {
    const Words words = bwrap_arguments(plan, parts_for(plan));
    const auto bound = std::count(words.begin(), words.end(), "--bind");
    const auto writable = std::count_if(plan.view.begin(), plan.view.end(), [](const ViewEntry& entry) {
      return entry.kind == EntryKind::tree && may_write(entry.access);
    });
    EXPECT_EQ(bound, writable) << name;
    for (const auto& entry : plan.view) {
      if (entry.kind != EntryKind::tree || is_made_in_dev(entry)) continue;
      EXPECT_TRUE(
          has_words(words, {may_write(entry.access) ? "--bind" : "--ro-bind", entry.source, entry.target}))
          << name << " " << entry.target;
    }
  }
}

// gVisor puts memory that everybody can write where a bundle leaves it room.
TEST(Boxes, GvisorsOwnMemoryIsAsThePlanHasIt) {
  for (const auto& [name, plan] : cases()) {
    const JsonValue config = config_of(plan, options_for_gvisor(plan));
    std::map<std::string, bool> sealed;
    for (const auto& mount : config.find("mounts")->items) {
      const auto& words = mount.find("options")->items;
      sealed[text_of(mount, "destination")] =
          std::any_of(words.begin(), words.end(), [](const JsonValue& word) { return word.text == "ro"; });
    }
    for (const auto& entry : plan.view) {
      if (entry.target != "/tmp" && entry.target != "/dev/shm") continue;
      ASSERT_TRUE(sealed.contains(entry.target)) << name << " " << entry.target;
      EXPECT_EQ(sealed[entry.target], !may_write(entry.access)) << name << " " << entry.target;
    }
    EXPECT_FALSE(sealed["/dev"]) << "/dev/null could not be written";
    EXPECT_NE(bundle_text(plan, options_for_gvisor(plan)).find("--give-away"), std::string::npos) << name;
  }
}

TEST(Boxes, BubblewrapUnsharesTheNetworkUnlessItIsTheHosts) {
  ConfinementPlan plan = default_plan();
  EXPECT_TRUE(has_words(bwrap_arguments(plan, {}), {"--unshare-net"}));
  plan.hosts = {"example.org"};
  EXPECT_TRUE(has_words(bwrap_arguments(plan, {}), {"--unshare-net"}))
      << "no process there tells names apart";
  plan.network = Network::of_host;
  EXPECT_FALSE(has_words(bwrap_arguments(plan, {}), {"--unshare-net"}));
}

TEST(Boxes, BubblewrapTriesOnlyWhatIsNotRequired) {
  ConfinementPlan plan = default_plan();
  EXPECT_TRUE(has_words(bwrap_arguments(plan, {}), {"--unshare-cgroup"}));
  plan.required.clear();
  EXPECT_TRUE(has_words(bwrap_arguments(plan, {}), {"--unshare-cgroup-try"}));
}

TEST(Boxes, BubblewrapTakesStagedSources) {
  ConfinementPlan plan;
  plan.argv = {"/bin/true"};
  plan.view = {tree("/data", Access::read),
               tree("/out", Access::write_run),
               tree("/dev/kmsg", Access::device),
               {.kind = EntryKind::text, .target = "/etc/motd", .content = "hello", .mode = 0644}};
  BoxParts parts{.jail = "/jail"};
  parts.trees = {{0, "/staged/0"}};
  parts.texts = {{3, "/staged/3"}};
  const Words words = bwrap_arguments(plan, parts);
  const Words expected[] = {{"--ro-bind", "/staged/0", "/data"},
                            {"--bind", "/out", "/out"},
                            {"--dev-bind", "/dev/kmsg", "/dev/kmsg"},
                            {"--ro-bind", "/staged/3", "/etc/motd"},
                            {"--ro-bind", "/jail", "/run/cloche-jail"}};
  for (const auto& wanted : expected) EXPECT_TRUE(has_words(words, wanted)) << wanted.front();
}

TEST(Boxes, BubblewrapSealsMemoryAfterEverythingIsInIt) {
  const Words words = bwrap_arguments(of_a_script(), {});
  const auto at = [&](const std::string& word, const std::string& value) {
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == word && words[i + 1] == value) return i;
    }
    return words.size();
  };
  EXPECT_LT(at("--tmpfs", "/run/cloche"), at("--remount-ro", "/run/cloche"));
  EXPECT_LT(at("--remount-ro", "/run/cloche"), at("--remount-ro", "/"));
  EXPECT_LT(at("--remount-ro", "/"), words.size());
}

struct MissingRow {
  const char* what;
  std::vector<ViewEntry> view;
  BoxParts parts;
  Counted counted;
  std::vector<LayerId> missing;
};

std::vector<LayerId> ids_of(const std::vector<MissingLayer>& missing) {
  std::vector<LayerId> ids;
  for (const auto& layer : missing) {
    ids.push_back(layer.id);
    EXPECT_FALSE(layer.why.empty());
    EXPECT_FALSE(layer.fix.empty());
  }
  return ids;
}

TEST(Boxes, BubblewrapNamesWhatItDoesNotKeep) {
  const BoxParts by_root{.privileged = true};
  BoxParts without_landlock;
  without_landlock.inner.landlock_abi = 0;
  const MissingRow rows[] = {
      {"an ordinary user's", {}, {}, Counted::by_us, {}},
      {"a pasted one", {}, {}, Counted::by_none, {LayerId::memory_limit}},
      {"root's", {}, by_root, Counted::by_us, {LayerId::user_ids, LayerId::process_limit}},
      {"without Landlock", {}, without_landlock, Counted::by_us, {LayerId::landlock}},
      {"noexec in a tree that runs",
       {tree("/opt", Access::run), tree("/opt/out", Access::write)},
       {},
       Counted::by_us,
       {LayerId::mount_view}},
      {"noexec where a copy runs anyway",
       {tree("/w", Access::write_run), tree("/w/.cloche", Access::read)},
       {},
       Counted::by_us,
       {}},
      {"a mask in a tree that runs",
       {tree("/opt", Access::run), tree("/opt/key", Access::none)},
       {},
       Counted::by_us,
       {}},
  };
  for (const auto& [what, view, parts, counted, expected] : rows) {
    ConfinementPlan plan;
    plan.view = view;
    EXPECT_EQ(ids_of(bwrap_missing(plan, parts, counted)), expected) << what;
    plan.required.clear();
    EXPECT_TRUE(bwrap_missing(plan, parts, counted).empty())
        << what << ": what is not required is not missing";
  }
}

TEST(Boxes, MountPointsInTheHostsTreesMustBeThere) {
  ConfinementPlan plan;
  ViewEntry hidden = tree("/w/sub/key", Access::none, "/dev/null");
  hidden.file = true;
  plan.view = {tree("/w", Access::write_run, "/srv/work"),
               {.kind = EntryKind::tmpfs, .target = "/tmp"},
               {.kind = EntryKind::proc, .target = "/proc"},
               {.kind = EntryKind::link, .target = "/w/link", .source = "x"},
               tree("/tmp/data", Access::read, "/srv/data"),
               tree("/proc/keys", Access::none, "/dev/null"),
               tree("/alone", Access::read),
               hidden};
  const auto places = host_mount_points(plan);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].path, "/srv/work/sub/key");
  EXPECT_EQ(places[0].target, "/w/sub/key");
  EXPECT_TRUE(places[0].file);
}

TEST(Boxes, LinksThatATreeShowsAreNotMadeInIt) {
  ConfinementPlan plan;
  plan.argv = {"/bin/true"};
  plan.view = {tree("/w", Access::write_run),
               {.kind = EntryKind::link, .target = "/w/current", .source = "v1"}};
  EXPECT_FALSE(has_words(bwrap_arguments(plan, {}), {"--symlink"}));
  for (const auto& entry : rootfs_entries(plan, BoxKernel::hosts)) EXPECT_NE(entry.path, "/w/current");
}

TEST(Boxes, ARootDirectoryHasAPlaceForEachMountAndParentsFirst) {
  for (const auto& [name, plan] : cases()) {
    std::set<std::string> made = {"/"};
    for (const auto& entry : rootfs_entries(plan, BoxKernel::hosts)) {
      EXPECT_TRUE(made.contains(entry.path.substr(0, std::max<size_t>(entry.path.rfind('/'), 1))))
          << name << " " << entry.path;
      EXPECT_TRUE(made.insert(entry.path).second) << name << " " << entry.path << " is made twice";
    }
    const JsonValue config = config_of(plan, options_for(plan));
    for (const auto& mount : config.find("mounts")->items) {
      const std::string target = text_of(mount, "destination");
      const ViewEntry entry{.target = target};
      const bool by_runtime = target.starts_with("/dev/");
      if (holder_of(plan, entry) == nullptr && !by_runtime) {
        EXPECT_TRUE(made.contains(target)) << name << " " << target;
      }
    }
  }
}

TEST(Boxes, TextsAreInTheRootDirectoryUnlessSomethingCoversIt) {
  EXPECT_TRUE(texts_beside_rootfs(default_plan()).empty());
  EXPECT_EQ(texts_beside_rootfs(of_a_script()).size(), 1U) << "/run is memory";
  ConfinementPlan plan;
  plan.view = {tree("/etc", Access::read),
               {.kind = EntryKind::text, .target = "/etc/motd", .content = "hello"}};
  EXPECT_EQ(texts_beside_rootfs(plan), std::vector<size_t>{1});
}

// The gofer sees no memory: it binds in the root directory, where it can make nothing.
TEST(Boxes, InTheRootDirectoryTheGoferFindsAPlaceForEachTree) {
  ConfinementPlan plan = default_plan();
  const std::string home(home_inside);
  for (const std::string& target : {std::string("/dev/shm/ws"), std::string("/tmp/a/b"), home + "/notes"})
    plan.view.push_back(tree(target, Access::run, "/srv/given"));
  plan.view.push_back(tree("/usr/share/given", Access::run, "/srv/given"));
  std::map<std::string, unsigned> made;
  for (const auto& entry : rootfs_entries(plan, BoxKernel::gvisor)) made[entry.path] = entry.mode;
  for (const std::string& target : {std::string("/dev/shm/ws"), std::string("/tmp/a/b"), home + "/notes"}) {
    ASSERT_TRUE(made.contains(target)) << target;
    for (std::string_view at = target; at != "/"; at = parent_of(at))
      EXPECT_EQ(made[std::string(at)] & 05U, 05U) << at << " is on the way";
  }
  EXPECT_FALSE(made.contains("/usr/share/given")) << "there it is the host's own";
  EXPECT_FALSE(made.contains("/dev/null")) << "the runtime's own";
}

TEST(Boxes, ProcessesOfRootsBundleAreNotCounted) {
  const ConfinementPlan plan = default_plan();
  const auto lacks = [&](const OciOptions& options) {
    const auto missing = oci_missing(plan, options);
    return std::any_of(missing.begin(), missing.end(),
                       [](const MissingLayer& layer) { return layer.id == LayerId::process_limit; });
  };
  OciOptions options = options_for(plan);
  EXPECT_FALSE(lacks(options)) << "ids that no user has";
  options.uids = {{.outside = 1001}};
  EXPECT_FALSE(lacks(options)) << "an ordinary user's own";
  options.uids = {{.outside = 0}};
  EXPECT_TRUE(lacks(options)) << "root is not counted";
  EXPECT_FALSE(lacks(options_for_gvisor(plan))) << "the sentry counts";
}

TEST(Boxes, ABundleHasAUserNamespaceWhenIdsAreMapped) {
  const ConfinementPlan plan = default_plan();
  const auto namespaces = [&](const OciOptions& options) {
    Words names;
    const JsonValue config = config_of(plan, options);
    for (const auto& item : config.find("linux")->find("namespaces")->items)
      names.push_back(text_of(item, "type"));
    return names;
  };
  EXPECT_EQ(namespaces(options_for(plan)),
            (Words{"user", "mount", "pid", "ipc", "uts", "cgroup", "network"}));
  EXPECT_EQ(namespaces(options_for_gvisor(plan)), (Words{"mount", "pid", "ipc", "uts", "cgroup", "network"}));
}

Words mount_options(const JsonValue& config, const std::string& target) {
  Words words;
  for (const auto& mount : config.find("mounts")->items) {
    if (text_of(mount, "destination") != target) continue;
    for (const auto& option : mount.find("options")->items) words.push_back(option.text);
  }
  return words;
}

TEST(Boxes, ABundleTakesNothingBackThatATreesOwnMountForbids) {
  struct Row {
    Access access;
    bool recursive;
    SourceMount below;
    BoxKernel kernel;
    Words options;
  };
  const SourceMount noexec{.runs_nothing = true};
  const SourceMount sealed{.read_only = true};
  const Row rows[] = {
      {Access::write_run, false, {}, BoxKernel::hosts, {"bind", "rw", "nosuid", "nodev"}},
      {Access::write_run, false, noexec, BoxKernel::hosts, {"bind", "rw", "nosuid", "nodev", "noexec"}},
      {Access::write_run, false, sealed, BoxKernel::hosts, {"bind", "ro", "nosuid", "nodev"}},
      {Access::run, false, noexec, BoxKernel::hosts, {"bind", "ro", "nosuid", "nodev", "noexec"}},
      // What lies below it may run all the same.
      {Access::write_run, true, noexec, BoxKernel::hosts, {"rbind", "rw", "rnosuid", "rnodev"}},
      {Access::write_run, true, noexec, BoxKernel::gvisor, {"rbind", "rw", "nosuid", "nodev", "noexec"}},
  };
  for (const auto& [access, recursive, below, kernel, expected] : rows) {
    ConfinementPlan plan;
    plan.argv = {"/bin/true"};
    plan.view = {tree("/w", access, "/srv/work")};
    plan.view[0].recursive = recursive;
    OciOptions options;
    options.kernel = kernel;
    options.mounts["/srv/work"] = below;
    EXPECT_EQ(mount_options(config_of(plan, options), "/w"), expected) << recursive;
  }
}

TEST(Boxes, ABundleAsksForNoLimitThatItsStarterDoesNotHave) {
  const ConfinementPlan plan = default_plan();
  OciOptions options = options_for(plan);
  options.highest_limits = {{RLIMIT_MEMLOCK, 8 << 20}, {RLIMIT_CORE, RLIM_INFINITY}};
  const JsonValue config = config_of(plan, options);
  std::map<std::string, int64_t> hard;
  for (const auto& limit : config.find("process")->find("rlimits")->items)
    hard[text_of(limit, "type")] = limit.find("hard")->integer;
  EXPECT_EQ(hard["RLIMIT_MEMLOCK"], 8 << 20);
  EXPECT_EQ(hard["RLIMIT_CORE"], 1);
  EXPECT_FALSE(hard.contains("RLIMIT_NOFILE")) << "the runtime needs files of its own to build the box";
}

TEST(Boxes, ABundleNamesWhatItDoesNotKeep) {
  ConfinementPlan plan = default_plan();
  OciOptions options = options_for(plan);
  EXPECT_EQ(ids_of(oci_missing(plan, options)), std::vector{LayerId::memory_limit});
  options.uids = {{.outside = 0}};
  EXPECT_EQ(ids_of(oci_missing(plan, options)),
            (std::vector{LayerId::user_ids, LayerId::memory_limit, LayerId::process_limit}));
  options = options_for_gvisor(plan);
  plan.hosts = {"example.org"};
  EXPECT_EQ(ids_of(oci_missing(plan, options)), (std::vector{LayerId::user_ids, LayerId::net_namespace,
                                                             LayerId::landlock, LayerId::memory_limit}));
}

TEST(Boxes, InnerHasNoRulesWithoutLandlock) {
  const ConfinementPlan plan = default_plan();
  EXPECT_TRUE(has_words(inner_arguments(plan, {}), {"--allow", "write_run:/home/user/project"}));
  const Words words = inner_arguments(plan, {.landlock_abi = 0});
  EXPECT_TRUE(has_words(words, {"--landlock", "0"}));
  EXPECT_FALSE(has_words(words, {"--allow"}));
  EXPECT_TRUE(has_words(words, {"--", "python3", "build.py"}));
}

TEST(Boxes, SeatbeltQuotesPathsAndStartsWithNothing) {
  ConfinementPlan plan;
  plan.argv = {"make", "test"};
  plan.environment = {{"HOME", "/nowhere"}};
  plan.view = {tree("/a \"b\" \\c", Access::read)};
  EXPECT_NE(seatbelt_profile(plan).find(R"((allow file-read* (subpath "/a \"b\" \\c")))"), std::string::npos);
  EXPECT_EQ(seatbelt_arguments(plan), (Words{"sandbox-exec", "-p", seatbelt_profile(plan), "--",
                                             "/usr/bin/env", "-i", "HOME=/nowhere", "make", "test"}));
}

TEST(Boxes, SeatbeltDeniesTheNetworkUnlessItIsTheHosts) {
  ConfinementPlan plan = default_plan();
  EXPECT_NE(seatbelt_profile(plan).find("(deny network*)"), std::string::npos);
  const size_t missing = seatbelt_missing(plan).size();
  plan.network = Network::of_host;
  EXPECT_EQ(seatbelt_profile(plan).find("(deny network*)"), std::string::npos);
  EXPECT_EQ(seatbelt_missing(plan).size(), missing + 1);
}

}  // namespace
}  // namespace cloche
