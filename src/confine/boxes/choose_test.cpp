// The whole truth table of which box a command gets.
#include "confine/boxes/choose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cloche {
namespace {

Offers offering(std::set<Backend> here) {
  return [here = std::move(here)](Backend backend) {
    if (here.contains(backend)) return Offer{.works = true};
    const std::string name(name_of(backend));
    return Offer{.why = name + " is not here",
                 .fix = "apt install " + name,
                 .installed = false,
                 .layer = LayerId::mount_view};
  };
}

const Offers everything = offering({std::begin(all_backends), std::end(all_backends)});
const Offers nothing = offering({});

TEST(Choose, WhatWasAskedForWhereItWorks) {
  const std::pair<Wish, Backend> rows[] = {
      {{}, Backend::native},
      {{.level = IsolationLevel::namespaces, .backend = Backend::bwrap}, Backend::bwrap},
      {{.level = IsolationLevel::subprocess}, Backend::subprocess},
      {{.level = IsolationLevel::container}, Backend::crun},
      {{.level = IsolationLevel::container, .backend = Backend::runc}, Backend::runc},
      {{.level = IsolationLevel::gvisor}, Backend::runsc},
  };
  for (const auto& [wish, expected] : rows) {
    const auto choice = choose(wish, everything);
    ASSERT_TRUE(choice.ok()) << name_of(expected);
    EXPECT_EQ(choice.value().backend, expected);
    EXPECT_TRUE(choice.value().notes.empty()) << name_of(expected);
  }
}

TEST(Choose, AnotherBackendOfTheSameRungIsNoStepDown) {
  const auto bwrap = choose({}, offering({Backend::bwrap}));
  ASSERT_TRUE(bwrap.ok());
  EXPECT_EQ(bwrap.value().backend, Backend::bwrap);
  const auto runc = choose({.level = IsolationLevel::container}, offering({Backend::runc}));
  ASSERT_TRUE(runc.ok());
  EXPECT_EQ(runc.value().backend, Backend::runc);
  EXPECT_TRUE(runc.value().notes.empty());
}

// An operator who names one and lets it be less gets another of its level before a lower level, and is told.
TEST(Choose, ANamedBackendThatIsMissingIsNoMissingRung) {
  struct Row {
    Backend named;
    std::set<Backend> here;
    Backend expected;
    const char* note;  // of the last; nullptr: there is none
    IsolationLevel lowest = IsolationLevel::subprocess;
  };
  const Row rows[] = {
      {Backend::bwrap, {Backend::bwrap, Backend::native}, Backend::bwrap, nullptr},
      {Backend::bwrap,
       {Backend::native, Backend::subprocess},
       Backend::native,
       "bwrap is not here; native, at the same isolation level, instead"},
      {Backend::runc,
       {Backend::crun, Backend::native},
       Backend::crun,
       "runc is not here; crun, at the same isolation level, instead"},
      {Backend::crun,
       {Backend::runc},
       Backend::runc,
       "crun is not here; runc, at the same isolation level, instead",
       IsolationLevel::container},
      {Backend::bwrap,
       {Backend::subprocess},
       Backend::subprocess,
       "the isolation level namespace is missing here, stepped down to subprocess: bwrap is not here; native "
       "is not "
       "here"},
  };
  for (const auto& [named, here, expected, note, lowest] : rows) {
    Wish wish{.level = level_of(named), .backend = named, .missing = Missing::degrade, .lowest = lowest};
    const auto choice = choose(wish, offering(here));
    ASSERT_TRUE(choice.ok()) << name_of(named);
    EXPECT_EQ(choice.value().backend, expected) << name_of(named);
    ASSERT_EQ(choice.value().notes.size(), note == nullptr ? 0U : 1U) << name_of(named);
    if (note != nullptr) {
      EXPECT_EQ(choice.value().notes[0], note);
    }
    wish.required = true;
    EXPECT_EQ(choose(wish, offering(here)).value().backend, named) << "and the call itself refuses";
    wish = {.level = level_of(named), .backend = named};
    EXPECT_EQ(choose(wish, offering(here)).value().backend, named) << "and the call itself refuses";
  }
}

TEST(Choose, RungsThatRunNoProgramAreRefusedByName) {
  EXPECT_NE(choose({.level = IsolationLevel::permissive}, everything).error().what.text().find("permissive"),
            std::string::npos);
  EXPECT_NE(choose({.level = IsolationLevel::microvm}, everything).error().what.text().find("microvm"),
            std::string::npos);
  EXPECT_FALSE(choose({.level = IsolationLevel::permissive, .backend = Backend::none}, everything).ok());
  EXPECT_FALSE(choose({.level = IsolationLevel::gvisor, .backend = Backend::runc}, everything).ok());
}

// missing x what is here x required: where a wish for gVisor ends.
TEST(Choose, StepsDownOneRungAtATimeAndOnlyWhenToldTo) {
  struct Row {
    std::set<Backend> here;
    Missing missing;
    bool required;
    std::optional<Backend> expected;  // none: refused
    size_t steps = 0;
  };
  const Row rows[] = {
      {{Backend::runsc, Backend::native}, Missing::refuse, false, Backend::runsc},
      {{Backend::runsc, Backend::native}, Missing::degrade, false, Backend::runsc},
      {{Backend::runsc}, Missing::degrade, true, Backend::runsc},
      {{Backend::runc, Backend::native}, Missing::degrade, false, Backend::runc, 1},
      {{Backend::native}, Missing::degrade, false, Backend::native, 2},
      {{Backend::bwrap, Backend::subprocess}, Missing::degrade, false, Backend::bwrap, 2},
      {{Backend::subprocess}, Missing::degrade, false, Backend::subprocess, 3},
      {{}, Missing::degrade, false, std::nullopt},
      {{Backend::native, Backend::subprocess}, Missing::degrade, true, std::nullopt},
  };
  for (const auto& row : rows) {
    // Of one candidate without a way down the call itself finds out, so there it is never refused here.
    const auto choice =
        choose({.level = IsolationLevel::gvisor, .missing = row.missing, .required = row.required},
               offering(row.here));
    if (row.required && !row.here.contains(Backend::runsc)) {
      ASSERT_TRUE(choice.ok());
      EXPECT_EQ(choice.value().backend, Backend::runsc) << "and nothing below it";
      continue;
    }
    ASSERT_EQ(choice.ok(), row.expected.has_value());
    if (!row.expected) {
      EXPECT_EQ(choice.error().cause, Cause::missing_layer);
      EXPECT_EQ(choice.error().what.text(), "runsc is not here") << "the one that was meant";
      EXPECT_EQ(choice.error().fix.text(), "apt install runsc");
      continue;
    }
    EXPECT_EQ(choice.value().backend, *row.expected);
    EXPECT_EQ(choice.value().notes.size(), row.steps);
  }
}

// The isolation level that a managed file names is the last one, whatever others say about a missing one.
TEST(Choose, NeverStepsBelowTheLowestRung) {
  struct Row {
    IsolationLevel level;
    IsolationLevel lowest;
    std::set<Backend> here;
    std::optional<Backend> expected;  // none: refused
  };
  const Row rows[] = {
      {IsolationLevel::gvisor,
       IsolationLevel::gvisor,
       {Backend::crun, Backend::native},
       Backend::runsc},  // the call refuses
      {IsolationLevel::gvisor, IsolationLevel::container, {Backend::crun, Backend::native}, Backend::crun},
      {IsolationLevel::gvisor, IsolationLevel::container, {Backend::native}, std::nullopt},
      {IsolationLevel::namespaces, IsolationLevel::namespaces, {Backend::subprocess}, Backend::native},
      {IsolationLevel::gvisor, IsolationLevel::subprocess, {Backend::subprocess}, Backend::subprocess},
  };
  for (const auto& [level, lowest, here, expected] : rows) {
    const auto choice =
        choose({.level = level, .missing = Missing::degrade, .lowest = lowest}, offering(here));
    ASSERT_EQ(choice.ok(), expected.has_value()) << name_of(level) << " " << name_of(lowest);
    if (!expected) continue;
    EXPECT_EQ(choice.value().backend, *expected) << name_of(level) << " " << name_of(lowest);
  }
}

TEST(Choose, ByDefaultNothingIsTriedBelowTheRung) {
  const auto choice = choose({}, offering({Backend::subprocess}));
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice.value().backend, Backend::native) << "the call itself refuses, and says why";
  const auto degraded = choose({.missing = Missing::degrade}, offering({Backend::subprocess}));
  ASSERT_TRUE(degraded.ok());
  EXPECT_EQ(degraded.value().backend, Backend::subprocess);
  ASSERT_EQ(degraded.value().notes.size(), 1U);
  EXPECT_NE(degraded.value().notes[0].find("native is not here"), std::string::npos);
}

