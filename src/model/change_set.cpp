#include "model/change_set.hpp"

#include "base/sys/path.hpp"

namespace cloche {

std::string_view name_of(FileKind kind) {
  switch (kind) {
    case FileKind::file: return "file";
    case FileKind::directory: return "directory";
    case FileKind::link: return "link";
    case FileKind::fifo: return "fifo";
    case FileKind::socket: return "socket";
    case FileKind::device: return "device";
  }
  return "";
}

std::string_view name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::created: return "created";
    case ChangeKind::changed: return "changed";
    case ChangeKind::deleted: return "deleted";
  }
  return "";
}

std::string_view name_of(Fate fate) {
  switch (fate) {
    case Fate::withheld: return "withheld";
    case Fate::asked: return "asked";
    case Fate::committed: return "committed";
  }
  return "";
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
