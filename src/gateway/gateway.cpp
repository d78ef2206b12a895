#include "gateway/gateway.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "gateway/approval/ask_approval.hpp"
#include "gateway/changes/settle_changes.hpp"
#include "gateway/exception_barrier.hpp"
#include "gateway/launch/caller.hpp"
#include "policy/plan/concurrent_calls.hpp"
#include "policy/plan/layered_trees.hpp"
#include "policy/plan/plan_run.hpp"
#include "policy/protected/protected_trees.hpp"
#include "store/host/callers_home.hpp"
#include "store/record/record.hpp"
#include "store/workspace/task_home.hpp"
#include "tools/answer/model_text.hpp"
#include "tools/answer/process_output.hpp"
#include "tools/commands/executor.hpp"
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

// A command that works in the record could write it, and one that has the record in its workspace as well.
Result<void> judge_run_directory(const std::string& run, const std::string& workspace) {
  const auto held = sys::hold(workspace);
  if (!held.ok()) return {};  // which refuses the session
  const std::string& works_in = held.value().path;
  if (!is_beneath(works_in, run) && !is_beneath(run, works_in)) return {};
  return refusal("the run directory " + run + " and the workspace " + works_in + " lie in one another",
                 "keep the record elsewhere, or leave --workspace out to work in its artifacts/");
}

void note(const std::vector<std::string>& notes, Judged& judged, const CallContext& context) {
  if (!notes.empty() && context.noted) context.noted(notes);
  judged.notes.insert(judged.notes.end(), notes.begin(), notes.end());
}

// None: an explained call would make a run of a new name, which no plan shows.
Result<std::optional<RunPlace>> place_of(const SessionOptions& options, const Installation& installation) {
  using Place = std::optional<RunPlace>;
  const std::string& state = installation.state;
  const bool explained = options.operators.explained;
  if (options.record != Registry::Record::kept) return Place();
  if (options.run) {
    const RunWorkspace where = options.operators.workspace ? RunWorkspace::elsewhere : RunWorkspace::inside;
    if (options.operators.workspace) {
      const RunPlace planned = TRY(plan_given_run(*options.run, state, where));
      TRY(judge_run_directory(planned.directory, *options.operators.workspace));
    }
    return Place(TRY((explained ? plan_given_run : place_given_run)(*options.run, state, where)));
  }
  if (explained && options.run_name.empty()) return Place();
  if (state.empty())
    return refusal("there is no state directory to keep a run in: " + installation.no_state,
                   "name one with --run DIR, or set XDG_STATE_HOME");
  TRY(judge_state(state, options.operators));
  if (!options.run_name.empty())
    return Place(TRY((explained ? plan_named_run : place_named_run)(options.run_name, state)));
  return Place(TRY(place_new_run(state)));
}

// What an execution and an explanation begin with.
struct Opened {
  Session session;
  std::optional<RunPlace> place = {};
};
Result<Opened> open_session(SessionOptions options, const Environment& callers) {
  const Environment environment = with_home_from_database(callers);
  const Installation installation = TRY(find_installation(environment, options.programs));
  TRY(installation.config_folder(environment));             // before what depends on it is missed
  const auto place = TRY(place_of(options, installation));  // first, because the workspace may lie in it
  if (options.run) options.run = place->directory;
  Session session = TRY(load_session(std::move(options), environment, installation));
  // In the host's view it can only be masked when it is there, and the first call makes it.
  if (session.options.operators.view == View::host && !installation.state.empty())
    (void)make_private_directories(installation.state);
  if (place && (place->layout == RunLayout::state || !session.options.operators.workspace_of_run))
    session.options.operators.hidden = place->own_files();
  return Opened{std::move(session), place};
}

// The home and /tmp of a task, before anything is judged, because the plan names them.
Result<std::vector<Grant>> task_home_of(const ToolCall& asked, const Session& session, const RunPlace& place,
                                        const std::string& task, const Skill* skill) {
  std::string executor;
  if (asked.by == Asks::model) {
    // For what will be refused at once nothing is made.
    const RegisteredTool* tool = session.registry.find(asked.tool);
    if (tool == nullptr || !is_in_loadout(TRY(authority_for(session, skill)), *tool))
      return std::vector<Grant>{};
    if (tool->executor) executor = tool->executor->name;
  }
  const bool explained = session.options.operators.explained;
  return task_grants(TRY((explained ? plan_task_home : make_task_home)(place, task, executor)));
}

