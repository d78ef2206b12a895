#include "doors/help.hpp"

#include "doors/cli/options.hpp"

namespace cloche {

std::string main_help() {
  return text_of(HelpPage{
      .usage = "cloche COMMAND [flags] ...",
      .about = "Runs commands and tool calls of models under kernel isolation, judges them first, and "
               "records them.",
      .rows = {{"run -- CMD ARG...", "Run a command under kernel isolation."},
               {"call TOOL JSON", "Make a tool call as a model does: judged, run under isolation, recorded."},
               {"explain run|call ...", "Show every gate's answer and the plan; run nothing."},
               {"tools", "List the tools, as a table or as an API expects them."},
               {"mcp", "Serve MCP on stdin and stdout, for an agent."},
               {"hook", "Judge the calls of Claude Code and Codex as their PreToolUse hook."},
               {"approve [yes|no ID]", "Answer the questions that wait for the operator."},
               {"log show|verify|tail RUN", "Show the record of a run, or check it."},
               {"profiles", "List the sandbox profiles, or run their examples."},
               {"config", "Show what the configuration comes to here, and which file says so."},
               {"test [FILE...]", "Check the examples of command shapes and rules."},
               {"new KIND NAME", "Write a skill, an executor or a rule that works, with its test."},
               {"wrap --backend B -- CMD",
                "Print the plan of a command for bubblewrap, an OCI runtime or macOS."},
               {"doctor", "Show what this host can enforce, proven by running it."},
               {"--version", "Print the version."}},
      .notes = "'cloche COMMAND --help' lists every flag of a command with its default.",
      .examples = {"cloche run -- python3 build.py", "cloche run --profile readonly -- git log",
                   "cloche run --json -- make test"}});
}

}  // namespace cloche
