#include <cloche/gateway.h>
#include <signal.h>
#include <unistd.h>

#include "doors/cli/call_arguments.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/print.hpp"
#include "doors/cli/screen.hpp"
#include "doors/commands.hpp"
#include "doors/library/session_of.hpp"
#include "gateway/session.hpp"
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

constexpr int failed_code = 125;

// For a terminal the text is shown as it is: it has been made harmless already.
int show(const v1::CallResult& result, bool json) {
  complain_notes(result.notes);
  // What the model does not get: where it is decided, what would change it, and what of ours has failed.
  const bool failed = result.end == v1::CallResult::End::failed;
  const bool has_terminal = ::isatty(2) == 1;
  if (!result.reason.empty() && (failed || has_terminal)) complain(visible(result.reason));
  if (has_terminal) {
    for (const auto& denial : result.denials) complain(visible(denial));
  }
  const v1::Changes& changes = result.changes;
  if (!json && !changes.summary.empty() && (has_terminal || !changes.is_whole)) complain(changes.summary);
  const std::string& text = json ? result.json : result.text;
  return print_all(text + (text.ends_with('\n') ? "" : "\n"),
                   changes.conflicts ? failed_code : result.exit_code);
}

// Of a gateway that could not be opened.
int fail(const v1::Error& error, bool json) {
  const v1::CallResult result = v1::not_made(error, json);
  if (json) print(result.json + "\n");
  complain(visible(error.fix.empty() ? error.what : error.what + "; " + error.fix));
  return result.exit_code;
}

// Whether it is of this command, and says nothing to a gateway.
bool is_of_output(const std::string& flag) { return flag == "--json"; }

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

// By the public headers alone, but for the words and the terminal.
int call_command(std::span<char* const> words, const Environment&) {
  auto parsed = parse_call(words, CallCommand::call);
  if (!parsed.ok()) return report(parsed.error());
  CallArguments& arguments = parsed.value();
  if (arguments.help) return print_all(text_of(call_help()), 0);
  if (const auto read = read_from_stdin(arguments); !read.ok())
    return fail(public_error(read.error()), arguments.json);
  v1::Options options;
  options.asked = v1::Asked::operators;
  options.flags = std::move(arguments.flags);
  std::erase_if(options.flags, is_of_output);
  auto gateway = v1::Gateway::open(options);
  if (!gateway.ok()) return fail(gateway.error(), arguments.json);
  ::signal(SIGTSTP, SIG_IGN);  // what the call has started would run on with no limit watched
  if (!arguments.json && gateway.value().works_in_run() && ::isatty(2) == 1)
    complain("note: the workspace is " + gateway.value().workspace());
  v1::Call call;
  call.tool = std::move(arguments.call.tool);
  call.arguments = std::move(arguments.call.arguments);
  call.json = arguments.json;
  return show(gateway.value().call(call), arguments.json);
}

int tools_command(std::span<char* const> words, const Environment& environment) {
  auto parsed = parse_call(words, CallCommand::tools);
  if (!parsed.ok()) return report(parsed.error());
  const CallArguments& arguments = parsed.value();
  if (arguments.help) return print_all(text_of(tools_help()), 0);
  const auto session = load_session(arguments.options, environment);
  if (!session.ok()) return report(session.error());
  const auto skill = skill_for(session.value(), arguments.skill);
  if (!skill.ok()) return report(skill.error());
  if (skill.value()) complain_notes(skill.value()->warnings);
  const auto tools = visible_tools(session.value(), skill.value() ? &*skill.value() : nullptr);
  if (!tools.ok()) return report(tools.error());
  print(arguments.format ? to_json(tools.value(), *arguments.format) + "\n"
                         : table_of(tools.value(), screen_of_output(environment)));
  return 0;
}

}  // namespace cloche
