// The flat plan: what goes in comes out, and nothing that is cut, stretched or twisted is taken for a plan.
#include "jail/core/wire.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "jail/core/wire_encode.hpp"

namespace cloche::wire {
namespace {

using namespace std::string_literals;

// One at a time: the storage is shared, as in the jail. The bytes are copied to a block of exactly their
// size, so that a sanitizer sees a read past the end.
struct Decoded {
  explicit Decoded(const std::string& encoded) : bytes(new char[encoded.size()]) {
    static Storage storage;
    std::memcpy(bytes.get(), encoded.data(), encoded.size());
    complaint = decode({bytes.get(), encoded.size()}, storage, plan);
  }
  std::unique_ptr<char[]> bytes;
  Plan plan;
  const char* complaint = nullptr;
};

PlanText small_plan() {
  PlanText plan;
  plan.inside_uid = plan.inside_gid = plan.outside_uid = plan.outside_gid = 1000;
  plan.programs = {"/bin/true"};
  plan.argv = {"true"};
  return plan;
}

// Something in every field and every kind of mount.
PlanText rich_plan() {
  PlanText plan = small_plan();
  plan.flags = all_plan_flags;
  plan.inside_uid = 1001;
  plan.inside_gid = 1002;
  plan.outside_uid = 2'000'000'001;
  plan.outside_gid = 2'000'000'002;
  plan.umask = 077;
  plan.landlock_abi = 6;
  plan.directory = "/project/ü b";
  plan.judged_directory = {1ULL << 63, ~0ULL};
  for (uint32_t kind = 0; kind <= last_mount_kind; ++kind) {
    if (static_cast<MountKind>(kind) == MountKind::root) continue;  // the first of all, below
    MountText mount{.kind = static_cast<MountKind>(kind),
                    .flags = kind,
                    .mode = 0700 + kind,
                    .owner_uid = kind,
                    .owner_gid = kind + 1};
    mount.size_bytes = 1ULL << 40;
    mount.files = 7;
    mount.judged = {~0ULL, 1ULL << 63};
    mount.target = "target" + std::to_string(kind) + "/below";
    mount.source = "/source \xff";
    mount.content = "text\0with NUL\n"s;
    mount.layers = "/layers \xfe";
    mount.judged_layers = {kind, ~0ULL};
    plan.mounts.push_back(mount);
  }
  plan.mounts.insert(plan.mounts.begin(), {.kind = MountKind::root, .target = "root", .source = "/skeleton"});
  for (uint32_t access = 0; access <= last_access; ++access)
    plan.rules.push_back({static_cast<Access>(access), "/r" + std::to_string(access), {access, ~0ULL}});
  plan.limits = {{0, 0}, {7, ~0ULL}, {15, 4096}};
  plan.listeners = {{.port = 53}, {.stream = 1, .port = 65535}, {.stream = 1}};
  plan.programs = {"/usr/bin/make", "/bin/make", "relative"};
  plan.argv = {"make", "", "-j4", "an argument\nwith \x01 everything"};
  plan.env = {"PATH=/usr/bin", "EMPTY=", "no equals"};
  return plan;
}

std::vector<std::string> strings(const Words& words) { return {words.begin(), words.end()}; }

void expect_same(const MountText& before, const Mount& after) {
  EXPECT_EQ(after.kind, before.kind);
  EXPECT_EQ(after.flags, before.flags);
  EXPECT_EQ(after.mode, before.mode);
  EXPECT_EQ(after.owner_uid, before.owner_uid);
  EXPECT_EQ(after.owner_gid, before.owner_gid);
  EXPECT_EQ(after.size_bytes, before.size_bytes);
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.judged, before.judged);
  EXPECT_EQ(after.target, before.target);
  EXPECT_EQ(after.source, before.source);
  EXPECT_EQ(std::string(after.content.begin(), after.content.end()), before.content);
  EXPECT_EQ(after.layers, before.layers);
  EXPECT_EQ(after.judged_layers, before.judged_layers);
}

void expect_round_trip(const PlanText& before) {
  const Decoded after(encode(before));
  ASSERT_EQ(after.complaint, nullptr) << after.complaint;
  EXPECT_EQ(after.plan.flags, before.flags);
  EXPECT_EQ(after.plan.inside_uid, before.inside_uid);
  EXPECT_EQ(after.plan.inside_gid, before.inside_gid);
  EXPECT_EQ(after.plan.outside_uid, before.outside_uid);
  EXPECT_EQ(after.plan.outside_gid, before.outside_gid);
  EXPECT_EQ(after.plan.umask, before.umask);
  EXPECT_EQ(after.plan.landlock_abi, before.landlock_abi);
  EXPECT_EQ(after.plan.directory, before.directory);
  EXPECT_EQ(after.plan.judged_directory, before.judged_directory);
  ASSERT_EQ(after.plan.mounts.size(), before.mounts.size());
  for (size_t i = 0; i < before.mounts.size(); ++i) expect_same(before.mounts[i], after.plan.mounts[i]);
  ASSERT_EQ(after.plan.rules.size(), before.rules.size());
  for (size_t i = 0; i < before.rules.size(); ++i) {
    EXPECT_EQ(after.plan.rules[i].access, before.rules[i].access);
    EXPECT_EQ(after.plan.rules[i].path, before.rules[i].path);
    EXPECT_EQ(after.plan.rules[i].judged, before.rules[i].judged);
  }
  ASSERT_EQ(after.plan.limits.size(), before.limits.size());
  for (size_t i = 0; i < before.limits.size(); ++i) {
    EXPECT_EQ(after.plan.limits[i].resource, before.limits[i].resource);
    EXPECT_EQ(after.plan.limits[i].value, before.limits[i].value);
  }
  EXPECT_EQ(strings(after.plan.programs), before.programs);
  EXPECT_EQ(strings(after.plan.argv), before.argv);
  EXPECT_EQ(strings(after.plan.env), before.env);
  // execve reads on until a null pointer.
  for (const Words& words : {after.plan.programs, after.plan.argv, after.plan.env})
    EXPECT_EQ(words.data()[words.size()], nullptr);
}

TEST(Wire, WhatGoesInComesOut) {
  expect_round_trip(small_plan());
  expect_round_trip(rich_plan());
}

TEST(Wire, FullListsComeOutWhole) {
  PlanText plan = small_plan();
  plan.mounts.assign(max_mounts, {.target = "t"});
  plan.landlock_abi = 1;
  plan.rules.assign(max_rules, {Access::read, "/r"});
  plan.limits.assign(max_limits, {1, 2});
  plan.programs.assign(max_programs, "/p");
  plan.argv.assign(max_words / 2, "a");
  plan.env.assign(max_words / 2, "e");
  plan.directory = "/" + std::string(max_path_bytes - 1, 'd');
  expect_round_trip(plan);
}

// What a prepared jail has built serves no other plan.
TEST(Wire, APlanBeginsWithWhatIsBuiltForItAlone) {
  PlanText still = small_plan();
  MountText usr{.kind = MountKind::tree, .flags = read_only};
  usr.target = "usr";
  usr.source = "/usr";
  usr.judged = {1, 2};
  MountText memory{.kind = MountKind::tmpfs, .mode = 01777};
  memory.target = "tmp";
  memory.size_bytes = memory.files = 1;
  still.mounts = {usr, memory};
  PlanText whole = still;
  whole.argv = {"true", "more"};
  whole.env = {"A=B"};
  whole.flags = debugging | watched_memory;
  MountText project{.kind = MountKind::tree, .flags = owned};
  project.target = "project";
  project.source = "/project";
  whole.mounts.push_back(project);

  // The storage of the two must not be one.
  const auto begins = [](const PlanText& plan, const PlanText& with) {
    static Storage first;
    static Storage second;
    const std::string bytes = encode(plan);
    const std::string still_bytes = encode(with);
    Plan one;
    Plan other;
    EXPECT_EQ(decode(bytes, first, one), nullptr);
    EXPECT_EQ(decode(still_bytes, second, other), nullptr);
    return begins_with(one, other);
  };
  EXPECT_TRUE(begins(whole, still));
  EXPECT_TRUE(begins(still, still));
  EXPECT_FALSE(begins(still, whole)) << "more is built than it has";

  const std::function<void(PlanText&)> changes[] = {
      [](PlanText& plan) { plan.inside_uid = 1001; },
      [](PlanText& plan) { plan.inside_gid = 1001; },
      [](PlanText& plan) { plan.outside_uid = 1001; },
      [](PlanText& plan) { plan.outside_gid = 1001; },
      [](PlanText& plan) { plan.flags |= privileged; },
      [](PlanText& plan) { plan.flags |= host_network; },
      [](PlanText& plan) { plan.mounts.erase(plan.mounts.begin()); },
      [](PlanText& plan) { std::swap(plan.mounts[0], plan.mounts[1]); },
      [](PlanText& plan) { plan.mounts[0].kind = MountKind::directory; },
      [](PlanText& plan) { plan.mounts[0].flags |= no_exec; },
      [](PlanText& plan) { plan.mounts[1].mode = 0700; },
      [](PlanText& plan) { plan.mounts[1].size_bytes = 2; },
      [](PlanText& plan) { plan.mounts[1].files = 2; },
      [](PlanText& plan) { plan.mounts[0].judged.device = 3; },
      [](PlanText& plan) { plan.mounts[0].judged.inode = 3; },
      [](PlanText& plan) { plan.mounts[0].target = "opt"; },
      [](PlanText& plan) { plan.mounts[0].source = "/opt"; },
      [](PlanText& plan) { plan.mounts[0].content = "text"; },
      [](PlanText& plan) { plan.mounts[0].owner_uid = 1; },
  };
  for (const auto& change : changes) {
    PlanText other = whole;
    change(other);
    EXPECT_FALSE(begins(other, still)) << (&change - std::begin(changes));
  }
}

TEST(Wire, AStillPlanHasNothingOfTheOperators) {
  PlanText plan = small_plan();
  MountText mount{.kind = MountKind::tree};
  mount.target = "usr";
  mount.source = "/usr";
  plan.mounts = {mount};
  EXPECT_TRUE(is_still(Decoded(encode(plan)).plan));
  plan.mounts[0].flags = owned;
  EXPECT_FALSE(is_still(Decoded(encode(plan)).plan));
  plan.mounts[0].flags = 0;
  plan.mounts[0].kind = MountKind::overlay;
  plan.mounts[0].judged = plan.mounts[0].judged_layers = {1, 1};
  EXPECT_FALSE(is_still(Decoded(encode(plan)).plan));
}

TEST(Wire, EveryTruncationIsRefused) {
  const std::string whole = encode(rich_plan());
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_NE(Decoded(whole.substr(0, size)).complaint, nullptr) << size << " of " << whole.size();
  }
}

