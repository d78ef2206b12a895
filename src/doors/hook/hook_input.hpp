// What an agent tells its PreToolUse hook on stdin: the JSON that Claude Code and Codex share. Pure: bytes
// in, a value or a refusal out. Whatever is not understood refuses.
#pragma once

#include <string>
#include <string_view>

#include "base/json/json_text.hpp"
#include "base/result.hpp"

namespace cloche {

// They take the same answers, but not all of them: Codex knows no ask, and takes what it does not know for no
// answer at all, which is a yes.
enum class Agent { claude, codex };

std::string_view name_of(Agent agent);

// Beside each field stands who decides what is in it. What the model decides chooses nothing that confines
// it.
struct HookCall {
  Agent agent = Agent::codex;  // the client, by the fields that only one of them sends
  std::string tool = {};       // the model
  JsonValue input = {};        // the model: an object, as the agent would carry it out
  std::string directory = {};  // the model, by `workdir` of Codex and by `cd` of Claude Code: absolute, plain
  std::string session = {};    // the client's own name for it; may be anything
  std::string subagent = {};   // the client: which agent of the session; empty: the first
  std::string transcript = {};  // the client's file about the session; may be anything, or empty
  bool plans_only = false;      // the person: a plan is wanted, and nothing changed meanwhile
  bool puts_questions = false;  // the person, by the permission mode: an ask of a hook is put to them
};

inline constexpr size_t most_hook_bytes = size_t{8} << 20;

Result<HookCall> read_hook_call(std::string_view text);

}  // namespace cloche
