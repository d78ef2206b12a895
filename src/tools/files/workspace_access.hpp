// All that a tool which runs in this process may touch. store/ implements it; a tool never sees a descriptor,
// an absolute path or the clock.
//
// Every path is relative to the workspace and has passed the path gate. An Error here is what the world
// answered - not there, a FIFO, the disk is full - in one sentence for the model; the tool reports it and the
// session goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

// Which content of which file: equal stamps mean that it was not changed in between.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

struct FilePart {
  std::string bytes;
  uint64_t size = 0;  // of the whole file, after reading
  FileStamp stamp = {};
};

struct FileEntry {
  enum class Kind { file, directory, link, other, hidden };  // hidden: whatever it is

  std::string path;  // relative to the workspace
  Kind kind = Kind::other;
};

// What a visitor wants next.
enum class WalkStep { into, over, stop };

struct WalkLimits {
  size_t entries = 100'000;
  uint64_t milliseconds = 2000;
};

// What a visitor may ask while it is visited.
class WalkView {
 public:
  virtual ~WalkView() = default;

  // Of a file, in bytes; looked up only now, because most of a large tree is just passed by.
  virtual uint64_t size_of(const FileEntry& entry) const = 0;
  // One that takes long over an entry asks now and then, and stops.
  virtual bool out_of_time() const = 0;
};
using Visit = std::function<WalkStep(const FileEntry& entry, const WalkView& view)>;

enum class WalkEnd { complete, stopped_by_visitor, out_of_entries, out_of_time };

struct Walked {
  WalkEnd end = WalkEnd::out_of_time;
  size_t unreadable = 0;  // directories that could not be looked into
};

class WorkspaceFiles {
 public:
  virtual ~WorkspaceFiles() = default;

  // At most `most` bytes from `offset`; fewer where the file ends.
  virtual Result<FilePart> read(const std::string& path, uint64_t offset, uint64_t most) = 0;

  enum class Replaced { made, changed };
  // The whole file at once, with the directories that lead to it; another reader sees the old one or the new
  // one. With a stamp: only while the file is still that one.
  virtual Result<Replaced> replace(const std::string& path, std::string_view bytes,
                                   const std::optional<FileStamp>& only_if = std::nullopt) = 0;

  // What is beneath `path` (of a file: itself), each directory before what is in it and sorted by name. Never
  // follows a link, and never shows what is Cloche's own.
  virtual Result<Walked> walk(const std::string& path, const WalkLimits& limits, const Visit& visit) = 0;
};

// The raw results of this task's earlier calls.
class Results {
 public:
  virtual ~Results() = default;

  virtual Result<FilePart> recall(const std::string& call_id, uint64_t offset, uint64_t most) = 0;
};

}  // namespace cloche
