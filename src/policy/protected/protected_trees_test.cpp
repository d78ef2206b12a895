// Which trees are looked at, and what the operator lets go of.
#include "policy/protected/protected_trees.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Kind = FileFact::Kind;
using Paths = std::vector<std::string>;

FileFact directory(std::string path) { return {.kind = Kind::directory, .path = std::move(path)}; }

struct Given {
  const char* path;
  bool writable;
  Kind kind = Kind::directory;
  uint64_t mount = 0;
};

Paths roots_of(const RunRequest& plain, const std::vector<Given>& grants) {
  RunRequest request = plain;
  Facts facts;
  facts.workspace = directory("/w");
  for (const auto& grant : grants) {
    request.grants.push_back({.source = grant.path, .writable = grant.writable});
    facts.grants.push_back({.kind = grant.kind, .path = grant.path, .mount = grant.mount});
  }
  return guarded_roots(request, facts);
}

TEST(Guarded, Roots) {
  const RunRequest plain{.argv = {"true"}};
  RunRequest readonly = plain;
  readonly.profile = Profile::readonly;
  RunRequest hidden = plain;
  hidden.workspace_use = WorkspaceUse::hidden;
  RunRequest narrowed = plain;
  narrowed.workspace_use = WorkspaceUse::read_only;
  EXPECT_EQ(roots_of(plain, {}), Paths{"/w"});
  EXPECT_EQ(roots_of(readonly, {{"/x", true}}), Paths{});
  EXPECT_EQ(roots_of(hidden, {}), Paths{});
  EXPECT_EQ(roots_of(hidden, {{"/x", true}}), Paths{"/x"});
  EXPECT_EQ(roots_of(narrowed, {{"/w/out", true}}), Paths{"/w"});  // by its names from the workspace
  EXPECT_EQ(roots_of(plain, {{"/x", true}, {"/x/y", true}, {"/z", false}}), (Paths{"/w", "/x"}));
  EXPECT_EQ(roots_of(plain, {{"/x/y", true}, {"/x", true}}), (Paths{"/w", "/x"}));
  EXPECT_EQ(roots_of(plain, {{"/x", true, Kind::file}}), Paths{"/w"});
  EXPECT_EQ(roots_of(plain, {{"/", true}}), (Paths{"/w", "/"})) << "the workspace stays one of its own";
  EXPECT_EQ(roots_of(hidden, {{"/", true}}), Paths{"/"});
}

// A look goes as far as one mount does.
TEST(Guarded, AMountIsARootOfItsOwn) {
  const RunRequest plain{.argv = {"true"}};
  EXPECT_EQ(roots_of(plain, {{"/w/m", true, Kind::directory, 7}}), (Paths{"/w", "/w/m"}));
  EXPECT_EQ(roots_of(plain, {{"/x", true, Kind::directory, 1}, {"/x/m", true, Kind::directory, 2}}),
            (Paths{"/w", "/x", "/x/m"}));
}

TEST(Guarded, WithoutMountsOfItsOwnWhatIsMountedInATreeIsNamedOrRefused) {
  const Paths points = {"/", "/proc", "/w", "/w/m"};
  const auto refused = judge_mounts_below({"/w"}, points);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().fix.text().find("--rw /w/m"), std::string::npos) << refused.error().fix;
  EXPECT_TRUE(judge_mounts_below({"/w", "/w/m"}, points).ok());
  EXPECT_TRUE(judge_mounts_below({"/x"}, points).ok());
  EXPECT_FALSE(judge_mounts_below({"/"}, points).ok());
}

TEST(Guarded, ARootThatIsItselfProtected) {
  for (const char* root : {"/p/.vscode", "/home/u/.config/nvim", "/p/.git/hooks", "/p/.claude/skills/x"}) {
    EXPECT_FALSE(judge_roots({"/w", root}, {}).ok()) << root;
    EXPECT_FALSE(judge_roots({root}, {std::string(root) + "/a"}).ok()) << root;
    EXPECT_TRUE(judge_roots({root}, {root}).ok()) << root;
  }
  EXPECT_TRUE(judge_roots({"/w", "/p/.git", "/home/u/.config", "/p/.claude/worktrees/a"}, {}).ok());
}

TEST(Guarded, ARootThatAConfigurationAroundItNames) {
  EXPECT_FALSE(judge_executed_root("/r/hk", true, {}).ok());
  EXPECT_TRUE(judge_executed_root("/r/hk", false, {}).ok());
  EXPECT_TRUE(judge_executed_root("/r/hk", true, {"/r/hk"}).ok());
}

TEST(Guarded, Allowed) {
  const auto allowed = [](const Paths& named) { return allowed_paths(named, "/w", {"/w", "/x"}); };
  EXPECT_EQ(allowed({".git/config", "./a/.envrc", "/w/b", "/x/c"}).value(),
            (Paths{"/w/.git/config", "/w/a/.envrc", "/w/b", "/x/c"}));
  EXPECT_EQ(allowed({"."}).value(), Paths{"/w"});
  for (const char* outside : {"..", "../z", "/etc", "a/../../y", "/wx"})
    EXPECT_FALSE(allowed({outside}).ok());
  EXPECT_TRUE(is_allowed({"/w/.vscode"}, "/w/.vscode/tasks.json"));
  EXPECT_FALSE(is_allowed({"/w/.vscode/tasks.json"}, "/w/.vscode"));
  EXPECT_TRUE(meets_allowed({"/w/.vscode/tasks.json"}, "/w/.vscode"));
  EXPECT_FALSE(meets_allowed({"/w/.vscode"}, "/w/.envrc"));
}

}  // namespace
}  // namespace cloche
