// The end of a task's transcript, for whoever may read it as text.
#pragma once

#include <string>

#include "base/result.hpp"
#include "store/run_place.hpp"

namespace cloche {

// Its last whole lines, of at most so many bytes together; empty when nothing was written yet.
Result<std::string> transcript_tail(const RunPlace& place, const std::string& task, size_t most_bytes);

}  // namespace cloche
