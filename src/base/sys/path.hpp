// Paths compared by components, never by prefix of characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// Whether `path` is `root` or lies below it: "/a/b" is beneath "/a", "/ab" is not. Both absolute and plain.
bool is_beneath(std::string_view root, std::string_view path);

// Whether it is beneath one of them.
bool is_beneath_any(const std::vector<std::string>& roots, std::string_view path);

// "/a/b": absolute, no empty, "." or ".." component, no trailing slash. "/" is plain.
bool is_plain_absolute(std::string_view path);

// The names that a path goes through: without the empty ones and without ".".
std::vector<std::string_view> components_of(std::string_view path);

// Whether .. is one of them.
bool has_dots(std::string_view path);
// "a/../b": what it means depends on what the name before the dots is by then.
bool climbs_behind_a_name(std::string_view path);
// An absolute path without its empty names and ".". A ".." stays: where it leads depends on links.
std::string plainly_written(std::string_view path);

std::string_view parent_of(std::string_view path);

// Of a relative path: "a/b/c" lies in the directory "a/b" and has the name "c". "a" lies in "", the top.
std::string_view directory_in(std::string_view path);
std::string_view name_in(std::string_view path);
std::string joined(std::string_view directory, std::string_view name);
// Whether `path` lies below `directory`, or is it as well; everything lies below the top.
bool lies_below(std::string_view directory, std::string_view path);
bool is_at_or_below(std::string_view directory, std::string_view path);

// Where a path leads by its letters alone, as programs tidy it: without . and .., and no link is looked at.
std::string tidied(const std::string& directory, const std::string& written);

}  // namespace cloche
