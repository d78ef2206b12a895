// read_tool_result {call_id, offset?, limit?}: the whole result of an earlier call of the same task, part by
// part.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json_text.hpp"
#include "model/call.hpp"
#include "model/tool.hpp"
#include "tools/answer/reply.hpp"
#include "tools/files/workspace_access.hpp"

namespace cloche {

const ToolSpec& recall_tool();

struct RecallCall {
  Recall recall = {};
  std::string problem = {};  // why the arguments make no sense; then nothing above means anything
};

RecallCall parse_recall(const JsonValue& arguments);

// Why this cannot be the id of a call: an id is bare, so that it can name a file and nothing else. Empty: it
// can.
std::string problem_of_call_id(std::string_view id);

ToolReply perform(const Recall& recall, Results& results);

}  // namespace cloche
