#include "policy/changes/ignored_paths.hpp"

#include <algorithm>

#include "base/text/pieces.hpp"

namespace cloche {

IgnoredPaths::IgnoredPaths(const std::vector<IgnoreText>& texts, const IgnoreBounds& bounds)
    : most_work_(bounds.work) {
  for (const IgnoreText& text : texts) read(text, bounds);
}

void IgnoredPaths::read(const IgnoreText& text, const IgnoreBounds& bounds) {
  // A text that goes beyond the bound is not read at all: half of it could ignore what the rest brings back.
  if (text.text.size() > bounds.bytes - bytes_) return;
  bytes_ += text.text.size();
  std::string_view rest = text.text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);  // git skips a byte order mark
  auto& patterns = patterns_[text.directory];
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    if (line.ends_with('\r')) line.remove_suffix(1);
    auto pattern = IgnorePattern::read(line);
    if (pattern) patterns.push_back(std::move(*pattern));
  }
}

bool IgnoredPaths::ignores(std::string_view path, PathIs kind) {
  if (patterns_.empty() || path.empty() || work_ > most_work_) return false;
  const size_t slash = path.rfind('/');
  // What lies in an ignored directory is ignored: no pattern brings it back.
  if (slash != std::string_view::npos && directory_is_ignored(path.substr(0, slash))) return true;
  return decide(path, kind);
}

bool IgnoredPaths::directory_is_ignored(std::string_view path) {
  const auto is_on_the_way = [&](const Directory& known) {
    return known.length <= path.size() &&
           path.substr(0, known.length) == std::string_view(last_).substr(0, known.length) &&
           (known.length == path.size() || path[known.length] == '/');
  };
  while (!last_parts_.empty() && !is_on_the_way(last_parts_.back())) last_parts_.pop_back();
  last_ = path;
  size_t at = last_parts_.empty() ? 0 : last_parts_.back().length + 1;
  while (at < path.size()) {
    const size_t end = std::min(path.find('/', at), path.size());
    const bool above = !last_parts_.empty() && last_parts_.back().is_ignored;
    last_parts_.push_back({end, above || decide(path.substr(0, end), PathIs::directory)});
    at = end + 1;
  }
  return !last_parts_.empty() && last_parts_.back().is_ignored;
}

// The last pattern that matches decides, and those of a nearer directory come after all others.
bool IgnoredPaths::decide(std::string_view path, PathIs kind) {
  for (size_t base = path.rfind('/');; base = path.rfind('/', base - 1)) {
    const bool is_root = base == std::string_view::npos;
    ++work_;
    const auto found = patterns_.find(is_root ? std::string_view() : path.substr(0, base));
    if (found != patterns_.end()) {
      const std::string_view below = is_root ? path : path.substr(base + 1);
      for (auto pattern = found->second.rbegin(); pattern != found->second.rend(); ++pattern) {
        if (pattern->only_directories() && kind != PathIs::directory) continue;
        if (pattern->matches(below, work_)) return !pattern->brings_back();
        if (work_ > most_work_) return false;
      }
    }
    if (is_root || base == 0) return false;
  }
}

}  // namespace cloche
