#include "model/holder.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

ViewEntry entry(EntryKind kind, const char* target) { return {.kind = kind, .target = target}; }

TEST(Holders, TheNearestMountAboveHoldsAnEntry) {
  ConfinementPlan plan;
  plan.view = {entry(EntryKind::tree, "/usr"),         entry(EntryKind::directory, "/run"),
               entry(EntryKind::tmpfs, "/tmp"),        entry(EntryKind::link, "/bin"),
               entry(EntryKind::tree, "/tmp/project"), entry(EntryKind::tmpfs, "/tmp/project/cover"),
               entry(EntryKind::text, "/etc/passwd"),  entry(EntryKind::terminals, "/dev/pts")};
  const Holders holders(plan);

  const struct {
    const char* target;
    Holder holder;
  } rows[] = {
      {"/usr", Holder::root},
      {"/usr/local", Holder::host_tree},
      {"/usr/local/deep/er", Holder::host_tree},
      {"/usrlocal", Holder::root},
      {"/run", Holder::root},
      {"/run/below", Holder::root},
      {"/tmp", Holder::root},
      {"/tmp/project", Holder::memory},
      {"/tmp/project/file", Holder::host_tree},
      {"/tmp/project/cover", Holder::host_tree},
      {"/tmp/project/cover/file", Holder::memory},
      {"/tmp/other", Holder::memory},
      {"/etc/passwd", Holder::root},
      {"/new/place", Holder::root},
  };
  for (const auto& [target, holder] : rows) {
    EXPECT_EQ(holders.of(entry(EntryKind::tree, target)), holder) << target;
  }
}

TEST(Holders, OfAnEmptyViewIsTheRootForEverything) {
  const ConfinementPlan plan;
  EXPECT_EQ(Holders(plan).of(entry(EntryKind::tree, "/a/b/c")), Holder::root);
}

}  // namespace
}  // namespace cloche
