#include "store/protected/look_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class LookMemories : public ::testing::Test {
 protected:
  LookMemory of(const std::string& tree) const {
    const std::string path = trees_.path + "/" + tree;
    fs::create_directory(path);
    return {state_.path, sys::open(path, O_RDONLY | O_DIRECTORY).value().get()};
  }
  static std::vector<RememberedLead> leads() { return {{{"/tree/.git/hooks", LeadFact::Kind::link}, "x"}}; }

  // As if everything had been written some days ago.
  void let_days_pass() const {
    for (const auto& file : fs::directory_iterator(state_.path + "/looked"))
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(48));
  }
  size_t count(bool with_leads) const {
    size_t found = 0;
    for (const auto& file : fs::directory_iterator(state_.path + "/looked"))
      found += (file.path().extension() == ".leads") == with_leads ? 1 : 0;
    return found;
  }

 private:
  Scratch state_;
  Scratch trees_;
};

TEST_F(LookMemories, WhatIsUsedStaysHoweverManyOthersThereAre) {
  of("own").keep("quiet");
  of("unused").keep("quiet");
  for (int i = 0; i < 100; ++i) {
    let_days_pass();
    of("own").keep("quiet");
    of("other" + std::to_string(i)).keep("quiet");
  }
  EXPECT_EQ(of("own").text(), "quiet");
  EXPECT_EQ(of("unused").text(), "");
  EXPECT_EQ(count(false), 64U);
}

TEST_F(LookMemories, LeadsStayWhereWhatIsQuietMakesRoom) {
  of("own").keep_leads(leads());
  for (int i = 0; i < 100; ++i) {
    let_days_pass();
    of("other" + std::to_string(i)).keep("quiet");
  }
  EXPECT_EQ(of("own").leads(), leads());
  EXPECT_EQ(count(true), 1U);
}

TEST_F(LookMemories, LeadsThatAreUsedStayToo) {
  of("own").keep_leads(leads());
  of("unused").keep_leads(leads());
  for (int i = 0; i < 1100; ++i) {
    if (i % 100 == 0) let_days_pass();
    of("own").keep_leads(leads());
    of("other" + std::to_string(i)).keep_leads(leads());
  }
  EXPECT_EQ(of("own").leads(), leads());
  EXPECT_TRUE(of("unused").leads().empty());
  EXPECT_EQ(count(true), 1024U);
}

}  // namespace
}  // namespace cloche
