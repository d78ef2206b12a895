#include "doors/changes/stored_sets_text.hpp"

#include <algorithm>

#include "base/text/amounts.hpp"
#include "base/text/visible_text.hpp"
#include "doors/changes/file_patch.hpp"
#include "doors/changes/visible_bytes.hpp"
#include "doors/cli/print.hpp"
#include "store/commit/set_contents.hpp"
#include "store/record/record_lines.hpp"

namespace cloche {
namespace {

constexpr size_t most_id = 60;
constexpr size_t least_id_width = 33;
constexpr size_t most_why = 300;
constexpr size_t most_paths = 1000;
constexpr const char* not_judged = "it was not judged";
constexpr const char* not_read =
    "not judged yet, and perhaps only a part of what the call wrote: cloche changes apply reads all of it "
    "and judges it\n";
constexpr const char* not_there =
    "it is not in the project: it was taken back, or stays because of what is withheld in it";

std::string_view state_of(const ListedSet& set) {
  if (set.header.status == SetStatus::committed && set.waiting > 0) return "withheld";
  return set.takes_back && set.header.status == SetStatus::committed ? "undo" : name_of(set.header.status);
}

ChangeCounts count_paths(const std::vector<ChangedPath>& paths) {
  ChangeCounts counts;
  for (const ChangedPath& path : paths) counts.add(path.kind);
  return counts;
}

// With the call, where the id does not say it.
std::string name_of_set(const std::string& id, const std::string& label) {
  std::string said = label;
  std::ranges::replace(said, '/', '-');
  return shown(id, most_id) + (label.empty() || said == id ? "" : " (" + shown(label, most_id) + ")");
}

template <typename Items, typename Line>
std::string lines_of(const Items& items, const Line& line_of) {
  std::string text;
  for (size_t i = 0; i < std::min(items.size(), most_paths); ++i) text += "  " + line_of(items[i]) + "\n";
  if (items.size() > most_paths) text += "  ... and " + count_text(items.size() - most_paths) + " more\n";
  return text;
}

// Of paths whose question is answered the reasons are left out.
enum class Reasons { left_out, said };
std::string paths_text(const std::vector<ChangedPath>& paths, Reasons reasons) {
  return lines_of(paths, [&](const ChangedPath& path) {
    const bool is_said = reasons == Reasons::said && !path.reason.empty();
    return padded(name_of(path.kind), 9) + quoted_name(path.path) +
           (is_said ? ": " + shown(path.reason, most_why) : "");
  });
}

std::string obstacles_text(const OperatorOutcome& outcome) {
  return lines_of(
             outcome.conflicts,
             [](const auto& conflict) { return quoted_name(conflict.path) + " " + shown(conflict.why); }) +
         lines_of(outcome.reasons, [](const Message& reason) { return shown(reason.text()); });
}

std::string done_text(const OperatorOutcome& outcome, OperatorWord word) {
  std::string text = std::string(done_word(word)) + ": " + name_of_set(outcome.set, outcome.label) + ", ";
  text += word == OperatorWord::drop ? count_text(outcome.paths.size(), "path")
                                     : counts_text(count_paths(outcome.paths));
  text += "\n" + paths_text(outcome.paths, Reasons::left_out);
  if (!outcome.made.empty()) text += "cloche undo " + shown(outcome.made, most_id) + " takes this back\n";
  return text;
}

std::string conflict_text(const OperatorOutcome& outcome, OperatorWord word) {
  const bool is_apply = word == OperatorWord::apply;
  return std::string(is_apply ? "not applied: " : "not undone: ") + name_of_set(outcome.set, outcome.label) +
         "; nothing was changed\n" + obstacles_text(outcome) +
         (is_apply
              ? "what the host or another call changed is not overwritten: --theirs PATH takes the call's "
                "all the same, --ours PATH keeps the project's\n"
              : "what was changed since is not overwritten: take back the later calls first, or name other "
                "paths\n");
}

std::string nothing_text(const OperatorOutcome& outcome, OperatorWord word) {
  const std::string set = name_of_set(outcome.set, outcome.label);
  if (!outcome.reasons.empty())
    return "nothing to do: " + set + ": " + shown(outcome.reasons[0].text()) + "\n";
  if (word == OperatorWord::undo || word == OperatorWord::undo_rehearsed)
    return "nothing to do: nothing of " + set + " is in the project\n";
  return "nothing to do: " + set + (outcome.waiting.empty() ? ": nothing waits in it\n" : "\n");
}

}  // namespace

std::string time_of(const SetHeader& header) { return show_time(static_cast<uint64_t>(header.created_ms)); }

std::string_view done_word(OperatorWord word) {
  switch (word) {
    case OperatorWord::apply: return "applied";
    case OperatorWord::drop: return "dropped";
    case OperatorWord::undo: return "undone";
    case OperatorWord::undo_rehearsed: return "would be undone";
  }
  return "";
}

ListedSet listed(const StoredSet& set, bool takes_back) {
  ListedSet row{.header = set.header, .counts = count(set.changes), .takes_back = takes_back};
  const auto waiting = waiting_changes(set);
  row.waiting = waiting.size();
  row.first_why = set.header.why;
  if (set.header.status == SetStatus::staged || waiting.empty()) return row;
  const size_t first = waiting.front();
  const Change& change = set.changes.changes[first];
  row.first_why = quoted_name(shown_path(set.changes, change.tree, change.path));
  if (first < set.verdicts.size()) row.first_why += ": " + set.verdicts[first].reason;
  if (waiting.size() > 1) row.first_why += "; and " + count_text(waiting.size() - 1) + " more";
  return row;
}

std::vector<ListedSet> in_list_order(std::vector<ListedSet> sets, size_t most) {
  std::ranges::stable_sort(
      sets, [](const ListedSet& a, const ListedSet& b) { return (a.waiting > 0) > (b.waiting > 0); });
  const auto rest = std::ranges::find_if(sets, [](const ListedSet& set) { return set.waiting == 0; });
  if (static_cast<size_t>(sets.end() - rest) > most) sets.erase(rest + static_cast<long>(most), sets.end());
  return sets;
}

std::string sets_table(const std::vector<ListedSet>& sets, Workspaces workspaces, const Screen& screen) {
  if (sets.empty()) return "no change sets\n";
  size_t id_width = least_id_width;
  for (const ListedSet& set : sets) id_width = std::max(id_width, shown(set.header.id, most_id).size() + 2);
  const Column columns[] = {{"SET", id_width}, {"TIME", 21}, {"STATE", 11}, {"CHANGES", 0}};
  std::vector<TableRow> rows;
  bool waits = false;
  for (const ListedSet& set : sets) {
    const std::string_view state = state_of(set);
    std::string counts = counts_text(set.counts);
    const bool is_part = set.waiting > 0 && set.header.status == SetStatus::committed;
    if (is_part) counts += ", " + count_text(set.waiting) + " of them withheld";
    if (!set.header.undoes.empty()) counts += ", takes back " + shown(set.header.undoes, most_id);
    if (workspaces == Workspaces::every) counts += ", in " + shown(set.header.workspace.path, most_why);
    TableRow row{{shown(set.header.id, most_id), local_time(time_of(set.header)),
                  painted_state(screen.colour, state, state), counts}};
    if (set.waiting > 0 && !set.first_why.empty()) row.below.push_back(shown(set.first_why, most_why));
    waits = waits || set.waiting > 0;
    rows.push_back(std::move(row));
  }
  std::string text = table_text(columns, rows, screen);
  if (waits)
    text += fitted(
        "waits for you: cloche changes diff SET shows it, cloche changes apply SET brings it in, cloche "
        "changes drop SET throws it away\n",
        4, screen);
  return text;
}

std::vector<ChangeVerdict> verdicts_now(const StoredSet& set) {
  std::vector<ChangeVerdict> verdicts = set.verdicts;
  verdicts.resize(set.changes.changes.size(), ChangeVerdict{.reason = not_judged});
  if (set.header.status == SetStatus::staged) return verdicts;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].fate == Fate::committed && !is_in_project(set, i))
      verdicts[i] = {.fate = Fate::withheld, .reason = not_there};
  }
  return verdicts;
}

