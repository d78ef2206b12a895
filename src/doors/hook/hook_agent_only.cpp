#include "doors/hook/hook_agent_only.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"
#include "policy/shipped_files.hpp"
#include "store/sealed/agent_definitions.hpp"
#include "store/sealed/client_files.hpp"
#include "store/trust/bind_mount_alias.hpp"

namespace cloche {
namespace {

using Check = AgentToolRow::Check;
using Kind = HookTool::Kind;

constexpr uint64_t plan_patience_ms = 1500;  // seen: 200 ms

// Codex keeps its sessions elsewhere and has none of these files. Where the configuration lies in the
// workspace, its files are the project's and are judged as such.
std::optional<ClientFiles> files_of(const HookCall& call, const HookPlace& place) {
  if (call.agent != Agent::claude) return std::nullopt;
  auto session = client_files(call.transcript, call.session);
  if (session && lies_in(place.workspace, session->config)) return std::nullopt;
  return session;
}

bool has_only(const JsonValue& input, std::initializer_list<std::string_view> known) {
  return std::ranges::all_of(input.members,
                             [&](const JsonMember& member) { return contains(known, member.name); });
}

std::string text_of(const JsonValue& input, std::string_view name) {
  const JsonValue* value = input.find(name);
  return value != nullptr && value->is_string() ? value->text : "";
}

AgentOnly passes(const HookCall& call, const std::string& why) {
  return {.passes = true, .why = why, .judged = {call.tool, to_json(call.input)}};
}

// Only Read looks at stored output: a search would name more than one file.
bool reads_stored_output(const HookCall& call, const ClientFiles& session, const std::string& path) {
  return call.tool == "Read" && has_only(call.input, {"file_path", "offset", "limit", "pages"}) &&
         is_stored_output(session, path);
}

bool uses_plan_file(const HookCall& call, const ClientFiles& session, const std::string& path) {
  if (!call.plans_only) return false;
  const bool known = (call.tool == "Write" && has_only(call.input, {"file_path", "content"})) ||
                     (call.tool == "Edit" &&
                      has_only(call.input, {"file_path", "old_string", "new_string", "replace_all"})) ||
                     (call.tool == "Read" && has_only(call.input, {"file_path", "offset", "limit", "pages"}));
  // Before the look at the disk: most calls in plan mode are about other files.
  if (!known || parent_of(path) != session.config + "/plans") return false;
  const auto plan = plan_file(session, plan_patience_ms);
  return plan.ok() && plan.value() == path;
}

AgentOnly file_of_session(const HookCall& call, const HookTool& tool, const HookPlace& place) {
  const auto session = files_of(call, place);
  if (!session || tool.files.size() != 1) return {};
  const HookFile& file = tool.files.front();
  AgentOnly only{.judged = judged_at(file, place.workspace, file.path)};
  if (reads_stored_output(call, *session, file.path)) {
    only.why = "output that this session has stored";
  } else if (uses_plan_file(call, *session, file.path)) {
    only.why = "the plan file of this session";
  }
  only.passes = !only.why.empty();
  return only;
}

std::optional<std::string> why_ask_about_plan(const HookCall& call, const HookPlace& place) {
  const std::string named = text_of(call.input, "planFilePath");
  if (named.empty()) return std::nullopt;
  const auto session = files_of(call, place);
  if (!session) return "its planFilePath cannot be checked";
  const auto plan = plan_file(*session, plan_patience_ms);
  if (!plan.ok()) return describe(plan.error());
  if (plan.value() != named) return shown(named) + " is not the plan file of this session";
  return std::nullopt;
}

std::optional<std::string> why_ask_about_name(const HookCall& call, const HookPlace& place,
                                              const AgentToolRow& row, const AgentToolTable& table) {
  const auto session = files_of(call, place);
  if (!session) return "it is not known where the agent has its definitions";
  DefinitionSearch search{.kind = row.check, .workspace = place.workspace, .config = session->config};
  if (row.check == Check::skill) {
    search.name = text_of(call.input, "skill");
    if (search.name.starts_with('/')) search.name.erase(0, 1);
    if (text_of(call.input, "args").empty()) search.words = ModelsWords::none;
  } else {
    const bool unnamed = call.input.find("subagent_type") == nullptr;
    search.words = ModelsWords::none;  // the prompt is not put into the definition
    search.name = unnamed ? "general-purpose" : text_of(call.input, "subagent_type");
  }
  return why_ask_about_definition(search, table);
}

std::optional<std::string> why_ask(const HookCall& call, const HookPlace& place, const AgentToolRow& row,
                                   const AgentToolTable& table) {
  if (const auto fault = row.arguments.check(call.input))
    return "of " + row.tool + ", " + shown(fault->describe(), 200);
  switch (row.check) {
    case Check::none: return std::nullopt;
    case Check::plan_file: return why_ask_about_plan(call, place);
    case Check::skill:
    case Check::subagent: break;
  }
  return why_ask_about_name(call, place, row, table);
}

}  // namespace

Result<AgentOnly> acts_on_agent_only(const HookCall& call, const HookTool& tool, const HookPlace& place) {
  if (tool.kind == Kind::file) return file_of_session(call, tool, place);
  if (tool.kind != Kind::unknown) return AgentOnly{};
  const AgentToolTable table =
      TRY(read_agent_tools(shipped_text("share/agent_tools.json"), "share/agent_tools.json"));
  const AgentToolRow* row =
      find_agent_tool(table, call.agent == Agent::claude ? "claude" : "codex", call.tool);
  if (row == nullptr) return AgentOnly{};
  if (auto why = why_ask(call, place, *row, table)) return AgentOnly{.why = *std::move(why)};
  return passes(call, row->reason);
}

}  // namespace cloche
