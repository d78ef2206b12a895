// The words of a tool call: of `cloche call`, `cloche explain call` and, without a call, of `cloche tools`
// and `cloche mcp`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "gateway/session.hpp"
#include "tools/formats.hpp"

namespace cloche {

struct CallArguments {
  SessionOptions options;
  ToolCall call = {};
  std::optional<std::string> skill = {};
  std::optional<std::string> task = {};
  std::string role = "agent";
  std::optional<ToolFormat> format = {};
  std::vector<std::string> prompts = {};  // skills that a server offers as prompts
  bool json = false;
  bool help = false;
};

// Whether a call is among the words, and whether its arguments may be left out: then they are {}. A server
// gets its calls later, and prints nothing but them.
enum class CallWords { tool_and_arguments, tool, none, server };

Result<CallArguments> parse_call(std::span<char* const> words,
                                 CallWords expected = CallWords::tool_and_arguments);

// Arguments that are "-" are read from stdin; of too long ones only the beginning, which the schema gate then
// refuses.
Result<void> read_from_stdin(CallArguments& arguments);

}  // namespace cloche
