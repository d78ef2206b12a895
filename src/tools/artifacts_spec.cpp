// The file tools as models see them.
#include "tools/artifacts.hpp"

namespace cloche {
namespace {

// The limits written here as numbers are artifacts.hpp's; a test compares them.

ToolSpec write_spec() {
  return {
      .name = "write_artifact",
      .title = "Write a file",
      .description =
          "Writes a whole file in the workspace and makes the directories that lead to it; an existing file "
          "is "
          "replaced at once, or not at all. `path` is relative to the workspace. Refused: absolute paths, "
          "`..`, "
          "names that begin with a dot (unless the operator allows them), tool_calls/, and what the host "
          "would "
          "execute later (.git, hooks, shell start-up files, editor and agent settings): ask the user for "
          "those. Paths that go through a link are not written: use the path the link leads to. To change a "
          "part of a file use edit_artifact.",
      .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string", "minLength": 1, "maxLength": 4095,
             "description": "of the file, relative to the workspace, as out/report.md"},
    "content": {"type": "string", "description": "the whole new content"}},
    "required": ["path", "content"]})",
      .output_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0}, "created": {"type": "boolean"}},
    "required": ["path", "bytes", "created"]})",
      .annotations = {.read_only = false, .destructive = true, .idempotent = true, .open_world = false},
  };
}

ToolSpec edit_spec() {
  return {
      .name = "edit_artifact",
      .title = "Change a part of a file",
      .description =
          "Replaces one piece of text in a file of the workspace. `old` must be in the file exactly once, "
          "byte for byte with its blanks and line ends; if it is not there or more than once nothing changes "
          "and the answer says how often it was found: give more of the text around it. The same paths are "
          "refused as for write_artifact. Files up to 8 MiB.",
      .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string", "minLength": 1, "maxLength": 4095,
             "description": "of an existing file, relative to the workspace"},
    "old": {"type": "string", "minLength": 1, "description": "the text that goes; it must be there once"},
    "new": {"type": "string", "description": "the text that comes in its place; may be empty"}},
    "required": ["path", "old", "new"]})",
      .output_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0},
    "line": {"type": "integer", "minimum": 1}},
    "required": ["path", "bytes", "line"]})",
      .annotations = {.read_only = false, .destructive = true, .idempotent = false, .open_world = false},
  };
}

ToolSpec read_spec() {
  return {
      .name = "read_artifact",
      .title = "Read a file",
      .description =
          "Reads a regular file of the workspace, or `limit` bytes of it from `offset`; when there is more "
          "the "
          "answer ends with the offset to go on from. Bytes that are not UTF-8 show as U+FFFD. An absolute "
          "path is fine when it is in the workspace. Refused: paths outside of it, links that lead out, "
          "tool_calls/ (use read_tool_result) and .cloche. For the names of files use list_artifacts, to "
          "find "
          "text search_artifacts.",
      .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string", "minLength": 1, "description": "of the file"},
    "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "the first byte"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1048576, "default": 262144,
              "description": "how many bytes at most"}},
    "required": ["path"]})",
      .output_schema = excerpt_schema("path"),
      .annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
  };
}

ToolSpec list_spec() {
  return {
      .name = "list_artifacts",
      .title = "List files",
      .description =
          "Lists what is in the workspace, or beneath `path`, with sizes, sorted, at most 1000 entries; the "
          "answer says how many more there are. `glob` is matched below `path`: * within a name, ** over "
          "directories, {a,b} for either; one without a slash, as *.py, is about the name at any depth. "
          "Links "
          "are listed and not followed. .git is passed over unless `path` names it; tool_calls/ and .cloche "
          "are never shown.",
      .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string", "description": "a directory or file; without it the whole workspace"},
    "glob": {"type": "string", "maxLength": 1024, "description": "as src/**/*.py"}}})",
      .output_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "entries": {"type": "array", "maxItems": 1000, "items": {"type": "object", "additionalProperties": false,
      "properties": {"path": {"type": "string"}, "kind": {"enum": ["file", "directory", "link", "other"]},
                     "size": {"type": "integer", "minimum": 0}},
      "required": ["path", "kind", "size"]}},
    "more": {"type": "integer", "minimum": 0}, "complete": {"type": "boolean"}},
    "required": ["entries", "more", "complete"]})",
      .annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
  };
}

ToolSpec search_spec() {
  return {
      .name = "search_artifacts",
      .title = "Search in files",
      .description =
          "Finds the lines of text files in the workspace, or beneath `path`, that match a regular "
          "expression, "
          "as `path:line: text`; at most 200. The syntax is RE2's: no backreferences, no lookaround; (?i) "
          "ignores case. Passed over: binary files, files longer than 4 MiB (the answer counts them), links, "
          ".git unless `path` names it, tool_calls/ and .cloche. A search that takes too long stops and says "
          "so: name a path further down.",
      .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "RE2, within one line"},
    "path": {"type": "string", "description": "a directory or file; without it the whole workspace"}},
    "required": ["pattern"]})",
      .output_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "matches": {"type": "array", "maxItems": 200, "items": {"type": "object", "additionalProperties": false,
      "properties": {"path": {"type": "string"}, "line": {"type": "integer", "minimum": 1},
                     "text": {"type": "string"}},
      "required": ["path", "line", "text"]}},
    "complete": {"type": "boolean"}},
    "required": ["matches", "complete"]})",
      .annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
  };
}

}  // namespace

const std::vector<ToolSpec>& artifact_tools() {
  static const std::vector<ToolSpec> tools = {write_spec(), edit_spec(), read_spec(), list_spec(),
                                              search_spec()};
  return tools;
}

}  // namespace cloche
