// The trees of a call as they were before it and as it left them, seen through the change set: what is not in
// the set is as it is in the lower layer. Looks at names and follows links without the kernel doing so: a
// path leads where the call's own view had it lead.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "policy/changes/changed_directories.hpp"
#include "store/layers/layer_reader.hpp"

namespace cloche {

class BeforeAndAfter {
 public:
  BeforeAndAfter(const ChangeSet& set, const std::vector<TreeLayers>& layers,
                 const ChangedDirectories& directories)
      : set_(set), layers_(layers), directories_(directories) {}

  enum class Presence { absent, present, unknown };
  struct Entry {
    Presence presence = Presence::absent;
    FileKind kind = FileKind::file;
    std::string link = {};
  };
  Entry look(const TreePath& where, Side side) const;

  // Every link resolved, also beyond where anything is; `passed` gets the links on the way. What lies outside
  // of the trees is not looked at.
  PathEnd follow(const std::string& absolute, Side side, std::vector<TreePath>* passed = nullptr) const;
  std::string absolute(const TreePath& where) const;

  // Of a regular file, at most so many bytes. Nothing: it is none, is longer, or cannot be read.
  OwnedFd open_file(const TreePath& where, Side side) const;
  std::optional<std::string> read(const TreePath& where, Side side, size_t most) const;
  std::optional<std::string> digest(const TreePath& where, Side side, uint64_t& bytes_left) const;
  // Whether a directory on the way came, went or was replaced: then every path there is in the set.
  bool is_below_change(const TreePath& where) const;
  // As it was before the call. Nothing: it is no directory, or cannot be read.
  std::optional<std::vector<DirectoryAround::Name>> names_before(const TreePath& where, size_t most) const;

 private:
  const ChangedTree* tree_of(const std::string& path, TreePath& where) const;
  bool is_on_way(const std::string& path) const;

  const ChangeSet& set_;
  const std::vector<TreeLayers>& layers_;
  const ChangedDirectories& directories_;
};

}  // namespace cloche
