#include "store/commit/commit.hpp"

#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <functional>

#include "store/commit/commit_fixture.hpp"
#include "store/layers/open_writers.hpp"

namespace cloche {
namespace {

TEST(Commit, BringsEveryKindOfChange) {
  const CommitScene scene({{"kept", a_file("kept")},
                           {"changed", a_file("old")},
                           {"gone", a_file("gone")},
                           {"tree", a_directory()},
                           {"tree/deep", a_directory()},
                           {"tree/deep/f", a_file("x")},
                           {"file-to-directory", a_file("f")},
                           {"directory-to-link", a_directory()},
                           {"directory-to-link/f", a_file("f")}},
                          {{"kept", a_file("kept")},
                           {"changed", a_file("new", 0755)},
                           {"added", a_directory(0555)},
                           {"added/f", a_file("f", 0000)},
                           {"file-to-directory", a_directory(0700)},
                           {"file-to-directory/f", a_file("f")},
                           {"directory-to-link", a_link("kept")}});
  const Committed committed = scene.run();
  ASSERT_EQ(committed.end, CommitEnd::committed) << text_of(committed);
  EXPECT_EQ(read_tree(scene.project), scene.after);
}

TEST(Commit, RandomTreesEndAsTheirTarget) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    RandomTrees random(seed);
    const Model before = random.next();
    const CommitScene scene(before, random.changed(before));
    const Committed committed = scene.run({}, seed % 3 == 0 ? Transfer::copy : Transfer::rename);
    ASSERT_EQ(committed.end, CommitEnd::committed) << seed << " " << text_of(committed);
    ASSERT_EQ(read_tree(scene.project), scene.after) << seed;
  }
}

// What is withheld is not there, and everything else is.
TEST(Commit, RandomVerdictsLeaveOutWhatIsWithheld) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    RandomTrees random(seed + 1000);
    const Model before = random.next();
    const CommitScene scene(before, random.changed(before));
    auto verdicts = all_committed(scene.set);
    for (auto& verdict : verdicts) {
      if (random.below(8) == 0) verdict.fate = random.below(2) == 0 ? Fate::withheld : Fate::asked;
    }
    const auto planned = plan_steps(scene.set, verdicts);
    Model expected = before;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const bool is_left = std::find(planned.left.begin(), planned.left.end(), i) != planned.left.end();
      if (verdicts[i].fate != Fate::committed || is_left) continue;
      const auto& path = scene.set.changes[i].path;
      if (scene.set.changes[i].after) {
        expected[path] = scene.after.at(path);
      } else {
        expected.erase(path);
      }
    }
    const CommitTree trees[] = {scene.tree()};
    const auto committed = commit(trees, planned.steps, {});
    ASSERT_TRUE(committed.ok());
    ASSERT_EQ(committed.value().end, CommitEnd::committed) << seed << " " << text_of(committed.value());
    ASSERT_EQ(read_tree(scene.project), expected) << seed;
  }
}

// The last step fails, whichever it is: a target appears after the check.
TEST(Commit, TakesEverythingBackWhenAStepFails) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    RandomTrees random(seed + 2000);
    const Model before = random.next();
    Model after = random.changed(before);
    after["zz-last"] = a_file("new");
    const CommitScene scene(before, after);
    const Model upper = read_tree(scene.upper);
    CommitOptions options;
    options.before_first = [&](const std::vector<Step>&) -> Result<void> {
      make_node(scene.project + "/zz-last", a_file("the host's"));
      return {};
    };
    const Committed committed = scene.run(options, seed % 3 == 0 ? Transfer::copy : Transfer::rename);
    ASSERT_EQ(committed.end, CommitEnd::taken_back) << seed << " " << text_of(committed);
    Model expected = before;
    expected["zz-last"] = a_file("the host's");
    ASSERT_EQ(read_tree(scene.project), expected) << seed;
    ASSERT_EQ(read_tree(scene.upper), upper) << seed;
    ASSERT_EQ(read_tree(scene.undo), Model{}) << seed;
  }
}

