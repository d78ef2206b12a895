// `cloche test`: checks the examples that command shapes, permission rules and profiles carry, with the line
// of each that fails. With --replay: which past verdicts would change under other permission rules.
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/checks/profile_check.hpp"
#include "gateway/configuration/configuration.hpp"
#include "gateway/configuration/rule_gate.hpp"
#include "gateway/replay.hpp"
#include "policy/rules/rule_lint.hpp"
#include "policy/shipped_files.hpp"
#include "store/config/profile_files.hpp"
#include "store/config/rule_files.hpp"
#include "store/config/settings.hpp"
#include "store/config/skill_files.hpp"

namespace cloche {
namespace {

struct Tally {
  size_t files = 0;
  size_t examples = 0;
  size_t failures = 0;
};

void say(const std::string& line) { print(on_one_line(line) + "\n"); }

void fail(const std::string& what, Tally& tally) {
  ++tally.failures;
  say("FAILED  " + what);
}

void check_shapes(const std::string& text, const std::string& name, Tally& tally) {
  const auto shapes = read_shapes(text, name);
  if (!shapes.ok()) return fail(describe(shapes.error()), tally);
  const ExampleCount count = check_examples(shapes.value());
  tally.examples += count.checked;
  for (const auto& failure : count.failures) fail(failure, tally);
  say((count.failures.empty() ? "ok      " : "        ") + name + ": " +
      std::to_string(shapes.value().size()) + " shapes, " + std::to_string(count.checked) + " examples");
}

// Reading them checks their examples. A rule that can never decide fails as well: its author relies on
// it.
void check_rules(const std::string& text, const std::string& name, const std::vector<ToolArguments>& own,
                 Tally& tally) {
  const auto rules = rules_in(text, name);
  if (!rules.ok()) return fail(describe(rules.error()), tally);
  tally.examples += rules.value().example_count();
  const size_t failures_before = tally.failures;
  for (const auto& [rule, what, weight] : lint(rules.value(), own)) {
    const std::string sentence = rule + ": " + what;
    weight == RuleFinding::Weight::fault ? fail(sentence, tally) : say("note    " + sentence);
  }
  say((tally.failures == failures_before ? "ok      " : "        ") + name + ": " +
      std::to_string(rules.value().rules().size()) + " rules, " +
      std::to_string(rules.value().example_count()) + " examples");
}

bool is_of_sandbox_profile(const JsonValue& root) {
  return root.find("extends") != nullptr ||
         (root.find("workspace") != nullptr && root.find("network") != nullptr);
}

// Its examples are run: what a profile allows is the kernel's answer.
Result<size_t> run_profile_examples(const std::string& path, const Environment& environment, Tally& tally) {
  const Installation installation = TRY(find_installation(environment));
  const Configuration known = TRY(load_configuration(environment, installation, ""));
  const SandboxProfile profile = TRY(load_profile_file(path, known.profiles, environment.get("HOME")));
  const auto answers = TRY(check_profile(profile, known.settings, environment, installation));
  for (const auto& answer : answers)
    if (!answer.fault.empty()) fail(answer.place + ": " + answer.fault, tally);
  return answers.size();
}

void check_sandbox_profile(const std::string& path, const Environment& environment, Tally& tally) {
  const size_t failures_before = tally.failures;
  const auto examples = run_profile_examples(path, environment, tally);
  if (!examples.ok()) return fail(describe(examples.error()), tally);
  tally.examples += examples.value();
  say((tally.failures == failures_before ? "ok      " : "        ") + path + ": a sandbox profile, " +
      std::to_string(examples.value()) + " examples");
}

bool is_of_shapes(const JsonValue& root) {
  return root.find("shapes") != nullptr || root.find("profile") != nullptr;
}

void check_file(const std::string& path, const std::vector<ToolArguments>& own,
                const Environment& environment, Tally& tally) {
  ++tally.files;
  const auto text = sys::read_file(path, config_limits.bytes);
  if (!text.ok()) return fail(describe(text.error()), tally);
  const auto root = read_json(text.value(), path, config_limits);
  if (!root.ok()) return fail(describe(root.error()), tally);
  if (is_of_sandbox_profile(root.value())) return check_sandbox_profile(path, environment, tally);
  is_of_shapes(root.value()) ? check_shapes(text.value(), path, tally)
                             : check_rules(text.value(), path, own, tally);
}

void check_shipped_shapes(Tally& tally) {
  for (const auto& file : shipped_files()) {
    if (!file.name.starts_with("share/commands/")) continue;
    ++tally.files;
    check_shapes(std::string(file.text), std::string(file.name), tally);
  }
}

struct ReplayArguments {
  std::string run = {};
  std::string policy = {};
  bool json = false;

