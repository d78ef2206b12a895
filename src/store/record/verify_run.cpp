// The files are read while others may write. An audit is read first, up to a size at which no line is half
// written; then each transcript, which therefore has at least what that audit says of it. A transcript that
// has more sends us back for what the audit has got meanwhile.
#include "store/record/verify_run.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json/json_writer.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "base/text/sha256.hpp"
#include "store/record/record.hpp"
#include "store/record/stored_head.hpp"

namespace cloche {
namespace {

// What the audit says that a transcript's end was.
struct Head {
  uint64_t lines = 0;
  std::string hash;
  uint64_t at = 0;  // its own line in the audit
};

struct Begun {
  std::string task;
  uint64_t at = 0;
};

struct Line {
  std::string call_id = {};           // empty: torn, or a mark of that
  std::optional<RawResult> raw = {};  // none: only the sizes of the output were recorded
};

class RunVerifier {
 public:
  RunVerifier(const RunPlace& place, const VerifyRequest& request) : place_(place), request_(request) {}

  Result<Verification> verify() {
    stored_ = read_stored_head(place_);
    auto held = hold_run_directory(place_, RecordUse::read);
    if (!held.ok() && held.error().number == ENOENT && stored_) {
      fault("", 0, "the run is gone: " + remembered(*stored_));
      return std::move(found_);
    }
    const OwnedFd directory = TRY(std::move(held));
    look_for_users(directory.get());
    TRY(read_audit(directory.get()));
    if (audit_) {
      TRY(verify_transcripts(directory.get()));
      check_stored_head();
      check_given_head();
      fault(audit_->bad());  // of what was read last
      note_open_calls();
    }
    return std::move(found_);
  }

 private:
  void fault(std::string file, uint64_t line, std::string why) {
    if (!found_.first_bad) found_.first_bad = BadLine{std::move(file), line, std::move(why)};
  }
  void fault(const std::optional<BadLine>& bad) {
    if (bad) fault(bad->file, bad->line, bad->why);
  }
  std::string shown_path(const std::string& name) const {
    return place_.transcripts().substr(place_.directory.size() + 1) + "/" + name;
  }