// The record of this workspace and day, or why there can be none.
struct DayRecord {
  std::unique_ptr<Run> run = nullptr;
  std::string why_none = {};
};

// A command that cannot be recorded is not run, unless there is no directory for records at all and the key
// `record` does not ask for one: an account without a home is told so with each command.
Result<DayRecord> open_day_record(const Session& session, Durability durability) {
  const Installation& installation = session.installation;
  const auto opened = [&]() -> Result<std::unique_ptr<Run>> {
    if (installation.state.empty()) return refusal("there is no state directory: " + installation.no_state);
    const RunPlace place =
        TRY(place_day_run(session.workspace, session.held_workspace->get(), installation.state));
    return Run::open(place, durability, Run::Results::sizes);
  };
  auto run = opened();
  if (run.ok()) return DayRecord{.run = std::move(run).value()};
  Error error = run.take_error();
  const bool absent = installation.state.empty() || ::access(installation.state.c_str(), F_OK) != 0;
  if (absent && !session.settings.record.is_set())
    return DayRecord{.why_none = "this command is not recorded: " + describe(error)};
  error.what = "the command cannot be recorded, so it is not run: " + error.what;
  if (!error.fix.empty()) return error;
  error.fix = "set XDG_STATE_HOME to a directory that can be written";
  const auto& managed = session.settings.record.managed;
  if (!managed || !managed->value) error.fix += ", or \"record\": \"off\" in your configuration";
  return error;
}

bool is_called_off(const CallContext& context) {
  pollfd stop{context.stop, POLLIN, 0};
  return context.stop >= 0 && ::poll(&stop, 1, 0) > 0;
}

// For the terminal of an operator whose command takes its time.
std::string layers_note(Writes writes) {
  const std::string_view when =
      writes == Writes::stage ? "when you say so, after it has ended" : "when it ends";
  return "cloche: note: what this command writes reaches the project " + std::string(when) +
         "; with --live at once";
}

// As one that was ended while it ran, but that it never did.
Outcome called_off() {
  return {.end = End::signaled,
          .exit_code = 128 + SIGKILL,
          .signal = SIGKILL,
          .reason = "cancelled by the caller before it began"};
}

}  // namespace

Outcome busy_outcome() {
  return {.end = End::refused,
          .exit_code = 126,
          .reason =
              "busy: too many calls run and wait here, so this one was not begun; try again when some "
              "of them have ended",
          .advice = "; the key calls of the configuration says how many"};
}

