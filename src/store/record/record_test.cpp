// What stands in a record, who may write to it at once, and what is given back of it.
#include "store/record/record.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "base/json/json_text.hpp"
#include "base/sys/directory.hpp"
#include "base/text/sha256.hpp"
#include "store/record/chain_reading.hpp"
#include "store/record/record_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class Records : public RecordTest {
 protected:
  static JsonValue parsed(const std::string& line) {
    auto read = read_line(line);
    EXPECT_TRUE(read.ok()) << line;
    return read.ok() ? std::move(read).value() : JsonValue{};
  }
  static std::string member(const JsonValue& line, std::string_view key) {
    const JsonValue* value = line.find(key);
    return value == nullptr ? "absent" : to_json(*value);
  }
};

TEST_F(Records, ACallLeavesThreeLinesAndItsResult) {
  const auto run = open(place());
  DecisionRecord decided = a_decision("T-001");
  decided.verdicts.push_back({GateId::rules, Decision::ask, "because", "r1 f:3", "change it"});
  decided.opaque = true;
  decided.notes = {"dropped X_TOKEN"};
  const std::string id = run->begin(decided).value();
  EXPECT_EQ(id, "c-0001");
  EXPECT_EQ(lines_in(audit()).size(), 1U) << "the decision is there before the effect";
  CallRecord call = a_call(decided, id, "exit_code: 3\n");
  call.outcome.exit_code = 3;
  call.outcome.denials = {{Enforcer::limit, "too many"}};
  ASSERT_TRUE(run->finish(call, "all of it").ok());

  const auto audit_lines = lines_in(audit());
  ASSERT_EQ(audit_lines.size(), 2U);
  const JsonValue before = parsed(audit_lines[0]);
  const std::string verdicts =
      R"([{"gate":"loadout","decision":"allow","reason":"all shipped tools"},)"
      R"({"gate":"rules","decision":"ask","reason":"because","rule":"r1 f:3","fix":"change it"}])";
  const std::string digest = "\"sha256:" + std::string(64, 'a') + "\"";
  const std::pair<const char*, std::string> asked[] = {{"task_id", R"("T-001")"},
                                                       {"role", R"("model")"},
                                                       {"tool", R"("run_shell")"},
                                                       {"args", R"({"cmd":"ls -la"})"},
                                                       {"decision", R"("allow")"},
                                                       {"verdicts", verdicts},
                                                       {"plan_digest", digest},
                                                       {"opaque", "true"},
                                                       {"notes", R"(["dropped X_TOKEN"])"},
                                                       {"call_id", R"("c-0001")"},
                                                       {"line", "1"},
                                                       {"calls", "1"},
                                                       {"prev", "\"" + std::string(64, '0') + "\""}};
  for (const auto& [key, value] : asked) EXPECT_EQ(member(before, key), value) << key;
  EXPECT_EQ(member(before, "kind"), R"("decision")");

  const auto transcript_lines = lines_in(transcript("T-001"));
  ASSERT_EQ(transcript_lines.size(), 1U);
  const JsonValue after = parsed(transcript_lines[0]);
  for (const auto& [key, value] : asked) EXPECT_EQ(member(after, key), value) << key;
  const std::pair<const char*, std::string> ended[] = {
      {"result", R"("exit_code: 3\n")"},
      {"outcome", R"("exited")"},
      {"exit", "3"},
      {"backend", R"("native")"},
      {"layers", R"([{"name":"landlock","by":"abi 6"}])"},
      {"denials", R"([{"by":"limit","what":"too many"}])"},
      {"usage", R"({"wall_ms":0,"cpu_ms":0,"max_rss_bytes":0})"},
      {"raw", R"({"bytes":9,"sha256":")" + sha256("all of it") + "\"}"}};
  for (const auto& [key, value] : ended) EXPECT_EQ(member(after, key), value) << key;
  EXPECT_EQ(after.members.back().name, "hash");
  EXPECT_EQ(after.members[after.members.size() - 2].name, "prev");

  const JsonValue head = parsed(audit_lines[1]);
  EXPECT_EQ(member(head, "kind"), R"("head")");
  EXPECT_EQ(member(head, "lines"), "1");
  EXPECT_EQ(member(head, "head"), member(after, "hash"));
  EXPECT_EQ(member(head, "prev"), member(before, "hash"));
  EXPECT_EQ(text_in(run->place().transcripts() + "/T-001/c-0001.txt"), "all of it");
}

