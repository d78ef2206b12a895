#include "tools/files/recall.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"
#include "base/text/command_words.hpp"
#include "tools/argument_reader.hpp"

namespace cloche {
namespace {

constexpr size_t longest_id = 64;
constexpr uint64_t most_bytes = 1 << 20;

bool is_plain(char c) { return ascii::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }

}  // namespace

const ToolSpec& recall_tool() {
  static const ToolSpec tool = {
      .name = "read_tool_result",
      .title = "Read an earlier result",
      .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "call_id": {"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$",
                "description": "as the shortened result names it, for example c-0007"},
    "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "the first byte"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1048576, "default": 65536,
              "description": "how many bytes at most"}},
    "required": ["call_id"]})",
      .output_schema = excerpt_schema("call_id"),
      .annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
  };
  return tool;
}

std::string problem_of_call_id(std::string_view id) {
  const auto wrong = [](const std::string& why) {
    return "call_id " + why + "; use the id that the shortened result names, as c-0007";
  };
  if (id.empty()) return wrong("is empty");
  if (id.size() > longest_id) return wrong("is longer than " + std::to_string(longest_id) + " bytes");
  if (id.front() == '.') return wrong("begins with a dot");
  if (id.find("..") != std::string_view::npos || !std::ranges::all_of(id, is_plain))
    return wrong("'" + shown(id) + "' is not a bare id of letters, digits, . _ and -");
  return {};
}

RecallCall parse_recall(const JsonValue& arguments) {
  RecallCall call;
  Recall& recall = call.recall;
  ArgumentReader reader(arguments, call.problem);
  recall.call_id = reader.text("call_id");
  if (call.problem.empty()) call.problem = problem_of_call_id(recall.call_id);
  recall.offset = reader.maybe_number("offset", 0, INT64_MAX).value_or(recall.offset);
  recall.limit = reader.maybe_number("limit", 1, most_bytes).value_or(recall.limit);
  (void)reader.finish();
  return call;
}

ToolReply perform(const Recall& recall, Results& results) {
  const auto part = results.recall(recall.call_id, recall.offset, recall.limit);
  if (!part.ok()) return failed_reply(describe(part.error()));
  return show_excerpt("call_id", recall.call_id, part.value(), recall.offset);
}

}  // namespace cloche
