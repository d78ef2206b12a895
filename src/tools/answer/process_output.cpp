#include "tools/answer/process_output.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/text/command_words.hpp"
#include "base/text/utf8.hpp"
#include "model/backend.hpp"
#include "tools/answer/head_and_tail.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche {
namespace {

// A picture of the control character: U+2400 and following, U+2421 for DEL.
void add_picture(std::string& out, unsigned char control) {
  const unsigned low = control == 0x7f ? 0x21U : control;
  out += "\xe2\x90";
  out += static_cast<char>(0x80 + low);
}

// How much of the front is ASCII that is shown as it is; most output is nothing else.
size_t plain_length(std::string_view bytes) {
  size_t length = 0;
  for (const char c : bytes) {
    if ((c < 0x20 || c >= 0x7f) && c != '\n' && c != '\t') break;
    ++length;
  }
  return length;
}

std::string ended(const Outcome& outcome) {
  if (outcome.end == End::exited) return "";
  // The label says "ended".
  const bool by_signal = outcome.end == End::signaled && !outcome.ended.empty();
  return by_signal ? outcome.ended.text() : reason_for_model(outcome);
}

bool is_staged(const Outcome& outcome) {
  return outcome.changes && outcome.changes->end == ChangesEnd::staged;
}

Result<HeadAndTail> ends_of(const Chunks& stream, size_t most_bytes) {
  HeadAndTail ends(most_bytes);
  TRY(stream([&](std::string_view piece) { ends.add(piece); }));
  ends.finish();
  return ends;
}

// What stands behind the two streams.
std::string remarks_behind(const Outcome& outcome) {
  const std::string why = ended(outcome);
  return (why.empty() ? "" : "\nended: " + neutralised(why)) + egress_text(outcome) + remarks_text(outcome);
}

Result<void> lay_out(const Outcome& outcome, const PrintedStreams& printed, const Sink& sink) {
  sink(staged_text(outcome) + "exit_code: " + std::to_string(outcome.exit_code) + "\nstdout: ");
  TRY(printed.output(sink));
  sink("\nstderr: ");
  TRY(printed.errors(sink));
  sink(remarks_behind(outcome));
  return {};
}

// What has no output to show: it was never started.
std::string unstarted(const Outcome& outcome, const std::string& program) {
  if (outcome.end == End::not_found) return "[INFO] tool '" + shown(program, 100) + "' not installed";
  if (outcome.end == End::refused) return outcome.reason.text();
  // A failed scan after the command: its output is there to show.
  if (outcome.end == End::failed && outcome.look_gap.empty())
    return "cloche failed: " + reason_for_model(outcome) + "; if that stays so, tell the user";
  return {};
}

}  // namespace

std::vector<std::string> remarks_on(const Outcome& outcome) {
  std::vector<std::string> remarks;
  const std::string line = outcome.changes ? model_line(*outcome.changes) : "";
  if (!line.empty()) remarks.push_back(neutralised(line));
  for (const auto& denial : outcome.denials) {
    if (is_outlived(denial)) remarks.push_back(neutralised(denial.what.text()));
  }
  for (const auto& quarantined : quarantine_lines(outcome, Asks::model))
    remarks.push_back(neutralised(quarantined));
  if (!outcome.guess.said.empty()) remarks.push_back(neutralised(outcome.guess.said));
  if (outcome.backend == RanBy(Backend::none))
    remarks.emplace_back("isolation is off by the operator's own switch: nothing confined this command");
  return remarks;
}

std::string staged_text(const Outcome& outcome) {
  return is_staged(outcome) ? "[" + remarks_on(outcome).front() + "]\n" : "";
}

std::string remarks_text(const Outcome& outcome) {
  std::string text;
  const auto remarks = remarks_on(outcome);
  for (size_t i = is_staged(outcome) ? 1 : 0; i < remarks.size(); ++i) text += "\n[" + remarks[i] + "]";
  return text;
}

std::string egress_text(const Outcome& outcome) {
  std::string text;
  bool refused = false;
  for (const auto& denial : outcome.denials) {
    if (!is_by_egress(denial)) continue;
    text += "\n[" + neutralised(denial.what.text()) + "]";
    refused = refused || !denial.transient;
  }
  if (!refused) return text;
  return text + "\n[trying again changes nothing: use what is declared, or say which host is needed and why]";
}

