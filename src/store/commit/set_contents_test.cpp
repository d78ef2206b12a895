#include "store/commit/set_contents.hpp"

#include "store/commit/commit_fixture.hpp"
#include "store/commit/undo.hpp"

namespace cloche {
namespace {

struct ContentsScene : CommitScene {
  using CommitScene::CommitScene;
  ChangeSets store = ChangeSets(scratch.path + "/state", "this-boot");

  SetInWork begin() {
    SetHeader header;
    header.workspace = know_directory(project).value();
    header.trees = {{header.workspace, know_directory(upper).value(), know_directory(undo).value()}};
    auto begun = store.begin(header);
    EXPECT_TRUE(begun.ok()) << describe(begun.error());
    return std::move(begun).value();
  }
  StoredSet committed() {
    SetInWork work = begin();
    const auto done = store.commit(work, set, all_committed(set));
    EXPECT_TRUE(done.ok());
    EXPECT_EQ(done.value().end, CommitEnd::committed) << text_of(done.value());
    return store.find(work.header.id).value();
  }
  StoredSet staged() {
    SetInWork work = begin();
    EXPECT_TRUE(store.stage(work, set, all_committed(set)).ok());
    return store.find(work.header.id).value();
  }
  void write(const std::string& name, const std::string& text) const {
    ::unlink((project + "/" + name).c_str());
    make_node(project + "/" + name, a_file(text));
  }
};

ContentsScene a_scene() {
  const Model before = {{"changed", a_file("old")},    {"gone", a_file("gone")},
                        {"d", a_directory()},          {"d/in", a_file("in")},
                        {"link", a_link("elsewhere")}, {"kept", a_file("kept")},
                        {"large", a_file("as it was")}};
  Model after = {{"changed", a_file("fresh!")},
                 {"new", a_file("new")},
                 {"n", a_directory()},
                 {"n/in", a_file("new in")},
                 {"kept", a_file("kept")},
                 {"link", a_link("other")},
                 {"large", a_file(std::string(2 << 20, 'x'))}};
  return {before, after};
}

// "path: before -> after", with - for what there is none of, and ! where it is said why.
std::string contents_text(const StoredSet& set, const SetContents::LaterSets& later = {}) {
  auto contents = SetContents::open(set, later);
  if (!contents.ok()) return describe(contents.error());
  std::string text;
  const auto side = [](const SideContents& found) {
    return found.bytes ? *found.bytes : found.why.empty() ? "-" : "!";
  };
  for (size_t i = 0; i < set.changes.changes.size(); ++i)
    text += set.changes.changes[i].path + ": " + side(contents.value().before(i)) + " -> " +
            side(contents.value().after(i)) + "\n";
  return text;
}

constexpr const char* all_contents =
    "changed: old -> fresh!\nd: - -> -\nd/in: in -> -\ngone: gone -> -\nlarge: as it was -> !\nlink: - -> -\n"
    "n: - -> -\nn/in: - -> new in\nnew: - -> new\n";

TEST(SetContents, HasBothSidesBeforeAndAfterTheCommit) {
  ContentsScene staged = a_scene();
  EXPECT_EQ(contents_text(staged.staged()), all_contents);
  ContentsScene committed = a_scene();
  EXPECT_EQ(contents_text(committed.committed()), all_contents);
}

TEST(SetContents, SaysWhenTheProjectsFileIsAnotherByNow) {
  ContentsScene scene = a_scene();
  const StoredSet set = scene.committed();
  scene.write("changed", "fresh?");  // of the same size and time
  scene.write("new", "longer than before");
  ASSERT_EQ(::unlink((scene.project + "/n/in").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (scene.project + "/n/in").c_str()), 0);
  const std::string text = contents_text(set);
  EXPECT_NE(text.find("changed: old -> !\n"), std::string::npos) << text;
  EXPECT_NE(text.find("n/in: - -> !\n"), std::string::npos) << text;
  EXPECT_NE(text.find("new: - -> !\n"), std::string::npos) << text;
}

TEST(SetContents, ALaterSetKeepsWhatItReplaced) {
  ContentsScene scene = a_scene();
  const StoredSet set = scene.committed();
  // The undo takes everything back, and so keeps what the set had put there.
  auto plan = plan_undo(set, {});
  ASSERT_TRUE(plan.ok()) << describe(plan.error());
  SetHeader header = set.header;
  header.id = "u-1";
  header.trees = plan.value().trees;
  header.undoes = set.header.id;
  auto begun = scene.store.begin(header);
  ASSERT_TRUE(begun.ok());
  ASSERT_TRUE(
      scene.store
          .commit(begun.value(), plan.value().changes, plan.value().verdicts, std::move(plan.value().planned))
          .ok());
  ASSERT_TRUE(scene.store.record_undone(set.header.id, plan.value().changes).ok());
  const StoredSet undone = scene.store.find(set.header.id).value();
  EXPECT_NE(contents_text(undone).find("changed: old -> !"), std::string::npos);
  EXPECT_EQ(contents_text(undone, [&] { return std::vector{scene.store.find("u-1").value()}; }),
            all_contents);
}

TEST(SetContents, ReadsNoTreeThatWasPutInThePlaceOfTheProject) {
  ContentsScene scene = a_scene();
  const StoredSet set = scene.staged();
  ASSERT_EQ(::rename(scene.project.c_str(), (scene.project + "-moved").c_str()), 0);
  ASSERT_EQ(::mkdir(scene.project.c_str(), 0700), 0);
  EXPECT_FALSE(SetContents::open(set).ok());
}

TEST(SetContents, WhatIsForgottenNoLongerWaits) {
  ContentsScene scene = a_scene();
  SetInWork work = scene.begin();
  ASSERT_TRUE(scene.store.stage(work, scene.set, all_committed(scene.set)).ok());
  ChangeSet forgotten{.trees = scene.set.trees, .changes = {scene.set.changes[0], scene.set.changes[2]}};
  ASSERT_TRUE(scene.store.forget(work, forgotten).ok());
  const StoredSet now = scene.store.find(work.header.id).value();
  ASSERT_EQ(now.changes.changes.size(), scene.set.changes.size() - 2);
  EXPECT_EQ(now.changes.changes[0], scene.set.changes[1]);
  EXPECT_EQ(now.verdicts.size(), now.changes.changes.size());
}

}  // namespace
}  // namespace cloche
