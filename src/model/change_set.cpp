#include "model/change_set.hpp"

#include "base/sys/path.hpp"
#include "model/names.hpp"

namespace cloche {

std::string_view name_of(FileKind kind) {
  static constexpr std::string_view names[] = {"file", "directory", "link", "fifo", "socket", "device"};
  return name_in<FileKind::device>(names, kind);
}

std::string_view name_of(ChangeKind kind) {
  static constexpr std::string_view names[] = {"created", "changed", "deleted"};
  return name_in<ChangeKind::deleted>(names, kind);
}

std::string_view name_of(Fate fate) {
  static constexpr std::string_view names[] = {"withheld", "asked", "committed"};
  return name_in<Fate::committed>(names, fate);
}

bool is_kind(const std::optional<FileState>& state, FileKind kind) { return state && state->kind == kind; }
bool is_directory(const std::optional<FileState>& state) { return is_kind(state, FileKind::directory); }

TreePath Change::around() const { return {tree, std::string(directory_in(path))}; }

bool makes_directory(const Change& change) {
  return is_directory(change.after) && !is_directory(change.before);
}

bool takes_directory(const Change& change) {
  return is_directory(change.before) && !is_directory(change.after);
}

void ChangeCounts::add(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::created: ++created; break;
    case ChangeKind::changed: ++changed; break;
    case ChangeKind::deleted: ++deleted; break;
  }
}

ChangeCounts count(const ChangeSet& set) {
  ChangeCounts counts;
  for (const Change& change : set.changes) counts.add(change.kind);
  return counts;
}

}  // namespace cloche