TEST(Commit, StripsOverlaysAttributesAtAnyDepth) {
  CommitScene scene({}, {{"d", a_directory(0555)},
                         {"d/e", a_directory(0000)},
                         {"d/e/f", a_file("f", 0444)},
                         {"f", a_file("f", 0400)}});
  const auto mark = [&](const std::string& path, unsigned mode) {
    const std::string whole = scene.upper + "/" + path;
    ::chmod(whole.c_str(), 0700);
    const int set = ::setxattr(whole.c_str(), "user.overlay.origin", "x", 1, 0);
    ::setxattr(whole.c_str(), "user.kept", "x", 1, 0);
    return set == 0 ? mode : 0;
  };
  for (const char* path : {"d", "d/e", "d/e/f", "f"}) {
    if (mark(path, 1) == 0) GTEST_SKIP() << "skipped: no attributes of users on this file system";
  }
  ::chmod((scene.upper + "/f").c_str(), 0400);
  ::chmod((scene.upper + "/d/e/f").c_str(), 0444);
  ::chmod((scene.upper + "/d/e").c_str(), 0000);
  ::chmod((scene.upper + "/d").c_str(), 0555);
  const Committed committed = scene.run();
  ASSERT_EQ(committed.end, CommitEnd::committed) << text_of(committed);
  EXPECT_EQ(read_tree(scene.project), scene.after);
  ::chmod((scene.project + "/d/e").c_str(), 0700);
  for (const char* path : {"d", "d/e", "d/e/f", "f"}) {
    const std::string whole = scene.project + "/" + path;
    EXPECT_LT(::getxattr(whole.c_str(), "user.overlay.origin", nullptr, 0), 0) << path;
    EXPECT_EQ(errno, ENODATA) << path;
    EXPECT_EQ(::getxattr(whole.c_str(), "user.kept", nullptr, 0), errno == EACCES ? -1 : 1) << path;
  }
}

TEST(Commit, OtherNameOfAFileKeepsItsBytes) {
  const CommitScene scene({{"f", a_file("old")}}, {{"f", a_file("new")}});
  ASSERT_EQ(::link((scene.project + "/f").c_str(), (scene.scratch.path + "/other").c_str()), 0);
  ASSERT_EQ(scene.run().end, CommitEnd::committed);
  EXPECT_EQ(sys::read_file(scene.project + "/f").value(), "new");
  EXPECT_EQ(sys::read_file(scene.scratch.path + "/other").value(), "old");
}

struct Late {
  const char* name;
  std::function<void(const CommitScene&)> happens;
  Model expected;
};

