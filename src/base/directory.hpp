// Directories as lists of names.
#pragma once

#include <string>
#include <vector>

namespace cloche {

// Sorted, without . and ..; empty when it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

// This directory and its parents, 0700 where they are made.
bool make_private_directories(const std::string& directory);

// With everything in it; what cannot be removed stays. Never follows a link.
void remove_tree(const std::string& directory);

}  // namespace cloche
