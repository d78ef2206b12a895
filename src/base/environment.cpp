#include "base/environment.hpp"

#include <cstring>

#include "base/path.hpp"
#include "base/shown.hpp"

namespace cloche {

std::optional<std::string> Environment::find(std::string_view name) const {
  const bool stands_in = name == "HOME" && !account_home_.empty();
  for (char** at = block_; *at != nullptr; ++at) {
    if (std::strncmp(*at, name.data(), name.size()) != 0 || (*at)[name.size()] != '=') continue;
    const char* value = *at + name.size() + 1;
    return *value == '\0' && stands_in ? account_home_ : std::string(value);
  }
  return stands_in ? std::optional(account_home_) : std::nullopt;
}

Result<std::string> directory_in(const Environment& environment, std::string_view variable) {
  const std::string given = environment.get(variable);
  std::string path;
  for (const auto name : components_of(given)) path += "/" + std::string(name);
  if (given.empty() || (given[0] == '/' && is_plain_absolute(path))) return path;
  return refusal(std::string(variable) + "=" + shown(given, 200) +
                     " is not the absolute path of a directory, without ..",
                 "set it to one, or unset it");
}

}  // namespace cloche
