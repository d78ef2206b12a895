// The workspace for a file tool of a call that has layers: what is staged of its task is seen, and a file
// that is replaced is written to the call's layer, where a command's writes go too.
#pragma once

#include <memory>
#include <string>

#include "store/layers/call_layers.hpp"
#include "store/layers/staged_files.hpp"

namespace cloche {

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
    return staged_ ? staged_->walk(path, limits, visit) : project_.walk(path, limits, visit);
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
