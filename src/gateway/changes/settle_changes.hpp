// From what a call wrote to what became of it: read from its layers, judged, compared with what the host did
// meanwhile, and moved into the project; or stored, where something is in the way. Nothing is decided here:
// the judge of changes is policy/changes/judge_changes.hpp.
#pragma once

#include <string>

#include "model/changes_outcome.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "policy/changes/change_rules.hpp"
#include "policy/gates/approval.hpp"
#include "store/layers/call_layers.hpp"
#include "store/workspace/file_sync.hpp"

namespace cloche {

struct ChangeTerms {
  std::string state = {};      // Cloche's own directory
  std::string workspace = {};  // of the call
  std::string id = {};         // of the set that is stored: a plain name that no other has
  std::string label = {};      // RUN/CALL, by which an operator finds it
  std::string task = {};       // whose later calls go on from what is staged; empty: none does
  Writes writes = Writes::commit;
  ChangeRules rules = {};
  GitSources git = {};
  FileSync sync = FileSync::later;
  UndoBounds undo = {};
  bool was_cancelled = false;  // by the client, which no longer waits: an operator says what becomes of it
  bool is_released = false;    // the kernel has let go of the overlays
};

// Before a call, which is to see whole what was committed, and before it is judged: what killed calls left
// half done comes in as far as the judge still lets it, or is taken back.
void finish_interrupted(const std::string& state, const GitSources& git);

// Nothing of the set has reached the project before this, and all or nothing of what the judge let through
// has after it. An Error says what became of it: what could not be read or stored is gone with its layers,
// and nothing of it is in the project.
Result<ChangesOutcome> settle_changes(CallLayers& layers, const ConfinementPlan& plan,
                                      const ChangeTerms& terms);

// Of a set that is staged because a rule asks: the question, and what a yes to it does. Nothing reaches the
// project but by StoredChanges::apply(): what the host did while the question was open is in the way, and the
// judge speaks again.
// No later call writes to the set before it is brought in, or left to its task.
Question question_about(const ChangesOutcome& changes, const std::string& label);
void bring_in(ChangesOutcome& changes, const ChangeTerms& terms);
Result<void> leave_staged(const ChangesOutcome& changes, const ChangeTerms& terms);

}  // namespace cloche
