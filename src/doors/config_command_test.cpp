// What `cloche config` shows: every key, and who said it.
#include "doors/config_command.hpp"

#include <gtest/gtest.h>

#include "gateway/configuration_fixture.hpp"

namespace cloche {
namespace {

using namespace fixture;

std::vector<EffectiveKey> keys_of(const FileTexts& files, const std::vector<const char*>& variables = {},
                                  SessionOptions options = default_session()) {
  std::vector<char*> environment;
  for (const char* variable : variables) environment.push_back(const_cast<char*>(variable));
  environment.push_back(nullptr);
  auto keys = effective_keys(options, configured(files), Environment(environment.data()));
  EXPECT_TRUE(keys.ok());
  return keys.ok() ? std::move(keys).value() : std::vector<EffectiveKey>{};
}

std::string line_of(const std::vector<EffectiveKey>& keys, const std::string& name) {
  for (const auto& key : keys) {
    if (key.key != name) continue;
    std::string text = key.value + " " + key.origin;
    for (const auto& lost : key.overruled) text += " <" + lost.value + " " + text_of(lost.origin);
    return text;
  }
  return "no such key";
}

TEST(ConfigCommand, HasEveryKeyOfTheTable) {
  const auto keys = keys_of({});
  for (const auto& row : settings_table()) {
    const std::string name = row.key == "limits" ? "limits.memory" : std::string(row.key);
    EXPECT_NE(line_of(keys, name), "no such key") << row.key;
    EXPECT_NE(line_of(keys, name).find("default"), std::string::npos) << line_of(keys, name);
  }
}

TEST(ConfigCommand, FlagsAndVariablesAreOrigins) {
  SessionOptions options = default_session();
  options.asked.autonomy = Autonomy::full;
  EXPECT_EQ(line_of(keys_of({}, {}, options), "autonomy"), "\"full\" --autonomy");
  EXPECT_EQ(line_of(keys_of({.user = R"({"autonomy": "readonly"})"}, {}, options), "autonomy"),
            "\"readonly\" U:1 <\"full\" --autonomy");
  EXPECT_EQ(line_of(keys_of({}, {"CLOCHE_SANDBOX=off"}), "enabled"), "false CLOCHE_SANDBOX");
  EXPECT_EQ(line_of(keys_of({.managed = R"({"enabled": true})"}, {"CLOCHE_SANDBOX=off"}), "enabled"),
            "true M:1");
  EXPECT_EQ(line_of(keys_of({.user = R"({"enabled": false})"}, {"CLOCHE_REQUIRE_SANDBOX=1"}), "enabled"),
            "true CLOCHE_REQUIRE_SANDBOX <false U:1");
}

}  // namespace
}  // namespace cloche
