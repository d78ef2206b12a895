// What a model gets back, to the byte.
#include "tools/answer/process_output.hpp"

#include "tools/answer/model_text.hpp"

#include <gtest/gtest.h>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "policy/schema/json_schema.hpp"

namespace cloche {
namespace {

Outcome exited(int code, std::string output, std::string errors = {}) {
  Outcome outcome;
  outcome.end = End::exited;
  outcome.exit_code = code;
  outcome.output = std::move(output);
  outcome.errors = std::move(errors);
  return outcome;
}

std::string structured(const Outcome& outcome) {
  return process_output_json(outcome, shown_streams(printed_by(outcome), {}).value());
}

TEST(ProcessOutput, TheThreeClassesAreNeverMixedUp) {
  EXPECT_EQ(shown_text(exited(0, "hi\n", ""), "echo", {}), "exit_code: 0\nstdout: hi\n\nstderr: ");
  EXPECT_EQ(shown_text(exited(3, "", "no"), "x", {}), "exit_code: 3\nstdout: \nstderr: no");
  Outcome missing;
  missing.end = End::not_found;
  missing.exit_code = 127;
  EXPECT_EQ(shown_text(missing, "ruff", {}), "[INFO] tool 'ruff' not installed");
  const Outcome refused =
      refused_by({GateId::path, Decision::deny, "no", "id file:3", "give --x", Approvers::anyone, "do this"});
  EXPECT_EQ(shown_text(refused, "x", {}), "refused by path: no; do this");
  EXPECT_EQ(operators_reason(refused), "refused by path: no; do this (id file:3); give --x");
  EXPECT_EQ(refused.exit_code, 126);
  // A program may print what another class looks like; the first words still tell.
  EXPECT_TRUE(shown_text(exited(0, "[INFO] tool 'x' not installed"), "x", {}).starts_with("exit_code: 0\n"));
}

TEST(ProcessOutput, WhatEndedItIsSaid) {
  Outcome killed = exited(137, "part");
  killed.end = End::limit;
  killed.reason = "the memory limit of 256M was reached";
  EXPECT_EQ(shown_text(killed, "x", {}),
            "exit_code: 137\nstdout: part\nstderr: \nended: the memory limit of 256M was reached");
}

// What the command outlived is no end; what ended it is said once.
TEST(ProcessOutput, ALimitThatWasMetIsSaidWithoutWhatTheOperatorCanDo) {
  Outcome outcome = exited(1, "", "No space left on device");
  outcome.denials = {
      {Enforcer::limit, "/tmp was full: the tmp limit of 8M was met", "; raise it with --tmp"},
      {.by = Enforcer::limit, .what = "the reason", .advice = "; raise it with --cpu", .is_reason = true}};
  EXPECT_EQ(shown_text(outcome, "x", {}),
            "exit_code: 1\nstdout: \nstderr: No space left on device\n"
            "[/tmp was full: the tmp limit of 8M was met]");
  EXPECT_EQ(structured(outcome), R"json({"exit_code":1,"stdout":"","stderr":"No space left on device",)json"
                                 R"json("notes":["/tmp was full: the tmp limit of 8M was met"]})json");
}

TEST(ProcessOutput, WhatTheNetworkGateRefusedIsSaidOnceWithWhatToDo) {
  Outcome outcome = exited(6, "", "curl: (6) Could not resolve host");
  outcome.denials = {
      {GateId::env, "X is left out"},
      {Enforcer::egress, "egress: look-up of evil.example refused: not declared (--net: [a.org])"}};
  EXPECT_EQ(shown_text(outcome, "curl", {}),
            "exit_code: 6\nstdout: \nstderr: curl: (6) Could not resolve host\n"
            "[egress: look-up of evil.example refused: not declared (--net: [a.org])]\n"
            "[trying again changes nothing: use what is declared, or say which host is needed and why]");
  EXPECT_EQ(
      structured(outcome),
      R"json({"exit_code":6,"stdout":"","stderr":"curl: (6) Could not resolve host",)json"
      R"json("denials":["egress: look-up of evil.example refused: not declared (--net: [a.org])"]})json");
}

// A gate that died says to run it again; the next call has another.
TEST(ProcessOutput, WhatIsWorthAnotherTryIsNotCalledUseless) {
  const Denial ended = {.by = Enforcer::egress,
                        .what = "egress: the network gate of this call ended by signal 9: ...; run it again",
                        .transient = true};
  const Denial refused = {Enforcer::egress,
                          "egress: look-up of evil.example refused: not declared (--net: [a.org])"};
  const std::string useless =
      "\n[trying again changes nothing: use what is declared, or say which host is needed and why]";
  Outcome outcome = exited(6, "", "");
  outcome.denials = {ended};
  EXPECT_EQ(egress_text(outcome), "\n[" + ended.what.text() + "]");
  outcome.denials = {ended, refused};
  EXPECT_EQ(egress_text(outcome), "\n[" + ended.what.text() + "]\n[" + refused.what.text() + "]" + useless);
}

TEST(ProcessOutput, WhatHasToBeKnownBesideItIsInBothForms) {
  Outcome outcome = exited(0, "", "");
  outcome.quarantined = {{"a\x1b.sh", "who runs it"}};
  outcome.backend = Backend::none;
  const std::string off = "isolation is off by the operator's own switch: nothing confined this command";
  EXPECT_EQ(shown_text(outcome, "x", {}),
            "exit_code: 0\nstdout: \nstderr: \n[quarantined: a\\u{1b}.sh (who runs it)]\n[" + off + "]");
  EXPECT_EQ(
      structured(outcome),
      R"json({"exit_code":0,"stdout":"","stderr":"","notes":["quarantined: a\\u{1b}.sh (who runs it)",")json" +
          off + "\"]}");
}

// The first line says what a reader of the rest would not expect; no line names a command for it.
TEST(ProcessOutput, WhatIsNotInTheProjectIsSaid) {
  Outcome outcome = exited(0, "hi", "");
  outcome.changes =
      ChangesOutcome{.end = ChangesEnd::staged, .set = "r1-c-0001", .why_staged = "f was changed"};
  const std::string line =
      "what this call wrote is not in the project: f was changed; it is kept, and the user decides about it";
  EXPECT_EQ(shown_text(outcome, "x", {}), "[" + line + "]\nexit_code: 0\nstdout: hi\nstderr: ");
  EXPECT_EQ(structured(outcome),
            R"json({"exit_code":0,"stdout":"hi","stderr":"","notes":[")json" + line + "\"]}");
  EXPECT_EQ(
      summary_line(*outcome.changes),
      "changes: nothing, not in the project: f was changed; cloche changes show r1-c-0001 has it, cloche "
      "changes apply r1-c-0001 brings it in");
  outcome.changes->end = ChangesEnd::committed;
  outcome.changes->paths = {{"a", ChangeKind::created, Fate::committed},
                            {".envrc", ChangeKind::created, Fate::withheld, "direnv runs it"}};
  EXPECT_EQ(shown_text(outcome, "x", {}),
            "exit_code: 0\nstdout: hi\nstderr: \n[withheld, not in the project: .envrc: direnv runs it]");
  EXPECT_EQ(summary_line(*outcome.changes),
            "changes: 1 created, 1 withheld (.envrc: direnv runs it; cloche changes show r1-c-0001 has it, "
            "cloche changes apply r1-c-0001 --only PATH brings it in)");
}

