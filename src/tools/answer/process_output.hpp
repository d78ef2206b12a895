// What a model gets back of a program that ran: three things that are never mixed up, to the byte:
//   a refusal              refused by path: ../x resolves to /x, outside the workspace; ...
//   a missing program      [INFO] tool 'ruff' not installed
//   how it went            exit_code: 0\nstdout: ...\nstderr: ...
// Before the last stands a line in brackets when nothing that the program wrote is in the project.
// The record stores the whole result as it came; what is shown is bounded, valid UTF-8, and moves no
// terminal.
#pragma once

#include <string>
#include <string_view>

#include "base/chunks.hpp"
#include "model/outcome.hpp"
#include "model/verdict.hpp"

namespace cloche {

// How much of a result a model sees; the rest is recalled by call id.
struct OutputBudget {
  size_t bytes = size_t{32} << 10;
  std::string call_id = {};  // empty: there is no record to recall it from
};

// Bytes that are not UTF-8 become U+FFFD; control characters but newline and tab become their pictures
// (U+2400...), and what reverses or hides text is written as \u{...}.
std::string neutralised(std::string_view bytes);

// Head and tail, with a line between them that says how much is missing and how to get it.
std::string within_budget(const std::string& text, const OutputBudget& budget);
std::string cut_line(uint64_t cut_bytes, uint64_t all_bytes, const OutputBudget& budget);
// The same for the end of the result: some clients show a model only the first part of a long one, some the
// first and the last.
std::string cut_note(const OutputBudget& budget);
// A text within the budget, and that note when it was cut.
std::string shown_within(const std::string& text, const OutputBudget& budget);
// A text is cut only between characters.
size_t back_to_boundary(std::string_view text, size_t at);

// All that a program has printed, in memory or in a file.
struct PrintedStreams {
  Chunks output;
  Chunks errors;
};
PrintedStreams printed_by(const Outcome& outcome);  // of one that outlives it, and holds all of it

struct ShownStreams {
  std::string output = {};
  std::string errors = {};
  std::string note = {};  // for the end, when one of them was cut
};
// Both whole when they fit; else each gets half, and what one does not need goes to the other.
Result<ShownStreams> shown_streams(const PrintedStreams& printed, const OutputBudget& budget);

// What the reader of a result has to know besides, a sentence each: what is not in the project, which files
// were quarantined, and that the program ran without isolation.
std::vector<std::string> remarks_on(const Outcome& outcome);
// Where nothing of what a call wrote is in the project: that, in brackets, as the first line of a result.
std::string staged_text(const Outcome& outcome);
// The other remarks, a line each in brackets, for the end of a result.
std::string remarks_text(const Outcome& outcome);

// What the network gate refused while the program ran, once each, and what to do about it.
std::string egress_text(const Outcome& outcome);

// Of output that went on to the caller how much it was, in its place: for the record.
void name_passed_on(Outcome& outcome);
// Of a program that was started or could not be; `program` is its name.
std::string shown_text(const Outcome& outcome, const std::string& program, const OutputBudget& budget);
// The same of output that the outcome does not hold whole.
Result<void> give_raw(const Outcome& outcome, const std::string& program, const PrintedStreams& printed,
                      const Sink& sink);
std::string shown_with(const Outcome& outcome, const std::string& program, const ShownStreams& streams);

// JSON Schema of {exit_code, stdout, stderr, ended?, denials?, notes?}.
std::string process_output_schema();
std::string process_output_json(const Outcome& outcome, const ShownStreams& streams);

}  // namespace cloche
