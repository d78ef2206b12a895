// The words of `cloche explain call`.
#include <optional>
#include <string_view>
#include <vector>

#include "doors/arguments.hpp"
#include "doors/explain_command.hpp"
#include "policy/secret_names.hpp"

namespace cloche {
namespace {

struct Flag {
  std::string_view name;
  bool takes_value;
};
constexpr Flag flags[] = {
    {"--json", false},    {"--help", false},   {"-h", false},    {"--commands", true}, {"--workspace", true},
    {"--autonomy", true}, {"--profile", true}, {"--ro", true},   {"--pass-env", true}, {"--timeout", true},
    {"--skill", true},    {"--run", true},     {"--task", true}, {"--role", true}};

const Flag* find_flag(std::string_view name) {
  for (const auto& flag : flags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

Result<void> set_commands(CallRequest& request, const std::string& value) {
  const auto profile = command_profile(value);
  if (!profile)
    return usage_error("--commands " + value + ": no such profile", "known are passive, full and any");
  // Whoever names it means it: a call that asks for nothing narrower has all of it.
  request.ceilings.commands = request.ceilings.unasked = *profile;
  return {};
}

Result<void> set_autonomy(CallRequest& request, const std::string& value) {
  const auto level = autonomy(value);
  if (!level)
    return usage_error("--autonomy " + value + ": no such level", "known are readonly, supervised and full");
  request.ceilings.level = *level;
  return {};
}

Result<void> set_profile(CallRequest& request, const std::string& value) {
  if (value == "readonly") {
    request.operators.profile = Profile::readonly;
  } else if (value == "workspace-write") {
    return refusal("--profile workspace-write: the network it gives is not part of this build",
                   "use workspace-write-no-network");
  } else if (value != "workspace-write-no-network") {
    return usage_error("--profile " + value + ": no such profile",
                       "known are readonly and workspace-write-no-network");
  }
  return {};
}

// A value would be the operator's own word for every call; names are all that a call is given.
Result<void> add_pass_env(CallRequest& request, const std::string& value) {
  if (!is_variable_name(value))
    return usage_error("--pass-env " + value + " is not the name of a variable",
                       "give a name alone: its value is the caller's");
  request.ceilings.pass_env.push_back(value);
  return {};
}

Result<void> apply(CallArguments& arguments, std::string_view name, const std::string& value) {
  CallRequest& request = arguments.request;
  if (name == "--json") {
    arguments.json = true;
  } else if (name == "--help" || name == "-h") {
    arguments.help = true;
  } else if (name == "--commands") {
    return set_commands(request, value);
  } else if (name == "--workspace") {
    request.operators.workspace = value;
  } else if (name == "--autonomy") {
    return set_autonomy(request, value);
  } else if (name == "--profile") {
    return set_profile(request, value);
  } else if (name == "--ro") {
    request.operators.grants.push_back(TRY(parse_grant(value, false)));
  } else if (name == "--pass-env") {
    return add_pass_env(request, value);
  } else if (name == "--timeout") {
    return set_limit(request.operators.limits, info_of(LimitId::wall), value);
  } else {
    return refusal(std::string(name) + " is not part of this build", "leave the flag out");
  }
  return {};
}

}  // namespace

Result<CallArguments> parse_call(std::span<char* const> words) {
  CallArguments arguments;
  Ceilings& ceilings = arguments.request.ceilings;
  ceilings.commands = CommandProfile::full;
  ceilings.loadout = std::nullopt;  // no skill: every shipped tool
  ceilings.level = Autonomy::supervised;
  std::vector<std::string> plain;
  bool only_plain = false;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string word = words[at];
    if (only_plain || word.size() < 2 || word[0] != '-') {
      plain.push_back(word);
      continue;
    }
    if (word == "--") {
      only_plain = true;
      continue;
    }
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const Flag* flag = find_flag(name);
    if (flag == nullptr) return usage_error("unknown flag " + name, "see cloche explain --help");
    std::string value = equals != std::string::npos ? word.substr(equals + 1) : "";
    if (!flag->takes_value && equals != std::string::npos) return usage_error(name + " takes no value");
    if (flag->takes_value && equals == std::string::npos) {
      if (++at == words.size()) return usage_error(name + " needs a value");
      value = words[at];
    }
    TRY(apply(arguments, name, value));
  }
  if (arguments.help) return arguments;
  if (plain.size() != 2) return usage_error("a call is TOOL and ARGS-JSON, or - to read them from stdin");
  arguments.request.call = {plain[0], plain[1]};
  return arguments;
}

}  // namespace cloche
