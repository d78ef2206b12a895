// What a command without a network finds in its environment, so that programs fail at once instead of trying
// again what cannot succeed: the table share/without_network.json, which has the reason of each row.
#pragma once

#include <span>
#include <string_view>

namespace cloche {

struct EnvironmentRow {
  std::string_view name;
  std::string_view value;
};

std::span<const EnvironmentRow> environment_without_network();

}  // namespace cloche
