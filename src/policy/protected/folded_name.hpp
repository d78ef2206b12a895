// Names as the most forgiving file system compares them: without case, without characters it ignores, without
// what Windows drops at the end of a name.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

// One name as it is compared.
std::string folded_name(std::string_view name);

}  // namespace cloche
