#include "tools/surroundings.hpp"

namespace cloche {

Starts starts_of(std::string_view tool) {
  if (tool == "run_shell" || tool == "run_script") return Starts::command;
  return tool == "run_python" ? Starts::computation : Starts::nothing;
}

void tell_surroundings(ToolSpec& spec, Starts starts, const Surroundings& surroundings) {
  if (starts == Starts::nothing) return;
  if (!surroundings.isolated) {
    spec.annotations = {};  // the strictest: it can do whatever the account can
    spec.description.insert(
        0,
        "Isolation is switched off by the operator: whatever is said below, nothing holds "
        "what this starts. ");
  } else if (starts == Starts::command && surroundings.network) {
    spec.annotations.open_world = true;
  }
}

}  // namespace cloche
