// Feeds bytes to what a hook reads: the agent's call, and an agent's settings. Whatever is accepted must come
// to a call of one of our tools, and every answer must be one line of JSON that an agent understands;
// settings must come back byte for byte when the hook is taken out again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json/json_text.hpp"
#include "doors/hook/hook_input.hpp"
#include "doors/hook/hook_reply.hpp"
#include "doors/hook/hook_settings.hpp"
#include "doors/hook/hook_tools.hpp"

namespace {

using namespace cloche;

void require(bool truth) {
  if (!truth) std::abort();
}

void check_reply(const std::string& reply) {
  require(reply.ends_with("}\n") && reply.find('\n') == reply.size() - 1);
  const auto read = read_json(reply, "", {.bytes = size_t{64} << 20, .comments = JsonComments::refused});
  require(read.ok());
}

void check_call(const HookCall& call) {
  require(!call.tool.empty() && call.input.is_object() && call.directory.starts_with('/'));
  const auto tool = understand_hook_tool(call);
  if (!tool.ok()) return check_reply(reply_deny(tool.error().what.text()));
  require((tool.value().kind == HookTool::Kind::file) == !tool.value().files.empty());
  require(read_json(tool.value().judged.arguments, "", {.bytes = size_t{64} << 20}).ok());
  for (const auto& file : tool.value().files)
    require(read_json(judged_at(file, "/w", "/w/a").arguments, "", {.bytes = size_t{64} << 20}).ok());
  if (tool.value().kind != HookTool::Kind::command) return;
  const std::string reply = reply_instead(call.input, "/bin/cloche run --call abc", held_by({}));
  check_reply(reply);
  const JsonValue answer = read_json(reply, "", {.bytes = size_t{64} << 20}).value();
  const JsonValue* updated = answer.find("hookSpecificOutput")->find("updatedInput");
  require(updated != nullptr && updated->members.size() == call.input.members.size());
  require(updated->find("command")->text == "/bin/cloche run --call abc");
}

void check_settings(const std::string& text) {
  const std::string cloche = "/bin/cloche";
  const std::string command = hook_command_line(cloche);
  const auto with = with_hook(text, cloche, command);
  if (!with.ok()) return;
  require(has_hook(with.value(), cloche));
  const auto without = without_hook(with.value(), cloche);
  require(without.ok() && without.value() == (is_blank(text) ? empty_settings : text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto call = read_hook_call(text); call.ok()) check_call(call.value());
  check_settings(text);
  return 0;
}
