// What is written down of one call. The record is evidence: it says what was asked, what every gate
// answered, what really held, and how it ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/outcome.hpp"
#include "model/verdict.hpp"

namespace cloche {

// Before the effect.
struct DecisionRecord {
  std::string task_id;
  std::string role;
  std::string tool;  // as asked
  std::string args;  // as asked: JSON when it is valid, else a JSON string of the bytes
  Decision decision = Decision::deny;
  std::vector<Verdict> verdicts = {};
  std::string plan_digest = {};         // empty: there is no plan
  std::string runs = {};                // the canonical quoting of what would run; empty: no program
  bool advisory = false;                // the agent does it itself: judged, and nothing of it enforced
  bool opaque = false;                  // what runs could not be judged; only the sandbox answers for it
  std::vector<std::string> notes = {};  // what was dropped, skipped or degraded on the way
  std::string workspace = {};           // where; empty: it is not known
};

// After it.
struct CallRecord {
  DecisionRecord decided;
  std::string call_id;   // of that decision
  std::string result;    // the exact text the model got
  Outcome outcome = {};  // how it went; of a refusal End::refused
};

}  // namespace cloche
