// Git's index, compared without what git notes of the files on the disk: `git status` writes that anew when a
// file was touched, and the index stays the same. Formats 2 to 4, SHA-1 and SHA-256. Pure.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cloche {

// Equal entries (name, mode, object, stage, flags) and equal extensions, but for caches that git makes again
// from the entries or from the disk. False as well for what cannot be read as an index.
bool is_same_index(std::string_view one, std::string_view other);

struct EntryFile {
  struct stat seen = {};
  bool is_new = false;  // put there by a commit, which gave it another time of change
};
using LookAtEntry = std::function<std::optional<EntryFile>(const std::string& name)>;
// The index with the times of change, numbers and owners that files have now, for every entry of what `look`
// finds: by its size and time, and by its time of change where it is not new. Nothing: there is none, or it
// is no index of SHA-1 that is whole.
std::optional<std::string> refreshed_index(std::string_view index, const LookAtEntry& look);

}  // namespace cloche
