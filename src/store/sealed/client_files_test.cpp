// What a session of Claude Code stored for itself: only its own, and nothing that another user or a link
// could have put there.
#include "store/sealed/client_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

const std::string own = "4b8ab9df-78a5-47e3-8db7-16c25a7178ab";
const std::string other = "23503a8f-e330-4e17-86f8-7ed4273af815";

// A home with a configuration of the client's and a /tmp beside it, as the client makes them.
class AgentSessionFiles : public testing::Test {
 protected:
  AgentSessionFiles() {
    ::umask(022);
    fs::create_directories(results());
    fs::create_directories(config() / "plans");
    fs::create_directories(tasks());
    fs::permissions(temporary(), static_cast<fs::perms>(01777));
    fs::permissions(claude(), static_cast<fs::perms>(0700));
    session = *client_files((projects() / (own + ".jsonl")).string(), own);
    session.temporary = temporary();
  }

  fs::path config() const { return root() / "home/.claude"; }
  fs::path projects() const { return config() / "projects/-p"; }
  fs::path results() const { return projects() / own / "tool-results"; }
  fs::path temporary() const { return root() / "tmp"; }
  fs::path claude() const { return temporary() / ("claude-" + std::to_string(::geteuid())); }
  fs::path tasks() const { return claude() / "-p" / own / "tasks"; }
  fs::path root() const { return fs::canonical(scratch.path); }

  static std::string write(const fs::path& path, const std::string& text = "x") {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  bool stored(const fs::path& path) const { return is_stored_output(session, path); }

  Scratch scratch;
  ClientFiles session;
};

TEST_F(AgentSessionFiles, ByTheClientsOwnFields) {
  const auto read = client_files("/h/.claude/projects/-p/" + own + ".jsonl", own);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (ClientFiles{.config = "/h/.claude", .project = "-p", .id = own}));
  const std::pair<std::string, std::string> rows[] = {
      {"", own},
      {"/x", own},
      {"/h/.claude/projects/-p/" + own + ".jsonl", other},
      {"/h/.claude/projects/-p/" + own + ".jsonl", "s-1"},
      {"/h/.claude/projects/-p/s-1.jsonl", "s-1"},
      {"/h/.claude/projects/-p/..jsonl", "."},
      {"/h/.claude/projects/../" + own + ".jsonl", own},
      {"h/.claude/projects/-p/" + own + ".jsonl", own},
      {"/h/.claude/project/-p/" + own + ".jsonl", own},
      {"/projects/-p/" + own + ".jsonl", own},
      {"/h/.claude/projects/-p/" + own + ".jsonl/", own},
      {"/h/.claude//projects/-p/" + own + ".jsonl", own},
  };
  for (const auto& [transcript, id] : rows) EXPECT_FALSE(client_files(transcript, id)) << transcript;
}

TEST_F(AgentSessionFiles, WhatItStoredIsItsOwn) {
  EXPECT_TRUE(stored(write(results() / "a1.txt")));
  EXPECT_TRUE(stored(write(tasks() / "b2.output")));
  EXPECT_FALSE(stored(results() / "absent.txt"));
}

