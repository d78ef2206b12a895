#include "policy/rules/hidden_globs.hpp"

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/text/ascii.hpp"
#include "policy/rules/globs.hpp"

namespace cloche {
namespace {

constexpr std::string_view any_depth = "**";

bool is_any_depth(const NameForms& component) { return component.front() == any_depth; }

Result<HiddenPattern> read_pattern(std::string_view text) {
  if (text.starts_with('/')) return refusal("a pattern is relative to the workspace, and has no / in front");
  HiddenPattern components;
  for (const auto& name : components_of(text)) {
    if (name == "..") return refusal("a pattern does not go up with ..");
    components.push_back(forms_of_name(name));
  }
  const bool is_plain = std::ranges::all_of(text, [](char c) { return !ascii::is_control(c); });
  if (!is_plain || components.empty()) return refusal("a pattern names a path, in plain characters");
  return components;
}

// How far a pattern can have come after some names: by its components, the last is "all of them".
using Progress = std::vector<bool>;

bool matches(const NameForms& pattern, const NameForms& name) {
  return std::ranges::any_of(pattern, [&](const std::string& glob) {
    return std::ranges::any_of(name, [&](const std::string& form) { return glob_matches(glob, form); });
  });
}

void skip_any_depth(const HiddenPattern& pattern, Progress& progress) {
  for (size_t i = 0; i < pattern.size(); ++i)
    if (progress[i] && is_any_depth(pattern[i])) progress[i + 1] = true;
}

Progress first_step(const HiddenPattern& pattern) {
  Progress progress(pattern.size() + 1);
  progress[0] = true;
  skip_any_depth(pattern, progress);
  return progress;
}

Progress next_step(const HiddenPattern& pattern, const Progress& progress, const NameForms& name) {
  Progress next(pattern.size() + 1);
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (!progress[i]) continue;
    const bool stays = is_any_depth(pattern[i]);
    if (stays) next[i] = true;
    if (!stays && matches(pattern[i], name)) next[i + 1] = true;
  }
  skip_any_depth(pattern, next);
  return next;
}

std::vector<NameForms> forms_of_names(std::string_view path) {
  std::vector<NameForms> names;
  for (const auto& name : components_of(path)) names.push_back(forms_of_name(name));
  return names;
}

}  // namespace

Result<HiddenGlobs> HiddenGlobs::read(const std::vector<std::string>& patterns) {
  HiddenGlobs globs;
  for (const auto& text : patterns)
    for (const auto& pattern : TRY(expand_braces(text)))
      globs.patterns_.push_back(TRY(read_pattern(pattern)));
  return globs;
}

bool HiddenGlobs::hides(std::string_view path) const {
  if (patterns_.empty()) return false;
  const auto names = forms_of_names(path);
  return std::ranges::any_of(patterns_, [&](const HiddenPattern& pattern) {
    Progress progress = first_step(pattern);
    return std::ranges::any_of(names, [&](const NameForms& name) {
      progress = next_step(pattern, progress, name);
      return progress.back();
    });
  });
}

HiddenGlobs::Search HiddenGlobs::search(std::string_view directory) const {
  const auto names = forms_of_names(directory);
  Search found = Search::none;
  for (const auto& pattern : patterns_) {
    Progress progress = first_step(pattern);
    for (const auto& name : names) progress = next_step(pattern, progress, name);
    if (std::find(progress.begin(), progress.end(), true) == progress.end()) continue;
    const auto first_any = static_cast<size_t>(std::ranges::find_if(pattern, is_any_depth) - pattern.begin());
    if (names.size() <= first_any) return Search::across_links;
    found = Search::inside;
  }
  return found;
}

Result<HiddenPaths> HiddenPaths::read(const HideFacts& facts) {
  HiddenPaths paths;
  paths.globs_ = TRY(HiddenGlobs::read(facts.patterns));
  for (const FileFact& found : facts.found) paths.found_.push_back(found.path);
  return paths;
}

bool HiddenPaths::hides(const std::string& root, const std::string& path) const {
  return globs_.hides(path) || is_beneath_any(found_, root == "/" ? "/" + path : root + "/" + path);
}

bool searches_everywhere(std::string_view pattern) {
  return pattern.find(any_depth) != std::string_view::npos;
}

}  // namespace cloche
