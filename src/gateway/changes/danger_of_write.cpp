#include "gateway/changes/danger_of_write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "policy/changes/judge_changes.hpp"
#include "store/changes/change_facts.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr const char* file_name = "file";
// To git a configuration that names programs; as any other file it is as good as another.
constexpr const char* worst_text = "[core]\n\tfsmonitor = ./x\n\thooksPath = x\n[include]\n\tpath = x\n";

// The layer that the write would leave: one file.
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

// The file, and the directories on its way that are not there.
ChangeSet supposed_changes(const ChangedTree& tree, int root, const std::string& path) {
  ChangeSet set{.trees = {tree}};
  std::string at;
  for (const std::string_view name : components_of(path)) {
    at = joined(at, std::string(name));
    const OwnedFd seen = open_descendant(root, at, O_PATH);
    const bool is_file = at == path;
    if (seen && !is_file) continue;
    const FileState after{.kind = is_file ? FileKind::file : FileKind::directory,
                          .mode = is_file ? 0644U : 0755U,
                          .size = is_file ? std::string_view(worst_text).size() : 0};
    Change change{.path = at, .after = after};
    if (seen) {
      change.kind = ChangeKind::changed;
      change.before = FileState{.mode = 0644};
      change.differs.contents = true;
    }
    set.changes.push_back(std::move(change));
  }
  return set;
}

}  // namespace

Result<std::optional<std::string>> danger_of_write(const std::string& workspace, const std::string& path,
                                                   const std::string& state, const GitSources& git) {
  const OwnedFd root = TRY(sys::open(workspace, O_RDONLY | O_DIRECTORY));
  struct stat seen {};
  if (::fstat(root.get(), &seen) != 0) return system_error("look at " + shown(workspace));
  const SupposedLayer layer = TRY(SupposedLayer::make(state));
  const ChangeSet set = supposed_changes({workspace, seen.st_dev, seen.st_ino}, root.get(),
                                         path.substr(workspace.size() + (workspace == "/" ? 0 : 1)));
  const std::vector<TreeLayers> layers{
      {.tree = set.trees[0], .lower = root.get(), .upper = layer.held(), .place_of = [](const std::string&) {
         return std::string(file_name);
       }}};
  const ChangeFacts facts = TRY(look_around_changes(set, layers, git));
  for (auto& danger : dangers_of(set, facts, {}))
    if (danger) return std::move(danger);
  return std::optional<std::string>();
}

}  // namespace cloche
