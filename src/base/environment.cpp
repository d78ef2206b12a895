#include "base/environment.hpp"

#include <cstring>

namespace cloche {

std::optional<std::string> Environment::find(std::string_view name) const {
  for (char** at = block_; *at != nullptr; ++at) {
    if (std::strncmp(*at, name.data(), name.size()) == 0 && (*at)[name.size()] == '=')
      return *at + name.size() + 1;
  }
  return std::nullopt;
}

}  // namespace cloche
