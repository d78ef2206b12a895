#include "doors/recorded_run.hpp"

#include <time.h>
#include <unistd.h>

#include "base/json.hpp"
#include "doors/print.hpp"
#include "gateway/gateway.hpp"
#include "model/network.hpp"
#include "policy/declared_hosts.hpp"
#include "store/skill_files.hpp"
#include "store/task_home.hpp"
#include "tools/process_output.hpp"

namespace cloche {
namespace {

// For the record: an operator's words may be any bytes.
std::string args_of(const std::vector<std::string>& argv) {
  JsonWriter out;
  out.begin_object().key("argv").begin_array();
  for (const auto& word : argv) out.value(word);
  return out.end_array().end_object().text();
}

// The operator's own flags in the words that skills are held against.
std::vector<std::string> words_of(const std::vector<std::string>& hosts) {
  std::vector<std::string> words;
  for (const auto& host : hosts) words.push_back(host_entry(host).is_any() ? std::string(any_host) : host);
  return words;
}

// The skill's hosts, beside those of --net. Where the profile has no network the authority's notes say so.
Result<void> add_hosts(RunRequest& request, const Ceilings& ceilings) {
  const bool declares = !ceilings.declared_by.empty() && !ceilings.hosts.empty();
  if (!declares || !ceilings.network || request.network == Network::of_host) return {};
  const std::vector<std::string> given = request.hosts;
  for (const auto& host : ceilings.hosts)
    TRY(host == any_host ? declare_any_host(request.hosts) : declare_host(request.hosts, host));
  if (request.hosts == given) return {};  // all of it is the operator's own already
  request.declared = (given.empty() ? "" : describe_declared(net_flag, given) + "; ") +
                     describe_declared(ceilings.declared_by, ceilings.hosts);
  return {};
}

// What was passed on to the caller was not kept.
std::string result_text(const Outcome& outcome) {
  Outcome kept = outcome;
  name_passed_on(kept);
  return raw_text(kept, "run");
}

}  // namespace

Result<Skill> add_skill(RunArguments& arguments, const Environment& environment, std::vector<OwnedFd>& held) {
  SessionOptions options = default_session();
  options.operators = arguments.request;
  options.ceilings.hosts = words_of(arguments.request.hosts);
  const Session session = TRY(load_session(std::move(options), environment));
  const auto skill = TRY(skill_for(session, arguments.skill));
  Authority declared = TRY(authority_of_command(session, &*skill));
  const HostNames names = names_under(session, &*skill);
  Settled settled = TRY(settle_grants(std::move(declared), names));
  const Authority& authority = settled.authority;
  say_notes(authority.notes, arguments);
  RunRequest& request = arguments.request;
  request.grants.insert(request.grants.end(), authority.grants.begin(), authority.grants.end());
  TRY(add_hosts(request, authority.ceilings));
  for (const auto& name : authority.ceilings.pass_env) request.environment.push_back({name});
  request.written = names.written;
  held = std::move(settled.held);
  return *skill;
}

Result<std::unique_ptr<RecordedRun>> RecordedRun::prepare(RunArguments& arguments,
                                                          const Environment& environment) {
  auto recorded = std::make_unique<RecordedRun>();
  const std::string state = TRY(find_installation(environment)).state;
  std::optional<RunPlace> place;
  if (arguments.run) {
    if (arguments.request.workspace)
      return usage_error("--run has its workspace in it: give --run or --workspace");
    place = TRY(place_given_run(*arguments.run, state));
    arguments.request.workspace = place->workspace();
  } else if (arguments.task) {
    place = TRY(place_named_run(run_of_task(*arguments.task, arguments.request), state));
  }
  if (place) {
    recorded->run_ = TRY(Run::open(*place, Durability::buffered));
    arguments.request.hidden = place->own_files();
    arguments.request.quarantine =
        place->quarantine("run-" + std::to_string(::time(nullptr)) + "-" + std::to_string(::getpid()));
  }
  if (place && arguments.task) {
    const TaskHome home = TRY(make_task_home(*place, *arguments.task));
    const auto grants = task_grants(home);
    arguments.request.own.insert(arguments.request.own.end(), grants.begin(), grants.end());
  }
  if (arguments.skill) recorded->skill_ = TRY(add_skill(arguments, environment, recorded->held_));
  DecisionRecord& decided = recorded->record_.decided;
  decided.task_id = arguments.task.value_or("main");
  decided.role = "operator";
  decided.tool = "run";
  decided.args = args_of(arguments.request.argv);
  decided.runs = quote_words(arguments.request.argv);
  return recorded;
}

void RecordedRun::lower_limits(RunRequest& request) const {
  if (skill_) take_limits(request, *skill_);
}

void RecordedRun::note(const std::vector<std::string>& notes) { record_.decided.notes = notes; }

void RecordedRun::judged(const Explanation& explanation) {
  DecisionRecord& decided = record_.decided;
  decided.decision = explanation.judgement.decision;
  decided.verdicts = explanation.judgement.gates;
  decided.opaque = true;  // an operator's command: only the glass answers for it
  if (explanation.plan) decided.plan_digest = digest_of(*explanation.plan);
}

Result<void> RecordedRun::before() {
  if (run_) record_.call_id = TRY(run_->begin(record_.decided));
  return {};
}

void RecordedRun::after(const Outcome& outcome, const ConfinementPlan* plan) {
  if (!run_) return;
  if (plan != nullptr) record_.decided.plan_digest = digest_of(*plan);
  record_.outcome = outcome;
  const std::string raw = result_text(outcome);
  record_.result = within_budget(neutralised(raw), {.call_id = record_.call_id});
  if (const auto kept = run_->finish(record_, raw); !kept.ok())
    complain("the record is not complete: " + describe(kept.error()));
}

}  // namespace cloche
