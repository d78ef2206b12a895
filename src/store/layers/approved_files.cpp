// The files that an approval covers, put into the layers of the call: the bytes that were approved are those
// that the command finds under their names, whatever the host or another call writes meanwhile. With a file
// go the directories and links on the way to it, because these could be exchanged as well; where there was
// nothing, a whiteout keeps it so.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "base/text/visible_text.hpp"
#include "store/layers/call_layers.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/workspace/open_beneath.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr int most_links = 64;  // on the way to one file, each ".." counted too; the kernel follows 40

Error has_changed(const ExecutedFile& file) {
  return refusal("what was approved has changed: " + shown(file.path), "make the call again");
}

class ApprovedPath {
 public:
  ApprovedPath(const std::vector<TreeLayer>& trees, std::vector<PlacedEntry>& placed,
               const ExecutedFile& file)
      : trees_(trees), placed_(placed), file_(file) {}

  Result<void> put() {
    std::string path = file_.on_host;
    for (int links = 0; links < most_links; ++links) {
      const auto holds = [&](const TreeLayer& layer) { return is_beneath(layer.tree.path, path); };
      const auto layer = std::find_if(trees_.begin(), trees_.end(), holds);
      if (layer == trees_.end()) return {};  // the call has no layer there
      tree_ = static_cast<size_t>(layer - trees_.begin());
      auto leads_to = TRY(walk(std::string_view(path).substr(layer->tree.path.size())));
      if (!leads_to) return {};
      path = std::move(*leads_to);
    }
    return has_changed(file_);
  }

 private:
  using LeadsTo = std::optional<std::string>;

  // As far as the first link or "..", and then where that leads; nothing: to the end.
  Result<LeadsTo> walk(std::string_view below) {
    const TreeLayer& layer = trees_[tree_];
    lower_ = TRY(sys::open_at(layer.lower.get(), ".", O_PATH | O_DIRECTORY));
    upper_ = TRY(sys::open_at(layer.upper.get(), ".", O_PATH | O_DIRECTORY));
    std::string directory;  // of the tree, and no link on the way
    for (const std::string_view name : components_of(below)) {
      const std::string rest(below.substr(static_cast<size_t>(name.end() - below.begin())));
      const std::string on_host = directory.empty() ? layer.tree.path : layer.tree.path + "/" + directory;
      if (name == "..") return LeadsTo(std::string(parent_of(on_host)) + rest);
      name_ = name;
      path_ = joined(directory, name_);
      const auto seen = look_in(lower_.get(), name_);
      if (!seen) {
        TRY(put_absence(errno));
        return LeadsTo();
      }
      if (S_ISLNK(seen->st_mode)) {
        const std::string text = link_text(lower_.get(), name_);
        if (!is_put()) TRY(put_link(text));
        return LeadsTo((text.starts_with('/') ? text : on_host + "/" + text) + rest);
      }
      if (!S_ISDIR(seen->st_mode)) {
        TRY(put_file(*seen, rest));
        return LeadsTo();
      }
      TRY(enter_directory());
      directory = path_;
    }
    if (!file_.sha256.empty()) return has_changed(file_);
    return LeadsTo();
  }

  bool is_put() const { return look_in(upper_.get(), name_).has_value(); }

  Result<void> took(int failed) {
    if (failed != 0) return system_error("put an approved file into the call's layer: " + shown(path_));
    placed_.push_back({tree_, path_});
    return {};
  }

  Result<void> put_absence(int number) {
    if (!file_.sha256.empty()) return has_changed(file_);
    if (number != ENOENT || is_put()) return {};  // no name that a file could have
    return took(::mknodat(upper_.get(), name_.c_str(), S_IFCHR, makedev(0, 0)));
  }

  Result<void> put_link(const std::string& text) {
    return took(::symlinkat(text.c_str(), upper_.get(), name_.c_str()));
  }

  Result<void> enter_directory() {
    if (!is_put()) TRY(took(::mkdirat(upper_.get(), name_.c_str(), 0700)));
    lower_ = open_child(lower_.get(), name_.c_str(), O_PATH | O_DIRECTORY);
    upper_ = open_child(upper_.get(), name_.c_str(), O_PATH | O_DIRECTORY);
    if (!lower_ || !upper_) return path_error(file_.path, errno);
    return {};
  }

  Result<void> put_file(const struct stat& seen, const std::string& rest) {
    const bool is_file = S_ISREG(seen.st_mode) && rest.empty();
    if (is_file == file_.sha256.empty()) return has_changed(file_);
    if (!is_file || is_put()) return {};
    const OwnedFd from = open_child(lower_.get(), name_.c_str(), O_RDONLY);
    if (!from) return path_error(file_.path, errno);
    const auto bytes = sys::read_all(from.get(), static_cast<size_t>(seen.st_size));
    if (!bytes.ok() || sha256(bytes.value()) != file_.sha256) return has_changed(file_);
    const OwnedFd to = TRY(sys::open_at(upper_.get(), name_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    TRY(took(0));
    return sys::write_all(to.get(), bytes.value());
  }

  const std::vector<TreeLayer>& trees_;
  std::vector<PlacedEntry>& placed_;
  const ExecutedFile& file_;
  // Where the walk is.
  size_t tree_ = 0;
  OwnedFd lower_ = {};
  OwnedFd upper_ = {};
  std::string name_ = {};
  std::string path_ = {};  // in the tree
};

// As if the command had copied it up.
Result<struct stat> finish_entry(const TreeLayer& layer, const std::string& path) {
  const std::string name = last_of(path);
  const OwnedFd lower = TRY(open_parent(layer.lower.get(), path));
  const OwnedFd upper = TRY(open_parent(layer.upper.get(), path));
  auto made = look_in(upper.get(), name);
  if (made && !S_ISCHR(made->st_mode)) {
    const auto seen = look_in(lower.get(), name);
    if (!seen) return path_error(path, errno);
    TRY(copy_entry_state(lower.get(), upper.get(), name, *seen));
    TRY(set_times({upper.get(), name.c_str()}, *seen));
    made = look_in(upper.get(), name);
  }
  if (!made) return path_error(path, errno);
  return *made;
}

}  // namespace

Result<void> CallLayers::put_approved(std::span<const ExecutedFile> approved) {
  for (const ExecutedFile& file : approved) TRY(ApprovedPath(trees_, placed_, file).put());
  // From the inside out: what was approved may lie in a directory that its owner cannot write to.
  for (auto entry = placed_.rbegin(); entry != placed_.rend(); ++entry)
    entry->seen = TRY(finish_entry(trees_[entry->tree], entry->path));
  return {};
}

void CallLayers::take_back_approved() {
  const auto is_touched = [&](const PlacedEntry& entry) {
    const auto now = look_beneath(trees_[entry.tree].upper.get(), entry.path);
    return !now || now->st_ino != entry.seen.st_ino || change_of(*now) != change_of(entry.seen);
  };
  std::erase_if(placed_, is_touched);
  // A directory with something else in it stays.
  for (auto entry = placed_.rbegin(); entry != placed_.rend(); ++entry) {
    const OwnedFd directory =
        open_descendant(trees_[entry->tree].upper.get(), directory_in(entry->path), O_PATH | O_DIRECTORY);
    ::unlinkat(directory.get(), last_of(entry->path).c_str(),
               S_ISDIR(entry->seen.st_mode) ? AT_REMOVEDIR : 0);
  }
  placed_.clear();
}

}  // namespace cloche
