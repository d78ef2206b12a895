// What `cloche config` shows: every key, and who said it.
#include "doors/cli/config_command.hpp"

#include <gtest/gtest.h>

#include "gateway/configuration/configuration_fixture.hpp"

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

TEST(ConfigCommand, IsolationIsWhatACallWouldGet) {
  struct Row {
    FileTexts files;
    std::optional<IsolationLevel> level;
    std::optional<Backend> backend;
    const char* isolation;
    const char* shown_backend;
  };
  const Row rows[] = {
      {{}, {}, {}, "\"namespace\" default", "null default"},
      {{}, IsolationLevel::gvisor, {}, "\"gvisor\" --isolation", "null default"},
      {{}, IsolationLevel::container, Backend::crun, "\"container\" --backend", "\"crun\" --backend"},
      {{.user = R"({"isolation": "container"})"},
       IsolationLevel::gvisor,
       {},
       "\"gvisor\" --isolation <\"container\" U:1",
       "null default"},
      {{.user = R"({"isolation": "container"})"},
       IsolationLevel::subprocess,
       {},
       "\"container\" U:1 <\"subprocess\" --isolation",
       "null default"},
  };
  for (const auto& row : rows) {
    SessionOptions options = default_session();
    options.operators.isolation = row.level;
    options.operators.backend = row.backend;
    const auto keys = keys_of(row.files, {}, options);
    EXPECT_EQ(line_of(keys, "isolation"), row.isolation);
    EXPECT_EQ(line_of(keys, "backend"), row.shown_backend);
  }
}

TEST(ConfigCommand, WhatIsRequiredIsNeverDegraded) {
  const FileTexts degrading = {.user = R"({"missing": "degrade"})"};
  EXPECT_EQ(line_of(keys_of(degrading), "missing"), "\"degrade\" U:1");
  EXPECT_EQ(line_of(keys_of(degrading), "landlock"), "\"optional\" U:1");
  EXPECT_EQ(line_of(keys_of(degrading, {"CLOCHE_REQUIRE_SANDBOX=yes"}), "landlock"), "\"required\" default");
  EXPECT_EQ(
      line_of(keys_of({.managed = R"({"isolation": "container"})", .user = R"({"landlock": "optional"})"}),
              "landlock"),
      "\"required\" M:1 <\"optional\" U:1");
  EXPECT_EQ(line_of(keys_of(degrading, {"CLOCHE_REQUIRE_SANDBOX=yes"}), "missing"),
            "\"refuse\" CLOCHE_REQUIRE_SANDBOX <\"degrade\" U:1");
}

// Where every call is refused there is nothing to show.
TEST(ConfigCommand, RefusesWhatRefusesEveryCall) {
  char variable[] = "CLOCHE_SANDBOX=perhaps";
  char* block[] = {variable, nullptr};
  const auto switched = effective_keys(default_session(), configured({}), Environment(block));
  ASSERT_FALSE(switched.ok());
  EXPECT_NE(switched.error().what.text().find("CLOCHE_SANDBOX=perhaps means nothing"), std::string::npos);
  char* nothing[] = {nullptr};
  const auto unbuilt = effective_keys(default_session(), configured({.user = R"({"isolation": "microvm"})"}),
                                      Environment(nothing));
  ASSERT_FALSE(unbuilt.ok());
  EXPECT_NE(unbuilt.error().what.text().find("microvm"), std::string::npos);
}

}  // namespace
}  // namespace cloche
