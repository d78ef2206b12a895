#include "doors/changes/shown_file.hpp"

#include <algorithm>
#include <set>

#include "doors/changes/visible_bytes.hpp"
#include "model/changes_outcome.hpp"

namespace cloche {
namespace {

constexpr unsigned any_execute = 0111;
constexpr unsigned unusual_bits = 07002;  // set-id, sticky, writable for every user

bool is_new_or_other(const Change& change) {
  return change.kind == ChangeKind::created || change.differs.kind || change.differs.contents ||
         change.differs.mode;
}

bool changes_permissions(const Change& change) {
  const Difference& differs = change.differs;
  if (differs.mode || differs.owner || differs.attributes) return true;
  if (!change.after || change.kind != ChangeKind::created) return false;
  const FileKind kind = change.after->kind;
  const bool is_special = kind == FileKind::fifo || kind == FileKind::socket || kind == FileKind::device;
  return is_special || (change.after->mode & unusual_bits) != 0;
}

ShownGroup group_of(const ShownChange& file, bool deceives) {
  const Change& change = file.change;
  if (file.verdict.fate != Fate::committed) return ShownGroup::withheld;
  if (change.after && is_new_or_other(change)) {
    const FileState& after = *change.after;
    if (after.kind == FileKind::file && (after.mode & any_execute) != 0) return ShownGroup::executable;
    if (after.kind == FileKind::link) return ShownGroup::link;
  }
  if (changes_permissions(change)) return ShownGroup::permissions;
  return deceives ? ShownGroup::look_alike : ShownGroup::other;
}

bool is_directory_alone(const Change& change) {
  const auto& state = change.after ? change.after : change.before;
  return change.kind != ChangeKind::changed && state && state->kind == FileKind::directory;
}

}  // namespace

std::string_view name_of(ShownGroup group) {
  constexpr std::string_view names[] = {"withheld",    "executable",        "link",
                                        "permissions", "name like another", ""};
  return names[static_cast<size_t>(group)];
}

std::vector<ShownChange> shown_files(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts) {
  std::vector<ShownChange> files;
  files.reserve(set.changes.size());
  for (size_t i = 0; i < set.changes.size(); ++i) {
    const Change& change = set.changes[i];
    // A change without a verdict is one that was not judged: the default, which is withheld.
    files.push_back({shown_path(set, change.tree, change.path), change,
                     i < verdicts.size() ? verdicts[i] : ChangeVerdict{}});
  }
  return files;
}

std::vector<ShownPlace> display_order(const std::vector<ShownChange>& files) {
  std::vector<std::string_view> paths;
  std::set<std::string_view> parents;
  for (const ShownChange& file : files) {
    paths.emplace_back(file.path);
    const size_t slash = file.path.rfind('/');
    if (slash != std::string::npos) parents.insert(std::string_view(file.path).substr(0, slash));
  }
  const std::vector<bool> deceiving = deceiving_names(paths);
  std::vector<ShownPlace> order;
  for (size_t i = 0; i < files.size(); ++i) {
    const ShownGroup group = group_of(files[i], deceiving[i]);
    const bool is_said = is_directory_alone(files[i].change) && parents.contains(files[i].path);
    if (group == ShownGroup::other && is_said) continue;
    order.push_back({i, group});
  }
  std::ranges::stable_sort(order, [&](const ShownPlace& a, const ShownPlace& b) {
    if (a.group != b.group) return a.group < b.group;
    return files[a.index].path < files[b.index].path;
  });
  return order;
}

ChangeCounts count(const std::vector<ShownChange>& files) {
  ChangeCounts counts;
  for (const ShownChange& file : files) counts.add(file.change.kind);
  return counts;
}

}  // namespace cloche
