// --secret and --env-file: the command has the value, and nothing else shows it.
#include <signal.h>

#include <sstream>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

// The names, by id, of all processes in whose `file` below /proc the value is.
std::map<int, std::string> processes_showing(const std::string& value, const char* file) {
  std::map<int, std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string command = read_file(entry.path() / "comm");  // first: it may end meanwhile
    if (contains(read_file(entry.path() / file), value)) found[std::stoi(name)] = std::move(command);
  }
  return found;
}

// A word that is nowhere else.
std::string fresh_value() { return "s3cret" + read_file("/proc/sys/kernel/random/uuid").substr(0, 36); }

std::string hash_line(const std::string& variable) { return "printf %s \"$" + variable + "\" | sha256sum; "; }

class Secrets : public Run {
 protected:
  void SetUp() override {
    Run::SetUp();
    token_file_ = scene().write("private/token", token_ + "\n", 0600);
    env_file_ = scene().write("private/vars.env", "# of the service\n\nSERVICE_KEY='" + key_ + "'\n", 0600);
  }
  std::vector<std::string> flags(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--secret", "API_TOKEN=@" + token_file_, "--env-file", env_file_, "--secret",
                             "MY_PASSWORD"});
    return more;
  }
  Command how() const { return {.env = {{"MY_PASSWORD", password_}}}; }
  std::vector<std::string> values() const { return {token_, key_, password_}; }
  std::string hashes_outside() const {
    std::string script;
    for (const auto& value : values()) script += "printf %s " + value + " | sha256sum; ";
    return outside(script).out;
  }
  Ran explained(std::vector<std::string> more) const {
    Command command = under(flags(std::move(more)), {"true"}, how());
    command.argv.insert(command.argv.begin() + 1, "explain");
    return run(command);
  }

  const std::string token_ = fresh_value(), key_ = fresh_value(), password_ = fresh_value();
  std::string token_file_, env_file_;
};
FOR_EVERYONE(Secrets);

const std::string prints_hashes =
    hash_line("API_TOKEN") + hash_line("SERVICE_KEY") + hash_line("MY_PASSWORD");

TEST_P(Secrets, TheCommandHasThemOnEveryBackendAndNoOtherProcessShowsThem) {
  const std::string hashes = hashes_outside();
  for (const std::string backend : {"native", "subprocess", "bwrap", "runc", "crun", "runsc"}) {
    const bool is_box = backend != "native" && backend != "subprocess";
    if (is_box && !installed(backend)) continue;
    fs::remove(workspace() / "go");
    fs::remove(workspace() / "ready");
    const std::string waits = ": > ready; until [ -e go ]; do sleep 0.05; done";
    Started started(
        under(flags({"--live", "--backend", backend}), {"bash", "-c", prints_hashes + waits}, how()));
    wait_for("ready");
    for (const auto& value : values()) {
      EXPECT_TRUE(processes_showing(value, "cmdline").empty()) << backend;
      for (const auto& [pid, name] : processes_showing(value, "environ")) {
        const bool is_commands = name == "bash\n" || name == "sleep\n";
        const bool is_first_in_box = is_box && name == "cloche-jail\n";
        const bool gave_it = value == password_ && pid == started.pid();
        EXPECT_TRUE(is_commands || is_first_in_box || gave_it) << backend << ": " << name;
      }
    }
    file("go", "");
    const Ran ran = started.finish();
    EXPECT_TRUE(printed(ran, hashes)) << backend;
  }
}

TEST_P(Secrets, AValueOfAnOrdinaryVariableIsShown) {
  Started started(under({"--live", "-e", "API_TOKEN=" + token_},
                        {"bash", "-c", ": > ready; until [ -e go ]; do sleep 0.05; done"}));
  wait_for("ready");
  EXPECT_TRUE(processes_showing(token_, "cmdline").contains(started.pid()));
  EXPECT_FALSE(processes_showing(token_, "environ").empty()) << "the search finds what is there";
  file("go", "");
  EXPECT_TRUE(exited(started.finish(), 0));
  const Ran shown = cloche_run({"--dry-run", "-e", "API_TOKEN=" + token_}, {"true"});
  EXPECT_TRUE(contains(shown.out, token_));
}

