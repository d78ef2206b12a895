// Whose look is still due.
#include "store/protected/open_call.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/scratch.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"

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

// Or two of them could move something past each other's looks.
TEST(OpenCall, WhereLeadsLedIsWhatTheFirstOneSaw) {
  const Scratch state;
  const Root root;
  const LeadFact absent{.path = "/w/hk", .kind = LeadFact::Kind::hooks};
  const LeadFact moved_there{.path = "/w/hk", .kind = LeadFact::Kind::hooks, .end = {"/w/hk", 1, 2, {3, 4}}};
  const LeadFact another{.path = "/w/.envrc"};
  OpenCall first = OpenCall::begin(state.path, root.fd.get(), {10, 0}, {.leads = {absent}});
  OpenCall second = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {.leads = {moved_there, another}});
  EXPECT_EQ(second.leads().facts, (std::vector<LeadFact>{absent, another}));
  first.close();
  const OpenCall third = OpenCall::begin(state.path, root.fd.get(), {30, 0}, {.leads = {moved_there}});
  EXPECT_EQ(third.leads().facts, (std::vector<LeadFact>{absent, another}));
  second.leave();
  const OpenCall next = OpenCall::begin(state.path, root.fd.get(), {40, 0}, {});
  EXPECT_EQ(next.leads_of_abandoned().facts, (std::vector<LeadFact>{absent, another}));
}

TEST(OpenCall, WhatEveryOtherCallHadReadOnlyIsTheHostsToChange) {
  const Scratch state;
  const Root root;
  const auto fact = [](const char* path, bool kept) { return ProtectedFact{{.path = path}, {}, kept}; };
  OpenCall first = OpenCall::begin(state.path, root.fd.get(), {10, 0},
                                   {{fact("/w/.envrc", true), fact("/w/.npmrc", true), fact("/w/a", false)}});
  EXPECT_TRUE(first.is_kept_by_others("/w/a"));  // there are none
  OpenCall second = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {{fact("/w/.envrc", true)}});
  EXPECT_TRUE(second.is_kept_by_others("/w/.npmrc"));
  EXPECT_FALSE(second.is_kept_by_others("/w/a"));
  const OpenCall third = OpenCall::begin(state.path, root.fd.get(), {30, 0}, {});
  EXPECT_TRUE(third.is_kept_by_others("/w/.envrc"));
  EXPECT_FALSE(third.is_kept_by_others("/w/.npmrc"));
}

TEST(OpenCall, WhetherALookIsDueCanBeAskedWithoutTakingIt) {
  const Scratch state;
  const Root root;
  const Root other;
  EXPECT_FALSE(find_unlooked(state.path, root.fd.get()));
  OpenCall open = OpenCall::begin(state.path, root.fd.get(), {10, 5}, {});
  EXPECT_FALSE(find_unlooked(state.path, root.fd.get()));  // it will look
  open.leave();
  OpenCall::begin(state.path, other.fd.get(), {5, 0}, {}).leave();
  const ProtectedFact fact{{.path = "/w/.cloche", .device = 7, .inode = 9}, {5, 6}, true};
  OpenCall::begin(state.path, root.fd.get(), {8, 0}, {{fact}}).leave();  // one more is due by then
  for (int i = 0; i < 2; ++i) {
    const auto due = find_unlooked(state.path, root.fd.get());
    ASSERT_TRUE(due);
    EXPECT_EQ(due->since, (ChangeTime{10, 5}));
    EXPECT_TRUE(due->known.empty());
  }
  EXPECT_FALSE(find_unlooked("", root.fd.get()));
}

TEST(OpenCall, WhatWasKnownIsHandedOn) {
  const Scratch state;
  const Root root;
  ProtectedFact fact{{.path = "/w/a\nb/.envrc", .device = 7, .inode = 9}, {5, 6}, true};
  OpenCall::begin(state.path, root.fd.get(), {10, 0}, {{fact, ProtectedFact{}}}).leave();
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
  OpenCall::begin(state.path, root.fd.get(), {10, 0}, {{old}}).leave();
  {
    OpenCall second = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {{old, planted}});
    EXPECT_TRUE(second.is_doubtful(planted.changed));
    EXPECT_FALSE(second.is_doubtful(old.changed));
    second.forget_abandoned();
    second.leave();
  }
  const OpenCall third = OpenCall::begin(state.path, root.fd.get(), {30, 0}, {{old, planted}});
  EXPECT_EQ(third.abandoned(), (ChangeTime{20, 0}));
  ASSERT_EQ(third.known_to_abandoned().size(), 1U);
  EXPECT_EQ(third.known_to_abandoned()[0].file.path, old.file.path);
}