std::string set_heading(const SetHeader& header) {
  std::string text = "change set " + name_of_set(header.id, header.label) + ", " +
                     local_time(time_of(header)) + ", " + std::string(name_of(header.status));
  if (!header.undoes.empty()) text += ", takes back " + shown(header.undoes, most_id);
  if (!header.later.empty())
    text += ", with " + count_text(header.later.size(), "later call") + " of the task up to " +
            shown(header.later.back(), most_id);
  if (header.status == SetStatus::staged && !header.why.empty()) text += ": " + shown(header.why, most_why);
  return text;
}

std::vector<std::string> staged_sets(const std::string& state) {
  std::vector<std::string> sentences;
  const auto all = state.empty() ? std::vector<SetHeader>() : ChangeSets(state, boot_id()).list();
  for (auto header = all.rbegin(); header != all.rend(); ++header) {
    if (header->status == SetStatus::staged)
      sentences.push_back(set_heading(*header) + " (in " + shown(header->workspace.path, most_why) + ")");
  }
  return sentences;
}

std::string set_text(const StoredSet& set, const std::vector<ShownChange>& files, const Screen& screen) {
  std::string text = fitted(set_heading(set.header), 4, screen) + "\n";
  text += fitted("workspace " + shown(set.header.workspace.path, most_why), 4, screen) + "\n";
  text += counts_text(count(files)) + "\n";
  if (is_unjudged(set)) text += fitted(not_read, 4, screen);
  size_t lines = 0;
  size_t left_out = 0;
  for (const ShownPlace& place : display_order(files)) {
    const ShownChange& file = files[place.index];
    if (place.group == ShownGroup::other && lines++ >= most_paths) {
      ++left_out;
      continue;
    }
    const std::string verdict = verdict_line(file);
    text += fitted("  " + padded(name_of(file.change.kind), 9) + quoted_name(file.path), 11, screen) + "\n";
    if (verdict.empty()) continue;
    const std::string_view word = std::string_view(verdict).substr(0, verdict.find(':'));
    text += fitted("           " + painted_state(screen.colour, word, word) + verdict.substr(word.size()), 11,
                   screen) +
            "\n";
  }
  if (left_out > 0) text += "  ... and " + count_text(left_out) + " more\n";
  return text;
}

