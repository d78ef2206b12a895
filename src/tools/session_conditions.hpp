// A tool says of itself what holds in this session: a model reads it before it tries anything, and a client
// asks its user, or does not, by its annotations. Pure.
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

// What holds in a session. The defaults are its strictest kind, but for what takes an operator's own switch.
struct Surroundings {
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
std::string text_of_tool(std::string_view tool, const Surroundings& surroundings);

void tell_surroundings(ToolSpec& spec, Starts starts, const Surroundings& surroundings);

}  // namespace cloche
