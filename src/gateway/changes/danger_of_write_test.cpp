// One patch of an agent's own tool: files that are harmless one by one, and not together.
#include "gateway/changes/danger_of_write.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/scratch.hpp"

namespace cloche {
namespace {

using Paths = std::vector<std::string>;

struct Row {
  const char* what;
  Paths there;  // directories of the project
  Paths written;
  std::string dangerous;  // empty: nothing is
};

std::string dangerous_of(const Row& row, const Paths& written) {
  const Scratch scratch;
  const std::string workspace = scratch.path + "/ws";
  for (const auto& path : {workspace, scratch.path + "/state"}) std::filesystem::create_directories(path);
  for (const auto& path : row.there) std::filesystem::create_directories(workspace + "/" + path);
  Paths whole;
  for (const auto& path : written) whole.push_back(workspace + "/" + path);
  const auto danger = danger_of_writes(workspace, whole, scratch.path + "/state", {});
  EXPECT_TRUE(danger.ok()) << describe(danger.error());
  if (!danger.ok() || !danger.value()) return "";
  EXPECT_FALSE(danger.value()->why.empty());
  return danger.value()->path;
}

const Row rows[] = {
    {"plain files", {}, {"a", "d/b"}, ""},
    {"a repository made by one patch", {}, {"x/HEAD", "x/config", "x/objects/a", "x/refs/a"}, "x/config"},
    {"likewise with a hook",
     {},
     {"x/HEAD", "x/hooks/pre-push", "x/objects/a", "x/refs/a"},
     "x/hooks/pre-push"},
    {"but for its parts that are there", {"x/objects", "x/refs"}, {"x/HEAD", "x/hooks/own"}, "x/hooks/own"},
    {"two of them that make no repository", {}, {"x/HEAD", "x/config", "x/objects/a"}, ""},
};

TEST(DangerOfWrites, IsThatOfAllOfThemTogether) {
  for (const auto& row : rows) {
    EXPECT_EQ(dangerous_of(row, row.written), row.dangerous) << row.what;
    for (const auto& path : row.written) EXPECT_EQ(dangerous_of(row, {path}), "") << row.what << ": " << path;
  }
}

// What git obeys beside configurations and hooks: the text is taken for the worst one.
TEST(DangerOfWrites, OfWhatAStoppedRebaseReads) {
  const Row repository{"", {".git/objects", ".git/refs", ".git/rebase-merge", ".git/sequencer"}, {}, ""};
  for (const char* path :
       {".git/rebase-merge/git-rebase-todo", ".git/rebase-merge/strategy", ".git/sequencer/opts"})
    EXPECT_EQ(dangerous_of(repository, {path}), path);
  EXPECT_EQ(dangerous_of(repository, {".git/rebase-merge/message"}), "");
}

}  // namespace
}  // namespace cloche
