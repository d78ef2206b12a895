// Extended attributes of a changed file that give rights: access control lists and capabilities.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/changes/change_facts.hpp"

namespace cloche {

// The users and groups that the kernel's form of a list names; nothing: it is not of that form.
std::optional<std::vector<AclEntry>> entries_of_acl(std::string_view bytes, bool is_default);

// Of one name in a directory, no link followed.
struct RightsOfFile {
  std::vector<AclEntry> acl = {};
  bool has_capabilities = false;
  bool is_unknown = false;  // the attributes could not be read
};
RightsOfFile rights_of(int directory, const std::string& name);

}  // namespace cloche
