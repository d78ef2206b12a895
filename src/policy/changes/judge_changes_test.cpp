// The judge over hand-made sets and facts. Each row is what changed, what is known, and what does not pass.
#include "policy/changes/judge_changes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "policy/changes/consistent_verdicts.hpp"

namespace cloche {
namespace {

using Paths = std::vector<std::string>;
using Changes = std::vector<Change>;

FileState file(unsigned mode = 0644, uint64_t size = 1, int64_t modified_ns = 1) {
  return {.kind = FileKind::file, .mode = mode, .size = size, .modified_ns = modified_ns};
}
FileState directory(unsigned mode = 0755) { return {.kind = FileKind::directory, .mode = mode}; }
FileState link(const std::string& text) { return {.kind = FileKind::link, .mode = 0777, .link = text}; }
FileState special(FileKind kind) { return {.kind = kind, .mode = 0644}; }

Change created(const std::string& path, const FileState& state = file()) {
  return {0, path, ChangeKind::created, {}, state};
}
Change deleted(const std::string& path, const FileState& state = file()) {
  return {0, path, ChangeKind::deleted, state};
}
Change changed(const std::string& path, const FileState& before = file(), const FileState& after = file(),
               const Difference& differs = {.contents = true}) {
  return {0, path, ChangeKind::changed, before, after, differs};
}

void add_directory(ChangeFacts& facts, const std::string& path,
                   const std::vector<DirectoryAround::Name>& names, unsigned mode = 0755) {
  facts.directories[{0, path}] = {mode, names};
}

const DirectoryAround::Name dot_git{".git", NameKind::directory};
const std::vector<DirectoryAround::Name> in_git = {{"HEAD", NameKind::other},
                                                   {"config", NameKind::other},
                                                   {"hooks", NameKind::directory},
                                                   {"objects", NameKind::directory},
                                                   {"refs", NameKind::directory}};

const std::string empty_index = std::string("DIRC\0\0\0\2\0\0\0\0", 12) + std::string(20, '\0');

void add_repository(ChangeFacts& facts) {
  add_directory(facts, "", {dot_git});
  add_directory(facts, ".git", in_git);
}

PathEnd inside(const std::string& path) { return {PathEnd::Place::inside, {0, path}}; }
PathEnd outside(const std::string& path) { return {PathEnd::Place::outside, {0, path}}; }

struct Row {
  const char* what;
  Changes changes;
  std::function<void(ChangeFacts&)> facts = {};
  Paths withheld = {};
  std::function<void(ChangeRules&)> rules = {};
  Paths asked = {};
  bool is_staged = false;
};

ChangeSet set_of(Changes changes) {
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.path < b.path; });
  return {{{"/ws"}}, std::move(changes)};
}

Paths paths_with(const ChangeSet& set, const JudgedChanges& judged, Fate fate) {
  Paths paths;
  for (size_t i = 0; i < set.changes.size(); ++i) {
    if (judged.verdicts[i].fate == fate) paths.push_back(set.changes[i].path);
  }
  return paths;
}

void expect(const Row& row) {
  SCOPED_TRACE(row.what);
  const ChangeSet set = set_of(row.changes);
  ChangeFacts facts;
  facts.trees.resize(1);
  facts.files_counted = 1000;
  add_directory(facts, "", {});
  if (row.facts) row.facts(facts);
  ChangeRules rules;
  if (row.rules) row.rules(rules);
  const JudgedChanges judged = judge_changes(set, facts, rules);
  ASSERT_EQ(judged.verdicts.size(), set.changes.size());
  EXPECT_EQ(paths_with(set, judged, Fate::withheld), row.withheld);
  EXPECT_EQ(paths_with(set, judged, Fate::asked), row.asked);
  EXPECT_EQ(judged.stage.has_value(), row.is_staged) << judged.stage.value_or("");
  for (const auto& verdict : judged.verdicts)
    EXPECT_EQ(verdict.reason.empty(), verdict.fate == Fate::committed) << verdict.reason;
}

