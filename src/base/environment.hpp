// The caller's environment as main() got it, read and never changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

class Environment {
 public:
  explicit Environment(char** block) : block_(block) {}

  std::optional<std::string> find(std::string_view name) const;
  std::string get(std::string_view name) const { return find(name).value_or(""); }  // unset and empty alike

 private:
  char** block_;
};

// What a variable names, without the slashes and dots that say nothing; empty: it is not set. Whoever names a
// place believes that it is used, so what cannot be one is refused, and another one is not taken in silence.
Result<std::string> directory_in(const Environment& environment, std::string_view variable);

}  // namespace cloche
