// Where a run is, and how its own files are opened.
//
//   --run DIR   DIR/artifacts is the workspace, DIR/artifacts/tool_calls the transcripts, DIR/audit.jsonl
//   --run DIR --workspace W
//               DIR/tool_calls and DIR/audit.jsonl, and W stays clean
//   otherwise   STATE/runs/<run id>/ has tool_calls and audit.jsonl, and the workspace stays clean;
//               each `cloche run` that names no run appends to the one of its workspace and day
//
// A file of the record is 0600 from its first byte, is opened beneath a directory that is held, and is
// believed only when no other user could have put it there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "policy/gates/bare_word.hpp"

namespace cloche {

inline constexpr const char* lock_name = ".lock";
inline constexpr const char* audit_name = "audit.jsonl";
inline constexpr const char* transcripts_name = "tool_calls";
inline constexpr const char* task_homes_name = "tasks";
inline constexpr const char* quarantine_name = "quarantine";
inline constexpr std::string_view result_ending = ".txt";

enum class RunLayout { given, state };  // with its workspace in artifacts/, or the record alone
enum class RunWorkspace { inside, elsewhere };

struct RunPlace {
  std::string directory;  // absolute, every link resolved
  RunLayout layout = RunLayout::state;
  std::string state = {};  // where the last run and the heads are stored; empty: nowhere

  std::string run_id() const;     // the directory's own name
  std::string workspace() const;  // of --run DIR; empty: the run does not say
  std::string transcripts() const;
  // What no command may see of it, whatever it is granted.
  std::vector<std::string> own_files() const;
  // Where of the protected set is put what a call made.
  std::string quarantine(const std::string& call_id) const {
    return directory + "/" + quarantine_name + "/" + call_id;
  }
  std::string audit() const { return directory + "/" + audit_name; }
};

// r-20261115-223015-ab12: sorts by time; the end keeps two of one second apart.
std::string make_run_id(uint64_t unix_seconds, uint16_t salt);

// These make what is missing, and STATE/last then names the run.
// With the workspace elsewhere a directory that has artifacts/ keeps its layout; one that has the record
// alone is refused without a workspace.
Result<RunPlace> place_given_run(const std::string& directory, const std::string& state,
                                 RunWorkspace workspace = RunWorkspace::inside);
Result<RunPlace> place_new_run(const std::string& state);
// Where the first would put it, or why it could not. Makes nothing.
Result<RunPlace> plan_given_run(const std::string& directory, const std::string& state,
                                RunWorkspace workspace = RunWorkspace::inside);
// Of this name, below the state directory: the same one for every caller that names it.
Result<RunPlace> place_named_run(const std::string& id, const std::string& state);
Result<RunPlace> plan_named_run(const std::string& id, const std::string& state);  // makes nothing

// The run of all commands of one day, by UTC, in one workspace: w-20261115-0123456789ab. A directory that was
// replaced by another one of the same path is another workspace.
Result<RunPlace> place_day_run(const std::string& workspace, int held_workspace, const std::string& state);

// A run that is there: its id, "last", or its directory. Makes nothing.
Result<RunPlace> find_run(const std::string& word, const std::string& state);
bool has_record(const RunPlace& place);
// The runs below the state directory, by name and so by age.
std::vector<RunPlace> runs_in(const std::string& state);

// The files and directories of a record. `shown` is the name for messages. A link, a FIFO, a second name, a
// foreign owner or a file that others may write is refused with a sentence, and never waited for.
// Who only reads takes what it finds, as long as it is a file or a directory: root looks at the records of
// others, and a copy has the modes that the copying gave it.
enum class RecordUse { write, read };
Result<OwnedFd> hold_run_directory(const RunPlace& place, RecordUse use);
Result<OwnedFd> hold_transcripts(const RunPlace& place, int run_directory, RecordUse use);  // write makes it
Result<OwnedFd> make_record_directory(int parent, const std::string& name, const std::string& shown);
Result<OwnedFd> open_record_directory(int parent, const std::string& name, const std::string& shown);
Result<OwnedFd> append_record_file(int parent, const std::string& name, const std::string& shown);
Result<OwnedFd> read_record_file(int parent, const std::string& name, const std::string& shown);

}  // namespace cloche
