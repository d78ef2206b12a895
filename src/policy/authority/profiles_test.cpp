#include "policy/authority/profiles.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

Profiles shipped() {
  Profiles profiles;
  for (const auto& row : shipped_profiles) {
    auto profile = with_examples(profile_of(row));
    EXPECT_TRUE(profile.ok()) << describe(profile.error());
    if (profile.ok()) profiles.push_back(std::move(profile).value());
  }
  return profiles;
}

SandboxProfile custom(const std::string& text) {
  const auto profile = read_profile({text, "F", "mine"}, shipped(), "/home/u");
  EXPECT_TRUE(profile.ok()) << describe(profile.error());
  return profile.ok() ? profile.value() : SandboxProfile{};
}

// "write none ro:/x rw:/y memory:1G gvisor"
std::string told(const SandboxProfile& profile) {
  std::string text = profile.writes ? "write" : "read";
  text += profile.network ? " declared" : " none";
  for (const auto& grant : profile.grants) text += (grant.writable ? " rw:" : " ro:") + grant.source;
  for (const auto& limit : profile.limits)
    text += " " + std::string(info_of(limit.id).name) + ":" + show_limit(limit.id, limit.value);
  if (profile.isolation) text += " " + std::string(name_of(*profile.isolation));
  return text;
}

TEST(Profiles, TheShippedOnesSayWhatIsBuiltIn) {
  const Profiles profiles = shipped();
  ASSERT_EQ(profiles.size(), 3U);
  EXPECT_EQ(told(profiles[0]), "read none");
  EXPECT_EQ(told(profiles[1]), "write none");
  EXPECT_EQ(told(profiles[2]), "write declared");
  for (const auto& profile : profiles) {
    EXPECT_GE(profile.examples.size(), 4U) << profile.name;
    EXPECT_EQ(base_of(profile), shipped_profile(profile.name));
    EXPECT_EQ(name_of(base_of(profile)), profile.name);
  }
  EXPECT_EQ(names_of(profiles), "readonly, workspace-write-no-network and workspace-write");
}

TEST(Profiles, ACustomOneHasANameOfItsOwn) {
  EXPECT_TRUE(judge_own_name("/p/mine.json", "mine").ok());
  EXPECT_EQ(describe(judge_own_name("/p/a b.json", "a b").error()),
            "/p/a b.json: its name is not one that a profile can have");
  EXPECT_EQ(describe(judge_own_name("/p/readonly.json", "readonly").error()),
            "/p/readonly.json: the profile readonly comes with Cloche; give yours another name");
}

TEST(Profiles, ACustomOneTakesAwayAndShowsMore) {
  EXPECT_EQ(told(custom(R"({"extends": "workspace-write"})")), "write declared");
  EXPECT_EQ(told(custom(R"({"extends": "workspace-write", "network": "none"})")), "write none");
  EXPECT_EQ(told(custom(R"({"extends": "workspace-write", "workspace": "read"})")), "read declared");
  EXPECT_EQ(told(custom(R"({"extends": "workspace-write-no-network", "ro": ["/srv/data", "~/notes"],
                            "rw": ["/srv/out"], "limits": {"memory": "1G"}, "isolation": "gvisor"})")),
            "write none ro:/srv/data ro:/home/u/notes rw:/srv/out memory:1G gvisor");
  EXPECT_TRUE(custom(R"({"extends": "readonly"})").examples.empty()) << "they are about the other one";
}