TEST_F(AgentSessionFiles, NothingElseIs) {
  EXPECT_FALSE(stored(write(projects() / (own + ".jsonl")))) << "the transcript";
  EXPECT_FALSE(stored(write(projects() / own / "subagents/agent-1.jsonl")));
  EXPECT_FALSE(stored(write(projects() / "memory/MEMORY.md")));
  EXPECT_FALSE(stored(write(projects() / own / "tool-results/deeper/a.txt")));
  EXPECT_FALSE(stored(write(projects() / other / "tool-results/a.txt"))) << "a sibling session";
  EXPECT_FALSE(stored(write(claude() / "-p" / other / "tasks/a.output")));
  EXPECT_FALSE(stored(write(claude() / "-q" / own / "tasks/a.output"))) << "another project";
  EXPECT_FALSE(stored(write(config() / "settings.json")));
  EXPECT_FALSE(stored(results()));
  write(results() / "a.txt");
  EXPECT_FALSE(is_stored_output(session, results().string() + "/../tool-results/a.txt"));
  EXPECT_FALSE(is_stored_output(session, results().string() + "//a.txt"));
  EXPECT_FALSE(is_stored_output(session, results().string() + "/a.txt/"));
  EXPECT_FALSE(is_stored_output(session, results().string() + std::string("/a.txt\0.jpg", 11)));
  EXPECT_EQ(::mkfifo((results() / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(stored(results() / "pipe"));
}

TEST_F(AgentSessionFiles, ALinkIsNot) {
  const fs::path secret = write(root() / "home/secret");
  fs::create_symlink(secret, results() / "link.txt");
  EXPECT_FALSE(stored(results() / "link.txt"));
  fs::create_hard_link(secret, results() / "hard.txt");
  EXPECT_FALSE(stored(results() / "hard.txt"));
  fs::create_hard_link(secret, tasks() / "hard.output");
  EXPECT_FALSE(stored(results() / "hard.txt")) << "three names";
  write(root() / "elsewhere/a.output");
  fs::remove_all(tasks());
  fs::create_directory_symlink(root() / "elsewhere", tasks());
  EXPECT_FALSE(stored(tasks() / "a.output")) << "a link on the way";
}

// The client links what a command wrote to tasks/ID.output as tool-results/ID.txt.
TEST_F(AgentSessionFiles, TheTwoNamesThatTheClientGivesCountAsOne) {
  write(tasks() / "bs8.output");
  fs::create_hard_link(tasks() / "bs8.output", results() / "bs8.txt");
  EXPECT_TRUE(stored(results() / "bs8.txt"));
  EXPECT_TRUE(stored(tasks() / "bs8.output"));
  fs::rename(tasks() / "bs8.output", tasks() / "bs9.output");
  EXPECT_FALSE(stored(results() / "bs8.txt")) << "the other name is not the client's";
}

TEST_F(AgentSessionFiles, ADirectoryThatOthersCanWriteIsNot) {
  write(tasks() / "a.output");
  for (const unsigned mode : {0777U, 0755U, 0770U, 0701U, 01777U}) {
    fs::permissions(claude(), static_cast<fs::perms>(mode));
    EXPECT_FALSE(stored(tasks() / "a.output")) << std::oct << mode;
  }
  fs::permissions(claude(), static_cast<fs::perms>(0700));
  EXPECT_TRUE(stored(tasks() / "a.output")) << "the control";
  fs::permissions(tasks(), static_cast<fs::perms>(0777));
  EXPECT_FALSE(stored(tasks() / "a.output"));
  write(results() / "a.txt");
  EXPECT_TRUE(stored(results() / "a.txt")) << "the control";
  fs::permissions(projects(), static_cast<fs::perms>(0757));
  EXPECT_FALSE(stored(results() / "a.txt"));
}

TEST_F(AgentSessionFiles, WhatAnotherUserPlantedIsNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files away";
  write(tasks() / "a.output");
  write(results() / "a.txt");
  EXPECT_EQ(::chown((results() / "a.txt").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(stored(results() / "a.txt")) << "a file of another user";
  EXPECT_EQ(::chown(claude().c_str(), 65534, 65534), 0);
  EXPECT_FALSE(stored(tasks() / "a.output")) << "a planted /tmp/claude-UID";
  EXPECT_EQ(::chown(claude().c_str(), 0, 0), 0);
  EXPECT_TRUE(stored(tasks() / "a.output")) << "the control";
  EXPECT_EQ(::chown((claude() / "-p").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(stored(tasks() / "a.output"));
}

TEST_F(AgentSessionFiles, ThePlanIsTheOneOfTheTranscript) {
  const std::string mine = R"({"sessionId": ")" + own + R"(", )";
  const std::string others = R"({"sessionId": ")" + other + R"(", )";
  write(projects() / (own + ".jsonl"), mine + R"("type": "x"})"
                                              "\n");
  EXPECT_FALSE(plan_file(session, 0).ok()) << "none is named";
  write(projects() / (own + ".jsonl"), mine +
                                           R"("slug": "old-plan"})"
                                           "\n" +
                                           mine +
                                           R"("slug": "do-it-1"})"
                                           "\n" +
                                           mine +
                                           R"("message": {"slug": "not-this", "t": "\"slug\":\"nor-this\""}})"
                                           "\n" +
                                           others +
                                           R"("slug": "not-mine"})"
                                           "\n{\"sessionId\"");
  const auto plan = plan_file(session, 0);
  ASSERT_TRUE(plan.ok()) << describe(plan.error());
  const std::string expected = (config() / "plans/do-it-1.md").string();
  EXPECT_EQ(plan.value(), expected);
  write(expected);
  EXPECT_TRUE(plan_file(session, 0).ok());
  fs::create_hard_link(expected, root() / "second");
  EXPECT_FALSE(plan_file(session, 0).ok()) << "two names";
  fs::remove(expected);
  fs::create_symlink(root() / "second", expected);
  EXPECT_FALSE(plan_file(session, 0).ok()) << "a link";
  fs::remove(expected);
  fs::permissions(config() / "plans", static_cast<fs::perms>(0777));
  EXPECT_FALSE(plan_file(session, 0).ok());
  fs::permissions(config() / "plans", static_cast<fs::perms>(0755));
  EXPECT_TRUE(plan_file(session, 0).ok()) << "the control";
  for (const char* name : {"../settings", "a/b", "", "A", "-x", "a.b"}) {
    write(projects() / (own + ".jsonl"), mine + R"("slug": ")" + name + "\"}\n");
    EXPECT_FALSE(plan_file(session, 0).ok()) << name;
  }
}

TEST_F(AgentSessionFiles, ThePlanMayBeNamedAMomentLater) {
  std::thread client([&] {
    ::usleep(100'000);
    write(projects() / (own + ".jsonl"), R"({"sessionId": ")" + own + R"(", "slug": "late"})");
  });
  EXPECT_TRUE(plan_file(session, 10'000).ok());
  client.join();
}

TEST_F(AgentSessionFiles, ThePlanIsFoundAtTheEndOfALongTranscript) {
  const std::string line =
      R"({"sessionId": ")" + own + R"(", "slug": "the-plan", "t": ")" + std::string(1 << 20, 'x') + "\"}\n";
  write(projects() / (own + ".jsonl"), line + line + line + line + line + line);
  const auto plan = plan_file(session, 0);
  ASSERT_TRUE(plan.ok()) << describe(plan.error());
  EXPECT_EQ(plan.value(), (config() / "plans/the-plan.md").string());
}

}  // namespace
}  // namespace cloche
