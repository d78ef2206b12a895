// The caller's environment as main() got it, read and never changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace cloche {

class Environment {
 public:
  // `account_home` is what the passwd database says of the caller, where it was asked. It stands in for a
  // HOME that is unset or empty.
  explicit Environment(char** block, std::string account_home = {})
      : block_(block), account_home_(std::move(account_home)) {}

  std::optional<std::string> find(std::string_view name) const;
  std::string get(std::string_view name) const { return find(name).value_or(""); }  // unset and empty alike

  const std::string& account_home() const { return account_home_; }
  Environment with_account_home(std::string home) const { return Environment(block_, std::move(home)); }

 private:
  char** block_;
  std::string account_home_;
};

// The directory that HOME or a variable of XDG names; find() leaves out slashes and dots that say nothing.
// Empty: it is not set. A caller who names a directory believes that it is used, so what cannot be one is
// refused.
Result<std::string> directory_in(const Environment& environment, std::string_view variable);

}  // namespace cloche