std::string outcome_text(const OperatorOutcome& outcome, OperatorWord word) {
  std::string text;
  switch (outcome.end) {
    case OperatorEnd::done: text = done_text(outcome, word); break;
    case OperatorEnd::nothing: text = nothing_text(outcome, word); break;
    case OperatorEnd::conflict: text = conflict_text(outcome, word); break;
    case OperatorEnd::stuck:
      text = "half done: " + name_of_set(outcome.set, outcome.label) +
             " failed and could not be taken back; the next cloche changes tries again\n" +
             obstacles_text(outcome);
      break;
  }
  if (outcome.waiting.empty() || word == OperatorWord::undo) return text;
  text += "still waiting:\n" + paths_text(outcome.waiting, Reasons::said);
  if (word == OperatorWord::apply)
    text += "cloche changes apply " + shown(outcome.set, most_id) + " --only PATH brings one in\n";
  return text;
}

std::string recovered_text(const Recovered& recovered) {
  const std::string id = shown(recovered.id, most_id);
  std::string text;
  switch (recovered.status) {
    case SetStatus::committed: text = "finished the change set " + id; break;
    case SetStatus::staged: text = "took back the change set " + id + ", which waits now"; break;
    case SetStatus::dropped:
      text = "dropped the change set " + id + ", nothing of which was in the project";
      break;
    default: text = "could not finish the change set " + id; break;
  }
  text += ": a process that worked on it was killed";
  for (const Message& reason : recovered.reasons) text += "; " + shown(reason.text());
  return text;
}

}  // namespace cloche
