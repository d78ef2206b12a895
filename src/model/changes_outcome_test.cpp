#include "model/changes_outcome.hpp"

#include <gtest/gtest.h>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"

namespace cloche {
namespace {

ChangesOutcome a_clone() {
  return {.end = ChangesEnd::committed,
          .set = "s-1",
          .paths = {{"a", ChangeKind::created, Fate::committed},
                    {"x/.npmrc", ChangeKind::created, Fate::committed, "it came with it"}}};
}

TEST(ChangesOutcome, WhatWasLetThroughWithAReasonIsSaid) {
  ChangesOutcome changes = a_clone();
  EXPECT_TRUE(changes.is_whole());
  EXPECT_FALSE(changes.goes_without_saying());
  EXPECT_EQ(summary_line(changes), "changes: 2 created; came with a new repository: x/.npmrc");
  EXPECT_EQ(model_line(changes), "");
  changes.paths.push_back({".envrc", ChangeKind::created, Fate::withheld, "no"});
  EXPECT_EQ(summary_line(changes),
            "changes: 2 created, 1 withheld (.envrc: no; cloche changes show s-1 has it, cloche changes "
            "apply s-1 --only PATH brings it in); came with a new repository: "
            "x/.npmrc");
  changes.paths.resize(1);
  EXPECT_TRUE(changes.goes_without_saying());
}

TEST(ChangesOutcome, AListThatIsCutOffKeepsWhatHasAReason) {
  const auto first_of = [](size_t most) {
    JsonWriter out;
    out.begin_object();
    write_changes(out, a_clone(), most);
    out.end_object();
    const auto json = read_json(out.take(), "a test");
    return json.ok() ? json.value().find("paths")->items.front().find("path")->text : describe(json.error());
  };
  EXPECT_EQ(first_of(2), "a");
  EXPECT_EQ(first_of(1), "x/.npmrc");
}

}  // namespace
}  // namespace cloche
