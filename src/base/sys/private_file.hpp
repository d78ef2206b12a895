// Files that Cloche keeps for itself: 0600, replaced whole, and believed only when they are our own.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cloche {

// An Error when it is not there, is longer than `most`, or another user could have written it.
Result<std::string> read_private_file(const std::string& path, size_t most);

// With its directories. A reader meanwhile sees the old one or the new one. A cache is no promise:
// false is not a reason to refuse.
bool write_private_file(const std::string& path, std::string_view bytes);

// One that is not there yet, where no reader looks for it before it is whole. False and EEXIST: it is there.
bool make_private_file(const std::string& path, std::string_view bytes);

// Removes what writers of this directory's files have left who were killed before they were done.
void clear_unfinished(const std::string& directory);

}  // namespace cloche
