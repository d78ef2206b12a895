#include "tools/session_conditions.hpp"

#include <algorithm>

#include "base/json/json_text.hpp"
#include "policy/gates/gates.hpp"

namespace cloche {

namespace {

void tell_that_it_only_reads(ToolAnnotations& annotations) {
  annotations.read_only = true;
  annotations.destructive = false;
}

// A model is shown only the profiles that allow it more; a call with another one is judged all the same.
void limit_profiles(JsonValue& properties, const SessionConditions& around) {
  auto& members = properties.members;
  const auto profile =
      std::ranges::find_if(members, [](const JsonMember& one) { return one.name == "profile"; });
  if (profile == members.end()) return;
  if (around.unasked >= around.commands) {
    members.erase(profile);
    return;
  }
  for (auto& keyword : profile->value.members) {
    if (keyword.name != "enum") continue;
    std::erase_if(keyword.value.items, [&](const JsonValue& name) {
      const auto known = command_profile(name.text);
      return !known || *known > around.commands;
    });
  }
}

std::string with_profiles(const std::string& schema, const SessionConditions& around) {
  auto value = read_json(schema, "schema");
  if (!value.ok()) return schema;
  for (auto& member : value.value().members) {
    if (member.name == "properties") limit_profiles(member.value, around);
  }
  return to_json(value.value());
}

}  // namespace

Starts starts_of(std::string_view tool) {
  if (tool == "write_artifact" || tool == "edit_artifact") return Starts::change;
  if (tool == "http_get") return Starts::fetch;
  if (tool == "run_shell" || tool == "run_script") return Starts::command;
  return tool == "run_python" ? Starts::computation : Starts::nothing;
}

void tell_conditions(ToolSpec& spec, Starts starts, const SessionConditions& conditions) {
  ToolAnnotations& annotations = spec.annotations;
  if (std::string text = text_of_tool(spec.name, conditions); !text.empty())
    spec.description = std::move(text);
  if (spec.name == "run_shell") spec.input_schema = with_profiles(spec.input_schema, conditions);
  if (starts == Starts::nothing) return;
  if (starts == Starts::fetch) {
    annotations.open_world = conditions.network;
    return;
  }
  if (!conditions.isolated && starts != Starts::change) {
    annotations = {};  // the strictest: it can do whatever the account can
    spec.description.insert(
        0,
        "Isolation is switched off by the operator: whatever is said below, nothing confines "
        "what this starts. ");
    return;
  }
  if (starts == Starts::command) annotations.open_world = conditions.network;
  // What it can reach may be changed even where no file can be.
  if (!conditions.writes && !annotations.open_world) tell_that_it_only_reads(annotations);
}

}  // namespace cloche
