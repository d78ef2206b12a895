#include "policy/gates/client_files.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cloche {
namespace {

using Kind = FileFact::Kind;

constexpr CallerIds caller{.user = 1000, .group = 1000};

ClientFileFact directory(unsigned uid, unsigned mode) {
  return {.kind = Kind::directory, .uid = uid, .gid = uid, .mode = mode, .names = 2};
}
ClientFileFact file(uint64_t inode = 7) {
  return {
      .kind = Kind::file, .uid = 1000, .gid = 1000, .mode = 0644, .names = 1, .device = 1, .inode = inode};
}
DirectoriesFact home() { return {directory(0, 0755), directory(1000, 0755), directory(1000, 0700)}; }
StoredFileFact in_tasks() {
  return {.directories = {directory(0, 0755), directory(0, 01777), directory(1000, 0700)},
          .first_below_tmp = directory(1000, 0700),
          .file = file()};
}

TEST(ClientFiles, DirectoriesThatOthersCanWriteToAreOpen) {
  const struct {
    const char* what;
    ClientFileFact directory;
    bool closed;
  } rows[] = {
      {"the caller's", directory(1000, 0755), true},
      {"root's", directory(0, 0755), true},
      {"another user's", directory(7, 0755), false},
      {"written by all", directory(1000, 0777), false},
      {"written by all, sticky", directory(0, 01777), true},
      {"another user's, sticky", directory(7, 01777), false},
      {"written by the caller's own group", directory(1000, 0775), true},
      {"written by root's group", directory(0, 0775), false},
      {"no directory", file(), false},
      {"absent, or a link", {}, false},
  };
  for (const auto& row : rows) {
    DirectoriesFact all = home();
    all.insert(all.begin() + 1, row.directory);
    EXPECT_EQ(are_closed_to_others(all, caller), row.closed) << row.what;
  }
  EXPECT_FALSE(are_closed_to_others({}, caller));
  EXPECT_FALSE(are_closed_to_others({{.kind = Kind::directory, .mode = 0775}}, {0, 0}))
      << "the group root is not root's alone";
}

TEST(ClientFiles, StoredOutputHasOnlyTheClientsNames) {
  const StoredOutputFact plain{.named = {.directories = home(), .file = file()}};
  const StoredOutputFact linked = [] {
    StoredOutputFact fact{.named = {.directories = home(), .file = file()}, .other = in_tasks()};
    fact.named.file.names = fact.other->file.names = 2;
    return fact;
  }();
  const struct {
    const char* what;
    StoredOutputFact fact;
    std::function<void(StoredOutputFact&)> change;
    bool is_output;
  } rows[] = {
      {"plain", plain, [](auto&) {}, true},
      {"absent", plain, [](auto& fact) { fact.named.file = {}; }, false},
      {"a directory", plain, [](auto& fact) { fact.named.file.kind = Kind::directory; }, false},
      {"another user's", plain, [](auto& fact) { fact.named.file.uid = 7; }, false},
      {"root's", plain, [](auto& fact) { fact.named.file.uid = 0; }, false},
      {"in an open directory", plain, [](auto& fact) { fact.named.directories[1].mode = 0777; }, false},
      {"a second name", plain, [](auto& fact) { fact.named.file.names = 2; }, false},
      {"the client's two names", linked, [](auto&) {}, true},
      {"a third one", linked, [](auto& fact) { fact.named.file.names = 3; }, false},
      {"another file by that name", linked, [](auto& fact) { fact.other->file.inode = 8; }, false},
      {"on another device", linked, [](auto& fact) { fact.other->file.device = 2; }, false},
      {"none by that name", linked, [](auto& fact) { fact.other->file = {}; }, false},
      {"its directory is open", linked, [](auto& fact) { fact.other->directories[2].mode = 0777; }, false},
      {"a planted /tmp/claude-UID", linked, [](auto& fact) { fact.other->first_below_tmp->uid = 0; }, false},
      {"with a wider mode", linked, [](auto& fact) { fact.other->first_below_tmp->mode = 0755; }, false},
      {"sticky", linked, [](auto& fact) { fact.other->first_below_tmp->mode = 01700; }, false},
  };
  for (const auto& row : rows) {
    StoredOutputFact fact = row.fact;
    row.change(fact);
    EXPECT_EQ(is_output_of_session(fact, caller), row.is_output) << row.what;
  }
}

TEST(ClientFiles, ThePlanIsKnownOrNot) {
  const PlanFileFact known{.directory = "/c/plans",
                           .directories = home(),
                           .transcript = file(),
                           .name = "do-it-1",
                           .exists = true,
                           .file = file()};
  const struct {
    std::function<void(PlanFileFact&)> change;
    const char* said;  // the path, or the end of the refusal
  } rows[] = {
      {[](auto&) {}, "/c/plans/do-it-1.md"},
      {[](auto& fact) { fact.exists = false, fact.file = {}; }, "/c/plans/do-it-1.md"},
      {[](auto& fact) { fact.file = {}; }, "/c/plans/do-it-1.md is not a file of the caller's with one name"},
      {[](auto& fact) { fact.file.names = 2; },
       "/c/plans/do-it-1.md is not a file of the caller's with one name"},
      {[](auto& fact) { fact.file.uid = 7; },
       "/c/plans/do-it-1.md is not a file of the caller's with one name"},
      {[](auto& fact) { fact.directories[2].mode = 0777; }, "/c/plans is not the caller's alone"},
      {[](auto& fact) { fact.transcript = {}; }, "the transcript is not a file of the caller's"},
      {[](auto& fact) { fact.transcript.names = 2; }, "the transcript is not a file of the caller's"},
      {[](auto& fact) { fact.name.reset(); }, "the transcript does not name it"},
      {[](auto& fact) { fact.name = "../x"; }, "the transcript names it in an unknown way"},
      {[](auto& fact) { fact.name = "-x"; }, "the transcript names it in an unknown way"},
      {[](auto& fact) { fact.name = ""; }, "the transcript names it in an unknown way"},
  };
  for (const auto& row : rows) {
    PlanFileFact fact = known;
    row.change(fact);
    const auto judged = judge_plan_file(fact, caller);
    const std::string refused = "the agent's plan file is not known: " + std::string(row.said);
    EXPECT_EQ(judged.ok() ? judged.value() : describe(judged.error()), judged.ok() ? row.said : refused);
  }
}

}  // namespace
}  // namespace cloche
