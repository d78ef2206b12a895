// `cloche test`: the examples that command shapes and permission rules carry, with the line of each that
// fails.
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json_text.hpp"
#include "base/sys.hpp"
#include "doors/explain_command.hpp"
#include "doors/help.hpp"
#include "doors/print.hpp"
#include "doors/replay_command.hpp"
#include "gateway/configuration.hpp"
#include "gateway/file_gates.hpp"
#include "gateway/profile_check.hpp"
#include "policy/protected.hpp"
#include "policy/rule_lint.hpp"
#include "store/command_files.hpp"
#include "store/profile_files.hpp"
#include "store/protected_file.hpp"
#include "store/rule_files.hpp"
#include "store/settings.hpp"
#include "store/skill_files.hpp"

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

// Reading them checks their examples. A rule that can never decide fails as well: whoever wrote it relies on
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

// Reading it checks its examples.
void check_protected(const std::string& text, const JsonValue& list, const std::string& name, Tally& tally) {
  const auto entries = read_protected(text, name);
  if (!entries.ok()) return fail(describe(entries.error()), tally);
  size_t examples = 0;
  for (const auto& item : list.items) {
    for (const char* key : {"match", "not_match"}) {
      const JsonValue* given = item.find(key);
      examples += given != nullptr ? given->items.size() : 0;
    }
  }
  tally.examples += examples;
  say("ok      " + name + ": " + std::to_string(entries.value().size()) + " protected paths, " +
      std::to_string(examples) + " examples");
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

void check_sandbox_profile(const CommandFile& file, const Environment& environment, Tally& tally) {
  const size_t failures_before = tally.failures;
  const auto examples = run_profile_examples(file.path, environment, tally);
  if (!examples.ok()) return fail(describe(examples.error()), tally);
  tally.examples += examples.value();
  say((tally.failures == failures_before ? "ok      " : "        ") + file.shown + ": a sandbox profile, " +
      std::to_string(examples.value()) + " examples");
}

bool is_of_shapes(const JsonValue& root) {
  return root.find("shapes") != nullptr || root.find("profile") != nullptr;
}

void check_file(const CommandFile& file, const std::vector<ToolArguments>& own,
                const Environment& environment, Tally& tally) {
  ++tally.files;
  const auto text = sys::read_file(file.path, config_limits.bytes);
  if (!text.ok()) return fail(describe(text.error()), tally);
  const auto root = read_json(text.value(), file.shown, config_limits);
  if (!root.ok()) return fail(describe(root.error()), tally);
  if (const JsonValue* list = root.value().find("protected"))
    return check_protected(text.value(), *list, file.shown, tally);
  if (is_of_sandbox_profile(root.value())) return check_sandbox_profile(file, environment, tally);
  is_of_shapes(root.value()) ? check_shapes(text.value(), file.shown, tally)
                             : check_rules(text.value(), file.shown, own, tally);
}

struct TestArguments {
  std::vector<CommandFile> files = {};  // none: all that a session would read
  std::optional<std::string> executors = {};
};

Result<TestArguments> read_arguments(std::span<char* const> words) {
  TestArguments read;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (word == "--executors") {
      if (++i == words.size()) return usage_error("--executors needs a directory", "see cloche test --help");
      read.executors = words[i];
    } else if (word.size() > 1 && word[0] == '-' && word != "--") {
      return usage_error("unknown flag " + word, "see cloche test --help");
    } else if (word != "--") {
      read.files.push_back({word, word});
    }
  }
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

// Where a session here would look for them.
Result<std::optional<std::string>> configured_executors(const Environment& environment,
                                                        const std::string& folder) {
  const ConfigFiles files = TRY(config_for(environment, folder));
  return TRY(settings_of(files)).executors_dir.value;
}

// A configuration that no session would take is no reason to test nothing: it may be the file that is tested.
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

Result<std::vector<CommandFile>> files_to_test(const TestArguments& arguments,
                                               const Environment& environment) {
  if (!arguments.files.empty()) return arguments.files;
  const std::string program = TRY(sys::read_link("/proc/self/exe"));
  std::vector<CommandFile> files = TRY(find_command_files(program, environment));
  files.push_back({"share/protected.json", protected_file(program)});
  const ConfigPaths paths = TRY(config_paths(environment, ""));
  for (const std::string& path : {paths.managed, paths.user, std::string(".cloche/config.json")}) {
    if (!path.empty() && ::access(path.c_str(), F_OK) == 0) files.push_back({path, path});
  }
  return files;
}

Result<bool> check_all(std::span<char* const> words, const Environment& environment) {
  const TestArguments arguments = TRY(read_arguments(words));
  const std::vector<CommandFile> files = TRY(files_to_test(arguments, environment));
  const OwnTools own = TRY(own_tools(arguments, environment));
  Tally tally;
  for (const auto& file : files) check_file(file, own.known(), environment, tally);
  print(std::to_string(tally.examples) + " examples in " + std::to_string(tally.files) +
        " files: " + (tally.failures == 0 ? "all hold" : std::to_string(tally.failures) + " failed") + "\n");
  return tally.failures == 0;
}

}  // namespace

int test_door(std::span<char* const> words, const Environment& environment) {
  const std::string_view first = words.empty() ? "" : words.front();
  if (first == "--help" || first == "-h") {
    print(test_help());
    return 0;
  }
  const bool replays = std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word.starts_with("--replay") || word.starts_with("--policy");
  });
  if (replays) return replay_door(words, environment);
  const auto all_hold = check_all(words, environment);
  if (all_hold.ok()) return all_hold.value() ? 0 : 1;
  complain(describe(all_hold.error()));
  return all_hold.error().cause == Cause::usage ? 2 : 125;
}

}  // namespace cloche
