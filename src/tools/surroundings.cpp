#include "tools/surroundings.hpp"

namespace cloche {

namespace {

void tell_that_it_only_reads(ToolAnnotations& annotations) {
  annotations.read_only = true;
  annotations.destructive = false;
}

}  // namespace

Starts starts_of(std::string_view tool) {
  if (tool == "write_artifact" || tool == "edit_artifact") return Starts::change;
  if (tool == "http_get") return Starts::fetch;
  if (tool == "run_shell" || tool == "run_script") return Starts::command;
  return tool == "run_python" ? Starts::computation : Starts::nothing;
}

void tell_surroundings(ToolSpec& spec, Starts starts, const Surroundings& surroundings) {
  ToolAnnotations& annotations = spec.annotations;
  if (starts == Starts::nothing) return;
  if (starts == Starts::fetch) {
    annotations.open_world = surroundings.network;
    return;
  }
  if (!surroundings.isolated && starts != Starts::change) {
    annotations = {};  // the strictest: it can do whatever the account can
    spec.description.insert(
        0,
        "Isolation is switched off by the operator: whatever is said below, nothing holds "
        "what this starts. ");
    return;
  }
  if (starts == Starts::command) annotations.open_world = surroundings.network;
  // What it can reach may be changed even where no file can be.
  if (!surroundings.writes && !annotations.open_world) tell_that_it_only_reads(annotations);
}

}  // namespace cloche
