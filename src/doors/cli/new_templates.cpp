#include "doors/cli/new_templates.hpp"

namespace cloche {
namespace {

// Every @NAME@ becomes the name. Names are of letters, digits, - and _: they need no quoting anywhere.
std::string filled(std::string_view text, const std::string& name) {
  constexpr std::string_view mark = "@NAME@";
  std::string result;
  while (true) {
    const size_t at = text.find(mark);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += name;
    text.remove_prefix(at + mark.size());
  }
}

constexpr std::string_view skill_text = R"text(---
name: @NAME@
description: Says in one or two sentences what this skill does and when to use it.
# What a task with this skill may use. Whatever is left out stays as the operator has it.
tool_loadout: [run_shell, read_artifact, list_artifacts, search_artifacts, write_artifact]
commands: passive          # passive: checks and listings; full: runs the workspace's own code as well
needs_network: false       # or a list of hosts: ["api.example.org:443"]
pass_env: [LANG]
capabilities: ["fs:write:./out/**"]
---

# @NAME@

1. Look first: list_artifacts and read_artifact show the workspace.
2. Do the work, and write what comes of it to out/ with write_artifact.
3. A refused call says why and what to use instead: do that. Do not try the same call again.
)text";

constexpr std::string_view skill_test = R"text(#!/bin/sh
# Whether the skill loads, and whether its loadout is the boundary. Run it from anywhere: sh test.sh
set -eu
cd "$(dirname "$0")"
cloche tools --format mcp --skill SKILL.md > /dev/null
if cloche call run_script '{"interpreter":"bash","code":"true"}' --skill SKILL.md > /dev/null 2>&1; then
  echo "@NAME@: run_script is not in the loadout and ran" >&2
  exit 1
fi
echo "@NAME@: ok"
)text";

constexpr std::string_view manifest_text = R"text({
  "name": "@NAME@",
  "description": "Counts the words of a text. Give it the text itself, not a file's name.",
  "input_schema": {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 100000, "description": "what to count in"}},
    "required": ["text"],
    "additionalProperties": false
  },
  "output_schema": {
    "type": "object",
    "properties": {"words": {"type": "integer", "minimum": 0}},
    "required": ["words"],
    "additionalProperties": false
  },
  "code": "tool.py",
  // It has nothing that is not declared here: no workspace, no network. For more, for example:
  // "capabilities": ["fs:read:./data/**", "network:https:api.example.org"]
  "capabilities": [],
  "limits": {"timeout_s": 10, "memory": "256M", "pids": 16}
}
)text";

constexpr std::string_view tool_text = R"text(#!/usr/bin/env python3
"""One call: JSON on stdin, JSON on stdout. What goes to stderr is shown beside the result."""
import json
import sys


def answer(arguments):
    return {"words": len(arguments["text"].split())}


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
)text";

constexpr std::string_view executor_test = R"text(#!/bin/sh
# Calls the tool as a model would, in the sandbox. Run it from anywhere: sh test.sh
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
# Away from the tool: one that lies in the workspace of a call may do no more than the project.
workspace=$(mktemp -d)
trap 'rmdir "$workspace"' EXIT
cd "$workspace"
said=$(cloche call @NAME@ '{"text":"three short words"}' --executors "$folder")
case $said in
  *'"words"'*3*) echo "@NAME@: ok" ;;
  *) echo "@NAME@: unexpected: $said" >&2; exit 1 ;;
esac
if cloche call @NAME@ '{"text":1}' --executors "$folder" > /dev/null 2>&1; then
  echo "@NAME@: took a number for a text" >&2
  exit 1
fi
)text";

constexpr std::string_view rule_text = R"text({
  // As it stands this is a whole configuration: .cloche/config.json of a project, or the user's. The first rule
  // that matches decides; its examples are checked whenever the file is read.
  "permissions": {
    "rules": [
      {
        "tool": "run_shell",
        "args": {"cmd": "^npm (install|i|ci)( |$)"},
        "action": "ask",
        "reason": "@NAME@: packages run code of their own when they are installed",
        "match": ["npm install", "npm ci --ignore-scripts"],
        "not_match": ["npm test", "npm --version"]
      }
    ],
    // Of what no rule matches. Without it that is denied.
    "default": "allow"
  }
}
)text";

}  // namespace

NewThing new_skill(const std::string& name) {
  return {
      "skill",
      {{name + "/SKILL.md", filled(skill_text, name)}, {name + "/test.sh", filled(skill_test, name), true}},
      "sh " + name + "/test.sh"};
}

NewThing new_executor(const std::string& name) {
  return {"executor",
          {{name + "/manifest.json", filled(manifest_text, name)},
           {name + "/tool.py", filled(tool_text, name), true},
           {name + "/test.sh", filled(executor_test, name), true}},
          "sh " + name + "/test.sh"};
}

NewThing new_rule(const std::string& name) {
  return {"rule", {{name + ".json", filled(rule_text, name)}}, "cloche test " + name + ".json"};
}

}  // namespace cloche
