// For the unit tests of stored change sets: a scene with a state directory, and a commit that is killed.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "store/commit/change_sets.hpp"
#include "store/commit/commit_fixture.hpp"
#include "store/commit/undo.hpp"

namespace cloche {

inline constexpr const char* this_boot = "this-boot";

// A scene with a state directory.
struct StoreScene : CommitScene {
  using CommitScene::CommitScene;
  Transfer transfer = Transfer::rename;
  std::string state = scratch.path + "/state";
  ChangeSets store = ChangeSets(state, this_boot);

  // The state directory, and so the undo directory, on another file system than the project.
  void keep_state_in_memory() {
    char place[] = "/dev/shm/cloche-test-XXXXXX";
    ASSERT_NE(::mkdtemp(place), nullptr);
    state = place;
    store = ChangeSets(state, this_boot);
  }
  ~StoreScene() {
    if (state != scratch.path + "/state") (void)remove_entry(hold("/dev/shm").get(), last_of(state));
  }

  SetHeader header() const {
    SetHeader header;
    header.workspace = know_directory(project).value();
    header.trees = {{header.workspace, know_directory(upper).value(), {}, transfer}};
    return header;
  }
  Result<Committed> commit(const CommitOptions& options = {}) const {
    auto begun = store.begin(header());
    EXPECT_TRUE(begun.ok()) << describe(begun.error());
    return store.commit(begun.value(), this->set, all_committed(this->set), options);
  }
  StoredSet last() const {
    for (const SetHeader& header : store.list(know_directory(project).value()))
      if (header.status == SetStatus::committed && header.undoes.empty())
        return store.find(header.id).value();
    ADD_FAILURE() << "nothing was committed";
    return {};
  }
  // Commits a plan, and answers with the id of the new set.
  std::string undo_by(const UndoPlan& plan, const std::string& id, const CommitOptions& options = {}) {
    EXPECT_TRUE(plan.conflicts.empty()) << plan.conflicts.front().path << " " << plan.conflicts.front().what;
    SetHeader again = header();
    again.trees = plan.trees;
    again.undoes = id;
    auto begun = store.begin(again);
    EXPECT_TRUE(begun.ok());
    const auto committed = store.commit(begun.value(), plan.changes, plan.verdicts, plan.planned, options);
    EXPECT_TRUE(committed.ok());
    EXPECT_EQ(committed.value().end, CommitEnd::committed) << text_of(committed.value());
    begun.value().lock.reset();
    EXPECT_TRUE(store.record_undone(id, plan.changes).ok());
    return begun.value().header.id;
  }
};

inline bool all_allowed(const StoredSet&) { return true; }

// Ends the process after that many steps, as a kill would.
inline void commit_and_die(const StoreScene& scene, size_t last_step) {
  const pid_t child = ::fork();
  if (child == 0) {
    CommitOptions options;
    options.after_step = [&](size_t step) {
      if (step == last_step) ::_exit(7);
    };
    (void)scene.commit(options);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace cloche
