#include "gateway/changes/danger_of_write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "policy/changes/judge_changes.hpp"
#include "store/changes/change_facts.hpp"
#include "store/commit/commit_steps.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr const char* file_name = "file";
// To git a configuration that names programs, the list of a stopped rebase with a command in it ("x"), and
// the options of a sequence with a program for a strategy; as any other file it is as good as another.
constexpr const char* worst_text =
    "[core]\n\tfsmonitor = ./x\n\thooksPath = x\n[include]\n\tpath = x\n"
    "[options]\n\tx = ./x\n\tstrategy = ./x\n";

// The layer that the writes would leave: one file, for all of them.
class SupposedLayer {
 public:
  static Result<SupposedLayer> make(const std::string& state) {
    std::string name = state + "/supposed-XXXXXX";
    if (!make_private_directories(state) || ::mkdtemp(name.data()) == nullptr)
      return system_error("make a directory in " + shown(state));
    SupposedLayer layer(name);
    if (!write_private_file(name + "/" + file_name, worst_text))
      return system_error("write to " + shown(name));
    layer.held_ = TRY(sys::open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return layer;
  }
  SupposedLayer(SupposedLayer&& other) noexcept
      : path_(std::exchange(other.path_, {})), held_(std::move(other.held_)) {}
  SupposedLayer& operator=(SupposedLayer&&) = delete;
  ~SupposedLayer() {
    if (!path_.empty()) remove_tree(path_);
  }
  int held() const { return held_.get(); }

 private:
  explicit SupposedLayer(std::string path) : path_(std::move(path)) {}
  std::string path_;
  OwnedFd held_ = {};
};

// The files, and the directories on their way that are not there.
ChangeSet supposed_changes(const ChangedTree& tree, int root, const std::vector<std::string>& paths) {
  std::map<std::string, Change, decltype(&comes_before)> changes(&comes_before);
  for (const std::string& path : paths) {
    std::string at;
    for (const std::string_view name : components_of(path)) {
      at = joined(at, std::string(name));
      const OwnedFd seen = open_descendant(root, at, O_PATH);
      const bool is_file = at == path;
      if (seen && !is_file) continue;
      Change change{.path = at};
      change.after = FileState{.kind = is_file ? FileKind::file : FileKind::directory,
                               .mode = is_file ? 0644U : 0755U,
                               .size = is_file ? std::string_view(worst_text).size() : 0};
      if (seen) {
        change.kind = ChangeKind::changed;
        change.before = FileState{.mode = 0644};
        change.differs.contents = true;
      }
      changes.insert_or_assign(at, std::move(change));
    }
  }
  ChangeSet set{.trees = {tree}};
  for (auto& [path, change] : changes) set.changes.push_back(std::move(change));
  return set;
}

}  // namespace

Result<std::optional<DangerousWrite>> danger_of_writes(const std::string& workspace,
                                                       const std::vector<std::string>& paths,
                                                       const std::string& state, const GitSources& git) {
  const OwnedFd root = TRY(sys::open(workspace, O_RDONLY | O_DIRECTORY));
  struct stat seen {};
  if (::fstat(root.get(), &seen) != 0) return system_error("look at " + shown(workspace));
  const SupposedLayer layer = TRY(SupposedLayer::make(state));
  std::vector<std::string> below;
  for (const auto& path : paths) below.push_back(path.substr(workspace.size() + (workspace == "/" ? 0 : 1)));
  const ChangeSet set = supposed_changes({workspace, seen.st_dev, seen.st_ino}, root.get(), below);
  const std::vector<TreeLayers> layers{
      {.tree = set.trees[0], .lower = root.get(), .upper = layer.held(), .place_of = [](const std::string&) {
         return std::string(file_name);
       }}};
  const ChangeFacts facts = TRY(look_around_changes(set, layers, git));
  const auto dangers = dangers_of(set, facts, {});
  for (size_t i = 0; i < dangers.size(); ++i)
    if (dangers[i]) return std::optional(DangerousWrite{set.changes[i].path, *dangers[i]});
  return std::optional<DangerousWrite>();
}

}  // namespace cloche
