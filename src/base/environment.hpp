// The caller's environment as main() got it, read and never changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cloche {

class Environment {
 public:
  explicit Environment(char** block) : block_(block) {}

  std::optional<std::string> find(std::string_view name) const;
  std::string get(std::string_view name) const { return find(name).value_or(""); }  // unset and empty alike

 private:
  char** block_;
};

}  // namespace cloche
