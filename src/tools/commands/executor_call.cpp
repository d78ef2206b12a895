#include "tools/commands/executor.hpp"

#include <algorithm>

#include "base/text/command_words.hpp"

namespace cloche {
namespace {

struct Runner {
  std::string_view ending;
  std::string_view program;
};
// What runs a file by its name; every other file is executed itself.
constexpr Runner runners[] = {{".py", "python3"}, {".sh", "bash"}, {".js", "node"}, {".rb", "ruby"}};

bool has(const Executor& executor, Capability::Family family) {
  return std::ranges::any_of(executor.capabilities,
                             [&](const Capability& capability) { return capability.family == family; });
}

std::vector<std::string> argv_of(const Executor& executor) {
  for (const auto& runner : runners) {
    if (executor.code.ends_with(runner.ending)) return {std::string(runner.program), executor.code};
  }
  return {executor.code};
}

}  // namespace

ToolSpec spec_of(const Executor& executor) {
  const bool writes = has(executor, Capability::Family::write);
  ToolSpec spec{.name = executor.name, .description = executor.description};
  spec.input_schema = executor.input_schema;
  spec.output_schema = executor.output_schema.empty() ? "true" : executor.output_schema;
  spec.structured = true;
  spec.annotations = {.read_only = !writes,
                      .destructive = writes,
                      .idempotent = false,
                      .open_world = has(executor, Capability::Family::network)};
  return spec;
}

void understand_executor(const Executor& executor, const JsonValue& arguments, const std::string& sent,
                         Intent& intent) {
  if (!arguments.is_object()) {
    intent.problem = "the arguments are not an object";
    return;
  }
  Launch launch;
  launch.argv = argv_of(executor);
  launch.input = sent;
  launch.narrower = executor.limits;
  launch.workspace = WorkspaceUse::hidden;
  launch.named_files = {executor.code};
  launch.noexec = !has(executor, Capability::Family::execute);
  // Its home lasts from call to call, so python must not load code from it that was never judged.
  launch.environment = {{"PYTHONNOUSERSITE", "1"}};
  launch.system_programs = launch.fresh_home = launch.readonly = false;
  launch.network = true;
  // What runs programs of its own making is as opaque as a script.
  intent.opaque = !launch.noexec;
  intent.launch = std::move(launch);
}

std::optional<BadAnswer> fault_of_answer(const std::string& printed, const JsonSchema& schema) {
  const auto answer = read_json(printed, "its output", call_limits);
  if (!answer.ok())
    return BadAnswer{AnswerFault::invalid_json,
                     "it did not print JSON: " + shown(answer.error().what.text())};
  if (const auto fault = schema.check(answer.value()))
    return BadAnswer{AnswerFault::schema,
                     "what it printed does not fit its output_schema: " + shown(fault->describe())};
  return std::nullopt;
}

}  // namespace cloche