  bool operator==(const ReplayArguments&) const = default;
};

struct TestArguments {
  std::vector<std::string> files = {};  // none: all that a session would read
  std::optional<std::string> executors = {};
  ReplayArguments replay = {};
  bool help = false;
};

constexpr Option<TestArguments> options[] = {
    {"--executors", "DIR", "The executors that rules may name (default: executors_dir of the configuration).",
     keep<&TestArguments::executors>},
    {"--replay", "RUN", "Judge the calls of this run again: its id, 'last', its directory or a transcript.",
     keep<&TestArguments::replay, &ReplayArguments::run>},
    {"--policy", "FILE", "With --replay: the permission rules to judge them by.",
     keep<&TestArguments::replay, &ReplayArguments::policy>},
    {"--json", "", "With --replay: print one JSON object on stdout.",
     [](TestArguments& arguments, const std::string&) -> Result<void> {
       arguments.replay.json = true;
       return {};
     }},
    help_option<TestArguments>};

}  // namespace

HelpPage test_help() {
  return {
      .usage = "cloche test [--executors DIR] [FILE...]\ncloche test --replay RUN --policy FILE [--json]",
      .about =
          "Checks every example of command shapes, permission rules and sandbox profiles: in the shapes that "
          "come with Cloche, in those of $XDG_CONFIG_HOME/cloche/commands and in the configuration, or in "
          "the files that are named. Prints file:line of each that fails, and finds rules that name no known "
          "tool or argument, or that come after one with the same patterns or one that matches every text.\n"
          "With --replay it prints each verdict of a run's calls that other permission rules would change.",
      .rows = rows_of<TestArguments>(options),
      .notes = "Exit code 0 when all hold and nothing would change, 1 otherwise.",
      .examples = {"cloche test", "cloche test my-commands.json",
                   "cloche test --replay run1 --policy new.json"}};
}

namespace {

Result<TestArguments> read_arguments(std::span<char* const> words) {
  TestArguments read;
  const auto files = TRY(read_options(read, words, options, OptionsEnd::dashes, "see cloche test --help"));
  read.files.assign(files.begin(), files.end());
  if (read.help || read.replay == ReplayArguments{}) return read;
  if (read.replay.run.empty() || read.replay.policy.empty() || read.executors || !read.files.empty())
    return usage_error("--replay and --policy are given together, and with --json alone",
                       "cloche test --replay RUN --policy FILE");
  return read;
}

// The user's own tools, by name and schema.
struct OwnTools {
  std::vector<Executor> executors = {};
  std::vector<JsonValue> schemas = {};  // of each

