// What an agent's settings were before the hook was put into them, as far as the settings themselves do not
// say it: without it nobody could tell a file that was made for the hook from one that was there and empty.
// Kept on the shelf STATE/hooks until the hook is taken out again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/shelf.hpp"

namespace cloche {

struct SettingsBefore {
  bool absent = false;                 // there was no file
  std::string blank = {};              // of one in which nothing stood: its white space
  std::vector<std::string> made = {};  // the directories that were made for it, parents first
};

class InstalledHooks {
 public:
  static Result<InstalledHooks> open(const std::string& state);

  // `file` is the settings', with its links resolved.
  Result<void> remember(const std::string& file, const SettingsBefore& before) const;
  // Nothing: it is not known, or there was something in it.
  std::optional<SettingsBefore> recall(const std::string& file) const;
  void forget(const std::string& file) const;

 private:
  explicit InstalledHooks(Shelf shelf) : shelf_(std::move(shelf)) {}

  Shelf shelf_;
};

}  // namespace cloche
