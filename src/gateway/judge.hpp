// One request judged: understood, looked at, planned and decided, and nothing done. A model's call, an
// operator's command, `explain`, dry runs and `wrap` all come here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gateway/launch/start_program.hpp"
#include "gateway/session.hpp"
#include "policy/gates/approval.hpp"
#include "policy/gates/decide.hpp"

namespace cloche {

struct Judged {
  Case c;
  Judgement judgement;                      // with what was prepared for it, or the Permit
  RunRequest request = {};                  // what the plan was made from, less the launch
  std::vector<std::string> notes = {};      // what was dropped or tightened on the way, for the record
  std::vector<std::string> box_notes = {};  // of these, what is less about the box than was asked for
  bool other_backends = false;              // its level has some that were not tried
  std::vector<ExecutedFile> approved = {};  // what the answer covers; without a hash: what was not there

  // Of what would run or may run; none where it is denied.
  const ConfinementPlan* plan() const {
    return judgement.prepared() != nullptr ? &judgement.prepared()->plan : nullptr;
  }
  std::string plan_digest() const {
    return judgement.prepared() != nullptr ? judgement.prepared()->digest : std::string();
  }
};

struct CallersView {
  const Skill* skill = nullptr;
  std::vector<Grant> own = {};  // what Cloche itself puts into the view: a task's home and /tmp
  RuntimeSettings runtime_settings = {};
  std::span<const ToolCall> named =
      {};  // as the agent has it, where that is another tool: rules may name these
  std::optional<uint64_t> most_ms = {};  // what is left of the time of a call that this one is a part of
  Learnt learnt = {};                    // by a permit that was void
  // Told of the request and of the caller before anything else is looked at: a jail can start meanwhile.
  HostFactsCache::Early early = {};
};

// The request of `cloche run`. The session has the command itself: its words may be any bytes.
ToolCall operators_command(const std::vector<std::string>& argv);

Result<Judged> judge(const Session& session, const ToolCall& call, const CallersView& view);

// The same case with an answer: nothing is yes, a verdict says why not.
void answer(Judged& judged, const Session& session, const std::optional<Verdict>& no);

}  // namespace cloche
