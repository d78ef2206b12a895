#include "doors/cli/call_arguments.hpp"

#include <charconv>
#include <string_view>
#include <vector>

#include "base/sys/sys.hpp"
#include "base/text/ascii.hpp"
#include "doors/cli/arguments.hpp"
#include "policy/hosts/declared_hosts.hpp"

namespace cloche {
namespace {

// One byte more than a call may have: the schema gate sees that it is too much.
constexpr size_t most_arguments_bytes = call_limits.bytes + 1;

using Value = const std::string&;

Result<void> set_commands(CallArguments& arguments, Value value) {
  const auto profile = command_profile(value);
  if (!profile)
    return usage_error("--commands " + value + ": no such command profile",
                       "known are passive, full and any");
  // Also the default of a call that names no profile.
  Ceilings& ceilings = arguments.options.ceilings;
  ceilings.commands = ceilings.unasked = *profile;
  arguments.options.asked.commands = *profile;
  return {};
}

Result<void> set_autonomy(CallArguments& arguments, Value value) {
  const auto level = autonomy(value);
  if (!level)
    return usage_error("--autonomy " + value + ": no such level", "known are readonly, supervised and full");
  arguments.options.ceilings.level = *level;
  arguments.options.asked.autonomy = *level;
  return {};
}

Result<void> set_isolation(CallArguments& arguments, Value value) {
  RunRequest& operators = arguments.options.operators;
  operators.isolation = TRY(isolation_level_of_word(value));
  return {};
}

Result<void> set_backend(CallArguments& arguments, Value value) {
  RunRequest& operators = arguments.options.operators;
  operators.backend = TRY(backend_of_word(value));
  // load_session checks that --isolation names the same level.
  if (!operators.isolation)
    operators.isolation = operators.backend ? level_of(*operators.backend) : IsolationLevel::container;
  return {};
}

// Names alone: the value is the caller's, and no flag sets one for every call.
Result<void> add_pass_env(CallArguments& arguments, Value value) {
  if (!ascii::is_variable_name(value))
    return usage_error("--pass-env " + value + " is not the name of a variable",
                       "give a name alone: its value is the caller's");
  arguments.options.ceilings.pass_env.push_back(value);
  return {};
}

// The most that calls may reach, as the flag has it; a skill may narrow it.
Result<void> add_net(CallArguments& arguments, Value value) {
  std::vector<std::string> entries;
  TRY(declare_reach(entries, arguments.options.operators.ranges, value));
  arguments.options.ceilings.hosts.push_back(without_range(value));
  return {};
}

Result<void> add_net_any(CallArguments& arguments, Value) {
  arguments.options.ceilings.hosts.emplace_back(any_host);
  return {};
}

Result<void> set_pool(CallArguments& arguments, Value value) {
  size_t count = 0;
  const char* end = value.data() + value.size();
  const auto [at, problem] = std::from_chars(value.data(), end, count);
  if (problem != std::errc{} || at != end || count > most_pool)
    return usage_error("--pool " + value + " is not a number from 0 to " + std::to_string(most_pool));
  arguments.options.pool = count;
  return {};
}

Result<void> add_warm(CallArguments& arguments, Value value) {
  if (!fault_of_warm(value).empty())
    return usage_error("--warm " + value + " " + std::string(fault_of_warm(value)),
                       "write python3, or python3:MODULE,MODULE");
  arguments.options.warm.push_back(value);
  return {};
}

Result<void> set_format(CallArguments& arguments, Value value) {
  arguments.format = tool_format(value);
  if (!arguments.format)
    return usage_error("--format " + value + ": no such format", "known are mcp, openai and anthropic");
  return {};
}

RunRequest& request_of(CallArguments& arguments) { return arguments.options.operators; }
using Shared = RequestOptions<CallArguments, request_of>;

constexpr unsigned bit(CallCommand command) { return static_cast<unsigned>(command); }
constexpr unsigned of_tools = bit(CallCommand::tools);
constexpr unsigned of_mcp = bit(CallCommand::mcp);
// Those that stay between calls.
constexpr unsigned of_servers = of_mcp | bit(CallCommand::library);
constexpr unsigned of_call = bit(CallCommand::call) | bit(CallCommand::explain);

// A server has another default for --commands and --task, and prints what its client asks for.
constexpr Option<CallArguments> options[] = {
    {"", "", "What calls may use:"},
    {"--skill", "FILE",
     "A SKILL.md that says what the task may use (default: every shipped tool, and no network).",
     keep<&CallArguments::skill>},
    {"--executors", "DIR",
     "Tools of your own: DIR/NAME/manifest.json (default: executors_dir of the configuration).",
     keep<&CallArguments::options, &SessionOptions::executors>},
    {"--commands", "C",
     "The most that run_shell may run: passive, full or any (default: full, and passive unless the call asks "
     "for more).",
     set_commands, ~of_mcp},
    {"--commands", "C", "The most that run_shell may run: passive, full or any (default).", set_commands,
     of_mcp},
    {"--autonomy", "A", "How much happens without a question: readonly, supervised (default) or full.",
     set_autonomy},
    Shared::profile,
    Shared::writes,
    Shared::live,
    {"--isolation", "LEVEL", isolation_help, set_isolation},
    {"--backend", "B", backend_help, set_backend},
    Shared::read_only,
    Shared::writable,
    Shared::hide,
    Shared::allow_protected,
    {"--pass-env", "NAME",
     "Pass a variable of the caller's, unless its name looks like a secret. May be repeated.", add_pass_env},
    {"--net", "HOST[:PORT]",
     "A host that calls may reach, as of cloche run; under a skill that came with a project, the most that "
     "it may name. May be repeated.",
     add_net},
    {"--net-any", "", "Any public name on 80 and 443, and no private address.", add_net_any},
    {"", "", "Workspace and record:"},
    Shared::workspace,
    {"--run", "DIR",
     "Keep the record in DIR, and work in DIR/artifacts unless --workspace is given (default: a new run in "
     "Cloche's state directory).",
     keep<&CallArguments::options, &SessionOptions::run>},
    {"--task", "ID",
     "The task that the call belongs to. Calls of one task share a private $HOME and /tmp (default: none).",
     keep<&CallArguments::task>, ~of_mcp},
    {"--task", "ID",
     "A task whose $HOME, /tmp and transcript outlive this server (default: a home for this server's calls, "
     "which ends with it).",
     keep<&CallArguments::task>, of_mcp},
    {"--role", "R", "Who asks, for the record (default: agent).", keep<&CallArguments::role>},
    {"--pool", "N",
     "How many sandboxes are prepared before a call comes, 0 to 16 (default: 2, or as the key pool says).",
     set_pool, of_servers},
    {"", "", "Output:"},
    {"--json", "", "Print one JSON object on stdout.", raise<&CallArguments::json>,
     of_call | bit(CallCommand::config)},
    {"--format", "F", "As an API expects the tools: mcp, openai or anthropic (default: a table).", set_format,
     of_tools},
    {"--prompt", "FILE", "Offer this SKILL.md as a prompt. May be repeated.", add<&CallArguments::prompts>,
     of_mcp},
    {"--warm", "PROGRAM",
     "Have this program started before a call needs it: python3, for run_python, or python3:MODULE,... with "
     "modules imported. Each one serves a single call.",
     add_warm, of_servers},
    help_option<CallArguments>,
    {"", "", "Limits of each call; none can be switched off:"},
};

constexpr Option<CallArguments> places_heading[] = {
    {"", "",
     "The operator's directories. With one of these flags none of them is taken from the client's "
     "environment:"}};

OptionTables<CallArguments> tables_of(CallCommand command) {
  static constexpr auto limits = limit_options<CallArguments, request_of>;
  OptionTables<CallArguments> all{{options, limits}, bit(command)};
  if (command == CallCommand::mcp) {
    all.tables.emplace_back(places_heading);
    all.tables.emplace_back(place_options<CallArguments>);
  }
  return all;
}

}  // namespace

std::vector<HelpRow> call_options_of(CallCommand command) {
  std::vector<HelpRow> rows = rows_of(tables_of(command));
  show_defaults(rows, default_session().operators.limits);
  return rows;
}

Result<CallArguments> parse_call(std::span<char* const> words, CallCommand command) {
  CallArguments arguments{.options = default_session()};
  const auto others =
      TRY(read_options(arguments, words, tables_of(command), OptionsEnd::dashes, "see --help"));
  if (arguments.help) return arguments;
  // A host selects the profile with a network, as with `cloche run`.
  RunRequest& operators = arguments.options.operators;
  if (!arguments.options.ceilings.hosts.empty() && operators.profile_name.empty())
    operators.profile = Profile::workspace_write;
  if ((bit(command) & of_call) == 0) {
    if (!others.empty()) return usage_error("unexpected argument " + std::string(others[0]), "see --help");
    return arguments;
  }
  const size_t least = command == CallCommand::call ? 1 : 2;
  if (others.size() < least || others.size() > 2)
    return usage_error("a call needs TOOL and ARGS-JSON, or - to read the arguments from stdin");
  arguments.call = {others[0], others.size() == 2 ? others[1] : "{}"};
  return arguments;
}

Result<void> read_from_stdin(CallArguments& arguments) {
  if (arguments.call.arguments != "-") return {};
  arguments.call.arguments = TRY(sys::read_beginning(0, most_arguments_bytes));
  return {};
}

}  // namespace cloche
