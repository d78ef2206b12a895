// The door `cloche mcp`: an MCP server on stdin and stdout.
#pragma once

#include <span>

#include "base/sys/environment.hpp"

namespace cloche {

int mcp_door(std::span<char* const> words, const Environment& environment);

}  // namespace cloche
