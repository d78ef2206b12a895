// `cloche config`: what every key of the configuration comes to here, and who said so.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/session.hpp"

namespace cloche {

// One key's effective value.
struct EffectiveKey {
  std::string key;
  std::string value;  // JSON
  std::string origin;
  std::vector<Overruled> overruled = {};
};

// Every key of the table, limits one by one, as calls under these options have them. Pure.
Result<std::vector<EffectiveKey>> effective_keys(const SessionOptions& options,
                                                 const Configuration& configuration,
                                                 const Environment& environment);

std::string config_text(const std::vector<EffectiveKey>& keys);
std::string config_json(const std::vector<EffectiveKey>& keys, const ConfigFiles& files);

}  // namespace cloche
