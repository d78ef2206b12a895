// Whether a text is in Unicode's composed form (NFC) already, into which agents bring paths: é as one letter,
// and not as e with a mark behind it. In doubt the answer is no. Pure.
#pragma once

#include <string_view>

namespace cloche {

// Also that it is UTF-8.
bool is_composed(std::string_view text);

}  // namespace cloche
