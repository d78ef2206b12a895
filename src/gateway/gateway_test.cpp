// What of a call does not need a sandbox to be seen.
#include "gateway/gateway.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(WriteOptions, DurableFilesAreOnTheDiskAtOnce) {
  Settings settings;
  EXPECT_EQ(write_options(settings).sync, FileSync::later);
  settings.durable.value = true;
  EXPECT_EQ(write_options(settings).sync, FileSync::at_once);
}

TEST(Undecided, IsADenialOfWhatWasAsked) {
  const DecisionRecord record = undecided({"run_shell", "no JSON"}, {.task = "T", .role = "coder"});
  EXPECT_EQ(record.decision, Decision::deny);
  EXPECT_EQ(record.task_id + " " + record.role + " " + record.tool + " " + record.args,
            "T coder run_shell no JSON");
  EXPECT_EQ(undecided({"run_shell", "{}"}, {}).task_id, "main");
}

}  // namespace
}  // namespace cloche
