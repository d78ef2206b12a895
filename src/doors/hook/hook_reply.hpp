// What a PreToolUse hook answers, exactly as both agents read it. Codex refuses an object with a key that it
// does not know, and then lets the call through: nothing may be added here. Pure.
#pragma once

#include <string>

#include "base/json/json_text.hpp"
#include "doors/hook/hook_input.hpp"
#include "gateway/approval/judge_for_hook.hpp"
#include "model/verdict.hpp"

namespace cloche {

// Nothing is said for or against it: the agent's own permissions decide.
std::string reply_no_objection();
// The agent's person is asked. For Claude alone; Codex has no such answer.
std::string reply_ask(const std::string& reason);
std::string reply_deny(const std::string& reason);
// In which isolation an admitted command runs, as a sentence. A lower level is never called the sandbox.
std::string held_by(const Advice& advice);
// Only ever with what runs isolated in the command's place; the other arguments stay as they were.
std::string reply_instead(const JsonValue& input, const std::string& command, const std::string& held);
// The same where isolation is off: the agent's person decides, and is shown the command that was asked for,
// because the replaced one says nothing. For Claude alone, and only where can_show_command(): a person cannot
// approve what was not shown.
std::string reply_ask_instead(const JsonValue& input, const std::string& command, const std::string& reason);

// Whether the command can be shown whole.
bool can_show_command(const JsonValue& input);

}  // namespace cloche
