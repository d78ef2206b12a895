#include "store/record/record_lines.hpp"

#include <algorithm>
#include <chrono>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

// As they are quoted. Together they leave a line below max_line_bytes; arguments that a tool accepts fit
// whole.
constexpr size_t max_args_bytes = (1 << 20) + (1 << 18);
constexpr size_t max_result_bytes = 1 << 20;
constexpr size_t max_field_bytes = 16 << 10;
constexpr size_t max_item_bytes = 2 << 10;
constexpr size_t max_items = 256;
constexpr size_t max_host_bytes = 512;
constexpr size_t max_hosts = 64;
static_assert(max_args_bytes + max_result_bytes + 40 * max_field_bytes + 2 * max_items * max_item_bytes +
                  2 * max_hosts * max_host_bytes <
              max_line_bytes);

// A quoted text of at most `most` bytes. What is cut off is said in it, with the digest of the whole.
std::string quote_within(std::string_view text, size_t most) {
  std::string quoted = text.size() <= most ? json_quote(text) : std::string();
  if (!quoted.empty() && quoted.size() <= most) return quoted;
  const std::string mark =
      " [cut: " + std::to_string(text.size()) + " bytes in all, sha256 " + sha256(text) + "]";
  for (size_t kept = std::min(text.size(), most) / 2;; kept /= 2) {
    quoted = json_quote(std::string(text.substr(0, kept)) + mark);
    if (quoted.size() <= most || kept == 0) return quoted;
  }
}

// Text that came as JSON stays JSON, on one line.
std::string args_on_one_line(const std::string& args) {
  if (args.size() > max_args_bytes || !read_json(args, "", call_limits).ok())
    return quote_within(args, max_args_bytes);
  std::string line = json_on_one_line(args);
  return line.size() > max_args_bytes ? quote_within(args, max_args_bytes) : line;
}

JsonWriter& field(JsonWriter& out, std::string_view name, std::string_view text,
                  size_t most = max_field_bytes) {
  constexpr size_t longest_escape = 6;  // \u001b, and no byte becomes more than that
  if (text.size() * longest_escape + 2 <= most) return out.member(name, text);
  return out.key(name).raw(quote_within(text, most));
}

void add_verdicts(JsonWriter& out, const std::vector<Verdict>& verdicts) {
  out.key("verdicts").begin_array();
  for (const auto& verdict : verdicts) {
    out.begin_object().member("gate", name_of(verdict.gate)).member("decision", name_of(verdict.decision));
    if (!verdict.reason.empty()) field(out, "reason", verdict.reason.text());
    if (!verdict.rule.empty()) field(out, "rule", verdict.rule);
    if (!verdict.fix.empty()) field(out, "fix", verdict.fix.text());
    if (!verdict.instead.empty()) field(out, "instead", verdict.instead.text());
    if (verdict.approvers != Approvers::anyone) out.member("approver", name_of(verdict.approvers));
    out.end_object();
  }
  out.end_array();
}

template <typename Items, typename Add>
void add_items(JsonWriter& out, std::string_view name, const Items& items, Add add, size_t most = max_items) {
  out.key(name).begin_array();
  for (size_t i = 0; i < std::min(items.size(), most); ++i) add(items[i]);
  out.end_array();
  if (items.size() > most) out.member(std::string(name) + "_in_all", items.size());
}

// The keys that a decision and its call have in common.
void add_asked(JsonWriter& out, const DecisionRecord& decided) {
  out.member("task_id", decided.task_id);
  field(out, "role", decided.role);
  field(out, "tool", decided.tool);
  out.key("args").raw(args_on_one_line(decided.args));
}

void add_decided(JsonWriter& out, const DecisionRecord& decided) {
  out.member("decision", name_of(decided.decision));
  add_verdicts(out, decided.verdicts);
  field(out, "plan_digest", decided.plan_digest);
  if (!decided.runs.empty()) field(out, "runs", decided.runs);
  out.member("opaque", decided.opaque);
  if (decided.advisory) out.member("advisory", true);
  add_items(out, "notes", decided.notes,
            [&](const std::string& note) { out.raw(quote_within(note, max_item_bytes)); });
}