TEST(Wire, BytesAfterTheEndAreRefused) {
  for (const auto& more : {"\0"s, "x"s, std::string(1000, '\0')}) {
    EXPECT_STREQ(Decoded(encode(rich_plan()) + more).complaint, "bytes after the end of the plan");
  }
}

struct Twist {
  const char* complaint;
  std::function<void(PlanText&)> apply;
};

TEST(Wire, RefusesEachUnsoundPlan) {
  const Twist rows[] = {
      {"unknown plan flag", [](auto& p) { p.flags = all_plan_flags + 1; }},
      {"unknown plan flag", [](auto& p) { p.flags = 1U << 31; }},
      {"the command would be root inside", [](auto& p) { p.inside_uid = 0; }},
      {"the command would be root inside", [](auto& p) { p.inside_gid = 0; }},
      {"the command would be root outside", [](auto& p) { p.flags = privileged, p.outside_uid = 0; }},
      {"the command would be root outside", [](auto& p) { p.flags = privileged, p.outside_gid = 0; }},
      {"a listener without a port", [](auto& p) { p.listeners = {{.stream = 0, .port = 0}}; }},
      {"a listener without a port", [](auto& p) { p.listeners = {{.stream = 1, .port = 65536}}; }},
      {"nothing to execute", [](auto& p) { p.programs.clear(); }},
      {"nothing to execute", [](auto& p) { p.argv.clear(); }},
      {"a relative working directory", [](auto& p) { p.directory = "work"; }},
      {"a relative working directory", [](auto& p) { p.directory = ""; }},
      {"a string is too long", [](auto& p) { p.directory = "/" + std::string(max_path_bytes, 'd'); }},
      {"a NUL inside a string", [](auto& p) { p.directory = "/a\0b"s; }},
      {"a NUL inside a string", [](auto& p) { p.mounts[0].target = "a\0b"s; }},
      {"a NUL inside a string", [](auto& p) { p.mounts[0].source = "/a\0b"s; }},
      {"a NUL inside a string", [](auto& p) { p.rules[0].path = "/a\0b"s; }},
      {"a NUL inside a string", [](auto& p) { p.programs[0] = "/a\0b"s; }},
      {"a NUL inside a string", [](auto& p) { p.argv[0] = "a\0b"s; }},
      {"a NUL inside a string", [](auto& p) { p.env = {"A=a\0b"s}; }},
      {"unknown kind of mount",
       [](auto& p) { p.mounts[0].kind = static_cast<MountKind>(last_mount_kind + 1); }},
      {"unknown kind of mount", [](auto& p) { p.mounts[0].kind = static_cast<MountKind>(~0U); }},
      {"unknown mount flag", [](auto& p) { p.mounts[0].flags = all_mount_flags + 1; }},
      {"a mode with set-id bits", [](auto& p) { p.mounts[0].mode = 04755; }},
      {"a mode with set-id bits", [](auto& p) { p.mounts[0].mode = 02755; }},
      {"a mode with set-id bits", [](auto& p) { p.mounts[0].mode = 0100755; }},
      {"a string is too long", [](auto& p) { p.mounts[0].target = std::string(max_path_bytes + 1, 't'); }},
      {"a string is too long", [](auto& p) { p.mounts[0].source = std::string(max_path_bytes + 1, 's'); }},
      {"a tmpfs without a size",
       [](auto& p) { p.mounts[0] = {.kind = MountKind::tmpfs, .files = 1, .target = "t"}; }},
      {"a tmpfs without a size",
       [](auto& p) { p.mounts[0] = {.kind = MountKind::tmpfs, .size_bytes = 1, .target = "t"}; }},
      {"an overlay of a directory that was not judged",
       [](auto& p) {
         p.mounts[0] = {.kind = MountKind::overlay, .target = "t", .layers = "/l", .judged_layers = {1, 1}};
       }},
      {"an overlay of a directory that was not judged",
       [](auto& p) {
         p.mounts[0] = {.kind = MountKind::overlay, .judged = {1, 1}, .target = "t", .layers = "/l"};
       }},
      {"a root that is not the first entry",
       [](auto& p) { p.mounts.push_back({.kind = MountKind::root, .target = "root"}); }},
      {"rules without Landlock", [](auto& p) { p.landlock_abi = 0; }},
      {"unknown access", [](auto& p) { p.rules[0].access = static_cast<Access>(last_access + 1); }},
      {"a rule for a relative path", [](auto& p) { p.rules[0].path = "etc"; }},
      {"a rule for a relative path", [](auto& p) { p.rules[0].path = ""; }},
      {"too many elements", [](auto& p) { p.mounts.assign(max_mounts + 1, {.target = "t"}); }},
      {"too many elements",
       [](auto& p) {
         p.rules.assign(max_rules + 1, {Access::read, "/r"});
       }},
      {"too many elements",
       [](auto& p) {
         p.limits.assign(max_limits + 1, {1, 2});
       }},
      {"too many elements", [](auto& p) { p.programs.assign(max_programs + 1, "/p"); }},
      {"too many elements", [](auto& p) { p.argv.assign(max_words + 1, "a"); }},
      {"too many elements", [](auto& p) { p.argv.assign(max_words, "a"), p.env = {"A=1"}; }},
      {"the plan is too long", [](auto& p) { p.argv.push_back(std::string(max_plan_bytes, 'a')); }},
  };
  for (const auto& row : rows) {
    PlanText plan = small_plan();
    plan.mounts = {{.target = "target"}};
    plan.landlock_abi = 1;
    plan.rules = {{Access::read, "/"}};
    ASSERT_EQ(Decoded(encode(plan)).complaint, nullptr);
    row.apply(plan);
    EXPECT_STREQ(Decoded(encode(plan)).complaint, row.complaint);
  }
}

