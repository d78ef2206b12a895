#include "confine/native/outside_id.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

// Of this test's own: their names are the whole host's.
const unsigned first = 1'800'000'000 + static_cast<unsigned>(::getpid() % 100'000) * 1000;

void kill_holder_of(OutsideId& id) { id = {}; }

std::vector<unsigned> cleaned;
Result<OutsideId> claim(unsigned from, unsigned count, const std::string& directory) {
  cleaned.clear();
  return claim_outside_id(from, count, [](unsigned id) { cleaned.push_back(id); }, {{directory}});
}

TEST(OutsideId, NoTwoAtOnceAreTheSameUntilTheRangeIsUsedUp) {
  const Scratch scratch;
  constexpr unsigned count = 20;
  std::vector<OutsideId> held;
  std::set<unsigned> ids;
  for (unsigned i = 0; i < count; ++i) {
    auto claimed = claim(first, count, scratch.path);
    ASSERT_TRUE(claimed.ok()) << claimed.error().what;
    EXPECT_GE(claimed.value().id, first);
    EXPECT_LT(claimed.value().id, first + count);
    EXPECT_TRUE(ids.insert(claimed.value().id).second) << claimed.value().id;
    held.push_back(std::move(claimed).value());
  }
  const auto one_more = claim(first, count, scratch.path);
  ASSERT_FALSE(one_more.ok());
  EXPECT_NE(one_more.error().what.text().find("20 ids"), std::string::npos) << one_more.error().what;
  EXPECT_FALSE(one_more.error().fix.empty());

  const unsigned given_back = held[7].id;
  held.erase(held.begin() + 7);
  EXPECT_EQ(claim(first, count, scratch.path).value().id, given_back);
}

TEST(OutsideId, WhatAKilledCallLeftIsFoundByTheNextWhicheverIdThatGets) {
  const Scratch scratch;
  auto one = claim(first, 20, scratch.path).value();
  auto two = claim(first, 20, scratch.path).value();
  EXPECT_TRUE(cleaned.empty()) << "the first is alive";
  kill_holder_of(two);  // killed with everybody who could clean up
  auto three = claim(first, 20, scratch.path).value();
  EXPECT_EQ(three.id, first + 1);
  EXPECT_TRUE(cleaned.empty()) << "it is its own now";
  auto four = claim(first, 20, scratch.path).value();
  kill_holder_of(three);
  leave_nothing(four);
  kill_holder_of(four);
  kill_holder_of(one);
  const auto five = claim(first, 20, scratch.path).value();
  EXPECT_EQ(cleaned, std::vector<unsigned>{first + 1}) << "four had left nothing, and one is five's own";
  const auto six = claim(first, 20, scratch.path).value();
  EXPECT_TRUE(cleaned.empty()) << "told once";
}

