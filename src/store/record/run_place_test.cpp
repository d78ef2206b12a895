// Which names are taken, where a run is, and what is refused although it is there.
#include "store/record/run_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "store/record/prune.hpp"
#include "store/record/record_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

TEST(RunIds, SortByTime) {
  EXPECT_EQ(make_run_id(0, 0), "r-19700101-000000-0000");
  EXPECT_EQ(make_run_id(1'794'868'215, 0xab12), "r-20261116-223015-ab12");
  EXPECT_LT(make_run_id(1'794'868'215, 0xffff), make_run_id(1'794'868'216, 0));
  EXPECT_TRUE(is_bare_word(make_run_id(253'402'300'799, 0xffff)));
}

class RunPlaces : public RecordTest {
 protected:
  static std::string mode_of(const std::string& path) {
    struct stat seen {};
    EXPECT_EQ(::lstat(path.c_str(), &seen), 0) << path;
    char text[8];
    std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(seen.st_mode & 07777U));
    return text;
  }
  // Why a run cannot be opened; empty: it can.
  static std::string refusal_of(const RunPlace& where) {
    const auto run = open_run(where);
    if (!run.ok()) return describe(run.error());
    const auto begun = run.value()->begin(a_decision("T-001"));
    return begun.ok() ? "" : describe(begun.error());
  }
};

TEST_F(RunPlaces, GivenAndNew) {
  const RunPlace given = place();
  EXPECT_EQ(given.run_id(), "run");
  EXPECT_EQ(given.workspace(), given.directory + "/artifacts");
  EXPECT_EQ(given.transcripts(), given.directory + "/artifacts/tool_calls");
  const auto fresh = place_new_run(state());
  ASSERT_TRUE(fresh.ok()) << describe(fresh.error());
  EXPECT_EQ(fresh.value().workspace(), "");
  EXPECT_EQ(fresh.value().transcripts(), fresh.value().directory + "/tool_calls");
  EXPECT_TRUE(is_bare_word(fresh.value().run_id()));
  EXPECT_FALSE(place_new_run("").ok());
}

TEST_F(RunPlaces, AreFoundAgain) {
  const RunPlace given = place();
  EXPECT_EQ(find_run("last", state()).value().directory, given.directory);
  const RunPlace fresh = place_new_run(state()).value();
  write_call(*open(fresh), "T-001", "x");
  EXPECT_EQ(find_run("last", state()).value().directory, fresh.directory);
  EXPECT_EQ(find_run(fresh.run_id(), state()).value().layout, RunLayout::state);
  EXPECT_EQ(find_run(fresh.directory, "").value().layout, RunLayout::state) << "by what lies in it";
  EXPECT_EQ(find_run(given.directory, state()).value().layout, RunLayout::given);
  EXPECT_EQ(mode_of(state() + "/last"), "0600");
  for (const char* word : {"r-none", "../no-such-run", "/nowhere", "", "."})
    EXPECT_EQ(find_run(word, state()).ok(), std::string(word) == ".") << word;
  EXPECT_FALSE(find_run("last", "").ok());
  fs::remove_all(fresh.directory);
  EXPECT_FALSE(find_run("last", state()).ok());
}

TEST_F(RunPlaces, NothingOfOursIsOpenToOthers) {
  const mode_t before = ::umask(0);
  const RunPlace given = place();
  const RunPlace fresh = place_new_run(state()).value();
  for (const RunPlace& where : {given, fresh}) {
    write_call(*open(where), "T-001", "x");
    const std::string calls = where.transcripts();
    for (const auto& directory : {where.directory, calls, calls + "/T-001"})
      EXPECT_EQ(mode_of(directory), "0700") << directory;
    for (const auto& file :
         {where.audit(), calls + "/T-001.jsonl", calls + "/T-001/c-0001.txt", where.directory + "/.lock"})
      EXPECT_EQ(mode_of(file), "0600") << file;
  }
  EXPECT_EQ(mode_of(given.workspace()), "0755");
  EXPECT_EQ(mode_of(state() + "/heads"), "0700");
  for (const auto& head : fs::directory_iterator(state() + "/heads")) EXPECT_EQ(mode_of(head.path()), "0600");
  ::umask(before);
}

void plant(const std::string& path, const std::string& as, const std::string& target) {
  if (as == "link") return fs::create_symlink(target, path);
  if (as == "dangling") return fs::create_symlink("nothing", path);
  if (as == "fifo") return static_cast<void>(::mkfifo(path.c_str(), 0600));
  const bool directory = as == "directory" || as == "open directory";
  directory ? static_cast<void>(fs::create_directory(path)) : put_text(path, "before");
  const bool open = as == "open" || as == "open directory";
  fs::permissions(path, fs::perms(open ? 0722 : 0700));
  if (as == "twice") fs::create_hard_link(path, path + ".too");
}

struct Planted {
  std::string what;  // below the run directory
  std::string as;    // as plant() has it
  std::string says;
};

TEST_F(RunPlaces, WhatOthersCouldHavePlantedIsRefusedWithoutWaiting) {
  const std::string calls = "artifacts/tool_calls";
  const Planted rows[] = {
      {"audit.jsonl", "link", "audit.jsonl is a link"},
      {"audit.jsonl", "dangling", "audit.jsonl is a link"},
      {"audit.jsonl", "fifo", "audit.jsonl is not a regular file"},
      {"audit.jsonl", "directory", "audit.jsonl is not a regular file"},
      {"audit.jsonl", "open", "audit.jsonl can be written by others"},
      {"audit.jsonl", "twice", "audit.jsonl has a second name"},
      {".lock", "link", ".lock is a link"},
      {".lock", "fifo", ".lock is not a regular file"},
      {calls, "link", "tool_calls is a link"},
      {calls, "fifo", "tool_calls is not a directory"},
      {calls, "file", "tool_calls is not a directory"},
      {calls, "open directory", "tool_calls can be written by others"},
      {calls + "/T-001.jsonl", "link", "T-001.jsonl is a link"},
      {calls + "/T-001.jsonl", "fifo", "T-001.jsonl is not a regular file"},
      {calls + "/T-001.jsonl", "open", "T-001.jsonl can be written by others"},
      {calls + "/T-001", "link", "T-001 is a link"},
      {calls + "/T-001", "file", "T-001 is not a directory"},
      {calls + "/T-001", "open directory", "T-001 can be written by others"},
  };
  put_text(scratch_.path + "/elsewhere", "precious");
  fs::create_directory(scratch_.path + "/elsewhere.d");
  int number = 0;
  for (const auto& [what, as, says] : rows) {
    const RunPlace where = place("run" + std::to_string(number++));
    const std::string path = where.directory + "/" + what;
    if (what.starts_with(calls + "/")) fs::create_directory(where.transcripts());
    if (fs::exists(where.transcripts())) fs::permissions(where.transcripts(), fs::perms::owner_all);
    const bool a_file = what.ends_with(".jsonl") || what == ".lock";
    plant(path, as, scratch_.path + (a_file ? "/elsewhere" : "/elsewhere.d"));
    EXPECT_NE(refusal_of(where).find(says), std::string::npos)
        << what << " as " << as << ": " << refusal_of(where);
  }
  EXPECT_EQ(text_in(scratch_.path + "/elsewhere"), "precious");
  EXPECT_TRUE(fs::is_empty(scratch_.path + "/elsewhere.d"));
}

TEST_F(RunPlaces, WhatBelongsToAnotherIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give a file away";
  const RunPlace where = place();
  write_call(*open(where), "T-001", "x");
  for (const auto& path : {where.audit(), where.transcripts(), where.transcripts() + "/T-001.jsonl",
                           where.transcripts() + "/T-001", where.directory}) {
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_NE(refusal_of(where).find(path + " belongs to another user"), std::string::npos) << path;
    EXPECT_EQ(verdict(where), "ok") << "root may look at it";
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(refusal_of(where), "");
}

TEST_F(RunPlaces, WithAWorkspaceElsewhereTheDirectoryHasTheRecordAlone) {
  const std::string directory = scratch_.path + "/beside";
  EXPECT_EQ(plan_given_run(directory, state(), RunWorkspace::elsewhere).value().transcripts(),
            directory + "/tool_calls");
  EXPECT_FALSE(fs::exists(directory));
  const RunPlace where = place_given_run(directory, state(), RunWorkspace::elsewhere).value();
  write_call(*open(where), "T-001", "x");
  EXPECT_FALSE(fs::exists(directory + "/artifacts"));
  EXPECT_EQ(where.own_files(), std::vector<std::string>{directory});
  EXPECT_EQ(verdict(find_run(directory, state()).value()), "ok");
  EXPECT_EQ(find_run("last", state()).value().directory, directory);
  // A workspace is not made beside a record that is there.
  for (const auto& without : {place_given_run(directory, state()), plan_given_run(directory, state())}) {
    ASSERT_FALSE(without.ok());
    EXPECT_NE(describe(without.error()).find("--workspace"), std::string::npos);
  }
  // Where there is one already, the record stays in it.
  const RunPlace inside = place("inside");
  write_call(*open(inside), "T-001", "x");
  const RunPlace again = place_given_run(inside.directory, state(), RunWorkspace::elsewhere).value();
  EXPECT_EQ(again.transcripts(), inside.transcripts());
  EXPECT_EQ(prune_run(where).value(), Pruned::task_homes) << "what the operator named is never removed";
  EXPECT_TRUE(fs::exists(where.audit()));
}

TEST_F(RunPlaces, AnOpenRunDirectoryIsRefused) {
  const RunPlace where = place();
  ASSERT_EQ(::chmod(where.directory.c_str(), 0777), 0);
  EXPECT_NE(refusal_of(where).find("can be written by others"), std::string::npos);
  EXPECT_FALSE(place_given_run(where.directory, state()).ok());
}

TEST_F(RunPlaces, ARawResultThatIsThereIsNeitherFollowedNorReplaced) {
  for (const std::string as : {"link", "fifo", "file"}) {
    const RunPlace where = place("run-" + as);
    const auto run = open(where);
    const DecisionRecord decided = a_decision("T-001");
    const std::string id = run->begin(decided).value();
    const std::string path = where.transcripts() + "/T-001/" + id + ".txt";
    plant(path, as, scratch_.path + "/target");
    EXPECT_FALSE(run->finish(a_call(decided, id, "x"), "x").ok()) << as;
    EXPECT_FALSE(fs::exists(scratch_.path + "/target"));
    EXPECT_TRUE(lines_in(where.transcripts() + "/T-001.jsonl").empty()) << "no line without its result";
    const auto recalled = run->recall("T-001", id, 0, 100);
    EXPECT_EQ(recalled.ok(), as == "file") << as;
  }
}

}  // namespace
}  // namespace cloche
