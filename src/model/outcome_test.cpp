// The JSON of `run --json` is relied upon: keys may be added, never changed.
#include "model/outcome.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cloche {
namespace {

bool has(const std::string& json, const std::string& part) { return json.find(part) != std::string::npos; }

TEST(Outcome, DefaultIsAFailureOfOurs) {
  const Outcome outcome;
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_EQ(outcome.exit_code, 125);
}

TEST(Outcome, EndsHaveTheNamesOfTheContract) {
  const std::pair<End, const char*> rows[] = {
      {End::exited, "exited"},   {End::signaled, "signaled"},
      {End::timeout, "timeout"}, {End::limit, "limit"},
      {End::refused, "refused"}, {End::not_found, "not_found"},
      {End::failed, "failed"},   {End::not_executable, "not_executable"},
  };
  for (const auto& [end, name] : rows) EXPECT_EQ(name_of(end), name);
}

TEST(Outcome, OfADefaultOneHasEveryKey) {
  EXPECT_EQ(
      to_json(Outcome{}, "sha256:00"),
      R"({"outcome":"failed","exit_code":125,"signal":null,"limit":null,"stdout":"","stderr":"",)"
      R"("stdout_bytes":0,"stderr_bytes":0,"truncated":false,"lossy":false,)"
      R"("usage":{"wall_ms":0,"cpu_ms":0,"max_rss_bytes":0},"backend":"native","layers":[],"denials":[],)"
      R"("network":[],"network_failures":[],)"
      R"("quarantined":[],"restored":[],"look_gap":null,"proof":"","plan_digest":"sha256:00","reason":"","notes":[]})");
}

TEST(Outcome, OfAFullOneHasEveryValue) {
  Outcome outcome{.end = End::limit, .exit_code = 137, .signal = 9, .limit = LimitId::memory};
  outcome.output = "out\n";
  outcome.errors = "err";
  outcome.output_bytes = 4;
  outcome.error_bytes = 3;
  outcome.truncated = true;
  outcome.usage = {1, 2, 3, 4, 5};
  outcome.layers = {{LayerId::user_ids, "userns"}, {LayerId::memory_limit, "cgroup2"}};
  outcome.denials = {{Enforcer::limit, "too much"}};
  outcome.network = {{"a.org", 443, 2, 10, 20},
                     {.connections = 7, .bytes_out = 8, .bytes_in = 9, .more_hosts = 6}};
  outcome.network_failures = {"b.org:443 could not be reached"};
  outcome.quarantined = {{".envrc", "direnv runs it", "/q/1/.envrc", "/w/.envrc"}};
  outcome.restored = {".npmrc"};
  outcome.look_gap = "too deep";
  outcome.proof = "sha256:proof";
  outcome.reason = "because";
  EXPECT_EQ(
      to_json(outcome, "sha256:ff", {"stepped down"}),
      R"({"outcome":"limit","exit_code":137,"signal":9,"limit":"memory","stdout":"out\n","stderr":"err",)"
      R"("stdout_bytes":4,"stderr_bytes":3,"truncated":true,"lossy":false,)"
      R"("usage":{"wall_ms":1,"cpu_ms":2,"max_rss_bytes":3,"memory_peak_bytes":4,"memory_overshoot_bytes":5},)"
      R"("backend":"native","layers":[{"name":"user-ids","by":"userns"},{"name":"memory-limit","by":"cgroup2"}],)"
      R"("denials":[{"by":"limit","what":"too much"}],)"
      R"("network":[{"host":"a.org","port":443,"connections":2,"bytes_out":10,"bytes_in":20},)"
      R"({"more_hosts":6,"connections":7,"bytes_out":8,"bytes_in":9}],)"
      R"("network_failures":["b.org:443 could not be reached"],)"
      R"("quarantined":[{"path":".envrc","reason":"direnv runs it","kept_at":"/q/1/.envrc","host_path":"/w/.envrc"}],)"
      R"("restored":[".npmrc"],)"
      R"("look_gap":"too deep","proof":"sha256:proof","plan_digest":"sha256:ff",)"
      R"("reason":"because","notes":["stepped down"]})");
}

TEST(Outcome, WhatWasTakenAwayIsSaidInLines) {
  Outcome outcome;
  EXPECT_TRUE(quarantine_lines(outcome, Asks::operators).empty());
  for (int i = 0; i < 25; ++i) outcome.quarantined.push_back({"a\x1b/.envrc", "direnv runs it"});
  outcome.restored = {".npmrc"};
  const auto lines = quarantine_lines(outcome, Asks::model);
  ASSERT_EQ(lines.size(), 22U);
  EXPECT_EQ(lines[0].find('\x1b'), std::string::npos);
  EXPECT_TRUE(lines[0].ends_with("/.envrc (direnv runs it)")) << lines[0];
  EXPECT_EQ(lines[20], "quarantined: 5 more");
  EXPECT_EQ(lines[21], "put back as it was: .npmrc");
}

TEST(Outcome, TheOperatorReadsWhereItIsAndHowToKeepIt) {
  Outcome outcome;
  outcome.quarantined = {{".envrc", "direnv runs it", "/q 1/.envrc", "/w/.envrc"},
                         {".npmrc", "npm reads it"}};
  const auto lines = quarantine_lines(outcome, Asks::operators);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0],
            "quarantined: .envrc (direnv runs it); it is in /q 1/.envrc, and to keep it: mv '/q 1/.envrc' "
            "/w/.envrc");
  EXPECT_EQ(lines[1], "quarantined: .npmrc (npm reads it)");
  EXPECT_EQ(quarantine_lines(outcome, Asks::model)[0], "quarantined: .envrc (direnv runs it)");
}

