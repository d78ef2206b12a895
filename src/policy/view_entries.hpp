// The kinds of entries a view is made of, each made in one way.
#pragma once

#include <string>
#include <string_view>

#include "model/facts.hpp"
#include "model/plan.hpp"

namespace cloche::view {

// What the host has there, found as `fact` says.
ViewEntry tree(const FileFact& fact, std::string target, Access access, std::string why);
// Something the operator owns and shows on purpose.
ViewEntry owned_tree(const FileFact& fact, std::string target, Access access, std::string why);
// At its own path: a link as a link, a directory with the mounts below it.
ViewEntry as_on_host(const FileFact& fact, Access access, std::string_view why);
ViewEntry link(std::string target, std::string says, std::string why);
ViewEntry text(std::string target, std::string content, std::string why);
ViewEntry memory(std::string target, uint64_t size_bytes, Access access, std::string why);
// An empty directory: what was granted below it can be reached, and nothing listed.
ViewEntry mask(std::string target, std::string why);
ViewEntry empty_file(std::string target, std::string why);

}  // namespace cloche::view
