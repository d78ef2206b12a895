// The network gate: hosts against what was declared, and who asks.
#include "policy/gates/gates_fixture.hpp"

namespace cloche {
namespace {

using namespace gates_fixture;

// What the model reads, and behind it what the operator reads as well.
std::string refusal_of(const Verdict& verdict) {
  return verdict.reason.text() + (verdict.instead.empty() ? "" : "; " + verdict.instead.text()) +
         (verdict.fix.empty() ? "" : " | " + verdict.fix.text());
}

// A call that wants to reach these hosts.
Case reaching(std::vector<std::string> hosts) {
  Case c = case_of("ls");
  c.intent.hosts = std::move(hosts);
  c.ceilings.network = true;
  c.ceilings.level = Autonomy::full;
  c.ceilings.hosts = {"*.example.org:443"};
  return c;
}

TEST(NetworkGate, HostsAgainstWhatWasDeclared) {
  EXPECT_EQ(network_gate(case_of("ls"), shapes()).decision, Decision::allow);
  Case c = reaching({"api.example.org:443"});
  EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow);
  c.ceilings.level = Autonomy::supervised;
  EXPECT_EQ(network_gate(c, shapes()).decision, Decision::ask);
  c.unasked = true;
  EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << "the skill answers for this tool";
}

TEST(NetworkGate, AutonomyReadonlyCapsAnOperatorsCommandToo) {
  Case c = case_of("ls");
  c.call.by = Asks::operators;
  c.ceilings.level = Autonomy::readonly;
  EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << "it needs none";
  c.intent.hosts = {"localhost:80"};
  c.reach = "U:1 says so";
  EXPECT_EQ(network_gate(c, shapes()).decision, Decision::deny);
  EXPECT_EQ(refusal_of(network_gate(c, shapes())),
            "autonomy readonly has no network: U:1 says so | leave the network out, or raise autonomy there");
}

TEST(NetworkGate, WhatIsNotDeclaredIsRefusedInOneSentence) {
  const struct {
    std::vector<std::string> wanted;
    std::vector<std::string> declared;
    const char* by;
    const char* says;  // empty: allowed
  } rows[] = {
      {{"evil.example:443"},
       {"api.example.org"},
       "skill code-review, needs_network",
       "egress: connect to evil.example:443 refused: not declared (skill code-review, "
       "needs_network: [api.example.org]); use what is declared, or tell the user which host is needed and "
       "why | "
       "declare it there; for a skill of a project the operator has to give --net evil.example:443 as well"},
      {{"api.example.org:443", "evil.example:80"},
       {"*.example.org"},
       "",
       "egress: connect to evil.example:80 refused: not declared (the operator: [*.example.org]); "
       "use what is declared, or tell the user which host is needed and why | give --net evil.example:80"},
      {{"api.example.org:8443"},
       {"*"},
       "",
       "egress: connect to api.example.org:8443 refused: not declared (the operator: [any public name]); use "
       "what "
       "is declared, or tell the user which host is needed and why | give --net api.example.org:8443"},
      {{"localhost:443"},
       {"*"},
       "",
       "egress: connect to localhost:443 refused: not declared (the operator: [any public name]); use what "
       "is "
       "declared, or tell the user which host is needed and why | give --net localhost:443"},
      {{"api.example.org:80"}, {"*"}, "", ""},
      {{"localhost:8080"}, {"localhost:8080"}, "", ""},
      {{"a.org:443"},
       {},
       "skill s, needs_network",
       "egress: connect to a.org:443 refused: not declared (skill s, needs_network: []); "
       "use what is declared, or tell the user which host is needed and why | declare it there; for a skill "
       "of a "
       "project the operator has to give --net a.org:443 as well"},
      {{"10.0.0.1:80"},
       {"*"},
       "",
       "'10.0.0.1:80' is not the name of a host: it is an address, and hosts go by their names; "
       "write NAME or NAME:PORT"},
  };
  for (const auto& row : rows) {
    Case c = reaching(row.wanted);
    c.ceilings.hosts = row.declared;
    c.ceilings.declared_by = row.by;
    const Verdict verdict = network_gate(c, shapes());
    EXPECT_EQ(verdict.decision == Decision::allow ? "" : refusal_of(verdict), row.says) << row.wanted.back();
  }
  EXPECT_EQ(network_gate(reaching({std::string("evil.example\0.example.org", 24)}), shapes()).decision,
            Decision::deny);
}

TEST(NetworkGate, ProfileAndAutonomyCapIt) {
  Case c = reaching({"api.example.org:443"});
  c.ceilings.network = false;
  EXPECT_EQ(refusal_of(network_gate(c, shapes())),
            "the sandbox profile has no network; do without the network | give --profile workspace-write");
  c = reaching({"api.example.org:443"});
  c.ceilings.level = Autonomy::readonly;
  EXPECT_EQ(refusal_of(network_gate(c, shapes())),
            "autonomy readonly has no network; do without the network | raise --autonomy");
  c = reaching({"api.example.org:443"});
  c.ceilings.hosts.clear();
  c.ceilings.network_problem =
      "skill s says needs_network: true and names no host, and the operator gives none";
  EXPECT_EQ(refusal_of(network_gate(c, shapes())),
            "skill s says needs_network: true and names no host, and the operator gives none; "
            "do without the network | list the hosts in needs_network, or give --net HOST or --net-any");
}

TEST(NetworkGate, WhatACommandMayReachIsSaid) {
  Case c = case_of("python3 x.py", CommandProfile::full);
  c.ceilings.network = true;
  c.ceilings.hosts = {"a.org", "b.org:8443"};
  EXPECT_EQ(network_gate(c, shapes()).reason.text(),
            "autonomy supervised asks before it uses the network: it may reach what is declared (the "
            "operator: [a.org, "
            "b.org:8443])");
  c.ceilings.level = Autonomy::full;
  EXPECT_EQ(network_gate(c, shapes()).reason.text(),
            "it may reach what is declared (the operator: [a.org, b.org:8443])");
  c = case_of("ls");
  c.ceilings.network = true;
  c.ceilings.hosts = {"a.org"};
  EXPECT_EQ(network_gate(c, shapes()).reason.text(), "the call needs no network")
      << "passive commands have none";
}

// By operator or skill, whichever declared the hosts: what runs with a network is asked about, and nothing
// else is.
TEST(NetworkGate, SupervisedAsksForEveryCallThatRunsWithANetwork) {
  using Start = Case (*)(CommandProfile);
  const Start command = [](CommandProfile most) { return case_of("python3 x.py", most); };
  const Start passive = [](CommandProfile most) { return case_of("ls", most); };
  const Start script = [](CommandProfile) {
    Case c = case_of("");
    c.intent = {.tool = "run_script", .launch = Launch{.argv = {"bash"}, .network = true}, .opaque = true};
    return c;
  };
  const Start alone = [](CommandProfile) {
    Case c = case_of("");
    c.intent = {.tool = "run_python", .launch = Launch{.argv = {"python3"}}};
    return c;
  };
  const Start file_tool = [](CommandProfile) {
    Case c = case_of("");
    c.intent = {.tool = "read_artifact", .launch = Launch{.network = true}};
    return c;
  };
  const Start operators = [](CommandProfile most) {
    Case c = case_of("python3 x.py", most);
    c.call.by = Asks::operators;
    return c;
  };
  const struct {
    const char* what;
    Start start;
    CommandProfile most;
    std::vector<std::string> hosts;
    Decision answer;
  } rows[] = {
      {"a command", command, CommandProfile::full, {"a.org"}, Decision::ask},
      {"any public name", command, CommandProfile::any, {"*"}, Decision::ask},
      {"every command is any", passive, CommandProfile::any, {"a.org"}, Decision::ask},
      {"a script", script, CommandProfile::passive, {"a.org"}, Decision::ask},
      {"no host", command, CommandProfile::full, {}, Decision::allow},
      {"a passive session", passive, CommandProfile::passive, {"a.org"}, Decision::allow},
      {"a passive shape in a wider one", passive, CommandProfile::full, {"a.org"}, Decision::allow},
      {"code that has none", alone, CommandProfile::full, {"a.org"}, Decision::allow},
      {"nothing is started", file_tool, CommandProfile::full, {"a.org"}, Decision::allow},
      {"an operator's command", operators, CommandProfile::any, {"a.org"}, Decision::allow},
  };
  for (const auto& row : rows) {
    Case c = row.start(row.most);
    c.ceilings.level = Autonomy::supervised;
    c.ceilings.network = true;
    c.ceilings.hosts = row.hosts;
    EXPECT_EQ(network_gate(c, shapes()).decision, row.answer) << row.what;
    c.ceilings.declared_by = "skill s, needs_network";
    EXPECT_EQ(network_gate(c, shapes()).decision, row.answer) << row.what << ", of a skill";
    c.unasked = true;
    EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << row.what << ", which the skill answers";
    c.unasked = false;
    c.ceilings.level = Autonomy::full;
    EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << row.what << ", autonomy full";
    c.ceilings.level = Autonomy::supervised;
    c.ceilings.network = false;
    EXPECT_EQ(network_gate(c, shapes()).decision, Decision::allow) << row.what << ", a profile without";
  }
}

}  // namespace
}  // namespace cloche