const Row members[] = {
    {"plain files", {created("a"), created("d", directory()), created("d/b"), changed("c"), deleted("e")}},
    {"a member", {created(".envrc"), created("a")}, {}, {".envrc"}},
    {"folded", {created(".EnvRC")}, {}, {".EnvRC"}},
    {"in depth", {created("a/b/c/.mcp.json")}, {}, {"a/b/c/.mcp.json"}},
    {"as a whole", {created(".vscode", directory()), created(".vscode/a")}, {}, {".vscode", ".vscode/a"}},
    {"on a way of several names",
     {created(".config", directory()), created(".config/git", directory()), created(".config/git/config")},
     {},
     {".config/git", ".config/git/config"}},
    {"a link on that way",
     {created(".config", link("c"))},
     [](ChangeFacts& facts) {
       facts.links[{0, ".config"}] = inside("c");
     },
     {".config"}},
    {"only touched", {changed(".envrc", file(), file(), {.times = true})}},
    {"made executable", {changed(".envrc", file(), file(0755), {.mode = true})}, {}, {".envrc"}},
    {"deleted", {deleted(".envrc")}, {}, {".envrc"}},
    {"deleted with its directory",
     {deleted("d", directory()), deleted("d/.envrc"), deleted("d/a")},
     {},
     {"d", "d/.envrc"}},
    {"allowed by the operator",
     {created(".envrc"), created("d/.envrc")},
     {},
     {"d/.envrc"},
     [](ChangeRules& rules) { rules.allowed = {"/ws/.envrc"}; }},
    {"a part of the running Cloche",
     {changed("bin/x")},
     {},
     {"bin/x"},
     [](ChangeRules& rules) {
       rules.parts = {{"bin", "it judges the calls of this workspace"}};
     }},
    {"Cloche's own",
     {created("tool_calls/a"), created("d/.cloche", directory()), created("d/tool_calls", directory())},
     {},
     {"d/.cloche", "tool_calls/a"}},
    {"a tree that is itself a member",
     {created("a")},
     [](ChangeFacts& facts) { facts.trees[0].covered_by = "an editor runs it"; },
     {"a"}},
};

void say_same(ChangeFacts& facts, const std::string& then, const std::string& now) {
  facts.digests_before[{0, then}] = "1";
  facts.digests_after[{0, now}] = "1";
}

