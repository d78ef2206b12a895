// What a tree is called among Cloche's own files: by its device, its inode, and when it was made, because a
// file system gives the number of a removed directory to the next one. What was known of the one before, or
// is still due there, is not the other's.
#pragma once

#include <string>

namespace cloche {

// Of the directory `root`; empty when nobody can tell. Without a slash. Where the file system does not know
// when things were made, that part is 0.
std::string tree_name(int root);

}  // namespace cloche
