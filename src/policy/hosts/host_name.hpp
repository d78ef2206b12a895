// The name of a host as a validated type: a value exists only for a name that is one, in its one spelling.
// Nothing compares names as text before that, so that no two readers ever disagree about what a name is.
#pragma once

#include <optional>
#include <string_view>

#include "base/text/fixed_text.hpp"

namespace cloche {

struct ReadName;

// Labels of letters, digits and hyphens (1 to 63, no hyphen at an end), 253 characters in total, lower case,
// without the trailing dot. Letters beyond ASCII are written in their "xn--" form, which DNS compares as it
// is, and so does Cloche: no spelling is turned into another. Never an address: not as 1.2.3.4, and not as
// what some resolvers take for one (1.2.3, 0x7f.1, 2130706433: a last label that is a number).
class HostName {
 public:
  static constexpr size_t max_length = 253;

  static ReadName read(std::string_view text);

  std::string_view text() const { return text_.view(); }
  bool has_one_label() const { return text().find('.') == std::string_view::npos; }
  // One label or more below `parent`, so never the parent itself.
  bool is_below(const HostName& parent) const;

  friend bool operator==(const HostName&, const HostName&) = default;

 private:
  HostName() = default;
  // What is wrong with the label; empty: it was added.
  std::string_view append(std::string_view label);

  FixedText<max_length> text_;
};

struct ReadName {
  std::optional<HostName> name = {};
  std::string_view problem = {};  // where there is no name: half a sentence, "it is empty"

  explicit operator bool() const { return name.has_value(); }
};

}  // namespace cloche