const Row moves[] = {
    {"a renamed directory",
     {deleted("s", directory()), deleted("s/.envrc"), created("t", directory()), created("t/.envrc")},
     [](ChangeFacts& facts) { say_same(facts, "s/.envrc", "t/.envrc"); }},
    {"deeper",
     {deleted("s", directory()), deleted("s/d", directory()), deleted("s/d/.envrc"),
      created("t", directory()), created("t/d", directory()), created("t/d/.envrc")},
     [](ChangeFacts& facts) { say_same(facts, "s/d/.envrc", "t/d/.envrc"); }},
    {"with other contents",
     {deleted("s", directory()), deleted("s/.envrc"), created("t", directory()), created("t/.envrc")},
     [](ChangeFacts& facts) {
       facts.digests_before[{0, "s/.envrc"}] = "1";
       facts.digests_after[{0, "t/.envrc"}] = "2";
     },
     {"s", "s/.envrc", "t/.envrc"}},
    {"only times say that it is the same",
     {deleted("s", directory()), deleted("s/.envrc"), created("t", directory()), created("t/.envrc")},
     {},
     {"s", "s/.envrc", "t/.envrc"}},
    {"with another mode",
     {deleted("s", directory()), deleted("s/.envrc"), created("t", directory()),
      created("t/.envrc", file(0755))},
     [](ChangeFacts& facts) { say_same(facts, "s/.envrc", "t/.envrc"); },
     {"s", "s/.envrc", "t/.envrc"}},
    {"a link that climbs behind a name, with its directory",
     {deleted("s", directory()), deleted("s/l", link("a/../b")), created("t", directory()),
      created("t/l", link("a/../b"))},
     [](ChangeFacts& facts) {
       facts.links[{0, "t/l"}] = inside("t/b");
     }},
    {"one that says something else then",
     {deleted("s", directory()), deleted("s/l", link("a/../b")), created("t", directory()),
      created("t/l", link("b/../a"))},
     [](ChangeFacts& facts) {
       facts.links[{0, "t/l"}] = inside("t/a");
     },
     {"t/l"}},
    {"into a directory that was there",
     {deleted("s", directory()), deleted("s/.envrc"), created("t/.envrc")},
     [](ChangeFacts& facts) {
       say_same(facts, "s/.envrc", "t/.envrc");
       add_directory(facts, "t", {});
     },
     {"s", "s/.envrc", "t/.envrc"}},
    {"to a name that is a member", {deleted("x"), created(".envrc")}, {}, {".envrc", "x"}},
    {"the source of what is withheld, among others alike",
     {deleted("x", file(0644, 5, 7)), deleted("y", file(0644, 5, 8)), created(".envrc", file(0644, 5, 7)),
      created("z", file(0644, 5, 8))},
     {},
     {".envrc", "x"}},
    {"a repository that becomes another's",
     {deleted("f", directory()), deleted("f/HEAD"), deleted("f/objects", directory()),
      deleted("f/refs", directory()), deleted("f/hooks", directory()), deleted("f/hooks/update"),
      created(".git", directory()), created(".git/HEAD"), created(".git/objects", directory()),
      created(".git/refs", directory()), created(".git/hooks", directory()), created(".git/hooks/update")},
     [](ChangeFacts& facts) { say_same(facts, "f/hooks/update", ".git/hooks/update"); },
     {".git/hooks/update", "f", "f/hooks", "f/hooks/update"},
     {},
     {"f/HEAD", "f/objects", "f/refs"}},
};

const char* const harmless = "[core]\n\tbare = false\n[user]\n\temail = a@b\n";
const char* const evil = "[core]\n\tfsmonitor = ./x\n";

std::string merge_rr_of(const Paths& paths) {
  std::string text;
  for (const auto& path : paths) text += std::string(40, 'a') + "\t" + path + '\0';
  return text;
}
void add_merge_rr(ChangeFacts& facts, const Paths& paths) {
  add_repository(facts);
  facts.texts_after[{0, ".git/MERGE_RR"}] = merge_rr_of(paths);
  facts.usual_working_trees = {{0, ".git/MERGE_RR"}};
}

