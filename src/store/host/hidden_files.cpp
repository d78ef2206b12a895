#include "store/host/hidden_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
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
  HiddenSearch(const HiddenGlobs& globs, const HiddenLimits& limits, HideFacts& facts)
      : globs_(globs),
        limits_(limits),
        deadline_ms_(sys::monotonic_ms() + limits.milliseconds),
        entries_left_(limits.entries),
        facts_(facts),
        found_(facts.found) {}

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

  enum class Holds { nothing, names };

  struct Child {
    std::string name;
    NameKind kind;
  };

  Result<void> directory(const Start& start, const std::string& below) {
    const std::string place = place_of(start, below);
    if (place == limits_.apart) return {};
    const OpenedDirectory opened = open_directory(start.root, below);
    if (opened.barrier == Barrier::absent) return {};  // gone, or a mount of the host, which is not shown
    if (opened.barrier != Barrier::none) return settle_closed(start, below, opened);
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
    const std::string place = place_of(start, path);
    const bool is_hidden = globs_.hides(named);
    const auto search = is_hidden ? HiddenGlobs::Search::none : globs_.search(named);
    const bool is_meant =
        is_hidden || (child.kind == NameKind::directory && search != HiddenGlobs::Search::none);
    if (is_meant && is_too_deep(path, place)) return hide_unsearched(start, below);
    if (is_hidden) note_use(named, child.kind == NameKind::other ? Holds::nothing : Holds::names);
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
                     "give it one name: " + commands_for_one_name(path));
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
  Result<void> settle_closed(const Start& start, const std::string& below, const OpenedDirectory& opened) {
    const std::string place = place_of(start, below);
    struct stat seen {};
    const bool is_others =
        opened.barrier == Barrier::closed && ::lstat(place.c_str(), &seen) == 0 && seen.st_uid != ::geteuid();
    if (is_others) return {};
    if (opened.error == EACCES) return hide_unsearched(start, below);
    return refusal(shown(place) + " cannot be searched for hidden files");
  }

  // Something in it may be meant, so all of it is hidden.
  Result<void> hide_unsearched(const Start& start, const std::string& below) {
    const std::string place = place_of(start, below);
    if (below.empty() && way_.empty())
      return refusal(shown(place, 80) + " cannot be searched for hidden files",
                     words_to_copy({"chmod", "u+rx", place}));
    if (!contains_path(place)) facts_.unsearched.push_back(place);
    note_use(joined(start.named, below), Holds::names);
    return add(place);
  }

  // What is hidden has a mount of its own, and so has each directory above it where the command could move
  // that.
  static bool is_too_deep(std::string_view path, std::string_view place) {
    constexpr size_t longest_place = 3900;  // the view's own paths have room for less than the kernel's
    constexpr ptrdiff_t most_levels = 100;
    return place.size() > longest_place || std::ranges::count(path, '/') >= most_levels;
  }

  // No pattern is idle that matches the hidden path, or could match something in it.
  void note_use(const std::string& named, Holds holds) {
    std::erase_if(facts_.idle, [&](const std::string& pattern) {
      const auto globs = HiddenGlobs::read({pattern});
      if (!globs.ok() || globs.value().hides(named)) return globs.ok();
      return holds == Holds::names && globs.value().search(named) != HiddenGlobs::Search::none;
    });
  }

  static std::string place_of(const Start& start, const std::string& below) {
    if (below.empty()) return start.place;
    return (start.place == "/" ? "" : start.place) + "/" + below;
  }

  std::string bound() const {
    return std::to_string(limits_.entries) + " entries and " + std::to_string(limits_.milliseconds) +
           " ms are the most";
  }

  const HiddenGlobs& globs_;
  const HiddenLimits& limits_;
  uint64_t deadline_ms_;
  uint64_t entries_left_;
  HideFacts& facts_;
  std::vector<FileFact>& found_;
  std::string way_ = {};              // the link that the search came by; empty: by names alone
  std::set<std::string> named_ = {};  // found by their own names
  std::vector<std::pair<std::string, std::string>> led_ = {};  // found by way of a link, and that link
};

}  // namespace

Result<HideFacts> find_hidden(const std::vector<std::string>& patterns, const std::vector<FileFact>& trees,
                              const HiddenLimits& limits) {
  HideFacts facts{.patterns = patterns, .idle = patterns};
  const HiddenGlobs globs = TRY(HiddenGlobs::read(patterns));
  HiddenSearch search(globs, limits, facts);
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
  std::erase_if(facts.unsearched, [&](const std::string& path) {
    return std::ranges::none_of(facts.found, [&](const FileFact& fact) { return fact.path == path; });
  });
  return facts;
}

}  // namespace cloche
