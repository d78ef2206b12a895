// One call judged: understood, looked at, decided and planned, and nothing done. `explain`, dry runs and the
// real call all come here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gateway/files_held.hpp"
#include "gateway/session.hpp"
#include "policy/approval.hpp"
#include "policy/decide.hpp"

namespace cloche {

struct Judged {
  Case c;
  Judgement judgement;
  Observation seen;                          // with what was judged held open
  RunRequest request = {};                   // what the plan was made from, less the launch
  std::optional<ConfinementPlan> plan = {};  // unless it is denied
  std::string plan_digest = {};              // of that plan
  std::vector<std::string> notes = {};       // what was dropped or tightened on the way, for the record
  std::vector<std::string> box_notes = {};   // of these, what is less about the box than was asked for
  OwnedFd turn = {};  // of an approved call: nobody changes the files that it names until it has ended
};

struct CallersView {
  const Skill* skill = nullptr;
  std::vector<Grant> own = {};  // what Cloche itself puts into the view: a task's home and /tmp
  Dials dials = {};
  std::span<const ToolCall> named =
      {};  // as the agent has it, where that is another tool: rules may name these
  std::optional<uint64_t> most_ms = {};  // what is left of the time of a call that this one is a part of
};

Result<Judged> judge(const Session& session, const ToolCall& call, const CallersView& view);

// The same case with an answer: nothing is yes, a verdict says why not.
void answer(Judged& judged, const Session& session, const std::optional<Verdict>& no);

// Beneath which directories its words may name files that an approval covers.
NamedFiles named_files_of(const Judged& judged);

// What somebody would be asked.
ApprovalSubject subject_of(const Judged& judged);

}  // namespace cloche
