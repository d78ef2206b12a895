#include "policy/changes/consistent_verdicts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/text/visible_text.hpp"
#include "policy/protected/git_config_reader.hpp"

namespace cloche {
namespace {

constexpr const char* holds_withheld = "it holds something whose deletion is withheld";
constexpr const char* moved_to_withheld = "it was moved to a path that is withheld";

class Consistency {
 public:
  Consistency(const ChangeSet& set, const ChangedDirectories& directories, const MovedChanges& moved,
              std::vector<ChangeVerdict>& verdicts)
      : set_(set), directories_(directories), moved_(moved), verdicts_(verdicts) {}

  void settle() {
    do {
      tightened_ = false;
      for (size_t i = 0; i < set_.changes.size(); ++i) follow_directory(i);
      for (size_t i = set_.changes.size(); i-- > 0;) keep_directory(i);
      for (size_t i = 0; i < set_.changes.size(); ++i) keep_source(i);
    } while (tightened_);  // each turn makes at least one verdict stricter, and there are three degrees
  }

 private:
  const Change* around(const Change& change) const {
    return change.path.empty() ? nullptr : directories_.find(change.tree, directory_in(change.path));
  }
  size_t index_of(const Change& change) const { return static_cast<size_t>(&change - set_.changes.data()); }

  void tighten_to(size_t index, const ChangeVerdict& other, std::string reason) {
    if (verdicts_[index].fate <= other.fate) return;
    tighten(verdicts_[index], other.fate, std::move(reason), other.rule);
    tightened_ = true;
  }

  // Nothing can be put into a directory that is not made; nor is one emptied that is to be replaced later.
  void follow_directory(size_t index) {
    const Change* parent = around(set_.changes[index]);
    if (parent == nullptr || !(makes_directory(*parent) || is_replaced(*parent))) return;
    const ChangeVerdict& verdict = verdicts_[index_of(*parent)];
    tighten_to(index, verdict, verdict.reason);
  }
  static bool is_replaced(const Change& change) { return takes_directory(change) && change.after; }

  // A directory stays while something in it does.
  void keep_directory(size_t index) {
    const Change& change = set_.changes[index];
    const Change* parent = around(change);
    if (!change.before || parent == nullptr || !takes_directory(*parent)) return;
    tighten_to(index_of(*parent), verdicts_[index], holds_withheld);
  }

  // What was moved to where it is withheld would be lost to the project.
  void keep_source(size_t index) {
    if (verdicts_[index].fate == Fate::withheld) return;
    const Change* moved_to = moved_.counterpart(set_.changes[index]);
    if (moved_to == nullptr) return;
    tighten_to(index, verdicts_[index_of(*moved_to)], moved_to_withheld);
  }

  const ChangeSet& set_;
  const ChangedDirectories& directories_;
  const MovedChanges& moved_;
  std::vector<ChangeVerdict>& verdicts_;
  bool tightened_ = false;
};

// How the rest of the repository is to be read, by its configuration.
std::vector<std::string> format_said(const std::map<TreePath, std::string>& texts, const Change& change) {
  std::vector<std::string> said;
  const auto text = texts.find({change.tree, change.path});
  GitConfigReader reader(text != texts.end() ? std::string_view(text->second) : std::string_view());
  while (const auto entry = reader.next()) {
    const std::string kind = kind_of(*entry);
    if (kind == "core.repositoryformatversion" || entry->section == "extensions")
      said.push_back(kind + "=" + entry->value);
  }
  return said;
}

// What git can do without: it is not there, or is as it was.
bool is_dispensable(const Change& change, const std::optional<Membership>& member, const ChangeFacts& facts) {
  if (!member) return false;
  switch (member->rule) {
    case MemberRule::always:
    case MemberRule::git_hooks:
    case MemberRule::git_resolutions:
    case MemberRule::git_remotes: return true;
    case MemberRule::git_config:
      return change.kind == ChangeKind::changed &&
             format_said(facts.texts_before, change) == format_said(facts.texts_after, change);
    default: return false;
  }
}

}  // namespace

void tighten(ChangeVerdict& verdict, Fate fate, std::string reason, std::string rule) {
  if (fate >= verdict.fate) return;
  verdict = {fate, std::move(reason), std::move(rule)};
}

bool follows_from_another(const ChangeVerdict& verdict) {
  return verdict.reason == holds_withheld || verdict.reason == moved_to_withheld;
}

void make_consistent(const ChangeSet& set, const ChangedDirectories& directories, const MovedChanges& moved,
                     std::vector<ChangeVerdict>& verdicts) {
  const bool all_committed = std::ranges::all_of(
      verdicts, [](const ChangeVerdict& verdict) { return verdict.fate == Fate::committed; });
  if (!all_committed) Consistency(set, directories, moved, verdicts).settle();
}

std::optional<std::string> find_broken_repository(const ChangeSet& set, const ChangeFacts& facts,
                                                  ChangedDirectories& directories,
                                                  const std::vector<ChangeVerdict>& verdicts) {
  struct Parts {
    bool committed = false;
    bool missing = false;
  };
  const bool all_committed = std::ranges::all_of(
      verdicts, [](const ChangeVerdict& verdict) { return verdict.fate == Fate::committed; });
  if (all_committed) return std::nullopt;
  constexpr size_t parts_as_trees = std::numeric_limits<size_t>::max();
  std::map<std::pair<size_t, std::string_view>, Parts> repositories;
  for (size_t i = 0; i < set.changes.size(); ++i) {
    const Change& change = set.changes[i];
    const Side side = change.after ? Side::after : Side::before;
    const std::string_view around = directory_in(change.path);
    const DirectoryMeaning& meaning = directories.meaning(change.tree, around, side);
    if (change.path.empty() || meaning.git_length == std::string_view::npos) continue;
    // Trees that are themselves parts of a repository belong to one: that of the workspace.
    const bool is_part = meaning.git_length == 0;
    auto& parts =
        repositories[{is_part ? parts_as_trees : change.tree, around.substr(0, meaning.git_length)}];
    if (verdicts[i].fate == Fate::committed) {
      parts.committed = true;
    } else if (!is_dispensable(change, directories.membership(change.tree, change.path, side), facts)) {
      parts.missing = true;
    }
  }
  for (const auto& [where, parts] : repositories) {
    if (parts.committed && parts.missing)
      return "a part of the repository at '" + shown(where.second.empty() ? "." : where.second) +
             "' is withheld, and git would find it incomplete";
  }
  return std::nullopt;
}

}  // namespace cloche