TEST(Wire, TargetsStayBeneathTheRoot) {
  for (const auto& target :
       {"a"s, "a/b"s, "..."s, ".a"s, "a."s, "..a/b"s, "ü x"s, std::string(max_path_bytes, 't')}) {
    PlanText plan = small_plan();
    plan.mounts = {{.target = target}};
    EXPECT_EQ(Decoded(encode(plan)).complaint, nullptr) << target;
  }
  for (const auto& target :
       {""s, "/"s, "/a"s, "."s, ".."s, "../a"s, "a/.."s, "a/../b"s, "./a"s, "a/."s, "a//b"s, "a/"s}) {
    PlanText plan = small_plan();
    plan.mounts = {{.target = target}};
    EXPECT_STREQ(Decoded(encode(plan)).complaint, "a mount target that is not beneath the root") << target;
  }
}

TEST(Wire, AnOrdinaryCallersOwnIdMayBeRootInItsNamespace) {
  PlanText plan = small_plan();
  plan.outside_uid = plan.outside_gid = 0;
  EXPECT_EQ(Decoded(encode(plan)).complaint, nullptr);
}

// The jail hands these to the kernel as they lie there.
TEST(Wire, AStringThatDoesNotEndIsRefused) {
  PlanText plan = small_plan();
  plan.mounts = {{.target = "the-target", .source = "/the-source", .content = "the-content"}};
  plan.landlock_abi = 1;
  plan.rules = {{Access::read, "/the-rule"}};
  plan.env = {"THE=variable"};
  for (const char* text :
       {"the-target", "/the-source", "the-content", "/the-rule", "/bin/true", "THE=variable"}) {
    std::string bytes = encode(plan);
    const size_t end = bytes.find(text) + std::strlen(text);
    ASSERT_EQ(bytes.at(end), '\0');
    bytes[end] = 'x';
    EXPECT_STREQ(Decoded(bytes).complaint, "a string does not end") << text;
  }
}

