// What a gate says of one call. The strictest verdict wins.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

enum class Decision { allow, ask, deny };  // in order of strictness
std::string_view name_of(Decision decision);

enum class GateId { loadout, schema, shape, no_shell, path, env, network, rules, approval };
std::string_view name_of(GateId gate);

// Whose answer counts where a verdict asks, in order of strictness.
enum class Approvers {
  anyone,          // also whoever speaks for the agent: the client of a door, the person at its terminal
  operator_alone,  // `cloche approve` and nothing else
};
std::string_view name_of(Approvers approvers);

struct Verdict {
  GateId gate = GateId::loadout;
  Decision decision = Decision::deny;       // what nobody has judged is refused
  std::string reason = {};                  // one sentence that a model or a person can act on
  std::string rule = {};                    // what decided, as "id file:line"; empty: the gate itself
  std::string fix = {};                     // the smallest change that would alter the decision
  Approvers approvers = Approvers::anyone;  // of an ask
};

}  // namespace cloche