TEST_P(Secrets, NoRecordNoFileAndNoAnswerHasThem) {
  const std::string record = scene().root() / "record";
  ASSERT_TRUE(exited(outside("mkdir -p " + record), 0));
  fs::permissions(scene().root(), fs::perms::all);
  std::string said;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"--json"}, {"--run", record + "/run", "--json"}, {"--task", "t1"}}) {
    const Ran ran = cloche_run(flags(more), {"bash", "-c", prints_hashes + "echo x > made"}, how());
    ASSERT_TRUE(exited(ran, 0));
    said += ran.out + ran.err;
  }
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{}, {"--json"}}) {
    const Ran explained_run = explained(more);
    ASSERT_TRUE(exited(explained_run, 0));
    auto dry_flags = more;
    dry_flags.emplace_back("--dry-run");
    const Ran dry = cloche_run(flags(dry_flags), {"true"}, how());
    ASSERT_TRUE(exited(dry, 0));
    said += explained_run.out + explained_run.err + dry.out + dry.err;
    for (const auto& text : {explained_run.out, dry.out})
      EXPECT_TRUE(more.empty() ? contains(text, "API_TOKEN (secret)")
                               : contains(text, "\"API_TOKEN\":\"hmac-sha256:"))
          << text;
  }
  for (const auto& value : values()) {
    EXPECT_FALSE(contains(said, value));
    for (const std::string& place : {state_home(as()), record})
      EXPECT_TRUE(exited(run({.argv = {"grep", "-rqaF", value, place}}), 1)) << place;
  }
  // The control: the same search finds what is there.
  EXPECT_TRUE(exited(run({.argv = {"grep", "-rqaF", "plan_digest", state_home(as())}}), 0));
}

TEST_P(Secrets, ACoreOfOursHasNone) {
  Started started(
      under(flags({"--live"}), {"bash", "-c", ": > ready; until [ -e go ]; do sleep 0.05; done"}, how()));
  wait_for("ready");
  const std::string limits = read_file("/proc/" + std::to_string(started.pid()) + "/limits");
  const size_t line = limits.find("Max core file size");
  ASSERT_NE(line, std::string::npos);
  std::istringstream words(limits.substr(line + std::string_view("Max core file size").size()));
  int soft = -1;
  int hard = -1;
  words >> soft >> hard;
  EXPECT_LE(soft, 1);
  EXPECT_LE(hard, 1);
  file("go", "");
  EXPECT_TRUE(exited(started.finish(), 0));
}

TEST_P(Secrets, TheDigestTellsWhetherAValueIsTheSame) {
  const auto digest = [&] { return answer(flags(), {"true"}, how()).json["plan_digest"].string; };
  const std::string first = digest();
  EXPECT_TRUE(contains(first, "sha256:"));
  EXPECT_EQ(digest(), first);
  EXPECT_TRUE(contains(explained({}).out, first)) << "explain comes to the digest of the run";
  scene().write("private/token", "another\n", 0600);
  EXPECT_NE(digest(), first);
}

// A call may have put it there.
TEST_P(Secrets, ALinkWhereCallsWriteIsNotFollowed) {
  ASSERT_TRUE(exited(cloche_run({"--live"}, {"bash", "-c",
                                             "ln -s " + token_file_ + " tok; ln -s " + env_file_ +
                                                 " .env; mkdir real; echo A=1 > real/f; ln -s real d"}),
                     0));
  const std::string link = workspace().string() + "/tok";
  const std::vector<std::string> refused_flags[] = {
      {"--secret", "A=@tok"}, {"--secret", "A=@" + link}, {"--env-file", ".env"}, {"--env-file", "d/f"}};
  for (const auto& given : refused_flags) {
    const Ran ran = cloche_run(given, {"touch", "started"});
    EXPECT_TRUE(refused(ran, {125}, {given[0] + " " + given[1] + " is reached through ", "calls can write"}))
        << ran.err;
    Command explained_run = under(given, {"true"});
    explained_run.argv.insert(explained_run.argv.begin() + 1, "explain");
    EXPECT_FALSE(exited(run(explained_run), 0)) << given[1];
    EXPECT_FALSE(is_there("started"));
  }
  EXPECT_TRUE(printed(cloche_run({"--env-file", "real/f"}, {"bash", "-c", "echo $A"}), "1\n"));
  const std::string outside_link = scene().root() / "private/link";
  ASSERT_TRUE(exited(outside("ln -s token " + outside_link), 0));
  EXPECT_TRUE(exited(cloche_run({"--secret", "A=@" + outside_link}, {"test", "-n", "A"}), 0));
}

TEST_P(Secrets, WhatIsMissingOrBadRefusesWithoutAValue) {
  const std::string bad = scene().write("private/bad.env", "A=1\nB=" + token_ + " # x\n", 0600);
  struct Row {
    std::vector<std::string> flags;
    std::string word;
  };
  const Row rows[] = {{{"--secret", "NOT_SET"}, "NOT_SET"},
                      {{"--secret", "A=@" + workspace().string() + "/none"}, "/none"},
                      {{"--secret", "A=" + token_}, "@FILE"},
                      {{"--env-file", workspace().string() + "/none"}, "/none"},
                      {{"--env-file", bad}, bad + ":2: "}};
  for (const auto& [given, word] : rows) {
    const Ran ran = cloche_run(given, {"touch", "started"});
    EXPECT_TRUE(refused(ran, {2, 125, 126}, {word})) << word;
    EXPECT_FALSE(contains(ran.out + ran.err, token_)) << ran.err;
    EXPECT_FALSE(is_there("started"));
  }
}

}  // namespace
}  // namespace cloche::test