TEST(Profiles, WhatIsWrongRefusesWithItsLine) {
  struct Row {
    const char* name;
    const char* text;
    const char* says;
  };
  const Row rows[] = {
      {"mine", "[]", "F:1: a profile must be an object"},
      {"mine", "{", "F:1"},
      {"mine", "{}", "F:1: extends is missing: name one of readonly"},
      {"mine", "{\"extends\": \"readonly\",\n\"write\": 1}", "F:2: unknown key \"write\""},
      {"mine", R"({"extends": "mine"})", "F:1: extends is none of readonly"},
      {"mine", R"({"extends": 1})", "F:1: extends is none of"},
      {"mine", R"({"extends": "readonly", "workspace": "write"})",
       "F:1: workspace is more than the profile that it extends gives"},
      {"mine", R"({"extends": "readonly", "network": "declared"})", "F:1: network is more than"},
      {"mine", R"({"extends": "readonly", "net": ["a.org"]})",
       "F:1: net names hosts, and the profile has no network"},
      {"mine", R"({"extends": "workspace-write", "net": ["1.2.3.4"]})",
       "F:1: net: '1.2.3.4' declares no host"},
      {"mine", R"({"extends": "readonly", "network": "any"})", R"(network is not "none" or "declared")"},
      {"mine", R"({"extends": "readonly", "rw": ["/x"]})", R"(rw contradicts workspace "read")"},
      {"mine", R"({"extends": "readonly", "ro": "/x"})", "ro is not a list of paths"},
      {"mine", "{\"extends\": \"readonly\", \"ro\": [\n\"x\"]}", "F:2: ro has what is no absolute path"},
      {"mine", R"({"extends": "readonly", "ro": ["/a/../b"]})", "ro has what is no absolute path"},
      {"mine", R"({"extends": "readonly", "limits": {"ram": 1}})", "F:1: limits: unknown limit \"ram\""},
      {"mine", R"({"extends": "readonly", "isolation": "bwrap"})", "F:1: isolation is not permissive"},
      {"mine", R"({"extends": "readonly", "description": 1})", "description is not a text"},
      {"mine", R"({"extends": "readonly", "examples": {}})", "examples is not a list"},
      {"mine", R"({"extends": "readonly", "examples": [1]})", "an example is not an object"},
      {"mine", R"({"extends": "readonly", "examples": [{"argv": [], "expect": "deny"}]})",
       "argv of an example is not a list of words"},
      {"mine", R"({"extends": "readonly", "examples": [{"argv": ["ls"]}]})",
       R"(expect of an example is not "allow" or "deny")"},
      {"mine", R"({"extends": "readonly", "examples": [{"argv": ["ls"], "expect": "deny", "x": 1}]})",
       "unknown key \"x\""},
      {"readonly", R"({"workspace": "write", "network": "none"})",
       "workspace is not what readonly does; extend it in a file of your own"},
      {"readonly", R"({"network": "none"})", "workspace is missing"},
      {"readonly", R"({"extends": "readonly"})", "readonly comes with Cloche and extends nothing"},
      {"readonly", R"({"workspace": "read", "network": "none", "ro": ["/x"]})",
       "ro belongs to a profile that extends this one"},
  };
  for (const auto& row : rows) {
    const auto profile = read_profile({row.text, "F", row.name}, shipped(), "/home/u");
    ASSERT_FALSE(profile.ok()) << row.text;
    EXPECT_NE(describe(profile.error()).find(row.says), std::string::npos) << describe(profile.error());
  }
}

TEST(Profiles, OfTwoEveryAnswerIsTheStricterOne) {
  struct Row {
    const char* one;
    const char* other;
    const char* both;
  };
  const Row rows[] = {
      {R"({"extends": "readonly"})", R"({"extends": "workspace-write"})", "read none"},
      {R"({"extends": "workspace-write", "workspace": "read"})",
       R"({"extends": "workspace-write-no-network"})", "read none"},
      {R"({"extends": "workspace-write", "ro": ["/srv/data"]})", R"({"extends": "workspace-write"})",
       "write declared"},
      {R"({"extends": "workspace-write", "ro": ["/srv"]})",
       R"({"extends": "workspace-write", "rw": ["/srv/data"]})", "write declared ro:/srv/data"},
      {R"({"extends": "workspace-write", "rw": ["/srv"]})",
       R"({"extends": "workspace-write", "rw": ["/srv/data"]})", "write declared rw:/srv/data"},
      {R"({"extends": "readonly", "isolation": "container"})", R"({"extends": "readonly"})",
       "read none container"},
  };
  for (const auto& row : rows) {
    SandboxProfile one = custom(row.one);
    SandboxProfile other = custom(row.other);
    other.name = "other";
    EXPECT_EQ(told(strictest(one, other)), row.both);
    EXPECT_EQ(told(strictest(other, one)), row.both) << "in either order";
    EXPECT_TRUE(is_within(strictest(one, other), one));
    EXPECT_TRUE(is_within(strictest(one, other), other));
  }
}

