// Text that stays as it is when somebody brings it into Unicode's composed form (NFC), as agents do with
// paths: é as one letter, and not as e with a mark behind it. Errs on the side of no. Pure.
#pragma once

#include <string_view>

namespace cloche {

// Also that it is UTF-8.
bool is_composed(std::string_view text);

}  // namespace cloche
