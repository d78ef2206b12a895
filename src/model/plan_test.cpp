// The plan is a value: the default one is the strictest, equal ones give equal bytes, and every field counts.
#include "model/plan.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "base/json/json_writer.hpp"

namespace cloche {
namespace {

TEST(ConfinementPlan, DefaultIsTheStrictest) {
  const ConfinementPlan plan;
  EXPECT_TRUE(plan.view.empty()) << "nothing in view";
  EXPECT_TRUE(plan.hosts.empty()) << "no network";
  EXPECT_TRUE(plan.environment.empty()) << "no environment";
  EXPECT_TRUE(plan.workspace.empty()) << "nothing to write to";
  EXPECT_TRUE(plan.argv.empty()) << "nothing to run";
  EXPECT_EQ(plan.level, IsolationLevel::namespaces);
  EXPECT_EQ(plan.required, required_by(IsolationLevel::namespaces)) << "every layer required";
  EXPECT_NE(plan.inside_uid, 0U);
  EXPECT_NE(plan.inside_gid, 0U);
  EXPECT_FALSE(plan.terminal);
  EXPECT_FALSE(plan.debugging);
  EXPECT_EQ(plan.umask & 022U, 022U);
  for (const auto& row : limit_table) EXPECT_GT(plan.limits.*row.field, 0U) << row.name;
}

TEST(ViewEntry, DefaultIsAPlainReadOnlyDirectory) {
  const ViewEntry entry;
  EXPECT_EQ(entry.kind, EntryKind::directory);
  EXPECT_EQ(entry.access, Access::read);
  EXPECT_FALSE(entry.file || entry.copied || entry.recursive || entry.owned);
  EXPECT_EQ(entry.size_bytes, 0U);
}

// One that has something in every field.
ConfinementPlan rich_plan() {
  ConfinementPlan plan;
  plan.argv = {"make", "-j4", ""};
  plan.directory = "/project/src";
  plan.workspace = "/project";
  plan.view = {{.kind = EntryKind::tmpfs,
                .access = Access::write_run,
                .target = "/tmp",
                .mode = 01777,
                .size_bytes = 4096,
                .why = "own"},
               {.kind = EntryKind::text,
                .target = "/etc/passwd",
                .content = "root\n",
                .mode = 0644,
                .why = "one user"},
               {.kind = EntryKind::link, .target = "/bin", .source = "usr/bin", .why = "as on the host"},
               {.kind = EntryKind::tree,
                .access = Access::write_run,
                .target = "/project",
                .source = "/home/user/project",
                .owned = true,
                .device = 5,
                .inode = 17,
                .owner_uid = 1000,
                .owner_gid = 1000,
                .why = "the workspace"}};
  plan.environment = {{"HOME", "/home/cloche"}, {"PATH", "/usr/bin:/bin"}};
  plan.hosts = {"example.org"};
  return plan;
}

TEST(PlanJson, EqualPlansGiveEqualBytes) {
  EXPECT_EQ(to_json(rich_plan()), to_json(rich_plan()));
  EXPECT_EQ(digest_of(rich_plan()), digest_of(rich_plan()));
}

TEST(PlanJson, IsWrittenInAFixedOrder) {
  ConfinementPlan plan = rich_plan();
  plan.required = {LayerId::user_ids};
  plan.view.edit().resize(1);
  EXPECT_EQ(
      to_json(plan),
      R"({"rung":"namespace","required":["user-ids"],"argv":["make","-j4",""],"directory":"/project/src",)"
      R"("workspace":"/project","view":[{"target":"/tmp","kind":"tmpfs","access":"write-run","mode":1023,)"
      R"("size_bytes":4096,"why":"own"}],"environment":{"HOME":"/home/cloche","PATH":"/usr/bin:/bin"},)"
      R"("hosts":["example.org"],"limits":{"timeout":"1h","cpu":"1h","memory":"4G","pids":"512","nofile":"4096",)"
      R"("fsize":"4G","disk":"4G","files":"200000","tmp":"512M","output":"1G","changes":"1000000","judge-time":"1m",)"
      R"("net-connections":"1024",)"
      R"("net-bytes":"4G","net-idle":"5m","net-time":"1h"},"uid":1000,"gid":1000,"umask":18,)"
      R"("terminal":false,"debugging":false})");
}

TEST(PlanJson, HasOfASecretItsFingerprintAlone) {
  ConfinementPlan plan = rich_plan();
  plan.secrets = {{"TOKEN", "the\xff value", "hmac-sha256:aa"}};
  EXPECT_NE(to_json(plan).find(R"("secrets":{"TOKEN":"hmac-sha256:aa"},"hosts")"), std::string::npos);
  const RenderedPlan rendered = render_around_command(plan);
  for (const auto& bytes : {to_json(plan), rendered.before, rendered.after, rendered.exact})
    EXPECT_EQ(bytes.find("value"), std::string::npos);
  ConfinementPlan another = plan;
  another.secrets[0].value = "another";
  EXPECT_EQ(digest_of(another), digest_of(plan)) << "only the fingerprint may tell";
  EXPECT_EQ(environment_words(plan),
            (std::vector<std::string>{"HOME=/home/cloche", "PATH=/usr/bin:/bin", "TOKEN=the\xff value"}));
}

TEST(PlanDigest, HasItsForm) {
  const std::string digest = digest_of(rich_plan());
  ASSERT_EQ(digest.size(), 7U + 64U);
  EXPECT_TRUE(digest.starts_with("sha256:"));
  EXPECT_EQ(digest.find_first_not_of("0123456789abcdef", 7), std::string::npos);
}

struct Mutation {
  const char* what;
  std::function<void(ConfinementPlan&)> apply;
};

const Mutation mutations[] = {
    {"rung", [](auto& p) { p.level = IsolationLevel::container; }},
    {"a layer less", [](auto& p) { p.required.pop_back(); }},
    {"no layers", [](auto& p) { p.required.clear(); }},
    {"layers in another order", [](auto& p) { std::swap(p.required[0], p.required[1]); }},
    {"a secret",
     [](auto& p) {
       p.secrets = {{"TOKEN", "x", "hmac-sha256:aa"}};
     }},
    {"a secret of another name",
     [](auto& p) {
       p.secrets = {{"TOKEM", "x", "hmac-sha256:aa"}};
     }},
    {"a secret of another value",
     [](auto& p) {
       p.secrets = {{"TOKEN", "x", "hmac-sha256:ab"}};
     }},
    {"argv[0]", [](auto& p) { p.argv[0] = "cmake"; }},
    {"an argument less", [](auto& p) { p.argv.pop_back(); }},
    {"an argument more", [](auto& p) { p.argv.emplace_back(""); }},
    {"arguments joined",
     [](auto& p) {
       p.argv = {"make-j4", "", ""};
     }},
    {"arguments in another order", [](auto& p) { std::swap(p.argv[1], p.argv[2]); }},
    {"argument not UTF-8", [](auto& p) { p.argv[1] = "\xff"; }},
    {"argument not UTF-8, another byte", [](auto& p) { p.argv[1] = "\xfe"; }},
    {"argument that is what JSON makes of those", [](auto& p) { p.argv[1] = "\xef\xbf\xbd"; }},
    {"directory", [](auto& p) { p.directory = "/project"; }},
    {"directory not UTF-8", [](auto& p) { p.directory = "/project/\xff"; }},
    {"directory not UTF-8, another byte", [](auto& p) { p.directory = "/project/\xfe"; }},
    {"workspace", [](auto& p) { p.workspace = "/other"; }},
    {"no workspace", [](auto& p) { p.workspace.clear(); }},
    {"empty view", [](auto& p) { p.view.clear(); }},
    {"view in another order", [](auto& p) { std::swap(p.view[0], p.view[1]); }},
    {"an entry less", [](auto& p) { p.view.edit().pop_back(); }},
    {"an entry twice", [](auto& p) { p.view.push_back(p.view.back()); }},
    {"entry kind", [](auto& p) { p.view[3].kind = EntryKind::directory; }},
    {"entry access", [](auto& p) { p.view[3].access = Access::run; }},
    {"entry target", [](auto& p) { p.view[3].target = "/project2"; }},
    {"entry target not UTF-8", [](auto& p) { p.view[3].target = "/\xff"; }},
    {"entry target not UTF-8, another byte", [](auto& p) { p.view[3].target = "/\xfe"; }},
    {"entry source", [](auto& p) { p.view[3].source = "/home/user"; }},
    {"entry source not UTF-8", [](auto& p) { p.view[3].source = "/\xff"; }},
    {"entry source not UTF-8, another byte", [](auto& p) { p.view[3].source = "/\xfe"; }},
    {"link text", [](auto& p) { p.view[2].source = "/tmp"; }},
    {"entry content", [](auto& p) { p.view[1].content = "root:x\n"; }},
    {"no content", [](auto& p) { p.view[1].content.clear(); }},
    {"content moved to the source", [](auto& p) { std::swap(p.view[1].content, p.view[1].source); }},
    {"entry mode", [](auto& p) { p.view[1].mode = 0600; }},
    {"entry size", [](auto& p) { p.view[0].size_bytes = 8192; }},
    {"entry is a file", [](auto& p) { p.view[3].file = true; }},
    {"entry is copied", [](auto& p) { p.view[3].copied = true; }},
    {"entry is recursive", [](auto& p) { p.view[3].recursive = true; }},
    {"entry is not owned", [](auto& p) { p.view[3].owned = false; }},
    {"entry device", [](auto& p) { p.view[3].device = 6; }},
    {"entry inode", [](auto& p) { p.view[3].inode = 18; }},
    {"entry identity unchecked", [](auto& p) { p.view[3].inode = 0; }},
    {"entry reason", [](auto& p) { p.view[3].why = "a grant"; }},
    {"variable name", [](auto& p) { p.environment[0].name = "HOM"; }},
    {"variable value", [](auto& p) { p.environment[0].value = "/root"; }},
    {"variable value not UTF-8", [](auto& p) { p.environment[0].value = "\xff"; }},
    {"variable value not UTF-8, another byte", [](auto& p) { p.environment[0].value = "\xfe"; }},
    {"a variable more",
     [](auto& p) {
       p.environment.push_back({"A", ""});
     }},
    {"no variables", [](auto& p) { p.environment.clear(); }},
    {"another host", [](auto& p) { p.hosts = {"example.com"}; }},
    {"no host", [](auto& p) { p.hosts.clear(); }},
    {"uid", [](auto& p) { p.inside_uid = 1001; }},
    {"gid", [](auto& p) { p.inside_gid = 1001; }},
    {"umask", [](auto& p) { p.umask = 077; }},
    {"terminal", [](auto& p) { p.terminal = true; }},
    {"debugging", [](auto& p) { p.debugging = true; }},
};

TEST(PlanDigest, ChangesWithEveryField) {
  std::map<std::string, std::string> seen = {{digest_of(rich_plan()), "unchanged"}};
  const auto note = [&seen](const ConfinementPlan& plan, const std::string& what) {
    const auto [at, is_new] = seen.emplace(digest_of(plan), what);
    EXPECT_TRUE(is_new) << what << " has the digest of: " << at->second;
  };
  for (const auto& mutation : mutations) {
    ConfinementPlan plan = rich_plan();
    mutation.apply(plan);
    note(plan, mutation.what);
  }
  for (const auto& row : limit_table) {
    ConfinementPlan plan = rich_plan();
    plan.limits.*row.field += 1;
    note(plan, "limit " + std::string(row.name));
  }
}

TEST(PlanJson, IsOneLineOfUtf8WhateverIsInIt) {
  ConfinementPlan plan = rich_plan();
  plan.argv.emplace_back("\xff\n\x01\"\\");
  EXPECT_TRUE(is_utf8(to_json(plan)));
  EXPECT_EQ(to_json(plan).find('\n'), std::string::npos);
}

TEST(Names, OfKindsAndAccessesAreUnique) {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(EntryKind::queues); ++kind)
    names.insert(name_of(static_cast<EntryKind>(kind)));
  EXPECT_EQ(names.size(), 8U);
  names.clear();
  for (int access = 0; access <= static_cast<int>(Access::device); ++access)
    names.insert(name_of(static_cast<Access>(access)));
  EXPECT_EQ(names.size(), 6U);
}

struct Search {
  const char* program;
  std::vector<Variable> environment;
  std::vector<std::string> candidates;
};

TEST(ProgramCandidates, FollowThePathOfThePlanAlone) {
  const Search rows[] = {
      {"ls", {{"PATH", "/usr/bin:/bin"}}, {"/usr/bin/ls", "/bin/ls"}},
      {"/bin/ls", {{"PATH", "/usr/bin"}}, {"/bin/ls"}},
      {"./run", {{"PATH", "/usr/bin"}}, {"./run"}},
      {"a/b", {{"PATH", "/usr/bin"}}, {"a/b"}},
      {"ls", {}, {}},
      {"ls", {{"PATH", ""}}, {}},
      {"ls", {{"PATH", ":/bin::"}}, {"/bin/ls"}},  // an empty element would mean the working directory
      {"ls", {{"HOME", "/bin"}}, {}},
  };
  for (const auto& [program, environment, candidates] : rows) {
    ConfinementPlan plan;
    plan.argv = {program};
    plan.environment = environment;
    EXPECT_EQ(program_candidates(plan), candidates) << program;
  }
}

TEST(ProgramCandidates, AreBounded) {
  ConfinementPlan plan;
  plan.argv = {"ls"};
  std::string path;
  for (int i = 0; i < 1000; ++i) path += "/directory" + std::to_string(i) + ":";
  plan.environment = {{"PATH", path}};
  EXPECT_LE(program_candidates(plan).size(), 64U);
  EXPECT_GE(program_candidates(plan).size(), 32U);
}

ViewEntry entry(EntryKind kind, const char* target) { return {.kind = kind, .target = target}; }

TEST(Holders, TheNearestMountAboveHoldsAnEntry) {
  ConfinementPlan plan;
  plan.view = {entry(EntryKind::tree, "/usr"),         entry(EntryKind::directory, "/run"),
               entry(EntryKind::tmpfs, "/tmp"),        entry(EntryKind::link, "/bin"),
               entry(EntryKind::tree, "/tmp/project"), entry(EntryKind::tmpfs, "/tmp/project/cover"),
               entry(EntryKind::text, "/etc/passwd"),  entry(EntryKind::terminals, "/dev/pts")};
  const Holders holders(plan);

  const struct {
    const char* target;
    Holder holder;
  } rows[] = {
      {"/usr", Holder::root},
      {"/usr/local", Holder::host_tree},
      {"/usr/local/deep/er", Holder::host_tree},
      {"/usrlocal", Holder::root},
      {"/run", Holder::root},
      {"/run/below", Holder::root},
      {"/tmp", Holder::root},
      {"/tmp/project", Holder::memory},
      {"/tmp/project/file", Holder::host_tree},
      {"/tmp/project/cover", Holder::host_tree},
      {"/tmp/project/cover/file", Holder::memory},
      {"/tmp/other", Holder::memory},
      {"/etc/passwd", Holder::root},
      {"/new/place", Holder::root},
  };
  for (const auto& [target, holder] : rows) {
    EXPECT_EQ(holders.of(entry(EntryKind::tree, target)), holder) << target;
  }
}

TEST(Holders, OfAnEmptyViewIsTheRootForEverything) {
  const ConfinementPlan plan;
  EXPECT_EQ(Holders(plan).of(entry(EntryKind::tree, "/a/b/c")), Holder::root);
}

}  // namespace

}  // namespace cloche