  void look_for_users(int directory) {
    OwnedFd lock(::openat(directory, ".lock", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    in_use_ = lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
  }

  Result<void> read_audit(int directory) {
    auto file = read_record_file(directory, audit_name, audit_name);
    if (!file.ok() && file.error().number == ENOENT && !has_record(place_) && !stored_)
      return refusal(shown(place_.directory) + " has no record in it");
    if (!file.ok()) {
      fault(audit_name, 0,
            file.error().number != ENOENT ? describe(file.error())
            : stored_                     ? "it is missing: " + remembered(*stored_)
                                          : "it is missing");
      return {};
    }
    {
      const auto quiet = TRY(ReadLock::take(file.value().get()));
      stored_ = read_stored_head(place_);  // of a line that the audit has by now
    }
    audit_.emplace(std::move(file).value(), audit_name);
    TRY(read_on());
    audit_->finish();
    fault(audit_->bad());
    return {};
  }

  Result<void> read_on() {
    TRY(audit_->read_on([this](const JsonValue& line) { take_audit_line(line); }));
    found_.head = audit_->chain().end().hash;
    return {};
  }

  void take_audit_line(const JsonValue& line) {
    const std::string kind = text_of(line, "kind");
    const uint64_t at = audit_->chain().lines();
    if (kind == "decision") {
      const bool fresh = begun_.emplace(text_of(line, "call_id"), Begun{text_of(line, "task_id"), at}).second;
      if (!fresh) fault(audit_name, at, "it begins a call that has begun before");
    } else if (kind == "head") {
      headed_.insert(text_of(line, "call_id"));
      heads_[text_of(line, "task_id")].push_back({number_of(line, "lines"), text_of(line, "head"), at});
    } else if (kind == "cut_back") {
      const uint64_t lines = number_of(line, "lines");
      fault(audit_name, at,
            (lines >= at ? "lines before it were cut off: the state directory remembered "
                         : "the lines before it are not those that were written: the state directory "
                           "remembered another line ") +
                std::to_string(lines));
    } else {
      fault(audit_name, at, "it is of no kind that an audit has");
    }
  }

  Result<void> verify_transcripts(int directory) {
    const auto transcripts = hold_transcripts(place_, directory, RecordUse::read);
    if (!transcripts.ok()) {
      if (!heads_.empty() || transcripts.error().number != ENOENT)
        fault(shown_path(""), 0, describe(transcripts.error()));
      count_lines();
      return {};
    }
    std::set<std::string> tasks;
    for (const auto& name : names_in(place_.transcripts())) {
      const bool transcript = name.ends_with(transcript_ending);
      const std::string task =
          transcript ? name.substr(0, name.size() - transcript_ending.size()) : std::string(name);
      if (check_task_id(task).ok() && (transcript || is_directory_in(transcripts.value().get(), name))) {
        tasks.insert(task);
      } else if (request_.task.empty()) {
        fault(shown_path(shown(name, 80)), 0, "it is no file of a record: another program has put it there");
      }
    }
    for (const auto& [task, heads] : heads_) tasks.insert(task);
    if (!request_.task.empty() && !tasks.contains(request_.task))
      return refusal("there is no task '" + shown(request_.task, 80) + "' in this run");
    for (const auto& task : tasks) {
      if (request_.task.empty() || request_.task == task) TRY(verify_task(transcripts.value().get(), task));
    }
    count_lines();
    return {};
  }

  static bool is_directory_in(int directory, const std::string& name) {
    struct stat seen {};
    return ::fstatat(directory, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(seen.st_mode);
  }

  static std::string remembered(const ChainEnd& stored) {
    return "the state directory remembers " + std::to_string(stored.line) +
           (stored.line == 1 ? " line of it" : " lines of it");
  }

  // A writer makes a task's files before its first decision.
  void note_without_calls(const std::string& task) {
    const bool decided = std::any_of(begun_.begin(), begun_.end(),
                                     [&](const auto& begun) { return begun.second.task == task; });
    if (!decided)
      found_.notes.push_back(shown_path(task) +
                             ": no decision is about this task: its writer stopped "
                             "before the first, or another program has made its files");
  }

  void count_lines() {
    found_.lines += audit_->chain().lines();
    note_recoveries(*audit_);
  }

  void note_recoveries(const ChainReading& reading) {
    const uint64_t count = reading.chain().recoveries();
    if (count > 0)
      found_.notes.push_back(reading.name() + ": a torn end was recovered and marked " +
                             std::to_string(count) + (count == 1 ? " time" : " times"));
  }

  Result<void> verify_task(int transcripts, const std::string& task) {
    const std::string name = task + std::string(transcript_ending);
    const std::vector<Head> known_heads = heads_[task];  // what this transcript must have at least
    std::vector<Line> lines;
    auto file = read_record_file(transcripts, name, shown_path(name));
    const bool absent = !file.ok() && file.error().number == ENOENT;
    if (!file.ok() && !absent) {
      fault(shown_path(name), 0, describe(file.error()));
      return {};
    }
    if (!absent) {
      ChainReading reading(std::move(file).value(), shown_path(name));
      TRY(reading.read_on([&](const JsonValue& line) { take_call(line, task, reading, lines); }));
      reading.finish();
      fault(reading.bad());
      check_heads(reading, known_heads);
      TRY(check_covered(reading, task, lines));
      check_decisions(reading, task, lines);
      note_recoveries(reading);
      found_.lines += reading.chain().lines();
    } else if (!known_heads.empty()) {
      fault(shown_path(name), 0, "it is missing, and " + said_by(known_heads.back()));
    }
    TRY(check_results(transcripts, task, lines));
    note_without_calls(task);
    return {};
  }

  static std::string said_by(const Head& head) {
    return std::string(audit_name) + " line " + std::to_string(head.at) + " says that it has " +
           std::to_string(head.lines) + (head.lines == 1 ? " line" : " lines");
  }

  void take_call(const JsonValue& line, const std::string& task, const ChainReading& reading,
                 std::vector<Line>& lines) {
    const uint64_t at = reading.chain().lines();
    const JsonValue* raw = line.find("raw");
    std::optional<RawResult> stored;
    if (raw != nullptr) stored = {number_of(*raw, "bytes"), text_of(*raw, "sha256")};
    if (lines.size() < at) lines.resize(at);
    lines[at - 1] = {text_of(line, "call_id"), std::move(stored)};
    if (text_of(line, "task_id") != task) fault(reading.name(), at, "it is of another task");
  }

  void check_heads(const ChainReading& reading, const std::vector<Head>& known) {
    const uint64_t lines = reading.chain().lines();
    for (const Head& head : known) {
      if (reading.hash_at(head.lines) == head.hash) continue;
      if (head.lines > lines)
        return fault(reading.name(), lines + 1, "its end was cut off: " + said_by(known.back()));
      return fault(reading.name(), head.lines,
                   "it is not the line whose hash stands in " + std::string(audit_name) + " line " +
                       std::to_string(head.at));
    }
  }

  // The last call must have its head in the audit: now, or once the writer that we may have met is done. A
  // writer that ended between the two lines leaves no head, and neither does who cuts off the audit's end:
  // the state directory tells which, and a later head of the task answers for the line.
  Result<void> check_covered(const ChainReading& reading, const std::string& task,
                             const std::vector<Line>& lines) {
    const auto covered = [&](uint64_t line) {
      const std::vector<Head>& heads = heads_[task];
      return std::any_of(heads.begin(), heads.end(), [&](const Head& head) { return head.lines >= line; });
    };
    if (!lines.empty() && !covered(lines.size())) TRY(read_on());
    const bool audit_is_whole = stored_ && audit_->hash_at(stored_->line) == stored_->hash;
    for (uint64_t line = 1; line <= lines.size(); ++line) {
      const std::string& call_id = lines[line - 1].call_id;
      if (call_id.empty() || headed_.contains(call_id)) continue;
      if (audit_is_whole || covered(line)) {
        found_.notes.push_back(reading.name() + " line " + std::to_string(line) + " has no head in " +
                               audit_name + ": its writer stopped before that");
      } else {
        fault(audit_name, audit_->chain().lines() + 1,
              "its end was cut off, or its writer stopped: it has no head for line " + std::to_string(line) +
                  " of " + reading.name());
      }
    }
    return {};
  }

  void check_decisions(const ChainReading& reading, const std::string& task, const std::vector<Line>& lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].call_id.empty()) continue;
      const auto decided = begun_.find(lines[i].call_id);
      if (decided == begun_.end() || decided->second.task != task)
        fault(reading.name(), i + 1,
              "no decision about " + shown(lines[i].call_id, 80) + " is in " + audit_name);
      if (!ended_.insert(lines[i].call_id).second)
        fault(reading.name(), i + 1, shown(lines[i].call_id, 80) + " has ended before");
    }
  }

