#include "model/change_set.hpp"

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
