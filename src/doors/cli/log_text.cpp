#include "doors/cli/log_text.hpp"

#include <span>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/text/visible_text.hpp"
#include "doors/cli/print.hpp"

namespace cloche {
namespace {

constexpr size_t shown_text_bytes = 72;
constexpr size_t shown_reason_bytes = 300;
constexpr size_t key_width = 14;

constexpr Column columns_of_list[] = {{"RUN", 26},    {"WRITTEN", 21}, {"CALLS", 7},
                                      {"REFUSED", 9}, {"CHANGES", 24}, {"WORKSPACE", 26}};
constexpr Column columns_of_calls[] = {{"CALL", 8},  {"TIME", 21}, {"TASK", 10}, {"TOOL", 18},
                                       {"GATES", 7}, {"END", 11},  {"TOOK", 9},  {"ARGS", 26}};
constexpr Column columns_of_denials[] = {{"CALL", 34}, {"TIME", 21}, {"TOOL", 18}, {"BY", 10}, {"WHAT", 26}};

std::string ending_of(const LoggedCall& call) {
  if (call.outcome.empty()) return "no result";
  if (call.advisory && call.outcome == "exited") return "advisory";
  return call.outcome == "exited" ? "exit " + call.exit : call.outcome;
}

std::string changes_of(const RunCounts& counts, Colour colour) {
  std::string text;
  const auto add = [&](uint64_t paths, const char* word) {
    if (paths > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(paths) + " " + painted_state(colour, word, word);
  };
  add(counts.changed, "changed");
  add(counts.withheld, "withheld");
  add(counts.staged, "staged");
  return text.empty() ? "none" : text;
}

TableRow row_of(const LoggedCall& call, Colour colour) {
  TableRow row;
  row.cells = {shown(call.call_id, 24),
               local_time(shown(call.time, 32)),
               shown(call.task_id, 24),
               shown(call.tool, 24),
               painted_state(colour, call.decision, shown(call.decision, 16)),
               painted_state(colour, call.outcome, shown(ending_of(call), 24)),
               call.wall_ms.empty() ? "-" : shown(call.wall_ms, 12) + " ms",
               shown(call.args, shown_text_bytes)};
  for (const auto& objection : call.objections) row.below.push_back(shown(objection, shown_reason_bytes));
  return row;
}

bool says_nothing(const JsonValue& value) {
  return value.is_null() || (value.is_string() && value.text.empty()) ||
         (value.is_array() && value.items.empty()) || (value.is_object() && value.members.empty());
}

// On one line, the members of an object without their names where it is one of a list.
std::string line_of(const JsonValue& value) {
  if (value.is_string()) return value.text;
  if (!value.is_object()) return to_json(value);
  std::string text;
  for (const auto& member : value.members)
    if (!says_nothing(member.value)) text += (text.empty() ? "" : ": ") + line_of(member.value);
  return text;
}

// The lines beside a key; a list within an object comes behind its other members.
std::vector<std::string> lines_of(const JsonValue& value) {
  std::vector<std::string> lines;
  if (value.is_array()) {
    for (const auto& item : value.items) lines.push_back(line_of(item));
    return lines;
  }
  if (!value.is_object()) return {line_of(value)};
  lines.emplace_back();
  for (const auto& [name, line, member] : value.members) {
    if (says_nothing(member)) continue;
    if (!member.is_array()) {
      lines.front() += (lines.front().empty() ? "" : ", ") + name + " " + line_of(member);
      continue;
    }
    for (const auto& item : member.items) lines.push_back(name + " " + line_of(item));
  }
  return lines;
}

// Layers are many and short.
std::string layers_line(const JsonValue& layers) {
  std::string text;
  for (const auto& layer : layers.items)
    text += (text.empty() ? "" : ", ") + text_of(layer, "name") + " (" + text_of(layer, "by") + ")";
  return text;
}

std::vector<std::string> lines_of_member(const JsonMember& member) {
  if (member.name == "args") return {to_json(member.value)};
  if (member.name == "timestamp") return {local_time(member.value.text)};
  if (member.name == "layers") return {layers_line(member.value)};
  return lines_of(member.value);
}

std::string verdict_line(const JsonValue& verdict, Colour colour) {
  const std::string decision = text_of(verdict, "decision");
  const std::string gate = text_of(verdict, "gate");
  std::string text = padded(on_one_line(gate), 10) + painted_state(colour, decision, on_one_line(decision));
  for (const auto& [name, line, value] : verdict.members) {
    if (name == "gate" || name == "decision" || says_nothing(value)) continue;
    text += (name == "reason" ? "  " : "; " + on_one_line(name) + ": ") + on_one_line(line_of(value));
  }
  return text;
}

}  // namespace

std::string list_table(const std::vector<RunSummary>& runs, const Screen& screen) {
  if (runs.empty()) return "no runs\n";
  std::vector<TableRow> rows;
  for (const auto& run : runs) {
    const uint64_t refused = run.counts ? run.counts->refused : 0;
    const std::string refusals = run.counts ? std::to_string(refused) : "-";
    rows.push_back({{shown(run.run_id, 80), local_time(run.written), std::to_string(run.calls),
                     refused > 0 ? painted_state(screen.colour, "refused", refusals) : refusals,
                     run.counts ? changes_of(*run.counts, screen.colour) : "-",
                     shown(run.workspace, shown_reason_bytes)}});
  }
  return table_text(columns_of_list, rows, screen);
}

std::string list_json(const std::vector<RunSummary>& runs) {
  JsonWriter out;
  out.begin_array();
  for (const auto& run : runs) {
    out.begin_object().member("run_id", run.run_id).member("written", run.written);
    out.member("workspace", run.workspace).member("calls", run.calls);
    const auto count = [&](std::string_view name, uint64_t RunCounts::*which) {
      run.counts ? out.member(name, (*run.counts).*which) : out.key(name).null();
    };
    count("refused", &RunCounts::refused);
    count("changed", &RunCounts::changed);
    count("withheld", &RunCounts::withheld);
    count("staged", &RunCounts::staged);
    out.end_object();
  }
  return out.end_array().text() + "\n";
}

std::string log_line(const LoggedCall& call, const Screen& screen) {
  return row_text(columns_of_calls, row_of(call, screen.colour), screen);
}

std::string log_table(const Log& log, const Screen& screen) {
  if (log.calls.empty() && log.unreadable_lines == 0) return "no calls\n";
  std::vector<TableRow> rows;
  for (const auto& call : log.calls) rows.push_back(row_of(call, screen.colour));
  std::string text = table_text(columns_of_calls, rows, screen);
  if (log.unreadable_lines > 0)
    text +=
        "lines that cannot be read: " + std::to_string(log.unreadable_lines) + "; see cloche log verify\n";
  return text;
}

std::string call_text(const JsonValue& line, std::string_view result, const Screen& screen) {
  // The result stands at the end, and the chain is for verify.
  constexpr std::string_view elsewhere[] = {"result", "line", "calls", "prev", "hash", "kind"};
  constexpr std::string_view states[] = {"decision", "outcome"};
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fitted(padded(key, key_width) + value, key_width, screen) + "\n";
  };
  for (const auto& member : line.members) {
    if (contains(elsewhere, member.name) || says_nothing(member.value)) continue;
    std::string key = on_one_line(member.name);
    if (member.name == "verdicts") {
      for (const auto& verdict : member.value.items) {
        add(key, verdict_line(verdict, screen.colour));
        key.clear();
      }
      continue;
    }
    for (const auto& value : lines_of_member(member)) {
      const std::string seen = on_one_line(value);
      add(key, contains(states, member.name) ? painted_state(screen.colour, value, seen) : seen);
      key.clear();
    }
  }
  if (line.find("outcome") == nullptr) return text + "it has not ended\n";
  if (result.empty()) return text;
  text += "result\n" + visible(result);
  return text + (text.ends_with('\n') ? "" : "\n");
}

std::string denials_table(const std::vector<LoggedDenial>& denials, const Screen& screen) {
  if (denials.empty()) return "nothing was denied\n";
  std::vector<TableRow> rows;
  for (const auto& denial : denials) {
    const std::string run = denial.run_id.empty() ? "" : shown(denial.run_id, 80) + "/";
    rows.push_back({{run + shown(denial.call_id, 24), local_time(shown(denial.time, 32)),
                     shown(denial.tool, 24), painted_state(screen.colour, "deny", shown(denial.by, 40)),
                     shown(denial.what, shown_reason_bytes)}});
  }
  return table_text(columns_of_denials, rows, screen);
}

std::string denials_json(const std::vector<LoggedDenial>& denials) {
  std::string text;
  for (const auto& denial : denials) {
    JsonWriter out;
    out.begin_object().member("run_id", denial.run_id).member("call_id", denial.call_id);
    out.member("task_id", denial.task_id).member("tool", denial.tool).member("timestamp", denial.time);
    out.member("by", denial.by).member("what", denial.what);
    for (const auto& [name, line, value] : denial.others) out.key(name).raw(to_json(value));
    text += out.end_object().text() + "\n";
  }
  return text;
}

std::string verification_text(const Verification& verification) {
  std::string text;
  for (const auto& note : verification.notes) text += "note: " + visible(note) + "\n";
  if (const auto& bad = verification.first_bad) {
    const std::string line = bad->line == 0 ? "" : " line " + std::to_string(bad->line);
    return text + "BAD: " + visible(bad->file) + line + ": " + visible(bad->why) + "\n";
  }
  return text + "ok: " + std::to_string(verification.lines) + " lines, head " + verification.head + "\n";
}

}  // namespace cloche
