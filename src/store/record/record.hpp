// A run's record, open to be written. begin() stands in the audit before the effect: no record, no effect.
// finish() stores the raw result, then the line of the transcript, then that transcript's new end in the
// audit.
//
// Threads and processes share it: calls of different tasks wait for each other only at the audit. The order
// of the locks is transcript, then audit, so that a holder of both sees a line and its head, or neither.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/chunks.hpp"
#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/record.hpp"
#include "store/record/chain.hpp"
#include "store/record/record_lines.hpp"
#include "store/record/run_place.hpp"
#include "store/record/stored_head.hpp"
#include "tools/files/workspace_access.hpp"

namespace cloche {

inline constexpr uint64_t max_recall_bytes = 1 << 20;

class Run {
 public:
  // sizes: output that went on to the caller is not stored again, and its lines say how long it was.
  enum class Results { stored, sizes };
  static Result<std::unique_ptr<Run>> open(const RunPlace& place, Durability durability,
                                           Results results = Results::stored);

  const RunPlace& place() const { return place_; }

  // The call's id, once the decision is written down.
  Result<std::string> begin(const DecisionRecord& decided);
  // `raw` is all that the call gave, of which `call.result` may show a part.
  Result<void> finish(const CallRecord& call, const Chunks& raw);
  Result<void> finish(const CallRecord& call, std::string_view raw) { return finish(call, chunks_of(raw)); }
  // Both, of a call that had no effect.
  Result<void> write(CallRecord& call) {
    call.call_id = TRY(begin(call.decided));
    return finish(call, call.result);
  }
  // A part of what a call of that task gave; past its end it is empty. At most max_recall_bytes.
  Result<FilePart> recall(std::string_view task_id, std::string_view call_id, uint64_t offset,
                          uint64_t limit) const;

 private:
  struct Task {
    std::string id;
    OwnedFd results;  // the directory of its raw results, where they are stored
    std::unique_ptr<Chain> transcript;
  };
  struct Ends {  // how long the files must be on the disk
    uint64_t transcript = 0;
    uint64_t audit = 0;
  };

  explicit Run(RunPlace place) : place_(std::move(place)) {}
  // The audit's one writer, once what it follows is known to be what was written.
  Result<Chain::Held> hold_audit();
  Result<void> note_cut_back(Chain::Held& audit, const ChainEnd& found);
  Result<void> begin_or_go_on();
  Result<std::shared_ptr<Task>> task(const std::string& id);
  Result<std::shared_ptr<Task>> open_task(const std::string& id) const;
  Result<RawResult> store_raw(const Task& task, const std::string& call_id, const Chunks& raw) const;
  Result<Ends> append_call(Task& task, const CallRecord& call, const std::optional<RawResult>& raw);
  Result<uint64_t> append_audit(std::string open_object, Counts counts);

  RunPlace place_;
  Durability durability_ = Durability::buffered;
  Results results_ = Results::stored;
  OwnedFd in_use_;       // holds the shared lock against pruning
  OwnedFd transcripts_;  // the directory
  std::unique_ptr<Chain> audit_;
  StoredHead stored_head_;
  std::mutex tasks_mutex_;
  std::list<std::shared_ptr<Task>> tasks_;  // the last used first; only some stay open
};

// An Error while a process has the run open. The descriptor keeps others from opening it.
Result<OwnedFd> lock_finished_run(const RunPlace& place, int run_directory);

// Files without a name, for output that is more than a server holds in memory for one call. They are gone
// when their descriptor is closed.

// Nothing: there can be none in that directory, and then memory has to do.
OwnedFd open_spill(const std::string& directory);

// The text, and what is in the file behind it. Both outlive the pieces; -1: there is no file.
Chunks chunks_of(std::string_view first, int spill);

}  // namespace cloche