// A call gets a high id only where many run at once; its mark is put here in its place.
TEST(OutsideId, WhatAKilledCallLeftIsFoundAtTheEndOfAWideRange) {
  const Scratch scratch;
  ASSERT_TRUE(claim(first, 1, scratch.path).ok());
  std::fstream marks(scratch.path + "/ids");
  for (const unsigned slot : {511U, 512U, 4096U, 65'535U}) marks.seekp(slot).put('1');
  marks.seekp(65'536).put('1');  // of a range that was wider once
  marks.close();
  const auto next = claim(first, 65'536, scratch.path);
  EXPECT_EQ(cleaned, (std::vector<unsigned>{first + 511, first + 512, first + 4096, first + 65'535}));
  const auto another = claim(first, 65'536, scratch.path);
  EXPECT_TRUE(cleaned.empty()) << "told once";
}

TEST(OutsideId, ARangeOfOneIsUsedUpByOneAndFreedByItsEnd) {
  const Scratch scratch;
  {
    const auto claimed = claim(first, 1, scratch.path);
    ASSERT_TRUE(claimed.ok());
    EXPECT_EQ(claimed.value().id, first);
    EXPECT_FALSE(claim(first, 1, scratch.path).ok());
  }
  EXPECT_TRUE(claim(first, 1, scratch.path).ok());
}

// The jail's keeper has a copy of the descriptor and may outlive the supervisor that was killed.
TEST(OutsideId, LivesAsLongAsACopyOfItsLock) {
  const Scratch scratch;
  OwnedFd copy;
  {
    const auto claimed = claim(first, 1, scratch.path);
    copy = OwnedFd(::dup(claimed.value().locks.front().get()));
  }
  EXPECT_FALSE(claim(first, 1, scratch.path).ok());
  copy.reset();
  EXPECT_TRUE(claim(first, 1, scratch.path).ok());
}

TEST(OutsideId, IsFreedWhenItsHolderIsKilled) {
  const Scratch scratch;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto claimed = claim(first, 1, scratch.path);
    (void)!::write(ready[1], claimed.ok() ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(claim(first, 1, scratch.path).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(claim(first, 1, scratch.path).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(OutsideId, KeepsItsClaimsInAPrivateDirectory) {
  const Scratch scratch;
  const std::string directory = scratch.path + "/claims";
  const auto before = ::umask(0);
  ASSERT_TRUE(claim(first, 1, directory).ok());
  ::umask(before);
  struct stat seen {};
  ASSERT_EQ(::stat(directory.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777, 0700U);
  ASSERT_EQ(::stat((directory + "/ids").c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777, 0600U);
  EXPECT_FALSE(claim(first, 1, scratch.path + "/absent/claims").ok());
}

TEST(OutsideId, DoesNotWriteThroughALink) {
  const Scratch scratch;
  std::ofstream(scratch.path + "/precious") << "content";
  fs::create_symlink("precious", scratch.path + "/ids");
  EXPECT_FALSE(claim(first, 1, scratch.path).ok());
}

Result<OutsideId> claim_in(const std::vector<std::string>& directories) {
  std::vector<ClaimPlace> places;
  for (const auto& directory : directories) places.push_back({directory});
  return claim_outside_id(
      first, 1, [](unsigned) {}, places);
}

// In a directory that others do not look into.
Result<OutsideId> claim_alone(const std::string& directory) {
  cleaned.clear();
  return claim_outside_id(first, 16, [](unsigned id) { cleaned.push_back(id); }, {{directory, false}});
}

TEST(OutsideId, WhereTheFileIsNotEverybodysNobodyElseHasTheSame) {
  const Scratch scratch;
  std::set<unsigned> ids;
  std::vector<OutsideId> held;
  for (const char* place : {"/one", "/other", "/third", "/one"}) {
    auto claimed = claim_alone(scratch.path + place);
    ASSERT_TRUE(claimed.ok()) << claimed.error().what;
    EXPECT_TRUE(ids.insert(claimed.value().id).second) << claimed.value().id;
    held.push_back(std::move(claimed).value());
  }
}

// What a killed call has left is cleaned up only while no other call has its id.
TEST(OutsideId, AnIdThatSomebodyElseHasNowIsNotCleanedUp) {
  const Scratch scratch;
  const std::string one = scratch.path + "/one";
  const unsigned left = claim_alone(one).value().id;  // killed at once, with everybody who could clean up
  {
    const auto others = claim_alone(scratch.path + "/other").value();
    ASSERT_EQ(others.id, left);
    EXPECT_NE(claim_alone(one).value().id, left);
    EXPECT_TRUE(cleaned.empty());
  }
}

// A service may see /run read-only, another caller no /dev/shm: each meets the others in what both have, or
// by the name.
TEST(OutsideId, NobodyHasTheSameWhicheverOfTheDirectoriesHeCanUse) {
  const Scratch scratch;
  const ClaimPlace one{scratch.path + "/one"};
  const ClaimPlace two{scratch.path + "/two"};
  const ClaimPlace own{scratch.path + "/own", false};
  const ClaimPlace absent{scratch.path + "/absent/claims"};
  const std::vector<ClaimPlace> callers[] = {{one, two, own}, {absent, two, own}, {one, absent, own}};
  constexpr unsigned count = 16;
  const auto claim_by = [](const std::vector<ClaimPlace>& places) {
    return claim_outside_id(
        first, count, [](unsigned id) { cleaned.push_back(id); }, places);
  };
  for (const auto& before : callers) {
    for (const auto& after : callers) {
      const auto held = claim_by(before);
      const auto another = claim_by(after);
      ASSERT_TRUE(held.ok() && another.ok());
      EXPECT_NE(held.value().id, another.value().id)
          << before[0].directory << " " << before[1].directory << " " << after[0].directory << " "
          << after[1].directory;
    }
  }
  // What a killed call has left is not taken away from the call that has its id by now, by another file.
  const unsigned left = claim_by(callers[1]).value().id;
  const auto next = claim_by(callers[2]).value();
  ASSERT_EQ(next.id, left);
  cleaned.clear();
  EXPECT_NE(claim_by(callers[1]).value().id, left);
  EXPECT_EQ(std::count(cleaned.begin(), cleaned.end(), left), 0);
}

// Anybody can make a directory in /dev/shm, and take names: neither keeps out who has the first place.
TEST(OutsideId, NamesThatOthersTakeDoNotUseUpTheRange) {
  const Scratch scratch;
  const ClaimPlace taken{scratch.path + "/absent/claims"};
  for (const unsigned count : {3U, 100U}) {
    std::vector<OutsideId> others;
    while (others.size() < count) {
      others.push_back(
          claim_outside_id(first, count, [](unsigned) {}, {taken, {scratch.path + "/others", false}})
              .value());
    }
    const auto claimed = claim_outside_id(first, count, [](unsigned) {}, {{scratch.path + "/run"}, taken});
    ASSERT_TRUE(claimed.ok()) << claimed.error().what;
    const auto another = claim_outside_id(first, count, [](unsigned) {}, {{scratch.path + "/run"}, taken});
    ASSERT_TRUE(another.ok()) << another.error().what;
    EXPECT_NE(claimed.value().id, another.value().id);
    EXPECT_FALSE(
        claim_outside_id(first, count, [](unsigned) {}, {taken, {scratch.path + "/third", false}}).ok())
        << "who has no place that others look into needs one";
  }
}

TEST(OutsideId, EveryDirectoryThatCanBeUsedHasTheClaim) {
  const Scratch scratch;
  const std::string absent = scratch.path + "/absent/claims";
  const std::string second = scratch.path + "/second";
  const std::string third = scratch.path + "/third";
  {
    const auto claimed = claim_in({absent, second, third});
    ASSERT_TRUE(claimed.ok()) << claimed.error().what;
    EXPECT_TRUE(fs::exists(second + "/ids"));
    EXPECT_TRUE(fs::exists(third + "/ids"));
    const auto another = claim_in({absent, third});
    ASSERT_FALSE(another.ok()) << "an id that is in use is no reason to look elsewhere";
    EXPECT_NE(another.error().what.text().find("in use"), std::string::npos) << another.error().what;
  }
  const auto nowhere = claim_in({absent, scratch.path + "/neither/claims"});
  ASSERT_FALSE(nowhere.ok());
  EXPECT_NE(nowhere.error().what.text().find(absent), std::string::npos) << nowhere.error().what;
  EXPECT_NE(nowhere.error().fix.text().find("mount -t tmpfs"), std::string::npos) << nowhere.error().fix;
}

TEST(OutsideId, ADirectoryThatSomebodyElseCouldChangeIsPassedOver) {
  const Scratch scratch;
  const std::string own = scratch.path + "/own";
  const std::string open = scratch.path + "/open";
  const std::string link = scratch.path + "/link";
  fs::create_directory(open);
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  fs::create_directory(scratch.path + "/elsewhere");
  fs::create_directory_symlink(scratch.path + "/elsewhere", link);
  std::vector<std::string> foreign = {open, open + "/below", link};
  if (::geteuid() == 0) {
    foreign.push_back(scratch.path + "/others");
    fs::create_directory(foreign.back());
    ASSERT_EQ(::chown(foreign.back().c_str(), 65534, 65534), 0);
  }
  for (const auto& directory : foreign) {
    const auto claimed = claim_in({directory, own});
    ASSERT_TRUE(claimed.ok()) << directory << claimed.error().what;
    EXPECT_FALSE(fs::exists(directory + "/ids")) << directory;
  }
}

TEST(OutsideId, WhatIsOnesOwnAloneComesLast) {
  EXPECT_EQ(claim_places("/s"),
            (std::vector<ClaimPlace>{{"/run/cloche", true}, {"/dev/shm/cloche", true}, {"/s", false}}));
  EXPECT_EQ(claim_places("").size(), 2U);
}

}  // namespace
}  // namespace cloche
