#include "store/commit/task_changes.hpp"

#include <sys/stat.h>

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr size_t most_bytes = size_t{64} << 20;
constexpr char kind_letters[] = {'n', 'm', 'd'};  // by ChangeKind

// Puts changes of several sets into one.
class Collected {
 public:
  void add(const std::string& tree, const std::string& path, ChangeKind kind) {
    if (!known_.insert({tree, path, kind}).second) return;
    const auto [at, is_new] = trees_.try_emplace(tree, set_.trees.size());
    if (is_new) set_.trees.push_back({.path = tree});
    set_.changes.push_back({.tree = at->second, .path = path, .kind = kind});
  }
  ChangeSet take() { return std::move(set_); }

 private:
  std::set<std::tuple<std::string, std::string, ChangeKind>> known_ = {};
  std::map<std::string, size_t> trees_ = {};
  ChangeSet set_ = {};
};

// KIND TREE NUL PATH NUL, because a name can have every other byte.
std::string text_of(const ChangeSet& set) {
  std::string text;
  for (const Change& change : set.changes) {
    text += kind_letters[static_cast<size_t>(change.kind)];
    text += set.trees[change.tree].path + '\0' + change.path + '\0';
  }
  return text;
}

std::optional<ChangeKind> kind_by(char letter) {
  for (size_t i = 0; i < std::size(kind_letters); ++i)
    if (kind_letters[i] == letter) return static_cast<ChangeKind>(i);
  return std::nullopt;
}

std::optional<ChangeSet> parse(std::string_view text) {
  Collected collected;
  while (!text.empty()) {
    const size_t tree_end = text.find('\0');
    const size_t path_end = tree_end == text.npos ? text.npos : text.find('\0', tree_end + 1);
    const auto kind = kind_by(text.front());
    if (path_end == text.npos || !kind || tree_end == 0) return std::nullopt;
    collected.add(std::string(text.substr(1, tree_end - 1)),
                  std::string(text.substr(tree_end + 1, path_end - tree_end - 1)), *kind);
    text.remove_prefix(path_end + 1);
  }
  return collected.take();
}

}  // namespace

TaskChanges::TaskChanges(const std::string& state, const std::string& task)
    : file_(task.empty() ? "" : state + "/" + task_changes_name + "/" + sha256(task).substr(0, 32)) {}

Result<ChangeSet> TaskChanges::read() const {
  struct stat seen {};
  if (file_.empty() || (::lstat(file_.c_str(), &seen) != 0 && errno == ENOENT)) return ChangeSet{};
  auto set = parse(TRY(read_private_file(file_, most_bytes)));
  if (!set)
    return refusal(shown(file_) + " is not what was written there", "remove it: the task then counts anew");
  return std::move(*set);
}

Result<void> TaskChanges::add(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts) const {
  if (file_.empty()) return {};
  const ChangeSet earlier = TRY(read());
  Collected collected;
  for (const Change& change : earlier.changes)
    collected.add(earlier.trees[change.tree].path, change.path, change.kind);
  for (size_t i = 0; i < set.changes.size(); ++i) {
    const Change& change = set.changes[i];
    if (verdicts[i].fate != Fate::withheld)
      collected.add(set.trees[change.tree].path, change.path, change.kind);
  }
  const std::string text = text_of(collected.take());
  if (text.size() > most_bytes) return refusal("the task has changed more paths than can be counted");
  if (!write_private_file(file_, text)) return system_error("write " + shown(file_));
  return {};
}

}  // namespace cloche