void add_usage(JsonWriter& out, const Usage& usage) {
  out.key("usage").begin_object().member("wall_ms", usage.wall_ms).member("cpu_ms", usage.cpu_ms);
  out.member("max_rss_bytes", usage.max_rss_bytes);
  if (usage.memory_peak_bytes) out.member("memory_peak_bytes", *usage.memory_peak_bytes);
  if (usage.memory_overshoot_bytes) out.member("memory_overshoot_bytes", *usage.memory_overshoot_bytes);
  out.end_object();
}

// By host; of a call that reached none there is nothing to say.
void add_network(JsonWriter& out, const Outcome& outcome) {
  if (!outcome.network.empty()) {
    const auto add_use = [&](const HostUse& use) {
      out.begin_object();
      use.more_hosts > 0 ? out.member("more_hosts", use.more_hosts)
                         : field(out, "host", use.name, max_host_bytes / 2).member("port", use.port);
      out.member("connections", use.connections).member("bytes_out", use.bytes_out);
      out.member("bytes_in", use.bytes_in).end_object();
    };
    add_items(out, "network", busiest(outcome.network, max_hosts - 1), add_use, max_hosts);
  }
  if (!outcome.network_failures.empty()) {
    const auto add_failure = [&](const std::string& what) { out.raw(quote_within(what, max_host_bytes)); };
    add_items(out, "network_failures", outcome.network_failures, add_failure, max_hosts);
  }
}

// How many paths, and which did not reach the project; all of them are in the set that is named.
void add_changes(JsonWriter& out, const ChangesOutcome& changes) {
  constexpr std::string_view ends[] = {"none", "committed", "staged"};
  out.key("changes").begin_object().member("end", ends[static_cast<size_t>(changes.end)]);
  out.member("created", changes.counts.created).member("changed", changes.counts.changed);
  out.member("deleted", changes.counts.deleted);
  if (!changes.set.empty()) field(out, "set", changes.set);
  if (!changes.digest.empty()) field(out, "digest", changes.digest);
  if (!changes.why_staged.empty()) field(out, "staged", changes.why_staged.text());
  add_items(out, "withheld", changes.withheld(), [&](const ChangedPath* path) {
    field(out.begin_object(), "path", path->path, max_item_bytes / 2);
    field(out, "reason", path->reason, max_item_bytes / 2).end_object();
  });
  out.end_object();
}

void add_outcome(JsonWriter& out, const Outcome& outcome) {
  out.member("outcome", name_of(outcome.end)).member("exit", outcome.exit_code);
  if (outcome.signal != 0) out.member("signal", outcome.signal);
  if (outcome.limit) out.member("limit", info_of(*outcome.limit).name);
  if (outcome.answer_fault != AnswerFault::none) out.member("failure", name_of(outcome.answer_fault));
  if (!outcome.reason.empty()) field(out, "reason", operators_reason(outcome));
  field(out, "backend", name_of(outcome.backend));
  out.key("layers").begin_array();
  for (const auto& layer : outcome.layers)
    out.begin_object().member("name", name_of(layer.id)).member("by", layer.by).end_object();
  out.end_array();
  field(out, "proof", outcome.proof);
  if (outcome.started) out.member("start", name_of(*outcome.started));
  add_usage(out, outcome.usage);
  add_items(out, "denials", outcome.denials, [&](const Denial& denial) {
    field(out.begin_object(), "by", name_of(denial.by), max_item_bytes / 2);
    field(out, "what", (denial.what + denial.advice).text(), max_item_bytes / 2);
    if (denial.times > 1) out.member("times", denial.times);
    out.end_object();
  });
  add_network(out, outcome);
  if (!outcome.look_gap.empty()) field(out, "look_gap", outcome.look_gap);
  if (!outcome.restored.empty())
    add_items(out, "restored", outcome.restored,
              [&](const std::string& path) { out.raw(quote_within(path, max_item_bytes)); });
  if (outcome.changes) add_changes(out, *outcome.changes);
  if (outcome.quarantined.empty()) return;
  add_items(out, "quarantined", outcome.quarantined, [&](const Quarantined& taken) {
    field(out.begin_object(), "path", taken.path, max_item_bytes / 2);
    field(out, "kept_at", taken.kept_at, max_item_bytes / 2).end_object();
  });
}

