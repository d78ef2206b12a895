#include "store/layers/overlay_attributes.hpp"

#include <algorithm>

namespace cloche {
namespace {

constexpr std::string_view user_prefix = "user.overlay.";
constexpr std::string_view trusted_prefix = "trusted.overlay.";
constexpr std::string_view saved_mode = "cloche.mode";

// Notes of the overlay's own that change nothing in what is seen.
bool is_note(std::string_view name) {
  constexpr std::string_view notes[] = {"origin", "impure", "nlink", "uuid", "upper"};
  return std::find(std::begin(notes), std::end(notes), name) != std::end(notes);
}

bool is_escaped(std::string_view name) { return name.starts_with("overlay."); }

}  // namespace

std::string_view prefix_of(OverlayAttributes attributes) {
  return attributes == OverlayAttributes::user_namespace ? user_prefix : trusted_prefix;
}

bool is_overlay_attribute(std::string_view name) {
  return name.starts_with(user_prefix) || name.starts_with(trusted_prefix);
}

std::string saved_mode_attribute(OverlayAttributes attributes) {
  return std::string(prefix_of(attributes)) + std::string(saved_mode);
}

OverlayMarks overlay_marks(std::string_view names, OverlayAttributes attributes) {
  const std::string_view prefix = prefix_of(attributes);
  OverlayMarks marks;
  for_each_attribute(names, [&](std::string_view name) {
    if (!name.starts_with(prefix)) return;
    const std::string_view rest = name.substr(prefix.size());
    if (rest == "opaque") {
      marks.opaque = true;
    } else if (rest == "whiteout") {
      marks.whiteout = true;
    } else if (rest == "origin") {
      marks.origin = true;
    } else if (rest == saved_mode) {
      marks.saved_mode = true;
    } else if (!is_note(rest) && !is_escaped(rest)) {
      marks.unexpected = name;
    }
  });
  return marks;
}

std::string attribute_that_misleads(std::string_view names, OverlayAttributes attributes) {
  const std::string_view prefix = prefix_of(attributes);
  std::string found;
  for_each_attribute(names, [&](std::string_view name) {
    if (!found.empty() || !name.starts_with(prefix)) return;
    const std::string_view rest = name.substr(prefix.size());
    if (!is_note(rest) && !is_escaped(rest) && rest != saved_mode) found = name;
  });
  return found;
}

}  // namespace cloche
