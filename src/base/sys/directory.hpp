// Directories as lists of names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

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

// With everything in it; what cannot be removed stays. Never follows a link.
void remove_tree(const std::string& directory);

}  // namespace cloche
