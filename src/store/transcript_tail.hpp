// The end of a task's transcript, for whoever may read it as text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "store/record/run_place.hpp"

namespace cloche {

// Its last whole lines, of at most so many bytes together; empty when nothing was written yet.
Result<std::string> transcript_tail(const RunPlace& place, const std::string& task, size_t most_bytes);

// Of each line what its model has seen already: what it asked for and what it got. Verdicts with their rules
// and fixes, notes and layers are the operator's, and are not in it.
std::string transcript_for_model(std::string_view lines);

}  // namespace cloche
