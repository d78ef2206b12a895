// The workspace for a file tool of a call that has layers: what is staged of its task is seen, and a file
// that is replaced is written to the call's layer, where a command's writes go too.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/changes/before_and_after.hpp"
#include "store/layers/call_layers.hpp"
#include "store/workspace/workspace_files.hpp"

namespace cloche {

// The same as the calls of a task see it that go on from a staged change set: for file tools, which have no
// overlay. Seen through the set's list of changes; nothing is written.
class StagedFiles {
 public:
  // The first tree of the set is the workspace.
  static Result<std::unique_ptr<StagedFiles>> open(StoredSet set);

  // As those of WorkspaceFiles; `project` has what the set did not change.
  Result<FilePart> read(HeldWorkspace& project, const std::string& path, uint64_t offset,
                        uint64_t most) const;
  Result<Walked> walk(const HeldWorkspace& project, const std::string& path, const WalkLimits& limits,
                      const Visit& visit) const;

  // What is at the path itself, no link followed.
  BeforeAndAfter::Entry look(const std::string& path) const { return trees_.look({0, path}, Side::after); }
  OwnedFd open_file(const std::string& path) const { return trees_.open_file({0, path}, Side::after); }
  // Sorted; nothing: it cannot be read.
  std::optional<std::vector<std::string>> names_in(const std::string& directory, size_t most) const;

 private:
  StagedFiles(StoredSet set, HeldTrees held);
  Result<std::string> find(const HeldWorkspace& project, const std::string& path) const;

  StoredSet set_;
  HeldTrees held_;
  ChangeFacts facts_ = {};
  ChangedDirectories directories_;
  std::vector<TreeLayers> layers_;
  BeforeAndAfter trees_;
  std::map<std::string, std::set<std::string>, std::less<>> made_ = {};  // names that are new, by directory
};

class LayeredFiles : public WorkspaceFiles {
 public:
  // `staged` may be none. Without a layer nothing can be replaced.
  LayeredFiles(HeldWorkspace& project, std::unique_ptr<StagedFiles> staged, const TreeLayer* layer,
               OverlayAttributes attributes)
      : project_(project), staged_(std::move(staged)), layer_(layer), attributes_(attributes) {}

  Result<FilePart> read(const std::string& path, uint64_t offset, uint64_t most) override {
    return staged_ ? staged_->read(project_, path, offset, most) : project_.read(path, offset, most);
  }
  Result<Replaced> replace(const std::string& path, std::string_view bytes,
                           const std::optional<FileStamp>& only_if = std::nullopt) override;
  Result<Walked> walk(const std::string& path, const WalkLimits& limits, const Visit& visit) override {
    return staged_ ? staged_->walk(project_, path, limits, visit) : project_.walk(path, limits, visit);
  }

 private:
  Result<std::optional<struct stat>> look_at_old(const std::string& path) const;
  Result<void> mirror_directories(const std::string& path) const;
  Result<bool> mirror_directory(OwnedFd& lower, OwnedFd& upper, const std::string& name,
                                const std::string& path) const;
  Result<void> remove_whiteout(const std::string& path) const;
  Result<void> hide_lower(int upper, const std::string& name) const;

  HeldWorkspace& project_;
  std::unique_ptr<StagedFiles> staged_;
  const TreeLayer* layer_;
  OverlayAttributes attributes_;
};

}  // namespace cloche
