// Which files of a stored change set the project's .gitignore files mean, by the texts as they stood before
// the call.
#pragma once

#include <vector>

#include "doors/changes/shown_file.hpp"
#include "store/commit/set_contents.hpp"

namespace cloche {

// Of the workspace alone. What cannot be read ignores nothing.
void mark_ignored(const StoredSet& set, SetContents& contents, std::vector<ShownChange>& files);

}  // namespace cloche
