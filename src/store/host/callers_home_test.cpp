#include "store/host/callers_home.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/scratch.hpp"

namespace cloche {
namespace {

TEST(HomeOfId, IsTheFirstWholeAccountsWithIt) {
  const std::string passwd =
      "root:x:0:0:root:/root:/bin/bash\n"
      "short:x:7:0:/short\n"
      "long:x:7:0:g:/long:/bin/sh:more\n"
      ":x:7:0:g:/nameless:/bin/sh\n"
      "odd:x:7a:0:g:/odd:/bin/sh\n"
      "+::::::\n"
      "seven:x:7:7:g:/home/seven:/bin/sh\n"
      "again:x:7:7:g:/home/again:/bin/sh\n"
      "relative:x:8:8:g:home:/bin/sh\n"
      "dots:x:9:9:g:/home/../x:/bin/sh\n"
      "none:x:10:10:g::/bin/sh\n"
      "top:x:11:11:g:/:/bin/sh\n"
      "slash:x:14:14:g:/home/slash/:/bin/sh\n"
      "twice:x:15:15:g://home//twice:/bin/sh\n"
      "dot:x:16:16:g:/home/./dot/.:/bin/sh\n"
      "last:x:12:12:g:/home/last:";
  const struct {
    uid_t id;
    const char* home;
  } rows[] = {{0, "/root"},      {7, "/home/seven"}, {8, ""},  {9, "/x"},           {10, ""},
              {11, "/"},         {12, "/home/last"}, {13, ""}, {14, "/home/slash"}, {15, "/home/twice"},
              {16, "/home/dot"}, {4294967295U, ""}};
  for (const auto& [id, home] : rows) EXPECT_EQ(home_of_id(passwd, id), home) << id;
  EXPECT_EQ(home_of_id("", 0), "");
}

TEST(HomeInAnswer, IsOfOneWholeLineWithTheId) {
  const std::string seven = "seven:x:7:7:g:/home/seven:/bin/sh\n";
  EXPECT_EQ(home_in_answer(seven, 7), "/home/seven");
  EXPECT_EQ(home_in_answer(seven, 8), "");
  for (const std::string& answer :
       {std::string(), std::string("\n"), seven.substr(0, seven.size() - 1), seven + seven, seven + "more",
        "\n" + seven, std::string("seven:x:7:7:g:/h\n"), std::string("seven:x:7:7:g:home:/bin/sh\n")})
    EXPECT_EQ(home_in_answer(answer, 7), "") << answer;
}

class CallersHome : public testing::Test {
 protected:
  Result<std::string> home(const std::string& variable, const std::string& account,
                           const std::string& second = "") {
    texts_ = {variable, second};
    std::vector<char*> block;
    for (auto& text : texts_)
      if (!text.empty()) block.push_back(text.data());
    block.push_back(nullptr);
    return callers_home(Environment(block.data(), account));
  }

