#include "doors/judged_run.hpp"

#include "doors/arguments.hpp"
#include "doors/explain_command.hpp"
#include "doors/kept_run.hpp"
#include "doors/print.hpp"
#include "doors/recorded_run.hpp"
#include "gateway/asking.hpp"
#include "gateway/configuration.hpp"
#include "gateway/explain.hpp"
#include "gateway/unlooked_configuration.hpp"
#include "store/task_home.hpp"
#include "tools/model_text.hpp"

namespace cloche {
namespace {

constexpr const char* network_is_shared =
    "network isolation is off by the operator's own --net-host: the command has the host's whole network, "
    "its "
    "loopback services and private addresses too, and none of it is judged or counted";

NamedFiles named_files_of(const Explanation& explanation) {
  return {explanation.judgement.launch->named_files,
          {explanation.plan->directory, explanation.plan->workspace}};
}

ApprovalSubject subject_of(const Explanation& explanation) {
  const NamedFiles named = named_files_of(explanation);
  return {.tool = "run",
          .plan = *explanation.plan,
          .files = files_named(named.words, named.directories),
          .reasons = reasons_to_ask(explanation.judgement),
          .approvers = approvers_of(explanation.judgement)};
}

// A dry run answers as `explain` does, a run as a run.
int cannot_judge(const Error& error, const RunArguments& arguments) {
  const Outcome outcome = outcome_of(error, arguments.request);
  if (!arguments.dry_run || !arguments.json) return finish_run(outcome, "", arguments);
  print(explain_json(error));
  return outcome.exit_code;
}

}  // namespace

int judged_run_door(std::span<char* const> words, const Environment& environment,
                    const CallersDescriptors& callers, Approver& approver) {
  auto parsed = parse_run(words);
  if (!parsed.ok() || parsed.value().help) return run_door(words, environment, callers);
  RunArguments& arguments = parsed.value();
  if (arguments.call) return kept_run_door(*arguments.call, environment);
  const auto installation = find_installation(environment);
  if (!installation.ok()) return cannot_judge(installation.error(), arguments);
  if (arguments.task && !arguments.run) {
    const auto place = judge_state(installation.value().state, arguments.request);
    if (!place.ok()) return cannot_judge(place.error(), arguments);
  }
  if (!arguments.dry_run) {
    const RunRequest& said = arguments.request;
    const auto looked = take_unlooked_configuration({arguments.run, said.workspace, said.allow_protected},
                                                    environment, installation.value());
    if (!looked.ok()) return cannot_judge(looked.error(), arguments);
  }
  auto prepared = RecordedRun::prepare(arguments, environment);
  if (!prepared.ok()) return cannot_judge(prepared.error(), arguments);
  RecordedRun& record = *prepared.value();
  auto notes = configure_run(arguments.request, environment, installation.value());
  if (!notes.ok()) return cannot_judge(notes.error(), arguments);
  record.lower_limits(arguments.request);
  say_notes(notes.value(), arguments);
  record.note(notes.value());
  const auto explained = explain_run(arguments.request, environment, installation.value());
  if (!explained.ok()) return cannot_judge(explained.error(), arguments);
  const Explanation& explanation = explained.value();
  if (arguments.request.network == Network::of_host && explanation.judgement.decision != Decision::deny) {
    notes.value().emplace_back(network_is_shared);
    say_notes({network_is_shared}, arguments);
    record.note(notes.value());
  }
  if (arguments.dry_run && arguments.json) {
    print(explain_json(explanation));
    return explanation.judgement.decision == Decision::deny ? 126 : 0;
  }
  std::optional<Outcome> refusal;
  OwnedFd alone;  // of an approved command: nobody changes what it names until it has ended
  if (explanation.judgement.decision == Decision::deny) {
    refusal = refused_command(decisive(explanation.judgement));
  } else if (explanation.judgement.decision == Decision::ask && !arguments.dry_run) {
    FilesHeld held(installation.value().state, *explanation.plan, named_files_of(explanation),
                   {.most_ms = explanation.plan->limits.wall_ms, .waits = complain_of_wait});
    const auto no = Questions().ask([&] { return subject_of(explanation); }, approver, held);
    if (no) refusal = refused_command(*no);
    alone = held.take();
  }
  record.judged(explanation);
  OwnedFd turn;  // in the task, held until the command has ended
  if (!refusal && !arguments.dry_run) {
    auto entered = enter_task(*explanation.plan, arguments.request.own, complain_of_wait);
    if (!entered.ok()) return cannot_judge(entered.error(), arguments);
    turn = std::move(entered).value();
  }
  if (!refusal) return run_parsed(std::move(arguments), environment, callers, &record);
  if (!arguments.dry_run) {
    if (const auto written = record.before(); !written.ok()) return cannot_judge(written.error(), arguments);
    record.after(*refusal, nullptr);
  }
  return finish_run(*refusal, "", arguments);
}

}  // namespace cloche
