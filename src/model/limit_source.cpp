#include "model/limit_source.hpp"

#include <algorithm>

namespace cloche {

void note_lowered(std::vector<LimitSource>& sources, const Limits& before, const Limits& now,
                  std::string_view by) {
  for (const LimitInfo& row : limit_table) {
    if (now.*row.field >= before.*row.field) continue;
    std::erase_if(sources, [&](const LimitSource& source) { return source.id == row.id; });
    sources.push_back({row.id, std::string(by)});
  }
}

std::string_view source_of(const std::vector<LimitSource>& sources, LimitId id) {
  const auto at = std::find_if(sources.begin(), sources.end(),
                               [&](const LimitSource& source) { return source.id == id; });
  return at == sources.end() ? std::string_view{} : at->by;
}

}  // namespace cloche