  Result<void> check_results(int transcripts, const std::string& task, const std::vector<Line>& lines) {
    std::set<std::string> expected;
    const auto results = open_record_directory(transcripts, task, shown_path(task));
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].call_id.empty() || !lines[i].raw) continue;
      const std::string name = lines[i].call_id + std::string(result_ending);
      expected.insert(name);
      const std::string why = results.ok() ? problem_of_result(results.value().get(), name, *lines[i].raw)
                                           : std::string("it is missing");
      if (!why.empty())
        fault(shown_path(task + "/" + name), 0,
              why + "; it belongs to line " + std::to_string(i + 1) + " of " +
                  shown_path(task + std::string(transcript_ending)));
    }
    if (!results.ok()) return {};
    for (const auto& name : names_in(place_.transcripts() + "/" + task)) {
      if (expected.contains(name)) continue;
      if (found_.first_bad) break;  // its line may be among those that could not be read
      if (in_use_ && !is_open_call(task, name)) TRY(read_on());  // it may have begun since
      const std::string where = shown_path(task + "/" + shown(name, 80));
      if (is_open_call(task, name)) {
        found_.notes.push_back(where + " has no line" +
                               (in_use_ ? " yet" : ": its writer stopped before that"));
      } else {
        fault(where, 0, "no line of the transcript is about it: the line was cut off, or its writer stopped");
      }
    }
    return {};
  }

  bool is_open_call(const std::string& task, std::string_view result) const {
    if (!result.ends_with(result_ending)) return false;
    const std::string call_id(result.substr(0, result.size() - result_ending.size()));
    const auto begun = begun_.find(call_id);
    return begun != begun_.end() && begun->second.task == task && !ended_.contains(call_id);
  }

  static std::string problem_of_result(int results, const std::string& name, const RawResult& raw) {
    if (!is_bare_word(name)) return "its name is no bare word";
    const auto file = read_record_file(results, name, name);
    if (!file.ok()) return file.error().number == ENOENT ? "it is missing" : describe(file.error());
    Sha256 digest;
    uint64_t bytes = 0;
    std::string chunk(256 << 10, '\0');
    while (true) {
      const ssize_t got = ::read(file.value().get(), chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return describe(system_error("it cannot be read"));
      if (got == 0) break;
      digest.add(std::string_view(chunk).substr(0, static_cast<size_t>(got)));
      bytes += static_cast<uint64_t>(got);
      if (bytes > raw.bytes) break;
    }
    return bytes == raw.bytes && digest.finish() == raw.sha256 ? "" : "its bytes were changed";
  }

  void check_stored_head() {
    if (!stored_ || audit_->hash_at(stored_->line) == stored_->hash) return;
    const uint64_t lines = audit_->chain().lines();
    if (stored_->line > lines) {
      fault(audit_name, lines + 1,
            "its end was cut off: the state directory remembers " + std::to_string(stored_->line) + " lines");
    } else {
      fault(audit_name, stored_->line, "it is not the line that the state directory remembers");
    }
  }

  void check_given_head() {
    if (request_.head.empty()) return;
    const uint64_t line = audit_->find_hash(request_.head);
    if (line == 0) {
      fault(audit_name, 0, "the head that was given is not in it: " + shown(request_.head, 80));
    } else if (line == audit_->chain().lines()) {
      found_.notes.push_back("the head that was given is the newest line");
    } else {
      found_.notes.push_back("the head that was given is line " + std::to_string(line) + ", " +
                             std::to_string(audit_->chain().lines() - line) + " before the newest");
    }
  }

  void note_open_calls() {
    if (found_.first_bad) return;  // what could not be read may have ended them
    for (const auto& [call_id, begun] : begun_) {
      const bool asked_about = request_.task.empty() || request_.task == begun.task;
      if (asked_about && !ended_.contains(call_id))
        found_.notes.push_back(shown(call_id, 80) + " has no result: still running or crashed");
    }
  }

  const RunPlace& place_;
  const VerifyRequest& request_;
  Verification found_;
  bool in_use_ = false;
  std::optional<ChainEnd> stored_;
  std::optional<ChainReading> audit_;
  std::map<std::string, Begun> begun_;
  std::set<std::string> ended_;
  std::set<std::string> headed_;                    // calls whose end the audit knows
  std::map<std::string, std::vector<Head>> heads_;  // by task, in the order of the audit
};

}  // namespace

