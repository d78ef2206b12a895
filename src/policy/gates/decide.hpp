// decide(): every gate answers, the strictest answer wins. Pure and total: same case, same answer. `explain`,
// dry runs, the question to a person and the real call all come here.
#pragma once

#include <optional>
#include <vector>

#include "model/call.hpp"
#include "policy/gates/permit.hpp"
#include "policy/shapes/shapes.hpp"

namespace cloche {

struct Judgement {
  std::vector<Verdict> gates = {};  // all nine, in the order of explanation
  Decision decision = Decision::deny;
  GateId by = GateId::loadout;        // the first of the strictest
  std::optional<Launch> launch = {};  // before anything is prepared: what would run; none where it is denied
  std::optional<Prepared> waiting = {};  // with Decision::ask: what an answer would let happen
  std::optional<Permit> permit = {};     // only with Decision::allow, and only for what acts

  // What would happen or may happen; none where it is denied.
  const Prepared* prepared() const { return permit ? &permit->prepared() : (waiting ? &*waiting : nullptr); }
};

// What these verdicts come to together, with the gate of approval behind them. `answer` is that of a person;
// none: there is none yet. Every decision about a call is made here, also one about a recorded call.
Judgement judgement_of(std::vector<Verdict> gates, std::optional<Decision> answer);

// What the gates say, and what would run if they let it.
Judgement decide(const Case& c, const Shapes& shapes);
// The decision about what was made ready for this very case. Where it is refused, what was held is let go.
Judgement decide(const Case& c, const Shapes& shapes, Prepared prepared);

// The gate that settled it.
const Verdict& decisive(const Judgement& judgement);

}  // namespace cloche
