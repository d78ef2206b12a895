// Stored change sets as text and as JSON: lists, the paths of one, and what came of an operator's word.
#pragma once

#include <string>
#include <vector>

#include "doors/changes/shown_file.hpp"
#include "doors/cli/screen.hpp"
#include "gateway/changes/stored_changes.hpp"
#include "store/commit/change_sets.hpp"
#include "store/commit/set_contents.hpp"

namespace cloche {

// A set as a list shows it.
struct ListedSet {
  SetHeader header = {};
  ChangeCounts counts = {};    // of all its changes
  size_t waiting = 0;          // of them for the operator
  bool takes_back = false;     // it is an undo
  std::string first_why = {};  // of a set that waits: why, as far as one line says it
};
ListedSet listed(const StoredSet& set, bool takes_back);

// Those that wait first, then the newest of the rest, `most` of them.
std::vector<ListedSet> in_list_order(std::vector<ListedSet> sets, size_t most);
enum class Workspaces { one, every };
std::string sets_table(const std::vector<ListedSet>& sets, Workspaces workspaces, const Screen& screen = {});
std::string sets_json(const std::vector<ListedSet>& sets);

// The verdicts as they stand now: what is not in the project is not shown as if it were.
std::vector<ChangeVerdict> verdicts_now(const StoredSet& set);

std::string time_of(const SetHeader& header);  // for programs
// "change set ID (RUN/c-0007), 2026-01-01 10:00:00, staged: why"
std::string set_heading(const SetHeader& header);
// The sets of the state directory that are staged, a sentence each, oldest first.
std::vector<std::string> staged_sets(const std::string& state);
std::string set_text(const StoredSet& set, const std::vector<ShownChange>& files, const Screen& screen = {});
// The members of DESIGN's object `changes`, with what the set is; `diff` is added where there is one.
std::string set_json(const StoredSet& set, const std::vector<ShownChange>& files, const std::string* diff);

enum class OperatorWord { apply, drop, undo, undo_rehearsed };
std::string_view done_word(OperatorWord word);
std::string outcome_text(const OperatorOutcome& outcome, OperatorWord word);
std::string outcomes_json(const std::vector<OperatorOutcome>& outcomes, OperatorWord word);

// What recovery did to a set that a killed process left, as a sentence.
std::string recovered_text(const Recovered& recovered);

// Marks the files that the project's .gitignore files mean, by the texts as they stood before the call. Of
// the workspace alone; what cannot be read ignores nothing.
void mark_ignored(const StoredSet& set, SetContents& contents, std::vector<ShownChange>& files);

}  // namespace cloche
