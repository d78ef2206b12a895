// What tools are called, and what their arguments are called once a call is normalised. Of the shipped ones
// rules see these names and no others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"

namespace cloche {

struct ToolArgument {
  std::string_view name;
  bool always = false;  // no call comes without it
};

struct ToolArguments {
  std::string_view tool;  // its one name
  std::vector<ToolArgument> arguments;
  bool others = false;  // it may have arguments that are not listed
};

// The shipped ones.
const std::vector<ToolArguments>& tool_arguments();

// Of a tool of the user's: the properties of its schema. Refers to both, which must outlive it.
ToolArguments arguments_of(std::string_view tool, const JsonValue& input_schema);

}  // namespace cloche
