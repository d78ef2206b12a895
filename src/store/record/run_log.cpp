#include "store/record/run_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/json/json_writer.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/read_at.hpp"
#include "store/record/record_lines.hpp"

namespace cloche {
namespace {

constexpr size_t shown_args_bytes = 400;
constexpr const char* reading_the_record = "read the record";

std::string number_text(const JsonValue& line, std::string_view key) {
  const JsonValue* value = line.find(key);
  return value != nullptr && value->is_number() ? value->text : std::string();
}

std::vector<std::string> objections_in(const JsonValue& line) {
  std::vector<std::string> found;
  const JsonValue* verdicts = line.find("verdicts");
  if (verdicts == nullptr) return found;
  std::string last_reason;
  for (const auto& verdict : verdicts->items) {
    const std::string decision = text_of(verdict, "decision");
    if (decision == "allow") continue;
    // A call that cannot be parsed is refused by gate after gate for one reason: once is enough.
    std::string reason = text_of(verdict, "reason");
    if (reason == last_reason && !reason.empty()) continue;
    const std::string rule = text_of(verdict, "rule");
    found.push_back(text_of(verdict, "gate") + ": " + decision + ": " + reason +
                    (rule.empty() ? "" : " (" + rule + ")"));
    last_reason = std::move(reason);
  }
  return found;
}

void sort_by_id(std::vector<LoggedCall>& calls) {
  // c-10000 comes after c-9999.
  std::stable_sort(calls.begin(), calls.end(), [](const LoggedCall& a, const LoggedCall& b) {
    return a.call_id.size() != b.call_id.size() ? a.call_id.size() < b.call_id.size() : a.call_id < b.call_id;
  });
}

Result<RunSummary> summary_of(const RunPlace& place) {
  constexpr size_t most = 64 << 10;
  const OwnedFd audit = TRY(read_record_file(AT_FDCWD, place.audit(), place.audit()));
  struct stat seen {};
  if (::fstat(audit.get(), &seen) != 0) return system_error("look at " + place.audit());
  RunSummary run{.run_id = place.run_id()};
  run.written = show_time(static_cast<uint64_t>(seen.st_mtim.tv_sec) * 1000);
  const auto size = static_cast<uint64_t>(seen.st_size);
  const bool in_one = size <= most;
  const std::string last = TRY(sys::read_at(audit.get(), in_one ? 0 : size - most, most, reading_the_record));
  if (const auto end = read_file_end(last, in_one ? Window::whole_file : Window::last_part))
    run.calls = end->good.calls;
  const std::string first = in_one ? last : TRY(sys::read_at(audit.get(), 0, most, reading_the_record));
  if (const auto line = read_line(std::string_view(first).substr(0, first.find('\n'))); line.ok())
    run.workspace = text_of(line.value(), "workspace");
  return run;
}

void count(RunCounts& counts, const JsonValue& call) {
  if (text_of(call, "outcome") == "refused") ++counts.refused;
  const JsonValue* changes = call.find("changes");
  if (changes == nullptr) return;
  const uint64_t paths =
      number_of(*changes, "created") + number_of(*changes, "changed") + number_of(*changes, "deleted");
  if (text_of(*changes, "end") == "staged") {
    counts.staged += paths;
    return;
  }
  const JsonValue* list = changes->find("withheld");
  const uint64_t listed = list != nullptr ? list->items.size() : 0;
  const uint64_t withheld = std::min(paths, std::max(listed, number_of(*changes, "withheld_in_all")));
  counts.withheld += withheld;
  counts.changed += paths - withheld;
}

uint64_t transcript_bytes(const RunPlace& place) {
  uint64_t bytes = 0;
  for (const auto& name : names_in(place.transcripts())) {
    struct stat seen {};
    if (name.ends_with(transcript_ending) && ::lstat((place.transcripts() + "/" + name).c_str(), &seen) == 0)
      bytes += static_cast<uint64_t>(seen.st_size);
  }
  return bytes;
}

std::optional<RunCounts> counts_of(const RunPlace& place) {
  RunCounts counts;
  const auto read = TranscriptFollower(place, "").read_on(
      [&](const JsonValue& call, std::string_view) { count(counts, call); });
  return read.ok() ? std::optional(counts) : std::nullopt;
}

bool is_call(const JsonValue& line) { return line.is_object() && line.find("call_id") != nullptr; }

}  // namespace

LoggedCall logged_call(const JsonValue& line) {
  const JsonValue* args = line.find("args");
  const JsonValue* usage = line.find("usage");
  LoggedCall call;
  call.call_id = text_of(line, "call_id");
  call.task_id = text_of(line, "task_id");
  call.time = text_of(line, "timestamp");
  call.tool = text_of(line, "tool");
  call.args = args == nullptr ? "" : to_json(*args).substr(0, shown_args_bytes);
  call.decision = text_of(line, "decision");
  call.objections = objections_in(line);
  call.outcome = text_of(line, "outcome");
  call.exit = number_text(line, "exit");
  const JsonValue* advisory = line.find("advisory");
  call.advisory = advisory != nullptr && advisory->truth;
  call.wall_ms = usage == nullptr ? "" : number_text(*usage, "wall_ms");
  return call;
}

std::vector<LoggedDenial> denials_of(const JsonValue& line) {
  std::vector<LoggedDenial> found;
  const auto add = [&](std::string by, std::string what) -> LoggedDenial& {
    found.push_back({.call_id = text_of(line, "call_id"),
                     .task_id = text_of(line, "task_id"),
                     .tool = text_of(line, "tool"),
                     .time = text_of(line, "timestamp"),
                     .by = std::move(by),
                     .what = std::move(what)});
    return found.back();
  };
  if (const JsonValue* denials = line.find("denials"); denials != nullptr) {
    for (const auto& denial : denials->items) {
      LoggedDenial& one = add(text_of(denial, "by"), text_of(denial, "what"));
      for (const auto& member : denial.members)
        if (member.name != "by" && member.name != "what") one.others.push_back(member);
    }
  }
  const JsonValue* verdicts = line.find("verdicts");
  if (verdicts == nullptr) return found;
  for (const auto& verdict : verdicts->items) {
    const std::string gate = text_of(verdict, "gate");
    const bool is_listed =
        std::ranges::any_of(found, [&](const LoggedDenial& denial) { return denial.by == gate; });
    if (text_of(verdict, "decision") == "deny" && !is_listed)
      add(gate, "refused by " + gate + ": " + text_of(verdict, "reason"));
  }
  return found;
}

Result<void> TranscriptFollower::read_on(const Visit& visit) {
  const OwnedFd directory = TRY(hold_run_directory(place_, RecordUse::read));
  const auto transcripts = hold_transcripts(place_, directory.get(), RecordUse::read);
  if (!transcripts.ok() && transcripts.error().number == ENOENT) return {};  // no call has been made yet
  if (!transcripts.ok()) return transcripts.error();
  for (const auto& name : names_in(place_.transcripts())) {
    const bool wanted = name.ends_with(transcript_ending) &&
                        (task_.empty() || name == task_ + std::string(transcript_ending));
    if (wanted) TRY(read_one(transcripts.value().get(), name, visit));
  }
  return {};
}

Result<std::vector<EndedCall>> TranscriptFollower::read_latest(size_t most) {
  // Of equal times by id, so that the order does not depend on the names of tasks.
  std::multimap<std::tuple<std::string, size_t, std::string>, EndedCall> latest;
  TRY(read_on([&](const JsonValue& value, std::string_view line) {
    EndedCall ended{logged_call(value), std::string(line)};
    const LoggedCall& call = ended.call;
    latest.emplace(std::tuple(call.time, call.call_id.size(), call.call_id), std::move(ended));
    if (latest.size() > most) latest.erase(latest.begin());
  }));
  std::vector<EndedCall> in_order;
  for (auto& [when, ended] : latest) in_order.push_back(std::move(ended));
  return in_order;
}

Result<void> TranscriptFollower::read_one(int transcripts, const std::string& name, const Visit& visit) {
  const OwnedFd file = TRY(read_record_file(transcripts, name, place_.transcripts() + "/" + name));
  return readers_[name].read_on(file.get(), [&](std::string_view line) {
    const auto read = read_line(line);
    if (!read.ok()) {
      ++unreadable_;
    } else if (is_call(read.value())) {
      visit(read.value(), line);
    }
  });
}

Result<Log> read_log(const RunPlace& place, const std::string& task) {
  Log log;
  std::set<std::string> ended;
  TranscriptFollower transcripts(place, task);
  TRY(transcripts.read_on([&](const JsonValue& line, std::string_view) {
    log.calls.push_back(logged_call(line));
    ended.insert(log.calls.back().call_id);
  }));
  TRY(visit_lines(place.audit(), [&](const JsonValue& line, std::string_view) {
    const bool begins = text_of(line, "kind") == "decision";
    if (!begins || ended.contains(text_of(line, "call_id"))) return;
    if (task.empty() || text_of(line, "task_id") == task) log.calls.push_back(logged_call(line));
  }));
  log.unreadable_lines = transcripts.unreadable_lines();
  sort_by_id(log.calls);
  return log;
}

Result<Log> read_log_file(const std::string& file) {
  Log log;
  TRY(visit_lines(file, [&](const JsonValue& line, std::string_view) {
    if (text_of(line, "kind") != "head") log.calls.push_back(logged_call(line));
  }));
  sort_by_id(log.calls);
  return log;
}

std::vector<RunSummary> list_runs(const std::string& state, uint64_t most_bytes) {
  struct Listed {
    RunPlace place;
    RunSummary run;
  };
  std::vector<Listed> listed;
  for (const auto& place : runs_in(state)) {
    if (auto run = summary_of(place); run.ok()) listed.push_back({place, std::move(run).value()});
  }
  std::stable_sort(listed.begin(), listed.end(),
                   [](const Listed& a, const Listed& b) { return a.run.written < b.run.written; });
  constexpr uint64_t least_bytes = 4096;  // a short run takes its time too
  for (auto one = listed.rbegin(); one != listed.rend() && most_bytes >= least_bytes; ++one) {
    const uint64_t bytes = std::max(least_bytes, transcript_bytes(one->place));
    if (bytes > most_bytes) continue;
    most_bytes -= bytes;
    one->run.counts = counts_of(one->place);
  }
  std::vector<RunSummary> runs;
  for (auto& one : listed) runs.push_back(std::move(one.run));
  return runs;
}

Result<std::string> transcript_tail(const RunPlace& place, const std::string& task, size_t most_bytes) {
  TRY(check_task_id(task));
  const OwnedFd run = TRY(hold_run_directory(place, RecordUse::read));
  const OwnedFd transcripts = TRY(hold_transcripts(place, run.get(), RecordUse::read));
  const std::string name = task + std::string(transcript_ending);
  const auto file = read_record_file(transcripts.get(), name, place.transcripts() + "/" + name);
  if (!file.ok() && file.error().number == ENOENT) return std::string();
  if (!file.ok()) return file.error();
  struct stat seen {};
  if (::fstat(file.value().get(), &seen) != 0) return system_error("look at the transcript");
  const auto size = static_cast<uint64_t>(seen.st_size);
  const uint64_t begin = size - std::min<uint64_t>(size, most_bytes);
  std::string text = TRY(sys::read_at(file.value().get(), begin, most_bytes, reading_the_record));
  if (begin > 0) text.erase(0, text.find('\n') == std::string::npos ? text.size() : text.find('\n') + 1);
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);  // one may be being written
  return text;
}

std::string transcript_for_model(std::string_view lines) {
  constexpr std::string_view seen[] = {"call_id",  "task_id", "role", "tool",   "args",
                                       "decision", "outcome", "exit", "result", "timestamp"};
  std::string text;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const auto line = read_json(lines.substr(0, end), "", {.bytes = lines.size()});
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (!line.ok()) continue;  // a line that cannot be read shows nothing
    JsonWriter out;
    out.begin_object();
    for (const auto name : seen) {
      const JsonValue* value = line.value().find(name);
      if (value != nullptr) out.key(name).raw(to_json(*value));
    }
    text += out.end_object().take() + "\n";
  }
  return text;
}

Result<void> visit_lines(const std::string& file, const TranscriptFollower::Visit& visit) {
  const OwnedFd opened = TRY(read_record_file(AT_FDCWD, file, file));
  return LineReader().read_on(opened.get(), [&](std::string_view line) {
    const auto read = read_line(line);
    if (read.ok() && is_call(read.value())) visit(read.value(), line);
  });
}

}  // namespace cloche