// Where nothing could be tried out nothing is known to be missing: no step down, and no word about others.
TEST(Choose, WhatCouldNotBeTriedIsLeftToTheCallItself) {
  const Offers untried = [](Backend) { return Offer{.tried = false, .why = "nowhere to try it"}; };
  for (const Missing missing : {Missing::refuse, Missing::degrade}) {
    const auto choice = choose({.missing = missing}, untried);
    ASSERT_TRUE(choice.ok());
    EXPECT_EQ(choice.value().backend, Backend::native);
    EXPECT_TRUE(choice.value().notes.empty());
  }
}

// Each backend of a level fails for a reason of its own, and mending any of them is enough.
TEST(Choose, EveryBackendThatWasTriedSaysWhy) {
  const auto degraded =
      choose({.level = IsolationLevel::container, .missing = Missing::degrade}, offering({Backend::native}));
  ASSERT_TRUE(degraded.ok());
  ASSERT_EQ(degraded.value().notes.size(), 1U);
  EXPECT_NE(degraded.value().notes[0].find("crun is not here; runc is not here"), std::string::npos);
  const auto refused = choose({.level = IsolationLevel::container}, offering({}));
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused.value().backend, Backend::crun) << "whose reason the call itself gives";
  ASSERT_EQ(refused.value().notes.size(), 1U);
  EXPECT_EQ(refused.value().notes[0], "not by another backend either: runc is not here");
}

