#include "store/record/run_log.hpp"

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/sys/directory.hpp"

namespace cloche {
namespace {

constexpr size_t shown_args_bytes = 400;

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
    // What nobody can read is refused by gate after gate for one reason: once is enough.
    if (const std::string reason = text_of(verdict, "reason"); reason == last_reason && !reason.empty()) {
      continue;
    } else {
      last_reason = reason;
    }
    const std::string rule = text_of(verdict, "rule");
    found.push_back(text_of(verdict, "gate") + ": " + decision + ": " + text_of(verdict, "reason") +
                    (rule.empty() ? "" : " (" + rule + ")"));
  }
  return found;
}

void sort_by_id(std::vector<LoggedCall>& calls) {
  // c-10000 comes after c-9999.
  std::stable_sort(calls.begin(), calls.end(), [](const LoggedCall& a, const LoggedCall& b) {
    return a.call_id.size() != b.call_id.size() ? a.call_id.size() < b.call_id.size() : a.call_id < b.call_id;
  });
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

Result<void> visit_lines(const std::string& file, const TranscriptFollower::Visit& visit) {
  const OwnedFd opened = TRY(read_record_file(AT_FDCWD, file, file));
  return LineReader().read_on(opened.get(), [&](std::string_view line) {
    const auto read = read_line(line);
    if (read.ok() && is_call(read.value())) visit(read.value(), line);
  });
}

}  // namespace cloche
