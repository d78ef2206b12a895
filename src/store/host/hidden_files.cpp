#include "store/host/hidden_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "policy/rules/hidden_globs.hpp"
#include "store/host/observe.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr const char* narrower = "hide by patterns without **, or a directory as a whole";

FileFact::Kind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return FileFact::Kind::file;
  if (S_ISDIR(mode)) return FileFact::Kind::directory;
  return S_ISLNK(mode) ? FileFact::Kind::link : FileFact::Kind::other;
}

class HiddenSearch {
 public:
  HiddenSearch(const HiddenGlobs& globs, const HiddenLimits& limits, std::vector<FileFact>& found)
      : globs_(globs),
        limits_(limits),
        deadline_ms_(sys::monotonic_ms() + limits.milliseconds),
        entries_left_(limits.entries),
        found_(found) {}

  // `named`: by which path of its tree the patterns know the directory at `place` of the host.
  Result<void> look_into(const FileFact& place, const std::string& named) {
    const OwnedFd root(::open(place.path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat seen {};
    if (!root || ::fstat(root.get(), &seen) != 0 || seen.st_ino != place.inode)
      return refusal(shown(place.path) + " was replaced while it was searched for hidden files",
                     "call again");
    return directory({root.get(), place.path, named}, "");
  }

  // The next call looks for links anew, and a call may change those that it can write. So what has no other
  // name than one behind a link would be shown then.
  Result<void> judge_ways(const std::vector<FileFact>& trees) const {
    for (const auto& [path, link] : led_) {
      const auto covers = [&, &end = path](const std::string& named) { return is_beneath(named, end); };
      const bool is_shown = std::ranges::any_of(
          trees, [&, &end = path](const FileFact& tree) { return is_beneath(tree.path, end); });
      if (!is_shown || std::ranges::any_of(named_, covers)) continue;
      return refusal(
          shown(path) + " is hidden only by way of the link " + shown(link) + ", which a call could change",
          "hide that path itself as well");
    }
    return {};
  }

 private:
  struct Start {
    int root;
    std::string place;
    std::string named;
  };

  struct Child {
    std::string name;
    NameKind kind;
  };

  Result<void> directory(const Start& start, const std::string& below) {
    const std::string place = below.empty() ? start.place : start.place + "/" + below;
    if (place == limits_.apart) return {};
    if (place.size() > longest_place)
      return refusal(shown(place, 80) + " is too deep to be searched", narrower);
    const OpenedDirectory opened = open_directory(start.root, below);
    if (opened.barrier == Barrier::absent) return {};  // gone, or a mount of the host, which is not shown
    if (opened.barrier != Barrier::none) return judge_closed(place, opened);
    std::vector<Child> children;
    bool is_over = false;
    const bool is_read = for_each_name(opened.fd.get(), [&](const dirent& entry) {
      is_over = entries_left_ == 0 || sys::monotonic_ms() >= deadline_ms_;
      if (is_over) return false;
      --entries_left_;
      children.push_back({entry.d_name, kind_in(opened.fd.get(), entry)});
      return true;
    });
    if (is_over) return refusal("the search for hidden files takes too long: " + bound(), narrower);
    if (!is_read) return refusal(shown(place) + " cannot be searched for hidden files");
    for (const Child& child : children) TRY(look_at_child(start, below, child));
    return {};
  }

  Result<void> look_at_child(const Start& start, const std::string& below, const Child& child) {
    const std::string path = joined(below, child.name);
    const std::string named = joined(start.named, path);
    const std::string place = (start.place == "/" ? "" : start.place) + "/" + path;
    const bool is_hidden = globs_.hides(named);
    const auto search = is_hidden ? HiddenGlobs::Search::none : globs_.search(named);
    if (child.kind == NameKind::link) {
      if (!is_hidden && search != HiddenGlobs::Search::across_links) return {};
      const FileFact end = look_at_place(place);
      if (!end.exists()) return {};
      const std::string around = std::exchange(way_, way_.empty() ? place : way_);
      const bool goes_on = !is_hidden && end.kind == FileFact::Kind::directory;
      const Result<void> looked = is_hidden ? add(end.path)
                                  : goes_on ? look_into(end, named)
                                            : Result<void>();
      way_ = around;
      return looked;
    }
    if (is_hidden) return add(place);
    const bool goes_on = child.kind == NameKind::directory && search != HiddenGlobs::Search::none;
    return goes_on ? directory(start, path) : Result<void>();
  }

  Result<void> add(const std::string& path) {
    struct stat seen {};
    if (::lstat(path.c_str(), &seen) != 0) return {};  // gone since
    if (way_.empty()) {
      named_.insert(path);
    } else {
      led_.emplace_back(path, way_);
    }
    if (contains_path(path)) return {};
    if (S_ISREG(seen.st_mode) && seen.st_nlink > 1)
      return refusal(shown(path) +
                         " is to be hidden and has another name (a hard link), by which a command "
                         "could read it",
                     "give it one name: cp -p " + shown(path) + " " + shown(path) + ".new && mv " +
                         shown(path) + ".new " + shown(path));
    if (found_.size() == limits_.found)
      return refusal("more than " + std::to_string(limits_.found) + " paths are to be hidden",
                     "hide the directories that they lie in");
    found_.push_back({.kind = kind_of_mode(seen.st_mode),
                      .path = path,
                      .device = seen.st_dev,
                      .inode = seen.st_ino,
                      .uid = seen.st_uid,
                      .gid = seen.st_gid});
    return {};
  }

  bool contains_path(const std::string& path) const {
    return std::ranges::any_of(found_, [&](const FileFact& known) { return known.path == path; });
  }

  // A command could open it again where it belongs to the caller; where it does not, it is closed to the
  // command as well.
  static Result<void> judge_closed(const std::string& place, const OpenedDirectory& opened) {
    struct stat seen {};
    const bool is_others =
        opened.barrier == Barrier::closed && ::lstat(place.c_str(), &seen) == 0 && seen.st_uid != ::geteuid();
    if (is_others) return {};
    return refusal(shown(place) + " cannot be searched for hidden files", "chmod u+rx " + shown(place));
  }

  std::string bound() const {
    return std::to_string(limits_.entries) + " entries and " + std::to_string(limits_.milliseconds) +
           " ms are the most";
  }

  static constexpr size_t longest_place = 3900;  // the view's own paths have room for less than the kernel's

  const HiddenGlobs& globs_;
  const HiddenLimits& limits_;
  uint64_t deadline_ms_;
  uint64_t entries_left_;
  std::vector<FileFact>& found_;
  std::string way_ = {};              // the link that the search came by; empty: by names alone
  std::set<std::string> named_ = {};  // found by their own names
  std::vector<std::pair<std::string, std::string>> led_ = {};  // found by way of a link, and that link
};

}  // namespace

Result<HideFacts> find_hidden(const std::vector<std::string>& patterns, const std::vector<FileFact>& trees,
                              const HiddenLimits& limits) {
  HideFacts facts{.patterns = patterns};
  const HiddenGlobs globs = TRY(HiddenGlobs::read(patterns));
  HiddenSearch search(globs, limits, facts.found);
  for (const FileFact& tree : trees)
    if (tree.kind == FileFact::Kind::directory && tree.inode != 0) TRY(search.look_into(tree, ""));
  TRY(search.judge_ways(trees));
  // What a link led to may lie in a directory that is hidden as a whole.
  const std::vector<FileFact> all = facts.found;
  std::erase_if(facts.found, [&](const FileFact& inner) {
    return std::ranges::any_of(all, [&](const FileFact& outer) {
      return outer.path != inner.path && is_beneath(outer.path, inner.path);
    });
  });
  return facts;
}

}  // namespace cloche
