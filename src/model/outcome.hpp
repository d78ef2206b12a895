// Outcome: how a command went. Not an error: exit 1, a signal and a limit are ordinary ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/message.hpp"
#include "model/backend.hpp"
#include "model/call.hpp"
#include "model/changes_outcome.hpp"
#include "model/layers.hpp"
#include "model/limits.hpp"
#include "model/verdict.hpp"

namespace cloche {

// What a call sent to and got from the hosts that it was allowed to reach, and the short form of a long list.
struct HostUse {
  std::string name;
  uint16_t port = 0;
  uint64_t connections = 0;
  uint64_t bytes_out = 0;
  uint64_t bytes_in = 0;
  uint64_t more_hosts = 0;  // not zero: no host, but the sum of so many that have no entry of their own
};

// Those that most was sent to, and one closing entry with the sum of the others. A list that is short enough
// stays as it is. Pure.
std::vector<HostUse> busiest(std::vector<HostUse> all, size_t most);

enum class End { exited, signaled, timeout, limit, refused, not_found, not_executable, failed };
std::string_view name_of(End end);

// How a tool can fail though its process ended well: what it printed is no answer.
enum class AnswerFault { none, invalid_json, schema };
std::string_view name_of(AnswerFault fault);

struct Usage {
  uint64_t wall_ms = 0;
  uint64_t cpu_ms = 0;
  uint64_t max_rss_bytes = 0;
  std::optional<uint64_t> memory_peak_bytes = {};  // of the whole tree, where something counted it
  std::optional<uint64_t> memory_overshoot_bytes =
      {};  // how far a watched total was passed before it was seen
};

// What says no while a command runs.
enum class Enforcer { limit, syscall, egress };
using DeniedBy = std::variant<GateId, Enforcer>;
std::string_view name_of(const DeniedBy& by);

struct Denial {
  DeniedBy by = Enforcer::limit;
  Message what = {};       // one sentence
  Message advice = {};     // how it ends for the operator alone
  bool transient = false;  // it says nothing of the next call: a part of ours was lost
  uint64_t times = 1;      // how often it was decided
  bool said = false;       // to the operator, when it was decided
  bool is_reason = false;  // it ended the command, and the outcome's reason says so
};
// For the operator, with the advice and the count.
std::string operators_sentence(const Denial& denial);
bool is_by_egress(const Denial& denial);
// By a limit or the filter, which the command outlived: its reason says nothing of it.
bool is_outlived(const Denial& denial);

// Without a box: a tool that Cloche is itself, or a call that was judged for an agent which makes it.
enum class Unboxed { in_process, advisory };
using RanBy = std::variant<Backend, Unboxed>;
std::string_view name_of(const RanBy& by);

// Something of the protected set that the command made, and that is out of the tree again.
struct Quarantined {
  std::string path;            // where it was: relative to the workspace, absolute in any other tree
  std::string reason;          // who would have executed it
  std::string kept_at = {};    // where it is now
  std::string host_path = {};  // where it was, absolute
};

// What may be behind a failure. It says of itself that it is a guess.
struct Guess {
  std::string said = {};    // for every reader
  std::string advice = {};  // how it ends for the operator alone: "; ..."
};

// Whether the program had a sandbox made for the call, one that waited for it, or was itself there and
// waited.
enum class Started { cold, pooled, warm };
std::string_view name_of(Started started);

struct Outcome {
  End end = End::failed;
  int exit_code = 125;  // what `cloche run` exits with
  int signal = 0;
  std::optional<LimitId> limit = {};
  AnswerFault answer_fault = AnswerFault::none;
  std::string output = {};  // captured stdout and stderr, when asked for
  std::string errors = {};
  uint64_t output_bytes = 0;
  uint64_t error_bytes = 0;
  bool truncated = false;
  Usage usage = {};
  RanBy backend = Backend::native;
  std::optional<Started> started = {};  // nothing: the call started no program
  std::vector<Layer> layers = {};
  std::vector<Denial> denials = {};
  std::vector<HostUse> network = {};               // what was reached; the last may sum up others
  std::vector<std::string> published = {};         // HOST_PORT:PORT: what the host's loopback led to
  std::vector<std::string> network_failures = {};  // what was allowed and did not answer, a sentence each
  std::optional<ChangesOutcome> changes = {};      // of a call whose writes went to layers
  std::vector<Quarantined> quarantined = {};
  std::vector<std::string> restored = {};  // protected files that were changed or removed, and put back
                                           // (named as the quarantined ones are)
  std::string look_gap = {};  // why the look for such things is not complete; empty: it is, or none was due
  std::string proof = {};     // digest of the self-proof that stands behind the layers
  Guess guess = {};           // see guess_by_last_words
  bool overlays_released = false;    // no process can write through the call's layers any more
  bool killed_from_outside = false;  // the command had started, and its box was then ended by a signal
  Message reason = {};               // one sentence for everything but a plain exit
  Message ended = {};   // of an end by signal, where the reason is "ended" and this: "by signal 9 (Killed)"
  Message advice = {};  // how it ends for the operator alone: what he can do about it; "; ..." or empty
};

// The command ended, but what it left could not be looked at whole: whatever it says of itself, this is no
// success.
void distrust(Outcome& outcome, std::string gap);
// The same where nothing of it reached the project.
void fail_changes(Outcome& outcome, std::string why);

// What of a command's confinement its last words may be about.
struct GuessTerms {
  bool has_layer = false;                    // its writes went to a layer
  bool may_trace = false;                    // --grant debug
  std::vector<std::string> kept_paths = {};  // of the workspace, without a layer: shown read-only
};

// By what a command that failed said last: what its confinement may have to do with it, and what works
// instead.
Guess guess_by_last_words(std::string_view said_last, const GuessTerms& terms);

// For the operator: the whole sentence. What the model reads of an outcome is in tools/answer/process_output.
std::string operators_reason(const Outcome& outcome);

// What was taken out of the tree or put back into it, a sentence each; shortened when there is much of it.
// The operator also reads where it is, and how to keep it.
std::vector<std::string> quarantine_lines(const Outcome& outcome, Asks reader);

// The members of that JSON, into an object that is open.
class JsonWriter;
void write_members(JsonWriter& out, const Outcome& outcome, const std::string& plan_digest);
// The JSON of `run --json`, one line.
std::string to_json(const Outcome& outcome, const std::string& plan_digest,
                    const std::vector<std::string>& notes = {});

}  // namespace cloche
