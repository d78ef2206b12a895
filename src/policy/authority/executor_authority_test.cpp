// What an executor may.
#include "policy/authority/authority_fixture.hpp"

namespace cloche {
namespace {

using namespace authority_fixture;

TEST(Authority, AnExecutorHasNothingThatItDoesNotDeclare) {
  OperatorDefaults operators = defaults();
  operators.ceilings.pass_env = {"LANG"};
  operators.ceilings.hosts = {"a.org"};
  const Authority bare =
      grant_to_executor(operators, Executor{.name = "t", .folder = "/x/t", .trust = Trust::operators});
  EXPECT_EQ(grants_of(bare), "ro:/x/t");
  EXPECT_FALSE(bare.workspace_shown || bare.may_execute);
  EXPECT_TRUE(bare.ceilings.pass_env.empty() && bare.ceilings.hosts.empty());
  EXPECT_EQ(bare.write_hints, Names{});
}

TEST(Authority, AnExecutorSeesOfTheWorkspaceWhatItNames) {
  Executor executor{
      .name = "t",
      .folder = "/x/t",
      .trust = Trust::operators,
      .capabilities = {read("./data/*.csv"), write("./out"), read("~/notes"), net("b.org:443")}};
  const Authority wide = grant_to_executor(defaults(), executor);
  EXPECT_EQ(grants_of(wide), "ro:/home/u/notes ro:/home/u/proj/data rw:/home/u/proj/out ro:/x/t");
  EXPECT_EQ(wide.hints,
            (std::vector<FineHint>{
                {"/home/u/proj/data/*.csv", false}, {"/home/u/proj/out", true}, {"/home/u/notes", false}}));
  EXPECT_EQ(joined(wide.ceilings.hosts), "b.org:443");
  executor.trust = Trust::project;
  const Authority narrow = grant_to_executor(defaults(), executor);
  EXPECT_EQ(grants_of(narrow), "ro:/home/u/proj/data rw:/home/u/proj/out ro:/x/t");
  EXPECT_EQ(joined(narrow.ceilings.hosts), "");
  executor.folder = "/home/u/proj/tools/t";
  executor.capabilities = {write(".")};
  EXPECT_EQ(grants_of(grant_to_executor(defaults(), executor)), "rw:/home/u/proj ro:/home/u/proj/tools/t");
}

TEST(Authority, AnExecutorApprovedByNameIsNotAskedAbout) {
  OperatorDefaults operators = defaults(Autonomy::supervised);
  const Executor executor{
      .name = "t", .folder = "/x", .trust = Trust::operators, .capabilities = {execute()}};
  EXPECT_EQ(grant_to_executor(operators, executor).asks, Names{"the executor t declares code:exec"});
  operators.approved_executors = {"t"};
  EXPECT_TRUE(grant_to_executor(operators, executor).asks.empty());
  EXPECT_TRUE(grant_to_executor(operators, executor).may_execute);
}

TEST(Authority, OfWhatOthersCanWriteANameApprovesNothingAndTheCodeItselfDoes) {
  const struct {
    Trust trust;
    Names approved;
    bool asked;
    const char* note;  // a part of it; nullptr: there is none
  } rows[] = {
      {Trust::operators, {}, true, nullptr},
      {Trust::operators, {"t"}, false, nullptr},
      {Trust::operators, {"t@sha256:aa"}, false, nullptr},
      {Trust::operators, {"t@sha256:bb"}, true, "another code of t: this is t@sha256:aa"},
      {Trust::operators, {"t@"}, true, "another code of t"},
      {Trust::operators, {"tt", "tt@sha256:aa"}, true, nullptr},
      {Trust::project, {}, true, nullptr},
      {Trust::project, {"t"}, true, "t@sha256:aa would approve its code as it is"},
      {Trust::project, {"t@sha256:aa"}, false, nullptr},
      {Trust::project, {"t", "t@sha256:aa"}, false, nullptr},
      {Trust::project, {"t@sha256:bb"}, true, "another code of t"},
  };
  for (const auto& row : rows) {
    OperatorDefaults operators = defaults(Autonomy::supervised);
    operators.approved_executors = row.approved;
    const Authority authority = grant_to_executor(operators, Executor{.name = "t",
                                                                      .folder = "/x",
                                                                      .trust = row.trust,
                                                                      .code_digest = "sha256:aa",
                                                                      .capabilities = {execute()}});
    SCOPED_TRACE(joined(row.approved) + (row.trust == Trust::project ? ", a project's" : ""));
    EXPECT_EQ(!authority.asks.empty(), row.asked);
    ASSERT_EQ(authority.notes.size(), row.note != nullptr ? 1U : 0U);
    if (row.note != nullptr) {
      EXPECT_NE(authority.notes[0].find(row.note), std::string::npos) << authority.notes[0];
    }
  }
}

TEST(Authority, AnExecutorsFolderIsAPlaceLikeAnyOther) {
  for (const char* folder : {"/home/u", "/home/u/.ssh", "/home/u/.ssh/tool", "/", "/srv/cloche/tools"}) {
    const Executor executor{.name = "t", .folder = folder, .trust = Trust::operators};
    EXPECT_FALSE(authority_of(defaults(), executor, host()).ok()) << folder;
  }
  for (const char* folder : {"/home/u/tools/t", "/srv/tools/t", "/home/u/proj/tools/t"}) {
    const Executor executor{.name = "t", .folder = folder, .trust = Trust::operators};
    EXPECT_TRUE(authority_of(defaults(), executor, host()).ok()) << folder;
  }
}

// ---- every capability at every level ----

}  // namespace
}  // namespace cloche
