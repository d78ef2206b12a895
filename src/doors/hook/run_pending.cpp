#include "doors/hook/hook_command.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "base/sys/sys.hpp"
#include "doors/cli/print.hpp"
#include "doors/cli/run_command.hpp"
#include "doors/hook/hook_place.hpp"
#include "doors/hook/hook_tools.hpp"
#include "gateway/gateway.hpp"
#include "store/sealed/agent_sessions.hpp"
#include "store/sealed/approvals.hpp"
#include "store/sealed/pending_commands.hpp"
#include "store/workspace/open_beneath.hpp"
#include "store/workspace/task_home.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche {
namespace {

constexpr size_t most_path_bytes = 4097;  // the kernel's longest path and a line end

// The yes that was given when the hook judged the command. It answers that question, and every other question
// with no.
class AnsweredBefore : public Approver {
 public:
  explicit AnsweredBefore(const PendingCommand& command)
      : digest_(command.approved), by_operator_(command.answered_by == "operator") {}
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

// The directory for which the hook judged it, whatever the agent's shell has done since.
Result<HookPlace> place_of(const PendingCommand& command) {
  if (!is_plain_directory(command.workspace, command.directory))
    return refusal("the directory " + shown(command.directory) +
                   " is gone since the call was judged: the agent has to make the call again");
  return HookPlace{.workspace = command.workspace,
                   .stands = command.stands,
                   .directory = command.directory,
                   .task = command.task,
                   .profile = command.profile,
                   .note = command.note,
                   .end_file = command.end_file,
                   .in_background = !command.background.empty()};
}

// A directory that has replaced the project's since then was never judged.
Result<void> check_workspace(const PendingCommand& command, const Session& session) {
  if (session.workspace == command.workspace && !command.identity.empty() &&
      identity_of(session) == command.identity)
    return {};
  return refusal(
      "the project's directory is another one than the call was judged for: the agent has to make the "
      "call again");
}

SessionKey session_of(const PendingCommand& command) {
  return {command.agent, command.session, command.subagent};
}

// The shell of a command and the directory in which it ends.
class ShellEnd {
 public:
  static Result<ShellEnd> watch(const PendingCommand& command, const RunPlace& run,
                                const std::string& state) {
    AgentSessions sessions = TRY(AgentSessions::open(state));
    ForegroundCall call = TRY(ForegroundCall::begin(sessions, session_of(command)));
    const TaskHome home = TRY(make_task_home(run, command.task));
    OwnedFd tmp = TRY(sys::open(home.tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    ::unlinkat(tmp.get(), command.end_file.c_str(), 0);  // of an earlier one
    return ShellEnd(command, std::move(sessions), std::move(call), std::move(tmp));
  }

  // The command wrote the file, so it is not trusted: it counts only if it is a regular file that names a
  // plain directory beneath the workspace.
  Result<void> store(const Outcome& outcome) const {
    const bool ended_well = outcome.end == End::exited && outcome.exit_code == 0;
    if (!ended_well || !call_.has_run_alone()) return {};
    const auto file =
        open_beneath(tmp_.get(), command_.end_file, O_RDONLY, Links::refused, "the shell's last directory");
    struct stat seen {};
    if (!file.ok() || ::fstat(file.value().get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return {};
    auto text = sys::read_all(file.value().get(), most_path_bytes);
    if (!text.ok() || !text.value().ends_with('\n')) return {};
    std::string directory = std::move(text).value();
    directory.pop_back();
    if (!is_plain_directory(command_.workspace, directory)) return {};
    return sessions_.move(session_of(command_), {command_.stands, directory});
  }

 private:
  ShellEnd(PendingCommand command, AgentSessions sessions, ForegroundCall call, OwnedFd tmp)
      : command_(std::move(command)),
        sessions_(std::move(sessions)),
        call_(std::move(call)),
        tmp_(std::move(tmp)) {}

  PendingCommand command_;
  AgentSessions sessions_;
  ForegroundCall call_;
  OwnedFd tmp_;
};

// The isolation level that the hook told the agent is the lowest one now: it holds what the hook knew of
// requirements, by its environment or by files that have changed since.
Result<SessionOptions> options_of(const PendingCommand& command, const HookPlace& place) {
  SessionOptions options = hook_session(place);
  if (command.level.empty()) return options;
  const auto level = level_named(command.level);
  if (!level)
    return refusal("the filed command names no known isolation level: the agent has to make the call again");
  options.lowest = *level;
  // A level below the default would be a request for less.
  if (*level >= options.operators.level) options.operators.isolation = level;
  return options;
}

Result<CallResult> run_filed(const std::string& id, const Environment& environment) {
  const Installation installation = TRY(find_installation(environment));
  const PendingCommands calls = TRY(PendingCommands::open(installation.state));
  const PendingCommand command = TRY(calls.take(id, wall_clock_ms()));
  const HookPlace place = TRY(place_of(command));
  SessionOptions options = TRY(options_of(command, place));
  auto gateway = TRY(Gateway::open(std::move(options), environment));
  TRY(check_workspace(command, gateway->session()));
  TRY(check_hook_writes(gateway->session().settings));
  // A command that was allowed because it is isolated runs isolated, whatever was switched since.
  if (!command.isolation.empty()) TRY(gateway->set_enabled(true));
  AnsweredBefore approver(command);
  const OwnedFd signals = take_over_signals();
  const std::vector<ToolCall> named =
      named_for_rules({command.asked, command.input}, place.workspace, place.directory);
  const CallContext context{.task = command.task,
                            .named = named,
                            .passed_on = {.output = 1, .errors = 2, .signals = signals.get()},
                            .waits = complain_of_wait};
  if (!place.note.empty()) complain(place.note);
  std::optional<ShellEnd> end;
  if (!place.end_file.empty() && gateway->record() != nullptr)
    end = TRY(ShellEnd::watch(command, gateway->record()->place(), installation.state));
  CallResult result = gateway->call({command.tool, command.arguments}, context, approver);
  if (end) {
    if (const auto stored = end->store(result.outcome); !stored.ok())
      complain("the next command does not start where this one ended: " + describe(stored.error()));
  }
  return result;
}

// Agents' sandboxes set no_new_privs; the shell of a person does not have it.
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
         "where Cloche's hook confines its commands, or Cloche has to be the agent's MCP server";
}

}  // namespace

int run_pending_command(const std::string& id, const Environment& environment) {
  const auto ran = run_filed(id, environment);
  if (ran.ok()) {
    const bool open = ran.value().outcome.backend == RanBy(Backend::none);
    for (const auto& note : open ? ran.value().notes : ran.value().box_notes)
      complain("note: " + visible(without_places(note)));
  }
  Outcome outcome = ran.ok() ? ran.value().outcome : failed(ran.error());
  if (!ran.ok()) outcome.exit_code = exit_code_of(ran.error());
  // A command that was run before or does not exist is no fault of another sandbox.
  const bool failed_here =
      outcome.end == End::failed && (ran.ok() || ran.error().number != 0 || lacks_state(environment));
  outcome = for_model(std::move(outcome));
  if (failed_here && is_in_another_sandbox()) outcome.reason = blame_other_sandbox(outcome.reason.text());
  return finish_run(CallResult{.outcome = std::move(outcome)}, RunArguments{}, Asks::model);
}

}  // namespace cloche
