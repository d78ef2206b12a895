#include "base/sys/environment.hpp"

#include <gtest/gtest.h>

#include <array>

namespace cloche {
namespace {

TEST(Environment, FindsWholeNamesOnly) {
  std::array<std::string, 6> texts = {"HOME=/home/user", "PATH=/bin:/usr/bin", "EMPTY=", "EQUALS=a=b=c",
                                      "NOTHING",         "HOME=/second"};
  std::array<char*, 7> block{};
  for (size_t i = 0; i < texts.size(); ++i) block[i] = texts[i].data();
  const Environment environment(block.data());

  EXPECT_EQ(environment.find("HOME"), "/home/user") << "the first of two";
  EXPECT_EQ(environment.find("PATH"), "/bin:/usr/bin");
  EXPECT_EQ(environment.find("EMPTY"), "");
  EXPECT_EQ(environment.find("EQUALS"), "a=b=c");
  for (const char* name : {"HOM", "HOMER", "OME", "home", "NOTHING", "ABSENT", ""}) {
    EXPECT_EQ(environment.find(name), std::nullopt) << name;
  }
  EXPECT_EQ(environment.get("HOME"), "/home/user");
  EXPECT_EQ(environment.get("EMPTY"), "");
  EXPECT_EQ(environment.get("ABSENT"), "");
  // A name that is part of a longer text ends where the view ends.
  EXPECT_EQ(environment.find(std::string_view("PATHOLOGY").substr(0, 4)), "/bin:/usr/bin");
}

TEST(Environment, TidiesPlaces) {
  for (const std::string name : {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}) {
    const std::pair<const char*, const char*> rows[] = {{"/home/me/", "/home/me"},
                                                        {"//home//me", "/home/me"},
                                                        {"/home/./me/.", "/home/me"},
                                                        {"//", "/"},
                                                        {"/a/../b/", "/a/../b/"},
                                                        {"a//b", "a//b"},
                                                        {"/a/..", "/a/.."},
                                                        {"/a/...", "/a/..."},
                                                        {"", ""}};
    for (const auto& [given, meant] : rows) {
      std::string text = name + "=" + given;
      char* block[] = {text.data(), nullptr};
      EXPECT_EQ(Environment(block).find(name), meant) << text;
    }
  }
  char other[] = "PATH=/a/:/b";
  char* block[] = {other, nullptr};
  EXPECT_EQ(Environment(block).get("PATH"), "/a/:/b");
}

TEST(Environment, MayBeEmpty) {
  char* block[] = {nullptr};
  EXPECT_EQ(Environment(block).find("HOME"), std::nullopt);
}

}  // namespace
}  // namespace cloche
