#include "model/verdict.hpp"

namespace cloche {

std::string_view name_of(Decision decision) {
  switch (decision) {
    case Decision::allow: return "allow";
    case Decision::ask: return "ask";
    case Decision::deny: return "deny";
  }
  return "deny";
}

std::string_view name_of(Approvers approvers) { return approvers == Approvers::anyone ? "any" : "operator"; }

std::string_view name_of(GateId gate) {
  switch (gate) {
    case GateId::loadout: return "loadout";
    case GateId::schema: return "schema";
    case GateId::shape: return "shape";
    case GateId::no_shell: return "no-shell";
    case GateId::path: return "path";
    case GateId::env: return "env";
    case GateId::network: return "network";
    case GateId::rules: return "rules";
    case GateId::approval: return "approval";
  }
  return "loadout";
}

}  // namespace cloche
