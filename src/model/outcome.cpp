#include "model/outcome.hpp"

#include <algorithm>
#include <tuple>

#include "base/json/json_writer.hpp"
#include "base/text/command_words.hpp"
#include "base/text/visible_text.hpp"
#include "model/names.hpp"

namespace cloche {
namespace {

bool comes_first(const HostUse& a, const HostUse& b) {
  if ((a.more_hosts == 0) != (b.more_hosts == 0)) return a.more_hosts == 0;
  return std::tie(b.bytes_out, b.bytes_in, a.name, a.port) <
         std::tie(a.bytes_out, a.bytes_in, b.name, b.port);
}

}  // namespace

std::string_view name_of(Started started) {
  static constexpr std::string_view names[] = {"cold", "pooled", "warm"};
  return names[static_cast<size_t>(started)];
}

std::string_view name_of(End end) {
  static constexpr std::string_view names[] = {"exited",  "signaled",  "timeout",        "limit",
                                               "refused", "not_found", "not_executable", "failed"};
  return name_in<End::failed>(names, end);
}

std::string_view name_of(AnswerFault fault) {
  static constexpr std::string_view names[] = {"", "invalid_json", "schema"};
  return name_in<AnswerFault::schema>(names, fault);
}

namespace {

// One line each, the first ones of many.
template <typename Item, typename Say>
void add_first(std::vector<std::string>& lines, const std::string& what, const std::vector<Item>& items,
               const Say& say) {
  constexpr size_t most_lines = 20;
  for (size_t i = 0; i < items.size() && i < most_lines; ++i) lines.push_back(what + ": " + say(items[i]));
  if (items.size() > most_lines)
    lines.push_back(what + ": " + std::to_string(items.size() - most_lines) + " more");
}

}  // namespace

std::string_view name_of(const DeniedBy& by) {
  static constexpr std::string_view enforcers[] = {"limit", "syscall", "egress"};
  const auto* gate = std::get_if<GateId>(&by);
  return gate != nullptr ? name_of(*gate) : name_in<Enforcer::egress>(enforcers, std::get<Enforcer>(by));
}

std::string operators_sentence(const Denial& denial) {
  const std::string times = denial.times > 1 ? " (" + std::to_string(denial.times) + " times)" : "";
  return (denial.what + denial.advice).text() + times;
}

bool is_by_egress(const Denial& denial) { return denial.by == DeniedBy(Enforcer::egress); }

bool is_outlived(const Denial& denial) {
  return !denial.is_reason && std::holds_alternative<Enforcer>(denial.by) && !is_by_egress(denial);
}

std::string_view name_of(const RanBy& by) {
  if (const auto* backend = std::get_if<Backend>(&by)) return name_of(*backend);
  return std::get<Unboxed>(by) == Unboxed::in_process ? "in-process" : "advisory";
}

namespace {

// As libc, git, node and the others have it.
Guess layer_guess(std::string_view said_last) {
  constexpr std::string_view known[][2] = {
      {"ross-device link",
       "a directory that was in the project before the call cannot be renamed here; mv, or cp -r and rm -r, "
       "can move it"},
      {"hardlink different from source",
       "a file that was in the project before the call becomes another one when it is linked here; git clone "
       "--no-hardlinks works"},
      {"Value too large for defined data type",
       "a file of another user or group than the project's directory cannot be changed here; it can where it "
       "has that user and group"},
      {"not a git repository",
       "where the workspace is a directory within a repository, that repository is not in view; it is where "
       "the workspace is the top of the repository (--workspace TOP -C DIRECTORY)"},
  };
  for (const auto& [sign, guess] : known)
    if (said_last.find(sign) != std::string_view::npos)
      return {std::string(guess), "; --live writes without a layer"};
  return {};
}

// As strace, gdb and ltrace have it.
bool is_refused_trace(std::string_view said_last) {
  const bool names_it = said_last.find("ptrace") != std::string_view::npos ||
                        said_last.find("PTRACE_") != std::string_view::npos;
  return names_it && said_last.find("Operation not permitted") != std::string_view::npos;
}

// The operator's cache of npm is shown for what was fetched before.
bool is_refused_npm_cache(std::string_view said_last) {
  return said_last.find("npm error rofs") != std::string_view::npos &&
         said_last.find("_cacache") != std::string_view::npos;
}

// A command that replaces a file with a mount on it finds it busy; one that writes to it, read-only.
Guess kept_guess(std::string_view said_last, const std::vector<std::string>& kept_paths) {
  const bool refused = said_last.find("Device or resource busy") != std::string_view::npos ||
                       said_last.find("Read-only file system") != std::string_view::npos;
  if (!refused) return {};
  for (const auto& path : kept_paths) {
    if (said_last.find(path) == std::string_view::npos) continue;
    const std::string name = shown(path, 400);
    return {name + " is read-only for a command that writes without a layer",
            "; " + words_to_copy({"--allow-protected", path}) +
                " lets the command change it, or leave --live out"};
  }
  return {};
}

}  // namespace

Guess guess_by_last_words(std::string_view said_last, const GuessTerms& terms) {
  Guess guess = terms.has_layer ? layer_guess(said_last) : kept_guess(said_last, terms.kept_paths);
  if (guess.said.empty() && !terms.may_trace && is_refused_trace(said_last))
    guess = {"no program is traced here, which strace and gdb do",
             "; --grant debug lets the command trace its own processes"};
  if (guess.said.empty() && is_refused_npm_cache(said_last))
    guess = {
        "npm's cache is read-only here, and npm pack and the install of a local file write to one; npm "
        "--cache /tmp/npm works",
        "; --toolchains none leaves the cache out"};
  if (!guess.said.empty()) guess.said = "a guess by its last words: " + guess.said;
  return guess;
}

std::vector<std::string> quarantine_lines(const Outcome& outcome, Asks reader) {
  const auto taken_line = [&](const Quarantined& taken) {
    const std::string line = shown(taken.path, 400) + " (" + taken.reason + ")";
    if (reader == Asks::model || taken.kept_at.empty()) return line;
    return line + "; it is in " + shown(taken.kept_at, 400) +
           ", and to keep it: " + words_to_copy({"mv", taken.kept_at, taken.host_path});
  };
  std::vector<std::string> lines;
  add_first(lines, "quarantined", outcome.quarantined, taken_line);
  add_first(lines, "put back as it was", outcome.restored,
            [](const std::string& path) { return shown(path, 400); });
  return lines;
}

std::string operators_reason(const Outcome& outcome) { return (outcome.reason + outcome.advice).text(); }

namespace {

void fail(Outcome& outcome, const std::string& why) {
  const std::string how = outcome.reason.empty() ? "exited with " + std::to_string(outcome.exit_code)
                                                 : "ended so: " + outcome.reason.text();
  outcome.reason = why + "; the command itself " + how;
  outcome.advice = {};
  outcome.end = End::failed;
  outcome.exit_code = 125;
}

}  // namespace

void distrust(Outcome& outcome, std::string gap) {
  outcome.look_gap = std::move(gap);
  fail(outcome, "the look for protected files was not complete: " + shown(outcome.look_gap, 400) +
                    "; do not trust this tree");
}

void fail_changes(Outcome& outcome, std::string why) {
  outcome.look_gap = std::move(why);
  fail(outcome, shown(outcome.look_gap, 400));
}

void write_members(JsonWriter& out, const Outcome& outcome, const std::string& plan_digest) {
  out.member("outcome", name_of(outcome.end)).member("exit_code", outcome.exit_code);
  outcome.signal != 0 ? out.member("signal", outcome.signal) : out.key("signal").null();
  outcome.limit ? out.member("limit", info_of(*outcome.limit).name) : out.key("limit").null();
  out.member("stdout", outcome.output).member("stderr", outcome.errors);
  out.member("stdout_bytes", outcome.output_bytes).member("stderr_bytes", outcome.error_bytes);
  out.member("truncated", outcome.truncated);
  // Said when the text above stands for bytes that JSON cannot carry.
  out.member("lossy", !is_utf8(outcome.output) || !is_utf8(outcome.errors));
  out.key("usage")
      .begin_object()
      .member("wall_ms", outcome.usage.wall_ms)
      .member("cpu_ms", outcome.usage.cpu_ms);
  out.member("max_rss_bytes", outcome.usage.max_rss_bytes);
  if (outcome.usage.memory_peak_bytes) out.member("memory_peak_bytes", *outcome.usage.memory_peak_bytes);
  if (outcome.usage.memory_overshoot_bytes)
    out.member("memory_overshoot_bytes", *outcome.usage.memory_overshoot_bytes);
  out.end_object().member("backend", name_of(outcome.backend));
  out.key("layers").begin_array();
  for (const auto& layer : outcome.layers) {
    out.begin_object().member("name", name_of(layer.id)).member("by", layer.by).end_object();
  }
  out.end_array().key("denials").begin_array();
  for (const auto& denial : outcome.denials) {
    out.begin_object().member("by", name_of(denial.by));
    out.member("what", (denial.what + denial.advice).text());
    if (denial.times > 1) out.member("times", denial.times);
    out.end_object();
  }
  out.end_array().key("network").begin_array();
  for (const auto& use : outcome.network) {
    out.begin_object();
    use.more_hosts > 0 ? out.member("more_hosts", use.more_hosts)
                       : out.member("host", use.name).member("port", use.port);
    out.member("connections", use.connections).member("bytes_out", use.bytes_out);
    out.member("bytes_in", use.bytes_in).end_object();
  }
  out.end_array();
  if (!outcome.published.empty()) out.member("published", outcome.published);
  out.member("network_failures", outcome.network_failures).key("quarantined").begin_array();
  if (outcome.changes) {
    for (const ChangedPath* path : outcome.changes->withheld())
      out.begin_object().member("path", path->path).member("reason", path->reason).end_object();
  }
  for (const auto& taken : outcome.quarantined) {
    out.begin_object().member("path", taken.path).member("reason", taken.reason);
    out.member("kept_at", taken.kept_at).member("host_path", taken.host_path).end_object();
  }
  out.end_array().member("restored", outcome.restored);
  if (outcome.changes) {
    out.key("changes").begin_object();
    write_changes(out, *outcome.changes);
    out.end_object();
  }
  outcome.look_gap.empty() ? out.key("look_gap").null() : out.member("look_gap", outcome.look_gap);
  out.member("proof", outcome.proof).member("plan_digest", plan_digest);
  if (outcome.started) out.member("start", name_of(*outcome.started));
  out.member("reason", operators_reason(outcome));
}

std::string to_json(const Outcome& outcome, const std::string& plan_digest,
                    const std::vector<std::string>& notes) {
  JsonWriter out;
  out.begin_object();
  write_members(out, outcome, plan_digest);
  return out.member("notes", notes).end_object().text();
}

std::vector<HostUse> busiest(std::vector<HostUse> all, size_t most) {
  const auto hosts =
      std::count_if(all.begin(), all.end(), [](const auto& use) { return use.more_hosts == 0; });
  if (static_cast<size_t>(hosts) <= most) return all;
  std::sort(all.begin(), all.end(), comes_first);
  HostUse rest;
  for (size_t i = most; i < all.size(); ++i) {
    rest.more_hosts += std::max<uint64_t>(all[i].more_hosts, 1);
    rest.connections += all[i].connections;
    rest.bytes_out += all[i].bytes_out;
    rest.bytes_in += all[i].bytes_in;
  }
  all.resize(most);
  all.push_back(std::move(rest));
  return all;
}

}  // namespace cloche
