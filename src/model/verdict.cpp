#include "model/verdict.hpp"

#include "model/names.hpp"

namespace cloche {

std::string_view name_of(Decision decision) {
  static constexpr std::string_view names[] = {"allow", "ask", "deny"};
  return name_in<Decision::deny>(names, decision);
}

std::string_view name_of(Approvers approvers) { return approvers == Approvers::anyone ? "any" : "operator"; }

std::string_view name_of(GateId gate) {
  static constexpr std::string_view names[] = {"loadout", "schema",  "shape", "no-shell", "path",
                                               "env",     "network", "rules", "approval"};
  return name_in<GateId::approval>(names, gate);
}

}  // namespace cloche
