// The file tools as models see them.
#include "tools/files/artifacts.hpp"

namespace cloche {

// The limits written here as numbers are artifacts.hpp's; a test compares them.
const std::vector<ToolSpec>& artifact_tools() {
  static const std::vector<ToolSpec> tools = {
      {
          .name = "write_artifact",
          .title = "Write a file",
          .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string", "minLength": 1, "maxLength": 4095,
             "description": "of the file, relative to the workspace, as out/report.md"},
    "content": {"type": "string", "description": "the whole new content"}},
    "required": ["path", "content"]})",
          .output_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0}, "created": {"type": "boolean"}},
    "required": ["path", "bytes", "created"]})",
          .annotations = {.read_only = false, .destructive = true, .idempotent = true, .open_world = false},
      },
      {
          .name = "edit_artifact",
          .title = "Change a part of a file",
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
      },
      {
          .name = "read_artifact",
          .title = "Read a file",
          .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string", "minLength": 1, "description": "of the file"},
    "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "the first byte"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1048576, "default": 262144,
              "description": "how many bytes at most"}},
    "required": ["path"]})",
          .output_schema = excerpt_schema("path"),
          .annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
      },
      {
          .name = "list_artifacts",
          .title = "List files",
          .input_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "path": {"type": "string", "description": "a directory or file; without it the whole workspace"},
    "glob": {"type": "string", "maxLength": 1024, "description": "as src/**/*.py"}}})",
          .output_schema = R"({"type": "object", "additionalProperties": false, "properties": {
    "entries": {"type": "array", "maxItems": 1000, "items": {"type": "object", "additionalProperties": false,
      "properties": {"path": {"type": "string"}, "kind": {"type": "string", "enum": ["file", "directory", "link", "other"]},
                     "size": {"type": "integer", "minimum": 0}},
      "required": ["path", "kind", "size"]}},
    "more": {"type": "integer", "minimum": 0}, "complete": {"type": "boolean"}},
    "required": ["entries", "more", "complete"]})",
          .annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
      },
      {
          .name = "search_artifacts",
          .title = "Search in files",
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
      }};
  return tools;
}

}  // namespace cloche
