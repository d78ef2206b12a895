// A user's own tool: manifest.json, which declares it, and a call of it, whose program is started with the
// arguments as JSON on its stdin and must answer with JSON on its stdout. Pure; store/config/skill_files
// reads the file and knows whom it belongs to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "model/outcome.hpp"
#include "model/skill.hpp"
#include "model/tool.hpp"
#include "policy/schema/json_schema.hpp"

namespace cloche {

inline constexpr size_t max_manifest_bytes = 1 << 20;

// `folder` is where the manifest lies, resolved. Whatever is not understood refuses: an unknown key, a
// keyword of a schema that we would not check, a limit above the default.
Result<Executor> read_executor(std::string_view text, const std::string& source, const std::string& folder,
                               Trust trust);

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
