#include "doors/hook/hook_reply.hpp"

#include "base/json/json_writer.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

// Long enough for every sentence of ours; an agent puts it before its model.
constexpr size_t longest_reason = 4096;
constexpr size_t longest_shown_command = 2000;

std::string reply(std::string_view decision, const std::string& reason, const std::string& updated = {}) {
  JsonWriter out;
  out.begin_object().key("hookSpecificOutput").begin_object().member("hookEventName", "PreToolUse");
  out.member("permissionDecision", decision);
  // Agents ignore a deny with an empty reason.
  out.member("permissionDecisionReason", reason.empty() ? "refused" : reason.substr(0, longest_reason));
  if (!updated.empty()) out.key("updatedInput").raw(updated);
  return out.end_object().end_object().take() + "\n";
}

// The same arguments with another command.
std::string with_command(const JsonValue& input, const std::string& command) {
  JsonWriter out;
  out.begin_object();
  for (const auto& member : input.members) {
    out.key(member.name);
    member.name == "command" ? out.value(command) : out.raw(to_json(member.value));
  }
  return out.end_object().take();
}

}  // namespace

std::string reply_no_objection() { return "{}\n"; }
std::string reply_ask(const std::string& reason) { return reply("ask", "Cloche: " + reason); }
std::string reply_deny(const std::string& reason) { return reply("deny", "Cloche: " + reason); }

std::string held_by(const Advice& advice) {
  std::string text =
      advice.level < IsolationLevel::namespaces
          ? "it does not run in the sandbox, but at the lower isolation level " +
                std::string(name_of(advice.level))
          : "it runs in the sandbox, at the isolation level " + std::string(name_of(advice.level));
  for (const auto& note : advice.box_notes) text += "; " + note;
  return text;
}

std::string reply_instead(const JsonValue& input, const std::string& command, const std::string& held) {
  return reply("allow", "Cloche: " + held, with_command(input, command));
}

bool can_show_command(const JsonValue& input) {
  const JsonValue* command = input.find("command");
  return command != nullptr && shown(command->text, std::string_view::npos).size() <= longest_shown_command;
}

std::string reply_ask_instead(const JsonValue& input, const std::string& command, const std::string& reason) {
  const JsonValue* asked = input.find("command");
  const std::string shown_command = asked != nullptr ? shown(asked->text, longest_shown_command) : "";
  return reply("ask", "Cloche: " + reason + ". What it asks for: " + shown_command,
               with_command(input, command));
}

}  // namespace cloche
