// Which profile holds for a tool, and what a program may change at run time.
#include "gateway/configuration/configuration.hpp"

#include <gtest/gtest.h>

#include "gateway/checks/isolation_levels.hpp"
#include "gateway/configuration/configuration_fixture.hpp"
#include "gateway/configuration/rule_gate.hpp"

namespace cloche {
namespace {

using namespace fixture;

std::string told(const ChosenProfile& chosen) {
  std::string text = chosen.profile.name + " of " + text_of(chosen.origin);
  for (const auto& lost : chosen.overruled) text += " <" + lost.value + " " + text_of(lost.origin);
  return text;
}

TEST(ChosenProfile, TheStrictestOfAllThatApply) {
  constexpr const char* reads = R"({"default_profile": "readonly"})";
  constexpr const char* widest = R"({"default_profile": "workspace-write"})";
  constexpr const char* usual = R"({"default_profile": "workspace-write-no-network"})";
  constexpr const char* shell_reads = R"({"rules": [{"tool": "run_*", "profile": "readonly"}]})";
  constexpr const char* shell_widest = R"({"rules": [{"tool": "run_shell", "profile": "workspace-write"}]})";
  struct Row {
    FileTexts files;
    const char* flag;
    const char* comes_to;
  };
  const Row rows[] = {
      {{}, "", "workspace-write-no-network of default"},
      {{}, "readonly", "readonly of --profile"},
      {{}, "workspace-write", "workspace-write of --profile"},
      {{.user = reads}, "", "readonly of U:1"},
      {{.user = reads},
       "workspace-write",
       "workspace-write of --profile <\"readonly\" U:1"},  // only a default
      {{.user = widest}, "", "workspace-write of U:1"},
      {{.managed = reads}, "workspace-write", "readonly of M:1 <\"workspace-write\" --profile"},
      {{.managed = widest}, "readonly", "readonly of --profile <\"workspace-write\" M:1"},
      {{.managed = usual, .user = widest}, "", "workspace-write-no-network of M:1 <\"workspace-write\" U:1"},
      {{.project = reads}, "", "readonly of P:1"},
      {{.project = reads}, "workspace-write", "readonly of P:1 <\"workspace-write\" --profile"},
      {{.user = reads, .project = usual}, "", "readonly of U:1 <\"workspace-write-no-network\" P:1"},
      {{.user = widest, .project = usual}, "", "workspace-write-no-network of P:1 <\"workspace-write\" U:1"},
      {{.user = shell_reads}, "", "readonly of U:1"},
      {{.user = shell_reads}, "workspace-write", "readonly of U:1 <\"workspace-write\" --profile"},
      {{.user = shell_widest}, "", "workspace-write of U:1"},  // in place of the default
      {{.user = shell_widest, .project = shell_reads}, "", "readonly of P:1 <\"workspace-write\" U:1"},
      {{.managed = reads, .user = shell_widest}, "", "readonly of M:1 <\"workspace-write\" U:1"},
      {{.user = R"({"rules": [{"tool": "run_shell", "profile": "mine"}]})"}, "", "mine of U:1"},
      {{.user = R"({"rules": [{"tool": "run_shell_command", "profile": "readonly"}]})"},
       "",
       "readonly of U:1"},
      // Of two that differ, what both allow: a project shows nothing by naming the operator's profile.
      {{.project = R"({"default_profile": "mine"})"},
       "",
       "workspace-write-no-network of default <\"mine\" P:1"},
      {{.user = R"({"rules": [{"tool": "http_get", "profile": "readonly"}]})"},
       "",
       "workspace-write-no-network of default"},
  };
  for (const auto& row : rows) {
    const Configuration configuration = configured(row.files);
    ProfileQuestion question{"run_shell", {}};
    if (*row.flag != 0) question.asked = row.flag;
    const auto chosen = chosen_profile(configuration.settings, configuration.profiles, question);
    ASSERT_TRUE(chosen.ok()) << describe(chosen.error());
    EXPECT_EQ(told(chosen.value()), row.comes_to)
        << row.files.managed << " | " << row.files.user << " | " << row.files.project << " | " << row.flag;
  }
}

TEST(ChosenProfile, ARuleForNoToolOfOursIsWorthALook) {
  const auto about = [](const std::string& tool) {
    const std::string rules = R"({"rules": [{"tool": ")" + tool + R"(", "profile": "readonly"}]})";
    return rules_without_tool(configured({.user = rules}).settings);
  };
  for (const char* known : {"run_shell", "run_shell_command", "run_*", "*", "http_get"})
    EXPECT_TRUE(about(known).empty()) << known;
  for (const char* unknown : {"run_shel", "bash", "ran_*"}) {
    const auto sentences = about(unknown);
    ASSERT_EQ(sentences.size(), 1U) << unknown;
    EXPECT_TRUE(
        sentences[0].starts_with(std::string("U:1: rules: no tool of Cloche's is called ") + unknown));
  }
}

TEST(RulesThatNeverDecide, AreNamedWithTheirPlace) {
  const auto rules_of_user = [](const std::string& tool) {
    const std::string text =
        "{\"permissions\": {\"rules\": [\n{\"tool\": \"" + tool + "\", \"action\": \"deny\"}]}}";
    return RuleFiles{.user = rules_in(text, "U").value()};
  };
  const auto slip = rules_that_never_decide(rules_of_user("run_shel"));
  ASSERT_EQ(slip.size(), 1U);
  EXPECT_NE(
      slip[0].find("U:2: never decides: no tool of the name run_shel is known; did you mean run_shell?"),
      std::string::npos)
      << slip[0];
  const ToolSpec own{.name = "run_shel", .input_schema = "{}"};
  EXPECT_TRUE(rules_that_never_decide(rules_of_user("run_shel"), {own}).empty())
      << "an executor has the name";
  for (const char* right : {"run_shell", "bash", "my_tool", "*"})
    EXPECT_TRUE(rules_that_never_decide(rules_of_user(right)).empty()) << right;
}

// The operator who names a level for every user also says whether there may be less.
TEST(WishFor, OnlyTheManagedFileLetsItsOwnRungBeSteppedDownFrom) {
  struct Row {
    FileTexts files;
    IsolationLevel lowest;
  };
  const Row rows[] = {
      {{.user = R"({"isolation": "gvisor", "missing": "degrade"})"}, IsolationLevel::subprocess},
      {{.managed = R"({"isolation": "gvisor"})", .user = R"({"missing": "degrade"})"},
       IsolationLevel::gvisor},
      {{.managed = R"({"isolation": "container"})",
        .user = R"({"isolation": "gvisor", "missing": "degrade"})"},
       IsolationLevel::container},
      {{.managed = R"({"isolation": "gvisor", "missing": "degrade"})"}, IsolationLevel::subprocess},
      {{.managed = R"({"missing": "degrade"})"}, IsolationLevel::subprocess},
  };
  char* nothing[] = {nullptr};
  for (const auto& row : rows) {
    const auto wish = wish_for(configured(row.files).settings, Environment(nothing), FrontEnd::command_line);
    ASSERT_TRUE(wish.ok());
    EXPECT_EQ(wish.value().lowest, row.lowest) << row.files.managed << " | " << row.files.user;
  }
}

TEST(LandlockWanted, IsRequiredUnlessTheOperatorSaysOtherwise) {
  struct Row {
    FileTexts files;
    Landlock landlock;
    Switches switches = {};
  };
  constexpr auto required = Landlock::required;
  constexpr auto optional = Landlock::optional;
  const Row rows[] = {
      {{}, required},
      {{.user = R"({"landlock": "optional"})"}, optional},
      {{.user = R"({"missing": "degrade"})"}, optional},
      {{.user = R"({"missing": "degrade"})"}, required, {.required = true}},
      {{.user = R"({"landlock": "optional"})"}, required, {.required = true}},
      {{.managed = R"({"landlock": "required"})", .user = R"({"missing": "degrade"})"}, required},
      {{.managed = R"({"landlock": "required"})", .user = R"({"landlock": "optional"})"}, required},
      {{.user = R"({"landlock": "required", "missing": "degrade"})"}, required},
      {{.managed = R"({"isolation": "namespace"})", .user = R"({"missing": "degrade"})"}, required},
      {{.managed = R"({"isolation": "namespace"})", .user = R"({"landlock": "optional"})"}, required},
      {{.managed = R"({"missing": "refuse"})", .user = R"({"landlock": "optional"})"}, required},
      {{.managed = R"({"missing": "refuse", "landlock": "optional"})"}, optional},
      {{.managed = R"({"isolation": "namespace", "landlock": "optional"})"}, optional},
      {{.managed = R"({"isolation": "namespace", "missing": "degrade"})"}, optional},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(landlock_wanted(configured(row.files).settings, row.switches), row.landlock)
        << row.files.managed << " | " << row.files.user;
  }
}

TEST(ChosenProfile, AnUnknownNameRefusesWithItsPlace) {
  const Configuration configuration = configured({.user = "{\n\"default_profile\": \"nobodys\"}"});
  const auto chosen = chosen_profile(configuration.settings, configuration.profiles, {"run_shell", {}});
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(
      describe(chosen.error()),
      "U:2: no such profile: nobodys; known are readonly, workspace-write-no-network, workspace-write and "
      "mine");
  const auto flag = chosen_profile({}, configuration.profiles, {"run_shell", "x.sb"});
  ASSERT_FALSE(flag.ok());
  EXPECT_NE(describe(flag.error()).find("seatbelt profile of macOS"), std::string::npos);
  EXPECT_NE(describe(flag.error()).find("the nearest here is readonly"), std::string::npos);
}

TEST(RuntimeSettings, NeverGoBeyondTheManagedFile) {
  struct Row {
    const char* managed;
    RuntimeSettings runtime_settings;
    const char* refused;  // empty: it may
  };
  const Row rows[] = {
      {"{}", {.autonomy = Autonomy::full}, ""},
      {"{}", {.enabled = false}, ""},
      {"{}", {.default_profile = "workspace-write"}, ""},
      {"{}", {.default_profile = "nobodys"}, "no such profile: nobodys"},
      {R"({"autonomy": "supervised"})",
       {.autonomy = Autonomy::full},
       "autonomy full is more than M:1 gives: supervised"},
      {R"({"autonomy": "supervised"})", {.autonomy = Autonomy::supervised}, ""},
      {R"({"autonomy": "supervised"})", {.autonomy = Autonomy::readonly}, ""},
      {R"({"enabled": true})", {.enabled = false}, "isolation cannot be switched off: M:1 says enabled"},
      {R"({"enabled": true})", {.enabled = true}, ""},
      {R"({"enabled": false})", {.enabled = false}, ""},
      {R"({"default_profile": "workspace-write-no-network"})",
       {.default_profile = "workspace-write"},
       "the profile workspace-write gives more than workspace-write-no-network of M:1"},
      {R"({"default_profile": "workspace-write-no-network"})",
       {.default_profile = "mine"},
       "gives more than"},
      {R"({"default_profile": "workspace-write-no-network"})", {.default_profile = "readonly"}, ""},
  };
  for (const auto& row : rows) {
    const Configuration configuration = configured({.managed = row.managed});
    const auto judged =
        judge_runtime_settings(row.runtime_settings, configuration.settings, configuration.profiles);
    EXPECT_EQ(judged.ok(), *row.refused == 0) << row.managed;
    const std::string said = judged.ok() ? "" : describe(judged.error());
    EXPECT_NE(said.find(row.refused), std::string::npos) << said;
  }
}

TEST(Configure, LimitsRungAndNotes) {
  RunRequest request;
  request.limits.wall_ms = 9000;
  request.said_limits = {LimitId::wall};
  std::vector<std::string> notes;
  const Configuration configuration =
      configured({.user = R"({"limits": {"timeout": "5s", "pids": 9, "net-connections": 7}})",
                  .project = R"({"limits": {"memory": "64G", "nofile": 100}})"});
  ASSERT_TRUE(configure(request, configuration.settings, notes).ok());
  EXPECT_EQ(request.limits.wall_ms, 9000U);
  EXPECT_EQ(request.limits.processes, 9U);
  EXPECT_EQ(request.limits.open_files, 100U);
  EXPECT_EQ(request.limits.net_connections, 7U);
  EXPECT_EQ(request.limits.memory_bytes, Limits{}.memory_bytes);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], "P:1: limits: memory stays at 4G: a project can only lower it");
}

