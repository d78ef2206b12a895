// Permit: the only thing that lets a call start a process or touch a file. decide() makes it, nothing copies
// it, and it owns all that was judged: what is done, the plan, the facts with their descriptors, and the
// plan's digest. What it was made from may change; it cannot.
#pragma once

#include <string>

#include "model/call.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "policy/shapes/shapes.hpp"

namespace cloche {

// What a call does if it is permitted, made ready before the decision: nothing is looked up after it.
struct Prepared {
  Launch launch = {};
  ConfinementPlan plan = {};
  std::string digest = {};  // of that plan
  Observation seen = {};
  FileFact directory = {};  // that the command starts in, held; inode 0: none of a tree that was judged
};

struct Judgement;

class Permit {
 public:
  Permit(Permit&&) = default;
  Permit& operator=(Permit&&) = default;
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

  const Launch& launch() const { return prepared_.launch; }
  const ConfinementPlan& plan() const { return prepared_.plan; }
  const std::string& digest() const { return prepared_.digest; }
  const Facts& facts() const { return prepared_.seen.facts; }
  const Prepared& prepared() const { return prepared_; }

 private:
  explicit Permit(Prepared prepared) : prepared_(std::move(prepared)) {}
  friend Judgement decide(const Case& c, const Shapes& shapes, Prepared prepared);
  Prepared prepared_;
};

}  // namespace cloche
