// The words of a tool call: of `cloche call`, `cloche explain call` and, without a call, of the others.
#include "doors/call_arguments.hpp"
#include "doors/agent_environment.hpp"

#include <string_view>
#include <vector>

#include "base/sys.hpp"
#include "doors/agent_environment.hpp"
#include "doors/arguments.hpp"
#include "policy/declared_hosts.hpp"
#include "policy/secret_names.hpp"

namespace cloche {
namespace {

// One byte more than a call may have: the schema gate sees that it is too much, and nobody reads the rest.
constexpr size_t most_arguments_bytes = call_limits.bytes + 1;

using Apply = Result<void> (*)(CallArguments& arguments, const std::string& value);

Result<void> set_commands(CallArguments& arguments, const std::string& value) {
  const auto profile = command_profile(value);
  if (!profile)
    return usage_error("--commands " + value + ": no such profile", "known are passive, full and any");
  // Whoever names it means it: a call that asks for nothing narrower has all of it.
  Ceilings& ceilings = arguments.options.ceilings;
  ceilings.commands = ceilings.unasked = *profile;
  arguments.options.asked.commands = *profile;
  return {};
}

Result<void> set_autonomy(CallArguments& arguments, const std::string& value) {
  const auto level = autonomy(value);
  if (!level)
    return usage_error("--autonomy " + value + ": no such level", "known are readonly, supervised and full");
  arguments.options.ceilings.level = *level;
  arguments.options.asked.autonomy = *level;
  return {};
}

Result<void> set_isolation(CallArguments& arguments, const std::string& value) {
  RunRequest& operators = arguments.options.operators;
  operators.isolation = TRY(rung_of_word(value));
  return {};
}

Result<void> set_backend(CallArguments& arguments, const std::string& value) {
  RunRequest& operators = arguments.options.operators;
  operators.backend = TRY(backend_of_word(value));
  // A rung that was said besides must be this one; load_session looks.
  if (!operators.isolation)
    operators.isolation = operators.backend ? rung_of(*operators.backend) : Rung::container;
  return {};
}

Result<void> set_profile(CallArguments& arguments, const std::string& value) {
  return set_profile_of(arguments.options.operators, value);
}

// A value would be the operator's own word for every call; names are all that a call is given.
Result<void> add_pass_env(CallArguments& arguments, const std::string& value) {
  if (!is_variable_name(value))
    return usage_error("--pass-env " + value + " is not the name of a variable",
                       "give a name alone: its value is the caller's");
  arguments.options.ceilings.pass_env.push_back(value);
  return {};
}

Result<void> add_grant(CallArguments& arguments, const std::string& value, bool writable) {
  arguments.options.operators.grants.push_back(TRY(parse_grant(value, writable)));
  return {};
}

// What the operator permits, in the words of the flag; a skill may have less of it.
Result<void> add_net(CallArguments& arguments, const std::string& value) {
  std::vector<std::string> entries;
  TRY(declare_host(entries, value));
  arguments.options.ceilings.hosts.push_back(value);
  return {};
}

Result<void> add_net_any(CallArguments& arguments, const std::string&) {
  arguments.options.ceilings.hosts.emplace_back(any_host);
  return {};
}

Result<void> set_format(CallArguments& arguments, const std::string& value) {
  arguments.format = tool_format(value);
  if (!arguments.format)
    return usage_error("--format " + value + ": no such format", "known are mcp, openai and anthropic");
  return {};
}

// Into a text of the arguments.
template <auto member>
Result<void> keep(CallArguments& arguments, const std::string& value) {
  if (value.empty()) return usage_error("a flag has an empty value");
  arguments.*member = value;
  return {};
}
template <auto member>
Result<void> keep_option(CallArguments& arguments, const std::string& value) {
  if (value.empty()) return usage_error("a flag has an empty value");
  arguments.options.*member = value;
  return {};
}
template <auto member>
Result<void> raise(CallArguments& arguments, const std::string&) {
  arguments.*member = true;
  return {};
}

struct Flag {
  std::string_view name;
  bool takes_value;
  Apply apply;
};
constexpr Flag flags[] = {
    {"--json", false, raise<&CallArguments::json>},
    {"--help", false, raise<&CallArguments::help>},
    {"-h", false, raise<&CallArguments::help>},
    {"--commands", true, set_commands},
    {"--workspace", true,
     [](CallArguments& arguments, const std::string& value) -> Result<void> {
       arguments.options.operators.workspace = value;
       return {};
     }},
    {"--autonomy", true, set_autonomy},
    {"--profile", true, set_profile},
    {"--isolation", true, set_isolation},
    {"--backend", true, set_backend},
    {"--ro", true,
     [](CallArguments& arguments, const std::string& value) { return add_grant(arguments, value, false); }},
    {"--rw", true,
     [](CallArguments& arguments, const std::string& value) { return add_grant(arguments, value, true); }},
    {"--allow-protected", true,
     [](CallArguments& arguments, const std::string& value) -> Result<void> {
       if (value.empty()) return usage_error("--allow-protected needs a path");
       arguments.options.operators.allow_protected.push_back(value);
       return {};
     }},
    {"--pass-env", true, add_pass_env},
    {"--net", true, add_net},
    {"--net-any", false, add_net_any},
    {"--skill", true, keep<&CallArguments::skill>},
    {"--run", true, keep_option<&SessionOptions::run>},
    {"--executors", true, keep_option<&SessionOptions::executors>},
    {"--task", true, keep<&CallArguments::task>},
    {"--role", true, keep<&CallArguments::role>},
    {"--format", true, set_format},
    {"--prompt", true,
     [](CallArguments& arguments, const std::string& value) -> Result<void> {
       if (value.empty()) return usage_error("--prompt needs a SKILL.md");
       arguments.prompts.push_back(value);
       return {};
     }},
};

const Flag* find_flag(std::string_view name) {
  for (const auto& flag : flags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

// The limits have the flags of `cloche run`.
const LimitInfo* find_limit(std::string_view name) {
  for (const auto& row : limit_table) {
    if (row.flag == name) return &row;
  }
  return nullptr;
}

// One flag with its value, which may be the next word.
Result<void> take_flag(CallArguments& arguments, std::span<char* const> words, size_t& at) {
  const std::string word = words[at];
  const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const std::string name = word.substr(0, equals);
  const Flag* flag = find_flag(name);
  const LimitInfo* limit = find_limit(name);
  if (flag == nullptr && limit == nullptr) return usage_error("unknown flag " + name, "see --help");
  const bool takes_value = limit != nullptr || flag->takes_value;
  if (!takes_value && equals != std::string::npos) return usage_error(name + " takes no value");
  std::string value = equals != std::string::npos ? word.substr(equals + 1) : "";
  if (takes_value && equals == std::string::npos) {
    if (++at == words.size()) return usage_error(name + " needs a value");
    value = words[at];
  }
  if (limit != nullptr) {
    arguments.options.operators.said_limits.push_back(limit->id);
    return set_limit(arguments.options.operators.limits, *limit, value);
  }
  return flag->apply(arguments, value);
}

}  // namespace

Result<CallArguments> parse_call(std::span<char* const> words, CallWords expected) {
  CallArguments arguments{.options = default_session()};
  std::vector<std::string> plain;
  bool only_plain = false;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string word = words[at];
    if (only_plain || word.size() < 2 || word[0] != '-') {
      plain.push_back(word);
    } else if (word == "--") {
      only_plain = true;
    } else if (expected == CallWords::server && is_flag_of_place(word.substr(0, word.find('=')))) {
      // agent_environment.hpp has read it
      if (word.find('=') == std::string::npos && ++at == words.size())
        return usage_error(word + " needs a value");
    } else {
      TRY(take_flag(arguments, words, at));
    }
  }
  if (arguments.help) return arguments;
  // Who names a host wants the profile that has a network, as with `cloche run`.
  RunRequest& operators = arguments.options.operators;
  if (!arguments.options.ceilings.hosts.empty() && operators.profile_name.empty())
    operators.profile = Profile::workspace_write;
  if (arguments.options.run && arguments.options.operators.workspace)
    return usage_error("--run has its workspace in it: give --run or --workspace");
  if (expected == CallWords::server && (arguments.format || arguments.json))
    return usage_error("a server prints what its client asks for, and nothing by --json or --format");
  if (expected != CallWords::server && !arguments.prompts.empty())
    return usage_error("--prompt belongs to cloche mcp");
  if (expected == CallWords::none || expected == CallWords::server) {
    if (!plain.empty()) return usage_error("what is " + plain[0] + "?", "see --help");
    return arguments;
  }
  if (arguments.format) return usage_error("--format belongs to cloche tools");
  const size_t least = expected == CallWords::tool ? 1 : 2;
  if (plain.size() < least || plain.size() > 2)
    return usage_error("a call is TOOL and ARGS-JSON, or - to read them from stdin");
  arguments.call = {plain[0], plain.size() == 2 ? plain[1] : "{}"};
  return arguments;
}

Result<void> read_from_stdin(CallArguments& arguments) {
  if (arguments.call.arguments != "-") return {};
  arguments.call.arguments = TRY(sys::read_beginning(0, most_arguments_bytes));
  return {};
}

}  // namespace cloche
