// What comes of each key under either trust, and of each capability at each level of autonomy. The last is a
// golden file: CLOCHE_UPDATE_GOLDEN=1 build/release/tests/unit_test --gtest_filter='*Golden*'
#include "policy/authority/authority_fixture.hpp"

namespace cloche {
namespace {

using namespace authority_fixture;

TEST(Authority, WithoutASkillItIsTheOperators) {
  OperatorDefaults operators = defaults();
  operators.ceilings.pass_env = {"LANG", "GITHUB_TOKEN"};
  operators.ceilings.hosts = {"a.org"};
  const auto authority = authority_of(operators, nullptr, host());
  ASSERT_TRUE(authority.ok());
  EXPECT_EQ(authority.value().ceilings.commands, CommandProfile::full);
  EXPECT_FALSE(authority.value().ceilings.loadout);
  EXPECT_EQ(joined(authority.value().ceilings.pass_env), "LANG");
  EXPECT_EQ(joined(authority.value().ceilings.hosts), "a.org");
  EXPECT_TRUE(authority.value().may_execute);
  EXPECT_TRUE(authority.value().workspace_shown);
  EXPECT_FALSE(authority.value().write_hints);
  EXPECT_EQ(joined(authority.value().notes), "pass_env GITHUB_TOKEN is left out: it looks like a secret");
}

TEST(Authority, AnEmptySkillChangesNothing) {
  for (Trust trust : {Trust::project, Trust::operators}) {
    const Authority authority = grant(defaults(), {.name = "s", .trust = trust});
    EXPECT_FALSE(authority.ceilings.loadout);
    EXPECT_EQ(authority.ceilings.commands, CommandProfile::full);
    EXPECT_TRUE(authority.may_execute && authority.notes.empty() && authority.asks.empty());
  }
}

TEST(Authority, Loadout) {
  struct Row {
    std::optional<Names> operators;
    Names declared;
    const char* kept;
  };
  const Row rows[] = {
      {std::nullopt, {"run_shell", "mine"}, "run_shell mine"},
      {std::nullopt, {"run_shell", "nobodys"}, "run_shell"},
      {std::nullopt, {}, ""},
      {Names{"run_shell"}, {"run_shell", "run_script"}, "run_shell"},
      {Names{}, {"run_shell"}, ""},
  };
  for (Trust trust : {Trust::project, Trust::operators}) {
    for (const auto& row : rows) {
      OperatorDefaults operators = defaults();
      operators.ceilings.loadout = row.operators;
      operators.executors = {"mine"};
      const Authority authority = grant(operators, {.name = "s", .trust = trust, .loadout = row.declared});
      ASSERT_TRUE(authority.ceilings.loadout);
      EXPECT_EQ(joined(*authority.ceilings.loadout), row.kept);
      EXPECT_EQ(authority.notes.size(), row.declared.size() - authority.ceilings.loadout->size());
    }
  }
}

TEST(Authority, Commands) {
  using enum CommandProfile;
  struct Row {
    CommandProfile usual;
    std::optional<CommandProfile> most;
    CommandProfile declared;
    CommandProfile of_project;
    CommandProfile of_operators;
  };
  const Row rows[] = {
      {full, {}, passive, passive, passive},
      {full, {}, full, full, full},
      {passive, {}, full, passive, passive},
      {passive, full, full, passive, full},
      {passive, any, full, passive, full},
      {any, {}, full, full, full},
      {any, {}, passive, passive, passive},
      {passive, passive, full, passive, passive},
      // A reader refuses it; should it come from elsewhere, it is no way to `any`.
      {passive, any, any, passive, full},
  };
  for (const auto& row : rows) {
    OperatorDefaults operators = defaults();
    operators.ceilings.commands = operators.ceilings.unasked = row.usual;
    operators.most_commands = row.most;
    Skill skill{.name = "s", .trust = Trust::project, .commands = row.declared};
    EXPECT_EQ(grant(operators, skill).ceilings.commands, row.of_project);
    EXPECT_LE(grant(operators, skill).ceilings.unasked, row.of_project);
    skill.trust = Trust::operators;
    EXPECT_EQ(grant(operators, skill).ceilings.commands, row.of_operators);
    EXPECT_LE(grant(operators, skill).ceilings.unasked, row.usual);
  }
}

TEST(Authority, PassEnv) {
  OperatorDefaults operators = defaults();
  operators.ceilings.pass_env = {"LANG", "CI"};
  Skill skill{.name = "s", .trust = Trust::project, .pass_env = Names{"LANG", "EDITOR_THEME", "API_KEY"}};
  EXPECT_EQ(joined(grant(operators, skill).ceilings.pass_env), "LANG");
  skill.trust = Trust::operators;
  const Authority wide = grant(operators, skill);
  EXPECT_EQ(joined(wide.ceilings.pass_env), "LANG EDITOR_THEME");
  EXPECT_EQ(wide.notes, (Names{"pass_env CI is left out: the skill does not name it",
                               "pass_env API_KEY is left out: it looks like a secret"}));
  for (Trust trust : {Trust::project, Trust::operators}) {
    skill = {.name = "s", .trust = trust, .pass_env = Names{}};
    EXPECT_EQ(joined(grant(operators, skill).ceilings.pass_env), "");
    skill.pass_env = std::nullopt;
    EXPECT_EQ(joined(grant(operators, skill).ceilings.pass_env), "LANG CI");
  }
}

TEST(Authority, Hosts) {
  struct Row {
    Names operators;
    std::optional<NetworkNeed> need;
    std::optional<std::vector<Capability>> capabilities;
    const char* of_project;
    const char* of_operators;
  };
  const NetworkNeed none;
  const NetworkNeed unnamed{.unnamed = true};
  const auto hosts = [](Names list) { return NetworkNeed{.hosts = std::move(list)}; };
  const Row rows[] = {
      {{}, {}, {}, "", ""},
      {{"a.org"}, {}, {}, "a.org", "a.org"},
      {{"a.org"}, none, {}, "", ""},
      {{"a.org"}, unnamed, {}, "a.org", "a.org"},
      {{}, unnamed, {}, "", ""},
      // Any public name on the web's ports is a list of the operator's alone, and a ceiling like any other.
      {{"*"}, unnamed, {}, "*", "*"},
      {{"*"},
       hosts({"a.org", "*.b.org", "c.org:443"}),
       {},
       "a.org *.b.org c.org:443",
       "a.org *.b.org c.org:443"},
      {{"*"}, hosts({"a.org:8443", "localhost:80"}), {}, "", "a.org:8443 localhost:80"},
      {{"*", "localhost:80"}, hosts({"localhost:80"}), {}, "localhost:80", "localhost:80"},
      {{}, hosts({"a.org"}), {}, "", "a.org"},
      {{"a.org"}, hosts({"a.org", "b.org"}), {}, "a.org", "a.org b.org"},
      {{"*.a.org"}, hosts({"x.a.org:443"}), {}, "x.a.org:443", "x.a.org:443"},
      {{"*.a.org"}, hosts({"a.org"}), {}, "", "a.org"},
      {{"x.a.org", "y.a.org:443"}, hosts({"*.a.org"}), {}, "x.a.org y.a.org:443", "*.a.org"},
      {{"a.org:443"}, hosts({"a.org"}), {}, "a.org:443", "a.org"},
      {{"a.org"}, hosts({"a.org:443"}), {}, "a.org:443", "a.org:443"},
      {{"a.org:80"}, hosts({"a.org:443"}), {}, "", "a.org:443"},
      {{"*.a.org"}, hosts({"*.b.a.org"}), {}, "*.b.a.org", "*.b.a.org"},
      {{"*.b.a.org"}, hosts({"*.a.org"}), {}, "*.b.a.org", "*.a.org"},
      {{"a.org"}, {}, std::vector{net("b.org")}, "", "b.org"},
      {{"a.org"}, {}, std::vector{execute()}, "a.org", "a.org"},
      {{"a.org"}, hosts({"a.org"}), std::vector{net("b.org")}, "a.org", "a.org b.org"},
      {{"a.org"}, none, std::vector{net("a.org")}, "", ""},
  };
  for (const auto& row : rows) {
    OperatorDefaults operators = defaults();
    operators.ceilings.hosts = row.operators;
    Skill skill{.name = "s", .trust = Trust::project, .network = row.need, .capabilities = row.capabilities};
    EXPECT_EQ(joined(grant(operators, skill).ceilings.hosts), row.of_project) << row.of_operators;
    skill.trust = Trust::operators;
    EXPECT_EQ(joined(grant(operators, skill).ceilings.hosts), row.of_operators);
  }
}

TEST(Authority, WhoseListItIsSaysWhatWasWritten) {
  const Capability named = net("c.org:443");
  const struct {
    NetworkNeed need;
    std::optional<std::vector<Capability>> capabilities;
    const char* by;
  } rows[] = {
      {{.hosts = {"b.org"}}, {}, "skill s, needs_network"},
      {{.hosts = {"b.org"}}, std::vector{named}, "skill s, needs_network and capabilities"},
      {{.unnamed = true}, {}, "skill s, needs_network: true, with the operator's hosts"},
      {{.unnamed = true}, std::vector{named}, "skill s, needs_network: true and capabilities"},
  };
  OperatorDefaults operators = defaults();
  operators.ceilings.hosts = {"a.org"};
  for (const auto& row : rows) {
    const Skill skill{
        .name = "s", .trust = Trust::operators, .network = row.need, .capabilities = row.capabilities};
    EXPECT_EQ(grant(operators, skill).ceilings.declared_by, row.by);
  }
}

TEST(Authority, ASkillsLimitsOnlyTighten) {
  RunRequest request;
  request.limits.net_bytes = 5000;
  request.limits.wall_ms = 1000;
  take_limits(request, {.name = "s", .limits = {{LimitId::net_bytes, 100}, {LimitId::wall, 9000}}});
  EXPECT_EQ(request.limits.net_bytes, 100U);
  EXPECT_EQ(request.limits.wall_ms, 1000U);
  EXPECT_EQ(source_of(request.lowered_by, LimitId::net_bytes), "skill s");
}

TEST(Authority, TheSandboxProfileHasTheLastWordOnTheNetwork) {
  OperatorDefaults operators = defaults();
  operators.ceilings.network = false;
  const Authority authority =
      grant(operators, {.name = "s", .trust = Trust::operators, .network = NetworkNeed{.hosts = {"a.org"}}});
  EXPECT_FALSE(authority.ceilings.network);
  EXPECT_EQ(joined(authority.notes), "the sandbox profile has no network: a.org cannot be reached");
  const Authority none =
      grant(defaults(), {.name = "s", .trust = Trust::operators, .network = NetworkNeed{}});
  EXPECT_TRUE(none.ceilings.network && none.ceilings.hosts.empty())
      << "the profile's word, and nothing to reach";
}

TEST(Authority, AllowedToolsAnswerQuestionsAndWidenNothing) {
  Skill skill{.name = "s",
              .trust = Trust::operators,
              .loadout = Names{"run_shell"},
              .capabilities = std::vector{write("/srv/out")},
              .allowed_tools = {"run_shell", "run_script", "Bash(git:*)"}};
  const Authority authority = grant(defaults(Autonomy::supervised), skill);
  EXPECT_EQ(joined(*authority.ceilings.loadout), "run_shell");
  EXPECT_TRUE(asks_about(authority, "run_shell").empty());
  EXPECT_EQ(asks_about(authority, "write_artifact"), Names{"the skill s declares fs:write:/srv/out"});
  skill.trust = Trust::project;
  skill.capabilities = std::vector{execute()};
  EXPECT_TRUE(grant(defaults(Autonomy::supervised), skill).unasked.empty());
}

// ---- paths ----

TEST(Authority, PathsOfATrustedSkill) {
  struct Row {
    std::vector<Capability> capabilities;
    const char* grants;
    std::optional<Names> write_hints;
  };
  const Row rows[] = {
      {{}, "", {}},
      {{read("./src/**")}, "", {}},
      {{read("~/notes/**")}, "ro:/home/u/notes", {}},
      {{read("~/notes/**"), read("~/notes/a"), read("~/notes")}, "ro:/home/u/notes", {}},
      {{write("./out/**")}, "", Names{"/home/u/proj/out/**"}},
      {{write("./out/**"), write("./out/**"), write("b")},
       "",
       Names{"/home/u/proj/out/**", "/home/u/proj/b"}},
      {{write("~/out")}, "rw:/home/u/out", Names{}},
      {{read("~/out"), write("~/out/a")}, "ro:/home/u/out rw:/home/u/out/a", Names{}},
      {{write("~/out"), read("~/out/a")}, "rw:/home/u/out", Names{}},
      {{read("~/out"), write("~/out")}, "rw:/home/u/out", Names{}},
      {{{Family::no_effect, "*", "mail:*"}}, "", {}},
  };
  for (const auto& row : rows) {
    const Authority authority =
        grant(defaults(), {.name = "s", .trust = Trust::operators, .capabilities = row.capabilities});
    EXPECT_EQ(grants_of(authority), row.grants);
    EXPECT_EQ(authority.write_hints, row.write_hints) << row.grants;
  }
}

TEST(Authority, AProjectsSkillStaysInTheWorkspace) {
  const Authority authority = grant(
      defaults(), {.name = "s",
                   .trust = Trust::project,
                   .capabilities = std::vector{read("~/notes"), write("/srv/x"), write("./out"), execute()}});
  EXPECT_EQ(grants_of(authority), "");
  EXPECT_EQ(authority.write_hints, Names{"/home/u/proj/out"});
  EXPECT_TRUE(authority.may_execute);
  EXPECT_EQ(authority.notes,
            (Names{"fs:read:~/notes is dropped: what came with a project stays in the workspace",
                   "fs:write:/srv/x is dropped: what came with a project stays in the workspace"}));
}

TEST(Authority, WithoutCodeExecNothingOpaqueRuns) {
  for (Trust trust : {Trust::project, Trust::operators}) {
    Skill skill{.name = "s", .trust = trust, .capabilities = std::vector<Capability>{}};
    EXPECT_FALSE(grant(defaults(), skill).may_execute);
    skill.capabilities = std::vector{execute()};
    EXPECT_TRUE(grant(defaults(), skill).may_execute);
    skill.capabilities = std::nullopt;
    EXPECT_TRUE(grant(defaults(), skill).may_execute);
  }
}

TEST(Authority, HintsThatAreErrors) {
  for (Trust trust : {Trust::project, Trust::operators}) {
    for (const char* hint :
         {"/", "/*", "~", "~/*", "~/**/x", "/home", "/tmp", "/tmp/*", "~/.ssh", "~/.ssh/**", "~/.config/**",
          "~/.claude", "/run/docker.sock", "/srv/cloche/x", "~root/x", "../x"}) {
      const Skill skill{.name = "s", .trust = trust, .capabilities = std::vector{read(hint)}};
      const auto refused = authority_of(defaults(), &skill, host());
      ASSERT_FALSE(refused.ok()) << hint;
      EXPECT_TRUE(refused.error().what.text().starts_with("the skill s: fs:read:")) << refused.error().what;
    }
  }
}

TEST(Authority, NothingWritableHasTheWorkspaceInIt) {
  HostPaths names = host();
  names.workspace = "/srv/all/proj";
  Skill skill{.name = "s", .trust = Trust::operators, .capabilities = std::vector{write("/srv/all/**")}};
  names.own = {};
  EXPECT_EQ(authority_of(defaults(), &skill, names).error().what.text(),
            "the skill s: fs:write:/srv/all/**: it has the workspace in it");
  skill.capabilities = std::vector{read("/srv/all/**")};
  EXPECT_EQ(grants_of(grant(defaults(), skill, names)), "ro:/srv/all");
}

TEST(Authority, NothingThatRunsOutsideIsWritable) {
  for (const char* hint : {"/usr/local/bin", "/etc/cron.d/**", "~/.bashrc", "~/.local/bin/*"}) {
    Skill skill{.name = "s", .trust = Trust::operators, .capabilities = std::vector{write(hint)}};
    EXPECT_FALSE(authority_of(defaults(), &skill, host()).ok()) << hint;
  }
}

TEST(Authority, NothingMakesItsOwnDeclarationWritable) {
  for (const char* hint : {"~/skills", "~/skills/**", "~/skills/a", "~/skills/a/SKILL.md"}) {
    const Skill skill{.name = "s",
                      .source = "/home/u/skills/a/SKILL.md",
                      .trust = Trust::operators,
                      .capabilities = std::vector{write(hint)}};
    EXPECT_FALSE(authority_of(defaults(), &skill, host()).ok()) << hint;
    const Executor executor{
        .name = "t", .folder = "/home/u/skills/a", .trust = Trust::operators, .capabilities = {write(hint)}};
    EXPECT_FALSE(authority_of(defaults(), executor, host()).ok()) << hint;
  }
  const Skill beside{.name = "s",
                     .source = "/home/u/skills/a/SKILL.md",
                     .trust = Trust::operators,
                     .capabilities = std::vector{write("~/skills/b"), read("~/skills/**")}};
  EXPECT_EQ(grants_of(grant(defaults(), beside)), "ro:/home/u/skills rw:/home/u/skills/b");
}

TEST(Authority, ReadonlyWritesNowhere) {
  EXPECT_EQ(authority_of(defaults(Autonomy::readonly), nullptr, host()).value().write_hints, Names{});
}

TEST(Authority, ASecretByGrant) {
  HostPaths names = host();
  names.secret_grants = {"~/.config/gh"};
  Skill skill{.name = "s", .trust = Trust::operators, .capabilities = std::vector{read("~/.config/gh/**")}};
  EXPECT_EQ(grants_of(grant(defaults(), skill, names)), "ro:/home/u/.config/gh");
  skill.trust = Trust::project;
  EXPECT_EQ(grants_of(grant(defaults(), skill, names)), "");
}

TEST(Authority, UnderAReadonlyProfileNothingIsWritable) {
  OperatorDefaults operators = defaults();
  operators.profile = Profile::readonly;
  const Authority authority = grant(
      operators,
      {.name = "s", .trust = Trust::operators, .capabilities = std::vector{write("~/out"), write("./out")}});
  EXPECT_EQ(grants_of(authority), "ro:/home/u/out");
  EXPECT_EQ(authority.write_hints, Names{});
  EXPECT_EQ(authority.notes, (Names{"fs:write:~/out is read-only: the sandbox profile",
                                    "fs:write:./out is read-only: the sandbox profile"}));
}

// ---- executors ----

std::string one_line(const Authority& authority) {
  std::string text = "grants [" + grants_of(authority) + "]";
  text +=
      authority.write_hints ? " writes [" + joined(*authority.write_hints) + "]" : " writes as the profile";
  text += " hosts [" + joined(authority.ceilings.hosts) + "]";
  const bool reaches = authority.ceilings.network && !authority.ceilings.hosts.empty();
  text += reaches ? " network" : " no network";
  text += authority.may_execute ? " executes" : " does not execute";
  for (const auto& ask : authority.asks) text += "\n      ask: " + ask;
  for (const auto& note : authority.notes) text += "\n      note: " + note;
  return text + "\n";
}

std::string use_table_text() {
  std::string text = "use | readonly | supervised | full\n";
  for (const auto& row : use_table) {
    text += row.what;
    for (Autonomy level : {Autonomy::readonly, Autonomy::supervised, Autonomy::full})
      text += " | " + std::string(name_of(treatment_of(row.use, level)));
    text += "\n";
  }
  return text;
}

std::string what_every_capability_gives() {
  const Capability capabilities[] = {read("./data/**"),
                                     read("~/notes/**"),
                                     write("./out/**"),
                                     write("~/out/**"),
                                     net("a.org:443"),
                                     execute(),
                                     {Family::no_effect, "*", "mail:*"}};
  std::string text = use_table_text();
  for (const auto& capability : capabilities) {
    for (Trust trust : {Trust::operators, Trust::project}) {
      text += "\n" + capability.written +
              (trust == Trust::project ? ", of a project\n" : ", of the operator's\n");
      for (Autonomy level : {Autonomy::readonly, Autonomy::supervised, Autonomy::full}) {
        const Skill skill{.name = "s", .trust = trust, .capabilities = std::vector{capability}};
        const Executor executor{.name = "t", .folder = "/x/t", .trust = trust, .capabilities = {capability}};
        const std::string label(name_of(level));
        text += "  skill, " + label + ": " + one_line(grant(defaults(level), skill));
        text += "  executor, " + label + ": " + one_line(grant_to_executor(defaults(level), executor));
      }
    }
  }
  return text;
}

TEST(Authority, GoldenOfEveryCapabilityAtEveryLevel) {
  const std::string text = what_every_capability_gives();
  const std::string path = std::string(CLOCHE_GOLDEN_DIR) + "/capabilities.txt";
  if (std::getenv("CLOCHE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(golden.str(), text);
}

}  // namespace
}  // namespace cloche