const Row repositories[] = {
    {"what git writes",
     {changed(".git/index"), created(".git/refs/heads/x"), changed(".git/HEAD"),
      created(".git/COMMIT_EDITMSG")},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.texts_after[{0, ".git/index"}] = empty_index;
     }},
    {"an index of which nothing is known", {changed(".git/index")}, add_repository, {".git/index"}},
    {"an index of long names of objects",
     {changed(".git/index")},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.texts_after[{0, ".git/index"}] = empty_index + std::string(12, '\0');
     },
     {".git/index"}},
    {"likewise where the repository says so",
     {changed(".git/index")},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.texts_after[{0, ".git/index"}] = empty_index + std::string(12, '\0');
       facts.sha256_indexes.insert({0, ".git/index"});
     }},
    {"no files that git would copy",
     {created(".git/MERGE_RR", file(0644, 0))},
     [](ChangeFacts& facts) { add_merge_rr(facts, {}); }},
    {"a list of files that could not be read",
     {created(".git/MERGE_RR", file(0644, 5)), created("a")},
     add_repository,
     {".git/MERGE_RR"}},
    {"files that the call wrote",
     {created(".git/MERGE_RR"), created("a"), changed("src/b")},
     [](ChangeFacts& facts) {
       add_merge_rr(facts, {"a", "src/b"});
     }},
    {"a file that it did not write",
     {created(".git/MERGE_RR"), created("a")},
     [](ChangeFacts& facts) {
       add_merge_rr(facts, {"a", "key"});
     },
     {".git/MERGE_RR"}},
    {"one that waited before",
     {changed(".git/MERGE_RR")},
     [](ChangeFacts& facts) {
       add_merge_rr(facts, {"a"});
       facts.texts_before[{0, ".git/MERGE_RR"}] = merge_rr_of({"b", "a"});
     }},
    {"one that is deleted, and one that is a directory",
     {created(".git/MERGE_RR", file(0644, 90, 2)), deleted("a"), created("d", directory())},
     [](ChangeFacts& facts) {
       add_merge_rr(facts, {"a", "d"});
     },
     {".git/MERGE_RR"}},
    {"one that is a member",
     {created(".git/MERGE_RR"), created(".envrc")},
     [](ChangeFacts& facts) { add_merge_rr(facts, {".envrc"}); },
     {".envrc", ".git/MERGE_RR"}},
    {"one that is judged by what is in it",
     {created(".git/MERGE_RR"), created(".gitmodules")},
     [](ChangeFacts& facts) {
       add_merge_rr(facts, {".gitmodules"});
       facts.texts_after[{0, ".gitmodules"}] =
           "[submodule \"a\"]\n\tpath = a\n\turl = https://example.org/a\n";
     },
     {".git/MERGE_RR"}},
    {"one that is a link",
     {created(".git/MERGE_RR"), created("a", link("b"))},
     [](ChangeFacts& facts) {
       add_merge_rr(facts, {"a"});
       facts.links[{0, "a"}] = inside("b");
     },
     {".git/MERGE_RR"}},
    {"by a working tree that is not known",
     {created(".git/MERGE_RR"), created("a")},
     [](ChangeFacts& facts) {
       add_merge_rr(facts, {"a"});
       facts.usual_working_trees.clear();
     },
     {".git/MERGE_RR"}},
    {"a list that is a link",
     {created(".git/MERGE_RR", link("../a")), created("a")},
     [](ChangeFacts& facts) {
       add_merge_rr(facts, {"a"});
       facts.links[{0, ".git/MERGE_RR"}] = inside("a");
     },
     {".git/MERGE_RR"}},
    {"links where a conflict waits, and around it",
     {created("a", link("b")), created("d", link("e")), created("d2", link("e")), created("f", link("e"))},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.to_be_resolved = {{0, "a"}, {0, "d/x/y"}, {0, "d2x"}, {0, "f!"}};
       for (const char* name : {"a", "d", "d2", "f"}) facts.links[{0, name}] = inside("e");
     },
     {"a", "d"}},
    {"a configuration",
     {changed(".git/config")},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.texts_after[{0, ".git/config"}] = harmless;
     }},
    {"a dangerous one",
     {changed(".git/config")},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.texts_after[{0, ".git/config"}] = evil;
     },
     {".git/config"}},
    {"as dangerous as it was",
     {changed(".git/config")},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.texts_before[{0, ".git/config"}] = evil;
       facts.texts_after[{0, ".git/config"}] = std::string(evil) + harmless;
     }},
    {"one that could not be read", {changed(".git/config")}, add_repository, {".git/config"}},
    {"one that is deleted", {deleted(".git/config")}, add_repository, {".git/config"}, {}, {}, false},
    {"a hook", {created(".git/hooks/pre-push")}, add_repository, {".git/hooks/pre-push"}},
    {"a sample", {created(".git/hooks/pre-push.sample")}, add_repository},
    {"a sample that is a link",
     {created(".git/hooks/a.sample", link("../x"))},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.links[{0, ".git/hooks/a.sample"}] = inside(".git/x");
     },
     {".git/hooks/a.sample"}},
    {"hooks of a directory that becomes one",
     {created("x/HEAD"), created("x/objects", directory()), created("x/refs", directory())},
     [](ChangeFacts& facts) {
       add_directory(facts, "x", {{"hooks", NameKind::directory}});
       facts.git_contents[{0, "x"}] = {.has_hooks = true};
     },
     {"x/HEAD", "x/objects", "x/refs"}},
    {"one that becomes one and has none",
     {created("x/HEAD"), created("x/objects", directory()), created("x/refs", directory())},
     [](ChangeFacts& facts) {
       add_directory(facts, "x", {});
       facts.git_contents[{0, "x"}] = {.config = harmless};
     }},
    {"a repository goes as a whole",
     {deleted(".git", directory()), deleted(".git/config"), deleted(".git/hooks", directory()),
      deleted(".git/hooks/pre-push")},
     {},
     {},
     {},
     {".git", ".git/config", ".git/hooks", ".git/hooks/pre-push"}},
    {"likewise where the operator lets it",
     {deleted(".git", directory()), deleted(".git/config")},
     {},
     {},
     [](ChangeRules& rules) { rules.rules = {{.action = Decision::allow}}; }},
    {"what git needs of one that stays",
     {deleted(".git/HEAD"), changed(".git/objects", directory(), file(), {.kind = true}),
      deleted(".git/refs", directory()), changed(".git/packed-refs")},
     add_repository,
     {},
     {},
     {".git/HEAD", ".git/objects", ".git/refs"},
     true},
    {"likewise of a bare one",
     {deleted("x/HEAD")},
     [](ChangeFacts& facts) { add_directory(facts, "x", in_git); },
     {},
     {},
     {"x/HEAD"}},
    {"likewise where the operator lets it",
     {deleted(".git/HEAD")},
     add_repository,
     {},
     [](ChangeRules& rules) { rules.rules = {{.action = Decision::allow}}; }},
    {"it is written anew", {changed(".git/HEAD")}, add_repository},
    {"such names of what is no repository",
     {deleted("x/HEAD"), deleted("x/refs", directory())},
     [](ChangeFacts& facts) {
       add_directory(facts, "x", {{"HEAD", NameKind::other}, {"refs", NameKind::directory}});
     }},
    {"it is replaced by a link",
     {changed(".git", directory(), link("g"), {.kind = true}), deleted(".git/config"), deleted(".git/HEAD")},
     [](ChangeFacts& facts) {
       facts.links[{0, ".git"}] = inside("g");
       facts.pointers_after[{0, ".git"}] = inside("g");
       facts.git_contents[{0, "g"}] = {.config = evil};
     },
     {".git", ".git/HEAD", ".git/config"}},
    {"a pointer to the own repository",
     {created("wt", directory()), created("wt/.git")},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.git_directories[{0, ""}] = {{0, ".git"}};
       facts.pointers_after[{0, "wt/.git"}] = inside(".git/worktrees/wt");
     }},
    {"a pointer out",
     {created("s/.git")},
     [](ChangeFacts& facts) {
       facts.pointers_after[{0, "s/.git"}] = outside("/tmp/x");
     },
     {"s/.git"}},
    {"a pointer out that is the workspace's own",
     {created("s/.git")},
     [](ChangeFacts& facts) {
       facts.pointers_after[{0, "s/.git"}] = outside("/main/.git");
       facts.repositories_outside = {"/main/.git"};
     }},
    {"a pointer that leads where it led",
     {deleted("s", directory()), deleted("s/.git"), created("t", directory()), created("t/.git")},
     [](ChangeFacts& facts) {
       facts.pointers_before[{0, "s/.git"}] = outside("/main/.git/modules/s");
       facts.pointers_after[{0, "t/.git"}] = outside("/main/.git/modules/s");
     }},
    {"a pointer to a crafted repository",
     {created("s/.git")},
     [](ChangeFacts& facts) {
       facts.pointers_after[{0, "s/.git"}] = inside("f");
       facts.git_contents[{0, "f"}] = {.config = evil};
     },
     {"s/.git"}},
    {"a pointer to nothing",
     {created("s/.git")},
     [](ChangeFacts& facts) {
       facts.pointers_after[{0, "s/.git"}] = inside("f");
     },
     {"s/.git"}},
    {"what a configuration names",
     {created("hk", directory()), created("hk/pre-push"), changed("run"), created("more")},
     [](ChangeFacts& facts) {
       facts.executed = {{{0, "hk"}, ExecutedPath::Kind::directory, "git runs it"},
                         {{0, "run"}, ExecutedPath::Kind::file, "git runs it"}};
     },
     {"hk", "hk/pre-push", "run"}},
    {"a link on the way to it",
     {created("tools", link("other"))},
     [](ChangeFacts& facts) {
       facts.executed = {{{0, "tools/hk"}, ExecutedPath::Kind::directory, "git runs it"}};
       facts.links[{0, "tools"}] = inside("other");
     },
     {"tools"}},
    {"a worktree's part without its pointer",
     {created(".git/worktrees", directory()), created(".git/worktrees/w", directory()),
      created(".git/worktrees/w/HEAD"), created(".git/worktrees/w/commondir")},
     [](ChangeFacts& facts) {
       add_repository(facts);
       facts.pointers_after[{0, ".git/worktrees/w/commondir"}] = outside("/tmp/x");
     },
     {".git/worktrees/w/commondir"},
     {},
     {},
     true},
};

