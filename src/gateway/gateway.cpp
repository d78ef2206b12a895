#include "gateway/gateway.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "gateway/guarded_function.hpp"
#include "gateway/launch/caller.hpp"
#include "gateway/protected/unlooked_configuration.hpp"
#include "policy/plan/plan_run.hpp"
#include "store/host/callers_home.hpp"
#include "store/record/spill.hpp"
#include "store/task_home.hpp"
#include "store/workspace/workspace_files.hpp"
#include "tools/answer/model_text.hpp"
#include "tools/answer/process_output.hpp"
#include "tools/commands/executor_call.hpp"
#include "tools/files/artifacts.hpp"
#include "tools/files/recall.hpp"
#include "tools/session_conditions.hpp"

namespace cloche {
namespace {

// Relayed to the command through a pipe; it never has this descriptor.
Result<OwnedFd> input_of(const std::string& text) {
  OwnedFd fd(::memfd_create("cloche-input", MFD_CLOEXEC));
  if (!fd) return system_error("make room for the command's input");
  TRY(sys::write_all(fd.get(), text));
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return system_error("rewind the command's input");
  return fd;
}

Result<RunPlace> make_place(const SessionOptions& options, const Installation& installation) {
  const std::string& state = installation.state;
  if (options.run) return place_given_run(*options.run, state);
  if (state.empty())
    return refusal("there is no state directory to keep a run in: " + installation.no_state,
                   "name one with --run DIR, or set XDG_STATE_HOME");
  TRY(judge_state(state, options.operators));
  return options.run_name.empty() ? place_new_run(state) : place_named_run(options.run_name, state);
}

// What the gateway did itself: a process that never was has no exit code of its own.
Outcome acted(const ToolReply& reply) {
  Outcome outcome;
  outcome.end = End::exited;
  outcome.exit_code = reply.failed ? 1 : 0;
  outcome.backend = Unboxed::in_process;
  outcome.output = reply.text;
  outcome.output_bytes = reply.text.size();
  return outcome;
}

bool is_called_off(const CallContext& context) {
  pollfd stop{context.stop, POLLIN, 0};
  return context.stop >= 0 && ::poll(&stop, 1, 0) > 0;
}

// As one that was ended while it ran, but that it never did.
Outcome called_off() {
  Outcome outcome;
  outcome.end = End::signaled;
  outcome.signal = SIGKILL;
  outcome.exit_code = 128 + SIGKILL;
  outcome.reason = "cancelled by the caller before it began";
  return outcome;
}

class TaskResults : public Results {
 public:
  TaskResults(Run& run, std::string task) : run_(run), task_(std::move(task)) {}
  Result<FilePart> recall(const std::string& call_id, uint64_t offset, uint64_t most) override {
    return run_.recall(task_, call_id, offset, most);
  }

