#include "doors/hook/hook_command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "base/text/random_word.hpp"
#include "base/text/visible_text.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "doors/hook/hook_agent_only.hpp"
#include "doors/hook/hook_front.hpp"
#include "doors/hook/hook_place.hpp"
#include "doors/hook/hook_reply.hpp"
#include "doors/hook/hook_tools.hpp"
#include "gateway/approval/filed_approver.hpp"
#include "gateway/approval/judge_for_hook.hpp"
#include "gateway/changes/danger_of_write.hpp"
#include "store/host/callers_home.hpp"
#include "store/protected/git_places.hpp"
#include "store/sealed/pending_commands.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche {
namespace {

using Action = HookArguments::Action;
using Kind = HookTool::Kind;

constexpr int refused = 2;

// Read to its end, so that the agent is never blocked while it writes. Input beyond the limit is dropped.
Result<std::string> read_input() {
  std::string text = TRY(sys::read_beginning(0, most_hook_bytes + 1));
  if (text.size() <= most_hook_bytes) return text;
  char rest[65536];
  while (::read(0, rest, sizeof rest) > 0) continue;
  return refusal("the hook's input is longer than " + std::to_string(most_hook_bytes >> 20) + " MiB");
}

// The protocol's own ask only where a person surely sits before it: in Claude Code's terminal program. It
// starts hooks in a session without a terminal, so the hook's own terminal proves nothing. The variable
// proves nothing either where the project's settings set it.
OnAsk who_answers(const HookCall& call, const std::string& workspace, const Environment& environment) {
  constexpr std::string_view entrypoint = "CLAUDE_CODE_ENTRYPOINT";
  const bool terminal_program = environment.get(entrypoint) == "cli" && !project_sets(workspace, entrypoint);
  return call.puts_questions && terminal_program ? OnAsk::hand_back : OnAsk::file;
}

class Judge {
 public:
  Judge(const HookCall& call, const HookPlace& place, OnAsk on_ask, Gateway& gateway)
      : call_(call),
        place_(place),
        gateway_(gateway),
        context_{.task = place.task},
        on_ask_(on_ask),
        approver_({.state = gateway.session().installation.state, .workspace = place.workspace}),
        asked_{call.tool, to_json(call.input)} {}

  Result<std::string> reply(const HookTool& tool) {
    const AgentOnly only = TRY(acts_on_agent_only(call_, tool, place_));
    if (only.passes)
      return say(
          TRY(advise_agent_only(gateway_, asked_, only.judged, only.why, context_, approver_, on_ask_)));
    switch (tool.kind) {
      case Kind::command: return reply_to_command(tool);
      case Kind::file: return reply_to_files(tool);
      case Kind::fetch: return say(TRY(advise(gateway_, asked_, tool.judged, context_, approver_, on_ask_)));
      case Kind::foreign: return reply_by_rules(Decision::allow, {});
      case Kind::unknown: break;
    }
    return reply_by_rules(Decision::ask, only.why);
  }

 private:
  Result<std::string> reply_to_command(const HookTool& tool) {
    const std::vector<ToolCall> named = named_for_rules(asked_, place_.workspace, place_.directory);
    CallContext context = context_;
    context.named = named;
    const OnAsk on_ask = can_show_command(call_.input) ? on_ask_ : OnAsk::file;
    const Advice advice = TRY(admit(gateway_, asked_, tool.judged, context, approver_, on_ask));
    if (advice.decision == Decision::deny) return reply_deny(advice.reason);
    const bool isolated = advice.isolated;
    const SessionKey session = session_key(call_);
    const std::string cloche = TRY(path_of_cloche());
    const PendingCommands calls = TRY(PendingCommands::open(gateway_.session().installation.state));
    const std::string id = TRY(calls.add({.tool = tool.judged.tool,
                                          .arguments = tool.judged.arguments,
                                          .asked = asked_.tool,
                                          .input = asked_.arguments,
                                          .workspace = place_.workspace,
                                          .directory = place_.directory,
                                          .task = place_.task,
                                          .profile = place_.profile,
                                          .isolation = isolated ? "required" : "",
                                          .level = isolated ? std::string(name_of(advice.level)) : "",
                                          .approved = advice.approved,
                                          .agent = session.agent,
                                          .session = session.id,
                                          .subagent = session.subagent,
                                          .stands = place_.stands,
                                          .end_file = place_.end_file,
                                          .background = place_.in_background ? "yes" : "",
                                          .note = place_.note,
                                          .identity = identity_of(gateway_.session()),
                                          .answered_by = advice.answered_by_operator ? "operator" : ""},
                                         wall_clock_ms()));
    // The agent's shell starts it, and its environment is not asked for the operator's directories either.
    std::vector<std::string> words = {cloche, "run", "--call", id};
    for (auto& flag : flags_of_places(gateway_.session().environment)) words.push_back(std::move(flag));
    const std::string instead = quote_words(words);
    return advice.decision == Decision::allow ? reply_instead(call_.input, instead, held_by(advice))
                                              : reply_ask_instead(call_.input, instead, advice.reason);
  }

