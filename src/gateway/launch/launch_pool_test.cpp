// How many sandboxes are kept, and for which calls.
#include "gateway/launch/launch_pool.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cloche {
namespace {

constexpr uint64_t minute_ms = 60'000;
constexpr uint64_t plenty = uint64_t{1} << 30;

TEST(LaunchPool, IsBoundByNumberByMemoryAndByTime) {
  struct Row {
    PoolFacts facts;
    size_t wanted;
  };
  const Row rows[] = {
      {{2, 0, plenty}, 2},
      {{0, 0, plenty}, 0},
      {{16, 0, plenty}, 16},
      {{4, minute_ms - 1, plenty}, 4},
      {{4, minute_ms, plenty}, 1},
      {{0, minute_ms, plenty}, 0},
      {{4, 10 * minute_ms - 1, plenty}, 1},
      {{4, 10 * minute_ms, plenty}, 0},
      {{4, 0, 1 << 20}, 0},
      {{16, 0, plenty, 1 << 20}, 16},
      {{16, 0, plenty, 7 << 20}, 6},
      {{16, 0, plenty, 100 << 20}, 0},
  };
  for (const auto& row : rows)
    EXPECT_EQ(count_wanted(row.facts), row.wanted) << row.facts.bound << " " << row.facts.idle_ms;
}

ConfinementPlan usual() {
  ConfinementPlan plan;
  plan.view = {{.kind = EntryKind::tree, .target = "/usr", .source = "/usr", .device = 1, .inode = 2},
               {.kind = EntryKind::tmpfs, .target = "/tmp", .size_bytes = 4096},
               {.kind = EntryKind::tree, .target = "/project", .source = "/project", .owned = true}};
  plan.argv = {"true"};
  return plan;
}

std::string shape(const ConfinementPlan& plan) { return shape_of(plan, {}, "/state"); }

TEST(LaunchPool, ServesNoOtherCaller) {
  const CallerFact user{.uid = 1000, .gid = 1000};
  CallerFact other = user;
  other.gid = 1001;
  EXPECT_EQ(shape_of(usual(), user, "/state"), shape_of(usual(), user, "/state"));
  EXPECT_NE(shape_of(usual(), user, "/state"), shape_of(usual(), other, "/state"));
  EXPECT_NE(shape_of(usual(), user, "/state"), shape_of(usual(), {}, "/state"));
  EXPECT_NE(shape_of(usual(), user, "/state"), shape_of(usual(), user, "/other"));
}

TEST(LaunchPool, ServesPlansThatDifferInWhatIsTheCallsOwn) {
  const std::function<void(ConfinementPlan&)> calls_own[] = {
      [](ConfinementPlan& plan) { plan.argv = {"false"}; },
      [](ConfinementPlan& plan) { plan.directory = "/project"; },
      [](ConfinementPlan& plan) { plan.view[2].layered = true; },
      [](ConfinementPlan& plan) { plan.view[2].inode = 5; },
      [](ConfinementPlan& plan) { plan.view[2].source = "/other"; },
      [](ConfinementPlan& plan) { plan.debugging = true; },
      [](ConfinementPlan& plan) { plan.limits.wall_ms = 1; },
  };
  for (const auto& change : calls_own) {
    ConfinementPlan plan = usual();
    change(plan);
    EXPECT_EQ(shape(usual()), shape(plan)) << (&change - std::begin(calls_own));
  }
  const std::function<void(ConfinementPlan&)> another_kind[] = {
      [](ConfinementPlan& plan) { plan.network = Network::of_host; },
      [](ConfinementPlan& plan) { plan.backend = Backend::bwrap; },
      [](ConfinementPlan& plan) { plan.limits.memory_bytes -= 1; },
      [](ConfinementPlan& plan) { plan.limits.processes += 1; },
      [](ConfinementPlan& plan) { plan.inside_uid += 1; },
      [](ConfinementPlan& plan) { plan.inside_gid += 1; },
      [](ConfinementPlan& plan) { plan.view[0].inode = 3; },
      [](ConfinementPlan& plan) { plan.view[0].access = Access::none; },
      [](ConfinementPlan& plan) { plan.view[1].size_bytes = 1; },
      [](ConfinementPlan& plan) { plan.view[1].mode = 0700; },
      [](ConfinementPlan& plan) { plan.view[0].owned = true; },
      [](ConfinementPlan& plan) { std::swap(plan.view[0], plan.view[1]); },
      // What is ready-made has a place for each.
      [](ConfinementPlan& plan) {
        plan.view[2] = {.kind = EntryKind::tmpfs, .target = "/run/cloche", .size_bytes = 9};
      },
      [](ConfinementPlan& plan) {
        plan.view.push_back(
            {.kind = EntryKind::tree, .target = "/granted", .source = "/granted", .owned = true});
      },
      [](ConfinementPlan& plan) { plan.view[2].target = "/elsewhere"; },
  };
  for (const auto& change : another_kind) {
    ConfinementPlan plan = usual();
    change(plan);
    EXPECT_NE(shape(usual()), shape(plan)) << (&change - std::begin(another_kind));
  }
}

wire::MountText mount(wire::MountKind kind, std::string source, uint32_t flags = 0) {
  wire::MountText mount;
  mount.kind = kind;
  mount.flags = flags;
  mount.source = std::move(source);
  return mount;
}

TEST(LaunchPool, PreparesNoTreeOfTheOperators) {
  using enum wire::MountKind;
  const wire::MountText system[] = {mount(root, "/state/skeletons/ab/root"),
                                    mount(tree, "/state/skeletons/cd/root"),
                                    mount(tree, "/usr"),
                                    mount(tree, "/etc/java-17"),
                                    mount(tree, "/dev/null"),
                                    mount(proc, ""),
                                    mount(tmpfs, ""),
                                    mount(pts, ""),
                                    mount(queues, ""),
                                    mount(link, "usr/bin"),
                                    mount(directory, "")};
  std::vector<wire::MountText> still(std::begin(system), std::end(system));
  still.push_back(mount(text, ""));
  still.back().target = "etc/passwd";
  EXPECT_EQ(count_still_mounts(still, "/state"), still.size());
  wire::MountText script = mount(tmpfs, "");
  script.target = "run/cloche";
  const wire::MountText operators[] = {script,
                                       mount(tree, "/home/user/project"),
                                       mount(tree, "/usr/local/tool", wire::owned),
                                       mount(tmpfs, "", wire::owned),
                                       mount(overlay, "/usr"),
                                       mount(tree, "/state/tasks/home"),
                                       mount(tree, "/usrlocal"),
                                       mount(root, "/")};
  for (const auto& one : operators) {
    std::vector<wire::MountText> mounts = still;
    mounts.insert(mounts.begin() + 3, one);
    EXPECT_EQ(count_still_mounts(mounts, "/state"), 3U) << one.source;
  }
}

}  // namespace
}  // namespace cloche