 private:
  Run& run_;
  std::string task_;
};

}  // namespace

Outcome failed(const Error& error) {
  Outcome outcome;
  outcome.end = End::failed;
  outcome.exit_code = 125;
  outcome.reason = error.what;
  if (!error.fix.empty()) outcome.advice = "; " + error.fix;
  return outcome;
}

Outcome failed_command(const Error& error, const RunRequest& request) {
  Outcome outcome = failed(error);
  outcome.backend = backend_of(request);
  if (error.cause == Cause::configuration || error.cause == Cause::usage) outcome.end = End::refused;
  if (error.cause == Cause::usage) outcome.exit_code = 2;
  return outcome;
}

std::optional<Verdict> ask_about(Judged& judged, Questions& questions, Approver& approver,
                                 const std::string& state, const CallContext& context) {
  const ConfinementPlan& plan = *judged.plan();
  FilesHeld held(state, plan, named_files_of(judged), context.patience(plan.limits.wall_ms));
  auto no = questions.ask([&] { return subject_of(judged); }, approver, held);
  if (!no) judged.turn = held.take();
  return no;
}

DecisionRecord undecided(const ToolCall& asked, const CallContext& context) {
  DecisionRecord record;
  record.task_id = context.task.value_or(std::string(task_without_name));
  record.role = context.role;
  record.tool = asked.tool;
  record.args = asked.arguments;
  return record;
}

DecisionRecord decision_of(const Judged& judged, const ToolCall& asked, const CallContext& context) {
  DecisionRecord record = undecided(asked, context);
  record.decision = judged.judgement.decision;
  record.verdicts = judged.judgement.gates;
  record.plan_digest = judged.plan_digest();
  if (const auto* plan = judged.plan(); plan != nullptr && !plan->argv.empty())
    record.runs = quote_words(plan->argv);
  record.opaque = judged.c.intent.opaque;
  record.notes = judged.notes;
  return record;
}

std::vector<Denial> left_out_of(const RunRequest& request) {
  std::vector<Denial> denials;
  for (const auto& name : secrets_left_out(request)) {
    denials.push_back({GateId::env, name + " is left out: it looks like a secret; -e " + name +
                                        "=VALUE gives it knowingly"});
  }
  return denials;
}

WriteOptions write_options(const Settings& settings) {
  return {.sync = settings.durable.value ? FileSync::at_once : FileSync::later};
}

void Gateway::end_tasks() {
  if (run_) remove_task_homes(run_->place());
}

// What an executor that ended well printed is the result itself. False: it is to be shown as a program's.
bool Gateway::take_answer(const RegisteredTool& tool, Effect& effect, const OutputBudget& budget) {
  Outcome& outcome = effect.outcome;
  if (outcome.end != End::exited || outcome.exit_code != 0) return false;
  if (const auto bad = fault_of_answer(outcome.output, tool.output)) {
    outcome.answer_fault = bad->fault;
    outcome.exit_code = 1;  // as of a tool of ours that could not do it
    outcome.reason = "[ERROR] executor '" + tool.spec.name + "': " + bad->why;
    effect.raw = outcome.reason.text() + "\n" + outcome.output;
    effect.shown = shown_within(neutralised(outcome.reason.text()), budget);
    return true;
  }
  effect.raw = outcome.output;
  effect.structured = json_on_one_line(outcome.output);
  effect.shown = shown_within(neutralised(outcome.output), budget);
  return true;
}

Result<std::unique_ptr<Gateway>> Gateway::open(SessionOptions options, const Environment& callers) {
  const Environment environment = with_home_from_database(callers);
  TRY(callers_home(environment));  // before what depends on it is missed
  const Installation installation = TRY(find_installation(environment, options.programs));
  std::optional<RunPlace> place;  // first, because the workspace may lie in it
  if (options.record == Registry::Record::kept) place = TRY(make_place(options, installation));
  const RunRequest& said = options.operators;
  TRY(take_unlooked_configuration({options.run, said.workspace, said.allow_protected}, environment,
                                  installation));
  Session session = TRY(load_session(std::move(options), environment, installation));
  // In the host's view it can only be masked when it is there, and the first call makes it.
  if (session.options.operators.view == View::host && !installation.state.empty())
    (void)make_private_directories(installation.state);
  const Durability durability = session.settings.durable.value ? Durability::durable : Durability::buffered;
  std::unique_ptr<Run> run;
  if (place) {
    run = TRY(Run::open(*place, durability));
    if (place->layout == RunLayout::state) session.options.operators.hidden = place->own_files();
  }
  return std::unique_ptr<Gateway>(new Gateway(std::move(session), std::move(run)));
}

Dials Gateway::dials() const {
  const std::lock_guard held(dialling_);
  return dials_;
}

Result<void> Gateway::turn(const Dials& wanted) {
  TRY(judge_dials(wanted, session_.settings, session_.profiles));
  const std::lock_guard held(dialling_);
  if (wanted.autonomy) dials_.autonomy = wanted.autonomy;
  if (wanted.default_profile) dials_.default_profile = wanted.default_profile;
  if (wanted.enabled) dials_.enabled = wanted.enabled;
  return {};
}

Result<void> Gateway::set_autonomy(Autonomy level) { return turn({.autonomy = level}); }
Result<void> Gateway::set_default_profile(const std::string& name) { return turn({.default_profile = name}); }
Result<void> Gateway::set_enabled(bool enabled) { return turn({.enabled = enabled}); }

Result<std::vector<ToolSpec>> Gateway::tools(const Skill* skill) const {
  return visible_tools(session_, skill, dials());
}

Result<std::vector<std::string>> Gateway::prove_box(const CallContext& context) const {
  Judged judged = TRY(judge(session_, {"run_shell", R"({"argv":["true"]})"}, {context.skill, {}, dials()}));
  const Prepared* prepared = judged.judgement.prepared();
  if (prepared == nullptr) return std::vector<std::string>{};  // no command runs here
  TRY(prove_plan(prepared->plan, prepared->seen.facts.caller, session_.installation));
  return std::move(judged.box_notes);
}

CallResult Gateway::call(const ToolCall& asked, const CallContext& context, Approver& approver) {
  Tries tries;
  for (;;) {
    Attempt once = attempt(asked, context, approver, tries);
    if (!once.voided) return std::move(once.result);
    tries.learnt.add(std::move(once.voided->learnt));
  }
}

Gateway::Attempt Gateway::attempt(const ToolCall& asked, const CallContext& context, Approver& approver,
                                  Tries& tries) {
  CallResult result{.tool = asked.tool};
  if (run_) result.run_id = run_->place().run_id();
  const auto as_outcome = [&](const Error& error) {
    return asked.by == Asks::operators ? failed_command(error, session_.options.operators) : failed(error);
  };
  const auto fail = [&](const Error& error) {
    result.outcome = as_outcome(error);
    result.result = shown_text(result.outcome, asked.tool, {});
    return Attempt{std::move(result)};
  };
  // What could not be judged is written down all the same: it was asked for.
  const auto give_up = [&](const Error& error) {
    CallRecord record{.decided = undecided(asked, context)};
    record.outcome = as_outcome(error);
    record.result = shown_text(record.outcome, asked.tool, {});
    if (auto call_id = write_down(record); call_id.ok()) {
      result.call_id = std::move(call_id).value();
    } else {
      result.notes.push_back("it is not in the record: " + describe(call_id.error()));
    }
    return fail(error);
  };
  std::optional<Seat> seat;
  const auto take_seat = [&](const RunRequest& request, const CallerFact& caller) {
    if (!judge_caller(request, caller).ok()) return;  // said once the request has its box
    auto taken =
        Seat::take(caller, request.limits, session_.installation, {backend_of(request), request.network});
    if (taken.ok()) seat.emplace(std::move(taken).value());
  };
  CallersView view{.skill = context.skill, .dials = dials(), .named = context.named, .learnt = tries.learnt};
  if (context.starts_early) view.early = take_seat;
  AtHome at_home;
  auto judging = judge_at_home(asked, std::move(view), context, at_home);
  if (!judging.ok()) return give_up(judging.error());
  Judged& judged = judging.value();

  if (judged.judgement.decision == Decision::ask) {
    seat.reset();  // an answer may take hours
    RememberingApprover remembering(approver, tries.approved);
    const auto no = ask_about(judged, questions_, remembering, session_.installation.state, context);
    answer(judged, session_, no);
  }

  if (context.noted && tries.learnt.times == 0) context.noted(judged.notes);
  CallRecord record{.decided = decision_of(judged, asked, context)};
  if (run_) {  // no record, no effect
    auto begun = run_->begin(record.decided);
    if (!begun.ok()) return fail(begun.error());
    record.call_id = result.call_id = std::move(begun).value();
  }
  Effect effect;
  if (auto permit = std::exchange(judged.judgement.permit, std::nullopt)) {
    effect = execute(*std::move(permit), judged, {context, approver, at_home.own}, record, std::move(seat));
    if (at_home.use.granted() && effect.outcome.limit == LimitId::tmp) {
      home_->start_over(at_home.generation);
      effect.shown += "\n[$HOME and /tmp had become too large and are emptied: the next call has new ones]";
    }
  } else {
    const Verdict& no = decisive(judged.judgement);
    effect.outcome = asked.by == Asks::operators ? refused_command(no) : refused_by(no);
    effect.raw = effect.shown = effect.outcome.reason.text();
  }
  const bool again = effect.voided && tries.learnt.times < most_judged_again;
  if (!again) add_found(effect.outcome, std::move(tries.learnt.found));
  record.result = effect.shown;
  record.outcome = std::move(effect.outcome);
  if (again)
    record.decided.notes.push_back(
        "nothing was started: what the plan was made from had changed, and the call is judged again");
  if (run_) {
    if (const auto kept = run_->finish(record, raw_of(effect, record.outcome)); !kept.ok())
      judged.notes.push_back("the record is not complete: " + describe(kept.error()));
  }
  result.result = std::move(effect.shown);
  result.structured = std::move(effect.structured);
  result.image = std::move(effect.image);
  result.outcome = std::move(record.outcome);
  result.plan_digest = record.decided.plan_digest;
  result.notes = std::move(judged.notes);
  result.box_notes = std::move(judged.box_notes);
  result.judgement = std::move(judged.judgement);
  return {std::move(result), again ? std::move(effect.voided) : std::nullopt};
}

Result<std::string> Gateway::write_down(CallRecord& record) {
  if (!run_) return std::string();
  record.call_id = TRY(run_->begin(record.decided));
  TRY(run_->finish(record, record.result));
  return record.call_id;
}

Result<void> Gateway::share_home() {
  home_ = TRY(SharedHome::make(session_.installation.state));
  return {};
}

// What else there is starts nothing, or runs beside the session's commands with rights of its own.
bool Gateway::may_have_shared_home(const ToolCall& asked, const CallContext& context) const {
  const RegisteredTool* tool = session_.registry.find(asked.tool);
  return home_ && context.of_session && !context.task && tool != nullptr && !tool->executor &&
         starts_of(tool->spec.name) == Starts::command;
}

// With the session's home where the call may have it. A call that needs an approval has none of it: what
// other calls have left there is no part of the question.
Result<Judged> Gateway::judge_with_shared_home(const ToolCall& asked, const CallersView& view,
                                               const CallContext& context, AtHome& at_home) {
  const auto judged_with = [&](std::vector<Grant> own) {
    CallersView with = view;
    with.own = std::move(own);
    return judge(session_, asked, with);
  };
  SharedHome::Offer offer = TRY(home_->offer());
  Judged judged = TRY(judged_with(offer.grants));
  // Where something that is shown lies in /tmp, others could move it away: then only the home is shared.
  if (const auto* plan = judged.plan();
      plan != nullptr && company_of(*plan, offer.grants, pinned(context)) == Company::alone) {
    std::erase_if(offer.grants, [](const Grant& grant) { return grant.target == "/tmp"; });
    judged = TRY(judged_with(offer.grants));
  }
  const Prepared* prepared = judged.judgement.prepared();
  if (prepared == nullptr || prepared->launch.fresh_home) return judged;
  if (judged.judgement.decision == Decision::allow)
    at_home.use = home_->enter(rights_of(prepared->launch, judged.request), offer.generation);
  if (!at_home.use.granted()) return judged_with({});
  at_home.own = std::move(offer.grants);
  at_home.generation = offer.generation;
  return judged;
}

Result<Judged> Gateway::judge_at_home(const ToolCall& asked, CallersView view, const CallContext& context,
                                      AtHome& at_home) {
  if (may_have_shared_home(asked, context)) return judge_with_shared_home(asked, view, context, at_home);
  view.own = at_home.own = TRY(home_of(asked, context));
  return judge(session_, asked, view);
}

// Made before anything is judged, because the plan names them; they are Cloche's own and private.
Result<std::vector<Grant>> Gateway::home_of(const ToolCall& asked, const CallContext& context) const {
  if (!context.task || !run_) return std::vector<Grant>{};
  if (asked.by == Asks::operators) return task_grants(TRY(make_task_home(run_->place(), *context.task)));
  // For what will be refused at the door nothing is made.
  const RegisteredTool* tool = session_.registry.find(asked.tool);
  if (tool == nullptr || !is_in_loadout(TRY(authority_for(session_, context.skill)), *tool))
    return std::vector<Grant>{};
  const std::string executor = tool->executor ? tool->executor->name : "";
  const TaskHome home = TRY(make_task_home(run_->place(), *context.task, executor));
  return task_grants(home);
}

Gateway::Effect Gateway::execute(Permit permit, Judged& judged, const Asker& asker, CallRecord& record,
                                 std::optional<Seat> seat) {
  const Launch& launch = permit.launch();
  if (is_called_off(asker.context)) {
    Effect effect{.outcome = called_off()};
    effect.raw = effect.shown = shown_text(effect.outcome, judged.c.call.tool, {});
    return effect;
  }
  if (launch.as<FunctionCall>() != nullptr) return ask_function(permit, record.call_id);
  if (launch.argv.empty()) return act(permit, judged, asker.context, record.decided.task_id);
  if (launch.as<Fetch>() != nullptr) return fetch(permit, judged, asker, record);
  return start(permit, judged, asker.context, record.call_id, std::move(seat));
}

// An approved call has it already.
Result<OwnedFd> Gateway::turn_of(const Permit& permit, Judged& judged, std::vector<std::string> changes,
                                 const CallContext& context) const {
  if (judged.turn || judged.c.call.by == Asks::operators) return std::move(judged.turn);
  return take_turn(session_.installation.state, {.changes = std::move(changes)},
                   context.patience(permit.plan().limits.wall_ms));
}

Result<std::variant<Ran, Voided>> Gateway::launch(const Permit& permit, Judged& judged,
                                                  const CallContext& context, const std::string& call_id,
                                                  const Spilled& spilled, std::optional<Seat> seat) {
  const Launch& launch = permit.launch();
  const ConfinementPlan& plan = permit.plan();
  const OwnedFd input = TRY(input_of(launch.input.value_or("")));
  // Both are held until it has ended, and everybody takes them in this order.
  const OwnedFd turn = TRY(turn_of(permit, judged, trees_changed_by(plan), context));
  const OwnedFd in_task = TRY(enter_task(plan, judged.request.own, context.waits, pinned(context)));
  Streams streams;
  streams.input = input.get();
  streams.keep_most = plan.limits.output_bytes;
  streams.stop = context.stop;
  streams.in_memory = context.output_in_memory;
  streams.output_spill = spilled.output.get();
  streams.errors_spill = spilled.errors.get();
  if (launch.as<Fetch>() == nullptr) {  // what that prints is not for the caller: the gateway reads it
    streams.output = context.passed_on.output;
    streams.errors = context.passed_on.errors;
    streams.signals = context.passed_on.signals;
    streams.heard = context.heard;
  }
  if (judged.c.call.by == Asks::operators) {
    streams.input = context.passed_on.input;
    streams.terminal = context.passed_on.terminal;
    streams.raw = context.passed_on.raw;
    streams.keep_most = Streams{}.keep_most;
  }
  return start_program(permit, permit.facts(),
                       {.installation = session_.installation,
                        .streams = streams,
                        .quarantine = run_ ? run_->place().quarantine(call_id) : "",
                        .seat = std::move(seat)});
}

Gateway::Effect Gateway::start(const Permit& permit, Judged& judged, const CallContext& context,
                               const std::string& call_id, std::optional<Seat> seat) {
  Effect effect;
  const OutputBudget budget{.bytes = session_.options.shown_bytes, .call_id = call_id};
  const bool by_operator = judged.c.call.by == Asks::operators;
  const RegisteredTool* tool = by_operator ? nullptr : session_.registry.find(judged.c.call.tool);
  const bool by_executor = tool != nullptr && tool->executor;  // its answer is read whole
  if (!by_executor && context.output_in_memory < permit.plan().limits.output_bytes) {
    const std::string& state = session_.installation.state;
    effect.spilled = {open_spill(state), open_spill(state)};
  }
  auto ended = launch(permit, judged, context, call_id, effect.spilled, std::move(seat));
  if (!ended.ok() && ended.error().cause == Cause::missing_layer && judged.other_backends)
    ended = std::variant<Ran, Voided>(Voided{ended.error(), Learnt{.other_backend = true}});
  if (!ended.ok()) {
    effect.outcome = by_operator ? failed_command(ended.error(), judged.request) : failed(ended.error());
  } else if (auto* ran = std::get_if<Ran>(&ended.value())) {
    effect.outcome = std::move(ran->outcome);
  } else {
    effect.voided = std::get<Voided>(std::move(ended).value());
    effect.outcome = failed(effect.voided->why);
  }
  if (by_operator) {
    for (auto& denial : left_out_of(judged.request)) effect.outcome.denials.push_back(std::move(denial));
  }
  if (context.passed_on.output >= 0) name_passed_on(effect.outcome);
  if (by_executor && take_answer(*tool, effect, budget)) {
    effect.shown += egress_text(effect.outcome) + remarks_text(effect.outcome);
    return effect;
  }
  effect.program = permit.launch().argv[0];
  const auto streams = shown_streams(all_printed(effect.outcome, effect.spilled), budget);
  if (!streams.ok()) effect.outcome = failed(streams.error());
  const ShownStreams shown = streams.ok() ? streams.value() : ShownStreams();
  effect.shown = shown_with(effect.outcome, effect.program, shown);
  effect.structured = process_output_json(effect.outcome, shown);
  return effect;
}

PrintedStreams Gateway::all_printed(const Outcome& outcome, const Spilled& spilled) {
  return {pieces_of(outcome.output, spilled.output.get()), pieces_of(outcome.errors, spilled.errors.get())};
}

// Both are to outlive it.
Pieces Gateway::raw_of(const Effect& effect, const Outcome& outcome) {
  if (effect.program.empty()) return pieces_of(effect.raw);
  return [&effect, &outcome](const Sink& sink) {
    return give_raw(outcome, effect.program, all_printed(outcome, effect.spilled), sink);
  };
}

// Its answer is held to its own schema, as an executor's is.
Gateway::Effect Gateway::ask_function(const Permit& permit, const std::string& call_id) {
  const FunctionCall& call = *permit.launch().as<FunctionCall>();
  Effect effect;
  effect.outcome.backend = Unboxed::in_process;
  const RegisteredTool* tool = session_.registry.find(call.name);
  auto answer = tool != nullptr && tool->function ? guarded_run(*tool->function, permit)
                                                  : Result<std::string>(refusal("there is no such function"));
  if (answer.ok()) {
    effect.outcome.end = End::exited;
    effect.outcome.exit_code = 0;
    effect.outcome.output = std::move(answer).value();
    const OutputBudget budget{.bytes = session_.options.shown_bytes, .call_id = call_id};
    if (take_answer(*tool, effect, budget)) return effect;
  }
  const ToolReply reply =
      failed_reply("the function " + call.name + ": " +
                   (answer.ok() ? effect.outcome.reason.text() : describe(answer.error())));
  effect.outcome = acted(reply);
  effect.raw = reply.text;
  effect.shown = neutralised(reply.text);
  return effect;
}

ToolReply Gateway::act_on_file(const Permit& permit, Judged& judged, const CallContext& context) {
  const FileAction& action = *permit.launch().as<FileAction>();
  OwnedFd turn;
  std::unique_lock changing(changing_files_, std::defer_lock);
  if (changes_files(action.kind)) {
    auto taken = turn_of(permit, judged, {permit.plan().workspace}, context);
    if (!taken.ok()) return failed_reply(failure_text(taken.error()));
    turn = std::move(taken).value();
    changing.lock();
  }
  auto files = HeldWorkspace::open(permit, write_options(session_.settings));
  return files.ok() ? perform(action, files.value()) : failed_reply(failure_text(files.error()));
}

Gateway::Effect Gateway::act(const Permit& permit, Judged& judged, const CallContext& context,
                             const std::string& task) {
  Effect effect;
  ToolReply reply = failed_reply("there is nothing that could do it");
  if (permit.launch().as<FileAction>() != nullptr) {
    reply = act_on_file(permit, judged, context);
  } else if (const auto* recall = permit.launch().as<Recall>(); recall != nullptr && run_) {
    TaskResults results(*run_, task);
    reply = perform(*recall, results);
  }
  effect.outcome = acted(reply);
  effect.raw = reply.text;
  effect.shown = neutralised(reply.text);
  effect.structured = std::move(reply.structured);
  effect.image = std::move(reply.image);
  return effect;
}

}  // namespace cloche
