#include "model/run_request.hpp"

#include "base/text/ascii.hpp"

namespace cloche {

#include "model/shipped_profiles.inc"

std::string_view name_of(Profile profile) { return shipped_profiles[static_cast<size_t>(profile)].name; }

std::optional<Profile> shipped_profile(std::string_view name) {
  for (const auto& row : shipped_profiles) {
    if (row.name == name) return row.profile;
  }
  return std::nullopt;
}

bool is_profile_name(std::string_view name) {
  constexpr std::string_view more = "-_.";
  if (name.empty() || name.size() > 64 || more.find(name.front()) != std::string_view::npos) return false;
  for (const char c : name) {
    if (!ascii::is_letter_or_digit(c) && more.find(c) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace cloche
