// Directories: opened beneath one that is held, listed, made, removed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

// One name; no link, no other mount, and nothing that would block. errno says why not.
OwnedFd open_child(int directory, const char* name, int flags);

// Any number of names beneath `root`, likewise; none: `root` itself, once more.
OwnedFd open_descendant(int root, std::string_view path, int flags);

// Sorted, without . and ..; empty when it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

// Every entry but . and .., in the order of the directory, with its type as readdir gives it (DT_UNKNOWN
// where the file system does not say).
void for_each_entry(const std::string& directory,
                    const std::function<void(std::string_view name, unsigned char type)>& visit);

// The paths of its links, and of what may be one for all that the file system says.
std::vector<std::string> links_in(const std::string& directory);

// Whether no user but the caller and root can put something else in this path's place, now or on the way:
// every directory that exists belongs to one of us and is writable for no other (or is sticky, like /tmp).
bool is_ours_alone(const std::string& path);
// Where it is not so; empty: nowhere.
std::string foreign_part(const std::string& path);

// This directory and its parents, 0700 where they are made.
bool make_private_directories(const std::string& directory);

// With everything in it, however deep that is and whatever its modes are; what cannot be removed stays. Never
// follows a link, and goes to no other mount.
void remove_tree(const std::string& directory);
// The same of any name in a directory that is held. Nothing has the name: done.
Result<void> remove_entry(int directory, const std::string& name);

}  // namespace cloche
