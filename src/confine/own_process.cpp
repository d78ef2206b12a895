#include "confine/own_process.hpp"

#include "confine/native/proof.hpp"
#include "confine/warm/early_imports.hpp"
#include "confine/warm/late_text.hpp"

namespace cloche {

OwnProcess waiting_jail() { return OwnProcess(); }
OwnProcess network_gate() { return OwnProcess(); }
OwnProcess hook_judge() { return OwnProcess(); }

Result<OwnProcess> waiting_interpreter(const ConfinementPlan& of, const EarlyImports& imports) {
  if (!late_script(of)) return Error{Cause::internal, "no script is late in this plan"};
  return OwnProcess(with_imports(without_script(of), imports));
}

Result<OwnProcess> self_proof(const ConfinementPlan& of, const std::string& probe, unsigned hold_ms,
                              Backend backend) {
  return OwnProcess(TRY(proof_plan(of, probe, hold_ms, backend)));
}

}  // namespace cloche
