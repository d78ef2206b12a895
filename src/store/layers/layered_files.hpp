// The workspace for a file tool whose writes are judged before they reach it: reads come from the project, a
// file that is replaced is written to the call's layer, where a command's writes go too.
#pragma once

#include <string>

#include "store/layers/call_layers.hpp"
#include "store/workspace/workspace_files.hpp"

namespace cloche {

class LayeredFiles : public WorkspaceFiles {
 public:
  LayeredFiles(HeldWorkspace& project, const TreeLayer& layer) : project_(project), layer_(layer) {}

  Result<FilePart> read(const std::string& path, uint64_t offset, uint64_t most) override {
    return project_.read(path, offset, most);
  }
  Result<Replaced> replace(const std::string& path, std::string_view bytes,
                           const std::optional<FileStamp>& only_if = std::nullopt) override;
  Result<Walked> walk(const std::string& path, const WalkLimits& limits, const Visit& visit) override {
    return project_.walk(path, limits, visit);
  }

 private:
  Result<void> mirror_directories(const std::string& path) const;

  HeldWorkspace& project_;
  const TreeLayer& layer_;
};

}  // namespace cloche