Result<Verification> verify_run(const RunPlace& place, const VerifyRequest& request) {
  return RunVerifier(place, request).verify();
}

Result<Verification> verify_file(const std::string& file, const VerifyRequest& request) {
  ChainReading reading(TRY(read_record_file(AT_FDCWD, file, file)), file);
  TRY(reading.read_on([](const JsonValue&) {}));
  reading.finish();
  Verification found{reading.chain().lines(), reading.chain().end().hash, reading.bad()};
  found.notes.push_back("only the chain of this one file was looked at: its audit would show a cut-off end");
  if (!request.head.empty() && reading.find_hash(request.head) == 0 && !found.first_bad)
    found.first_bad = BadLine{file, 0, "the head that was given is not in it: " + shown(request.head, 80)};
  return found;
}

std::string to_json(const Verification& verification) {
  JsonWriter out;
  out.begin_object().member("ok", !verification.first_bad).member("lines", verification.lines);
  out.member("head", verification.head).key("first_bad");
  if (const auto& bad = verification.first_bad) {
    out.begin_object()
        .member("file", bad->file)
        .member("line", bad->line)
        .member("why", bad->why)
        .end_object();
  } else {
    out.null();
  }
  return out.member("notes", verification.notes).end_object().text();
}

}  // namespace cloche
