// What a model reads of a refusal. Two readers, two texts. The operator reads where a rule is written, which
// flag or command changes it and which file of Cloche's is in the way (explain, the record, a terminal). The
// model reads none of that: a text that says how a refusal is made says how to get around it. Every front end
// takes the model's text from here. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/outcome.hpp"
#include "model/verdict.hpp"

namespace cloche {

// "refused by GATE: REASON; INSTEAD".
std::string refusal_text(const Verdict& verdict);

// What failed, for a model: without the fix, which is the operator's to make, and without places and
// settings.
std::string failure_text(const Error& error);
// The same of a sentence that is written down already.
std::string without_places(std::string_view sentence);

// An error in what the model itself has written: all of it is for the model.
std::string correction_text(const Error& error);

// Why a command ended, or was not started; empty: there is nothing to say of it.
std::string reason_for_model(const Outcome& outcome);
// The outcome with what a model may read of it and nothing else, for a front end that shows it as `run` does.
Outcome for_model(Outcome outcome);

// For the operator: what to change, or else what the model was told to do.
const std::string& operators_fix(const Verdict& verdict);

// A call that was refused. The model reads the reason; the operator reads the rule and the fix behind it.
Outcome refused_by(const Verdict& verdict);
// An operator's own command that was refused.
Outcome refused_command(const Verdict& verdict);

}  // namespace cloche
