#include "policy/granted_places.hpp"

#include <algorithm>

#include "base/sys/path.hpp"

namespace cloche {

std::string shown_at(const Grant& grant, const FileFact& fact) {
  return grant.target.empty() ? fact.path : grant.target;
}

const Grant* granted_over(const RunRequest& request, const Facts& facts, std::string_view place) {
  const size_t count = std::min(request.grants.size(), facts.grants.size());
  for (size_t i = 0; i < count; ++i)
    if (is_beneath(shown_at(request.grants[i], facts.grants[i]), place)) return &request.grants[i];
  return nullptr;
}

}  // namespace cloche
