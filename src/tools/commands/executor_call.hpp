// A call of a user's own tool: its program is started with the arguments as JSON on its stdin, and must
// answer with JSON on its stdout.
#pragma once

#include <optional>
#include <string>

#include "base/json/json_text.hpp"
#include "model/outcome.hpp"
#include "model/skill.hpp"
#include "model/tool.hpp"
#include "policy/schema/json_schema.hpp"

namespace cloche {

ToolSpec spec_of(const Executor& executor);

// Its launch has no grants yet: what the capabilities come to depends on the session.
void understand_executor(const Executor& executor, const JsonValue& arguments, const std::string& sent,
                         Intent& intent);

// Why what it printed is no answer.
struct BadAnswer {
  AnswerFault fault;
  std::string why;
};
std::optional<BadAnswer> fault_of_answer(const std::string& printed, const JsonSchema& schema);

}  // namespace cloche
