// What the jail is told, compared whole with golden files, and the rules behind it by table.
// After a change that is meant: CLOCHE_UPDATE_GOLDEN=1 build/release/tests/unit_test
// --gtest_filter='*Golden*'
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <sstream>

#include "base/golden.hpp"
#include "confine/launch.hpp"
#include "model/network.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche {
namespace {

using Kind = FileFact::Kind;

std::string words_of(uint32_t flags, std::initializer_list<const char*> names) {
  std::string text;
  uint32_t bit = 1;
  for (const char* name : names) {
    if ((flags & bit) != 0 && *name != '\0') text += std::string(text.empty() ? "" : ",") + name;
    bit <<= 1;
  }
  return text.empty() ? "-" : text;
}

std::string as_text(const LaunchSpec& spec) {
  static constexpr const char* kinds[] = {"directory", "link", "text",   "tree", "tmpfs",
                                          "proc",      "pts",  "queues", "root"};
  static constexpr const char* accesses[] = {"list", "read", "run", "write", "write-run", "device"};
  const wire::PlanText& jail = spec.jail;
  std::ostringstream out;
  out << "flags " << words_of(jail.flags, {"privileged", "terminal", "debugging", "", "watched-memory"})
      << "\n";
  out << "inside " << jail.inside_uid << ":" << jail.inside_gid << "\noutside " << jail.outside_uid << ":"
      << jail.outside_gid << "\n";
  out << "umask " << std::oct << jail.umask << std::dec << "\nlandlock-abi " << jail.landlock_abi
      << "\ndirectory " << jail.directory << "\n";
  for (const auto& mount : jail.mounts) {
    out << "mount " << kinds[static_cast<size_t>(mount.kind)] << " " << mount.target << " "
        << words_of(mount.flags, {"ro", "noexec", "devices", "recursive", "owned", "existing", "file"})
        << " mode " << std::oct << mount.mode << std::dec;
    if (mount.kind == wire::MountKind::tmpfs) out << " size " << mount.size_bytes << " files " << mount.files;
    if (mount.judged.inode != 0) out << " is " << mount.judged.device << ":" << mount.judged.inode;
    if (mount.owner_uid != 0) out << " owner " << mount.owner_uid << ":" << mount.owner_gid;
    if (!mount.source.empty()) out << " <- " << mount.source;
    if (!mount.content.empty()) out << " with " << mount.content.size() << " bytes";
    out << "\n";
  }
  for (const auto& rule : jail.rules)
    out << "rule " << accesses[static_cast<size_t>(rule.access)] << " " << rule.path << "\n";
  for (const auto& limit : jail.limits) out << "limit " << limit.resource << " = " << limit.value << "\n";
  for (const auto& program : jail.programs) out << "program " << program << "\n";
  for (const auto& word : jail.argv) out << "argv " << word << "\n";
  for (const auto& variable : jail.env) out << "env " << variable << "\n";
  for (const auto& layer : spec.layers) out << "layer " << name_of(layer.id) << " by " << layer.by << "\n";
  return out.str();
}

ConfinementPlan default_plan() {
  Facts facts;
  facts.caller = {.uid = 1001, .gid = 1002, .home = "/home/user", .path = "/usr/bin:/bin"};
  facts.workspace = {.kind = Kind::directory,
                     .path = "/home/user/project",
                     .device = 2049,
                     .inode = 77,
                     .uid = 1001,
                     .gid = 1002};
  facts.system = {{.kind = Kind::directory, .path = "/usr"},
                  {.kind = Kind::link, .path = "/bin", .link = "usr/bin"}};
  facts.etc = {{.kind = Kind::file, .path = "/etc/services"},
               {.kind = Kind::directory, .path = "/etc/ssl/certs"}};
  return plan_run({.argv = {"make", "-j4"}}, facts).value();
}

const HostProbe modern = {.landlock_abi = 6, .has_filter = true, .user_namespaces = true};

TEST(GoldenRender, DefaultPlanOfAnOrdinaryCaller) {
  const CallResources resources = {.outside_uid = 1001, .outside_gid = 1002, .memory_by = CountedBy::watched};
  expect_golden("render-default.txt", as_text(render(default_plan(), modern, resources)));
}

TEST(GoldenRender, DefaultPlanOfRootWithASkeleton) {
  CallResources resources = {.privileged = true,
                             .outside_uid = 2'000'000'017,
                             .outside_gid = 2'000'000'017,
                             .memory_by = CountedBy::cgroup2};
  resources.skeleton = {.root = {"/state/skeletons/abc/root", 2049, 500},
                        .etc = CallResources::Ready{"/state/skeletons/def/root", 2049, 501},
                        .has_devices = true};
  expect_golden("render-root-skeleton.txt", as_text(render(default_plan(), modern, resources)));
}

ViewEntry tree(Access access, std::string target) {
  return {.kind = EntryKind::tree, .access = access, .target = target, .source = "/host" + target};
}

std::vector<std::string> rules_of(const std::vector<ViewEntry>& view) {
  ConfinementPlan plan;
  plan.argv = {"/bin/true"};
  plan.view = view;
  std::vector<std::string> rules;
  for (const auto& rule : render(plan, modern, {.memory_by = CountedBy::watched}).jail.rules) {
    rules.push_back(std::to_string(static_cast<int>(rule.access)) + rule.path);
  }
  return rules;
}

std::string rule(wire::Access access, const std::string& path) {
  return std::to_string(static_cast<int>(access)) + path;
}

bool has(const std::vector<std::string>& rules, const std::string& one) {
  return std::find(rules.begin(), rules.end(), one) != rules.end();
}

TEST(Render, EveryReachableEntryHasARuleAndNoOtherHas) {
  const auto rules = rules_of(
      {tree(Access::run, "/usr"),
       {.kind = EntryKind::link, .target = "/bin", .source = "usr/bin"},
       {.kind = EntryKind::text, .target = "/note", .content = "x"},
       {.kind = EntryKind::directory, .target = "/run"},
       {.kind = EntryKind::tmpfs, .access = Access::write_run, .target = "/tmp", .size_bytes = 4096},
       {.kind = EntryKind::tmpfs, .access = Access::none, .target = "/usr/secret", .size_bytes = 4096}});
  EXPECT_EQ(rules, (std::vector<std::string>{
                       rule(wire::Access::list, "/"), rule(wire::Access::device, "/dev"),
                       rule(wire::Access::run, "/usr"), rule(wire::Access::write_run, "/tmp")}));
}

struct Pair {
  Access outer;
  Access inner;
  bool needs_own_rule;
};

// Landlock only adds up, so a rule is left out exactly when the one around it includes it; a narrower place
// inside a wider one never gets a wider rule than it asks for.
TEST(Render, ANarrowerRuleNeverWidens) {
  const Pair rows[] = {
      {Access::read, Access::read, false},
      {Access::read, Access::run, true},
      {Access::read, Access::write, true},
      {Access::read, Access::write_run, true},
      {Access::run, Access::read, false},
      {Access::run, Access::run, false},
      {Access::run, Access::write, true},
      {Access::run, Access::write_run, true},
      {Access::write, Access::read, false},
      {Access::write, Access::run, true},
      {Access::write, Access::write_run, true},
      {Access::write_run, Access::read, false},
      {Access::write_run, Access::run, false},
      {Access::write_run, Access::write, false},
      {Access::write_run, Access::write_run, false},
      {Access::write_run, Access::device, true},
      {Access::run, Access::none, false},
      {Access::write_run, Access::none, false},
  };
  for (const auto& [outer, inner, needs_own_rule] : rows) {
    const auto rules = rules_of({tree(outer, "/outer"), tree(inner, "/outer/inner"), tree(inner, "/outer2")});
    const auto for_inner = std::count_if(rules.begin(), rules.end(),
                                         [](const std::string& r) { return r.substr(1) == "/outer/inner"; });
    EXPECT_EQ(for_inner == 1, needs_own_rule) << name_of(outer) << " around " << name_of(inner);
    const auto beside = std::count_if(rules.begin(), rules.end(),
                                      [](const std::string& r) { return r.substr(1) == "/outer2"; });
    EXPECT_EQ(beside == 1, inner != Access::none) << "a neighbour with the same beginning is not beneath";
  }
}

TEST(Render, EtcIsReadableOnlyWhenThereIsOne) {
  EXPECT_FALSE(has(rules_of({}), rule(wire::Access::read, "/etc")));
  EXPECT_TRUE(has(rules_of({{.kind = EntryKind::text, .target = "/etc/passwd", .content = "x"}}),
                  rule(wire::Access::read, "/etc")));
  EXPECT_FALSE(has(rules_of({tree(Access::read, "/etcetera")}), rule(wire::Access::read, "/etc")));
}

TEST(Render, MountFlagsFollowTheAccess) {
  const std::pair<Access, uint32_t> rows[] = {{Access::none, wire::read_only | wire::no_exec},
                                              {Access::read, wire::read_only | wire::no_exec},
                                              {Access::run, wire::read_only},
                                              {Access::write, wire::no_exec},
                                              {Access::write_run, 0},
                                              {Access::device, wire::no_exec | wire::devices}};
  for (const auto& [access, flags] : rows) {
    ConfinementPlan plan;
    plan.argv = {"/bin/true"};
    plan.view = {tree(access, "/place")};
    EXPECT_EQ(render(plan, modern, {}).jail.mounts.at(0).flags, flags) << name_of(access);
  }
}

TEST(Render, NothingIsMadeInATreeOfTheHosts) {
  ConfinementPlan plan;
  plan.argv = {"/bin/true"};
  plan.view = {tree(Access::write_run, "/project"),
               tree(Access::run, "/project/below"),
               {.kind = EntryKind::tmpfs, .access = Access::write, .target = "/tmp", .size_bytes = 4096},
               tree(Access::run, "/tmp/below")};
  const auto mounts = render(plan, modern, {}).jail.mounts;
  const std::pair<const char*, bool> rows[] = {
      {"project", false}, {"project/below", true}, {"tmp", false}, {"tmp/below", false}};
  for (const auto& [target, existing] : rows) {
    const auto at = std::find_if(mounts.begin(), mounts.end(),
                                 [name = target](const wire::MountText& m) { return m.target == name; });
    ASSERT_NE(at, mounts.end()) << target;
    EXPECT_EQ((at->flags & wire::existing) != 0, existing) << target;
  }
}

TEST(Render, EveryLimitOfThePlanReachesTheKernel) {
  ConfinementPlan plan;
  plan.argv = {"/bin/true"};
  plan.limits.file_bytes = 4711;
  plan.limits.open_files = 55;
  plan.limits.processes = 66;
  const auto limits = render(plan, modern, {}).jail.limits;
  const auto value = [&](uint32_t resource) {
    const auto at = std::find_if(limits.begin(), limits.end(),
                                 [&](const wire::Limit& l) { return l.resource == resource; });
    return at != limits.end() ? at->value : ~0ULL;
  };
  EXPECT_EQ(value(RLIMIT_CORE), 1U) << "0 would still feed a pipe";
  EXPECT_EQ(value(RLIMIT_FSIZE), 4711U);
  EXPECT_EQ(value(RLIMIT_NOFILE), 55U);
  EXPECT_EQ(value(RLIMIT_NPROC), 67U) << "the first process of the sandbox is the one more";
  EXPECT_NE(value(RLIMIT_CPU), ~0ULL);
  EXPECT_LE(limits.size(), wire::max_limits);
}

struct Offer {
  const char* what;
  HostProbe probe;
  std::vector<LayerId> missing;
};

TEST(MissingLayers, IsRequiredMinusOffered) {
  const Offer rows[] = {
      {"everything", {6, true, true, {}}, {}},
      {"the least Landlock", {least_landlock_abi, true, true, {}}, {}},
      {"an old Landlock", {least_landlock_abi - 1, true, true, {}}, {LayerId::landlock}},
      {"no Landlock", {-1, true, true, {}}, {LayerId::landlock}},
      {"no filter", {6, false, true, {}}, {LayerId::syscall_filter}},
      {"no user namespaces", {6, true, false, "sysctl"}, {LayerId::user_ids}},
      {"nothing", {}, {LayerId::user_ids, LayerId::landlock, LayerId::syscall_filter}},
  };
  for (const auto& [what, probe, expected] : rows) {
    std::vector<LayerId> ids;
    for (const auto& layer : missing_layers(ConfinementPlan{}, probe)) {
      ids.push_back(layer.id);
      EXPECT_FALSE(layer.why.empty()) << what;
      EXPECT_TRUE(!layer.fix.empty() || layer.id == LayerId::user_ids) << what;
    }
    EXPECT_EQ(ids, expected) << what;
  }
}

// By the operator's word the level namespace goes on, and names no layer that is not there.
TEST(Render, WithoutLandlockThereIsNeitherARuleNorALayer) {
  ConfinementPlan plan = default_plan();
  std::erase(plan.required, LayerId::landlock);
  for (int abi : {-1, 0, 1}) {
    EXPECT_TRUE(missing_layers(plan, {abi, true, true, {}}).empty()) << abi;
    const LaunchSpec spec = render(plan, {abi, true, true, {}}, {});
    EXPECT_EQ(spec.jail.landlock_abi, 0U) << abi;
    EXPECT_TRUE(spec.jail.rules.empty()) << abi;
    for (const Layer& layer : spec.layers) EXPECT_NE(layer.id, LayerId::landlock) << abi;
  }
}

TEST(MissingLayers, WhatIsNotRequiredIsNotMissing) {
  ConfinementPlan plan;
  plan.required.clear();
  EXPECT_TRUE(missing_layers(plan, HostProbe{}).empty());
  plan.required = {LayerId::landlock_scope};
  EXPECT_EQ(missing_layers(plan, {5, true, true, {}}).size(), 1U);
  EXPECT_TRUE(missing_layers(plan, {6, true, true, {}}).empty());
}

TEST(MissingLayers, OfTheHostsNetworkTheWayOutIsNamed) {
  ConfinementPlan plan;
  plan.network = Network::of_host;
  plan.required = {LayerId::landlock_scope};
  const auto missing = missing_layers(plan, {5, true, true, {}});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_NE(missing[0].why.find("abstract sockets"), std::string::npos);
  EXPECT_NE(missing[0].fix.find("leave --net-host out"), std::string::npos);
}

TEST(Render, TheJailIsToldThatNoLinkLeadsToTheDirectory) {
  ConfinementPlan plan = default_plan();
  EXPECT_EQ(render(plan, {.landlock_abi = 7}, {}).jail.flags & wire::plain_directory, 0U);
  plan.plain_directory = true;
  EXPECT_NE(render(plan, {.landlock_abi = 7}, {}).jail.flags & wire::plain_directory, 0U);
}

TEST(Render, HandsOutWhatTheNetworkOfThePlanNeedsAndNoMore) {
  const auto listeners = [](const ConfinementPlan& plan) {
    return render(plan, {.landlock_abi = 7}, {.memory_by = CountedBy::watched}).jail.listeners;
  };
  ConfinementPlan plan = default_plan();
  ASSERT_EQ(listeners(plan).size(), 1U) << "a resolver that knows no name";
  EXPECT_EQ(listeners(plan)[0].stream, 0U);
  EXPECT_EQ(listeners(plan)[0].port, dns_port);
  plan.published = {{8080, 3000}, {8081, 3001}};
  EXPECT_EQ(listeners(plan).size(), 1 + connectors_of_published) << "connectors are for all ports";
  EXPECT_EQ(listeners(plan).back().port, 0U);
  EXPECT_EQ(listeners(plan).back().stream, 1U);
  plan.published = {};
  plan.network = Network::of_host;
  EXPECT_TRUE(listeners(plan).empty());
}

TEST(Render, TheHostsNetworkIsToldToTheJailAndIsNoLayer) {
  ConfinementPlan plan = default_plan();
  plan.network = Network::of_host;
  const LaunchSpec spec = render(plan, {.landlock_abi = 7}, {.memory_by = CountedBy::watched});
  EXPECT_NE(spec.jail.flags & wire::host_network, 0U);
  EXPECT_EQ(spec.jail.landlock_abi, static_cast<uint32_t>(scoping_landlock_abi));
  const auto shown = [&](LayerId id) {
    return std::any_of(spec.layers.begin(), spec.layers.end(), [&](const Layer& l) { return l.id == id; });
  };
  EXPECT_FALSE(shown(LayerId::net_namespace));
  EXPECT_TRUE(shown(LayerId::landlock_scope));
}

TEST(Render, NamesEveryRequiredLayerWithItsMechanism) {
  for (const CountedBy memory_by : {CountedBy::watched, CountedBy::cgroup1, CountedBy::cgroup2}) {
    const auto layers = render(default_plan(), {.landlock_abi = 4}, {.memory_by = memory_by}).layers;
    for (LayerId required : required_by(IsolationLevel::namespaces)) {
      const auto at = std::find_if(layers.begin(), layers.end(),
                                   [&](const Layer& layer) { return layer.id == required; });
      ASSERT_NE(at, layers.end()) << name_of(required);
      EXPECT_FALSE(at->by.empty()) << name_of(required);
    }
  }
}

}  // namespace
}  // namespace cloche
