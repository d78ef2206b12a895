// What is beneath one held directory, in order, within limits. Holds one descriptor at a time however deep it
// goes, and opens every directory anew beneath the first one, without links.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>
#include <vector>

#include "base/sys/fd.hpp"
#include "tools/files/workspace_access.hpp"

namespace cloche {

FileEntry::Kind kind_of(mode_t mode);

// Of a path relative to the workspace. What is hidden is visited by its name alone.
using IsHidden = std::function<bool(const std::string& path)>;

class FileWalk : public WalkView {
 public:
  // `shown` is how entries are named, `place` where the start really is; both relative to the workspace.
  FileWalk(int start, const std::string& shown, const std::string& place, const IsHidden& is_hidden,
           const WalkLimits& limits, const Visit& visit);

  Walked directory();
  Walked single(FileEntry::Kind kind);  // the start is no directory

  uint64_t size_of(const FileEntry& entry) const override;
  bool out_of_time() const override;

 protected:
  struct Child {
    std::string name;
    FileEntry::Kind kind;
  };
  virtual std::vector<Child> children_of(const std::string& below);
  void count_unreadable() { ++walked_.unreadable; }

 private:
  bool descend(const std::string& below);  // false: the walk is over
  bool visit_child(const std::string& below, const Child& child);
  bool end(WalkEnd how);

  int start_;
  const std::string& shown_;
  const std::string& place_;
  const IsHidden& is_hidden_;
  const Visit& visit_;
  uint64_t deadline_ms_;
  size_t entries_left_;
  Walked walked_ = {WalkEnd::complete, 0};
};

}  // namespace cloche
