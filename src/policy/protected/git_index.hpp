// Git's index: which paths it makes git write, and two of them compared without what git notes of the files
// on the disk: `git status` writes that anew when a file was touched, and the index stays the same. Formats 2
// to 4, SHA-1 and SHA-256. Pure.
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

// The longest that is judged: some 600,000 entries.
inline constexpr size_t max_git_index_bytes = size_t{128} << 20;

// As git itself wants the path of everything that it adds.
bool is_path_of_git(std::string_view path);

// Git checks the paths of what it commits or adds, and takes those of an index that it finds as they are: a
// checkout writes to .git/hooks and to ../x. Why this one, or a part of a split one, could make it do so;
// nothing: every path is one that git would add itself, and there is one way to read it.
enum class ObjectNames { sha1, sha256 };  // as the repository's configuration says
std::optional<std::string> danger_in_git_index(std::string_view text, ObjectNames names);

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
