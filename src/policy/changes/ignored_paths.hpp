// Which paths of a project its .gitignore files mean, from the texts alone. Only what is shown and what undo
// may spend depend on the answer, never a verdict: a call can write a .gitignore. So give the texts as they
// stood before the call, and take every doubt as "not ignored".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "policy/changes/ignore_pattern.hpp"

namespace cloche {

struct IgnoreText {
  std::string directory;  // relative to the project, "" for its root
  std::string text;
};

enum class PathIs { directory, other };

struct IgnoreBounds {
  size_t bytes = 1 << 20;       // of all texts together
  uint64_t work = 200'000'000;  // steps over all questions; then nothing is ignored any more
};

class IgnoredPaths {
 public:
  // Of two texts for one directory the later one counts more: .git/info/exclude first, then .gitignore.
  explicit IgnoredPaths(const std::vector<IgnoreText>& texts, const IgnoreBounds& bounds = {});

  // Whether git would leave it out. Quick when the paths come in order, because what is known of their
  // directories is kept from one question to the next.
  bool ignores(std::string_view path, PathIs kind);

 private:
  struct Directory {
    size_t length;  // of its path, which begins last_
    bool is_ignored;
  };

  void read(const IgnoreText& text, const IgnoreBounds& bounds);
  bool directory_is_ignored(std::string_view path);
  bool decide(std::string_view path, PathIs kind);

  std::map<std::string, std::vector<IgnorePattern>, std::less<>> patterns_ = {};
  size_t bytes_ = 0;  // of the texts that were read
  uint64_t work_ = 0;
  uint64_t most_work_;
  std::string last_ = {};                   // directory
  std::vector<Directory> last_parts_ = {};  // its ancestors and itself, outermost first
};

}  // namespace cloche
