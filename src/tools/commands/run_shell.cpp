#include "tools/commands/run_shell.hpp"

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/text/shell_parts.hpp"
#include "policy/gates/gates.hpp"
#include "tools/answer/process_output.hpp"

namespace cloche {
namespace {

constexpr int64_t longest_timeout_s = 24 * 60 * 60;

// Reads the arguments of run_shell into an intent; the first thing that is wrong is its problem.
class Reading {
 public:
  explicit Reading(Intent& intent) : intent_(intent) {}

  void run(const JsonValue& arguments) {
    if (!arguments.is_object()) return wrong("the arguments are not an object");
    for (const auto& member : arguments.members) {
      if (intent_.problem.empty()) take(member.name, member.value);
    }
    if (!intent_.problem.empty()) return;
    if (intent_.form == Intent::Form::none) return wrong("neither cmd nor argv is given");
    if (intent_.shell_text) return;
    if (std::string problem = problem_of(intent_.argv); !problem.empty()) return wrong("argv: " + problem);
    if (is_shell_word(intent_.argv.front())) intent_.shell_text = text_.value_or(quote_words(intent_.argv));
  }

 private:
  void wrong(std::string problem) { intent_.problem = std::move(problem); }

  void take(const std::string& name, const JsonValue& value) {
    if (name == "cmd" || name == "command") return take_text(name, value);
    if (name == "argv") return take_words(value);
    if (name == "profile") return take_profile(value);
    if (name == "timeout_s") return take_timeout(value);
    if (name == "stdin") return take_input(value);
    if (name == "cwd") return take_directory(value);
    wrong("unknown argument " + shown(name, 60));
  }

  bool is_second() {
    if (intent_.form == Intent::Form::none) return false;
    wrong("cmd and argv are two ways to say one thing: give one of them");
    return true;
  }

  void take_text(const std::string& name, const JsonValue& value) {
    if (is_second()) return;
    if (!value.is_string()) return wrong(name + " is not a text");
    intent_.form = Intent::Form::text;
    text_ = value.text;
    if (has_lines(value.text)) return take_lines(name, value.text);
    if (has_tab_in_word(value.text)) return take_tab(value.text);
    SplitWords split = split_words(value.text);
    if (!split.problem.empty()) return wrong(name + ": " + split.problem);
    intent_.argv = std::move(split.words);
    intent_.operators = std::move(split.operators);
    if (!intent_.operators.empty()) intent_.shell_text = value.text;
  }

  // Line by line, which no argv is.
  void take_lines(const std::string& name, const std::string& text) {
    if (text.size() > max_command_bytes)
      return wrong(name + ": it is longer than " + std::to_string(max_command_bytes) + " bytes");
    if (std::string problem = problem_of_lines(text); !problem.empty()) return wrong(name + ": " + problem);
    intent_.operators = {{ShellOperator::Kind::line_break, "\n", text.find_first_of("\r\n")}};
    intent_.shell_text = text;
  }

  // A word with a tab in it is for a shell, however it was sent.
  void take_tab(const std::string& text) {
    intent_.argv.clear();
    intent_.operators = {{ShellOperator::Kind::tab, "\t", text.find('\t')}};
    intent_.shell_text = text;
  }

  void take_directory(const JsonValue& value) {
    const bool good = value.is_string() && !value.text.empty() && is_utf8(value.text) &&
                      value.text.find('\0') == std::string::npos && value.text.size() <= 4096;
    if (!good) return wrong("cwd is not a directory's path");
    intent_.cwd = value.text;
  }

  void take_words(const JsonValue& value) {
    if (is_second()) return;
    intent_.form = Intent::Form::words;
    const bool texts = value.is_array() && std::ranges::all_of(value.items, [](const JsonValue& item) {
                         return item.is_string();
                       });
    if (!texts) return wrong("argv is not a list of texts");
    for (const auto& item : value.items) intent_.argv.push_back(item.text);
    if (const std::string text = quote_words(intent_.argv); has_tab_in_word(text)) take_tab(text);
  }

  void take_profile(const JsonValue& value) {
    intent_.profile = value.is_string() ? command_profile(value.text) : std::nullopt;
    if (!intent_.profile) wrong("profile is not passive, full or any");
  }

  void take_timeout(const JsonValue& value) {
    const bool good =
        value.is_number() && value.whole && value.integer > 0 && value.integer <= longest_timeout_s;
    if (!good) return wrong("timeout_s is not a whole number from 1 to " + std::to_string(longest_timeout_s));
    intent_.timeout_ms = static_cast<uint64_t>(value.integer) * 1000;
  }

  void take_input(const JsonValue& value) {
    if (!value.is_string()) return wrong("stdin is not a text");
    intent_.input = value.text;
  }

  Intent& intent_;
  std::optional<std::string> text_;  // of `cmd`, as it was sent
};

}  // namespace

std::string tool_name(std::string_view written) {
  if (written == "run_shell_command") return "run_shell";
  const auto& tools = shipped_tools();
  return contains(tools, written) ? std::string(written) : std::string();
}

ToolSpec run_shell_spec() {
  ToolSpec spec{.name = "run_shell", .title = "Run one command"};
  spec.input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "cmd": {"type": "string", "description": "one command, quoted as for a POSIX shell"},
    "command": {"type": "string", "description": "the same as cmd"},
    "argv": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 4096,
      "description": "the words of the command"},
    "profile": {"type": "string", "enum": ["passive", "full", "any"], "description": "which commands may run"},
    "timeout_s": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "a shorter time-out"},
    "stdin": {"type": "string", "description": "what the command reads"},
    "cwd": {"type": "string", "minLength": 1, "maxLength": 4096,
      "description": "the directory to start in, relative to the workspace"}}})";
  spec.output_schema = process_output_schema();
  spec.annotations = {.read_only = false, .destructive = true, .idempotent = false, .open_world = false};
  return spec;
}

std::string strict_shell_schema() {
  std::string schema = run_shell_spec().input_schema;
  schema.pop_back();
  return schema + R"(, "oneOf": [{"required": ["cmd"]}, {"required": ["command"]}, {"required": ["argv"]}]})";
}

void understand_shell(const JsonValue& arguments, Intent& intent) { Reading(intent).run(arguments); }

bool starts_somewhere(const Intent& intent) {
  return intent.form != Intent::Form::none || !intent.text_argument.empty();
}

std::map<std::string, std::string, std::less<>> normalised_arguments(const Intent& intent) {
  std::map<std::string, std::string, std::less<>> arguments = intent.arguments;
  if (intent.form != Intent::Form::none)
    arguments["cmd"] = intent.shell_text ? *intent.shell_text : quote_words(intent.argv);
  if (starts_somewhere(intent)) arguments["cwd"] = intent.cwd.value_or(intent.starts_in);
  if (const auto profile = intent.in_force ? intent.in_force : intent.profile)
    arguments["profile"] = name_of(*profile);
  if (intent.timeout_ms) arguments["timeout_s"] = std::to_string(*intent.timeout_ms / 1000);
  if (intent.input) arguments["stdin"] = *intent.input;
  return arguments;
}

}  // namespace cloche