// off x required x front_end x permitted by a file.
TEST(Choose, TheOptOutIsHonouredWhereItIsTheOperatorsWord) {
  for (bool off : {false, true}) {
    for (bool required : {false, true}) {
      for (FrontEnd front_end : {FrontEnd::command_line, FrontEnd::agent}) {
        for (bool allowed : {false, true}) {
          const Wish wish{.required = required, .off = off, .off_allowed = allowed, .front_end = front_end};
          const auto choice = choose(wish, everything);
          ASSERT_TRUE(choice.ok());
          const bool open = off && !required && (front_end == FrontEnd::command_line || allowed);
          EXPECT_EQ(choice.value().backend, open ? Backend::none : Backend::native);
          EXPECT_EQ(choice.value().notes.empty(), !off || required) << "what was switched is always said";
        }
      }
    }
  }
}

TEST(Choose, WhatBecameOfTheSwitchIsSaid) {
  const struct {
    Wish wish;
    const char* note;  // how it begins; nullptr: there is none
  } rows[] = {
      {{}, nullptr},
      {{.off = true}, "isolation is off"},
      {{.off = true, .front_end = FrontEnd::agent}, "CLOCHE_SANDBOX=off is not honoured for an agent"},
      {{.off = true, .off_allowed = true, .front_end = FrontEnd::agent}, "isolation is off"},
      {{.overruled = true}, "CLOCHE_SANDBOX=off is not honoured: the managed file"},
      {{.overruled = true, .front_end = FrontEnd::agent},
       "CLOCHE_SANDBOX=off is not honoured: the managed file"},
      {{.required = true, .off = true}, nullptr},
  };
  for (const auto& row : rows) {
    const auto notes = switch_notes(row.wish);
    ASSERT_EQ(notes.size(), row.note == nullptr ? 0U : 1U);
    if (row.note != nullptr) {
      EXPECT_TRUE(notes[0].starts_with(row.note)) << notes[0];
    }
    EXPECT_EQ(choose(row.wish, everything).value().notes, notes);
  }
}

TEST(Choose, RequiredNeverRunsWithLessAndNeverOpen) {
  for (Missing missing : {Missing::refuse, Missing::degrade}) {
    const auto choice = choose({.missing = missing, .required = true, .off = true}, nothing);
    ASSERT_TRUE(choice.ok());
    EXPECT_EQ(choice.value().backend, Backend::native) << "which refuses by itself where it does not work";
  }
}

TEST(Choose, AsksOnlyAsFarAsNeeded) {
  std::vector<Backend> asked;
  const Offers offers = [&](Backend backend) {
    asked.push_back(backend);
    return Offer{.works = backend == Backend::runc};
  };
  ASSERT_TRUE(choose({.level = IsolationLevel::container, .missing = Missing::degrade}, offers).ok());
  EXPECT_EQ(asked, (std::vector{Backend::crun, Backend::runc}));
  asked.clear();
  ASSERT_TRUE(choose({.level = IsolationLevel::gvisor}, offers).ok());
  EXPECT_TRUE(asked.empty()) << "one candidate: the call itself finds out";
}

}  // namespace
}  // namespace cloche