TEST(Outcome, LastWordsGiveAGuess) {
  struct Row {
    const char* said;
    GuessTerms terms;
    const char* guess;   // the beginning, behind "a guess by its last words: "
    const char* advice;  // a part of what the operator reads beside it
  };
  const GuessTerms layered{.has_layer = true};
  const GuessTerms live{.kept_paths = {".envrc", ".git/config"}};
  const Row rows[] = {
      {"mv: Invalid cross-device link", layered, "a directory that was in the project", "; --live "},
      {"mv: Invalid cross-device link", live, "", ""},
      {"error: could not write config file .git/config: Device or resource busy", live,
       ".git/config is read-only", "; --allow-protected .git/config "},
      {"sh: 1: cannot create .git/config: Read-only file system", live, ".git/config is read-only",
       "--allow-protected"},
      {"sh: 1: cannot create .git/config: Read-only file system", layered, "", ""},
      {"sh: 1: cannot create .git/config: Permission denied", live, "", ""},
      {"sh: 1: cannot create /usr/x: Read-only file system", live, "", ""},
      {"strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted", layered, "no program is traced here",
       "; --grant debug "},
      {"strace: PTRACE_SETOPTIONS: Operation not permitted", live, "no program is traced here",
       "; --grant debug "},
      {"warning: ptrace: Operation not permitted.", {.may_trace = true}, "", ""},
      {"ptrace: No such process", layered, "", ""},
      {"npm error rofs EROFS: read-only file system, mkdtemp '/home/u/.npm/_cacache/tmp/x'", layered,
       "npm's cache is read-only here", "; --toolchains none "},
      {"npm error rofs EROFS: read-only file system, mkdir '/usr/lib/x'", layered, "", ""},
      {"chown: Operation not permitted", layered, "", ""},
      {"", layered, "", ""},
  };
  for (const auto& row : rows) {
    const Guess guess = guess_by_last_words(row.said, row.terms);
    const std::string expected =
        *row.guess == 0 ? "" : "a guess by its last words: " + std::string(row.guess);
    EXPECT_TRUE(guess.said.starts_with(expected)) << row.said << ": " << guess.said;
    EXPECT_EQ(guess.said.empty(), expected.empty()) << row.said << ": " << guess.said;
    EXPECT_EQ(guess.said.find("--allow"), std::string::npos) << "a model reads it";
    EXPECT_NE(guess.advice.find(row.advice), std::string::npos) << row.said << ": " << guess.advice;
  }
}

