#include "gateway/approval/judge_for_hook.hpp"

#include <algorithm>

#include "base/text/visible_text.hpp"
#include "gateway/approval/ask_approval.hpp"
#include "gateway/configuration/rule_gate.hpp"
#include "policy/rules/rules.hpp"
#include "store/workspace/task_home.hpp"
#include "tools/answer/model_text.hpp"
#include "tools/answer/process_output.hpp"

namespace cloche {
namespace {

Result<void> write_down(Gateway& gateway, DecisionRecord decided, const std::string& said,
                        const Outcome& outcome) {
  Run* run = gateway.record();
  if (run == nullptr) return {};
  decided.advisory = true;
  CallRecord record{.decided = std::move(decided), .call_id = {}, .result = said, .outcome = outcome};
  return run->write(record);
}

// What the agent will do is not ours to see: that nothing stood against it is all there is to write.
Outcome outcome_of(const Advice& advice, const Verdict& last) {
  if (advice.decision == Decision::deny) return refused_by(last);
  return {.end = End::exited, .exit_code = 0, .backend = Unboxed::advisory};
}

Advice advice_of(const Judgement& judgement) {
  Advice advice{.decision = judgement.decision, .approvers = approvers_of(judgement)};
  // A person reads why there is a question; what a model reads is a refusal.
  if (advice.decision == Decision::ask) advice.reason = decisive(judgement).reason.text();
  if (advice.decision == Decision::deny) advice.reason = refusal_text(decisive(judgement));
  return advice;
}

bool goes_back(const Judgement& judgement, OnAsk on_ask) {
  return on_ask == OnAsk::hand_back && approvers_of(judgement) == Approvers::anyone;
}

ApprovalSubject subject_by_agent(const ToolCall& asked, const Judgement& judgement,
                                 const std::string& workspace, const std::string& task) {
  ApprovalSubject subject{.tool = asked.tool, .input = asked.arguments, .by_agent = true};
  subject.session = task;
  subject.plan.directory = subject.plan.workspace = workspace;
  subject.reasons = reasons_to_ask(judgement);
  subject.approvers = approvers_of(judgement);
  return subject;
}

// The answer in the judgement's place.
void settle(Judgement& judgement, const std::optional<Verdict>& no) {
  const Verdict yes{GateId::approval, Decision::allow, "approved"};
  judgement.gates.push_back(no ? *no : yes);
  judgement.by = GateId::approval;
  judgement.decision = no ? Decision::deny : Decision::allow;
}

bool is_isolated(const Judged& judged) {
  return judged.plan() != nullptr && judged.plan()->backend != Backend::none;
}

// No yes of the gates is one to a command that nothing holds.
void settle_without_isolation(Judgement& judgement, OnAsk on_ask) {
  std::erase_if(judgement.gates, [](const Verdict& one) { return one.gate == GateId::approval; });
  const Decision decision = on_ask == OnAsk::hand_back ? Decision::ask : Decision::deny;
  Verdict verdict{GateId::approval, decision,
                  "there is no isolation, the operator has switched it off: the command would run with "
                  "everything that you may do"};
  verdict.instead = needs_the_user;
  verdict.fix = "switch isolation on: `enabled`, CLOCHE_SANDBOX";
  judgement.gates.push_back(std::move(verdict));
  judgement.by = GateId::approval;
  judgement.decision = decision;
}

// What the command itself would end with. An agent that hears a yes believes that it runs.
std::optional<Error> missing_box(const Gateway& gateway, const Judged& judged) {
  if (!is_isolated(judged)) return std::nullopt;
  const auto& plan = *judged.plan();
  const auto landlock = std::ranges::find(plan.required, LayerId::landlock);
  const Offer offer = gateway.session().levels->offer(
      plan.backend, landlock == plan.required.end() ? Landlock::optional : Landlock::required);
  if (offer.works || !offer.tried) return std::nullopt;
  return Error{Cause::missing_layer, offer.why, 0, offer.fix, offer.layer};
}

// Only ever asked about by name and words: what would happen is not known here.
Advice answered(Judgement& judgement, const ToolCall& asked, const std::string& workspace,
                const std::string& task, Approver& approver) {
  std::string approved;
  RememberingApprover listening(approver, approved);
  const auto subject = [&] { return subject_by_agent(asked, judgement, workspace, task); };
  const auto no = Questions().ask(subject, listening);
  std::erase_if(judgement.gates, [](const Verdict& one) { return one.gate == GateId::approval; });
  settle(judgement, no);
  Advice advice = advice_of(judgement);
  advice.approved = approved;
  return advice;
}

Result<Advice> finish(Gateway& gateway, Judgement& judgement, DecisionRecord decided, const ToolCall& asked,
                      Approver& approver, OnAsk on_ask) {
  Advice advice = advice_of(judgement);
  if (advice.decision == Decision::ask && !goes_back(judgement, on_ask))
    advice = answered(judgement, asked, gateway.session().workspace, decided.task_id, approver);
  decided.decision = judgement.decision;
  decided.verdicts = judgement.gates;
  TRY(write_down(gateway, std::move(decided), advice.reason, outcome_of(advice, decisive(judgement))));
  return advice;
}

bool names_a_rule(const Verdict& verdict) { return verdict.rule.starts_with("permissions.rules["); }

}  // namespace

Result<Advice> advise(Gateway& gateway, const ToolCall& asked, const ToolCall& judged_as,
                      const CallContext& context, Approver& approver, OnAsk on_ask) {
  Judged judged = TRY(
      judge(gateway.session(), judged_as,
            {.skill = context.skill, .runtime_settings = gateway.runtime_settings(), .named = {&asked, 1}}));
  return finish(gateway, judged.judgement, decision_of(judged, asked, context), asked, approver, on_ask);
}

Result<Advice> advise_by_rules(Gateway& gateway, const ToolCall& asked, Decision unsaid,
                               const std::string& why, const CallContext& context, Approver& approver,
                               OnAsk on_ask) {
  Verdict verdict = rules_gate(gateway.session().rules, TRY(rule_call(asked)));
  if (!names_a_rule(verdict) && verdict.decision < unsaid) {
    const std::string unknown = "Cloche does not know what the tool " + shown(asked.tool, 80) + " does";
    verdict = {GateId::rules, unsaid, why.empty() ? unknown : why};
    verdict.instead = needs_the_user;
    verdict.fix = "allow it by a rule that names it";
  }
  Judgement judgement{.gates = {verdict}, .decision = verdict.decision, .by = GateId::rules};
  return finish(gateway, judgement, undecided(asked, context), asked, approver, on_ask);
}

Result<Advice> advise_agent_only(Gateway& gateway, const ToolCall& asked, const ToolCall& judged,
                                 const std::string& known, const CallContext& context, Approver& approver,
                                 OnAsk on_ask) {
  const RuleFiles& rules = gateway.session().rules;
  Verdict verdict = rules_gate(rules, TRY(rule_call(judged)));
  if (asked.tool != judged.tool)
    verdict =
        stricter(std::move(verdict), TRY(rules_verdict_by_name(rules, asked, Intent{.tool = judged.tool})));
  if (verdict.decision == Decision::allow && !names_a_rule(verdict)) verdict.reason = known;
  Judgement judgement{.gates = {verdict}, .decision = verdict.decision, .by = GateId::rules};
  return finish(gateway, judgement, undecided(asked, context), asked, approver, on_ask);
}

Result<Advice> admit(Gateway& gateway, const ToolCall& asked, const ToolCall& judged_as,
                     const CallContext& context, Approver& approver, OnAsk on_ask) {
  const auto home = TRY(gateway.home_of(judged_as, context));
  const std::span<const ToolCall> named = context.named.empty() ? std::span(&asked, 1) : context.named;
  Judged judged =
      TRY(judge(gateway.session(), judged_as, {context.skill, home, gateway.runtime_settings(), named}));
  Advice advice = advice_of(judged.judgement);
  if (const auto missing = missing_box(gateway, judged)) {  // no question about what cannot run
    TRY(write_down(gateway, decision_of(judged, asked, context), failure_text(*missing), failed(*missing)));
    return *missing;
  }
  if (advice.decision == Decision::ask && goes_back(judged.judgement, on_ask)) {
    const auto made = make_question(subject_of(judged));
    if (const auto* question = std::get_if<Question>(&made)) {
      advice.approved = question->digest;
    } else {
      answer(judged, gateway.session(), std::get<Verdict>(made));
      advice = advice_of(judged.judgement);
    }
  } else if (advice.decision == Decision::ask) {
    std::string approved;
    RememberingApprover listening(approver, approved);
    Questions questions;
    answer(judged, gateway.session(), ask_about(judged, questions, listening));
    advice = advice_of(judged.judgement);
    advice.approved = approved;
    advice.answered_by_operator = approver.speaks_for_operator();
  }
  if (advice.decision != Decision::deny && !is_isolated(judged)) {
    settle_without_isolation(judged.judgement, on_ask);
    Advice unheld = advice_of(judged.judgement);
    unheld.approved = std::move(advice.approved);
    unheld.answered_by_operator = advice.answered_by_operator;
    advice = std::move(unheld);
  }
  advice.isolated = is_isolated(judged);
  if (judged.plan() != nullptr) advice.level = judged.plan()->level;
  advice.box_notes = judged.box_notes;
  if (advice.decision == Decision::deny)
    TRY(write_down(gateway, decision_of(judged, asked, context), advice.reason,
                   outcome_of(advice, decisive(judged.judgement))));
  return advice;
}

}  // namespace cloche