TEST(RecordLines, TellTheTime) {
  EXPECT_EQ(show_time(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(show_time(1'794'868'215'007), "2026-11-16T22:30:15.007Z");
  EXPECT_EQ(show_time(951'782'400'000), "2000-02-29T00:00:00.000Z");
}

TEST(RecordLines, NumberTheCalls) {
  EXPECT_EQ(call_id_of(1), "c-0001");
  EXPECT_EQ(call_id_of(9999), "c-9999");
  EXPECT_EQ(call_id_of(10000), "c-10000");
}

struct ArgsRow {
  std::string given;
  std::string kept;  // as JSON
};

TEST_F(Records, ArgumentsAreKeptOnOneLineWhateverTheyAre) {
  const ArgsRow rows[] = {
      {"{}", "{}"},
      {"{\n  \"a\":\r\n1.50 }", R"({"a":1.50})"},
      {R"({"a":"x\ny"})", R"({"a":"x\ny"})"},
      {R"("text")", R"("text")"},
      {"", R"("")"},
      {"{\"a\":1,\"a\":2}", R"("{\"a\":1,\"a\":2}")"},
      {"{}},\"hash\":\"x\"", R"("{}},\"hash\":\"x\"")"},
      {"\xff\n", "\"\xef\xbf\xbd\\n\""},
      {"{\"a\":\"\x01\"}", R"("{\"a\":\"\u0001\"}")"},
  };
  const auto run = open(place());
  for (const auto& row : rows) {
    DecisionRecord decided = a_decision("T-001");
    decided.args = row.given;
    const auto id = run->begin(decided);
    ASSERT_TRUE(id.ok()) << row.given;
    EXPECT_EQ(member(parsed(lines_in(audit()).back()), "args"), row.kept) << row.given;
  }
  EXPECT_EQ(verdict(run->place()), "ok");
}

TEST_F(Records, WhatIsTooLongIsCutWhereOneSeesIt) {
  const auto run = open(place());
  for (const char byte : {'x', '\x01', '\xff', '"'}) {
    const std::string much(2 << 20, byte);
    DecisionRecord decided = a_decision("T-001");
    decided.args = much;
    decided.role = decided.tool = much;
    decided.verdicts.assign(9, {GateId::rules, Decision::deny, much, much, much});
    decided.notes.assign(300, std::string(5000, byte));
    const auto id = run->begin(decided);
    ASSERT_TRUE(id.ok()) << describe(id.error());
    CallRecord call = a_call(decided, id.value(), much);
    call.outcome.reason = much;
    call.outcome.denials.assign(300, {Enforcer::limit, std::string(5000, byte)});
    const auto done = run->finish(call, much);
    ASSERT_TRUE(done.ok()) << describe(done.error());
    const JsonValue line = parsed(lines_in(transcript("T-001")).back());
    for (const char* key : {"args", "result", "tool", "reason"}) {
      EXPECT_NE(text_of(line, key).find("[cut: 2097152 bytes in all, sha256 " + sha256(much) + "]"),
                std::string::npos)
          << key;
    }
    EXPECT_EQ(number_of(line, "notes_in_all"), 300U);
  }
  EXPECT_EQ(verdict(run->place()), "ok");
}

// Whom most was sent to is what a record is for; no host hides behind many.
TEST_F(Records, OfManyHostsThoseThatMostWasSentToAreNamed) {
  const auto run = open(place());
  const DecisionRecord decided = a_decision("T-001");
  const auto id = run->begin(decided);
  ASSERT_TRUE(id.ok()) << describe(id.error());
  CallRecord call = a_call(decided, id.value(), "done");
  for (int i = 0; i < 1030; ++i)
    call.outcome.network.push_back({"n" + std::to_string(i) + ".org", 443, 1, 10, 20});
  call.outcome.network.push_back({"exfil.org", 443, 1, 5'000'000, 0});
  ASSERT_TRUE(run->finish(call, "done").ok());
  const std::string line = lines_in(transcript("T-001")).back();
  EXPECT_NE(line.find(R"({"host":"exfil.org","port":443,"connections":1,"bytes_out":5000000,"bytes_in":0})"),
            std::string::npos);
  EXPECT_NE(line.find(R"({"more_hosts":968,"connections":968,"bytes_out":9680,"bytes_in":19360}])"),
            std::string::npos)
      << line;
}

TEST_F(Records, BadIdsAreRefusedBeforeAnythingIsWritten) {
  const auto run = open(place());
  for (const std::string task : {"", "..", "a/b", "x.jsonl", ".t"}) {
    EXPECT_FALSE(run->begin(a_decision(task)).ok()) << task;
    EXPECT_FALSE(run->finish(a_call(a_decision(task), "c-0001", ""), "").ok()) << task;
    EXPECT_FALSE(run->recall(task, "c-0001", 0, 1).ok()) << task;
  }
  for (const std::string id : {"", "../c-0001", "a/b", "."}) {
    EXPECT_FALSE(run->finish(a_call(a_decision("T-001"), id, ""), "").ok()) << id;
    EXPECT_FALSE(run->recall("T-001", id, 0, 1).ok()) << id;
  }
  EXPECT_EQ(text_in(audit()), "");
}

TEST_F(Records, ResultsAreRecalledWithinTheirTask) {
  const auto run = open(place());
  const std::string raw = std::string("0123456789") + std::string(2 << 20, 'x');
  const std::string id = write_call(*run, "T-001", raw);
  write_call(*run, "T-002", "other");
  EXPECT_EQ(run->recall("T-001", id, 0, 4).value().bytes, "0123");
  EXPECT_EQ(run->recall("T-001", id, 8, 4).value().bytes, "89xx");
  EXPECT_EQ(run->recall("T-001", id, raw.size() - 1, 4).value().bytes, "x");
  EXPECT_EQ(run->recall("T-001", id, raw.size(), 4).value().bytes, "");
  EXPECT_EQ(run->recall("T-001", id, ~uint64_t{0}, ~uint64_t{0}).value().bytes, "");
  EXPECT_EQ(run->recall("T-001", id, 0, ~uint64_t{0}).value().bytes.size(), max_recall_bytes);
  EXPECT_FALSE(run->recall("T-002", id, 0, 4).ok()) << "of another task";
  EXPECT_FALSE(run->recall("T-001", "c-0002", 0, 4).ok());
  EXPECT_FALSE(run->recall("T-003", id, 0, 4).ok());
}

TEST_F(Records, AFullDiskRefusesTheCallAndLeavesAWholeRecord) {
  const auto run = open(place());
  write_call(*run, "T-001", "x");
  const DecisionRecord decided = a_decision("T-001");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(run->begin(decided).ok());  // the audit is the longer file
  const std::string id = run->begin(decided).value();
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::string audit_before = text_in(audit());
  const std::string transcript_before = text_in(transcript("T-001"));
  const std::pair<size_t, const char*> rows[] = {{100, "the result of c-0006"},
                                                 {transcript_before.size() + 5, "T-001.jsonl"},
                                                 {audit_before.size() + 5, "audit.jsonl"}};
  for (const auto& [room, what_does_not_fit] : rows) {
    const rlimit small{room, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto begun = run->begin(decided);
    const auto done = run->finish(a_call(decided, id, "y"), std::string(200, 'y'));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_FALSE(begun.ok()) << room;
    ASSERT_FALSE(done.ok()) << room;
    EXPECT_NE(done.error().what.text().find(what_does_not_fit), std::string::npos) << done.error().what;
    EXPECT_EQ(text_in(audit()), audit_before) << room;
    EXPECT_EQ(text_in(transcript("T-001")), transcript_before) << room;
    EXPECT_FALSE(fs::exists(run->place().transcripts() + "/T-001/" + id + ".txt")) << room;
  }
  ::signal(SIGXFSZ, ignored);
  EXPECT_TRUE(run->finish(a_call(decided, id, "y"), "y").ok());
  EXPECT_EQ(verdict(run->place()), "ok");
}

constexpr int processes = 8;
constexpr int threads_each = 4;
constexpr int calls_each = 50;

// One of many processes: its threads write to a task that all share and to one of their own.
int write_as_one_of_many(const RunPlace& where, Durability durability, int number) {
  auto run = Run::open(where, durability);
  if (!run.ok()) return 1;
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < threads_each; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < calls_each; ++i) {
        const DecisionRecord decided = a_decision(i % 2 == 0 ? "shared" : "own-" + std::to_string(number));
        const auto id = run.value()->begin(decided);
        const std::string raw = std::to_string(t) + " of " + std::to_string(number);
        if (!id.ok() || !run.value()->finish(a_call(decided, id.value(), raw), raw).ok()) ++failures;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return failures == 0 ? 0 : 2;
}

class ManyWriters : public Records, public testing::WithParamInterface<Durability> {};

TEST_P(ManyWriters, ShareOneRecord) {
  const RunPlace where = place();
  std::vector<pid_t> children;
  for (int number = 0; number < processes; ++number) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(write_as_one_of_many(where, GetParam(), number));
    children.push_back(child);
  }
  // A reader meanwhile finds it whole as well.
  for (int look = 0; look < 5; ++look) {
    const std::string seen = verdict(where);
    EXPECT_TRUE(seen == "ok" || seen.find("has no record in it") != std::string::npos) << seen;
    ::usleep(20'000);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(verdict(where), "ok");
  constexpr size_t calls = size_t{processes} * threads_each * calls_each;
  std::set<std::string> ids;
  for (const auto& line : lines_in(audit())) {
    const JsonValue value = parsed(line);
    if (text_of(value, "kind") == "decision") ids.insert(text_of(value, "call_id"));
  }
  EXPECT_EQ(ids.size(), calls);
  EXPECT_EQ(*ids.begin(), "c-0001");
  EXPECT_EQ(*ids.rbegin(), call_id_of(calls));
}

INSTANTIATE_TEST_SUITE_P(Durabilities, ManyWriters,
                         testing::Values(Durability::buffered, Durability::durable), [](const auto& given) {
                           return given.param == Durability::durable ? "durable" : "buffered";
                         });

TEST_F(Records, ManyTasksNeedFewDescriptors) {
  const auto run = open(place());
  const auto open_descriptors = [] { return names_in("/proc/self/fd").size(); };
  for (int i = 0; i < 40; ++i) write_call(*run, "task-" + std::to_string(i), "x");
  const size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) write_call(*run, "task-" + std::to_string(i), "x");
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(verdict(run->place()), "ok");
}

TEST_F(Records, ACrashBetweenTwoLinesIsGoneOnFromWhatIsThere) {
  const RunPlace where = place();
  write_call(*open(where), "T-001", "x");
  // The audit's last line half written, as by a crash; it was the head of the call above.
  const std::string text = text_in(audit());
  StoredHead::open(where).store(find_seal(lines_in(audit())[0])->end);
  put_text(audit(), text.substr(0, text.size() - 20));
  EXPECT_NE(verdict(where), "ok");
  EXPECT_EQ(write_call(*open(where), "T-001", "y"), "c-0003") << "an id is never given twice";
  const auto found = verify_run(where);
  EXPECT_FALSE(found.value().first_bad) << found.value().first_bad->why;
  EXPECT_EQ(found.value().notes.size(), 2U);
}

// Of output that the caller has, the sizes; a result file that no line is about is found as ever.
TEST_F(Records, SizesAloneNeedNoResultFile) {
  const RunPlace where = place();
  auto run = cloche::Run::open(where, Durability::buffered, cloche::Run::Results::sizes).value();
  const DecisionRecord decided = a_decision("T-001");
  CallRecord call = a_call(decided, run->begin(decided).value(), "shown");
  call.outcome.output_bytes = 7;
  ASSERT_TRUE(run->finish(call, "printed").ok());
  const JsonValue line = parsed(lines_in(transcript("T-001")).back());
  EXPECT_EQ(member(line, "stdout_bytes"), "7");
  EXPECT_EQ(line.find("result")->text, "") << "what it printed is not stored";
  EXPECT_EQ(line.find("raw"), nullptr);
  const std::string results = where.transcripts() + "/T-001";
  EXPECT_FALSE(fs::exists(results));
  EXPECT_EQ(verdict(where), "ok");
  fs::create_directory(results);
  put_text(results + "/c-0001.txt", "planted");
  EXPECT_NE(verdict(where).find("no line of the transcript is about it"), std::string::npos)
      << verdict(where);
}

}  // namespace
}  // namespace cloche
