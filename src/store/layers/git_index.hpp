// Git's index, compared without what git notes of the files on the disk: `git status` writes that anew when a
// file was touched, and the index stays the same. Formats 2 to 4, SHA-1 and SHA-256. Pure.
#pragma once

#include <string_view>

namespace cloche {

// Equal entries (name, mode, object, stage, flags) and equal extensions, but for caches that git makes again
// from the entries or from the disk. False as well for what cannot be read as an index.
bool is_same_index(std::string_view one, std::string_view other);

}  // namespace cloche
