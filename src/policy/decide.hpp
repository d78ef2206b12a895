// decide(): every gate answers, the strictest answer wins. Pure and total: same case, same answer. `explain`,
// dry runs, the question to a person and the real call all come here.
#pragma once

#include <optional>
#include <vector>

#include "model/call.hpp"
#include "policy/shapes.hpp"

namespace cloche {

struct Judgement;
Judgement decide(const Case& c, const Shapes& shapes);

// The only thing that lets a command run. It comes from decide() and cannot be copied or read from anywhere.
class Permit {
 public:
  Permit(Permit&&) = default;
  Permit& operator=(Permit&&) = default;
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

  const Launch& launch() const { return launch_; }

 private:
  explicit Permit(Launch launch) : launch_(std::move(launch)) {}
  friend Judgement decide(const Case& c, const Shapes& shapes);
  Launch launch_;
};

struct Judgement {
  std::vector<Verdict> gates = {};  // all nine, in the order of explanation
  Decision decision = Decision::deny;
  GateId by = GateId::loadout;        // the first of the strictest
  std::optional<Launch> launch = {};  // what would run; there is none for what is denied
  std::optional<Permit> permit = {};  // only with Decision::allow, and only for a command
};

// The gate that settled it.
const Verdict& decisive(const Judgement& judgement);

}  // namespace cloche
