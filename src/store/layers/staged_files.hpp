// The workspace as the calls of a task see it that go on from a staged change set: for file tools, which have
// no overlay. Seen through the set's list of changes; nothing is written.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/changes/before_and_after.hpp"
#include "store/commit/change_sets.hpp"
#include "store/workspace/workspace_files.hpp"

namespace cloche {

class StagedFiles {
 public:
  // The first tree of the set is the workspace.
  static Result<std::unique_ptr<StagedFiles>> open(StoredSet set);

  // As those of WorkspaceFiles; `project` has what the set did not change.
  Result<FilePart> read(HeldWorkspace& project, const std::string& path, uint64_t offset,
                        uint64_t most) const;
  Result<Walked> walk(const std::string& path, const WalkLimits& limits, const Visit& visit) const;

  // What is at the path itself, no link followed.
  BeforeAndAfter::Entry look(const std::string& path) const { return trees_.look({0, path}, Side::after); }
  OwnedFd open_file(const std::string& path) const { return trees_.open_file({0, path}, Side::after); }
  // Sorted; nothing: it cannot be read.
  std::optional<std::vector<std::string>> names_in(const std::string& directory, size_t most) const;

 private:
  StagedFiles(StoredSet set, HeldTrees held);
  Result<std::string> find(const std::string& path) const;

  StoredSet set_;
  HeldTrees held_;
  ChangeFacts facts_ = {};
  ChangedDirectories directories_;
  std::vector<TreeLayers> layers_ = {};
  BeforeAndAfter trees_;
  std::map<std::string, std::set<std::string>, std::less<>> made_ = {};  // names that are new, by directory
};

}  // namespace cloche
