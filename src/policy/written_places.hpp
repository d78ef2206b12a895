// Where calls can write, nothing is anybody's word: a link there leads wherever the last call wanted it to.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

// Whether the way to what was named may be believed: `found` must not have been reached through a link (or
// out of a directory by ..) that lies in a place which calls write to, unless it still lies in that place and
// is only read. `named` is for the sentence, `written` are such places, resolved.
Result<void> judge_way(const std::string& named, const FileFact& found, bool writable,
                       const std::vector<std::string>& written);

}  // namespace cloche
