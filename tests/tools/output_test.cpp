// What comes back of an output: head and tail for the model, all of it on disk, nothing that a terminal would
// act on.
#include <sys/stat.h>

#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Output : public Tools {
 protected:
  fs::path run_place() const { return scene_root() / "run"; }
  Answer recorded(const Call& asked, Words more = {}) const {
    more.insert(more.end(), {"--run", run_place(), "--task", "T"});
    return call(asked, more);
  }
  fs::path raw(const Answer& answer) const {
    return run_place() / "artifacts/tool_calls/T" / (answer.text("call_id") + ".txt");
  }
  std::string piece(const std::string& call_id, size_t offset, size_t limit) const {
    return recorded({"read_tool_result", R"({"call_id": ")" + call_id + R"(", "offset": )" +
                                             std::to_string(offset) + R"(, "limit": )" +
                                             std::to_string(limit) + "}"})
        .result();
  }
};

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0U;
}

// Numbered lines, so that a piece that is missing or twice there shows.
const char* const long_output = "for i in range(20000): print('line', i)";

std::string long_text() {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST_P(Output, HeadAndTailAreKeptAndALineSaysWhatWasCut) {
  const Answer answer = recorded({"run_python", code(long_output)});
  const std::string result = answer.result();
  EXPECT_LT(result.size(), size_t{33} << 10);
  EXPECT_TRUE(result.starts_with("exit_code: 0\nstdout: line 0\nline 1\n"));
  EXPECT_TRUE(
      result.ends_with("line 19999\n\nstderr: \n[the output above was cut; read_tool_result with call_id " +
                       answer.text("call_id") + " has the whole of it]"));
  const size_t cut = long_text().size() - (size_t{32} << 10);
  EXPECT_TRUE(contains(result, "\n[... " + std::to_string(cut) + " of " + std::to_string(long_text().size()) +
                                   " bytes cut; read_tool_result with call_id " + answer.text("call_id") +
                                   " has them ...]\n"))
      << result.substr(16000, 1000);
}

TEST_P(Output, TheWholeOfItIsOnDiskForItsOwnerAlone) {
  const Answer answer = recorded({"run_python", code(long_output)});
  EXPECT_EQ(read_file(raw(answer)), "exit_code: 0\nstdout: " + long_text() + "\nstderr: ");
  EXPECT_EQ(mode_of(raw(answer)), 0600U);
  EXPECT_EQ(mode_of(run_place() / "audit.jsonl"), 0600U);
  EXPECT_EQ(mode_of(run_place() / "artifacts/tool_calls/T.jsonl"), 0600U);
  EXPECT_EQ(mode_of(run_place() / "artifacts/tool_calls"), 0700U);
}

TEST_P(Output, ReadToolResultGivesTheRestByteByByte) {
  const Answer answer = recorded({"run_python", code("print('abcdefghij')")});
  const std::string whole = read_file(raw(answer));
  std::string again;
  for (size_t at = 0; at < whole.size(); at += 7) {
    const std::string shown = piece(answer.text("call_id"), at, 7);
    again += shown.substr(0, shown.rfind("\n[bytes "));
  }
  EXPECT_EQ(again, whole);
}

TEST_P(Output, AResultIsRecalledWithinItsOwnTaskAlone) {
  const Answer answer = recorded({"run_python", code("print('for T alone')")});
  const std::string wanted = R"({"call_id": ")" + answer.text("call_id") + R"("})";
  EXPECT_TRUE(contains(recorded({"read_tool_result", wanted}).result(), "for T alone"));
  const Answer other = call({"read_tool_result", wanted}, {"--run", run_place(), "--task", "U"});
  EXPECT_FALSE(contains(other.result(), "for T alone"));
  EXPECT_NE(other.exit_code(), 0);
  for (const char* id : {"", "..", "../T/c-0001", "T/c-0001", "c-9999", "c-0001.txt"}) {
    const Answer refused = recorded({"read_tool_result", R"({"call_id": ")" + std::string(id) + R"("})"});
    EXPECT_NE(refused.exit_code(), 0) << id;
    EXPECT_FALSE(contains(refused.result(), "for T alone")) << id;
  }
}

// Bytes that a terminal acts on, and bytes that are no text.
const char* const hostile_output =
    "import sys; "
    "sys.stdout.buffer.write(b'\\xff|\\x1b[31mred|\\x00|\\x1b]0;title\\x07|\\xc2\\x9b31m|\\xe2\\x80\\xae|"
    "\\x08|\\r.')";

bool harmless(const std::string& text) {
  for (const unsigned char byte : text)
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return false;
  return !contains(text, "\xc2\x9b") && !contains(text, "\xe2\x80\xae") && !contains(text, "\xff");
}

TEST_P(Output, NothingThatATerminalActsOnIsShown) {
  const Answer answer = recorded({"run_python", code(hostile_output)});
  EXPECT_EQ(
      answer.result(),
      "exit_code: 0\nstdout: \xef\xbf\xbd|\xe2\x90\x9b[31mred|\xe2\x90\x80|\xe2\x90\x9b]0;title\xe2\x90\x87|"
      "\\u{9b}31m|\\u{202e}|\xe2\x90\x88|\xe2\x90\x8d.\nstderr: ");
  EXPECT_TRUE(harmless(answer.ran.out)) << "call --json";
  const Ran plain = cloche_words({"call", "run_python", code(hostile_output)});
  EXPECT_TRUE(harmless(plain.out)) << "call";
  // What was really written is kept.
  EXPECT_TRUE(contains(read_file(raw(answer)), "\x1b[31mred|") && contains(read_file(raw(answer)), "\xff|"));
}

TEST_P(Output, NorByTheLogOrByAPieceOfIt) {
  const Answer answer = recorded({"run_python", code(hostile_output)});
  const Answer arguments = recorded({"run_shell", "{\"cmd\": \"ls \xc2\x9b \x1b[31m\"}"});
  EXPECT_TRUE(ended(arguments, "refused"));
  EXPECT_TRUE(harmless(arguments.ran.out)) << "call --json of hostile arguments";
  for (const Words& words : {Words{"log", "show", run_place()}, Words{"log", "show", run_place(), "--json"}})
    EXPECT_TRUE(harmless(cloche_words(words).out)) << words.size();
  EXPECT_TRUE(harmless(piece(answer.text("call_id"), 0, 4000)));
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(Output, AnExecutorsAnswerIsNeutralisedToo) {
  executor("paints",
           "import sys\nsys.stdout.buffer.write(b'{\"a\": \"\\xc2\\x9b31m \\xe2\\x80\\xae\", \"b\": "
           "\"\\\\u001b[31m\"}')\n");
  const Answer answer = recorded({"paints"}, with_executors());
  EXPECT_TRUE(ended(answer, "exited"));
  EXPECT_TRUE(harmless(answer.result())) << answer.result();
  EXPECT_TRUE(harmless(answer.ran.out)) << "call --json";
}

TEST_P(Output, PastItsLimitTheCallIsEndedAndSaysSo) {
  const Answer answer = recorded({"run_script", script("yes")}, {"--output", "64K"});
  EXPECT_TRUE(ended_by_limit(answer, "output"));
  EXPECT_TRUE(answer.json["truncated"].boolean);
  EXPECT_TRUE(contains(answer.result(), "\nended: the output limit of 64K was reached"));
  EXPECT_EQ(answer.json["stdout_bytes"].number, 64 << 10);
  EXPECT_GT(fs::file_size(raw(answer)), uintmax_t{64} << 10);
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(Output, BothStreamsCountTogether) {
  const Answer answer =
      recorded({"run_script", script("while :; do echo out; echo err >&2; done")}, {"--output", "64K"});
  EXPECT_TRUE(ended_by_limit(answer, "output"));
  EXPECT_EQ(answer.json["stdout_bytes"].number + answer.json["stderr_bytes"].number, 64 << 10);
}

FOR_EVERYONE(Output);

}  // namespace
}  // namespace cloche::test
