// What a member of the protected set is made of: files and links, each with its path, its mode and what it
// holds. That is all by which one is compared to what it was before: times and inodes say nothing that a
// command could not have arranged, and on some file systems a change leaves no time at all.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>

#include "store/protected/protected_walk.hpp"

namespace cloche {

inline constexpr size_t most_member_names = 512;
inline constexpr size_t most_member_depth = 16;
inline constexpr size_t most_member_bytes = size_t{1} << 20;  // of one file

// As it can be found again: a file's bytes, a link's words. Nothing for what is too large, or neither.
std::optional<std::string> content_of_member(int parent, const std::string& name, const struct stat& seen);

// `path` is relative to the root.
using MemberFileTest =
    std::function<bool(const std::string& path, const struct stat& seen, const std::string& content)>;

// Whether that, with all that is in it, is made of such files only. Of one that holds none it says no.
bool every_file_is(const HeldRoot& root, const std::string& path, const MemberFileTest& test);

}  // namespace cloche
