// What an agent tells its PreToolUse hook on stdin: the JSON that Claude Code and Codex share. Pure: bytes
// in, a value or a refusal out. Whatever is not understood refuses.
#pragma once

#include <string>
#include <string_view>

#include "base/json_text.hpp"
#include "base/result.hpp"

namespace cloche {

// They take the same answers, but not all of them: Codex knows no ask, and takes what it does not know for no
// answer at all, which is a yes.
enum class Agent { claude, codex };

struct HookCall {
  Agent agent = Agent::codex;
  std::string tool = {};
  JsonValue input = {};         // an object, as the agent would carry it out
  std::string directory = {};   // where the agent stands: absolute and plain
  std::string session = {};     // the agent's own name for it; may be anything
  std::string transcript = {};  // the client's file about the session; may be anything, or empty
  bool plans_only = false;      // its person wants a plan, and nothing changed meanwhile
  bool puts_questions = false;  // to its person, when a hook says ask
};

inline constexpr size_t most_hook_bytes = size_t{8} << 20;

Result<HookCall> read_hook_call(std::string_view text);

}  // namespace cloche