// With the times that make_node() gives, which the old content had as well.
void write_in_place(const std::string& path, const std::string& text) {
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const timespec time{a_file(text).modified_ns / 1'000'000'000, 0};
  const timespec times[2] = {time, time};
  EXPECT_EQ(::futimens(file.get(), times), 0);
}

// What the host does before the check, or between the check and the first rename, is never overwritten.
TEST(Commit, KeepsWhatTheHostDidMeanwhile) {
  const Model before = {{"d", a_directory()}, {"d/f", a_file("old")}, {"g", a_file("old")}};
  const Model after = {{"d", a_directory()}, {"d/f", a_file("new")}, {"d/n", a_file("new")}};
  const auto replaced = [&](const std::string& path) {
    Model model = before;
    model[path] = a_file("host");
    return model;
  };
  Model moved = {{"d", a_link("e")}, {"e", a_directory()}, {"e/f", a_file("old")}, {"g", a_file("old")}};
  Model gone = before;
  gone.erase("d/f");
  const std::vector<Late> rows = {
      {"a target appears", [](const CommitScene& s) { make_node(s.project + "/d/n", a_file("host")); },
       replaced("d/n")},
      {"a file is replaced",
       [](const CommitScene& s) {
         make_node(s.project + "/x", a_file("host"));
         ::rename((s.project + "/x").c_str(), (s.project + "/d/f").c_str());
       },
       replaced("d/f")},
      {"a deleted file is replaced",
       [](const CommitScene& s) {
         make_node(s.project + "/x", a_file("host"));
         ::rename((s.project + "/x").c_str(), (s.project + "/g").c_str());
       },
       replaced("g")},
      {"a file is written in place", [](const CommitScene& s) { write_in_place(s.project + "/d/f", "host"); },
       replaced("d/f")},
      {"a deleted file is written in place",
       [](const CommitScene& s) { write_in_place(s.project + "/g", "host"); }, replaced("g")},
      {"a file goes", [](const CommitScene& s) { ::unlink((s.project + "/d/f").c_str()); }, gone},
      {"a directory becomes a link",
       [](const CommitScene& s) {
         ::rename((s.project + "/d").c_str(), (s.project + "/e").c_str());
         ASSERT_EQ(::symlink("e", (s.project + "/d").c_str()), 0);
       },
       moved},
  };
  for (const Late& row : rows) {
    const CommitScene early(before, after);
    row.happens(early);
    EXPECT_EQ(early.run().end, CommitEnd::refused) << row.name;
    EXPECT_EQ(read_tree(early.project), row.expected) << row.name;
    const CommitScene late(before, after);
    CommitOptions options;
    options.before_first = [&](const std::vector<Step>&) -> Result<void> {
      row.happens(late);
      return {};
    };
    const Committed committed = late.run(options);
    EXPECT_EQ(committed.end, CommitEnd::taken_back) << row.name << text_of(committed);
    EXPECT_EQ(read_tree(late.project), row.expected) << row.name;
  }
}

// It could write to the file when everything has been checked.
TEST(Commit, AFileThatTheHostHasOpenStays) {
  const CommitScene scene({{"f", a_file("old")}, {"a", a_file("old")}}, {{"f", a_file("new")}});
  const OwnedFd held(::open((scene.project + "/f").c_str(), O_WRONLY | O_CLOEXEC));
  if (!grants_leases(scene.fds[2].get())) GTEST_SKIP() << "skipped: no leases on this file system";
  const Committed committed = scene.run();
  EXPECT_EQ(committed.end, CommitEnd::taken_back) << text_of(committed);
  EXPECT_EQ(read_tree(scene.project), scene.before);
}

// After the check and before its step.
TEST(Commit, AFileThatTheHostReplacesLateIsNamed) {
  CommitScene scene({{"c", a_file("old")}}, {{"c", a_file("new")}});
  CommitOptions options;
  options.before_first = [&](const std::vector<Step>&) -> Result<void> {
    make_node(scene.project + "/other", a_file("host"));
    EXPECT_EQ(::rename((scene.project + "/other").c_str(), (scene.project + "/c").c_str()), 0);
    return {};
  };
  const Committed committed = scene.run(options);
  EXPECT_EQ(text_of(committed), "taken back\n  'c' was changed by another process meanwhile");
  EXPECT_EQ(read_tree(scene.project).at("c").text, "host");
}

TEST(Commit, NamesEveryReasonAndDoesNothing) {
  const CommitScene scene({{"a", a_file("1")}, {"b", a_file("1")}, {"c", a_file("1")}},
                          {{"a", a_file("2")}, {"b", a_file("2")}, {"c", a_file("2")}});
  ::chmod((scene.project + "/a").c_str(), 0600);
  ::unlink((scene.project + "/b").c_str());
  const Committed committed = scene.run();
  EXPECT_EQ(text_of(committed), "refused\n  'a' has another mode by now\n  'b' is no longer there");
  EXPECT_EQ(sys::read_file(scene.project + "/c").value(), "1");
}

TEST(Commit, AnImmutableDirectoryRefuses) {
  const CommitScene scene({{"d", a_directory()}, {"f", a_file("1")}},
                          {{"d", a_directory()}, {"d/n", a_file("n")}, {"f", a_file("2")}});
  const OwnedFd directory(::open((scene.project + "/d").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int flags = 0;
  const int immutable = FS_IMMUTABLE_FL;
  if (::ioctl(directory.get(), FS_IOC_GETFLAGS, &flags) != 0 ||
      ::ioctl(directory.get(), FS_IOC_SETFLAGS, &immutable) != 0)
    GTEST_SKIP() << "skipped: the immutable flag needs root and a file system that has it";
  const Committed committed = scene.run();
  ::ioctl(directory.get(), FS_IOC_SETFLAGS, &flags);
  EXPECT_EQ(text_of(committed), "refused\n  'd/n' is in a directory that is immutable or append-only");
  EXPECT_EQ(read_tree(scene.project), scene.before);
}

// In a mount namespace of the child's own: the project on a small tmpfs, the upper layer on another mount.
TEST(Commit, AFullDiskRefusesACopyAndLosesNothing) {
  const Model before = {{"a", a_file("1")}, {"gone", a_file("1")}};
  Model after = {{"a", a_file("2")}, {"d", a_directory()}};
  after["d/big"] = a_file(std::string(size_t{4} << 20, 'x'));
  Scratch mounted;
  const CommitScene scene(before, after);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", mounted.path.c_str(), "tmpfs", 0, "size=1m") != 0)
      ::_exit(77);
    make_tree(mounted.path, {{"project", a_directory()}, {"undo", a_directory()}});
    make_tree(mounted.path + "/project", before);
    const OwnedFd project = CommitScene::hold(mounted.path + "/project");
    const OwnedFd undo = CommitScene::hold(mounted.path + "/undo");
    const CommitTree renamed[] = {{project.get(), scene.fds[1].get(), undo.get(), Transfer::rename}};
    const CommitTree copied[] = {{project.get(), scene.fds[1].get(), undo.get(), Transfer::copy}};
    const bool is_good = commit(renamed, scene.steps(), {}).value().end == CommitEnd::refused &&
                         commit(copied, scene.steps(), {}).value().end == CommitEnd::refused &&
                         read_tree(mounted.path + "/project") == before &&
                         names_in(mounted.path + "/undo").empty() && read_tree(scene.upper).size() == 3 &&
                         ::mount("tmpfs", mounted.path.c_str(), "tmpfs", MS_REMOUNT, "size=16m") == 0 &&
                         commit(copied, scene.steps(), {}).value().end == CommitEnd::committed &&
                         read_tree(mounted.path + "/project") == after;
    ::_exit(is_good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "skipped: a mount namespace needs root";
  EXPECT_EQ(status, 0);
}

TEST(Commit, DeepTreesComeAndGo) {
  constexpr int depth = 2000;
  CommitScene scene({}, {});
  OwnedFd at = CommitScene::hold(scene.upper);
  std::string path;
  Model model;
  for (int i = 0; i < depth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "deep", 0755), 0);
    at = open_child(at.get(), "deep", O_PATH | O_DIRECTORY);
    path += path.empty() ? "deep" : "/deep";
    model[path] = a_directory();
  }
  ChangeSet set = difference({}, model);
  const CommitTree trees[] = {scene.tree()};
  const auto added = commit(trees, plan_steps(set, all_committed(set)).steps, {});
  ASSERT_EQ(added.value().end, CommitEnd::committed) << text_of(added.value());
  set = difference(model, {});
  const auto removed = commit(trees, plan_steps(set, all_committed(set)).steps, {});
  ASSERT_EQ(removed.value().end, CommitEnd::committed) << text_of(removed.value());
  EXPECT_TRUE(names_in(scene.project).empty());
}

}  // namespace
}  // namespace cloche