TEST(Outcome, WhatCouldNotBeLookedAtIsNoSuccess) {
  Outcome well{.end = End::exited, .exit_code = 0, .output = "out"};
  distrust(well, "it took too long");
  EXPECT_EQ(well.end, End::failed);
  EXPECT_EQ(well.exit_code, 125);
  EXPECT_EQ(well.look_gap, "it took too long");
  EXPECT_EQ(well.output, "out");
  EXPECT_EQ(well.reason.text(),
            "the look for protected files was not complete: it took too long; do not trust this tree; the "
            "command itself exited with 0");
  // Nothing of what it wrote is in the project: the tree is as it was.
  Outcome lost{.end = End::exited, .exit_code = 0};
  fail_changes(lost, "it is gone");
  EXPECT_EQ(lost.end, End::failed);
  EXPECT_EQ(lost.exit_code, 125);
  EXPECT_EQ(lost.look_gap, "it is gone");
  EXPECT_EQ(lost.reason.text(), "it is gone; the command itself exited with 0");
  Outcome late{.end = End::timeout, .exit_code = 124, .reason = "ended after 1 s"};
  distrust(late, "x");
  EXPECT_TRUE(late.reason.text().ends_with("the command itself ended so: ended after 1 s")) << late.reason;
}

TEST(Outcome, NamesEachLimitAsTheTableDoes) {
  for (const auto& row : limit_table) {
    Outcome outcome;
    outcome.limit = row.id;
    EXPECT_TRUE(has(to_json(outcome, ""), "\"limit\":\"" + std::string(row.name) + "\""));
  }
}

TEST(Outcome, SaysWhenTextStandsForOtherBytes) {
  Outcome outcome;
  outcome.errors = "caf\xe9";
  EXPECT_TRUE(has(to_json(outcome, ""), R"("lossy":true)"));
  EXPECT_TRUE(has(to_json(outcome, ""), "caf\xef\xbf\xbd"));
  outcome.errors = "café";
  EXPECT_TRUE(has(to_json(outcome, ""), R"("lossy":false)"));
}

TEST(Outcome, IsOneLineWhateverTheCommandSaid) {
  Outcome outcome;
  for (int byte = 0; byte < 256; ++byte) outcome.output += static_cast<char>(byte);
  outcome.reason = "two\nlines";
  EXPECT_FALSE(has(to_json(outcome, ""), "\n"));
}

std::string shown(const std::vector<HostUse>& uses) {
  std::string text;
  for (const auto& use : uses) {
    text += use.more_hosts > 0 ? "+" + std::to_string(use.more_hosts) : use.name;
    text += " " + std::to_string(use.connections) + " " + std::to_string(use.bytes_out) + " " +
            std::to_string(use.bytes_in) + "; ";
  }
  return text;
}

TEST(Busiest, HostsAreKeptAndTheRestIsOneSum) {
  const std::vector<HostUse> all = {
      {"a", 443, 1, 5, 900}, {"b", 443, 1, 5, 7}, {"c", 80, 2, 1, 1}, {"exfil", 443, 1, 99, 0}};
  const struct {
    size_t most;
    const char* answer;
  } rows[] = {
      {9, "a 1 5 900; b 1 5 7; c 2 1 1; exfil 1 99 0; "},
      {4, "a 1 5 900; b 1 5 7; c 2 1 1; exfil 1 99 0; "},
      {3, "exfil 1 99 0; a 1 5 900; b 1 5 7; +1 2 1 1; "},
      {1, "exfil 1 99 0; +3 4 11 908; "},
      {0, "+4 5 110 908; "},
  };
  for (const auto& row : rows) EXPECT_EQ(shown(busiest(all, row.most)), row.answer) << row.most;
}

// The outcome's list is shortened again for the transcript.
TEST(Busiest, TwiceCountsEveryHostOnce) {
  std::vector<HostUse> all;
  for (uint64_t i = 0; i < 100; ++i) all.push_back({"h" + std::to_string(i), 443, 1, i, 2 * i});
  const auto twice = busiest(busiest(all, 10), 5);
  EXPECT_EQ(shown(twice), shown(busiest(all, 5)));
  EXPECT_EQ(twice.back().more_hosts, 95U);
  EXPECT_EQ(shown(busiest(busiest(all, 10), 10)), shown(busiest(all, 10)));
}

}  // namespace

}  // namespace cloche
