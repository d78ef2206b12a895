#include "policy/authority/declared_files.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Kind = FileFact::Kind;

std::string said(const Result<void>& judged) { return judged.ok() ? "" : describe(judged.error()); }

TEST(JudgeDeclaration, IsAFileOfBoundedSizeThatIsThere) {
  const struct {
    DeclarationFact fact;
    const char* said;
  } rows[] = {
      {{.kind = Kind::file, .bytes = 10, .resolved = "/d/f"}, ""},
      {{.kind = Kind::file, .bytes = 11, .resolved = "/d/f"}, "f is longer than 10 bytes"},
      {{.kind = Kind::link}, "f is a symbolic link; name the file that it leads to"},
      {{.kind = Kind::directory, .resolved = "/d/f"}, "f is not a regular file"},
      {{.kind = Kind::other, .resolved = "/d/f"}, "f is not a regular file"},
      {{.kind = Kind::file}, "f has no place any more"},
  };
  for (const auto& row : rows) {
    DeclarationFact fact = row.fact;
    fact.path = "f";
    EXPECT_EQ(said(judge_declaration(fact, 10)), row.said);
  }
}

TEST(JudgeExecutor, ItsCodeIsAFileReachedThroughNoLink) {
  const Executor executor{.name = "x", .source = "m.json", .folder = "/x", .code = "/x/run"};
  const struct {
    FileFact code;
    const char* said;
  } rows[] = {
      {{.kind = Kind::file, .path = "/x/run"}, ""},
      {{.path = "/x/run"},
       "m.json: the code /x/run cannot be opened; code is a path beneath the manifest's folder"},
      {{.kind = Kind::file, .path = "/y", .turns = {"/x/run"}},
       "m.json: the code /x/run is reached through a link"},
      {{.kind = Kind::directory, .path = "/x/run"}, "m.json: the code /x/run is not a regular file"},
  };
  for (const auto& row : rows) EXPECT_EQ(said(judge_executor_code(executor, row.code)), row.said);
}

TEST(JudgeExecutor, ItsFolderStaysTheOneThatWasLoaded) {
  Executor executor{.name = "x", .folder = "/x"};
  executor.folder_fact = {.kind = Kind::directory, .path = "/x", .device = 1, .inode = 2};
  EXPECT_EQ(said(judge_executor_folder(executor.folder_fact)), "");
  EXPECT_EQ(said(judge_unchanged(executor, executor.folder_fact)), "");
  const std::string changed =
      "the folder /x of the executor x has changed since it was loaded; look at what lies there now, and "
      "start again";
  EXPECT_EQ(said(judge_unchanged(executor, {.path = "/x"})), changed);
  EXPECT_EQ(said(judge_unchanged(executor, {.kind = Kind::directory, .path = "/x", .device = 1, .inode = 3})),
            changed);
  EXPECT_EQ(said(judge_unchanged(executor, {.kind = Kind::directory, .path = "/x", .device = 3, .inode = 2})),
            changed);
  FileFact linked = executor.folder_fact;
  linked.turns = {"/x"};
  EXPECT_EQ(said(judge_unchanged(executor, linked)), changed);
  EXPECT_EQ(said(judge_executor_folder(linked)), "/x is a link, and was none a moment ago");
}

TEST(JudgeExecutor, ManyLieInADirectory) {
  EXPECT_EQ(said(judge_executors_directory({.kind = Kind::directory, .path = "/x"})), "");
  EXPECT_EQ(said(judge_executors_directory({.kind = Kind::file, .path = "/x"})),
            "/x is not a directory of executors");
}

TEST(JudgeExecutor, NoTwoHaveOneName) {
  const Executor a{.name = "a", .source = "1"};
  const Executor b{.name = "b", .source = "2"};
  EXPECT_EQ(said(judge_executor_names({a, b})), "");
  EXPECT_EQ(said(judge_executor_names({a, b, {.name = "a", .source = "3"}})), "3: the name a is taken by 1");
}

}  // namespace
}  // namespace cloche
