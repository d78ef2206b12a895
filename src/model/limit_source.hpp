// Who lowered a limit below what the operator gives by a flag, so that a refusal does not name the wrong
// place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/limits.hpp"

namespace cloche {

struct LimitSource {
  LimitId id;
  std::string by;  // "skill x", "/etc/cloche/config.json:3"

  bool operator==(const LimitSource&) const = default;
};

// Notes `by`, in place of who was noted before, for each limit that is now lower than `before`.
void note_lowered(std::vector<LimitSource>& sources, const Limits& before, const Limits& now,
                  std::string_view by);
// Empty: the operator.
std::string_view source_of(const std::vector<LimitSource>& sources, LimitId id);

}  // namespace cloche
