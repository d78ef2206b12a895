#include "tools/session_conditions.hpp"

#include <gtest/gtest.h>

#include "base/json/json_text.hpp"
#include "policy/gates/gates.hpp"
#include "tools/commands/run_shell.hpp"
#include "tools/commands/scripts.hpp"
#include "tools/registry.hpp"
#include "tools/web/http_get.hpp"

namespace cloche {
namespace {

std::string hints(const ToolSpec& spec) {
  std::string text = spec.annotations.read_only ? "reads" : "writes";
  if (spec.annotations.destructive) text += " destroys";
  if (spec.annotations.idempotent) text += " again";
  if (spec.annotations.open_world) text += " world";
  return text;
}

TEST(SessionConditions, AToolSaysWhatIsTrueThere) {
  struct Row {
    ToolSpec spec;
    SessionConditions around;
    const char* hints;
  };
  const ToolSpec fetching{.name = "executor", .annotations = {.read_only = true, .destructive = false}};
  const ToolSpec writing{.name = "write_artifact", .annotations = {false, true, true, false}};
  const Row rows[] = {
      {run_shell_spec(), {}, "writes destroys"},
      {run_shell_spec(), {.network = true}, "writes destroys world"},
      {run_script_spec(), {}, "writes destroys"},
      {run_script_spec(), {.network = true}, "writes destroys world"},
      {run_script_spec(), {.isolated = false}, "writes destroys world"},
      {run_python_spec(), {}, "reads again"},
      {run_python_spec(), {.network = true}, "reads again"},
      {run_python_spec(), {.isolated = false}, "writes destroys world"},
      {run_shell_spec(), {.writes = false}, "reads"},
      {run_shell_spec(), {.network = true, .writes = false}, "writes destroys world"},
      {run_shell_spec(), {.isolated = false, .writes = false}, "writes destroys world"},
      {run_script_spec(), {.writes = false}, "reads"},
      {http_get_spec(), {}, "reads again"},
      {http_get_spec(), {.network = true}, "reads again world"},
      {writing, {}, "writes destroys again"},
      {writing, {.writes = false}, "reads again"},
      {{.name = "read_artifact", .annotations = {true, false, true, false}},
       {.isolated = false, .network = true},
       "reads again"},
  };
  for (const auto& row : rows) {
    ToolSpec spec = row.spec;
    tell_conditions(spec, starts_of(spec.name), row.around);
    EXPECT_EQ(hints(spec), row.hints) << spec.name;
    EXPECT_EQ(spec.description.starts_with("Isolation is switched off"),
              !row.around.isolated && spec.name != "read_artifact")
        << spec.name;
  }
  ToolSpec executor = fetching;
  tell_conditions(executor, Starts::executor, {.isolated = false});
  EXPECT_EQ(hints(executor), "writes destroys world");
  executor = fetching;
  tell_conditions(executor, Starts::executor, {.network = false});
  EXPECT_EQ(hints(executor), "reads world") << "what it says itself";
}

// Every kind of session that makes a difference to some text.
std::vector<SessionConditions> all_kinds() {
  const std::vector<std::string> every = shipped_tools();
  const std::string longest(253, 'h');
  const std::vector<std::vector<std::string>> host_lists = {
      {}, {"*"}, {"example.org"}, std::vector<std::string>(50, longest)};
  std::vector<SessionConditions> kinds;
  for (const auto commands : {CommandProfile::passive, CommandProfile::full, CommandProfile::any})
    for (const auto unasked : {CommandProfile::passive, CommandProfile::full, CommandProfile::any})
      for (const auto& hosts : host_lists)
        for (unsigned bits = 0; bits < 32 && unasked <= commands; ++bits)
          kinds.push_back({.isolated = (bits & 1U) != 0,
                           .network = !hosts.empty(),
                           .hosts = hosts,
                           .writes = (bits & 2U) != 0,
                           .commands = commands,
                           .unasked = unasked,
                           .scripts = (bits & 4U) != 0,
                           .dotfiles = (bits & 8U) != 0,
                           .tools = (bits & 16U) != 0 ? every : std::vector<std::string>{"run_shell"}});
  return kinds;
}

std::vector<ToolSpec> tools_in(const SessionConditions& around) {
  std::vector<ToolSpec> specs;
  const Registry registry = Registry::make({}, Registry::Record::kept).value();
  for (const auto& tool : registry.tools()) {
    specs.push_back(tool.spec);
    tell_conditions(specs.back(), starts_of(tool.spec.name), around);
  }
  return specs;
}

void expect_typed_enums(const JsonValue& schema, const std::string& tool) {
  const bool typed = schema.find("enum") == nullptr || schema.find("type") != nullptr;
  EXPECT_TRUE(typed) << tool;
  for (const auto& member : schema.members) expect_typed_enums(member.value, tool);
  for (const auto& item : schema.items) expect_typed_enums(item, tool);
}

bool says(const ToolSpec& spec, std::string_view words) {
  return (spec.description + spec.input_schema).find(words) != std::string::npos;
}

TEST(ToolTexts, AreShortAndTypedInEveryKindOfSession) {
  for (const auto& around : all_kinds()) {
    for (const auto& spec : tools_in(around)) {
      EXPECT_FALSE(spec.description.empty()) << spec.name;
      EXPECT_LT(spec.description.size(), most_description_bytes) << spec.name << ": " << spec.description;
      expect_typed_enums(read_json(spec.input_schema, "").value(), spec.name);
    }
  }
}

TEST(ToolTexts, OfProfilesOnlyThoseOfTheSession) {
  for (const auto& around : all_kinds()) {
    for (const auto& spec : tools_in(around)) {
      const bool under_any = around.unasked == CommandProfile::any;
      EXPECT_FALSE(under_any && says(spec, "passive")) << spec.description;
      const bool under_passive = around.commands == CommandProfile::passive;
      EXPECT_FALSE(under_passive && says(spec, "profile")) << spec.description;
      if (spec.name != "run_shell") continue;
      EXPECT_EQ(says(spec, R"("profile")"), around.unasked < around.commands) << spec.input_schema;
      EXPECT_EQ(says(spec, R"("any")"),
                around.unasked < around.commands && around.commands == CommandProfile::any);
    }
  }
}

TEST(ToolTexts, PassiveNamesWhatItRefuses) {
  const SessionConditions passive{.tools = shipped_tools()};
  for (const auto& spec : tools_in(passive)) {
    if (spec.name != "run_shell") continue;
    for (const char* form :
         {"python3 -c", "FILE --help", "-m MODULE --help", "pytest", "node -e", "npx", "git", "bash"})
      EXPECT_TRUE(says(spec, form)) << form;
  }
}

TEST(ToolTexts, SayWhatElseHolds) {
  const auto text = [](std::string_view tool, const SessionConditions& around) {
    return text_of_tool(tool, around);
  };
  const auto has = [](const std::string& said, const char* words) {
    return said.find(words) != std::string::npos;
  };
  const CommandProfile any = CommandProfile::any;
  const SessionConditions shell{.commands = any, .unasked = any, .scripts = true, .tools = shipped_tools()};
  EXPECT_TRUE(has(text("run_shell", shell), "runs as a bash script"));
  EXPECT_FALSE(has(text("run_shell", {.commands = any, .unasked = any}), "runs as a bash script"))
      << "it needs what run_script needs";
  EXPECT_TRUE(has(text("run_script", {}), "refused in this session"));
  EXPECT_TRUE(has(text("write_artifact", {}), "names that begin with a dot"));
  EXPECT_FALSE(has(text("write_artifact", {.dotfiles = true}), "names that begin with a dot"));
  EXPECT_TRUE(has(text("write_artifact", {.writes = false}), "Refused in this session"));
  EXPECT_TRUE(has(text("run_shell", shell), "There is no network"));
  EXPECT_TRUE(has(text("http_get", {}), "every address is refused"));
  EXPECT_TRUE(has(text("http_get", {.network = true, .hosts = {"example.org", "a.example"}}),
                  "declares: example.org, a.example. "));
  EXPECT_FALSE(has(text("read_artifact", {}), "search_artifacts")) << "it is not offered";
}

}  // namespace
}  // namespace cloche
