// Names that cannot be guessed, of letters and digits that mean nothing to a shell or a path.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

// Of a-z and 2-7: five bits of the kernel's randomness in each letter.
Result<std::string> random_word(size_t letters);

// What such words, joined by dashes, are made of: a-z, 0-9 and -, not a dash first, at most 64.
bool is_plain_id(std::string_view word);

}  // namespace cloche
