#include "store/layers/layered_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text/visible_text.hpp"
#include "policy/protected/protected.hpp"
#include "store/layers/layer_entry.hpp"
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
             const IsHidden& is_hidden, const WalkLimits& limits, const Visit& visit)
      : FileWalk(-1, shown, place, is_hidden, limits, visit),
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
      layers_(held_.layers(set_.header.trees, set_.header.attributes)),
      trees_(set_.changes, layers_, directories_) {
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
Result<std::string> StagedFiles::find(const HeldWorkspace& project, const std::string& path) const {
  const PathEnd end = trees_.follow(trees_.absolute({0, path}), Side::after);
  if (end.place != PathEnd::Place::inside || end.where.tree != 0) return path_error(path, EXDEV);
  if (is_cloches_own(end.where.path)) return leads_to_cloches_own(path);
  if (project.hides(end.where.path)) return leads_to_hidden(path);
  if (look(end.where.path).presence != Presence::present) return path_error(path, ENOENT);
  return end.where.path;
}

Result<FilePart> StagedFiles::read(HeldWorkspace& project, const std::string& path, uint64_t offset,
                                   uint64_t most) const {
  const std::string place = TRY(find(project, path));
  if (directories_.find(0, place) == nullptr) return project.read(place, offset, most);
  const OwnedFd fd = open_file(place);
  if (!fd) return path_error(path, look(place).kind == FileKind::directory ? EISDIR : EINVAL);
  return read_found(fd.get(), path, offset, most);
}

Result<Walked> StagedFiles::walk(const HeldWorkspace& project, const std::string& path,
                                 const WalkLimits& limits, const Visit& visit) const {
  const std::string place = TRY(find(project, path));
  const IsHidden is_hidden = [&](const std::string& below) { return project.hides(below); };
  StagedWalk walk(*this, path, place, is_hidden, limits, visit);
  const FileKind kind = look(place).kind;
  return kind == FileKind::directory ? walk.directory() : walk.single(kind_of_entry(kind));
}

// A directory that is made where one of the project was deleted shows nothing of that one.
Result<void> LayeredFiles::hide_lower(int upper, const std::string& name) const {
  if (::unlinkat(upper, name.c_str(), 0) != 0 || ::mkdirat(upper, name.c_str(), 0777) != 0)
    return system_error("make " + shown(name));
  const std::string address = LayerEntry{upper, name.c_str()}.address();
  const std::string opaque = std::string(prefix_of(attributes_)) + "opaque";
  if (::lsetxattr(address.c_str(), opaque.c_str(), opaque_is_whole.data(), opaque_is_whole.size(), 0) == 0)
    return {};
  return system_error("make " + shown(name));
}

// One step down in both layers; `lower` is none where the project has no such directory, or it is hidden.
// False: from here on they are new.
Result<bool> LayeredFiles::mirror_directory(OwnedFd& lower, OwnedFd& upper, const std::string& name,
                                            const std::string& path) const {
  const auto above = look_in(upper.get(), name);
  const auto below = lower ? look_in(lower.get(), name) : std::nullopt;
  bool shows_lower = below && S_ISDIR(below->st_mode);
  if (above && S_ISCHR(above->st_mode)) {
    TRY(hide_lower(upper.get(), name));
    shows_lower = false;
  } else if (above && !S_ISDIR(above->st_mode)) {
    return path_error(path, S_ISLNK(above->st_mode) ? ELOOP : ENOTDIR);
  } else if (above) {
    const std::string attribute = std::string(prefix_of(attributes_)) + "opaque";
    const auto opaque = attribute_value({upper.get(), name.c_str()}, attribute);
    if (opaque.ok() && opaque.value() == opaque_is_whole) shows_lower = false;
  } else if (below && !shows_lower) {
    return path_error(path, S_ISLNK(below->st_mode) ? ELOOP : ENOTDIR);
  } else if (!below) {
    return false;
  } else {  // the same one: no change of its own
    if (::mkdirat(upper.get(), name.c_str(), 0700) != 0) return system_error("write " + shown(path));
    TRY(copy_entry_state(lower.get(), upper.get(), name, *below));
  }
  lower = shows_lower ? open_child(lower.get(), name.c_str(), O_RDONLY | O_DIRECTORY) : OwnedFd();
  upper = open_child(upper.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
  if ((shows_lower && !lower) || !upper) return path_error(path, errno);
  return true;
}

Result<void> LayeredFiles::mirror_directories(const std::string& path) const {
  OwnedFd lower(::fcntl(layer_->lower.get(), F_DUPFD_CLOEXEC, 0));
  OwnedFd upper(::fcntl(layer_->upper.get(), F_DUPFD_CLOEXEC, 0));
  size_t begin = 0;
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', begin)) {
    const std::string name = path.substr(begin, slash - begin);
    begin = slash + 1;
    if (name.empty() || name == ".") continue;
    if (!TRY(mirror_directory(lower, upper, name, path))) break;
  }
  return {};
}

// Nothing: there is no such file.
Result<std::optional<struct stat>> LayeredFiles::look_at_old(const std::string& path) const {
  using Old = std::optional<struct stat>;
  if (staged_ && staged_->look(path).presence == BeforeAndAfter::Presence::absent) return Old();
  const OwnedFd old = staged_ ? staged_->open_file(path) : open_descendant(layer_->lower.get(), path, O_PATH);
  if (!old && staged_) return path_error(path, ELOOP);
  if (!old && errno != ENOENT) return path_error(path, errno);
  struct stat seen {};
  if (!old || ::fstat(old.get(), &seen) != 0) return Old();
  if (!S_ISREG(seen.st_mode)) return path_error(path, S_ISDIR(seen.st_mode) ? EISDIR : ELOOP);
  return Old(seen);
}

Result<void> LayeredFiles::remove_whiteout(const std::string& path) const {
  const OwnedFd directory = TRY(open_parent(layer_->upper.get(), path));
  if (::unlinkat(directory.get(), last_of(path).c_str(), 0) == 0) return {};
  return system_error("write " + shown(path));
}

Result<WorkspaceFiles::Replaced> LayeredFiles::replace(const std::string& path, std::string_view bytes,
                                                       const std::optional<FileStamp>& only_if) {
  if (layer_ == nullptr) return Error{.what = "nothing is written here"};
  const auto old = TRY(look_at_old(path));
  if (only_if && (!old || stamp_of(*old) != *only_if))
    return refusal(path + " was changed meanwhile", "read it again; nothing was changed");
  TRY(mirror_directories(path));
  const OwnedFd before = open_descendant(layer_->upper.get(), path, O_PATH);
  struct stat seen {};
  const bool is_above = before && ::fstat(before.get(), &seen) == 0;
  const bool is_in_layer = is_above && S_ISREG(seen.st_mode);
  if (is_above && S_ISCHR(seen.st_mode)) TRY(remove_whiteout(path));
  FileReplacement replacement(layer_->upper.get(), path);
  TRY(replacement.run(bytes, std::nullopt, {}));
  if (!old) return Replaced::made;
  if (is_in_layer) return Replaced::changed;  // it has kept what the layer had
  const OwnedFd lower = TRY(open_parent(layer_->lower.get(), path));
  const OwnedFd upper = TRY(open_parent(layer_->upper.get(), path));
  const std::string name = last_of(path);
  TRY(copy_entry_state(lower.get(), upper.get(), name, *old));
  // As the overlay marks what it copies up: so it is known by later calls that it was the project's.
  const std::string mark = std::string(prefix_of(attributes_)) + "origin";
  (void)::lsetxattr(LayerEntry{upper.get(), name.c_str()}.address().c_str(), mark.c_str(), "", 0, 0);
  return Replaced::changed;
}

}  // namespace cloche
