// The words of `cloche log`, and what it prints.
#include "doors/cli/log_command.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "doors/cli/log_text.hpp"
#include "store/record/record_fixture.hpp"

namespace cloche {
namespace {

struct ParseRow {
  std::vector<std::string> words;
  std::string answer;  // "action run task head older json", or the refusal
};

std::string parsed(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  const auto read = parse_log(pointers);
  if (!read.ok()) return (read.error().cause == Cause::usage ? "usage: " : "") + read.error().what.text();
  const LogArguments& arguments = read.value();
  constexpr const char* names[] = {"help", "list", "show", "verify", "tail", "prune"};
  return std::string(names[static_cast<int>(arguments.action)]) + " run=" + arguments.run +
         " task=" + arguments.task + " head=" + arguments.head + " older=" + arguments.older_than +
         (arguments.call.empty() ? "" : " call=" + arguments.call) + (arguments.denied ? " denied" : "") +
         (arguments.json ? " json" : "");
}

TEST(LogArguments, AreReadByTheTable) {
  const ParseRow rows[] = {
      {{"show", "last"}, "show run=last task= head= older="},
      {{"show", "--task", "T-1", "r", "--json"}, "show run=r task=T-1 head= older= json"},
      {{"tail", "./run1", "--task=T-1"}, "tail run=./run1 task=T-1 head= older="},
      {{"verify", "r", "--head", "abc"}, "verify run=r task= head=abc older="},
      {{"prune"}, "prune run= task= head= older="},
      {{"prune", "r"}, "prune run=r task= head= older="},
      {{"prune", "--older-than", "2h"}, "prune run= task= head= older=2h"},
      {{"--help"}, "help run= task= head= older="},
      {{"show", "-h"}, "help run= task= head= older="},
      {{}, "list run= task= head= older="},
      {{"list"}, "list run= task= head= older="},
      {{"list", "r"}, "usage: list takes no run"},
      {{"list", "--json"}, "list run= task= head= older= json"},
      {{"list", "--denied"}, "usage: unknown flag --denied"},
      {{"--json"}, "list run= task= head= older= json"},
      {{"--denied"}, "show run= task= head= older= denied"},
      {{"--task", "T-1", "--denied"}, "show run= task=T-1 head= older= denied"},
      {{"--denide"}, "usage: unknown flag --denide"},
      {{"show", "--denied"}, "show run= task= head= older= denied"},
      {{"show", "r", "--denied", "--json"}, "show run=r task= head= older= denied json"},
      {{"show", "r", "c-0007", "--denied"}, "usage: --denied is of a run, not of one call"},
      {{"show", "r", "c-0007"}, "show run=r task= head= older= call=c-0007"},
      {{"show", "a/r/c-0007"}, "show run=a/r task= head= older= call=c-0007"},
      {{"verify", "a/r/c-0007"}, "verify run=a/r/c-0007 task= head= older="},
      {{"verify", "r", "c-0007"}, "usage: one run at a time: unexpected argument 'c-0007'"},
      {{"lost"}, "usage: unknown action 'lost'; did you mean list?"},
      {{"show"}, "usage: name a run: its id, 'last' or its directory"},
      {{"show", ""}, "usage: one run at a time: unexpected argument ''"},
      {{"show", "a", "b", "c"}, "usage: one run at a time: unexpected argument 'c'"},
      {{"show", "a", "--head", "x"}, "usage: unknown flag --head"},
      {{"show", "a", "--task"}, "usage: --task needs a value"},
      {{"show", "a", "--task="}, "usage: a flag has an empty value"},
      {{"show", "a", "--follow"}, "usage: unknown flag --follow"},
      {{"prune", "--json"}, "usage: unknown flag --json"},
      {{"prune", "r", "--older-than", "2h"}, "usage: give a run or --older-than, not both"},
  };
  for (const auto& row : rows) EXPECT_EQ(parsed(row.words), row.answer);
  EXPECT_NE(parsed({"prune", "--older-than", "soon"}).find("--older-than"), std::string::npos);
  EXPECT_NE(parsed({"show", "a", "--task", "../x"}).find("is not a bare word"), std::string::npos);
}

class LogText : public RecordTest {};

TEST_F(LogText, ShowsEachCallAndTheGatesThatObjected) {
  const RunPlace where = place();
  const auto run = open(where);
  write_call(*run, "T-001", "fine");
  DecisionRecord denied = a_decision("T-002");
  denied.tool = "run\x1b[2Jshell";
  denied.args = "{\"cmd\":\"a | b\\u001b[31m" + std::string(500, 'x') + "\"}";
  denied.decision = Decision::deny;
  denied.verdicts.push_back({GateId::no_shell, Decision::deny, "no \x1b[31mpipe", "", ""});
  denied.verdicts.push_back({GateId::rules, Decision::ask, "asked", "r1 f:3", ""});
  CallRecord call = a_call(denied, run->begin(denied).value(), "refused");
  call.outcome.end = End::refused;
  ASSERT_TRUE(run->finish(call, "refused").ok());
  ASSERT_TRUE(run->begin(a_decision("T-001")).ok());

  const std::string table = log_table(read_log(where, "").value());
  for (const char* piece : {"c-0001", "T-001", "run_shell", "allow", "exit 0", R"({"cmd":"ls -la"})", "0 ms",
                            "refused", "no-shell: deny: no \\u{1b}[31mpipe", "rules: ask: asked (r1 f:3)",
                            "run\\u{1b}[2Jshell", "xxx...", "c-0003", "no result"})
    EXPECT_NE(table.find(piece), std::string::npos) << piece << "\n" << table;
  EXPECT_EQ(table.find('\x1b'), std::string::npos) << "a terminal acts on nothing in it";
  for (const auto& call_line : read_log(where, "T-002").value().calls) EXPECT_EQ(call_line.call_id, "c-0002");
  EXPECT_EQ(read_log_file(transcript("T-001")).value().calls.size(), 1U);
  EXPECT_EQ(log_table({}), "no calls\n");
}

constexpr Screen at_80{.columns = 80};
constexpr Screen at_40{.columns = 40};

TEST_F(LogText, ListsRunsWithWhatBecameOfTheirCalls) {
  const std::vector<RunSummary> runs = {
      {.run_id = "a", .written = "then", .calls = 7, .workspace = "/w"},
      {.run_id = "b", .written = "2026-11-19T15:30:04.000Z", .calls = 1, .counts = RunCounts{.refused = 1}},
      {.run_id = "c",
       .calls = 3,
       .workspace = "/home/somebody/a project",
       .counts = RunCounts{.changed = 3, .withheld = 1, .staged = 2}}};
  EXPECT_EQ(
      list_table(runs),
      "RUN                       WRITTEN              CALLS  REFUSED  CHANGES                 WORKSPACE\n"
      "a                         then                 7      -        -                       /w\n"
      "b                         2026-11-19 15:30:04  1      1        none\n"
      "c                                              3      0        3 changed, 1 withheld, 2 staged "
      "/home/somebody/a project\n");
  EXPECT_EQ(list_table(runs, at_80),
            "RUN  WRITTEN              CALLS  REFUSED  CHANGES\n"
            "    WORKSPACE\n"
            "a    then                 7      -        -\n"
            "    /w\n"
            "b    2026-11-19 15:30:04  1      1        none\n"
            "c                         3      0        3 changed, 1 withheld, 2 staged\n"
            "    /home/somebody/a project\n");
  EXPECT_EQ(list_table(runs, at_40),
            "RUN  WRITTEN              CALLS  REFUSED\n"
            "    CHANGES\n"
            "    WORKSPACE\n"
            "a    then                 7      -\n"
            "    -\n"
            "    /w\n"
            "b    2026-11-19 15:30:04  1      1\n"
            "    none\n"
            "c                         3      0\n"
            "    3 changed, 1 withheld, 2 staged\n"
            "    /home/somebody/a project\n");
  EXPECT_EQ(list_json({runs[0], runs[1]}),
            R"([{"run_id":"a","written":"then","workspace":"/w","calls":7,"refused":null,"changed":null,)"
            R"("withheld":null,"staged":null},{"run_id":"b","written":"2026-11-19T15:30:04.000Z",)"
            R"("workspace":"","calls":1,"refused":1,"changed":0,"withheld":0,"staged":0}])"
            "\n");
}

TEST_F(LogText, LinesOfCallsFitTheTerminal) {
  const LoggedCall call{.call_id = "c-0001",
                        .task_id = "main",
                        .time = "2026-11-19T15:30:04.000Z",
                        .tool = "run_shell",
                        .args = R"({"cmd":"cat ../../etc/passwd"})",
                        .decision = "deny",
                        .objections = {"path: deny: ../../etc/passwd lies outside the workspace"},
                        .outcome = "refused",
                        .wall_ms = "12"};
  EXPECT_EQ(log_table({{call}, 0}, at_80),
            "CALL    TIME                 TASK  TOOL       GATES  END      TOOK\n"
            "    ARGS\n"
            "c-0001  2026-11-19 15:30:04  main  run_shell  deny   refused  12 ms\n"
            "    {\"cmd\":\"cat ../../etc/passwd\"}\n"
            "        path: deny: ../../etc/passwd lies outside the workspace\n");
  EXPECT_EQ(log_line(call, {.columns = 40, .colour = Colour::terminal}),
            "c-0001  2026-11-19 15:30:04  main\n"
            "    run_shell         \x1b[31mdeny\x1b[m   \x1b[31mrefused\x1b[m\n"
            "    12 ms    {\"cmd\":\"cat\n"
            "             ../../etc/passwd\"}\n"
            "        path: deny: ../../etc/passwd\n"
            "        lies outside the workspace\n");
}

JsonValue value_of(const std::string& text) { return read_json(text, "").value(); }

// Whatever is in the lists: what is new in an outcome's denials is shown without a change here.
TEST_F(LogText, ListsEveryDenialThatTheRecordHas) {
  const JsonValue line = value_of(
      R"({"call_id":"c-0002","task_id":"main","tool":"run_shell","timestamp":"2026-11-19T15:30:04.000Z",
          "verdicts":[{"gate":"path","decision":"deny","reason":"outside"},
                      {"gate":"rules","decision":"ask","reason":"asked"},
                      {"gate":"schema","decision":"deny","reason":"bad"}],
          "denials":[{"by":"path","what":"refused by path: outside"},
                     {"by":"kernel","what":"openat\u001b of /x","errno":13}]})");
  std::vector<LoggedDenial> denials = denials_of(line);
  for (auto& denial : denials) denial.run_id = "r1";
  EXPECT_EQ(denials_json(denials),
            R"({"run_id":"r1","call_id":"c-0002","task_id":"main","tool":"run_shell",)"
            R"("timestamp":"2026-11-19T15:30:04.000Z","by":"path","what":"refused by path: outside"})"
            "\n"
            R"({"run_id":"r1","call_id":"c-0002","task_id":"main","tool":"run_shell",)"
            R"("timestamp":"2026-11-19T15:30:04.000Z","by":"kernel","what":"openat\u001b of /x","errno":13})"
            "\n"
            R"({"run_id":"r1","call_id":"c-0002","task_id":"main","tool":"run_shell",)"
            R"("timestamp":"2026-11-19T15:30:04.000Z","by":"schema","what":"refused by schema: bad"})"
            "\n");
  EXPECT_EQ(denials_table(denials, at_80),
            "CALL       TIME                 TOOL       BY      WHAT\n"
            "r1/c-0002  2026-11-19 15:30:04  run_shell  path    refused by path: outside\n"
            "r1/c-0002  2026-11-19 15:30:04  run_shell  kernel  openat\\u{1b} of /x\n"
            "r1/c-0002  2026-11-19 15:30:04  run_shell  schema  refused by schema: bad\n");
  EXPECT_EQ(denials_table({}), "nothing was denied\n");
  EXPECT_TRUE(denials_of(value_of(R"({"call_id":"c-0001","denials":[]})")).empty());
}

TEST_F(LogText, ShowsOneCallWhole) {
  const JsonValue line = value_of(
      R"({"task_id":"main","tool":"run_shell","args":{"cmd":"ls"},"result":"cut","call_id":"c-0002",
          "timestamp":"2026-11-19T15:30:04.000Z","decision":"deny",
          "verdicts":[{"gate":"path","decision":"deny","reason":"no\u001b","rule":"r f:1","instead":"use a"}],
          "notes":[],"outcome":"refused","layers":[{"name":"landlock","by":"abi7"},{"name":"net","by":"ns"}],
          "denials":[{"by":"path","what":"refused"}],"new":{"a":1,"list":[{"b":"c","d":"e"}]},
          "changes":{"end":"none","withheld":[]},"line":1,"prev":"00","hash":"11"})");
  EXPECT_EQ(call_text(line, "whole\x1b\n", at_80),
            "task_id       main\n"
            "tool          run_shell\n"
            "args          {\"cmd\":\"ls\"}\n"
            "call_id       c-0002\n"
            "timestamp     2026-11-19 15:30:04\n"
            "decision      deny\n"
            "verdicts      path      deny  no\\u{1b}; rule: r f:1; instead: use a\n"
            "outcome       refused\n"
            "layers        landlock (abi7), net (ns)\n"
            "denials       path: refused\n"
            "new           a 1\n"
            "              list c: e\n"
            "changes       end none\n"
            "result\n"
            "whole\\u{1b}\n");
  EXPECT_TRUE(
      call_text(value_of(R"({"call_id":"c-1","kind":"decision"})"), "").ends_with("it has not ended\n"));
}

