// A tool's description and annotations for this session: the model reads the one before it calls, and a
// client decides by the other whether to ask its user. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/call.hpp"
#include "model/tool.hpp"

namespace cloche {

// The texts of the tools that come with Cloche are shorter than this, whatever holds: clients cut longer
// ones.
inline constexpr size_t most_description_bytes = 1000;

// What holds in a session. The defaults are the strictest values; only the operator's own switch turns
// isolation off.
struct SessionConditions {
  bool isolated = true;
  bool network = false;                               // some host can be reached
  std::vector<std::string> hosts = {};                // these, as they are declared; "*" is any
  bool writes = true;                                 // false: by profile or autonomy the session only reads
  CommandProfile commands = CommandProfile::passive;  // the most that run_shell may be asked for
  CommandProfile unasked = CommandProfile::passive;   // what it has when it is not
  bool scripts = false;                               // what cannot be judged beforehand may run
  bool dotfiles = false;                              // names that begin with a dot may be written
  std::vector<std::string> tools = {};                // that are offered
};

// What a tool starts.
enum class Starts {
  nothing,      // the gateway does it itself
  change,       // so it does, and it changes a file
  fetch,        // a program of Cloche's own, which has nothing but a network
  computation,  // without a network, whatever is declared
  command,      // with what the session's calls may reach
  executor,     // with what it declares, and says already
};
Starts starts_of(std::string_view tool);  // of those that come with Cloche

// What a tool that comes with Cloche says of itself there (tool_texts.cpp). Empty: it is none of them.
std::string text_of_tool(std::string_view tool, const SessionConditions& conditions);

void tell_conditions(ToolSpec& spec, Starts starts, const SessionConditions& conditions);

}  // namespace cloche
