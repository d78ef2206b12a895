// What a killed process left in a project that cannot be reached for a while, or that was not copied from it.
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "store/commit/store_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

enum class Killed { before_the_first_step, after_the_first_step, while_it_copies_what_is_kept };

constexpr size_t large = size_t{1} << 20;

// Its state directory is on another mount, and what is replaced is larger than what is new.
struct TwoMounts : StoreScene {
  TwoMounts()
      : StoreScene({{"a", a_file(std::string(large, '1'))}, {"b", a_file("1")}},
                   {{"a", a_file("2")}, {"b", a_file("2")}}) {
    keep_state_in_memory();
  }
};

// No copy of what is kept has place: the kernel kills the process, or where that ignores it fails the write.
void let_no_copy_be_made() {
  const rlimit most{large / 2, large / 2};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &most), 0);
}

int run_in_child(const std::function<void()>& what) {
  const pid_t child = ::fork();
  if (child == 0) {
    what();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void commit_and_be_killed(const StoreScene& scene, Killed when) {
  const int status = run_in_child([&] {
    CommitOptions options;
    if (when == Killed::while_it_copies_what_is_kept) {
      let_no_copy_be_made();
    } else if (when == Killed::after_the_first_step) {
      options.after_step = [](size_t) { ::raise(SIGKILL); };
    } else {
      options.before_first = [](const std::vector<Step>&) -> Result<void> {
        ::raise(SIGKILL);
        return {};
      };
    }
    (void)scene.commit(options);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
}

std::vector<std::string> left_in(const std::string& project) {
  auto names = names_in(project);
  std::erase_if(names, [](const auto& name) { return !name.starts_with(".cloche-commit-"); });
  return names;
}

TEST(RecoverSets, NothingIsFinishedWithoutAJudge) {
  StoreScene scene({{"a", a_file("1")}, {"b", a_file("1")}}, {{"a", a_file("2")}, {"b", a_file("2")}});
  commit_and_die(scene, 0);
  const auto recovered = scene.store.recover({});
  ASSERT_EQ(recovered.size(), 1U);
  EXPECT_EQ(recovered[0].status, SetStatus::staged);
  EXPECT_EQ(read_tree(scene.project), scene.before);
  EXPECT_EQ(scene.store.list()[0].why,
            "its commit was interrupted, and taken back: the changes are no longer allowed");
}

TEST(RecoverSets, ASetWhoseProjectCannotBeOpenedWaitsForIt) {
  for (const Killed when :
       {Killed::before_the_first_step, Killed::after_the_first_step, Killed::while_it_copies_what_is_kept}) {
    const TwoMounts scene;
    commit_and_be_killed(scene, when);
    ASSERT_EQ(left_in(scene.project).size(), 1U);
    const SetStatus status = scene.store.list().at(0).status;
    // As a disk that is not mounted, and then as one of which another directory is seen at the name.
    const std::string away = scene.scratch.path + "/away";
    fs::rename(scene.project, away);
    for (const bool is_another_there : {false, true}) {
      if (is_another_there) fs::create_directory(scene.project);
      scene.store.recover_interrupted(all_allowed);
      (void)scene.store.recover(all_allowed);
      ASSERT_EQ(scene.store.list().size(), 1U) << static_cast<int>(when);
      EXPECT_EQ(scene.store.list()[0].status, status);
    }
    fs::remove(scene.project);
    fs::rename(away, scene.project);
    scene.store.recover_interrupted(all_allowed);  // finds it by its mark
    EXPECT_EQ(left_in(scene.project), std::vector<std::string>()) << static_cast<int>(when);
    EXPECT_EQ(read_tree(scene.project), when == Killed::before_the_first_step ? scene.before : scene.after);
    EXPECT_EQ(scene.store.list().size(), when == Killed::before_the_first_step ? 0U : 1U);
  }
}

// What came of a project that is gone holds up nothing.
TEST(RecoverSets, AnOpenSetWithNothingInAProjectThatIsGoneGoes) {
  const StoreScene scene({}, {{"a", a_file("1")}});
  auto begun = scene.store.begin(scene.header());
  begun.value().lock.reset();
  fs::rename(scene.project, scene.scratch.path + "/away");
  EXPECT_EQ(scene.store.recover(all_allowed).at(0).status, SetStatus::dropped);
  EXPECT_TRUE(scene.store.list().empty());
}

TEST(RecoverSets, WhatCouldNotBeCopiedFromTheProjectIsLater) {
  for (const bool is_undone : {false, true}) {
    TwoMounts scene;
    const int status = run_in_child([&] {
      ::signal(SIGXFSZ, SIG_IGN);
      let_no_copy_be_made();
      (void)scene.commit();
    });
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(left_in(scene.project).size(), 1U);
    const std::string id = scene.last().header.id;
    const std::string undo = scene.state + "/changes/" + id + "/undo-0";
    EXPECT_TRUE(names_in(undo).empty()) << "half a copy takes up space";
    scene.store.recover_interrupted(all_allowed);  // a call does not try again
    EXPECT_EQ(left_in(scene.project).size(), 1U);
    if (is_undone) {
      const auto plan = plan_undo(scene.last(), {});
      ASSERT_TRUE(plan.ok()) << describe(plan.error());
      scene.undo_by(plan.value(), id);
      EXPECT_EQ(read_tree(scene.project), scene.before);
      continue;
    }
    EXPECT_TRUE(scene.store.recover(all_allowed).empty());
    EXPECT_EQ(read_tree(scene.project), scene.after);
    EXPECT_FALSE(names_in(undo).empty());
    const auto plan = plan_undo(scene.last(), {});
    ASSERT_TRUE(plan.ok()) << describe(plan.error());
    scene.undo_by(plan.value(), id);
    EXPECT_EQ(read_tree(scene.project), scene.before);
  }
}

// What waits in a committed set is brought in by another one, with the same trees.
TEST(RecoverSets, WhatOneSetKeepsIsNotRemovedWithAnother) {
  const StoreScene scene({{"a", a_file("1")}}, {{"a", a_file("2")}});
  ASSERT_TRUE(scene.commit().ok());
  const StoredSet first = scene.last();
  SetHeader header = scene.header();
  header.trees = first.header.trees;
  auto second = scene.store.begin(header);
  ASSERT_TRUE(second.ok());
  const auto refused = scene.store.commit(second.value(), scene.set, all_committed(scene.set),
                                          {.bounds = UndoBounds{.count = 0}});
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused.value().end, CommitEnd::refused);
  EXPECT_TRUE(open_known(first.header.trees[0].undo).ok());
}

TEST(RecoverSets, TheReserveComesWithTheDirectoriesOfACommit) {
  const Scratch scratch;
  ChangeSets(scratch.path, this_boot).make_reserve();
  for (const char* name : {"changes", "changes-in-work", "changes-of-tasks", "commit-locks"})
    EXPECT_TRUE(fs::is_directory(scratch.path + "/" + name)) << name;
}

}  // namespace
}  // namespace cloche
