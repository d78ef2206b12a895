#include "doors/changes/stored_sets_text.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

StoredSet a_set(SetStatus status, const std::vector<std::pair<std::string, Fate>>& paths) {
  StoredSet set;
  set.header.id = "r1-c-0001";
  set.header.label = "r1/c-0001";
  set.header.status = status;
  set.header.workspace = {"/w\n", 1, 2};
  set.changes.trees = {{"/w", 1, 2}};
  for (const auto& [path, fate] : paths) {
    set.changes.changes.push_back({.path = path, .after = FileState{.mode = 0644}});
    set.verdicts.push_back({.fate = fate, .reason = fate == Fate::committed ? "" : "because"});
  }
  return set;
}

TEST(StoredSetsText, TheTableBeginsWithWhatWaits) {
  StoredSet staged = a_set(SetStatus::staged, {{"a", Fate::committed}});
  staged.header.why = "the operator says\x1b[2J";
  StoredSet plain = a_set(SetStatus::committed, {{"a", Fate::committed}});
  plain.header.id = "r1-c-0002";
  StoredSet partly = a_set(SetStatus::committed, {{"a", Fate::committed}, {"\n", Fate::withheld}});
  partly.header.id = "r1-c-0003";
  const auto rows = in_list_order(
      {listed(plain, false), listed(staged, false), listed(partly, false), listed(plain, true)}, 1);
  EXPECT_EQ(sets_table(rows, Workspaces::one),
            "SET                              TIME                 STATE      CHANGES\n"
            "r1-c-0001                        1970-01-01 00:00:00  staged     1 created\n"
            "        the operator says\\u{1b}[2J\n"
            "r1-c-0003                        1970-01-01 00:00:00  withheld   2 created, 1 of them withheld\n"
            "        \"\\n\": because\n"
            "r1-c-0002                        1970-01-01 00:00:00  committed  1 created\n"
            "waits for you: cloche changes diff SET shows it, cloche changes apply SET brings it in, cloche "
            "changes drop SET throws it away\n");
  EXPECT_EQ(sets_table({}, Workspaces::one), "no change sets\n");
  EXPECT_NE(sets_table({listed(plain, true)}, Workspaces::every).find("undo       1 created, in /w\\u{a}\n"),
            std::string::npos);
}

TEST(StoredSetsText, WhatIsNotInTheProjectIsNotShownAsIfItWere) {
  StoredSet set = a_set(SetStatus::committed, {{"a", Fate::committed}, {"b", Fate::committed}});
  set.left = {1};
  const auto now = verdicts_now(set);
  EXPECT_EQ(now[0].fate, Fate::committed);
  EXPECT_EQ(now[1].fate, Fate::withheld);
  set.header.status = SetStatus::staged;
  set.verdicts.clear();
  EXPECT_EQ(verdicts_now(set)[0].reason, "it was not judged");
  EXPECT_NE(set_text(set, shown_files(set.changes, verdicts_now(set))).find("withheld: it was not judged"),
            std::string::npos);
}

TEST(StoredSetsText, AnAnswerSaysWhatHappenedAndWhatToDo) {
  OperatorOutcome outcome{.set = "r1-c-0001", .label = "r1/c-0001"};
  outcome.paths = {{"a\x1b", ChangeKind::changed, Fate::committed, "an old reason"}};
  outcome.end = OperatorEnd::done;
  outcome.made = "u-1";
  EXPECT_EQ(outcome_text(outcome, OperatorWord::undo),
            "undone: r1-c-0001, 1 changed\n  changed  \"a\\033\"\ncloche undo u-1 takes this back\n");
  outcome.waiting = {{".envrc", ChangeKind::created, Fate::withheld, "direnv runs it"}};
  EXPECT_EQ(outcome_text(outcome, OperatorWord::apply),
            "applied: r1-c-0001, 1 changed\n  changed  \"a\\033\"\ncloche undo u-1 takes this back\n"
            "still waiting:\n  created  .envrc: direnv runs it\n"
            "cloche changes apply r1-c-0001 --only PATH brings one in\n");
  outcome = {.end = OperatorEnd::conflict, .set = "u-1", .label = "r1/c-0001"};
  outcome.conflicts = {{"a", "was changed since"}};
  const std::string text = outcome_text(outcome, OperatorWord::undo);
  EXPECT_TRUE(text.starts_with("not undone: u-1 (r1/c-0001); nothing was changed\n  a was changed since\n"))
      << text;
  outcome.end = OperatorEnd::nothing;
  outcome.reasons = {"it was taken back already"};
  EXPECT_EQ(outcome_text(outcome, OperatorWord::undo),
            "nothing to do: u-1 (r1/c-0001): it was taken back already\n");
}

TEST(StoredSetsText, RecoverySaysWhatBecameOfTheSet) {
  const std::pair<SetStatus, std::string> rows[] = {
      {SetStatus::committed, "finished the change set s: a process that worked on it was killed; why"},
      {SetStatus::staged,
       "took back the change set s, which waits now: a process that worked on it was killed; why"},
      {SetStatus::committing,
       "could not finish the change set s: a process that worked on it was killed; why"}};
  for (const auto& [status, text] : rows) EXPECT_EQ(recovered_text({"s", status, {"why"}}), text);
}

TEST(StoredSetsText, JsonHasThePathsAsBytesToo) {
  OperatorOutcome outcome{.end = OperatorEnd::done, .set = "s"};
  outcome.paths = {{"\xff", ChangeKind::created, Fate::committed, ""}};
  EXPECT_EQ(
      outcomes_json({outcome}, OperatorWord::drop),
      R"({"sets":[{"set":"s","call":"","result":"dropped","paths":[{"path":")"
      "\xef\xbf\xbd"
      R"(","path_bytes":"/w==","kind":"created"}],"waiting":[],"truncated":false,"conflicts":[],"reasons":[]}]})"
      "\n");
}

}  // namespace
}  // namespace cloche
