// How the file tools reach files: one held directory, and everything by openat2 beneath it. A name is
// resolved once and the descriptor is what is judged and used, so what is swapped meanwhile cannot lead
// outside.
//
// Reading follows links that stay beneath the workspace on the same mount, and refuses what is Cloche's own
// wherever a link came from. Writing follows no link at all: the path that was judged is the path that is
// written, or `out/x` could mean `.git/hooks/x`. Only regular files are opened, never blocking, never mapped.
// Any number of threads may use one of these.
#pragma once

#include <string>
#include <utility>

#include "base/sys/fd.hpp"
#include "policy/gates/permit.hpp"
#include "policy/rules/hidden_globs.hpp"
#include "store/workspace/file_replacement.hpp"
#include "tools/files/workspace_access.hpp"

namespace cloche {

// A part of a file that was found; an Error where it is no regular one.
Result<FilePart> read_found(int fd, const std::string& path, uint64_t offset, uint64_t most);

// What a link may not lead a reader to.
Error leads_to_cloches_own(const std::string& path);
Error leads_to_hidden(const std::string& path);

class HeldWorkspace : public WorkspaceFiles {
 public:
  // The workspace that was judged, whatever stands at its path by now.
  static Result<HeldWorkspace> open(const Permit& permit, const WriteOptions& options = {});

  Result<FilePart> read(const std::string& path, uint64_t offset, uint64_t most) override;
  Result<Replaced> replace(const std::string& path, std::string_view bytes,
                           const std::optional<FileStamp>& only_if = std::nullopt) override;
  Result<Walked> walk(const std::string& path, const WalkLimits& limits, const Visit& visit) override;

  // By the operator's key `hide`; every link of the path is resolved.
  bool hides(const std::string& path) const { return hidden_.hides(judged_path_, path); }

 private:
  HeldWorkspace(OwnedFd root, std::string judged_path, HiddenPaths hidden, const WriteOptions& options)
      : root_(std::move(root)),
        judged_path_(std::move(judged_path)),
        hidden_(std::move(hidden)),
        options_(options) {}

  struct Found {
    OwnedFd fd;
    std::string place;  // relative to the workspace, every link resolved
  };
  Result<Found> find(const std::string& path, int flags) const;
  Result<Found> open_where_it_leads(const std::string& path, int flags) const;
  Result<std::string> place_of(int fd) const;

  OwnedFd root_;
  std::string judged_path_;
  HiddenPaths hidden_;
  WriteOptions options_;
};

}  // namespace cloche
