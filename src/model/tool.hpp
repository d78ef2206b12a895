// A tool as a model sees it: its name, what it says of itself, and its schemas.
#pragma once

#include <string>
#include <vector>

namespace cloche {

// Hints for clients (MCP's words). The strict values are the defaults.
struct ToolAnnotations {
  bool read_only = false;
  bool destructive = true;
  bool idempotent = false;
  bool open_world = true;
};

struct ToolSpec {
  std::string name;
  std::string title = {};
  // What holds for it in this session, and what to use instead of what is refused. Of the tools that come
  // with Cloche tools/session_conditions.hpp writes it.
  std::string description = {};
  std::string input_schema;   // JSON Schema 2020-12, as text
  std::string output_schema;  // of its result as JSON
  // Whether MCP clients are given that JSON beside the text: some then show a model nothing else. False: the
  // text is the result, with all notes in it.
  bool structured = false;
  ToolAnnotations annotations = {};
};

}  // namespace cloche
