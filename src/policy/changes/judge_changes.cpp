#include "policy/changes/judge_changes.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/sys/path.hpp"
#include "policy/changes/consistent_verdicts.hpp"
#include "policy/changes/judge_members.hpp"
#include "policy/changes/moved_changes.hpp"
#include "policy/protected/folded_name.hpp"

namespace cloche {
namespace {

constexpr unsigned set_user_id = 04000;
constexpr unsigned set_group_id = 02000;
constexpr unsigned world_write = 00002;

constexpr const char* resolved_link_reason =
    "git waits there for a conflict to be resolved, and reads and writes what a link there leads to";

constexpr const char* link_reason =
    "it is a link that leads out of the directories of the call, and a program that writes through it later "
    "writes there";

// Above all rules: how a set is judged that the facts are complete for.
class ChangeJudge {
 public:
  ChangeJudge(const ChangeSet& set, const ChangeFacts& facts, const ChangeRules& rules)
      : set_(set),
        facts_(facts),
        rules_(rules),
        directories_(set, facts),
        moved_(set, facts, directories_),
        members_(facts, directories_, moved_) {}

  JudgedChanges judge(const std::vector<ChangeVerdict>& so_far);

 private:
  using Reason = std::optional<std::string>;

  Reason why_withheld(const Change& change);
  Reason judge_kind(const FileState& after) const;
  Reason judge_mode(const Change& change) const;
  Reason judge_attributes(const Change& change) const;
  Reason judge_link(const Change& change) const;
  bool is_to_be_resolved(const Change& change) const;
  Reason judge_own(const Change& change) const;
  Reason judge_hidden(const Change& change) const;
  bool is_allowed(const Change& change) const;
  bool hands_on_group(const Change& change) const;
  size_t earlier_matches(const ChangeRule& rule, const std::vector<size_t>& matched) const;
  void apply_rules(std::vector<ChangeVerdict>& verdicts);
  bool loses_history(const Change& git) const;
  void ask_about_repositories(std::vector<ChangeVerdict>& verdicts);
  void ask_about_parts(std::vector<ChangeVerdict>& verdicts);
  void ask_about_many(std::vector<ChangeVerdict>& verdicts);