  Scratch scratch_;
  std::vector<std::string> texts_;
};

TEST_F(CallersHome, IsHomeOrTheAccounts) {
  EXPECT_EQ(home("HOME=" + scratch_.path, "").value(), scratch_.path);
  EXPECT_EQ(home("HOME=" + scratch_.path, "/nonexistent").value(), scratch_.path) << "HOME comes first";
  EXPECT_EQ(home("", scratch_.path).value(), scratch_.path);
  EXPECT_EQ(home("HOME=", scratch_.path).value(), scratch_.path);
  EXPECT_EQ(home("", "/nonexistent").value(), "/nonexistent") << "an account without a home";
  EXPECT_EQ(home("HOME=/nonexistent", "/nonexistent").value(), "/nonexistent");
}

TEST_F(CallersHome, IsRefusedWhereItIsNotKnown) {
  const std::string file = scratch_.path + "/file";
  std::ofstream(file) << "a file";
  for (const std::string& variable :
       {std::string(""), std::string("HOME="), std::string("HOME=relative"),
        "HOME=" + scratch_.path + "/none", "HOME=" + file, "HOME=" + scratch_.path + "/../x"})
    EXPECT_FALSE(home(variable, "").ok()) << variable;
  const std::string link = scratch_.path + "/link";
  std::filesystem::create_symlink("/proc/self", link);
  for (const std::string& place :
       {std::string("/proc"), std::string("/proc/self"), std::string("//proc/1/cwd"), link}) {
    EXPECT_FALSE(home("HOME=" + place, "").ok()) << place;
    EXPECT_FALSE(home("HOME=" + place, place).ok()) << place;
  }
}

TEST_F(CallersHome, OfAnotherUserMustNotHideTheAccounts) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give a directory away";
  const std::string others = scratch_.path + "/others";
  const std::string own = scratch_.path + "/own";
  std::filesystem::create_directories(others);
  std::filesystem::create_directories(own + "/.config/cloche");
  ASSERT_EQ(::chown(others.c_str(), 12345, 12345), 0);
  EXPECT_TRUE(home("HOME=" + others, own).ok()) << "there is nothing to hide";
  std::ofstream(own + "/.config/cloche/config.json") << "{}";
  EXPECT_FALSE(home("HOME=" + others, own).ok());
}

TEST_F(CallersHome, APlaceOfConfigurationOfAnotherUserMustNotHideTheAccounts) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give a directory away";
  const std::string others = scratch_.path + "/others";
  const std::string own = scratch_.path + "/own";
  const std::string plain = scratch_.path + "/plain";
  for (const auto& made : {others + "/.config", own + "/.config/cloche", plain})
    std::filesystem::create_directories(made);
  for (const auto& given : {others, others + "/.config"}) ASSERT_EQ(::chown(given.c_str(), 12345, 12345), 0);
  for (const auto& place : {others, others + "/.config", others + "/none", others + "/no/ne", others + "/"}) {
    const std::string variable = "XDG_CONFIG_HOME=" + place;
    for (const auto& name : {others, plain, own})
      EXPECT_TRUE(home("HOME=" + name, own, variable).ok()) << "there is nothing to hide";
  }
  std::ofstream(own + "/.config/cloche/config.json") << "{}";
  for (const auto& place : {others, others + "/.config", others + "/none", others + "/no/ne", others + "/"}) {
    const std::string variable = "XDG_CONFIG_HOME=" + place;
    for (const auto& name : {others, plain, own}) {
      EXPECT_FALSE(home("HOME=" + name, own, variable).ok()) << name << " " << variable;
    }
    EXPECT_FALSE(home("HOME=" + own, "", variable).ok()) << "HOME's own would be passed over";
    std::string texts[] = {"HOME=" + plain, variable};
    char* block[] = {texts[0].data(), texts[1].data(), nullptr};
    EXPECT_TRUE(asks_for_account(Environment(block))) << variable;
  }
  EXPECT_TRUE(home("HOME=" + others, own, "XDG_CONFIG_HOME=" + plain).ok()) << "the caller's own choice";
  EXPECT_TRUE(home("HOME=" + own, own, "XDG_CONFIG_HOME=" + own + "/.config/").ok());
  ASSERT_EQ(::chown((own + "/.config").c_str(), 12345, 12345), 0);
  EXPECT_TRUE(home("HOME=" + own, own, "XDG_CONFIG_HOME=" + own + "/.config").ok())
      << "it is not passed over";
}

TEST_F(CallersHome, ThatIsNotThereMustNotHideTheAccounts) {
  const std::string own = scratch_.path + "/own";
  std::filesystem::create_directories(own + "/.config/cloche");
  EXPECT_TRUE(home("HOME=" + scratch_.path + "/none", own).ok()) << "there is nothing to hide";
  std::ofstream(own + "/.config/cloche/config.json") << "{}";
  EXPECT_FALSE(home("HOME=" + scratch_.path + "/none", own).ok());
}

}  // namespace
}  // namespace cloche
