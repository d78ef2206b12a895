// Whose look is still due.
#include "store/open_call.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/directory.hpp"
#include "base/scratch.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

struct Root {
  Scratch scratch;
  OwnedFd fd = std::move(sys::open(scratch.path, O_RDONLY | O_DIRECTORY)).value();
};

TEST(OpenCall, OneThatWasClosedLeavesNothing) {
  const Scratch state;
  const Root root;
  OpenCall call = OpenCall::begin(state.path, root.fd.get(), {10, 5}, {});
  EXPECT_EQ(names_in(state.path + "/open").size(), 1U);
  EXPECT_FALSE(call.abandoned());
  call.close();
  EXPECT_TRUE(names_in(state.path + "/open").empty());
}

TEST(OpenCall, OneThatWasNotIsNoticedInTheSameTreeUntilItIsLookedAt) {
  const Scratch state;
  const Root root;
  const Root other;
  OpenCall::begin(state.path, root.fd.get(), {10, 5}, {}).leave();
  EXPECT_FALSE(OpenCall::begin(state.path, other.fd.get(), {20, 0}, {}).abandoned());
  {
    OpenCall next = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {});
    EXPECT_EQ(next.abandoned(), (ChangeTime{10, 5}));
    EXPECT_EQ(next.since(), (ChangeTime{20, 0}));
    next.close();
  }
  OpenCall later = OpenCall::begin(state.path, root.fd.get(), {30, 0}, {});
  EXPECT_EQ(later.abandoned(), (ChangeTime{10, 5}));
  later.forget_abandoned();
  later.close();
  EXPECT_FALSE(OpenCall::begin(state.path, root.fd.get(), {40, 0}, {}).abandoned());
}

TEST(OpenCall, WhatWasKnownIsHandedOn) {
  const Scratch state;
  const Root root;
  ProtectedFact fact{{.path = "/w/a\nb/.envrc", .device = 7, .inode = 9}, {5, 6}, true};
  OpenCall::begin(state.path, root.fd.get(), {10, 0}, {fact, ProtectedFact{}}).leave();
  const OpenCall next = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {});
  ASSERT_EQ(next.known_to_abandoned().size(), 2U);
  const ProtectedFact& known = next.known_to_abandoned()[0];
  EXPECT_EQ(known.file.path, fact.file.path);
  EXPECT_EQ(known.file.device, 7U);
  EXPECT_EQ(known.file.inode, 9U);
  EXPECT_EQ(known.changed, fact.changed);
  EXPECT_TRUE(known.kept);
  EXPECT_FALSE(next.known_to_abandoned()[1].kept);
}

// Two calls that were killed in turn: what the first left is no more the second's to vouch for than its own.
TEST(OpenCall, WhatADeadCallMayHaveLeftIsNotKnown) {
  const Scratch state;
  const Root root;
  const ProtectedFact old{{.path = "/w/.npmrc"}, {5, 0}, true};
  const ProtectedFact planted{{.path = "/w/.envrc"}, {11, 0}, true};
  OpenCall::begin(state.path, root.fd.get(), {10, 0}, {old}).leave();
  {
    OpenCall second = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {old, planted});
    EXPECT_TRUE(second.is_doubtful(planted.changed));
    EXPECT_FALSE(second.is_doubtful(old.changed));
    second.forget_abandoned();
    second.leave();
  }
  const OpenCall third = OpenCall::begin(state.path, root.fd.get(), {30, 0}, {old, planted});
  EXPECT_EQ(third.abandoned(), (ChangeTime{20, 0}));
  ASSERT_EQ(third.known_to_abandoned().size(), 1U);
  EXPECT_EQ(third.known_to_abandoned()[0].file.path, old.file.path);
}

TEST(OpenCall, WhatAnotherCallMayHaveMadeIsNotKnown) {
  const Scratch state;
  const Root root;
  OpenCall first = OpenCall::begin(state.path, root.fd.get(), {10, 0}, {});
  OpenCall second = OpenCall::begin(state.path, root.fd.get(), {20, 0},
                                    {ProtectedFact{{.path = "/w/.envrc"}, {15, 0}, true}});
  EXPECT_TRUE(second.is_doubtful({15, 0}));
  EXPECT_FALSE(second.is_doubtful({9, 0}));
  second.leave();
  first.close();
  EXPECT_TRUE(OpenCall::begin(state.path, root.fd.get(), {30, 0}, {}).known_to_abandoned().empty());
}

TEST(OpenCall, MarksDoNotPileUp) {
  const Scratch state;
  const Root root;
  for (int i = 1; i < 5; ++i) OpenCall::begin(state.path, root.fd.get(), {10 * i, 0}, {}).leave();
  EXPECT_EQ(names_in(state.path + "/open").size(), 1U);
  EXPECT_EQ(OpenCall::begin(state.path, root.fd.get(), {90, 0}, {}).abandoned(), (ChangeTime{10, 0}));
}

TEST(OpenCall, TwoAtOnceCountFromTheFirst) {
  const Scratch state;
  const Root root;
  const OpenCall first = OpenCall::begin(state.path, root.fd.get(), {10, 0}, {});
  const OpenCall second = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {});
  EXPECT_FALSE(first.overlaps());
  EXPECT_TRUE(second.overlaps());
  EXPECT_EQ(second.since(), (ChangeTime{10, 0}));
  EXPECT_FALSE(second.abandoned());
}

TEST(OpenCall, WithoutAStateThereIsNoMark) {
  const Root root;
  OpenCall call = OpenCall::begin("", root.fd.get(), {10, 0}, {});
  EXPECT_FALSE(call.abandoned());
  call.close();
}

}  // namespace
}  // namespace cloche