TEST(Wire, AnotherVersionIsNoPlan) {
  std::string bytes = encode(small_plan());
  bytes[0] ^= 1;
  EXPECT_STREQ(Decoded(bytes).complaint, "this is not a plan of this version");
  EXPECT_NE(Decoded("").complaint, nullptr);
  EXPECT_NE(Decoded("CLH").complaint, nullptr);
}

// Not what a supervisor would write, but what a bit that fell over would make of it. Whatever is accepted
// must be sound.
TEST(Wire, ChangedBytesNeverMakeAnUnsoundPlan) {
  const std::string whole = encode(rich_plan());
  std::mt19937 random(3);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    for (auto changes = random() % 3 + 1; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const Decoded decoded(bytes);
    if (decoded.complaint != nullptr) continue;
    ++accepted;
    ASSERT_NE(decoded.plan.inside_uid, 0U);
    ASSERT_EQ(decoded.plan.directory[0], '/');
    for (const auto& mount : decoded.plan.mounts) {
      const std::string target = "/" + std::string(mount.target) + "/";
      ASSERT_EQ(target.find("//"), std::string::npos);
      ASSERT_EQ(target.find("/../"), std::string::npos);
      ASSERT_EQ(mount.mode & ~01777U, 0U);
    }
    for (const auto& rule : decoded.plan.rules) ASSERT_EQ(rule.path[0], '/');
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace cloche::wire