// What a line usually needs, with its seal.
size_t room_for(std::string_view args, std::string_view result) {
  constexpr size_t usual_rest_bytes = 2 << 10;
  return std::min(args.size(), max_args_bytes) + std::min(result.size(), max_result_bytes) + usual_rest_bytes;
}

void put_digits(std::string& text, size_t at, size_t count, unsigned number) {
  for (size_t i = count; i-- > 0; number /= 10) text[at + i] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string show_time(uint64_t unix_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> now{milliseconds(unix_ms)};
  const year_month_day date{floor<days>(now)};
  const hh_mm_ss time{now - floor<days>(now)};
  std::string text = "0000-00-00T00:00:00.000Z";
  put_digits(text, 0, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  put_digits(text, 5, 2, static_cast<unsigned>(date.month()));
  put_digits(text, 8, 2, static_cast<unsigned>(date.day()));
  put_digits(text, 11, 2, static_cast<unsigned>(time.hours().count()));
  put_digits(text, 14, 2, static_cast<unsigned>(time.minutes().count()));
  put_digits(text, 17, 2, static_cast<unsigned>(time.seconds().count()));
  put_digits(text, 20, 3, static_cast<unsigned>(time.subseconds().count()));
  return text;
}

std::string call_id_of(uint64_t number) {
  const std::string digits = std::to_string(number);
  return "c-" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

std::string decision_object(const DecisionRecord& decided, const std::string& time) {
  JsonWriter out;
  out.reserve(room_for(decided.args, {})).begin_object().member("kind", "decision");
  add_asked(out, decided);
  add_decided(out, decided);
  if (!decided.workspace.empty()) field(out, "workspace", decided.workspace);
  return out.member("timestamp", time).take();
}

void add_call_id(std::string& open_object, const std::string& call_id) {
  open_object += ",\"call_id\":\"" + call_id + "\"";
}

std::string call_object(const CallRecord& call, const std::optional<RawResult>& raw,
                        const std::string& time) {
  JsonWriter out;
  out.reserve(room_for(call.decided.args, call.result));
  add_asked(out.begin_object(), call.decided);
  // Output that is not stored is not in the line either: then the result is why the command did not just
  // exit.
  field(out, "result", raw ? call.result : call.outcome.reason.text(), max_result_bytes);
  out.member("timestamp", time).member("call_id", call.call_id);
  add_decided(out, call.decided);
  add_outcome(out, call.outcome);
  if (raw) {
    out.key("raw").begin_object().member("bytes", raw->bytes).member("sha256", raw->sha256).end_object();
  } else {
    out.member("stdout_bytes", call.outcome.output_bytes);
    out.member("stderr_bytes", call.outcome.error_bytes);
  }
  return out.take();
}

std::string head_object(const CallRecord& call, const ChainEnd& transcript, const std::string& time) {
  JsonWriter out;
  out.begin_object().member("kind", "head").member("task_id", call.decided.task_id);
  out.member("call_id", call.call_id).member("lines", transcript.line).member("head", transcript.hash);
  return out.member("timestamp", time).take();
}

std::string cut_back_object(const ChainEnd& remembered, const std::string& time) {
  JsonWriter out;
  out.begin_object().member("kind", "cut_back").member("lines", remembered.line);
  return out.member("head", remembered.hash).member("timestamp", time).take();
}

}  // namespace cloche
