#include "doors/kept_run.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "base/sys/sys.hpp"
#include "doors/cli/run_command.hpp"
#include "doors/hook/hook_place.hpp"
#include "doors/hook/hook_tools.hpp"
#include "doors/print.hpp"
#include "gateway/gateway.hpp"
#include "store/approvals.hpp"
#include "store/kept_calls.hpp"
#include "store/sealed/agent_sessions.hpp"
#include "store/task_home.hpp"
#include "store/workspace/open_beneath.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche {
namespace {

constexpr size_t most_path_bytes = 4097;  // the kernel's longest path and a line end

// Somebody was asked when the hook judged it: his yes was to that very question, and this is a no to every
// other.
class AnsweredBefore : public Approver {
 public:
  explicit AnsweredBefore(const KeptCall& kept)
      : digest_(kept.approved), by_operator_(kept.answered_by == "operator") {}
  Answer ask(const Question& question) override {
    const bool same = !digest_.empty() && question.digest == digest_;
    Answer answer = make_answer(question, same ? Reply::once : Reply::no, sys::monotonic_ms());
    if (!same) answer.reason = "what was approved is not what would run now; make the call again";
    return answer;
  }
  bool speaks_for_operator() const override { return by_operator_; }

 private:
  std::string digest_;
  bool by_operator_;
};

// Where the hook said that it starts, whatever the agent's shell has done since. What was judged there is not
// run elsewhere.
Result<HookPlace> place_of(const KeptCall& kept) {
  if (!is_plain_directory(kept.workspace, kept.directory))
    return refusal("the directory " + shown(kept.directory) +
                   " is gone since the call was judged: the agent has to make the call again");
  return HookPlace{.workspace = kept.workspace,
                   .stands = kept.stands,
                   .directory = kept.directory,
                   .task = kept.task,
                   .profile = kept.profile,
                   .note = kept.note,
                   .end_file = kept.end_file};
}

// Another directory that stands in the project's place by now was never judged.
Result<void> check_workspace(const KeptCall& kept, const Session& session) {
  if (session.workspace == kept.workspace && !kept.identity.empty() && identity_of(session) == kept.identity)
    return {};
  return refusal(
      "the project's directory is another one than the call was judged for: the agent has to make the "
      "call again");
}

SessionKey session_of(const KeptCall& kept) { return {kept.agent, kept.session, kept.subagent}; }

// The shell of a command and the directory in which it ends.
class ShellEnd {
 public:
  static Result<ShellEnd> watch(const KeptCall& kept, const RunPlace& run, const std::string& state) {
    AgentSessions sessions = TRY(AgentSessions::open(state));
    ForegroundCall call = TRY(ForegroundCall::begin(sessions, session_of(kept)));
    const TaskHome home = TRY(make_task_home(run, kept.task));
    OwnedFd tmp = TRY(sys::open(home.tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    ::unlinkat(tmp.get(), kept.end_file.c_str(), 0);  // of an earlier one
    return ShellEnd(kept, std::move(sessions), std::move(call), std::move(tmp));
  }

  // The command wrote the file, so that it is the model's word: a regular file, and a plain directory beneath
  // the workspace, or nothing.
  Result<void> keep(const Outcome& outcome) const {
    const bool ended_well = outcome.end == End::exited && outcome.exit_code == 0;
    if (!ended_well || !call_.has_run_alone()) return {};
    const auto file =
        open_beneath(tmp_.get(), kept_.end_file, O_RDONLY, Links::refused, "the shell's last directory");
    struct stat seen {};
    if (!file.ok() || ::fstat(file.value().get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return {};
    auto text = sys::read_all(file.value().get(), most_path_bytes);
    if (!text.ok() || !text.value().ends_with('\n')) return {};
    std::string directory = std::move(text).value();
    directory.pop_back();
    if (!is_plain_directory(kept_.workspace, directory)) return {};
    return sessions_.move(session_of(kept_), {kept_.stands, directory});
  }

 private:
  ShellEnd(KeptCall kept, AgentSessions sessions, ForegroundCall call, OwnedFd tmp)
      : kept_(std::move(kept)),
        sessions_(std::move(sessions)),
        call_(std::move(call)),
        tmp_(std::move(tmp)) {}

  KeptCall kept_;
  AgentSessions sessions_;
  ForegroundCall call_;
  OwnedFd tmp_;
};

// On the rung that the agent was told, or a higher one: whatever the hook knew of requirements, by its
// variables or by files that have changed since, is in that word.
Result<SessionOptions> options_of(const KeptCall& kept, const HookPlace& place) {
  SessionOptions options = hook_session(place);
  if (kept.rung.empty()) return options;
  const auto rung = rung_named(kept.rung);
  if (!rung) return refusal("a call that was kept names no rung: the agent has to make the call again");
  options.lowest = *rung;
  // To ask for one below the default would be to ask for less.
  if (*rung >= options.operators.rung) options.operators.isolation = rung;
  return options;
}

Result<CallResult> run_kept(const std::string& id, const Environment& environment) {
  const Installation installation = TRY(find_installation(environment));
  const KeptCalls calls = TRY(KeptCalls::open(installation.state));
  const KeptCall kept = TRY(calls.take(id, wall_clock_ms()));
  const HookPlace place = TRY(place_of(kept));
  SessionOptions options = TRY(options_of(kept, place));
  auto gateway = TRY(Gateway::open(std::move(options), environment));
  TRY(check_workspace(kept, gateway->session()));
  // What was allowed because it is isolated does not run otherwise, whatever was switched since.
  if (!kept.isolation.empty()) TRY(gateway->set_enabled(true));
  AnsweredBefore approver(kept);
  const OwnedFd signals = take_over_signals();
  const std::vector<ToolCall> named =
      named_for_rules({kept.asked, kept.input}, place.workspace, place.directory);
  const CallContext context{.task = kept.task,
                            .named = named,
                            .passed_on = {.output = 1, .errors = 2, .signals = signals.get()},
                            .waits = complain_of_wait};
  if (!place.note.empty()) complain(place.note);
  std::optional<ShellEnd> end;
  if (!place.end_file.empty() && gateway->record() != nullptr)
    end = TRY(ShellEnd::watch(kept, gateway->record()->place(), installation.state));
  CallResult result = gateway->call({kept.tool, kept.arguments}, context, approver);
  if (end) {
    if (const auto kept_end = end->keep(result.outcome); !kept_end.ok())
      complain("the next command does not start where this one ended: " + describe(kept_end.error()));
  }
  return result;
}

// The hook was asked outside of it. Agents' sandboxes set no_new_privs, and a shell of a person's has no such
// thing.
bool is_in_another_sandbox() { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }

bool lacks_state(const Environment& environment) {
  const auto installation = find_installation(environment);
  return !installation.ok() || installation.value().state.empty() ||
         ::access(installation.value().state.c_str(), W_OK) != 0;
}

// For a model, which can do nothing about it.
std::string blame_other_sandbox(const std::string& why) {
  return "nothing was run: this command was started inside another sandbox, most likely the agent's own, and "
         "Cloche's cannot start there (" +
         why +
         "). Trying again does not help. Only the user can change it: the agent's own sandbox has to be off "
         "where "
         "Cloche's hook confines its commands, or Cloche has to be the agent's MCP server";
}

}  // namespace

int kept_run_door(const std::string& id, const Environment& environment) {
  const auto ran = run_kept(id, environment);
  if (ran.ok()) {
    const bool open = ran.value().outcome.backend == RanBy(Backend::none);
    for (const auto& note : open ? ran.value().notes : ran.value().box_notes)
      complain("note: " + visible(without_places(note)));
  }
  Outcome outcome = ran.ok() ? ran.value().outcome : failed(ran.error());
  if (!ran.ok()) outcome.exit_code = exit_code_of(ran.error());
  // A call that is spent or not there is no matter of where it was started.
  const bool failed_here =
      outcome.end == End::failed && (ran.ok() || ran.error().number != 0 || lacks_state(environment));
  outcome = for_model(std::move(outcome));
  if (failed_here && is_in_another_sandbox()) outcome.reason = blame_other_sandbox(outcome.reason.text());
  return finish_run(CallResult{.outcome = std::move(outcome)}, RunArguments{});
}

}  // namespace cloche
