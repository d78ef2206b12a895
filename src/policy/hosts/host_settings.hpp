// A list of hosts as the configuration and profiles write it:
// ["example.org", {"host": "*.corp.example", "addresses": ["10.1.0.0/16"], "ports": [443]}]
#pragma once

#include <string>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"

namespace cloche {

struct HostSettings {
  std::vector<std::string> words = {};   // as --net takes them, without ranges
  std::vector<std::string> ranges = {};  // in the plan's spelling
};
// Refuses what declares no host, with file:line.
Result<HostSettings> read_host_settings(const JsonValue& list, std::string_view key,
                                        const std::string& source);

}  // namespace cloche
