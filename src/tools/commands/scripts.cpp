#include "tools/commands/scripts.hpp"

#include "base/text/shell_parts.hpp"
#include "tools/answer/process_output.hpp"
#include "tools/argument_reader.hpp"

namespace cloche {
namespace {

constexpr size_t most_code_bytes = size_t{1} << 20;
constexpr std::string_view script_folder = "/run/cloche/";

struct Interpreter {
  std::string_view name;
  std::vector<std::string> argv;  // before the script
  std::string_view file;
};

// Without start-up files of the workspace's or the home's: what runs is what was sent.
const std::vector<Interpreter>& interpreters() {
  static const std::vector<Interpreter> table = {
      {"bash", {"bash", "--noprofile", "--norc"}, "script.sh"},
      {"python3", {"python3"}, "script.py"},
      {"node", {"node"}, "script.js"},
  };
  return table;
}

std::string code_of(ArgumentReader& reader, std::string& problem) {
  std::string code = reader.text("code");
  if (problem.empty() && code.size() > most_code_bytes) problem = "code is longer than 1 MiB";
  if (problem.empty() && code.find('\0') != std::string::npos) problem = "code has a NUL in it";
  return code;
}

// What a computation needs and nothing that could hurt: one process, no file of more than a mebibyte.
Limits small_limits() {
  Limits limits;
  limits.wall_ms = 10'000;
  limits.cpu_s = 2;
  limits.memory_bytes = 256ULL << 20;
  limits.processes = 1;
  limits.file_bytes = 1ULL << 20;
  limits.tmp_bytes = 16ULL << 20;
  return limits;
}

}  // namespace

ToolSpec run_python_spec() {
  ToolSpec spec{.name = "run_python", .title = "Run a Python computation"};
  spec.input_schema =
      R"({"type": "object", "additionalProperties": false, "required": ["code"], "properties": {
    "code": {"type": "string", "maxLength": 1048576, "description": "the program; print its result"},
    "timeout_s": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "a shorter time-out"}}})";
  spec.output_schema = process_output_schema();
  spec.annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false};
  return spec;
}

ToolSpec run_script_spec() {
  ToolSpec spec{.name = "run_script", .title = "Run a script in the workspace"};
  spec.input_schema =
      R"({"type": "object", "additionalProperties": false, "required": ["code", "interpreter"], "properties": {
    "code": {"type": "string", "maxLength": 1048576, "description": "the script"},
    "interpreter": {"type": "string", "enum": ["bash", "python3", "node"]},
    "timeout_s": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "a shorter time-out"}}})";
  spec.output_schema = process_output_schema();
  spec.annotations = {.read_only = false, .destructive = true, .idempotent = false, .open_world = false};
  return spec;
}

void understand_python(const JsonValue& arguments, Intent& intent) {
  ArgumentReader reader(arguments, intent.problem);
  Launch launch;
  launch.script = Script{code_of(reader, intent.problem), std::string(script_folder) + "main.py"};
  intent.timeout_ms = reader.maybe_timeout();
  if (!reader.finish()) return;
  launch.argv = {"python3", "-I", launch.script->target};
  launch.directory = "/tmp";
  launch.workspace = WorkspaceUse::hidden;
  launch.narrower = small_limits();
  launch.readonly = false;
  intent.launch = std::move(launch);
}

namespace {

// Text that can be taken apart runs in our own spelling of it: what was judged
// is what bash gets.
void launch_script(const Interpreter& interpreter, const std::string& code, Intent& intent) {
  Launch launch;
  launch.script = Script{code, std::string(script_folder) + std::string(interpreter.file)};
  launch.argv = interpreter.argv;
  launch.argv.push_back(launch.script->target);
  launch.noexec = launch.system_programs = launch.fresh_home = launch.readonly = false;
  launch.network = true;
  intent.opaque = true;
  intent.shells = interpreter.name == "bash";
  if (auto parts = intent.shells ? shell_parts(code) : std::nullopt) {
    launch.script->code = std::move(parts->rendering);
    for (const auto& argv : parts->commands)
      launch.named_files.insert(launch.named_files.end(), argv.begin(), argv.end());
    intent.parts = std::move(parts->commands);
  }
  intent.launch = std::move(launch);
}

}  // namespace

void run_as_script(Intent& intent) {
  intent.arguments["cmd"] = *intent.shell_text;
  intent.text_argument = "cmd";
  intent.form = Intent::Form::none;
  launch_script(interpreters().front(), *intent.shell_text, intent);
  intent.launch->input = intent.input;
}

void understand_script(const JsonValue& arguments, Intent& intent) {
  ArgumentReader reader(arguments, intent.problem);
  const std::string code = code_of(reader, intent.problem);
  const std::string name = reader.text("interpreter");
  intent.timeout_ms = reader.maybe_timeout();
  if (!reader.finish()) return;
  intent.opaque = true;
  intent.text_argument = "code";
  for (const auto& interpreter : interpreters()) {
    if (interpreter.name == name) return launch_script(interpreter, code, intent);
  }
  intent.problem = "interpreter is not bash, python3 or node";
}

}  // namespace cloche