  // The first file that is not allowed decides.
  Result<std::string> reply_to_files(const HookTool& tool) {
    std::vector<std::string> written;
    for (const auto& file : tool.files) {
      const auto leads_to = where_it_leads(place_.stands, file.path);
      if (!leads_to.ok()) return reply_deny(correction_text(leads_to.error()));
      const std::string& path = leads_to.value();
      const Advice advice = TRY(
          advise(gateway_, asked_, judged_at(file, place_.workspace, path), context_, approver_, on_ask_));
      if (advice.decision != Decision::allow) return say(advice);
      const bool writes = file.tool == "write_artifact" || file.tool == "edit_artifact";
      if (writes && path != place_.workspace && is_at_or_below(place_.workspace, path))
        written.push_back(path);
    }
    if (written.empty()) return reply_no_objection();
    // What a write of our own tools is judged by afterwards has to be known before one of the agent's.
    const Session& session = gateway_.session();
    const auto danger = TRY(danger_of_writes(
        place_.workspace, written, session.installation.state,
        find_git_sources(session.environment, with_home_from_database(session.environment).get("HOME"),
                         session.installation.state)));
    if (!danger) return reply_no_objection();
    return reply_deny(correction_text(refusal(shown(danger->path) + " cannot be written: " + danger->why)));
  }

  Result<std::string> reply_by_rules(Decision unsaid, const std::string& why) {
    return say(TRY(advise_by_rules(gateway_, asked_, unsaid, why, context_, approver_, on_ask_)));
  }

  // No allow for what the agent does itself: nothing confines it, so the agent's own permissions decide.
  static std::string say(const Advice& advice) {
    if (advice.decision == Decision::allow) return reply_no_objection();
    return advice.decision == Decision::ask ? reply_ask(advice.reason) : reply_deny(advice.reason);
  }

  const HookCall& call_;
  const HookPlace& place_;
  Gateway& gateway_;
  CallContext context_;
  OnAsk on_ask_;
  FiledApprover approver_;
  ToolCall asked_;
};

// An agent shows stderr to its model; at a terminal the operator reads it.
int refuse(const Error& error) {
  complain(::isatty(0) == 1 ? describe(error) : failure_text(error));
  return refused;
}

int judge_from_stdin(const HookArguments& arguments, const Environment& environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // once the front process is gone, the answer has no reader
  if (::isatty(0) == 1)
    return refuse(usage_error("the hook reads an agent's call from stdin, and stdin is a terminal",
                              "see cloche hook --help"));
  const auto input = read_input();
  if (!input.ok()) return refuse(input.error());
  const auto reply = answer_hook(input.value(), arguments, environment);
  if (!reply.ok()) return refuse(reply.error());
  return print_all(reply.value(), 0) == 0 ? 0 : refused;
}

Error bad_usage(const std::string& what) { return usage_error(what, "see cloche hook --help"); }

template <std::string HookArguments::*member>
Result<void> keep_one(HookArguments& arguments, const std::string& value) {
  if (value.empty() || !(arguments.*member).empty())
    return bad_usage("a flag has an empty value, or is given twice");
  arguments.*member = value;
  return {};
}
template <Action action>
Result<void> do_to_agent(HookArguments& arguments, const std::string& value) {
  arguments.action = action;
  return keep_one<&HookArguments::agent>(arguments, value);
}

const OptionTables<HookArguments>& tables() {
  static constexpr Option<HookArguments> options[] = {
      {"--workspace", "DIR",
       "The project (default: the one that the agent was started in); with --install only for the project's "
       "own settings file.",
       keep_one<&HookArguments::workspace>},
      {"--timeout", "TIME",
       "How long judging may take before the call is refused, at most 50s (default 25s).",
       keep_one<&HookArguments::timeout>},
      {"--install", "AGENT", "Show the change to the settings of claude or codex, ask, and make it.",
       do_to_agent<Action::install>},
      {"--check", "AGENT",
       "Check that a call of the agent has arrived since the settings were changed: exit code 0 yes, 1 no.",
       do_to_agent<Action::check>},
      {"--uninstall", "AGENT", "Remove the hook from the settings.", do_to_agent<Action::uninstall>},
      {"--settings", "FILE", "The settings file (default: the user's own).",
       keep_one<&HookArguments::settings>},
      {"--yes", "", "Change the settings without asking.", raise<&HookArguments::yes>},
      help_option<HookArguments>,
      {"", "",
       "In the installed line, where the operator's directories are not the account's own; they are not "
       "taken from the agent's environment:"}};
  static const OptionTables<HookArguments> all{{options, place_options<HookArguments>}};
  return all;
}

}  // namespace

