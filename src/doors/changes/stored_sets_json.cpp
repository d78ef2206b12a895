// The JSON of stored_sets_text.hpp.
#include <algorithm>

#include "base/json/json_writer.hpp"
#include "doors/changes/stored_sets_text.hpp"

namespace cloche {
namespace {

constexpr size_t most_paths = 1000;  // of each list

enum class Reasons { left_out, said };

void write_header(JsonWriter& out, const SetHeader& header) {
  out.member("set", header.id).member("call", header.label);
  if (!header.later.empty()) out.member("later_calls", header.later);
  out.member("status", name_of(header.status)).member("time", time_of(header));
  out.member("workspace", header.workspace.path);
  if (!header.undoes.empty()) out.member("undoes", header.undoes);
  if (!header.why.empty() && header.status == SetStatus::staged) out.member("staged", header.why);
}

void write_paths(JsonWriter& out, std::string_view key, const std::vector<ChangedPath>& paths,
                 Reasons reasons) {
  out.key(key).begin_array();
  for (size_t i = 0; i < std::min(paths.size(), most_paths); ++i) {
    out.begin_object();
    write_path(out, paths[i].path);
    out.member("kind", name_of(paths[i].kind));
    if (reasons == Reasons::said && !paths[i].reason.empty()) out.member("reason", paths[i].reason);
    out.end_object();
  }
  out.end_array();
}

std::string_view end_word(const OperatorOutcome& outcome, OperatorWord word) {
  switch (outcome.end) {
    case OperatorEnd::done: return done_word(word);
    case OperatorEnd::nothing: return "nothing";
    case OperatorEnd::conflict: return "conflict";
    case OperatorEnd::stuck: return "stuck";
  }
  return "";
}

}  // namespace

std::string sets_json(const std::vector<ListedSet>& sets) {
  JsonWriter out;
  out.begin_object().key("sets").begin_array();
  for (const ListedSet& set : sets) {
    out.begin_object();
    write_header(out, set.header);
    out.member("created", set.counts.created).member("changed", set.counts.changed);
    out.member("deleted", set.counts.deleted).member("waiting", set.waiting);
    out.end_object();
  }
  out.end_array().end_object();
  return out.take() + "\n";
}

std::string set_json(const StoredSet& set, const std::vector<ShownChange>& files, const std::string* diff) {
  ChangesOutcome changes{.counts = count(files), .digest = digest_of(set.changes)};
  changes.end = set.header.status == SetStatus::staged ? ChangesEnd::staged : ChangesEnd::committed;
  for (const ShownChange& file : files)
    changes.paths.push_back({file.path, file.change.kind, file.verdict.fate, file.verdict.reason});
  JsonWriter out;
  out.begin_object();
  write_header(out, set.header);
  write_changes(out, changes, most_paths);
  if (diff != nullptr) out.member("diff", *diff);
  out.end_object();
  return out.take();
}

std::string outcomes_json(const std::vector<OperatorOutcome>& outcomes, OperatorWord word) {
  JsonWriter out;
  out.begin_object().key("sets").begin_array();
  for (const OperatorOutcome& outcome : outcomes) {
    out.begin_object().member("set", outcome.set).member("call", outcome.label);
    out.member("result", end_word(outcome, word));
    if (!outcome.made.empty()) out.member("undo_by", outcome.made);
    write_paths(out, "paths", outcome.paths, Reasons::left_out);
    write_paths(out, "waiting", outcome.waiting, Reasons::said);
    out.member("truncated", outcome.paths.size() > most_paths || outcome.waiting.size() > most_paths);
    write_conflicts(out, outcome.conflicts, most_paths);
    out.key("reasons").begin_array();
    for (const Message& reason : outcome.reasons) out.value(reason.text());
    out.end_array().end_object();
  }
  out.end_array().end_object();
  return out.take() + "\n";
}

}  // namespace cloche
