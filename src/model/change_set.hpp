// ChangeSet: what a call did to the trees that it may write, path by path. The call worked on a merged view:
// the project below (lower), its own writes above (upper). Nothing of the set has reached the project yet.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

enum class FileKind { file, directory, link, fifo, socket, device };
std::string_view name_of(FileKind kind);

// A file as it was before the call, or is after it.
struct FileState {
  FileKind kind = FileKind::file;
  unsigned mode = 0;  // permissions, set-id bits and the sticky bit
  unsigned uid = 0;
  unsigned gid = 0;
  uint64_t size = 0;        // of a file
  int64_t modified_ns = 0;  // since the epoch
  unsigned names = 1;       // hard links
  std::string link = {};    // of a link: what it says

  bool operator==(const FileState&) const = default;
};

bool is_kind(const std::optional<FileState>& state, FileKind kind);
bool is_directory(const std::optional<FileState>& state);

enum class ChangeKind { created, changed, deleted };
std::string_view name_of(ChangeKind kind);

// Of a path that was there before and is there now: what differs. None of them: it is no change.
struct Difference {
  bool kind = false;      // a file became a directory, a link, ...
  bool contents = false;  // bytes of a file, or what a link says
  bool mode = false;
  bool owner = false;
  bool times = false;       // of a file: when it was modified
  bool attributes = false;  // extended attributes, access control lists among them

  bool any() const { return kind || contents || mode || owner || times || attributes; }
  bool operator==(const Difference&) const = default;
};

struct TreePath {
  size_t tree = 0;        // of ChangeSet::trees
  std::string path = {};  // bytes, relative to the tree; "" is its root

  auto operator<=>(const TreePath&) const = default;
};

struct Change {
  size_t tree = 0;
  std::string path;  // "" is the tree's own root, which can only change its mode
  ChangeKind kind = ChangeKind::created;
  std::optional<FileState> before = {};
  std::optional<FileState> after = {};
  Difference differs = {};  // of a changed one

  TreePath where() const { return {tree, path}; }
  TreePath around() const;  // the directory that it is in
  bool operator==(const Change&) const = default;
};

// Whether a directory comes, or goes: what was one and still is counts as neither.
bool makes_directory(const Change& change);
bool takes_directory(const Change& change);

struct ChangedTree {
  std::string path;  // absolute, where the project has it
  uint64_t device = 0;
  uint64_t inode = 0;

  bool operator==(const ChangedTree&) const = default;
};

// Every path is in it: what lies beneath a directory that was deleted, replaced or created is listed as well.
struct ChangeSet {
  std::vector<ChangedTree> trees = {};
  std::vector<Change> changes = {};  // by tree, then by path, so that a directory comes before what is in it

  bool operator==(const ChangeSet&) const = default;
};

// What becomes of one change. A default-constructed one reaches nothing.
enum class Fate {
  withheld,   // stays in the upper layer, and is listed with the reason
  asked,      // an operator has to say
  committed,  // moved into the project
};
std::string_view name_of(Fate fate);

struct ChangeVerdict {
  Fate fate = Fate::withheld;
  std::string reason = {};  // of what is withheld or asked: one sentence for the model and the operator
  std::string rule = {};    // for the operator: which rule, with its file and line
};

struct ChangeCounts {
  uint64_t created = 0;
  uint64_t changed = 0;
  uint64_t deleted = 0;

  void add(ChangeKind kind);
  bool operator==(const ChangeCounts&) const = default;
};
ChangeCounts count(const ChangeSet& set);

}  // namespace cloche
