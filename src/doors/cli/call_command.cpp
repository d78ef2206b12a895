#include "doors/cli/call_command.hpp"

#include <signal.h>
#include <unistd.h>

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "doors/cli/call_arguments.hpp"
#include "doors/cli/explain_command.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/print.hpp"
#include "doors/cli/run_command.hpp"
#include "doors/cli/screen.hpp"
#include "doors/commands.hpp"
#include "tools/answer/process_output.hpp"
#include "tools/formats.hpp"

namespace cloche {
HelpPage call_help() {
  return {
      .usage = "cloche call TOOL [ARGS-JSON | -] [flags]",
      .about =
          "Makes one tool call as a model would: judged by every gate, run under kernel isolation, "
          "recorded. Prints the exact text that the model gets. With - the arguments are read from "
          "stdin; without them they are {}.",
      .rows = call_options_of(CallCommand::call),
      .notes =
          "Exit codes: as of cloche run; 126 when a gate refused, 127 when the program is not installed, 125 "
          "also when the host or another call changed the same files, so that nothing was committed.",
      .examples = {R"(cloche call run_shell '{"cmd": "python3 -m py_compile add.py"}')",
                   R"x(cloche call run_python '{"code": "print(sum(range(10)))"}')x",
                   R"(cloche call write_artifact '{"path": "out/report.md", "content": "..."}' --run run1)",
                   R"(cloche call http_get '{"url": "https://example.org/"}' --net example.org)",
                   R"(echo '{"cmd": "ls"}' | cloche call run_shell - --run run1 --task T-001)"}};
}

HelpPage tools_help() {
  return {.usage = "cloche tools [--format mcp|openai|anthropic] [flags]",
          .about =
              "Prints the tools that a call with the same flags could use, as a table or exactly "
              "as an API expects them: mcp is the result of tools/list, openai and anthropic the "
              "value of `tools` in a request.",
          .rows = call_options_of(CallCommand::tools),
          .examples = {"cloche tools", "cloche tools --format openai --skill skills/coding/SKILL.md"}};
}

namespace {

int fail(const Error& error, bool json = false) {
  if (json) {
    CallResult result;
    result.outcome = failed(error);
    result.outcome.exit_code = exit_code_of(error);
    result.result = shown_text(result.outcome, "", {});
    print(call_json(result) + "\n");
  }
  return report(error);
}

constexpr int failed_code = 125;

// For a terminal the text is shown as it is: it has been made harmless already.
int show(const CallResult& result, bool json) {
  complain_notes(result.notes);
  // What the model does not get: where it is decided, what would change it, and what of ours has failed.
  const bool failed = result.outcome.end == End::failed;
  const bool told = result.outcome.end != End::exited && !result.outcome.advice.empty() && ::isatty(2) == 1;
  if (failed || told) complain(visible(operators_reason(result.outcome)));
  for (const auto& denial : result.outcome.denials) {
    if (is_outlived(denial) && ::isatty(2) == 1) complain(visible((denial.what + denial.advice).text()));
  }
  const auto& changes = result.outcome.changes;
  const bool counts = changes && changes->end != ChangesEnd::none && ::isatty(2) == 1;
  if (!json && changes && (counts || !changes->is_whole())) complain(summary_line(*changes));
  const std::string text = json ? call_json(result) : result.result;
  const bool conflicts = changes && !changes->conflicts.empty();
  return print_all(text + (text.ends_with('\n') ? "" : "\n"),
                   conflicts ? failed_code : result.outcome.exit_code);
}

std::string first_sentence(const std::string& text) { return text.substr(0, text.find(". ")); }

std::string table_of(const std::vector<ToolSpec>& tools, const Screen& screen) {
  constexpr size_t name_width = 20;
  std::string text;
  for (const auto& tool : tools)
    text +=
        fitted(padded(tool.name, name_width) + first_sentence(tool.description) + "\n", name_width, screen);
  return text;
}

}  // namespace

std::string call_json(const CallResult& result) {
  JsonWriter out;
  out.begin_object();
  write_members(out, result.outcome, result.plan_digest);
  out.member("call_id", result.call_id).member("run_id", result.run_id).member("tool", result.tool);
  out.member("result", result.result).key("structured");
  result.structured.empty() ? out.null() : out.raw(result.structured);
  const AnswerFault fault = result.outcome.answer_fault;
  fault == AnswerFault::none ? out.key("failure").null() : out.member("failure", name_of(fault));
  out.member("decision", name_of(result.judgement.decision));
  write_gates(out, result.judgement);
  return out.member("notes", result.notes).end_object().text();
}

int call_command(std::span<char* const> words, const Environment& environment, Approver& approver) {
  auto parsed = parse_call(words, CallCommand::call);
  if (!parsed.ok()) return fail(parsed.error());
  CallArguments& arguments = parsed.value();
  if (arguments.help) return print_all(text_of(call_help()), 0);
  const bool json = arguments.json;
  if (const auto read = read_from_stdin(arguments); !read.ok()) return fail(read.error(), json);
  if (arguments.task) arguments.options.run_name = run_of_task(*arguments.task, arguments.options.operators);
  auto gateway = Gateway::open(std::move(arguments.options), environment);
  if (!gateway.ok()) return fail(gateway.error(), json);
  ::signal(SIGTSTP, SIG_IGN);  // what the call has started would run on with no limit watched
  CallContext context{.task = arguments.task, .role = arguments.role};
  const auto skill = skill_for(gateway.value()->session(), arguments.skill);
  if (!skill.ok()) return fail(skill.error(), json);
  if (skill.value()) context.skill = &*skill.value();
  if (!json) say_workspace_of_run(gateway.value()->session());
  return show(gateway.value()->call(arguments.call, context, approver), arguments.json);
}

int tools_command(std::span<char* const> words, const Environment& environment) {
  auto parsed = parse_call(words, CallCommand::tools);
  if (!parsed.ok()) return fail(parsed.error());
  const CallArguments& arguments = parsed.value();
  if (arguments.help) return print_all(text_of(tools_help()), 0);
  const auto session = load_session(arguments.options, environment);
  if (!session.ok()) return fail(session.error());
  const auto skill = skill_for(session.value(), arguments.skill);
  if (!skill.ok()) return fail(skill.error());
  if (skill.value()) complain_notes(skill.value()->warnings);
  const auto tools = visible_tools(session.value(), skill.value() ? &*skill.value() : nullptr);
  if (!tools.ok()) return fail(tools.error());
  print(arguments.format ? to_json(tools.value(), *arguments.format) + "\n"
                         : table_of(tools.value(), screen_of_output(environment)));
  return 0;
}

}  // namespace cloche
