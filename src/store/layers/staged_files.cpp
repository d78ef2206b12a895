#include "store/layers/staged_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "policy/protected/protected.hpp"
#include "store/workspace/file_walk.hpp"
#include "store/workspace/open_beneath.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

using Presence = BeforeAndAfter::Presence;

FileEntry::Kind kind_of_entry(FileKind kind) {
  switch (kind) {
    case FileKind::file: return FileEntry::Kind::file;
    case FileKind::directory: return FileEntry::Kind::directory;
    case FileKind::link: return FileEntry::Kind::link;
    default: return FileEntry::Kind::other;
  }
}

class StagedWalk : public FileWalk {
 public:
  StagedWalk(const StagedFiles& files, const std::string& shown, const std::string& place,
             const WalkLimits& limits, const Visit& visit)
      : FileWalk(-1, shown, place, limits, visit),
        files_(files),
        shown_(shown),
        place_(place),
        most_(limits.entries) {}

  uint64_t size_of(const FileEntry& entry) const override {
    const std::string below = entry.path.substr(std::min(entry.path.size(), shown_.size()));
    const OwnedFd fd =
        files_.open_file(place_ + (place_.empty() ? below.substr(below.starts_with('/')) : below));
    struct stat seen {};
    return fd && ::fstat(fd.get(), &seen) == 0 ? static_cast<uint64_t>(seen.st_size) : 0;
  }

 protected:
  std::vector<Child> children_of(const std::string& below) override {
    std::vector<Child> children;
    const std::string directory = below.empty() ? place_ : joined(place_, below);
    const auto names = files_.names_in(directory, most_);
    if (!names) count_unreadable();
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
      const auto entry = files_.look(joined(directory, name));
      if (entry.presence == Presence::present) children.push_back({name, kind_of_entry(entry.kind)});
    }
    return children;
  }

 private:
  const StagedFiles& files_;
  const std::string& shown_;
  const std::string& place_;
  size_t most_;
};

}  // namespace

Result<std::unique_ptr<StagedFiles>> StagedFiles::open(StoredSet set) {
  HeldTrees held = TRY(hold_trees(set.header.trees));
  return std::unique_ptr<StagedFiles>(new StagedFiles(std::move(set), std::move(held)));
}

StagedFiles::StagedFiles(StoredSet set, HeldTrees held)
    : set_(std::move(set)),
      held_(std::move(held)),
      directories_(set_.changes, facts_),
      trees_(set_.changes, layers_, directories_) {
  for (size_t i = 0; i < held_.trees.size(); ++i)
    layers_.push_back({set_.changes.trees[i], held_.trees[i].project, held_.trees[i].source});
  for (const Change& change : set_.changes.changes)
    if (change.tree == 0 && change.after && !change.path.empty())
      made_[std::string(directory_in(change.path))].insert(std::string(name_in(change.path)));
}

std::optional<std::vector<std::string>> StagedFiles::names_in(const std::string& directory,
                                                              size_t most) const {
  std::set<std::string> names;
  if (const auto made = made_.find(directory); made != made_.end()) names = made->second;
  if (!trees_.is_below_change({0, joined(directory, ".")})) {
    const auto before = trees_.names_before({0, directory}, most);
    if (!before && names.empty()) return std::nullopt;
    if (before)
      for (const auto& entry : *before) names.insert(entry.name);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

// Where the path leads, in the workspace.
Result<std::string> StagedFiles::find(const std::string& path) const {
  const PathEnd end = trees_.follow(trees_.absolute({0, path}), Side::after);
  if (end.place != PathEnd::Place::inside || end.where.tree != 0) return path_error(path, EXDEV);
  if (is_cloches_own(end.where.path)) return leads_to_cloches_own(path);
  if (look(end.where.path).presence != Presence::present) return path_error(path, ENOENT);
  return end.where.path;
}

Result<FilePart> StagedFiles::read(HeldWorkspace& project, const std::string& path, uint64_t offset,
                                   uint64_t most) const {
  const std::string place = TRY(find(path));
  if (directories_.find(0, place) == nullptr) return project.read(place, offset, most);
  const OwnedFd fd = open_file(place);
  if (!fd) return path_error(path, look(place).kind == FileKind::directory ? EISDIR : EINVAL);
  return read_found(fd.get(), path, offset, most);
}

Result<Walked> StagedFiles::walk(const std::string& path, const WalkLimits& limits,
                                 const Visit& visit) const {
  const std::string place = TRY(find(path));
  StagedWalk walk(*this, path, place, limits, visit);
  const FileKind kind = look(place).kind;
  return kind == FileKind::directory ? walk.directory() : walk.single(kind_of_entry(kind));
}

}  // namespace cloche