TEST(Configure, ALimitOfTheManagedFileIsNotedWithItsPlace) {
  const Configuration configuration = configured(
      {.managed = R"({"limits": {"timeout": "2s", "pids": 100}})", .user = R"({"limits": {"cpu": 5}})"});
  RunRequest request;
  request.limits.wall_ms = 9000;
  request.limits.processes = 50;
  request.said_limits = {LimitId::wall, LimitId::processes};
  std::vector<std::string> notes;
  ASSERT_TRUE(configure(request, configuration.settings, notes).ok());
  EXPECT_EQ(source_of(request.lowered_by, LimitId::wall), "M:1");
  EXPECT_EQ(source_of(request.lowered_by, LimitId::processes), "") << "the flag's own";
  EXPECT_EQ(source_of(request.lowered_by, LimitId::cpu), "") << "a flag goes above the user's file";
}

TEST(Configure, TheHighestRungHoldsAndOneThatIsNotBuiltRefuses) {
  struct Row {
    FileTexts files;
    std::optional<IsolationLevel> flag;
    const char* comes_to;  // the isolation level, or the refusal
  };
  const Row rows[] = {
      {{}, {}, "namespace"},
      {{}, IsolationLevel::subprocess, "subprocess"},
      {{.user = R"({"isolation": "subprocess"})"}, {}, "subprocess"},
      {{.user = R"({"isolation": "subprocess"})"}, IsolationLevel::namespaces, "namespace"},
      {{.user = R"({"isolation": "gvisor"})"}, IsolationLevel::subprocess, "gvisor"},
      {{.user = R"({"isolation": "subprocess"})", .project = R"({"isolation": "namespace"})"},
       {},
       "namespace"},
      {{.project = R"({"isolation": "microvm"})"},
       {},
       "P:1 requires the isolation level microvm, which is not part of this build"},
      {{.user = R"({"isolation": "permissive"})"},
       {},
       "U:1: the isolation level permissive is for functions of the embedding program; use subprocess or "
       "higher"},
  };
  for (const auto& row : rows) {
    RunRequest request;
    request.isolation = row.flag;
    std::vector<std::string> notes;
    const auto done = configure(request, configured(row.files).settings, notes);
    EXPECT_EQ(done.ok() ? std::string(name_of(request.level)) : describe(done.error()), row.comes_to);
  }
}

}  // namespace
}  // namespace cloche