Outcome failed(const Error& error) {
  Outcome outcome{.end = End::failed, .exit_code = 125, .reason = error.what};
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

std::optional<Verdict> ask_about(Judged& judged, Questions& questions, Approver& approver) {
  ApprovalSubject subject;
  auto no = questions.ask([&] { return subject = subject_of(judged); }, approver);
  judged.approved = std::move(subject.files);
  std::move(subject.absent.begin(), subject.absent.end(), std::back_inserter(judged.approved));
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
    denials.push_back({GateId::env, name + " is left out: it looks like a secret; --secret " + name +
                                        " gives it to cloche run knowingly"});
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
  options.operators.explained = false;
  Opened opened = TRY(open_session(std::move(options), callers));
  const bool durable = opened.session.settings.durable.value;
  std::unique_ptr<Run> run;
  std::string why_not_recorded;
  const Durability durability = durable ? Durability::durable : Durability::buffered;
  if (opened.place) {
    run = TRY(Run::open(*opened.place, durability));
  } else if (opened.session.options.day_record && opened.session.settings.record.value) {
    DayRecord record = TRY(open_day_record(opened.session, durability));  // which no view has
    run = std::move(record.run);
    why_not_recorded = std::move(record.why_none);
  }
  std::unique_ptr<Gateway> gateway(new Gateway(std::move(opened.session), std::move(run)));
  gateway->why_not_recorded_ = std::move(why_not_recorded);
  const SessionOptions& said = gateway->session_.options;
  const bool stays = said.pool || said.usual_pool > 0;  // else it ends with its call
  const size_t prepared = pool_of(gateway->session_.settings, said.pool, said.usual_pool).value;
  if (stays && prepared > 0)
    gateway->pool_ = std::make_unique<LaunchPool>(gateway->session_.installation, prepared);
  return gateway;
}

Result<Judged> explain(SessionOptions options, const ToolCall& call, const ExplainedFor& whose,
                       const Environment& environment) {
  options.operators.explained = true;
  const Opened opened = TRY(open_session(std::move(options), environment));
  const auto skill = TRY(skill_for(opened.session, whose.skill_file));
  CallersView view{.skill = skill ? &*skill : nullptr, .learnt = whose.learnt};
  if (whose.task && opened.place)
    view.own = TRY(task_home_of(call, opened.session, *opened.place, *whose.task, view.skill));
  return judge(opened.session, call, view);
}

RuntimeSettings Gateway::runtime_settings() const {
  const std::lock_guard held(settings_lock_);
  return runtime_settings_;
}

Result<void> Gateway::set(const RuntimeSettings& wanted) {
  TRY(judge_runtime_settings(wanted, session_.settings, session_.profiles));
  const std::lock_guard held(settings_lock_);
  if (wanted.autonomy) runtime_settings_.autonomy = wanted.autonomy;
  if (wanted.default_profile) runtime_settings_.default_profile = wanted.default_profile;
  if (wanted.enabled) runtime_settings_.enabled = wanted.enabled;
  return {};
}

Result<void> Gateway::set_autonomy(Autonomy level) { return set({.autonomy = level}); }
Result<void> Gateway::set_default_profile(const std::string& name) { return set({.default_profile = name}); }
Result<void> Gateway::set_enabled(bool enabled) { return set({.enabled = enabled}); }

Result<std::vector<ToolSpec>> Gateway::tools(const Skill* skill) const {
  return visible_tools(session_, skill, runtime_settings());
}

Result<std::vector<std::string>> Gateway::prove_box(const CallContext& context) const {
  Judged judged =
      TRY(judge(session_, {"run_shell", R"({"argv":["true"]})"}, {context.skill, {}, runtime_settings()}));
  const Prepared* prepared = judged.judgement.prepared();
  if (prepared == nullptr) return std::vector<std::string>{};  // no command runs here
  TRY(prove_plan(prepared->plan, prepared->seen.facts.caller, session_.installation, pool_.get()));
  return std::move(judged.box_notes);
}

std::vector<std::string> Gateway::keep_warm(const CallContext& context) {
  std::vector<std::string> wanted = session_.settings.warm.value;
  wanted.insert(wanted.end(), session_.options.warm.begin(), session_.options.warm.end());
  if (wanted.empty()) return {};
  std::vector<std::string> modules;
  for (const auto& item : wanted) {
    for (auto& module : modules_of_warm(item))
      if (!contains(modules, module)) modules.push_back(std::move(module));
  }
  warm_ = std::make_unique<WarmBoxes>(session_.installation, std::move(modules));
  const auto judged =
      judge(session_, {"run_python", R"({"code":"0"})"}, {context.skill, {}, runtime_settings()});
  const Prepared* prepared = judged.ok() ? judged.value().judgement.prepared() : nullptr;
  if (prepared == nullptr) return {};  // run_python will say why
  warm_->want(prepared->plan, prepared->seen.facts.caller);
  if (warm_->can_import(prepared->plan)) return {};
  return {
      "the modules of --warm are not imported before a call: this python3 has no sitecustomize.py in a "
      "directory of its own in /etc, or the sandbox does not show it"};
}

CallResult Gateway::call(const ToolCall& asked, const CallContext& context, Approver& approver) {
  // A function of the embedding program may call again: waiting for a second place while it has one, it could
  // wait for itself.
  thread_local const Gateway* in_call_of = nullptr;
  if (context.has_place || in_call_of == this) return call_in_place(asked, context, approver);
  auto entry = admission_.enter(context.tenant, asked.arguments.size(), context.stop);
  if (const auto* none = std::get_if<Admission::NoPlace>(&entry))
    return not_judged(asked, context, *none == Admission::NoPlace::busy ? busy_outcome() : called_off());
  PlaceFreeingApprover freeing(std::get<Admission::Place>(entry), approver);
  const Gateway* const outer = std::exchange(in_call_of, this);
  CallResult result = call_in_place(asked, context, freeing);
  in_call_of = outer;
  return result;
}

CallResult Gateway::refuse_busy(const ToolCall& asked, const CallContext& context) {
  return not_judged(asked, context, busy_outcome());
}

// It is written down all the same: it was asked for.
CallResult Gateway::not_judged(const ToolCall& asked, const CallContext& context, Outcome outcome) {
  CallResult result{.tool = asked.tool};
  if (run_) result.run_id = run_->place().run_id();
  result.result = shown_text(outcome, asked.tool, {});
  CallRecord record{.decided = undecided(asked, context),
                    .call_id = {},
                    .result = result.result,
                    .outcome = std::move(outcome)};
  record.decided.workspace = session_.workspace;
  if (const auto written = run_ ? run_->write(record) : Result<void>(); written.ok()) {
    result.call_id = std::move(record.call_id);
  } else {
    result.notes.push_back("it is not in the record: " + describe(written.error()));
  }
  result.outcome = std::move(record.outcome);
  return result;
}

CallResult Gateway::call_in_place(const ToolCall& asked, const CallContext& context, Approver& approver) {
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
  const auto failure = [&](const Error& error) {
    return asked.by == Asks::operators ? failed_command(error, session_.options.operators) : failed(error);
  };
  std::optional<LaunchResources> resources;
  const auto take_resources = [&](const RunRequest& request, const CallerFact& caller) {
    if (!judge_caller(request, caller).ok()) return;  // said once the request has its box
    auto taken = LaunchResources::take(caller, request.limits, session_.installation,
                                       {backend_of(request), request.network});
    if (taken.ok()) resources.emplace(std::move(taken).value());
  };
  CallersView view{.skill = context.skill,
                   .runtime_settings = runtime_settings(),
                   .named = context.named,
                   .learnt = tries.learnt};
  if (context.starts_early) view.early = take_resources;
  AtHome at_home;
  auto judging = judge_at_home(asked, std::move(view), context, at_home);
  if (!judging.ok()) return {not_judged(asked, context, failure(judging.error()))};
  Judged& judged = judging.value();

  if (judged.judgement.decision == Decision::ask) {
    resources.reset();  // an answer may take hours
    RememberingApprover remembering(approver, tries.approved);
    answer(judged, session_, ask_about(judged, questions_, remembering));
  }

  if (!why_not_recorded_.empty()) judged.notes.push_back(why_not_recorded_);
  if (context.noted && tries.learnt.times == 0) context.noted(judged.notes);
  CallRecord record{.decided = decision_of(judged, asked, context)};
  record.decided.workspace = session_.workspace;
  if (const auto begun = begin(record); !begun.ok()) {
    result.outcome = failure(begun.error());
    result.result = shown_text(result.outcome, asked.tool, {});
    return {std::move(result)};
  }
  result.call_id = record.call_id;
  Effect effect;
  if (auto permit = std::exchange(judged.judgement.permit, std::nullopt)) {
    effect =
        execute(*std::move(permit), judged, {context, approver, at_home.own}, record, std::move(resources));
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
  record.result = effect.shown;
  record.outcome = std::move(effect.outcome);
  if (again)
    record.decided.notes.push_back(
        "nothing was started: what the plan was made from had changed, and the call is judged again");
  if (!finish(record, raw_of(effect, record.outcome), judged.notes) && context.noted)
    context.noted({judged.notes.back()});
  spills_.give_back(std::move(effect.spilled));
  if (pool_) pool_->retire(std::move(effect.resources));
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

PoolCounts Gateway::pool_counts() const { return pool_ ? pool_->counts() : PoolCounts{}; }

// No record, no effect.
Result<void> Gateway::begin(CallRecord& record) {
  if (run_) record.call_id = TRY(run_->begin(record.decided));
  return {};
}

bool Gateway::finish(const CallRecord& record, const Chunks& raw, std::vector<std::string>& notes) {
  const auto finished = run_ ? run_->finish(record, raw) : Result<void>();
  if (!finished.ok()) notes.push_back("the record is not complete: " + describe(finished.error()));
  return finished.ok();
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
      plan != nullptr && task_use_of(*plan, offer.grants, pinned(context)) == TaskUse::exclusive) {
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

Result<std::vector<Grant>> Gateway::home_of(const ToolCall& asked, const CallContext& context) const {
  if (!context.task || !run_) return std::vector<Grant>{};
  return task_home_of(asked, session_, run_->place(), *context.task, context.skill);
}

Gateway::Effect Gateway::execute(Permit permit, Judged& judged, const Requester& requester,
                                 CallRecord& record, std::optional<LaunchResources> resources) {
  const Launch& launch = permit.launch();
  if (is_called_off(requester.context)) {
    Effect effect{.outcome = called_off()};
    effect.raw = effect.shown = shown_text(effect.outcome, judged.c.call.tool, {});
    return effect;
  }
  if (launch.as<FunctionCall>() != nullptr) return ask_function(permit, record.call_id);
  if (launch.argv.empty()) return act(permit, judged, requester, record);
  if (launch.as<Fetch>() != nullptr) return fetch(permit, judged, requester, record);
  return start(permit, judged, requester, record.call_id, std::move(resources));
}

Result<std::variant<Ran, Voided>> Gateway::launch(const Permit& permit, Judged& judged,
                                                  const CallContext& context, const std::string& call_id,
                                                  const Spilled& spilled,
                                                  std::optional<LaunchResources> resources) {
  const Launch& launch = permit.launch();
  const ConfinementPlan& plan = permit.plan();
  const OwnedFd input = TRY(input_of(launch.input.value_or("")));
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
    streams.says_refusals = context.passed_on.says_refusals;
    if (context.passed_on.notes_layers && !layered_trees(plan).empty())
      streams.lasting_note = layers_note(plan.writes);
  }
  return start_program(permit, permit.facts(),
                       {.installation = session_.installation,
                        .streams = streams,
                        .quarantine = run_ ? run_->place().quarantine(call_id) : "",
                        .approved = judged.approved,
                        .task = task_key(context),
                        .resources = std::move(resources),
                        .pool = pool_.get(),
                        .warm = warm_.get()});
}

Gateway::Effect Gateway::start(const Permit& permit, Judged& judged, const Requester& requester,
                               const std::string& call_id, std::optional<LaunchResources> resources) {
  const CallContext& context = requester.context;
  Effect effect;
  const OutputBudget budget{.bytes = session_.options.shown_bytes, .call_id = call_id};
  const bool by_operator = judged.c.call.by == Asks::operators;
  const RegisteredTool* tool = by_operator ? nullptr : session_.registry.find(judged.c.call.tool);
  const bool by_executor = tool != nullptr && tool->executor;  // its answer is read whole
  if (!by_executor && context.output_in_memory < permit.plan().limits.output_bytes) {
    effect.spilled = spills_.take(session_.installation.state);
  }
  auto ended = launch(permit, judged, context, call_id, effect.spilled, std::move(resources));
  if (!ended.ok() && ended.error().cause == Cause::missing_layer && judged.other_backends)
    ended = std::variant<Ran, Voided>(Voided{ended.error(), Learnt{.other_backend = true}});
  if (!ended.ok()) {
    effect.outcome = by_operator ? failed_command(ended.error(), judged.request) : failed(ended.error());
  } else if (auto* ran = std::get_if<Ran>(&ended.value())) {
    effect.outcome = std::move(ran->outcome);
    effect.resources = std::move(ran->resources);
    const Guess& guess = effect.outcome.guess;
    if (!guess.said.empty()) note({guess.said + guess.advice}, judged, context);
    if (ran->layers) settle(*ran->layers, permit, judged, requester, call_id, effect.outcome);
  } else {
    effect.voided = std::get<Voided>(std::move(ended).value());
    effect.outcome = failed(effect.voided->why);
  }
  if (by_operator) {
    for (auto& denial : left_out_of(judged.request)) effect.outcome.denials.push_back(std::move(denial));
  }
  if (context.passed_on.output >= 0) name_passed_on(effect.outcome);
  if (by_executor && take_answer(*tool, effect, budget)) {
    effect.shown = staged_text(effect.outcome) + effect.shown + egress_text(effect.outcome) +
                   remarks_text(effect.outcome);
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

// A run belongs to a task in a workspace, or to a session.
std::string Gateway::task_key(const CallContext& context) const {
  if (!run_ || (!context.task && !context.of_session)) return "";
  return run_->place().run_id() + "/" + context.task.value_or(std::string(task_without_name));
}

Spilled UnusedSpills::take(const std::string& state) {
  {
    const std::lock_guard held(lock_);
    if (!ready_.empty()) {
      Spilled spilled = std::move(ready_.back());
      ready_.pop_back();
      return spilled;
    }
  }
  return {open_spill(state), open_spill(state)};
}

void UnusedSpills::give_back(Spilled spilled) {
  constexpr size_t most = 4;
  const auto is_unused = [](const OwnedFd& file) {
    struct stat seen {};
    return file && ::fstat(file.get(), &seen) == 0 && seen.st_size == 0;
  };
  if (!is_unused(spilled.output) || !is_unused(spilled.errors)) return;
  const std::lock_guard held(lock_);
  if (ready_.size() < most) ready_.push_back(std::move(spilled));
}

// After the last answer, because it takes time: what change sets left that undo no longer keeps.
Gateway::~Gateway() {
  if (!session_.installation.state.empty()) ChangeSets(session_.installation.state, {}).empty_trash();
}

// What it wrote, when it has ended.
void Gateway::settle(CallLayers& layers, const Permit& permit, Judged& judged, const Requester& requester,
                     const std::string& call_id, Outcome& outcome) const {
  const CallContext& context = requester.context;
  const auto settled = [&]() -> Result<ChangesOutcome> {
    const ConfinementPlan& plan = permit.plan();
    const std::string workspace = layers.find_moved(session_.workspace);
    ChangeTerms terms{.state = session_.installation.state,
                      .workspace = workspace,
                      .writes = plan.writes,
                      .git = permit.facts().guard.git,
                      .sync = write_options(session_.settings).sync,
                      .undo = session_.settings.undo.value,
                      .was_cancelled = is_called_off(context),
                      .is_released = outcome.overlays_released};
    const std::string run = run_ ? run_->place().run_id() : "";
    // Readable where it can be; a run of the same name may have been here before.
    const std::string suffix = "-" + TRY(random_word(8));
    terms.id = run + "-" + call_id + suffix;
    if (run.empty() || !is_plain_id(terms.id)) terms.id = "x" + suffix;
    terms.label = run.empty() ? terms.id : run + "/" + call_id;
    terms.task = task_key(context);
    std::vector<std::string> trees;
    for (const TreeLayer& layer : layers.trees()) trees.push_back(layer.tree.path);
    terms.rules.rules = session_.settings.changes;
    terms.rules.allowed = TRY(allowed_paths(judged.request.allow_protected, workspace, trees));
    terms.rules.parts = session_.protected_parts;
    terms.rules.hidden = TRY(HiddenPaths::read(permit.facts().hide));
    for (const ToolchainFact& toolchain :
         permit.facts().toolchains)  // a virtual environment links to its interpreter
      for (const FileFact& tree : toolchain.trees) terms.rules.system_trees.push_back(tree.path);
    ChangesOutcome changes = TRY(settle_changes(layers, plan, terms));
    if (!changes.asks) return changes;
    const Question question = question_about(changes, terms.label);
    const auto answer = guarded_ask_afterwards(requester.approver, question);
    const bool is_yes = answer && answer->decision == Decision::allow && answer->digest == question.digest;
    if (is_yes) bring_in(changes, terms);
    const auto left = changes.end == ChangesEnd::staged ? leave_staged(changes, terms) : Result<void>();
    if (!left.ok())
      changes.notes.push_back("later calls of the task do not see what is staged: " + describe(left.error()));
    return changes;
  }();
  std::vector<std::string> notes;
  if (!layers.left_out().empty())
    notes.push_back("what is staged of the task is not seen by this call: " + layers.left_out());
  if (settled.ok()) {
    outcome.changes = settled.value();
    notes.insert(notes.end(), outcome.changes->notes.begin(), outcome.changes->notes.end());
  } else {
    fail_changes(outcome, "what the command wrote is not in the project: " + describe(settled.error()));
  }
  note(notes, judged, context);
}

PrintedStreams Gateway::all_printed(const Outcome& outcome, const Spilled& spilled) {
  return {chunks_of(outcome.output, spilled.output.get()), chunks_of(outcome.errors, spilled.errors.get())};
}

// Both are to outlive it.
Chunks Gateway::raw_of(const Effect& effect, const Outcome& outcome) {
  if (effect.program.empty()) return chunks_of(effect.raw);
  return [&effect, &outcome](const Sink& sink) {
    return give_raw(outcome, effect.program, all_printed(outcome, effect.spilled), sink);
  };
}

}  // namespace cloche
