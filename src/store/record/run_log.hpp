// A record read for people: one value a call. What it shows is what the lines say; whether they are the lines
// that were written is for verify to tell.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "store/record/chain_reading.hpp"
#include "store/record/run_place.hpp"

namespace cloche {

struct LoggedCall {
  std::string call_id;
  std::string task_id;
  std::string time;
  std::string tool;
  std::string args;  // compact JSON, its beginning
  std::string decision;
  std::vector<std::string> objections = {};  // "gate: decision: reason" of each gate that did not allow
  std::string outcome = {};                  // empty: it has not ended
  std::string exit = {};
  bool advisory = false;  // left to the agent: how it went is not known here
  std::string wall_ms = {};
};

LoggedCall logged_call(const JsonValue& line);

// What a gate, a limit or the network gate denied a call.
struct LoggedDenial {
  std::string run_id = {};
  std::string call_id;
  std::string task_id;
  std::string tool;
  std::string time;
  std::string by;
  std::string what;
  std::vector<JsonMember> others = {};  // what the record says of it besides
};
// All of a call: the list of its outcome, and the gates that refused it where the list does not have them.
std::vector<LoggedDenial> denials_of(const JsonValue& line);

struct EndedCall {
  LoggedCall call;
  std::string line;  // as it is in its transcript
};

// Each line of a call as it ends, in all transcripts of a run or in one.
class TranscriptFollower {
 public:
  using Visit = std::function<void(const JsonValue& call, std::string_view line)>;

  TranscriptFollower(RunPlace place, std::string task) : place_(std::move(place)), task_(std::move(task)) {}
  // What has been added since the last time; also in transcripts that are new.
  Result<void> read_on(const Visit& visit);
  // The last `most` of these, in the order in which they ended.
  Result<std::vector<EndedCall>> read_latest(size_t most);
  uint64_t unreadable_lines() const { return unreadable_; }

 private:
  Result<void> read_one(int transcripts, const std::string& name, const Visit& visit);

  RunPlace place_;
  std::string task_;  // empty: all
  std::map<std::string, LineReader> readers_;
  uint64_t unreadable_ = 0;
};

struct Log {
  std::vector<LoggedCall> calls;  // in the order of their ids
  uint64_t unreadable_lines = 0;
};
// With the calls that have begun and not ended.
Result<Log> read_log(const RunPlace& place, const std::string& task);
// One transcript alone.
Result<Log> read_log_file(const std::string& file);

// What became of the calls of a run, by its transcripts.
struct RunCounts {
  uint64_t refused = 0;   // calls
  uint64_t changed = 0;   // paths that were created, changed or deleted in the project
  uint64_t withheld = 0;  // paths that the judge of changes kept from it
  uint64_t staged = 0;    // paths of calls of which nothing reached it
};

// A run in a list, seen from its audit's first and last line.
struct RunSummary {
  std::string run_id;
  std::string written = {};    // when a line was added last
  uint64_t calls = 0;          // that have begun
  std::string workspace = {};  // of the first; empty: the line does not say
  std::optional<RunCounts> counts = {};
};
inline constexpr uint64_t most_counted_bytes = uint64_t{32} << 20;
// The runs below the state directory that have a record, the one written last at the end. Calls are counted
// from the newest run on, as far as so many bytes of transcripts go.
std::vector<RunSummary> list_runs(const std::string& state, uint64_t most_bytes = most_counted_bytes);

// The last whole lines of a task's transcript, of at most so many bytes together; empty when nothing was
// written yet.
Result<std::string> transcript_tail(const RunPlace& place, const std::string& task, size_t most_bytes);

// Of each line what its model has seen already: what it asked for and what it got. Verdicts with their rules
// and fixes, notes and layers are the operator's, and are not in it.
std::string transcript_for_model(std::string_view lines);

// The lines of one file that are JSON, as they are.
Result<void> visit_lines(const std::string& file, const TranscriptFollower::Visit& visit);

}  // namespace cloche