TEST(Profiles, NamesHostsWhereItHasANetwork) {
  const SandboxProfile wide = custom(
      R"({"extends": "workspace-write", "net": ["*.a.org", {"host": "m.corp", "addresses": ["10.1.0.0/16"], "ports": [443]}]})");
  EXPECT_EQ(wide.hosts, (std::vector<std::string>{"*.a.org", "m.corp:443"}));
  EXPECT_EQ(wide.ranges, (std::vector<std::string>{"m.corp@10.1.0.0/16:443"}));
  SandboxProfile one = custom(R"({"extends": "workspace-write", "net": ["x.a.org", "b.org"]})");
  one.name = "other";
  EXPECT_EQ(strictest(wide, one).hosts, (std::vector<std::string>{"x.a.org"}));
  EXPECT_EQ(strictest(one, wide).hosts, (std::vector<std::string>{"x.a.org"}));
  EXPECT_TRUE(strictest(wide, one).ranges.empty());
  EXPECT_TRUE(is_within(custom(R"({"extends": "workspace-write", "net": ["x.a.org"]})"), wide));
  EXPECT_FALSE(is_within(one, wide));
  EXPECT_FALSE(is_within(wide, custom(R"({"extends": "workspace-write"})")));
  RunRequest request;
  apply_profile(request, wide);
  EXPECT_EQ(request.ranges, wide.ranges);
}

TEST(Profiles, WithinIsNoMoreOfAnything) {
  const SandboxProfile writes = custom(R"({"extends": "workspace-write"})");
  EXPECT_TRUE(is_within(writes, writes));
  EXPECT_TRUE(is_within(custom(R"({"extends": "readonly"})"), writes));
  EXPECT_FALSE(is_within(writes, custom(R"({"extends": "readonly"})")));
  EXPECT_FALSE(is_within(writes, custom(R"({"extends": "workspace-write-no-network"})")));
  EXPECT_FALSE(is_within(custom(R"({"extends": "readonly", "ro": ["/srv"]})"), writes));
  EXPECT_FALSE(is_within(writes, custom(R"({"extends": "workspace-write", "limits": {"pids": 5}})")));
  EXPECT_FALSE(is_within(writes, custom(R"({"extends": "workspace-write", "isolation": "gvisor"})")));
}

TEST(Profiles, ARequestOnlyBecomesSmaller) {
  RunRequest request;
  request.limits.memory_bytes = 1ULL << 30;
  apply_profile(request, custom(R"({"extends": "workspace-write", "ro": ["/srv"],
                                    "limits": {"memory": "8G", "pids": 5, "net-bytes": "1M"}, "isolation": "gvisor"})"));
  EXPECT_EQ(request.profile, Profile::workspace_write);
  EXPECT_EQ(request.limits.memory_bytes, 1ULL << 30);
  EXPECT_EQ(request.limits.processes, 5U);
  EXPECT_EQ(request.limits.net_bytes, 1ULL << 20);
  EXPECT_EQ(source_of(request.lowered_by, LimitId::net_bytes), "profile mine");
  EXPECT_EQ(source_of(request.lowered_by, LimitId::net_idle), "");
  EXPECT_EQ(request.isolation, IsolationLevel::gvisor);
  ASSERT_EQ(request.grants.size(), 1U);
  EXPECT_EQ(request.grants[0].source, "/srv");
}

TEST(Seatbelt, TheNearestProfileIsReadFromItsText) {
  struct Row {
    const char* text;
    const char* nearest;
  };
  const Row rows[] = {
      {"(version 1)(deny default)(allow file-read*)", "readonly"},
      {"(version 1)\n(deny default)\n(allow file-write* (subpath \"/x\"))", "workspace-write-no-network"},
      {"(allow file-read* file-write*)", "workspace-write-no-network"},
      {"(allow\n  network-outbound (remote ip \"*:443\"))(allow file-write*)", "workspace-write"},
      {"(allow network*)", "workspace-write"},
      {"(allow default)(deny network*)", "workspace-write"},
      {"; (allow network*)\n(allow file-read*)", "readonly"},
      {"(allow process-exec (literal \"network\"))", "readonly"},
      {"(deny network*)(deny file-write*)", "readonly"},
      {"", "readonly"},
      {"(allow", "readonly"},
  };
  for (const auto& row : rows) EXPECT_EQ(nearest_profile(row.text), row.nearest) << row.text;
  const Error error = seatbelt_refusal("x.sb", "(allow network*)");
  EXPECT_EQ(describe(error),
            "x.sb is a seatbelt profile of macOS, which Linux cannot enforce; the nearest here "
            "is workspace-write");
}

TEST(ProfileNames, AreNamesOfFiles) {
  for (const char* good : {"readonly", "mine", "a.b", "A_1-x", "x.sb"}) EXPECT_TRUE(is_profile_name(good));
  for (const char* bad : {"", ".", "..", ".x", "-x", "a/b", "a b", "\xc3\xa4"})
    EXPECT_FALSE(is_profile_name(bad)) << bad;
  EXPECT_FALSE(is_profile_name(std::string(65, 'a')));
}

}  // namespace
}  // namespace cloche