TEST_F(LogText, ATornLineIsCountedAndNotShown) {
  const RunPlace where = place();
  write_call(*open(where), "T-001", "x");
  put_text(transcript("T-001"), text_in(transcript("T-001")) + "{\"call_id\":\n");
  const Log log = read_log(where, "").value();
  EXPECT_EQ(log.calls.size(), 1U);
  EXPECT_NE(log_table(log).find("lines that cannot be read: 1; see cloche log verify"), std::string::npos);
}

TEST_F(LogText, FollowsNewCallsAndNewTasks) {
  const RunPlace where = place();
  const auto run = open(where);
  TranscriptFollower follower(where, "");
  std::vector<std::string> seen;
  const auto look = [&] {
    seen.clear();
    EXPECT_TRUE(follower
                    .read_on([&](const JsonValue& call, std::string_view line) {
                      seen.push_back(text_of(call, "call_id"));
                      EXPECT_TRUE(line.ends_with("\"}"));
                    })
                    .ok());
    return seen;
  };
  EXPECT_TRUE(look().empty());
  write_call(*run, "T-001", "x");
  EXPECT_EQ(look(), std::vector<std::string>{"c-0001"});
  EXPECT_TRUE(look().empty());
  write_call(*run, "T-002", "x");
  write_call(*run, "T-001", "x");
  EXPECT_EQ(look(), (std::vector<std::string>{"c-0003", "c-0002"}));
}

TEST_F(LogText, MoreTasksThanDescriptorsAreNoTrouble) {
  const RunPlace where = place();
  const auto run = open(where);
  for (int i = 0; i < 100; ++i) write_call(*run, "task-" + std::to_string(i), "x");
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit few{80, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto log = read_log(where, "");
  const std::string verified = verdict(where);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(log.ok()) << describe(log.error());
  EXPECT_EQ(log.value().calls.size(), 100U);
  EXPECT_EQ(verified, "ok");
}

TEST(VerificationText, SaysFileLineAndWhy) {
  EXPECT_EQ(verification_text({3, "abc", {}, {"torn"}}), "note: torn\nok: 3 lines, head abc\n");
  EXPECT_EQ(verification_text({3, "abc", BadLine{"f", 2, "why"}, {}}), "BAD: f line 2: why\n");
  EXPECT_EQ(verification_text({3, "abc", BadLine{"f\x1b", 0, "why"}, {}}), "BAD: f\\u{1b}: why\n");
}

}  // namespace
}  // namespace cloche
