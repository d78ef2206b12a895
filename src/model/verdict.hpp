// What a gate says of one call. The strictest verdict wins.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/message.hpp"

namespace cloche {

enum class Decision { allow, ask, deny };  // in order of strictness
std::string_view name_of(Decision decision);

enum class GateId { loadout, schema, shape, no_shell, path, env, network, rules, approval };
std::string_view name_of(GateId gate);

// Whose answer counts where a verdict asks, in order of strictness.
enum class Approvers {
  anyone,          // also who speaks for the agent: the client of a front end, the person at its terminal
  operator_alone,  // `cloche approve` and nothing else
};
std::string_view name_of(Approvers approvers);

// Two readers. The model reads `reason` and `instead` alone: what is said there names no flag, no command of
// Cloche's and no place of a rule, and shows no way around one. The operator reads all of it.
struct Verdict {
  GateId gate = GateId::loadout;
  Decision decision = Decision::deny;  // what no gate has judged is refused
  Message reason = {};                 // for both: one sentence, why
  std::string rule = {};               // for the operator: what decided, as "id file:line"; empty: the gate
  Message fix = {};                    // for the operator: the smallest change that would alter the decision
  Approvers approvers = Approvers::anyone;  // of an ask
  Message instead = {};                     // for the model: what it can do within the rules
};

inline Verdict deny(GateId gate, Message reason, Message instead = {}, Message fix = {}) {
  return {gate, Decision::deny, std::move(reason), {}, std::move(fix), {}, std::move(instead)};
}

// What the model reads where the operator said no, and where only a yes of the user's helps.
inline constexpr std::string_view forbidden_by_operator =
    "the operator forbids it, so do not try to do it in another way; go on without it, or tell the user what "
    "you needed it for";
inline constexpr std::string_view needs_the_user =
    "the user has to approve it; do not try to do it in another way";

}  // namespace cloche
