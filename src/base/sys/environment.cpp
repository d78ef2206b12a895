#include "base/sys/environment.hpp"

#include <algorithm>
#include <cstring>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr std::string_view path_variables[] = {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"};

// Without the slashes and dots that say nothing. What is relative or goes up stays as it is, to be refused.
std::string without_empty_names(std::string value) {
  if (!value.starts_with('/') || has_dots(value)) return value;
  return tidied("/", value);
}

}  // namespace

std::optional<std::string> Environment::find(std::string_view name) const {
  const bool stands_in = name == "HOME" && !account_home_.empty();
  for (char** at = block_; *at != nullptr; ++at) {
    if (std::strncmp(*at, name.data(), name.size()) != 0 || (*at)[name.size()] != '=') continue;
    std::string value(*at + name.size() + 1);
    if (value.empty() && stands_in) return account_home_;
    const bool is_path = contains(path_variables, name);
    return is_path ? without_empty_names(std::move(value)) : value;
  }
  return stands_in ? std::optional(account_home_) : std::nullopt;
}

Result<std::string> directory_in(const Environment& environment, std::string_view variable) {
  const std::string given = environment.get(variable);
  if (given.empty() || (given != "/" && is_plain_absolute(given))) return given;
  return refusal(std::string(variable) + "=" + shown(given, 200) +
                     " is not the absolute path of a directory, without ..",
                 "set it to one, or unset it");
}

}  // namespace cloche