std::string neutralised(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (true) {
    const size_t plain = plain_length(bytes);
    out += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    if (bytes.starts_with("\r\n")) {  // the end of a line, not a way back over it
      out += "\r\n";
      bytes.remove_prefix(2);
      continue;
    }
    const size_t length = utf8::sequence_length(bytes);
    if (length == 1) {
      add_picture(out, static_cast<unsigned char>(bytes[0]));
    } else if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out += shown(bytes.substr(0, length));
    }
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

size_t back_to_boundary(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

std::string cut_line(uint64_t cut_bytes, uint64_t all_bytes, const OutputBudget& budget) {
  const std::string cut = std::to_string(cut_bytes) + " of " + std::to_string(all_bytes) + " bytes cut";
  const std::string how = budget.call_id.empty()
                              ? "there is no record to recall them from"
                              : "read_tool_result with call_id " + budget.call_id + " has them";
  return "\n[... " + cut + "; " + how + " ...]\n";
}

std::string cut_note(const OutputBudget& budget) {
  if (budget.call_id.empty()) return "\n[the output above was cut: its middle is not shown]";
  return "\n[the output above was cut; read_tool_result with call_id " + budget.call_id +
         " has the whole of it]";
}

std::string shown_within(const std::string& text, const OutputBudget& budget) {
  return text.size() <= budget.bytes ? text : within_budget(text, budget) + cut_note(budget);
}

std::string within_budget(const std::string& text, const OutputBudget& budget) {
  if (text.size() <= budget.bytes) return text;
  const size_t head = back_to_boundary(text, budget.bytes / 2);
  const size_t tail = back_to_boundary(text, text.size() - budget.bytes / 2);
  return text.substr(0, head) + cut_line(tail - head, text.size(), budget) + text.substr(tail);
}

PrintedStreams printed_by(const Outcome& outcome) {
  return {chunks_of(outcome.output), chunks_of(outcome.errors)};
}

Result<ShownStreams> shown_streams(const PrintedStreams& printed, const OutputBudget& budget) {
  const HeadAndTail output = TRY(ends_of(printed.output, budget.bytes));
  const HeadAndTail errors = TRY(ends_of(printed.errors, budget.bytes));
  const auto beside = [&](const HeadAndTail& other) {
    const size_t left = budget.bytes - std::min<uint64_t>(other.size(), budget.bytes);
    return OutputBudget{std::max(budget.bytes / 2, left), budget.call_id};
  };
  const OutputBudget of_output = beside(errors);
  const OutputBudget of_errors = beside(output);
  const bool cut = output.size() > of_output.bytes || errors.size() > of_errors.bytes;
  return ShownStreams{output.within(of_output), errors.within(of_errors), cut ? cut_note(budget) : ""};
}

void name_passed_on(Outcome& outcome) {
  const auto name = [](std::string& text, uint64_t bytes) {
    if (text.empty() && bytes > 0) text = "(" + std::to_string(bytes) + " bytes, passed on)";
  };
  name(outcome.output, outcome.output_bytes);
  name(outcome.errors, outcome.error_bytes);
}

Result<void> give_raw(const Outcome& outcome, const std::string& program, const PrintedStreams& printed,
                      const Sink& sink) {
  const std::string text = unstarted(outcome, program);
  if (text.empty()) return lay_out(outcome, printed, sink);
  sink(text);
  return {};
}

std::string shown_with(const Outcome& outcome, const std::string& program, const ShownStreams& streams) {
  if (std::string text = unstarted(outcome, program); !text.empty()) return neutralised(text);
  std::string text;
  (void)lay_out(outcome, {chunks_of(streams.output), chunks_of(streams.errors)},
                [&](std::string_view piece) { text.append(piece); });
  return text + streams.note;
}

std::string shown_text(const Outcome& outcome, const std::string& program, const OutputBudget& budget) {
  auto streams = shown_streams(printed_by(outcome), budget);
  return shown_with(outcome, program, streams.ok() ? streams.value() : ShownStreams());
}

std::string process_output_schema() {
  return R"({"type": "object", "additionalProperties": false, "required": ["exit_code", "stdout", "stderr"],
    "properties": {"exit_code": {"type": "integer"}, "stdout": {"type": "string"}, "stderr": {"type": "string"},
    "ended": {"type": "string", "description": "the limit or signal that ended it"},
    "denials": {"type": "array", "items": {"type": "string"},
      "description": "what the network gate refused; trying again changes nothing"},
    "notes": {"type": "array", "items": {"type": "string"},
      "description": "remarks on the result, such as files that were quarantined"}}})";
}

std::string process_output_json(const Outcome& outcome, const ShownStreams& streams) {
  JsonWriter out;
  out.begin_object().member("exit_code", outcome.exit_code);
  out.member("stdout", streams.output).member("stderr", streams.errors);
  if (const std::string why = ended(outcome); !why.empty()) out.member("ended", neutralised(why));
  std::vector<std::string> refused;
  for (const auto& denial : outcome.denials) {
    if (is_by_egress(denial)) refused.push_back(neutralised(denial.what.text()));
  }
  if (!refused.empty()) out.member("denials", refused);
  if (const auto remarks = remarks_on(outcome); !remarks.empty()) out.member("notes", remarks);
  return out.end_object().text();
}

}  // namespace cloche
