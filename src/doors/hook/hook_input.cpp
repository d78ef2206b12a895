#include "doors/hook/hook_input.hpp"

#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr JsonLimits hook_limits{.bytes = most_hook_bytes, .comments = JsonComments::refused};
constexpr size_t longest_name = 200;

Error bad(const std::string& what) {
  return refusal("the hook's input " + what, "is `cloche hook` set up as a PreToolUse hook?");
}

Result<std::string> text_of(const JsonValue& value, std::string_view name) {
  const JsonValue* member = value.find(name);
  if (member == nullptr || !member->is_string() || member->text.empty())
    return bad("has no " + std::string(name));
  return member->text;
}

// Absent or null is nothing; anything else but text is not understood.
Result<std::string> text_or_nothing(const JsonValue& value, std::string_view name) {
  const JsonValue* member = value.find(name);
  if (member == nullptr || member->is_null()) return std::string();
  if (!member->is_string()) return bad("has a " + std::string(name) + " that is not a string");
  return member->text;
}

}  // namespace

std::string_view name_of(Agent agent) { return agent == Agent::claude ? "claude" : "codex"; }

Result<HookCall> read_hook_call(std::string_view text) {
  const auto read = read_json(text, "", hook_limits);
  if (!read.ok()) return bad("cannot be read: " + read.error().what.text());
  const JsonValue& value = read.value();
  if (!value.is_object()) return bad("is not an object");
  const std::string event = TRY(text_of(value, "hook_event_name"));
  if (event != "PreToolUse") return bad("is about " + shown(event, 60) + ", not PreToolUse");
  HookCall call;
  // Only Codex sends turn_id. A call that is taken for one of Codex is answered more strictly.
  call.agent = value.find("turn_id") == nullptr ? Agent::claude : Agent::codex;
  call.tool = TRY(text_of(value, "tool_name"));
  if (call.tool.size() > longest_name) return bad("has a tool_name that is too long");
  const JsonValue* input = value.find("tool_input");
  if (input == nullptr || !input->is_object()) return bad("has no tool_input");
  call.input = *input;
  call.directory = TRY(text_of(value, "cwd"));
  if (!is_plain_absolute(call.directory)) return bad("has a cwd that is not a plain absolute path");
  if (call.directory.find('\0') != std::string::npos) return bad("has a NUL in its cwd");
  call.session = TRY(text_of(value, "session_id"));
  call.subagent = TRY(text_or_nothing(value, "agent_id"));
  call.transcript = TRY(text_or_nothing(value, "transcript_path"));
  const std::string mode = TRY(text_or_nothing(value, "permission_mode"));
  call.plans_only = mode == "plan";
  // In the other modes an ask may not reach a person.
  const bool asks = call.plans_only || mode == "default" || mode == "acceptEdits";
  call.puts_questions = asks && call.agent == Agent::claude;
  return call;
}

}  // namespace cloche
