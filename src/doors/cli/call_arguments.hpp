// The words of a tool call: of `cloche call` and `cloche explain call` and, without a call, of `cloche
// tools`, `cloche config` and `cloche mcp`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "doors/cli/options.hpp"
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
  std::vector<std::string> flags = {};    // all that were read, each joined to its value
  size_t places = 0;  // flags for the operator's directories, which agent_environment.hpp has read
  bool json = false;
  bool help = false;
};

// Which command's flags are taken. The first two take a call; `call` takes one without arguments for {}.
enum class CallCommand : unsigned { call = 1, explain = 2, tools = 4, config = 8, mcp = 16, library = 32 };

Result<CallArguments> parse_call(std::span<char* const> words, CallCommand command);

// The options of a command with their help, each with its default.
std::vector<HelpRow> call_options_of(CallCommand command);

// Arguments that are "-" are read from stdin; of too long ones only the beginning, which the schema gate then
// refuses.
Result<void> read_from_stdin(CallArguments& arguments);

}  // namespace cloche
