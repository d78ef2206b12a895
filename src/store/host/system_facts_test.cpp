// The host's system as it is looked at, and as it is remembered.
#include "store/host/system_facts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cloche {
namespace {

namespace fs = std::filesystem;

class SystemFacts : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(state_.data()), nullptr); }
  void TearDown() override { fs::remove_all(state_); }

  Facts facts_now(bool remembering = true) const {
    Facts facts;
    if (remembering) facts.state = {.kind = FileFact::Kind::directory, .path = state_};
    look_at_system(facts, remembering ? state_ : "");
    return facts;
  }
  static std::string text_of(const Facts& facts) {
    std::string text;
    for (const auto* list : {&facts.system, &facts.etc}) {
      for (const auto& fact : *list) {
        text += std::to_string(static_cast<int>(fact.kind)) + " " + fact.path + " " + fact.link + "\n";
      }
      text += "--\n";
    }
    return text;
  }
  std::string cached() const {
    std::stringstream text;
    text << std::ifstream(state_ + "/system").rdbuf();
    return text.str();
  }
  void keep(const std::string& text) const { std::ofstream(state_ + "/system") << text; }

  std::string state_ = testing::TempDir() + "cloche-unit-XXXXXX";
};

TEST_F(SystemFacts, AreWhatTheHostHas) {
  const Facts facts = facts_now(false);
  const auto usr = std::find_if(facts.system.begin(), facts.system.end(),
                                [](const FileFact& fact) { return fact.path == "/usr"; });
  ASSERT_NE(usr, facts.system.end());
  EXPECT_EQ(usr->kind, FileFact::Kind::directory);
  EXPECT_EQ(usr->inode, 0U) << "what it is, not which";
  for (const auto& fact : facts.etc) {
    EXPECT_TRUE(fact.path.starts_with("/etc/")) << fact.path;
    EXPECT_EQ(fs::is_symlink(fact.path), fact.kind == FileFact::Kind::link) << fact.path;
    EXPECT_EQ(fact.path.find("shadow"), std::string::npos);
  }
}

TEST_F(SystemFacts, AreTheSameWhenRemembered) {
  const std::string fresh = text_of(facts_now(false));
  EXPECT_EQ(text_of(facts_now()), fresh);
  EXPECT_EQ(text_of(facts_now()), fresh);
}

TEST_F(SystemFacts, OfChangedDirectoriesAreLookedUpAnew) {
  (void)facts_now();
  std::string bytes = cached();
  if (bytes.empty())
    GTEST_SKIP() << "skipped: /, /etc or /etc/ssl changed within the last seconds, and nothing is cached";
  const std::string fresh = text_of(facts_now(false));
  const size_t at = bytes.find("/usr");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 4, "/opt");
  keep(bytes);
  EXPECT_NE(text_of(facts_now()), fresh) << "the cached answer is the one that is used";
  bytes[8 + 16] = static_cast<char>(bytes[8 + 16] + 1);  // the time of /
  keep(bytes);
  EXPECT_EQ(text_of(facts_now()), fresh);
}

TEST_F(SystemFacts, CutShortOrForeignAreNotBelieved) {
  const std::string fresh = text_of(facts_now(false));
  keep("");
  EXPECT_EQ(text_of(facts_now()), fresh);
  keep("x");
  EXPECT_EQ(text_of(facts_now()), fresh);
  (void)facts_now();
  fs::permissions(state_ + "/system", fs::perms(0666));
  EXPECT_EQ(text_of(facts_now()), fresh);
}

// A process that can write this file must not be able to have anything else shown.
TEST_F(SystemFacts, ThatNameWhatNoTableNamesAreNotBelieved) {
  (void)facts_now();
  std::string bytes = cached();
  if (bytes.empty())
    GTEST_SKIP() << "skipped: /, /etc or /etc/ssl changed within the last seconds, and nothing is cached";
  const std::string fresh = text_of(facts_now(false));
  for (const char* path :
       {"/home/user/.ssh", "/etc/shadow", "/etc/java-/../shadow", "/etc/python3/../shadow"}) {
    for (char group : {'s', 'e'}) {
      keep(bytes + group + "1" + path + std::string(2, '\0'));
      EXPECT_EQ(text_of(facts_now()), fresh) << path;
    }
  }
}

TEST_F(SystemFacts, MakeNoDirectory) {
  fs::remove_all(state_);
  Facts facts;
  look_at_system(facts, state_);
  EXPECT_FALSE(fs::exists(state_));
}

}  // namespace
}  // namespace cloche