TEST(ProcessOutput, AnEndBySignalIsNotCalledAnEndTwice) {
  Outcome outcome = exited(137, "", "");
  outcome.end = End::signaled;
  outcome.reason = "ended by signal 9 (Killed)";
  outcome.ended = "by signal 9 (Killed)";
  EXPECT_EQ(shown_text(outcome, "x", {}), "exit_code: 137\nstdout: \nstderr: \nended: by signal 9 (Killed)");
  distrust(outcome, "x");
  EXPECT_NE(structured(outcome).find("not complete: x"), std::string::npos) << structured(outcome);
}

TEST(ProcessOutput, NothingMovesATerminal) {
  const std::pair<std::string, std::string> rows[] = {
      {"plain \xc3\xa4 text\n\ttab", "plain \xc3\xa4 text\n\ttab"},
      {"\x1b[31mred", "\xe2\x90\x9b[31mred"},
      {std::string("a\0b", 3),
       "a\xe2\x90\x80"
       "b"},
      {"over\rwritten", "over\xe2\x90\x8dwritten"},
      {"dos\r\nline", "dos\r\nline"},
      {"\x7f", "\xe2\x90\xa1"},
      {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe2\x80\xae"
       "x",
       "\\u{202e}x"},
      {"\xc2\x9b"
       "31m",
       "\\u{9b}31m"},
  };
  for (const auto& [given, expected] : rows) EXPECT_EQ(neutralised(given), expected);
}

TEST(ProcessOutput, HeadAndTailStayAndTheRestIsNamed) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string cut = within_budget(text, {.bytes = 200, .call_id = "c-0007"});
  EXPECT_TRUE(cut.starts_with("line 0\nline 1\n"));
  EXPECT_TRUE(cut.ends_with("line 999\n"));
  EXPECT_NE(cut.find(" of 8890 bytes cut; read_tool_result with call_id c-0007 has them ...]"),
            std::string::npos);
  EXPECT_LT(cut.size(), 320U);
  EXPECT_EQ(within_budget("short", {.bytes = 5}), "short");
  EXPECT_NE(within_budget("longer", {.bytes = 4}).find("no record"), std::string::npos);
}

TEST(ProcessOutput, CutsBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\xe2\x82\xac";
  for (size_t bytes = 10; bytes < 40; ++bytes) EXPECT_TRUE(is_utf8(within_budget(text, {.bytes = bytes})));
}

TEST(ProcessOutput, OneStreamMayUseWhatTheOtherLeaves) {
  const std::string long_text(1000, 'x');
  const OutputBudget budget{.bytes = 1200};
  EXPECT_NE(shown_text(exited(0, long_text, "short"), "x", budget).find(long_text), std::string::npos);
  EXPECT_NE(shown_text(exited(0, "short", long_text), "x", budget).find(long_text), std::string::npos);
  const std::string both = shown_text(exited(0, long_text, long_text), "x", budget);
  EXPECT_LT(both.size(), 1500U);
}

TEST(ProcessOutput, TheStructuredFormFitsItsSchema) {
  const auto schema_json = read_json(process_output_schema(), "schema");
  ASSERT_TRUE(schema_json.ok());
  const auto schema = JsonSchema::compile(schema_json.value(), "schema");
  ASSERT_TRUE(schema.ok());
  Outcome outcome = exited(1, "a\x1b", "b\xff");
  outcome.end = End::timeout;
  outcome.reason = "late";
  const auto value = read_json(structured(outcome), "value");
  ASSERT_TRUE(value.ok());
  EXPECT_FALSE(schema.value().check(value.value()));
  EXPECT_EQ(value.value().find("ended")->text, "late");
}

}  // namespace
}  // namespace cloche
