// A configuration from the texts of its three files, for tests.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "gateway/configuration/configuration.hpp"

namespace cloche::fixture {

struct FileTexts {
  std::string managed = {};
  std::string user = {};
  std::string project = {};
};

inline Result<Configuration> parse(const FileTexts& texts) {
  Configuration configuration;
  const auto file = [](const std::string& text, const char* path) -> Result<std::optional<ConfigFile>> {
    if (text.empty()) return std::optional<ConfigFile>();
    return std::optional<ConfigFile>(TRY(parse_config(text, path, settings_keys())));
  };
  configuration.files.managed = TRY(file(texts.managed, "M"));
  configuration.files.user = TRY(file(texts.user, "U"));
  configuration.files.project = TRY(file(texts.project, "P"));
  configuration.settings = TRY(settings_of(configuration.files));
  for (const auto& row : shipped_profiles) configuration.profiles.push_back(profile_of(row));
  SandboxProfile mine = configuration.profiles[1];
  mine.name = "mine";
  mine.grants = {{.source = "/srv/data"}};
  configuration.profiles.push_back(mine);
  return configuration;
}

inline Configuration configured(const FileTexts& texts) {
  auto result = parse(texts);
  EXPECT_TRUE(result.ok()) << describe(result.error());
  return result.ok() ? std::move(result).value() : Configuration{};
}

}  // namespace cloche::fixture
