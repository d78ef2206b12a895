// What an agent's settings were before the hook was put into them, as far as the settings themselves do not
// show it: whether the file was made for the hook, or was there and empty. A sealed file in STATE/hooks until
// the hook is taken out again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/sealed/sealed_files.hpp"

namespace cloche {

struct SettingsBefore {
  bool absent = false;                 // there was no file
  std::string blank = {};              // of an empty file: its white space
  std::vector<std::string> made = {};  // the directories that were made for it, parents first
};

class InstalledHooks {
 public:
  static Result<InstalledHooks> open(const std::string& state);

  // `file` is the path of the settings, with its links resolved.
  Result<void> remember(const std::string& file, const SettingsBefore& before) const;
  // Nothing: it is not known, or the file was not empty.
  std::optional<SettingsBefore> recall(const std::string& file) const;
  void forget(const std::string& file) const;

 private:
  explicit InstalledHooks(SealedFiles files) : files_(std::move(files)) {}

  SealedFiles files_;
};

}  // namespace cloche
