// What the shipped tools are called, and what their arguments are called once a call is normalised. Rules see
// these names and no others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloche {

struct ToolArgument {
  std::string_view name;
  std::string_view texts = {};  // a pattern that every text of it matches; empty: it may be any
  std::string_view means = {};  // the same for a person
  bool always = false;          // no call comes without it
};

struct ToolArguments {
  std::string_view tool;  // its one name
  std::vector<ToolArgument> arguments;
};

const std::vector<ToolArguments>& tool_arguments();

}  // namespace cloche