TEST(OpenCall, WhatAnotherCallMayHaveMadeIsNotKnown) {
  const Scratch state;
  const Root root;
  OpenCall first = OpenCall::begin(state.path, root.fd.get(), {10, 0}, {});
  OpenCall second = OpenCall::begin(state.path, root.fd.get(), {20, 0},
                                    {{ProtectedFact{{.path = "/w/.envrc"}, {15, 0}, true}}});
  EXPECT_TRUE(second.is_doubtful({15, 0}));
  EXPECT_FALSE(second.is_doubtful({9, 0}));
  second.leave();
  first.close();
  EXPECT_TRUE(OpenCall::begin(state.path, root.fd.get(), {30, 0}, {}).known_to_abandoned().empty());
}

// They begin at the same time, so which mark comes first is chance.
TEST(OpenCall, WhatWasReadOnlyToOneOfTwoThatWereKilledTheOtherMayHaveChanged) {
  const Scratch state;
  const Root root;
  const std::vector<ProtectedFact> kept = {{{.path = "/w/.git/config"}, {5, 0}, true}};
  const std::vector<ProtectedFact> open = {{{.path = "/w/.git/config"}, {5, 0}, false}};
  for (int i = 0; i < 8; ++i) {
    OpenCall first = OpenCall::begin(state.path, root.fd.get(), {10, 0}, {kept});
    OpenCall second = OpenCall::begin(state.path, root.fd.get(), {10, 0}, {open});
    first.leave();
    second.leave();
    OpenCall next = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {});
    ASSERT_EQ(next.known_to_abandoned().size(), 1U);
    EXPECT_FALSE(next.known_to_abandoned()[0].kept);
    next.forget_abandoned();
  }
}

// What a second one finds besides may be the first one's work.
TEST(OpenCall, LeadsAreThoseOfWhoeverWasThereFirst) {
  const Scratch state;
  const Root root;
  const LeadFact old{.path = "/w/r", .kind = LeadFact::Kind::git_directory};
  const LeadFact made{.path = "/w/d", .kind = LeadFact::Kind::git_directory};
  const OpenCall first = OpenCall::begin(state.path, root.fd.get(), {10, 0}, {{}, {old}, true});
  OpenCall second = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {{}, {old, made}, true});
  EXPECT_EQ(second.leads().facts, std::vector<LeadFact>{old});
  second.add_leads({{made}, true});
  EXPECT_EQ(second.leads().facts, std::vector<LeadFact>{old});
  second.leave();
  EXPECT_EQ(
      OpenCall::begin(state.path, root.fd.get(), {30, 0}, {{}, {made}, true}).leads_of_abandoned().facts,
      std::vector<LeadFact>{old});
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

// Many begin within a tick of the clock, and not in the order in which they looked at it.
TEST(OpenCall, WhoeverIsThereOverlapsWhateverTheClockSays) {
  const Scratch state;
  const Root root;
  const OpenCall first = OpenCall::begin(state.path, root.fd.get(), {20, 0}, {});
  for (const ChangeTime& now : {ChangeTime{20, 0}, ChangeTime{15, 0}}) {
    const OpenCall second = OpenCall::begin(state.path, root.fd.get(), now, {});
    EXPECT_TRUE(second.overlaps());
    EXPECT_TRUE(second.is_doubtful({20, 0}));
    EXPECT_EQ(second.since(), now);
  }
  EXPECT_FALSE(first.overlaps());
}

TEST(OpenCall, WithoutAStateThereIsNoMark) {
  const Root root;
  OpenCall call = OpenCall::begin("", root.fd.get(), {10, 0}, {});
  EXPECT_FALSE(call.abandoned());
  call.close();
}

}  // namespace
}  // namespace cloche