const Row rights[] = {
    {"special files",
     {created("f", special(FileKind::fifo)), created("s", special(FileKind::socket)),
      created("d", special(FileKind::device))},
     {},
     {"d", "f", "s"}},
    {"a special file that goes", {deleted("f", special(FileKind::fifo))}},
    {"set-id bits", {created("u", file(04755)), created("g", file(02755))}, {}, {"g", "u"}},
    {"a directory's group", {created("d", directory(02755))}, {}, {"d"}},
    {"a directory's group, inherited",
     {created("d", directory(02755)), created("d/e", directory(02755))},
     [](ChangeFacts& facts) { add_directory(facts, "", {}, 02755); }},
    {"world-writable", {created("a", file(0666)), created("d", directory(01777))}, {}, {"a", "d"}},
    {"as writable as it was", {changed("a", file(0666), file(0666))}},
    {"a foreign list",
     {created("a"), created("b")},
     [](ChangeFacts& facts) {
       facts.attributes[{0, "a"}] = {.acl = {{.id = 7, .permissions = 6}}};
       facts.attributes[{0, "b"}] = {.acl = {{.id = 7, .permissions = 4}},
                                     .acl_then = {{.id = 7, .permissions = 6}}};
     },
     {"a"}},
    {"capabilities",
     {created("a")},
     [](ChangeFacts& facts) {
       facts.attributes[{0, "a"}] = {.has_capabilities = true};
     },
     {"a"}},
    {"links",
     {created("in", link("x")), created("out", link("/home/u/.bashrc")), created("null", link("/dev/null")),
      created("python3", link("/usr/bin/python3")), created("etc", link("/etc/passwd")),
      created("loop", link("loop")), created("unseen", link("y"))},
     [](ChangeFacts& facts) {
       facts.links = {{{0, "in"}, inside("x")},
                      {{0, "out"}, outside("/home/u/.bashrc")},
                      {{0, "null"}, outside("/dev/null")},
                      {{0, "python3"}, outside("/usr/bin/python3")},
                      {{0, "etc"}, outside("/etc/passwd")},
                      {{0, "loop"}, {PathEnd::Place::nowhere}}};
     },
     {"etc", "out", "unseen"}},
    {"a link that is as it was", {changed("l", link("/x"), link("/x"), {.times = true})}},
    {"links that climb",
     {created("up", link("../d")), created("behind", link("d/../e")), created("d/behind", link("../d/../e"))},
     [](ChangeFacts& facts) {
       facts.links = {{{0, "up"}, inside("d")}, {{0, "behind"}, inside("e")}, {{0, "d/behind"}, inside("e")}};
     },
     {"behind", "d/behind"}},
};

