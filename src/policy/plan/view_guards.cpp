#include "policy/plan/view_guards.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "policy/plan/view_entries.hpp"

namespace cloche::view {
namespace {

using Kind = FileFact::Kind;

// A path relative to a directory that it is beneath, with its slash in front; of the directory itself: empty.
std::string relative(const std::string& root, const std::string& path) {
  return root == "/" ? path : path.substr(root.size());
}

// Where something below a tree appears.
std::string seen_below(const ViewEntry& entry, const std::string& below) {
  return entry.target == "/" ? below : entry.target + below;
}

// Where a path of the host's appears, given the tree that shows it.
std::string seen_at(const ViewEntry& entry, const std::string& path) {
  return seen_below(entry, relative(entry.source, path));
}

bool is_shown(const ViewEntry& entry) {
  return entry.kind == EntryKind::tree && entry.access != Access::none;
}

bool is_writable(const ViewEntry& entry) {
  return entry.access == Access::write || entry.access == Access::write_run;
}

bool is_same(const FileFact& fact, uint64_t device, uint64_t inode) {
  return fact.exists() && inode != 0 && fact.inode == inode && fact.device == device;
}

// Where a tree that is shown has the file in it, if it does: by its name, or because the tree is another name
// (a bind mount) of a directory above it.
std::optional<std::string> place_in(const ViewEntry& entry, const FileFact& file,
                                    const std::vector<FileFact>& all_above) {
  if (is_beneath(entry.source, file.path)) return relative(entry.source, file.path);
  for (const auto& above : all_above) {
    if (is_same(above, entry.device, entry.inode) && is_beneath(above.path, file.path))
      return relative(above.path, file.path);
  }
  return std::nullopt;
}

// A mount point cannot be renamed, but a directory above one can, and takes it along: the next view would
// have the file under the new name and cover the old one. Right at the root there is nothing above it.
bool can_be_moved(const ViewEntry& entry, const std::string& below) {
  return is_writable(entry) && below.find('/', 1) != std::string::npos;
}

// What may be done to a member of a tree that can be written.
Access kept_access(const ViewEntry& entry) {
  return entry.access == Access::write ? Access::read : Access::run;
}

// A directory of a tree once more, as a mount of its own: what a mount stands on cannot be renamed. A hidden
// one, or what lies in one, stays so, and what is a mount already needs no other.
void add_pin(std::vector<ViewEntry>& pins, const SharedList<ViewEntry>& view, const ViewEntry& entry,
             const FileFact& directory, std::string target) {
  const auto settles = [&](const ViewEntry& other) {
    return other.target == target || (other.access == Access::none && is_beneath(other.target, target));
  };
  if (std::ranges::any_of(view, settles)) return;
  ViewEntry pin = entry;  // whose rights and owner it has, as without the pin
  pin.target = std::move(target);
  pin.source = directory.path;
  pin.device = directory.device;
  pin.inode = directory.inode;
  pin.size_bytes = 0;
  pin.why = "on the way to what is kept";
  pins.push_back(std::move(pin));
}

// Every directory between a tree's root and something `below` it, whose path on the host is `path`.
void pin_way(std::vector<ViewEntry>& pins, const ConfinementPlan& plan, const ViewEntry& entry,
             const FileFact& file, const std::string& below, const std::vector<FileFact>& all_above) {
  const size_t root_length = file.path.size() - below.size();
  for (const auto& above : all_above) {
    if (!is_beneath(above.path, file.path) || above.path.size() <= root_length + 1) continue;
    add_pin(pins, plan.view, entry, above, seen_below(entry, above.path.substr(root_length)));
  }
}

}  // namespace

void cover_mounts(ConfinementPlan& plan, const Facts& facts) {
  for (auto& entry : plan.view) {
    const bool has_mounts = std::ranges::any_of(facts.mounts_below, [&](const FileFact& below) {
      return entry.owned && is_beneath(entry.source, below.path) && below.path != entry.source;
    });
    entry.recursive = entry.recursive || has_mounts;
  }
  std::vector<ViewEntry> covers;
  for (const auto& below : facts.mounts_below) {
    for (const auto& entry : plan.view) {
      if (!entry.owned || below.path == entry.source || !is_beneath(entry.source, below.path)) continue;
      const std::string target = seen_at(entry, below.path);
      // Granted by name, or inside one that is covered already.
      const auto settles = [&](const ViewEntry& other) {
        return &other != &entry && is_beneath(other.target, target) &&
               is_beneath(entry.target, other.target) &&
               (other.target == target || other.access == Access::none);
      };
      if (std::ranges::any_of(plan.view, settles) || std::ranges::any_of(covers, settles)) {
        continue;
      }
      ViewEntry cover{.kind = EntryKind::tmpfs, .access = Access::none, .target = target};
      cover.mode = 0555;
      cover.size_bytes = 4096;
      cover.why = "a mount of the host below " + entry.source;
      if (below.kind != Kind::directory) {
        cover = {.kind = EntryKind::tree,
                 .access = Access::none,
                 .target = target,
                 .source = "/dev/null",
                 .file = true,
                 .why = cover.why};
      }
      covers.push_back(std::move(cover));
    }
  }
  plan.view.append(covers);
}

bool is_own_file(const Facts& facts, const FileFact& fact) {
  const auto within = [&](const FileFact& own) {
    return !own.path.empty() && (is_beneath(own.path, fact.path) || is_same(own, fact.device, fact.inode));
  };
  return within(facts.state) || std::ranges::any_of(facts.hidden, within) ||
         std::ranges::any_of(facts.configuration, within);
}

Result<void> hide_own_files(ConfinementPlan& plan, const Facts& facts) {
  std::vector<ViewEntry> masks;
  const auto hide = [&](const FileFact& own) -> Result<void> {
    for (const auto& entry : plan.view) {
      if (!is_shown(entry)) continue;
      if (is_beneath(own.path, entry.source) || is_same(own, entry.device, entry.inode))
        return refusal(entry.source + " is one of Cloche's own files, and no command sees those");
      const auto below = place_in(entry, own, facts.above_own);
      if (!below) continue;
      if (can_be_moved(entry, *below))
        return refusal(entry.source + " would be writable and has Cloche's own " + own.path +
                           " deep in it, where a command could move it to another name",
                       "grant directories beside it");
      if (!own.exists() && is_writable(entry))
        return refusal(
            entry.source + " would be writable, and a command could make Cloche's own " + own.path + " there",
            "grant directories beside it");
      if (!own.exists()) continue;
      const std::string target = seen_below(entry, *below);
      masks.push_back(own.kind == Kind::directory ? mask(target, "Cloche's own files")
                                                  : empty_file(target, "Cloche's own files"));
    }
    return {};
  };
  if (!facts.state.path.empty()) TRY(hide(facts.state));
  for (const auto& own : facts.hidden) TRY(hide(own));
  for (const auto& own : facts.configuration) TRY(hide(own));
  plan.view.append(masks);
  return {};
}

namespace {

bool is_or_lies_in(const ViewEntry& entry, const FileFact& hidden) {
  return is_shown(entry) && entry.owned &&
         (is_beneath(hidden.path, entry.source) || is_same(hidden, entry.device, entry.inode));
}

// What was granted is not silently missing. What is shown once more for another reason, as a member of the
// protected set is, stays away.
Result<void> take_hidden_away(ConfinementPlan& plan, const Facts& facts) {
  const auto is_granted = [&](const ViewEntry& entry) {
    return entry.source == facts.workspace.path ||
           std::ranges::any_of(facts.grants, [&](const FileFact& it) { return it.path == entry.source; });
  };
  for (const FileFact& hidden : facts.hide.found) {
    for (const auto& entry : plan.view) {
      if (is_or_lies_in(entry, hidden) && is_granted(entry))
        return refusal(entry.source + " is to be hidden (" + hidden.path + "), and cannot be shown",
                       "leave out the grant, or change hide");
    }
    std::erase_if(plan.view.edit(), [&](const ViewEntry& entry) { return is_or_lies_in(entry, hidden); });
  }
  return {};
}

}  // namespace

Result<void> hide_files(ConfinementPlan& plan, const Facts& facts, Writes writes) {
  TRY(take_hidden_away(plan, facts));
  std::vector<ViewEntry> pins;
  std::vector<ViewEntry> masks;
  for (const FileFact& hidden : facts.hide.found) {
    for (const auto& entry : plan.view) {
      const auto below = is_shown(entry) ? place_in(entry, hidden, facts.above_own) : std::nullopt;
      if (!below || below->empty()) continue;  // empty: the system's own, where a link leads
      if (writes == Writes::live && is_writable(entry))
        pin_way(pins, plan, entry, hidden, *below, facts.above_own);
      const std::string target = seen_below(entry, *below);
      masks.push_back(hidden.kind == Kind::directory ? mask(target, "hidden by the operator")
                                                     : empty_file(target, "hidden by the operator"));
    }
  }
  plan.view.append(pins);
  plan.view.append(masks);
  return {};
}

Result<void> keep_project_config(ConfinementPlan& plan, const Facts& facts) {
  const FileFact& config = facts.project_config;
  if (!config.exists()) return {};
  std::vector<ViewEntry> kept;
  for (const auto& entry : plan.view) {
    if (!is_shown(entry) || !is_writable(entry)) continue;
    if (is_beneath(config.path, entry.source) || is_same(config, entry.device, entry.inode))
      return refusal(entry.source + " is the project's own configuration, which no command writes");
    const auto below = place_in(entry, config, facts.above_own);
    if (!below) continue;
    if (can_be_moved(entry, *below))
      return refusal(entry.source + " would be writable and has the project's configuration " + config.path +
                         " deep in it, where a command could move it to another name",
                     "grant directories beside it");
    kept.push_back(
        owned_tree(config, seen_below(entry, *below), Access::read, "the project's own configuration"));
  }
  plan.view.append(kept);
  return {};
}

Result<void> keep_operators_word(const ConfinementPlan& plan, const Facts& facts) {
  for (const auto& entry : plan.view) {
    if (!is_shown(entry) || !is_writable(entry)) continue;
    for (const auto& kept : facts.kept) {
      if (is_beneath(kept.path, entry.source) || is_same(kept, entry.device, entry.inode) ||
          place_in(entry, kept, facts.above_own))
        return refusal(entry.source + " would be writable, and a command could change " + kept.path +
                           ", which the configuration takes the operator's word from",
                       "grant directories beside it");
    }
  }
  return {};
}

namespace {

// A mount keeps a name, and a file with two has one more.
Result<void> judge_other_names(const ConfinementPlan& plan, const Facts& facts) {
  if (facts.with_other_names.empty()) return {};
  const auto could_hold_one = [](const ViewEntry& entry) { return is_shown(entry) && is_writable(entry); };
  const auto writable = std::ranges::find_if(plan.view, could_hold_one);
  if (writable == plan.view.end()) return {};
  const std::string& file = facts.with_other_names.front();
  return refusal(file + " has another name (a hard link), and in " + writable->source +
                     " a command could change it by that one",
                 "give it one name: " + commands_for_one_name(file));
}

// A workspace that holds the programs is the checkout that builds them, and is worked on. One that holds only
// what a link among the programs leads to is refused, as one with configuration or state in it is.
Result<void> judge_lone_part(const ViewEntry& entry, const FileFact& part, const Facts& facts) {
  if (entry.source != facts.workspace.path || place_in(entry, facts.parts.front(), facts.above_parts))
    return {};
  return refusal(part.path + " belongs to the Cloche that is running and lies in the workspace " +
                     entry.source + ", where its programs are not",
                 "name another workspace");
}

}  // namespace

Result<void> keep_parts(ConfinementPlan& plan, const Facts& facts) {
  TRY(judge_other_names(plan, facts));
  std::vector<ViewEntry> kept;
  for (const auto& entry : plan.view) {
    if (!is_shown(entry) || !is_writable(entry)) continue;
    for (const auto& part : facts.parts) {
      if (is_beneath(part.path, entry.source) || is_same(part, entry.device, entry.inode))
        return refusal(entry.source + " belongs to the Cloche that is running, and no command writes there",
                       "name another directory");
      const auto below = place_in(entry, part, facts.above_parts);
      if (!below) continue;
      TRY(judge_lone_part(entry, part, facts));
      if (plan.level < IsolationLevel::namespaces)
        return refusal(
            entry.source + " would be writable and holds the Cloche that is running, " + part.path +
                ", which the isolation level " + std::string(name_of(plan.level)) +
                " cannot keep from being changed",
            "name another directory, take the isolation level namespace, or install Cloche elsewhere");
      pin_way(kept, plan, entry, part, *below, facts.above_parts);
      kept.push_back(
          owned_tree(part, seen_below(entry, *below), kept_access(entry), "the Cloche that is running"));
    }
  }
  plan.view.append(kept);
  return {};
}

void keep_protected(ConfinementPlan& plan, const Facts& facts) {
  std::vector<ViewEntry> kept;
  for (auto& entry : plan.view) {
    if (!is_shown(entry) || !is_writable(entry)) continue;
    const Access access = kept_access(entry);
    for (const auto& git : facts.guard.pinned) {
      if (git.path != entry.source && is_beneath(entry.source, git.path))
        add_pin(kept, plan.view, entry, git, seen_at(entry, git.path));
    }
    for (const auto& fact : facts.guard.kept) {
      if (is_beneath(fact.path, entry.source)) {
        entry.access = access;
      } else if (is_beneath(entry.source, fact.path)) {
        kept.push_back(owned_tree(fact, seen_at(entry, fact.path), access, std::string(why_protected)));
      }
    }
  }
  plan.view.append(kept);
}

void put_in_order(std::vector<ViewEntry>& view) {
  std::vector<ViewEntry*> by_target;  // of two for one place the later one is the second
  by_target.reserve(view.size());
  for (auto& entry : view) by_target.push_back(&entry);
  std::ranges::sort(by_target, [](const ViewEntry* a, const ViewEntry* b) {
    const int order = a->target.compare(b->target);
    return order != 0 ? order < 0 : a < b;
  });
  const auto is_last = [&](size_t at) {
    return at + 1 == by_target.size() || by_target[at + 1]->target != by_target[at]->target;
  };
  const auto holds_another = [&](size_t at) {  // what begins with its name follows it
    const ViewEntry& link = *by_target[at];
    for (size_t next = at + 1; next < by_target.size(); ++next) {
      const ViewEntry& below = *by_target[next];
      if (!below.target.starts_with(link.target)) return false;
      if (is_last(next) && is_beneath(link.target, below.target) && &below > &link) return true;
    }
    return false;
  };
  std::vector<std::pair<long, ViewEntry*>> kept;  // with its depth
  kept.reserve(view.size());
  for (size_t at = 0; at < by_target.size(); ++at) {
    ViewEntry* entry = by_target[at];
    if (!is_last(at) || (entry->kind == EntryKind::link && holds_another(at))) continue;
    kept.emplace_back(std::ranges::count(entry->target, '/'), entry);
  }
  std::ranges::sort(kept);  // then as they stood
  std::vector<ViewEntry> ordered;
  ordered.reserve(kept.size());
  for (const auto& [depth, entry] : kept) ordered.push_back(std::move(*entry));
  view = std::move(ordered);
}

}  // namespace cloche::view
