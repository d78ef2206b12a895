// What lies in a tree and is executed because the operator's home has a link there: a .bashrc that is kept
// with others in a repository of its own.
#pragma once

#include <string>
#include <vector>

#include "store/protected/git_places.hpp"

namespace cloche {

// The members of the protected set right in `home`, and in directories such as .config, that are links, and
// the first links in those that are directories. Not those of a home that lies in `root`: there they are
// members themselves.
std::vector<NamedPlace> home_links(const std::string& home, const std::string& root);

}  // namespace cloche