PathGlob glob(const char* text) { return std::move(PathGlob::read(text)).value(); }

const Row rules[] = {
    {"deny by path",
     {changed("db/schema.sql"), changed("db/x/y"), changed("a")},
     {},
     {"db/schema.sql", "db/x/y"},
     [](ChangeRules& all) { all.rules = {{.paths = {glob("db/**")}}}; }},
    {"one star is within a name",
     {changed("db/a.sql"), changed("db/x/a.sql")},
     {},
     {"db/a.sql"},
     [](ChangeRules& all) { all.rules = {{.paths = {glob("db/*.sql")}}}; }},
    {"by kind",
     {changed("a"), deleted("b")},
     {},
     {},
     [](ChangeRules& all) { all.rules = {{.kinds = {ChangeKind::deleted}, .action = Decision::ask}}; },
     {"b"}},
    {"the strictest wins",
     {changed("a"), changed("b")},
     {},
     {"a"},
     [](ChangeRules& all) {
       all.rules = {{.paths = {glob("a")}, .action = Decision::allow},
                    {.action = Decision::ask},
                    {.paths = {glob("a")}, .action = Decision::deny}};
     },
     {"b"}},
    {"only when there are many",
     {deleted("a.py"), deleted("b.py"), deleted("c.c")},
     {},
     {},
     [](ChangeRules& all) {
       all.rules = {{.paths = {glob("*.py")}, .more_than = 1, .action = Decision::ask},
                    {.paths = {glob("*.c")}, .more_than = 1, .action = Decision::deny}};
     },
     {"a.py", "b.py"}},
    {"more than a number in a task, each path once",
     {created("a.py"), created("c.c")},
     {},
     {"c.c"},
     [](ChangeRules& all) {
       all.earlier = {.trees = {{.path = "/ws"}, {.path = "/elsewhere"}},
                      .changes = {{.tree = 0, .path = "a.py"},
                                  {.tree = 1, .path = "x.c"},
                                  {.tree = 1, .path = "y.c", .kind = ChangeKind::deleted}}};
       all.rules = {
           {.paths = {glob("*.py")}, .more_than = 1, .per_task = true, .action = Decision::deny},
           {.paths = {glob("*.c")}, .kinds = {ChangeKind::created}, .more_than = 1, .per_task = true},
           {.paths = {glob("*.c")}, .more_than = 1, .action = Decision::ask}};
     }},
    {"an allow does not open the protected set",
     {created(".envrc")},
     {},
     {".envrc"},
     [](ChangeRules& all) { all.rules = {{.action = Decision::allow}}; }},
    {"what is in a directory that is asked about",
     {created("d", directory()), created("d/a")},
     {},
     {},
     [](ChangeRules& all) { all.rules = {{.paths = {glob("d")}, .action = Decision::ask}}; },
     {"d", "d/a"}},
    {"what is hidden, also what is new, and a deleted directory that it was in",
     {created(".NPMRC"), deleted("d", directory()), deleted("d/key"), deleted("d/other"), created("e"),
      changed("real/key")},
     {},
     {".NPMRC", "d", "d/key", "d/other", "real/key"},
     [](ChangeRules& all) {
       all.hidden = HiddenPaths::read({{"**/.npmrc", "d/key"}, {{.path = "/ws/real/key"}}}).value();
     }},
    {"a file that becomes a directory",
     {changed("d", file(), directory(), {.kind = true}), created("d/a")},
     {},
     {"d", "d/a"},
     [](ChangeRules& all) { all.rules = {{.paths = {glob("d")}}}; }},
    {"a directory that becomes a file, but for one file in it",
     {changed("d", directory(), file(), {.kind = true}), deleted("d/a"), deleted("d/b")},
     {},
     {"d", "d/a", "d/b"},
     [](ChangeRules& all) { all.rules = {{.paths = {glob("d/a")}}}; }},
};