  std::vector<ToolArguments> known() const {
    std::vector<ToolArguments> tools;
    for (size_t i = 0; i < executors.size(); ++i)
      tools.push_back(arguments_of(executors[i].name, schemas[i]));
    return tools;
  }
};

// The directory that a session here would use.
Result<std::optional<std::string>> configured_executors(const Environment& environment,
                                                        const std::string& folder) {
  const ConfigFiles files = TRY(config_for(environment, folder));
  return TRY(settings_of(files)).executors_dir.value;
}

// A configuration that cannot be read does not stop the test: it may be the file that is tested.
std::optional<std::string> executors_folder(const TestArguments& arguments, const Environment& environment,
                                            const std::string& folder) {
  if (arguments.executors) return arguments.executors;
  auto configured = configured_executors(environment, folder);
  if (configured.ok()) return std::move(configured).value();
  say("note    the configuration's executors are not known: " + describe(configured.error()));
  return std::nullopt;
}

Result<OwnTools> own_tools(const TestArguments& arguments, const Environment& environment) {
  const std::string folder = TRY(sys::hold(".")).path;
  const auto directory = executors_folder(arguments, environment, folder);
  OwnTools own;
  if (!directory) return own;
  own.executors = TRY(load_executors(*directory, {.workspace = folder}));
  for (const auto& executor : own.executors)
    own.schemas.push_back(TRY(read_json(executor.input_schema, executor.source)));
  return own;
}

// The user's own files, as a session would read them.
Result<std::vector<std::string>> users_files(const Environment& environment) {
  std::vector<std::string> files = TRY(users_command_files(environment));
  const ConfigPaths paths = TRY(config_paths(environment, ""));
  for (const std::string& path : {paths.managed, paths.user, std::string(".cloche/config.json")}) {
    if (!path.empty() && ::access(path.c_str(), F_OK) == 0) files.push_back(path);
  }
  return files;
}

Result<bool> check_all(const TestArguments& arguments, const Environment& environment) {
  const bool all = arguments.files.empty();
  const std::vector<std::string> files = all ? TRY(users_files(environment)) : arguments.files;
  const OwnTools own = TRY(own_tools(arguments, environment));
  Tally tally;
  if (all) check_shipped_shapes(tally);
  for (const auto& file : files) check_file(file, own.known(), environment, tally);
  print(std::to_string(tally.examples) + " examples in " + std::to_string(tally.files) +
        " files: " + (tally.failures == 0 ? "all hold" : std::to_string(tally.failures) + " failed") + "\n");
  return tally.failures == 0;
}

Result<Replay> replayed(const ReplayArguments& arguments, const Environment& environment) {
  const std::string text = TRY(sys::read_file(arguments.policy, config_limits.bytes));
  const RuleFiles rules{.user = TRY(rules_in(text, arguments.policy))};
  return replay(arguments.run, TRY(find_installation(environment)).state, rules);
}

std::string to_json(const Replay& replay) {
  JsonWriter out;
  out.begin_object().member("calls", replay.calls).member("unreadable_lines", replay.unreadable_lines);
  out.key("changed").begin_array();
  for (const auto& [call, before, after, rules] : replay.changed) {
    out.begin_object().member("call_id", call.call_id).member("task_id", call.task_id);
    out.member("tool", call.tool).member("args", call.args).member("before", name_of(before));
    out.member("after", name_of(after)).member("rule", rules.rule).member("reason", rules.reason.text());
    out.end_object();
  }
  return out.end_array().end_object().text() + "\n";
}

std::string to_text(const Replay& replay) {
  std::string text;
  for (const auto& [call, before, after, rules] : replay.changed) {
    text += shown(call.call_id, 70) + "  " + std::string(name_of(before)) + " -> " +
            std::string(name_of(after)) + "  " + shown(call.tool, 60) + " " + shown(call.args, 100) +
            "\n        " + (rules.rule.empty() ? "" : shown(rules.rule) + ": ") + shown(rules.reason.text()) +
            "\n";
  }
  text += std::to_string(replay.calls) + " calls, " + std::to_string(replay.changed.size()) +
          " verdicts would change\n";
  if (replay.unreadable_lines > 0)
    text += std::to_string(replay.unreadable_lines) + " lines could not be read; see cloche log verify\n";
  return text;
}

// Exit code 0 when no verdict would change, 1 when some would.
int replay_run(const ReplayArguments& arguments, const Environment& environment) {
  const auto result = replayed(arguments, environment);
  if (!result.ok()) return report(result.error());
  print(arguments.json ? to_json(result.value()) : to_text(result.value()));
  return result.value().changed.empty() ? 0 : 1;
}

}  // namespace

int test_command(std::span<char* const> words, const Environment& environment) {
  const auto arguments = read_arguments(words);
  if (arguments.ok() && arguments.value().help) return print_all(text_of(test_help()), 0);
  if (arguments.ok() && !arguments.value().replay.run.empty())
    return replay_run(arguments.value().replay, environment);
  const auto all_hold =
      arguments.ok() ? check_all(arguments.value(), environment) : Result<bool>(arguments.error());
  if (!all_hold.ok()) return report(all_hold.error());
  return all_hold.value() ? 0 : 1;
}

}  // namespace cloche
