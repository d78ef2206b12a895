#include "policy/gates/decide.hpp"

#include <algorithm>
#include <utility>

#include "policy/gates/gates.hpp"

namespace cloche {
namespace {

// A verdict that came from outside keeps its words, never its gate.
Verdict under(GateId gate, Verdict verdict) {
  verdict.gate = gate;
  return verdict;
}

// Whose sentence is read where several gates refuse. A call that is not offered or cannot be read comes
// first; then what the operator forbids, because the others say how else it could be done.
int rank(const Verdict& verdict) {
  if (verdict.decision != Decision::deny) return 0;
  if (verdict.gate == GateId::loadout || verdict.gate == GateId::schema) return 2;
  return verdict.gate == GateId::rules && !verdict.rule.empty() ? 1 : 0;
}

// The first of them, where several say the same.
const Verdict& strictest(const std::vector<Verdict>& gates) {
  return *std::ranges::max_element(gates, [](const Verdict& a, const Verdict& b) {
    return a.decision != b.decision ? a.decision < b.decision : rank(a) < rank(b);
  });
}

// Asked only when everything else passed; the answer replaces the question.
Verdict approval_gate(const Verdict& others, std::optional<Decision> answer) {
  if (others.decision == Decision::deny)
    return {GateId::approval, Decision::allow, "not asked: the call is refused anyway"};
  if (others.decision == Decision::allow) return {GateId::approval, Decision::allow, "nothing asks"};
  if (answer == Decision::allow) return {GateId::approval, Decision::allow, "approved"};
  if (answer == Decision::deny) return deny(GateId::approval, "the approver said no", forbidden_by_operator);
  Verdict verdict{GateId::approval, Decision::ask, "an approver has to answer: " + others.reason};
  verdict.instead = needs_the_user;
  return verdict;
}

void add_what_was_asked(Launch& launch, const Case& c) {
  for (const auto& name : c.ceilings.pass_env) {
    if (why_left_out(c, name).empty()) launch.pass_env.push_back(name);
  }
  if (c.intent.timeout_ms)
    launch.timeout_ms = std::min(*c.intent.timeout_ms, launch.timeout_ms.value_or(*c.intent.timeout_ms));
}

Launch launch_for(const Case& c, const Shapes& shapes) {
  Launch launch;
  if (c.intent.launch) {
    launch = *c.intent.launch;
    // Toolchains of the caller's are for those who may run anything.
    launch.system_programs = launch.system_programs || c.ceilings.commands != CommandProfile::any;
    if (c.intent.cwd) launch.directory = c.facts.directory();
    add_what_was_asked(launch, c);
    return launch;
  }
  if (const auto match = shape_of(c, shapes)) {
    launch = launch_of(*match, c.intent.argv, c.facts.directory());
  } else {  // any, or an operator's command
    launch.argv = c.intent.argv;
    launch.noexec = launch.system_programs = launch.fresh_home = false;
    launch.network = true;
  }
  if (c.intent.cwd && launch.directory.empty()) launch.directory = c.facts.directory();
  launch.named_files = c.intent.argv;
  launch.input = c.intent.input;
  launch.readonly = c.call.by == Asks::model && c.ceilings.level == Autonomy::readonly;
  add_what_was_asked(launch, c);
  return launch;
}

}  // namespace

const Verdict& decisive(const Judgement& judgement) {
  for (const auto& verdict : judgement.gates) {
    if (verdict.gate == judgement.by) return verdict;
  }
  return judgement.gates.front();
}

Judgement judgement_of(std::vector<Verdict> gates, std::optional<Decision> answer) {
  Judgement judgement{.gates = std::move(gates)};
  const Verdict others = strictest(judgement.gates);
  const Verdict approval = approval_gate(others, answer);
  judgement.gates.push_back(approval);
  // An answer settles what was asked, and nothing that was refused.
  const Verdict& last = others.decision == Decision::ask ? approval : others;
  judgement.decision = last.decision;
  judgement.by = last.decision == Decision::ask ? others.gate : last.gate;
  return judgement;
}

Judgement decide(const Case& c, const Shapes& shapes) {
  Judgement judgement = judgement_of(
      {loadout_gate(c), under(GateId::schema, c.schema), shape_gate(c, shapes), no_shell_gate(c),
       path_gate(c, shapes), env_gate(c), network_gate(c, shapes), under(GateId::rules, c.rules)},
      c.answer);
  const bool acts = c.intent.form != Intent::Form::none || c.intent.launch.has_value();
  if (judgement.decision == Decision::deny || !acts) return judgement;
  judgement.launch = launch_for(c, shapes);
  return judgement;
}

Judgement decide(const Case& c, const Shapes& shapes, Prepared prepared) {
  Judgement judgement = decide(c, shapes);
  if (!judgement.launch) return judgement;
  prepared.launch = *std::exchange(judgement.launch, std::nullopt);
  if (judgement.decision == Decision::allow) {
    judgement.permit = Permit(std::move(prepared));
  } else {
    judgement.waiting = std::move(prepared);
  }
  return judgement;
}

}  // namespace cloche