TEST(JudgeChanges, TheProtectedSet) {
  for (const auto& row : members) expect(row);
}
TEST(JudgeChanges, WhatOnlyMoved) {
  for (const auto& row : moves) expect(row);
}
TEST(JudgeChanges, Repositories) {
  for (const auto& row : repositories) expect(row);
}
TEST(JudgeChanges, RightsAndLinks) {
  for (const auto& row : rights) expect(row);
}
TEST(JudgeChanges, RulesOfTheOperator) {
  for (const auto& row : rules) expect(row);
}

// One question about a repository that goes as a whole, and another one about what goes of one that stays.
TEST(JudgeChanges, WhatGoesWithARepositoryIsNoQuestionOfItsOwn) {
  const auto reason = [](Changes changes) {
    const ChangeSet set = set_of(std::move(changes));
    ChangeFacts facts;
    facts.trees.resize(1);
    facts.files_counted = 1000;
    add_repository(facts);
    const JudgedChanges judged = judge_changes(set, facts, {});
    for (size_t i = 0; i < set.changes.size(); ++i)
      if (set.changes[i].path == ".git/HEAD") return judged.verdicts[i].reason;
    return std::string("no HEAD");
  };
  EXPECT_EQ(reason({deleted(".git/HEAD")}), "it takes away what git needs of a repository that stays");
  EXPECT_EQ(reason({deleted(".git", directory()), deleted(".git/HEAD")}),
            "it deletes a repository with its history");
}

