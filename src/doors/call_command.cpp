#include "doors/call_command.hpp"

#include <unistd.h>

#include "base/json.hpp"
#include "base/sys.hpp"
#include "doors/call_arguments.hpp"
#include "doors/explain_command.hpp"
#include "doors/print.hpp"
#include "tools/formats.hpp"
#include "tools/process_output.hpp"

namespace cloche {
namespace {

std::string call_help() {
  return "cloche call TOOL [ARGS-JSON | -] [flags]\n"
         "\n"
         "Makes one tool call as a model would: judged by every gate, run under kernel isolation, recorded. "
         "Prints\n"
         "the exact text that the model gets.\n"
         "\n"
         "  --commands C       passive, full or any: the most that run_shell may run (default full, and "
         "passive\n"
         "                     unless the call asks for more)\n"
         "  --skill FILE       a SKILL.md that says what the task may use\n"
         "  --executors DIR    your own tools: DIR/NAME/manifest.json\n"
         "  --workspace DIR    where it works (default: the working directory); the record is in Cloche's "
         "state\n"
         "  --run DIR          where the record is, with the workspace in DIR/artifacts\n"
         "  --task ID          calls of one task share a private $HOME and /tmp\n"
         "  --role R           who asks, for the record (default agent)\n"
         "  --autonomy A       readonly, supervised (default) or full\n"
         "  --isolation RUNG   subprocess, namespace (default), container or gvisor, for programs; --backend "
         "B "
         "as for run\n"
         "  --profile P        readonly, workspace-write-no-network (default), workspace-write, or one of "
         "yours\n"
         "  --ro DIR           one more directory to read; may be repeated\n"
         "  --allow-protected PATH   of the protected set, what commands may change; may be repeated\n"
         "  --pass-env NAME    one variable of yours, never a secret-shaped one; may be repeated\n"
         "  --net HOST[:PORT]  a host that calls may reach, as of `cloche run`; with a skill of a project "
         "the "
         "most\n"
         "                     that it may name; --net-any: any public name on 80 and 443; may be repeated\n"
         "  --timeout, --memory, --output, ...   limits as of `cloche run`; --output defaults to 16M\n"
         "  --json             outcome, gates, result and layers as one JSON object\n"
         "\n"
         "Exit codes: as of `cloche run`; 126 when a gate refused, 127 when the program is not installed.\n"
         "\n"
         "Examples:\n"
         "  cloche call run_shell '{\"cmd\": \"python3 -m py_compile add.py\"}'\n"
         "  cloche call run_python '{\"code\": \"print(sum(range(10)))\"}'\n"
         "  cloche call write_artifact '{\"path\": \"out/report.md\", \"content\": \"...\"}' --run run1\n"
         "  cloche call http_get '{\"url\": \"https://example.org/\"}' --net example.org\n"
         "  echo '{\"cmd\": \"ls\"}' | cloche call run_shell - --run run1 --task T-001\n";
}

std::string tools_help() {
  return "cloche tools [--format mcp|openai|anthropic] [--skill FILE] [--executors DIR]\n"
         "\n"
         "Prints the tools of the loadout, as a table or exactly as an API expects them: mcp is the result "
         "of\n"
         "tools/list, openai and anthropic the value of `tools` in a request.\n"
         "\n"
         "Examples:\n"
         "  cloche tools\n"
         "  cloche tools --format openai --skill skills/coding/SKILL.md\n";
}

int fail(const Error& error, bool json = false) {
  const int code = error.cause == Cause::usage ? 2 : 125;
  if (json) {
    CallResult result;
    result.outcome = failed(error);
    result.outcome.exit_code = code;
    result.result = shown_text(result.outcome, "", {});
    print(call_json(result) + "\n");
  }
  complain(describe(error));
  return code;
}

// For a terminal the text is shown as it is: it has been made harmless already.
int show(const CallResult& result, bool json) {
  for (const auto& note : result.notes) complain("note: " + visible(note));
  // What the model does not get: where it is decided, what would change it, and what of ours has failed.
  const bool failed = result.outcome.end == End::failed;
  const bool told = result.outcome.end != End::exited && !result.outcome.advice.empty() && ::isatty(2) == 1;
  if (failed || told) complain(visible(operators_reason(result.outcome)));
  const std::string text = json ? call_json(result) : result.result;
  return print_all(text + (text.ends_with('\n') ? "" : "\n"), result.outcome.exit_code);
}

std::string first_sentence(const std::string& text) { return text.substr(0, text.find(". ")); }

std::string table_of(const std::vector<ToolSpec>& tools) {
  std::string text;
  for (const auto& tool : tools) {
    std::string name = tool.name;
    name.resize(std::max<size_t>(name.size() + 2, 20), ' ');
    text += name + first_sentence(tool.description) + "\n";
  }
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
  out.key("notes").begin_array();
  for (const auto& note : result.notes) out.value(note);
  return out.end_array().end_object().text();
}

int call_door(std::span<char* const> words, const Environment& environment, Approver& approver) {
  auto parsed = parse_call(words, CallWords::tool);
  if (!parsed.ok()) return fail(parsed.error());
  CallArguments& arguments = parsed.value();
  if (arguments.help) {
    print(call_help());
    return 0;
  }
  const bool json = arguments.json;
  if (const auto read = read_from_stdin(arguments); !read.ok()) return fail(read.error(), json);
  if (arguments.task) arguments.options.run_name = run_of_task(*arguments.task, arguments.options.operators);
  auto gateway = Gateway::open(std::move(arguments.options), environment);
  if (!gateway.ok()) return fail(gateway.error(), json);
  CallContext context{.task = arguments.task, .role = arguments.role};
  const auto skill = skill_for(gateway.value()->session(), arguments.skill);
  if (!skill.ok()) return fail(skill.error(), json);
  if (skill.value()) context.skill = &*skill.value();
  return show(gateway.value()->call(arguments.call, context, approver), arguments.json);
}

int tools_door(std::span<char* const> words, const Environment& environment) {
  auto parsed = parse_call(words, CallWords::none);
  if (!parsed.ok()) return fail(parsed.error());
  const CallArguments& arguments = parsed.value();
  if (arguments.help) {
    print(tools_help());
    return 0;
  }
  const auto session = load_session(arguments.options, environment);
  if (!session.ok()) return fail(session.error());
  const auto skill = skill_for(session.value(), arguments.skill);
  if (!skill.ok()) return fail(skill.error());
  if (skill.value()) {
    for (const auto& warning : skill.value()->warnings) complain("note: " + visible(warning));
  }
  const auto tools = visible_tools(session.value(), skill.value() ? &*skill.value() : nullptr);
  if (!tools.ok()) return fail(tools.error());
  print(arguments.format ? to_json(tools.value(), *arguments.format) + "\n" : table_of(tools.value()));
  return 0;
}

}  // namespace cloche
