// Host names as the network gate compares them: validated, in one spelling, by labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

struct HostPort {
  std::string name;                   // lower case, no trailing dot
  std::optional<uint16_t> port = {};  // of a declaration: unset is any
  bool wildcard = false;              // "*.": anything below the name, not the name itself
};

// NAME or NAME:PORT; labels of letters, digits and hyphens. Nothing: it is none.
std::optional<HostPort> parse_host(std::string_view text);
// The same with "*." allowed in front.
std::optional<HostPort> parse_host_pattern(std::string_view text);

bool covers(const HostPort& pattern, const HostPort& host);

}  // namespace cloche
