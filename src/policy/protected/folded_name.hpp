// Names as the most forgiving file system compares them: without case, without characters it ignores, without
// what Windows drops at the end of a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// One name as it is compared.
std::string folded_name(std::string_view name);

// One name in every way in which a file system here may compare it: as it stands in lower case, without the
// characters that are ignored, and folded. A glob that matches one of them matches the name: folding alone
// would take from "a:b.key" and "id_rsa." what "*.key" and "id_rsa.*" look for.
using NameForms = std::vector<std::string>;
NameForms forms_of_name(std::string_view name);

}  // namespace cloche