HelpPage hook_help() {
  return {
      .usage =
          "cloche hook [--workspace DIR] [--timeout 25s]\n"
          "cloche hook --install claude|codex [--settings FILE] [--workspace DIR] [--timeout 25s] [--yes]\n"
          "cloche hook --check claude|codex [--settings FILE]\n"
          "cloche hook --uninstall claude|codex [--settings FILE] [--yes]",
      .about =
          "A PreToolUse hook for Claude Code and Codex: the call as JSON on stdin, the answer as JSON "
          "on stdout. A Bash command is replaced by `cloche run --call ID`, which runs in the sandbox "
          "exactly the script that was judged. What the agent does itself (Read, Write, Edit, WebFetch, "
          "mcp__*) is judged by the same gates and recorded as advisory, because nothing confines it: "
          "where you "
          "can, use `cloche mcp` with the agent's own tools off.",
      .rows = rows_of(tables()),
      .notes =
          "Every failure ends with exit code 2 and a sentence, which an agent takes for a no. An agent "
          "takes any other end without an answer for a yes.",
      .examples = {"cloche hook --install claude", "cloche hook --uninstall claude", "cloche log show last"}};
}

Result<HookArguments> parse_hook(std::span<char* const> words) {
  HookArguments arguments;
  const auto others =
      TRY(read_options(arguments, words, tables(), OptionsEnd::dashes, "see cloche hook --help"));
  if (arguments.help) return arguments;
  if (!others.empty()) return bad_usage("unexpected argument '" + std::string(others[0]) + "'");
  const bool judges = arguments.action == Action::judge;
  if (judges && (arguments.yes || !arguments.settings.empty()))
    return bad_usage("--yes and --settings are for --install, --uninstall and --check");
  const bool flags_for_line = judges || arguments.action == Action::install;
  if (!flags_for_line && !(arguments.workspace.empty() && arguments.timeout.empty()))
    return bad_usage("--workspace and --timeout are for the hook itself and for --install");
  if (!judges && arguments.places != 0)
    return bad_usage(
        "--home, --config-home, --state-home and --uid-range are for the hook itself; --install takes them "
        "from your environment");
  return arguments;
}

Result<std::string> answer_hook(std::string_view input, const HookArguments& arguments,
                                const Environment& environment) {
  const HookCall call = TRY(read_hook_call(input));
  const auto tool = understand_hook_tool(call);
  if (!tool.ok()) return reply_deny(correction_text(tool.error()));
  const std::string workspace = TRY(hook_workspace(call, arguments.workspace, environment));
  auto found = hook_place(call, workspace);
  if (!found.ok()) return reply_deny(correction_text(found.error()));
  HookPlace place = std::move(found).value();
  const Installation installation = TRY(find_installation(environment));
  const AgentSessions sessions = TRY(AgentSessions::open(installation.state));
  TRY(sessions.fix_workspace(session_key(call), workspace, wall_clock_ms()));
  if (tool.value().kind == Kind::command) place = shell_place(std::move(place), call, sessions);
  auto gateway = TRY(Gateway::open(hook_session(place), environment));
  TRY(check_hook_writes(gateway->session().settings));
  auto reply = Judge(call, place, who_answers(call, workspace, environment), *gateway).reply(tool.value());
  // With an answer the exit code is 0, and no agent gives its model what stands on stderr then.
  if (reply.ok()) complain_notes(gateway->session().idle_rules);
  return reply;
}

int hook_command(std::span<char* const> words, const Environment& environment) {
  const auto arguments = parse_hook(words);
  if (!arguments.ok() && is_hook_judgement(words)) return refuse(arguments.error());
  if (!arguments.ok()) return report(arguments.error());  // the operator typed it
  if (arguments.value().help) return print_all(text_of(hook_help()), 0);
  switch (arguments.value().action) {
    case Action::install:
    case Action::uninstall: return install_hook(arguments.value(), environment);
    case Action::check: return check_hook(arguments.value(), environment);
    case Action::judge: break;
  }
  return judge_from_stdin(arguments.value(), environment);
}

}  // namespace cloche
