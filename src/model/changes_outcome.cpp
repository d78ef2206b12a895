#include "model/changes_outcome.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/sys/path.hpp"
#include "base/text/amounts.hpp"
#include "base/text/base64.hpp"
#include "base/text/sha256.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr size_t most_listed = 3;  // in a line of the operator's terminal
constexpr size_t most_heard = 10;  // by a model, which has no other way to learn it
constexpr size_t most_name = 120;
constexpr size_t most_reason = 200;
constexpr size_t most_why = 600;

void add_number(Sha256& hash, uint64_t value) { hash.add(std::to_string(value)).add("\n"); }

void add_state(Sha256& hash, const std::optional<FileState>& state) {
  if (!state) {
    hash.add("-\n");
    return;
  }
  hash.add(name_of(state->kind)).add("\n");
  for (const uint64_t number : {uint64_t{state->mode}, uint64_t{state->uid}, uint64_t{state->gid},
                                state->size, static_cast<uint64_t>(state->modified_ns)})
    add_number(hash, number);
  add_number(hash, state->link.size());
  hash.add(state->link);
}

std::string paths_text(const std::vector<const ChangedPath*>& paths, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(paths.size(), most); ++i) {
    text += (i > 0 ? "; " : "") + shown(paths[i]->path, most_name);
    if (!paths[i]->reason.empty()) text += ": " + shown(paths[i]->reason, most_reason);
  }
  if (paths.size() > most) text += "; and " + std::to_string(paths.size() - most) + " more";
  return text;
}

ChangeCounts counts_of(const std::vector<ChangedPath>& paths, Fate fate) {
  ChangeCounts counts;
  for (const ChangedPath& path : paths) {
    if (path.fate == fate) counts.add(path.kind);
  }
  return counts;
}

}  // namespace

std::string counts_text(const ChangeCounts& counts, size_t withheld) {
  std::string text;
  const auto add = [&](uint64_t number, std::string_view word) {
    if (number > 0) text += (text.empty() ? "" : ", ") + count_text(number) + " " + std::string(word);
  };
  add(counts.created, "created");
  add(counts.changed, "changed");
  add(counts.deleted, "deleted");
  add(withheld, "withheld");
  return text.empty() ? "nothing" : text;
}

void write_path(JsonWriter& out, const std::string& path) {
  out.member("path", path);
  if (!is_utf8(path)) out.member("path_bytes", base64(path));
}

void write_conflicts(JsonWriter& out, const std::vector<ConflictingPath>& conflicts, size_t most) {
  out.key("conflicts").begin_array();
  for (size_t i = 0; i < std::min(conflicts.size(), most); ++i) {
    out.begin_object();
    write_path(out, conflicts[i].path);
    out.member("reason", conflicts[i].why).end_object();
  }
  out.end_array();
}

std::vector<const ChangedPath*> ChangesOutcome::withheld() const {
  std::vector<const ChangedPath*> found;
  for (const ChangedPath& path : paths)
    if (path.fate != Fate::committed) found.push_back(&path);
  return found;
}

std::string shown_path(const ChangeSet& set, size_t tree, const std::string& path,
                       std::string_view workspace) {
  if (tree == 0 && workspace.empty()) return path.empty() ? "." : path;
  const std::string whole = set.trees[tree].path + (path.empty() ? "" : "/" + path);
  if (workspace.empty() || !is_beneath(workspace, whole)) return whole;
  return whole.size() == workspace.size() ? "." : whole.substr(workspace.size() + 1);
}

std::vector<ChangedPath> changed_paths(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts,
                                       std::string_view workspace) {
  std::vector<ChangedPath> paths;
  for (size_t i = 0; i < set.changes.size(); ++i) {
    const Change& change = set.changes[i];
    const ChangeVerdict verdict = i < verdicts.size() ? verdicts[i] : ChangeVerdict{};
    paths.push_back(
        {shown_path(set, change.tree, change.path, workspace), change.kind, verdict.fate, verdict.reason});
  }
  return paths;
}

std::string digest_of(const ChangeSet& set) {
  Sha256 hash;
  for (const ChangedTree& tree : set.trees) {
    add_number(hash, tree.path.size());
    hash.add(tree.path);
  }
  for (const Change& change : set.changes) {
    add_number(hash, change.tree);
    add_number(hash, change.path.size());
    hash.add(change.path).add(name_of(change.kind));
    add_state(hash, change.before);
    add_state(hash, change.after);
  }
  return "sha256:" + hash.finish();
}

void write_changes(JsonWriter& out, const ChangesOutcome& changes, size_t most) {
  out.member("created", changes.counts.created).member("changed", changes.counts.changed);
  out.member("deleted", changes.counts.deleted);
  out.key("paths").begin_array();
  for (size_t i = 0; i < std::min(changes.paths.size(), most); ++i) {
    const ChangedPath& path = changes.paths[i];
    out.begin_object();
    write_path(out, path.path);
    out.member("kind", name_of(path.kind));
    out.member("verdict", changes.end == ChangesEnd::staged ? "staged" : name_of(path.fate));
    if (!path.reason.empty()) out.member("reason", path.reason);
    out.end_object();
  }
  out.end_array();
  out.member("truncated", changes.paths.size() > most || changes.conflicts.size() > most);
  out.member("digest", changes.digest);
  write_conflicts(out, changes.conflicts, most);
  if (!changes.why_staged.empty()) out.member("staged", changes.why_staged.text());
  if (!changes.set.empty()) out.member("set", changes.set);
  if (!changes.live.empty()) out.member("live", changes.live);
}

std::string summary_line(const ChangesOutcome& changes) {
  if (changes.end == ChangesEnd::none) return "";
  if (changes.end == ChangesEnd::staged)
    return "changes: " + counts_text(changes.counts) +
           ", not in the project: " + shown(changes.why_staged.text(), most_why) + "; cloche changes show " +
           changes.set + " has it, cloche changes apply " + changes.set + " brings it in";
  const auto withheld = changes.withheld();
  const std::string counts = counts_text(counts_of(changes.paths, Fate::committed), withheld.size());
  std::string line = "changes: " + counts;
  if (!withheld.empty())
    line += " (" + paths_text(withheld, most_listed) + "; cloche changes show " + changes.set +
            " has it, cloche changes apply " + changes.set + " --only PATH brings it in)";
  return line;
}

std::string model_line(const ChangesOutcome& changes) {
  if (changes.end == ChangesEnd::none) return "";
  if (changes.end == ChangesEnd::staged)
    return "what this call wrote is not in the project: " + shown(changes.why_staged.text(), most_why) +
           "; it is kept, and the user decides about it";
  const auto withheld = changes.withheld();
  return withheld.empty() ? "" : "withheld, not in the project: " + paths_text(withheld, most_heard);
}

}  // namespace cloche
