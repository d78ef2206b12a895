#include "tools/surroundings.hpp"

#include <gtest/gtest.h>

#include "tools/http_get.hpp"
#include "tools/run_shell.hpp"
#include "tools/scripts.hpp"

namespace cloche {
namespace {

std::string hints(const ToolSpec& spec) {
  std::string text = spec.annotations.read_only ? "reads" : "writes";
  if (spec.annotations.destructive) text += " destroys";
  if (spec.annotations.idempotent) text += " again";
  if (spec.annotations.open_world) text += " world";
  return text;
}

TEST(Surroundings, AToolSaysWhatIsTrueThere) {
  struct Row {
    ToolSpec spec;
    Surroundings around;
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
    tell_surroundings(spec, starts_of(spec.name), row.around);
    EXPECT_EQ(hints(spec), row.hints) << spec.name;
    EXPECT_EQ(spec.description.starts_with("Isolation is switched off"),
              !row.around.isolated && spec.name != "read_artifact")
        << spec.name;
  }
  ToolSpec executor = fetching;
  tell_surroundings(executor, Starts::executor, {.isolated = false});
  EXPECT_EQ(hints(executor), "writes destroys world");
  executor = fetching;
  tell_surroundings(executor, Starts::executor, {.network = false});
  EXPECT_EQ(hints(executor), "reads world") << "what it says itself";
}

}  // namespace
}  // namespace cloche
