#include "doors/hook/hook_tools.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"
#include "doors/hook/written_path.hpp"

namespace cloche {
namespace {

using Kind = HookTool::Kind;

// The agent's tool, what of ours does the same, and which of its arguments say where and what.
struct FileTool {
  std::string_view agents;
  std::string_view ours;
  std::string_view path;
  std::string_view content = {};
  std::string_view replaced = {};
};
constexpr FileTool file_tools[] = {
    {"Read", "read_artifact", "file_path"},
    {"view_image", "read_artifact", "path"},
    {"NotebookRead", "read_artifact", "notebook_path"},
    {"Write", "write_artifact", "file_path", "content"},
    {"Edit", "edit_artifact", "file_path", "new_string", "old_string"},
    {"MultiEdit", "write_artifact", "file_path", "edits"},
    {"NotebookEdit", "write_artifact", "notebook_path", "new_source"},
    {"LS", "list_artifacts", "path"},
    {"Glob", "list_artifacts", "path"},
    {"Grep", "search_artifacts", "path"},
};
// These look everywhere beneath where the agent stands, unless they are told where.
bool may_lack_path(std::string_view ours) { return ours == "list_artifacts" || ours == "search_artifacts"; }

Error bad(const HookCall& call, std::string_view argument) {
  return refusal(shown(call.tool, 80) + " has no argument " + std::string(argument) + " that can be judged");
}

Result<std::string> text_of(const HookCall& call, std::string_view argument) {
  const JsonValue* value = call.input.find(argument);
  if (value == nullptr || !value->is_string() || value->text.empty()) return bad(call, argument);
  return value->text;
}

// Text as it is, anything else as JSON, nothing as nothing.
std::string content_of(const HookCall& call, std::string_view argument) {
  const JsonValue* value = argument.empty() ? nullptr : call.input.find(argument);
  if (value == nullptr) return {};
  return value->is_string() ? value->text : to_json(*value);
}

// Of a tool that runs a command: every argument that is known, each the model's. What stands in the command's
// place goes back with all of them, so one that is not here could run something else, and refuses.
struct CommandTool {
  std::string_view agents;
  std::vector<std::string_view> arguments;
};
const CommandTool command_tools[] = {
    // timeout and run_in_background say how long the agent waits (what the key `background` gives to the
    // latter, the operator has given); description is shown to the user;
    // dangerouslyDisableSandbox is about the agent's own sandbox, and Cloche's is used either way.
    {"Bash", {"command", "timeout", "description", "run_in_background", "dangerouslyDisableSandbox"}},
    // timeout_ms and persistent say how long the agent listens.
    {"Monitor", {"command", "description", "timeout_ms", "persistent"}},
};

Result<HookTool> command_of(const HookCall& call, const CommandTool& tool) {
  for (const auto& member : call.input.members)
    if (!contains(tool.arguments, member.name))
      return refusal(
          shown(call.tool, 80) + " has an argument " + shown(member.name, 80) + " that cannot be judged",
          "leave it out");
  JsonWriter out;
  out.begin_object().member("code", TRY(text_of(call, "command"))).member("interpreter", "bash").end_object();
  return HookTool{.kind = Kind::command, .judged = {"run_script", out.take()}};
}

Result<HookTool> fetch_of(const HookCall& call) {
  JsonWriter out;
  out.begin_object().member("url", TRY(text_of(call, "url"))).end_object();
  return HookTool{.kind = Kind::fetch, .judged = {"http_get", out.take()}};
}

Result<HookTool> file_of(const HookCall& call, const FileTool& row) {
  HookFile file{.tool = std::string(row.ours)};
  const bool anywhere = may_lack_path(row.ours) && call.input.find(row.path) == nullptr;
  if (!anywhere) {
    file.path = TRY(text_of(call, row.path));
    TRY(check_written_path(file.path));
  } else {
    file.path = call.directory;
  }
  file.content = content_of(call, row.content);
  file.replaced = content_of(call, row.replaced);
  // An edit of nothing makes the file.
  if (file.tool == "edit_artifact" && file.replaced.empty()) file.tool = "write_artifact";
  return HookTool{.kind = Kind::file, .judged = {call.tool, to_json(call.input)}, .files = {file}};
}

// A glob has a place of its own: from the root when it begins there, whatever the path says.
Result<HookTool> glob_of(const HookCall& call, const FileTool& row) {
  HookTool tool = TRY(file_of(call, row));
  HookFile looked_at = tool.files.front();
  const std::string glob = TRY(text_of(call, "pattern"));
  const std::string begins = TRY(where_glob_begins(glob));
  if (begins.empty()) return tool;
  looked_at.path = begins.starts_with('/') ? begins : looked_at.path + "/" + begins;
  tool.files.push_back(std::move(looked_at));
  return tool;
}

Result<HookTool> patch_of(const HookCall& call) {
  const std::string patch = TRY(text_of(call, "command"));
  HookTool tool{.kind = Kind::file, .judged = {call.tool, to_json(call.input)}};
  for (auto& path : TRY(files_of_patch(patch)))
    tool.files.push_back({"write_artifact", std::move(path), patch});
  if (tool.files.empty()) return bad(call, "command");
  return tool;
}

}  // namespace

Result<HookTool> understand_hook_tool(const HookCall& call) {
  for (const auto& row : command_tools) {
    // A monitor without a command listens to an address instead: no process, and a rule or the user decides.
    const bool listens = row.agents == "Monitor" && call.input.find("command") == nullptr;
    if (row.agents == call.tool && !listens) return command_of(call, row);
  }
  if (call.tool == "WebFetch") return fetch_of(call);
  if (call.tool == "apply_patch") return patch_of(call);
  for (const auto& row : file_tools)
    if (row.agents == call.tool) return call.tool == "Glob" ? glob_of(call, row) : file_of(call, row);
  return HookTool{.kind = call.tool.starts_with("mcp__") ? Kind::foreign : Kind::unknown,
                  .judged = {call.tool, to_json(call.input)}};
}

std::vector<ToolCall> named_for_rules(const ToolCall& asked, const std::string& workspace,
                                      const std::string& directory) {
  const std::string cwd =
      directory == workspace ? "." : directory.substr(workspace == "/" ? 1 : workspace.size() + 1);
  const auto input = read_json(asked.arguments, "", {.bytes = most_hook_bytes});
  JsonWriter own;
  JsonWriter bash;
  own.begin_object();
  bash.begin_object();
  for (const auto& member : input.ok() ? input.value().members : std::vector<JsonMember>()) {
    if (member.name == "cwd") continue;
    own.key(member.name).raw(to_json(member.value));
    if (member.name == "command") bash.key(member.name).raw(to_json(member.value));
  }
  std::vector<ToolCall> names = {{asked.tool, own.member("cwd", cwd).end_object().take()}};
  if (asked.tool != "Bash") names.push_back({"Bash", bash.member("cwd", cwd).end_object().take()});
  return names;
}

ToolCall judged_at(const HookFile& file, const std::string& workspace, const std::string& leads_to) {
  std::string path = leads_to;  // elsewhere: as it is, and the gate says what is wrong with it
  if (leads_to == workspace) {
    path.clear();
  } else if (is_beneath(workspace, leads_to)) {
    path = leads_to.substr(workspace == "/" ? 1 : workspace.size() + 1);
  }
  JsonWriter out;
  out.begin_object();
  if (!path.empty() || !may_lack_path(file.tool)) out.member("path", path);
  if (file.tool == "write_artifact") out.member("content", file.content);
  if (file.tool == "edit_artifact") out.member("old", file.replaced).member("new", file.content);
  if (file.tool == "search_artifacts") out.member("pattern", ".");
  return {file.tool, out.end_object().take()};
}

}  // namespace cloche