// Of links that were let through before, by where they lead now.
TEST(JudgeChanges, LinksThatLeadElsewhereByNow) {
  const ChangeSet set =
      set_of({created("away", link("d/x")), created("own", link("/ws/d/x")), created("stays", link("d/y")),
              created("said-so", link("/home/u/x")), created("system", link("d/z")),
              created("unseen", link("d/u")), changed("file")});
  ChangeFacts facts;
  facts.links = {{{0, "away"}, outside("/home/u/x")},
                 {{0, "own"}, outside("/home/u/x")},
                 {{0, "stays"}, inside("d/y")},
                 {{0, "said-so"}, outside("/home/u/x")},
                 {{0, "system"}, outside("/usr/bin/x")}};
  Paths found;
  for (const size_t place : redirected_links(set, facts, {})) found.push_back(set.changes[place].path);
  EXPECT_EQ(found, (Paths{"away", "own"}));
}

TEST(JudgeChanges, DeletingMoreThanHalfAsks) {
  Changes changes;
  for (int i = 0; i < 20; ++i) changes.push_back(deleted("s/" + std::to_string(i), file(0644, 1, i)));
  const auto asked = [&](uint64_t files, uint64_t least = 10) {
    const ChangeSet set = set_of(changes);
    ChangeFacts facts;
    facts.trees.resize(1);
    facts.files_counted = files;
    return paths_with(set, judge_changes(set, facts, {.least_deleted_to_ask = least}), Fate::asked).size();
  };
  EXPECT_EQ(asked(40), 0U);
  EXPECT_EQ(asked(39), 20U);
  EXPECT_EQ(asked(39, 21), 0U);
  for (int i = 0; i < 20; ++i) changes.push_back(created("t/" + std::to_string(i), file(0644, 1, i)));
  EXPECT_EQ(asked(39), 0U);  // they moved
}

TEST(JudgeChanges, WithoutTheFactsNothingPasses) {
  const ChangeSet set = set_of({created("a")});
  ChangeFacts facts;
  facts.too_much = "there is too much";
  const JudgedChanges judged = judge_changes(set, facts, {});
  EXPECT_EQ(judged.verdicts[0].fate, Fate::withheld);
  EXPECT_EQ(judged.stage, "there is too much");
}

TEST(JudgeChanges, DeepTrees) {
  std::string path = "d";
  Changes changes = {created(path, directory())};
  for (int i = 0; i < 1000; ++i) changes.push_back(created(path += "/d", directory()));
  changes.push_back(created(path + "/.envrc"));
  const ChangeSet set = set_of(std::move(changes));
  ChangeFacts facts;
  facts.trees.resize(1);
  EXPECT_EQ(paths_with(set, judge_changes(set, facts, {}), Fate::withheld), (Paths{path + "/.envrc"}));
}

}  // namespace
}  // namespace cloche