  const ChangeSet& set_;
  const ChangeFacts& facts_;
  const ChangeRules& rules_;
  ChangedDirectories directories_;
  MovedChanges moved_;
  ChangedMemberJudge members_;
  std::vector<bool> has_rule_;  // by change: a rule of the operator's speaks, so the defaults do not
};

bool ChangeJudge::is_allowed(const Change& change) const {
  if (rules_.allowed.empty() || change.tree >= set_.trees.size()) return false;
  const std::string& root = set_.trees[change.tree].path;
  return is_beneath_any(rules_.allowed, change.path.empty() ? root : root + "/" + change.path);
}

std::optional<std::string> ChangeJudge::judge_own(const Change& change) const {
  const bool is_first = change.tree == 0;
  // The record is in the workspace alone; elsewhere tool_calls is a name like any other.
  if (is_cloches_own(is_first ? change.path : "elsewhere/" + change.path))
    return "it is Cloche's own, and no tool writes there";
  if (const auto* part = is_first ? find_part(rules_.parts, change.path) : nullptr) return part->reason;
  return std::nullopt;
}

// A new one too: no later call could read it, so it is only of use to who finds it on the host.
std::optional<std::string> ChangeJudge::judge_hidden(const Change& change) const {
  const bool is_hidden = rules_.hidden.hides(set_.trees[change.tree].path, change.path);
  return is_hidden ? Reason(hidden_reason) : std::nullopt;
}

std::optional<std::string> ChangeJudge::judge_kind(const FileState& after) const {
  switch (after.kind) {
    case FileKind::fifo: return "it is a named pipe, and a program that reads it later would wait for ever";
    case FileKind::socket: return "it is a socket, which nothing serves after the call";
    case FileKind::device: return "it is a device";
    default: return std::nullopt;
  }
}

bool ChangeJudge::hands_on_group(const Change& change) const {
  const std::string_view around = directory_in(change.path);
  if (const Change* parent = directories_.find(change.tree, around))
    return parent->after && (parent->after->mode & set_group_id) != 0;
  const auto found = facts_.directories.find({change.tree, std::string(around)});
  return found != facts_.directories.end() && (found->second.mode & set_group_id) != 0;
}

std::optional<std::string> ChangeJudge::judge_mode(const Change& change) const {
  const FileState& after = *change.after;
  if (after.kind == FileKind::link) return std::nullopt;
  const bool is_directory = after.kind == FileKind::directory;
  const unsigned before = change.before && change.before->kind == after.kind ? change.before->mode : 0;
  // Of a file the bits count whenever it changes: with other contents it is another program.
  const unsigned added = is_directory ? after.mode & ~before : after.mode;
  if ((added & set_user_id) != 0) return "it would run with the rights of its owner (set-user-id)";
  const bool is_inherited = is_directory && !change.path.empty() && hands_on_group(change);
  if ((added & set_group_id) != 0 && !is_inherited)
    return "it would run with the rights of its group (set-group-id)";
  const bool is_new = (after.mode & ~before & world_write) != 0;
  if (is_new && !moved_.only_moved(change, MovedChanges::Proof::times))
    return "every user of the host could write to it";
  return std::nullopt;
}

std::optional<std::string> ChangeJudge::judge_attributes(const Change& change) const {
  const auto found = facts_.attributes.find({change.tree, change.path});
  if (found == facts_.attributes.end()) return std::nullopt;
  if (found->second.is_unknown) return "which rights it gives to others cannot be told";
  if (found->second.has_capabilities) return "it would run with capabilities of the system's";
  const auto& then = found->second.acl_then;
  for (const auto& entry : found->second.acl) {
    const bool was_there = std::ranges::any_of(then, [&](const AclEntry& known) {
      return known.id == entry.id && known.is_group == entry.is_group &&
             known.is_default == entry.is_default && (entry.permissions & ~known.permissions) == 0;
    });
    if (!was_there) return "its access control list gives rights to other users";
  }
  return std::nullopt;
}

// It, or something below it.
bool ChangeJudge::is_to_be_resolved(const Change& change) const {
  if (facts_.to_be_resolved.contains(change.where())) return true;
  const std::string within = change.path + "/";
  const auto below = facts_.to_be_resolved.lower_bound({change.tree, within});
  return below != facts_.to_be_resolved.end() && below->tree == change.tree &&
         below->path.starts_with(within);
}

std::optional<std::string> ChangeJudge::judge_link(const Change& change) const {
  if (change.after->kind != FileKind::link) return std::nullopt;
  const bool is_same = change.kind == ChangeKind::changed && !change.differs.contents && !change.differs.kind;
  if (is_same) return std::nullopt;
  if (is_to_be_resolved(change)) return resolved_link_reason;
  // A name on its way may be made a link later, and .. behind it would lead elsewhere then.
  if (climbs_behind_a_name(change.after->link) && !moved_.only_moved(change, MovedChanges::Proof::contents))
    return "it is a link that goes up (..) behind a name, and where that leads can change";
  const auto found = facts_.links.find({change.tree, change.path});
  if (found == facts_.links.end() || found->second.place == PathEnd::Place::unknown)
    return "it is a link, and where it leads cannot be told";
  if (found->second.place != PathEnd::Place::outside) return std::nullopt;
  const std::string& end = found->second.where.path;
  if (end == "/dev/null" || is_beneath_any(rules_.system_trees, end)) return std::nullopt;
  // An absolute one that went along with its directory leads where it led before.
  const bool is_absolute = change.after->link.starts_with('/');
  if (is_absolute && moved_.only_moved(change, MovedChanges::Proof::contents)) return std::nullopt;
  return link_reason;
}

std::optional<std::string> ChangeJudge::why_withheld(const Change& change) {
  if (auto reason = judge_own(change)) return reason;
  if (auto reason = judge_hidden(change)) return reason;
  if (change.after) {
    if (auto reason = judge_kind(*change.after)) return reason;
    if (auto reason = judge_mode(change)) return reason;
    if (auto reason = judge_attributes(change)) return reason;
  }
  if (!is_allowed(change)) {
    if (auto reason = members_.danger_in(change)) return reason;
  }
  return change.after ? judge_link(change) : std::nullopt;
}

// A path that this call changes as well counts once.
size_t ChangeJudge::earlier_matches(const ChangeRule& rule, const std::vector<size_t>& matched) const {
  if (!rule.per_task) return 0;
  std::set<std::string> counted;
  for (const size_t i : matched)
    counted.insert(set_.trees[set_.changes[i].tree].path + "/" + set_.changes[i].path);
  const size_t now = counted.size();
  for (const Change& change : rules_.earlier.changes)
    if (rule.matches(rules_.earlier, change))
      counted.insert(rules_.earlier.trees[change.tree].path + "/" + change.path);
  return counted.size() - now;
}

// Of the rules that match the strictest holds, and it can only make a verdict stricter.
void ChangeJudge::apply_rules(std::vector<ChangeVerdict>& verdicts) {
  for (const ChangeRule& rule : rules_.rules) {
    std::vector<size_t> matched;
    for (size_t i = 0; i < set_.changes.size(); ++i) {
      if (rule.matches(set_, set_.changes[i])) matched.push_back(i);
    }
    if (rule.more_than && matched.size() + earlier_matches(rule, matched) <= *rule.more_than) continue;
    for (const size_t i : matched) {
      has_rule_[i] = true;
      if (rule.action == Decision::deny)
        tighten(verdicts[i], Fate::withheld, "a rule of the operator's does not allow it", rule.where);
      if (rule.action == Decision::ask)
        tighten(verdicts[i], Fate::asked, "a rule of the operator's asks about it", rule.where);
    }
  }
}

// Unless all that was in the git directory is elsewhere now.
bool ChangeJudge::loses_history(const Change& git) const {
  return std::any_of(set_.changes.begin(), set_.changes.end(), [&](const Change& change) {
    const bool is_file = change.before && change.before->kind == FileKind::file;
    return change.tree == git.tree && is_file && !change.after && is_at_or_below(git.path, change.path) &&
           !moved_.only_moved(change, MovedChanges::Proof::times);
  });
}

// A git directory that goes as a whole is the history of a project.
void ChangeJudge::ask_about_repositories(std::vector<ChangeVerdict>& verdicts) {
  std::set<std::pair<size_t, std::string_view>> asked;
  for (size_t i = 0; i < set_.changes.size(); ++i) {
    const Change& change = set_.changes[i];
    if (!change.before || change.path.empty() || has_rule_[i]) continue;
    const bool is_directory = change.before->kind == FileKind::directory;
    const bool is_gone = !change.after || change.after->kind != change.before->kind;
    if (!is_gone) continue;
    bool asks = asked.contains({change.tree, directory_in(change.path)});
    if (!asks && is_directory && directories_.meaning(change.tree, change.path, Side::before).is_git)
      asks = loses_history(change);
    if (!asks) continue;
    if (is_directory) asked.insert({change.tree, change.path});
    tighten(verdicts[i], Fate::asked, "it deletes a repository with its history");
  }
}

// Without these a directory is no repository any more, and what is written to its hooks and its configuration
// is as harmless as elsewhere until they are back.
void ChangeJudge::ask_about_parts(std::vector<ChangeVerdict>& verdicts) {
  for (size_t i = 0; i < set_.changes.size(); ++i) {
    const Change& change = set_.changes[i];
    const bool is_gone = change.before && (!change.after || change.after->kind != change.before->kind);
    const std::string_view name = name_in(change.path);
    const bool is_needed = name == "HEAD" || name == "objects" || name == "refs";
    if (!is_gone || !is_needed || has_rule_[i]) continue;
    const std::string_view around = directory_in(change.path);
    const Change* repository = directories_.find(change.tree, around);
    const bool goes_as_well = repository != nullptr && !is_directory(repository->after);
    if (goes_as_well || !directories_.meaning(change.tree, around, Side::before).is_git) continue;
    tighten(verdicts[i], Fate::asked, "it takes away what git needs of a repository that stays");
  }
}

void ChangeJudge::ask_about_many(std::vector<ChangeVerdict>& verdicts) {
  const auto is_deleted_file = [&](size_t i) {
    const Change& change = set_.changes[i];
    if (change.tree != 0 || change.kind != ChangeKind::deleted || has_rule_[i]) return false;
    const auto names = components_of(change.path);
    return change.before->kind != FileKind::directory && std::ranges::none_of(names, is_generated_directory);
  };
  const auto are_many = [&](size_t count) {
    return count >= rules_.least_deleted_to_ask && count > facts_.files_counted / 2;
  };
  std::vector<size_t> deleted;
  for (size_t i = 0; i < set_.changes.size(); ++i) {
    if (is_deleted_file(i)) deleted.push_back(i);
  }
  if (!are_many(deleted.size())) return;
  std::erase_if(deleted, [&](size_t i) {
    return moved_.only_moved(set_.changes[i], MovedChanges::Proof::times) ||
           moved_.counterpart(set_.changes[i]) != nullptr;
  });
  if (!are_many(deleted.size())) return;
  for (const size_t i : deleted)
    tighten(verdicts[i], Fate::asked, "the call deletes more than half of the files");
}

JudgedChanges ChangeJudge::judge(const std::vector<ChangeVerdict>& so_far) {
  JudgedChanges judged;
  has_rule_.assign(set_.changes.size(), false);
  for (const auto& change : set_.changes) {
    auto reason = why_withheld(change);
    judged.verdicts.push_back(reason ? ChangeVerdict{Fate::withheld, *std::move(reason)}
                                     : ChangeVerdict{Fate::committed});
  }
  apply_rules(judged.verdicts);
  ask_about_repositories(judged.verdicts);
  ask_about_parts(judged.verdicts);
  ask_about_many(judged.verdicts);
  for (size_t i = 0; i < so_far.size(); ++i)
    tighten(judged.verdicts[i], so_far[i].fate, so_far[i].reason, so_far[i].rule);
  make_consistent(set_, directories_, moved_, judged.verdicts);
  judged.stage = find_broken_repository(set_, facts_, directories_, judged.verdicts);
  return judged;
}

}  // namespace

bool is_generated_directory(std::string_view name) {
  constexpr std::string_view generated[] = {
      ".cache",        ".git",          ".gradle",      ".mypy_cache", ".next",  ".nox",
      ".parcel-cache", ".pytest_cache", ".ruff_cache",  ".tox",        ".venv",  "__pycache__",
      "build",         "dist",          "node_modules", "out",         "target", "venv"};
  static_assert(std::ranges::is_sorted(generated));
  return std::ranges::binary_search(generated, name);
}

std::vector<size_t> redirected_links(const ChangeSet& set, const ChangeFacts& facts,
                                     const ChangeRules& rules) {
  std::vector<size_t> found;
  for (size_t i = 0; i < set.changes.size(); ++i) {
    const Change& change = set.changes[i];
    const auto end = facts.links.find(change.where());
    if (!is_kind(change.after, FileKind::link) || end == facts.links.end()) continue;
    const bool begins_inside =
        !change.after->link.starts_with('/') || is_beneath(set.trees[change.tree].path, change.after->link);
    const bool leads_out = end->second.place == PathEnd::Place::outside &&
                           !is_beneath_any(rules.system_trees, end->second.where.path);
    if (begins_inside && leads_out) found.push_back(i);
  }
  return found;
}

std::vector<std::optional<std::string>> dangers_of(const ChangeSet& set, const ChangeFacts& facts,
                                                   const std::vector<std::string>& allowed) {
  std::vector<std::optional<std::string>> dangers;
  ChangedDirectories directories(set, facts);
  const MovedChanges moved(set, facts, directories);
  ChangedMemberJudge members(facts, directories, moved);
  for (const auto& change : set.changes) {
    const bool is_let_go = is_beneath_any(allowed, set.trees[change.tree].path + "/" + change.path);
    dangers.push_back(is_let_go ? std::nullopt : facts.too_much ? facts.too_much : members.danger_in(change));
  }
  return dangers;
}

JudgedChanges judge_changes(const ChangeSet& set, const ChangeFacts& facts, const ChangeRules& rules,
                            const std::vector<ChangeVerdict>& so_far) {
  if (!facts.too_much) return ChangeJudge(set, facts, rules).judge(so_far);
  JudgedChanges judged;
  judged.verdicts.assign(set.changes.size(), {Fate::withheld, *facts.too_much});
  judged.stage = facts.too_much;
  return judged;
}

}  // namespace cloche
