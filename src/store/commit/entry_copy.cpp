#include "store/commit/entry_copy.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <vector>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "base/text/visible_text.hpp"
#include "store/commit/layer_walk.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

Error copy_error(const char* name, int number = errno) {
  return system_error("copy '" + shown(name) + "'", number);
}

// One piece of a file between two holes.
Result<void> copy_piece(int from, int to, off_t begin, off_t end, const char* name) {
  if (::lseek(to, begin, SEEK_SET) < 0) return copy_error(name);
  for (off_t at = begin; at < end;) {
    const ssize_t sent = ::sendfile(to, from, &at, static_cast<size_t>(end - at));
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return copy_error(name, sent < 0 ? errno : EIO);
  }
  return {};
}

Result<void> copy_bytes(int from, int to, off_t size, const char* name) {
  for (off_t at = 0; at < size;) {
    const off_t begin = ::lseek(from, at, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;  // only a hole is left
    const off_t end = begin < 0 ? -1 : ::lseek(from, begin, SEEK_HOLE);
    if (end < 0) return copy_error(name);
    TRY(copy_piece(from, to, begin, end, name));
    at = end;
  }
  if (::ftruncate(to, size) != 0) return copy_error(name);
  return {};
}

// Owner before mode, because a change of owner takes set-id bits away; times last.
Result<void> finish_copy(const LayerEntry& to, const struct stat& seen) {
  TRY(set_owner(to, seen.st_uid, seen.st_gid));
  TRY(set_mode(to, seen.st_mode & 07777U));
  return set_times(to, seen);
}

Result<void> copy_file(const LayerEntry& from, const LayerEntry& to, const struct stat& seen) {
  const ReadableForNow readable(from, seen);
  const OwnedFd source = open_child(from.directory, from.name, O_RDONLY);
  if (!source) return copy_error(from.name);
  const OwnedFd target(
      ::openat(to.directory, to.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target) return copy_error(from.name);
  return copy_bytes(source.get(), target.get(), seen.st_size, from.name);
}

}  // namespace

Result<void> EntryCopier::copy_one(const LayerEntry& from, const LayerEntry& to, const std::string& path) {
  const auto seen = look_in(from.directory, from.name);
  if (!seen) return copy_error(from.name);
  if (S_ISDIR(seen->st_mode)) {
    if (::mkdirat(to.directory, to.name, 0700) != 0) return copy_error(from.name);
    return copy_attributes(from, to, overlays_);  // the rest comes last
  }
  if (S_ISREG(seen->st_mode) && seen->st_nlink > 1) {
    const auto [known, is_first] = copied_.try_emplace({seen->st_dev, seen->st_ino}, path);
    if (!is_first) {
      const OwnedFd directory = open_descendant(target_, directory_in(known->second), O_PATH | O_DIRECTORY);
      const auto name = last_of(known->second);
      if (directory && ::linkat(directory.get(), name.c_str(), to.directory, to.name, 0) == 0) return {};
      return copy_error(from.name);
    }
  }
  if (S_ISREG(seen->st_mode)) {
    TRY(copy_file(from, to, *seen));
    TRY(copy_attributes(from, to, overlays_));
  } else if (S_ISLNK(seen->st_mode)) {
    if (::symlinkat(link_text(from.directory, from.name).c_str(), to.directory, to.name) != 0)
      return copy_error(from.name);
  } else if (S_ISFIFO(seen->st_mode)) {
    if (::mkfifoat(to.directory, to.name, 0600) != 0) return copy_error(from.name);
  } else if (overlays_ == OverlaysOwn::copied &&
             (S_ISSOCK(seen->st_mode) || S_ISCHR(seen->st_mode) || S_ISBLK(seen->st_mode))) {
    // A socket, a device of root's, and the overlay's marks of what was deleted.
    if (::mknodat(to.directory, to.name, seen->st_mode & S_IFMT, seen->st_rdev) != 0)
      return copy_error(from.name);
  } else {
    return copy_error(from.name, EOPNOTSUPP);
  }
  return finish_copy(to, *seen);
}

Result<void> EntryCopier::copy(int from_directory, const std::string& from, const std::string& to) {
  TRY(copy_one({from_directory, from.c_str()}, {target_, to.c_str()}, to));
  const auto top = look_in(from_directory, from);
  if (!top || !S_ISDIR(top->st_mode)) return {};
  struct Entered {
    std::string path;  // below the top
    struct stat seen;
  };
  std::vector<Entered> entered;
  entered.push_back({"", *top});
  const OwnedFd made = open_child(target_, to.c_str(), O_PATH | O_DIRECTORY);
  if (!made) return copy_error(from.c_str());
  TRY(walk_below(
      from_directory, from, ClosedDirectory::opened, [&](const WalkedEntry& entry) -> Result<void> {
        const OwnedFd into = open_descendant(made.get(), entry.in, O_PATH | O_DIRECTORY);
        if (!into) return copy_error(entry.name);
        // As it was before the walk went in.
        const auto seen = look_in(entry.directory, entry.name);
        const std::string below = joined(entry.in, entry.name);
        if (seen && S_ISDIR(seen->st_mode)) entered.push_back({below, *seen});
        return copy_one({entry.directory, entry.name}, {into.get(), entry.name}, joined(to, below));
      }));
  // Deepest first, now that nothing is put into them any more.
  for (size_t i = entered.size(); i-- > 1;) {
    const auto& [path, seen] = entered[i];
    const OwnedFd into = open_descendant(made.get(), directory_in(path), O_PATH | O_DIRECTORY);
    if (!into) return copy_error(path.c_str());
    TRY(finish_copy({into.get(), last_of(path).c_str()}, seen));
  }
  return finish_copy({target_, to.c_str()}, *top);
}

namespace {

// "0" and "0-abcdefgh", a copy of it, give "0-ijklmnop": a layer may be copied any number of times.
Result<std::string> name_of_copy(std::string_view directory) {
  const size_t begin = directory.rfind('/') + 1;
  return std::string(directory.substr(0, directory.find('-', begin))) + "-" + TRY(random_word(8));
}

Result<KnownDirectory> copy_layer_to(const std::string& beside, const std::string& directory,
                                     const std::string& name) {
  struct stat seen {};
  if (::stat(directory.c_str(), &seen) != 0 || ::mkdir(beside.c_str(), 0700) != 0)
    return system_error("make " + shown(beside));
  // As root it is its owner who the files in it are made for.
  if (!is_bound_by_modes() && ::lchown(beside.c_str(), seen.st_uid, seen.st_gid) != 0)
    return system_error("make " + shown(beside));
  const OwnedFd from = TRY(sys::open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const OwnedFd to = TRY(sys::open(beside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TRY(EntryCopier(to.get(), OverlaysOwn::copied).copy(from.get(), name, name));
  return know_directory(beside + "/" + name);
}

}  // namespace

Result<KnownDirectory> copy_layer(const KnownDirectory& layer) {
  TRY(open_known(layer));
  const std::string directory(parent_of(layer.path));
  const std::string name(components_of(layer.path).back());
  const std::string beside = TRY(name_of_copy(directory));
  auto copy = copy_layer_to(beside, directory, name);
  if (!copy.ok()) remove_old_layer({beside + "/" + name});
  return copy;
}

void remove_old_layer(const KnownDirectory& layer) {
  const std::string directory(parent_of(layer.path));
  const auto parent = sys::open(std::string(parent_of(directory)), O_RDONLY | O_DIRECTORY);
  if (parent.ok()) (void)remove_entry(parent.value().get(), std::string(components_of(directory).back()));
}

}  // namespace cloche
