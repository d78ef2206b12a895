// The words the jail is started with, and the names of its steps.
#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "jail/core/wire.hpp"

namespace cloche {
namespace {

struct StartCase {
  std::vector<std::string> words;  // after the program's name
  bool good;
  uint32_t flags;
};

TEST(ReadStart, TakesFlagsAndGroupsAndNothingElse) {
  const StartCase rows[] = {
      {{"0"}, true, 0},
      {{"1"}, true, wire::privileged},
      {{"8"}, true, wire::born_in_cgroup},
      {{"64"}, true, wire::boxed},
      {{"4096"}, true, wire::host_network},
      {{"16384"}, true, wire::prepared},
      {{"20553", "/sys/fs/cgroup/a"}, true, wire::all_start_flags},
      {{"0", "a", "b", "c", "d", "e", "f", "g", "h"}, true, 0},
      {{}, false, 0},
      {{""}, false, 0},
      {{"0", "a", "b", "c", "d", "e", "f", "g", "h", "i"}, false, 0},
      {{"2"}, false, 0},
      {{"4"}, false, 0},
      {{"16"}, false, 0},
      {{"2048"}, false, 0},
      {{"-1"}, false, 0},
      {{"+1"}, false, 0},
      {{" 1"}, false, 0},
      {{"1 "}, false, 0},
      {{"1x"}, false, 0},
      {{"0x1"}, false, 0},
      {{"4294967297"}, false, 0},
      {{"99999999999999999999999999"}, false, 0},
  };
  for (const auto& row : rows) {
    std::vector<std::string> texts = {"cloche-jail"};
    texts.insert(texts.end(), row.words.begin(), row.words.end());
    std::vector<char*> argv;
    for (auto& text : texts) argv.push_back(text.data());
    argv.push_back(nullptr);
    wire::Start start;
    const bool good = wire::read_start(static_cast<int>(texts.size()), argv.data(), start);
    ASSERT_EQ(good, row.good) << (row.words.empty() ? "nothing" : row.words[0]);
    if (!good) continue;
    EXPECT_EQ(start.flags, row.flags);
    ASSERT_EQ(start.groups.size(), row.words.size() - 1);
    for (size_t i = 1; i < row.words.size(); ++i) EXPECT_EQ(start.groups[i - 1], row.words[i]);
  }
}

TEST(Steps, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (uint32_t step = 0; step <= static_cast<uint32_t>(wire::Step::last); ++step) {
    const std::string name = wire::name_of(static_cast<wire::Step>(step));
    EXPECT_NE(name, "unknown step") << step;
    EXPECT_TRUE(names.insert(name).second) << name;
    for (int number : {0, EPERM, ENOENT, ENOSPC, EAGAIN, EINVAL, 9999}) {
      EXPECT_NE(wire::hint_for(static_cast<wire::Step>(step), number), nullptr) << name;
    }
  }
  EXPECT_STREQ(wire::name_of(static_cast<wire::Step>(9999)), "unknown step");
}

TEST(Steps, HintsFollowTheReason) {
  using wire::Step;
  EXPECT_NE(std::string(wire::hint_for(Step::namespaces, ENOSPC)).find("max_user_namespaces"),
            std::string::npos);
  EXPECT_NE(std::string(wire::hint_for(Step::namespaces, EPERM)).find("chroot"), std::string::npos);
  EXPECT_NE(std::string(wire::hint_for(Step::landlock, EOPNOTSUPP)).find("lsm="), std::string::npos);
  EXPECT_NE(std::string(wire::hint_for(Step::start_command, EAGAIN)).find("--pids"), std::string::npos);
}

}  // namespace
}  // namespace cloche
