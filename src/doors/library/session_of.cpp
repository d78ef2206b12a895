#include "doors/library/session_of.hpp"

#include <string_view>
#include <utility>

#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "doors/library/library_folder.hpp"

namespace cloche {
namespace {

using v1::Options;

struct TextFlag {
  std::string_view flag;
  std::optional<std::string> Options::*member;
};
constexpr TextFlag text_flags[] = {
    {"--workspace", &Options::workspace}, {"--run", &Options::run},
    {"--task", &Options::task},           {"--profile", &Options::profile},
    {"--autonomy", &Options::autonomy},   {"--commands", &Options::commands},
    {"--writes", &Options::writes},       {"--isolation", &Options::isolation},
    {"--skill", &Options::skill},         {"--executors", &Options::executors},
};

struct ListFlag {
  std::string_view flag;
  std::vector<std::string> Options::*member;
};
constexpr ListFlag list_flags[] = {
    {"--ro", &Options::read_only},      {"--rw", &Options::writable}, {"--hide", &Options::hide},
    {"--pass-env", &Options::pass_env}, {"--net", &Options::net},
};

struct Place {
  std::string_view variable;
  std::optional<std::string> Options::*member;
};
constexpr Place places[] = {{"HOME", &Options::home},
                            {"XDG_CONFIG_HOME", &Options::config_home},
                            {"XDG_STATE_HOME", &Options::state_home}};

// A zero byte ends what the kernel and the C library read, and not what the gates read.
Result<std::string> whole(std::string text) {
  if (text.find('\0') != std::string::npos) return usage_error("an option has a zero byte in it");
  return text;
}

Result<std::string> flag_of(const v1::Limit& limit) {
  if (find_by(limit_table, &LimitInfo::name, limit.name) == nullptr)
    return usage_error("there is no limit " + limit.name, "see cloche call --help");
  return "--" + limit.name + "=" + limit.value;
}

Result<Function> function_of(const v1::Function& given) {
  if (!given.run) return usage_error("the function " + given.name + " has nothing to run");
  Function function;
  function.spec.name = given.name;
  function.spec.description = given.description;
  function.spec.input_schema = given.input_schema.empty() ? R"({"type": "object"})" : given.input_schema;
  function.spec.output_schema = given.output_schema.empty() ? "{}" : given.output_schema;
  function.run = [run = given.run](const std::string& arguments) {
    return Result<std::string>(run(arguments));
  };
  return function;
}

}  // namespace

Result<std::vector<std::string>> flags_of(const Options& options) {
  std::vector<std::string> flags;
  for (const auto& row : text_flags) {
    if (const auto& value = options.*row.member)
      flags.push_back(TRY(whole(std::string(row.flag) + "=" + *value)));
  }
  for (const auto& row : list_flags) {
    for (const auto& value : options.*row.member)
      flags.push_back(TRY(whole(std::string(row.flag) + "=" + value)));
  }
  for (const auto& limit : options.limits) {
    std::string flag = TRY(flag_of(limit));
    flags.push_back(TRY(whole(std::move(flag))));
  }
  for (const auto& flag : options.flags) flags.push_back(TRY(whole(flag)));
  return flags;
}

Result<CallArguments> session_of(const Options& options) {
  std::vector<std::string> flags = TRY(flags_of(options));
  std::vector<char*> words;
  for (auto& flag : flags) words.push_back(flag.data());
  CallArguments arguments = TRY(parse_call(words, CallCommand::library));
  if (arguments.help) return usage_error("--help is no option of a gateway");
  SessionOptions& session = arguments.options;
  if (!options.record) {
    if (arguments.task || session.run)
      return usage_error("without a record there is neither a run nor a task");
    session.record = Registry::Record::none;
  }
  if (arguments.task) session.run_name = run_of_task(*arguments.task, session.operators);
  for (const auto& function : options.functions) session.functions.push_back(TRY(function_of(function)));
  session.programs = TRY(place_of_programs(options.programs));
  return arguments;
}

Result<std::vector<std::string>> environment_of(const Options& options, const std::vector<std::string>& own) {
  std::vector<std::string> environment;
  const auto is_replaced = [&](std::string_view variable) {
    for (const auto& place : places) {
      if (options.*place.member && variable.starts_with(std::string(place.variable) + "=")) return true;
    }
    return false;
  };
  for (const auto& variable : options.environment ? *options.environment : own) {
    if (options.environment && !ascii::is_variable_name(variable.substr(0, variable.find('='))))
      return usage_error("a variable of the environment is not NAME=VALUE");
    if (!is_replaced(variable)) environment.push_back(TRY(whole(variable)));
  }
  for (const auto& place : places) {
    if (const auto& value = options.*place.member)
      environment.push_back(TRY(whole(std::string(place.variable) + "=" + *value)));
  }
  return environment;
}

v1::Error public_error(const Error& error) {
  using Kind = v1::Error::Kind;
  constexpr Kind kinds[] = {Kind::usage,  Kind::configuration, Kind::missing_layer,
                            Kind::system, Kind::interrupted,   Kind::internal};
  static_assert(std::size(kinds) == static_cast<size_t>(Cause::internal) + 1);
  return {kinds[static_cast<size_t>(error.cause)], error.what.text(), error.fix.text()};
}

}  // namespace cloche
