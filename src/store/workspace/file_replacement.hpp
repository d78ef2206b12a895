// One file replaced whole beneath a held directory. The new content is complete before it has the name, and
// the directory that holds it is found once, by descriptor: what is swapped for a link meanwhile is not
// followed, and a hard link elsewhere keeps the old content.
//
// The old and the new file are exchanged (RENAME_EXCHANGE) and the old one is checked before it is removed:
// what was not meant to be replaced is put back. A plain rename would be safe against power cuts on ext4,
// because it starts writing the data out at once, which takes ten times as long as everything else here. So
// that is a choice: FileSync.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sys/fd.hpp"
#include "store/workspace/file_sync.hpp"
#include "tools/files/workspace_access.hpp"

namespace cloche {

// What name the new content has until it takes its own: none (O_TMPFILE), or, where a file system cannot do
// that, an unused one.
enum class FreshFile { unnamed, named };

struct WriteOptions {
  FreshFile fresh = FreshFile::unnamed;
  FileSync sync = FileSync::later;
};

FileStamp stamp_of(const struct stat& seen);

class FileReplacement {
 public:
  // `path` relative to `root`, without "..".
  FileReplacement(int root, const std::string& path) : root_(root), path_(path) {}

  Result<WorkspaceFiles::Replaced> run(std::string_view bytes, const std::optional<FileStamp>& only_if,
                                       const WriteOptions& options);

  // Takes away what a failed run() has made.
  void undo();

 private:
  struct Made {
    OwnedFd parent;
    std::string name;
  };

  Result<void> hold_directory();
  Result<OwnedFd> next_directory(int parent, const std::string& name);
  Result<OwnedFd> make_directory(int parent, const std::string& name);
  Result<void> open_fresh(FreshFile fresh);
  Result<WorkspaceFiles::Replaced> take_name(const std::optional<FileStamp>& only_if);
  Result<void> settle_name() const;
  Result<void> fill_fresh(std::string_view bytes, FileSync sync);
  Result<void> give_to_owner(int fd) const;

  using Target = std::optional<struct stat>;  // what has the name now; none: nothing has
  Result<Target> look_at(const std::string& name) const;
  Result<void> check_target(const struct stat& target, const std::optional<FileStamp>& only_if) const;
  Result<void> check_permission(const struct stat& target) const;
  // Each is false when the name was taken or given up meanwhile.
  Result<bool> take_free_name();
  Result<bool> change_places(const struct stat& target, const std::optional<FileStamp>& only_if);
  Result<void> remove_displaced(const std::optional<FileStamp>& only_if);
  Result<void> name_temporarily();
  bool link_fresh(const std::string& name) const;

  int root_;
  const std::string& path_;
  std::string name_;            // the last component
  OwnedFd directory_;           // which holds it
  OwnedFd fresh_;               // the new content
  std::string temporary_ = {};  // a name of ours that is to go; empty: there is none
  std::vector<Made> made_ = {};
};

}  // namespace cloche
