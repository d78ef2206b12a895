// What one egress process is told, once, by the gateway that starts it: which names it may let a call reach,
// and how much. A text of lines, because a person may have to read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/limits.hpp"
#include "model/network.hpp"
#include "model/plan.hpp"
#include "policy/hosts/address_range.hpp"

namespace cloche {

struct EgressSettings {
  std::vector<NamedHost> named = {};
  std::vector<HostEntry> below = {};
  std::vector<HostRange> ranges = {};
  std::vector<PublishedPort> published = {};
  uint64_t connections = 0;  // at once
  uint64_t bytes = 0;        // of each host, both ways
  uint64_t idle_ms = 0;
  uint64_t time_ms = 0;
  bool ipv6 = false;  // whether the sandbox has such addresses
};

// Of a plan's hosts, ranges, published ports and limits.
EgressSettings egress_settings(const ConfinementPlan& plan, bool ipv6);
EgressSettings egress_settings(const std::vector<std::string>& hosts, const Limits& limits, bool ipv6);

std::string to_text(const EgressSettings& settings);
Result<EgressSettings> read_egress_settings(std::string_view text);

// Descriptors that the process is started with; the listeners follow, the resolver's two first. Of a call
// without a network there is one, for its datagrams. Behind them the connectors of published ports, and their
// listeners.
inline constexpr int egress_control_fd = 3;
inline constexpr int egress_settings_fd = 4;
inline constexpr int egress_first_listener_fd = 5;
inline constexpr size_t most_egress_sockets = most_listeners + connectors_of_published + most_published;

}  // namespace cloche
