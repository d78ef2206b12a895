#include "store/layers/call_layers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "jail/core/wire.hpp"
#include "policy/plan/layered_trees.hpp"
#include "store/commit/entry_copy.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

// The tree that was judged, and nothing that stands at its name by now.
Result<OwnedFd> open_judged(const ViewEntry& entry) {
  auto tree = sys::open(entry.source, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  struct stat seen {};
  if (tree.ok() && ::fstat(tree.value().get(), &seen) != 0) return system_error("look at " + entry.source);
  const bool is_it = tree.ok() && seen.st_dev == entry.device && seen.st_ino == entry.inode;
  if (is_it || (!tree.ok() && !is_absent(tree.error().number))) return tree;
  return Error{Cause::system, "a directory that was judged is gone or was replaced: " + entry.source, ESTALE,
               "run it again"};
}

// One that an earlier call left (layer_place.hpp) is given the owner and mode that it would have.
Result<void> make_directory(int parent, const char* name, mode_t mode, const ViewEntry& entry,
                            bool privileged) {
  const std::string what = "make a layer for writes to " + entry.source;
  struct stat made {};
  if (::mkdirat(parent, name, 0700) != 0 && errno != EEXIST) return system_error(what);
  if (::fstatat(parent, name, &made, AT_SYMLINK_NOFOLLOW) != 0) return system_error(what);
  const bool is_owners = made.st_uid == entry.owner_uid && made.st_gid == entry.owner_gid;
  if (privileged && !is_owners &&
      ::fchownat(parent, name, entry.owner_uid, entry.owner_gid, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error(what);
  if ((made.st_mode & 07777U) != mode && ::fchmodat(parent, name, mode, 0) != 0) return system_error(what);
  return {};
}

Result<TreeLayer> make_layer(const LayerPlace& place, const std::string& name, const ViewEntry& entry,
                             bool privileged) {
  TreeLayer layer{.tree = {entry.source, entry.device, entry.inode}, .target = entry.target};
  layer.lower = TRY(open_judged(entry));
  struct stat root {};
  if (::fstat(layer.lower.get(), &root) != 0) return system_error("look at " + entry.source);
  TRY(make_directory(place.held(), name.c_str(), 0700, entry, privileged));
  const OwnedFd directory = TRY(sys::open_at(place.held(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  // The root of an overlay has the owner, mode and attributes of its upper directory: the caller is to have
  // no more rights there than in the project.
  const bool is_closed = !privileged && ::faccessat(layer.lower.get(), ".", W_OK, AT_EACCESS) != 0;
  const mode_t mode = root.st_mode & (is_closed ? 07555U : 07777U);
  TRY(make_directory(directory.get(), wire::upper_name, mode, entry, privileged));
  TRY(copy_attributes({layer.lower.get(), "."}, {directory.get(), wire::upper_name}));
  TRY(make_directory(directory.get(), wire::work_name, 0700, entry, privileged));
  layer.directory = TRY(know_held(directory.get(), place.directory() + "/" + name));
  layer.upper = TRY(sys::open_at(directory.get(), wire::upper_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return layer;
}

// A path of the view by which the command could come to its own layer.
const ViewEntry* shows(const ConfinementPlan& plan, const std::string& directory) {
  for (const auto& entry : plan.view)
    if (entry.kind == EntryKind::tree && !entry.file && is_beneath(entry.source, directory)) return &entry;
  return nullptr;
}

}  // namespace

Result<void> copy_entry_state(int lower, int upper, const std::string& name, const struct stat& seen) {
  const LayerEntry entry{upper, name.c_str()};
  if (!is_bound_by_modes()) TRY(set_owner(entry, seen.st_uid, seen.st_gid));
  if (S_ISLNK(seen.st_mode)) return {};
  TRY(set_mode(entry, seen.st_mode & 07777U));
  return copy_attributes({lower, name.c_str()}, entry);
}

Result<CallLayers> CallLayers::make(const ConfinementPlan& plan, const std::string& state, bool privileged,
                                    const std::string& task) {
  if (state.empty())
    return refusal("there is no state directory for what a call writes",
                   "set XDG_STATE_HOME to a directory that only you can change, or write live: --live");
  const auto attributes = privileged ? OverlayAttributes::privileged : OverlayAttributes::user_namespace;
  const std::string root = TRY(find_layer_root(state, attributes));
  ChangeSets(state, boot_id()).make_reserve();
  const bool is_hidden = is_beneath(state, root);  // no view has it
  if (const ViewEntry* shown = is_hidden ? nullptr : shows(plan, root))
    return refusal(
        "what the call writes would lie in " + root + ", which the command sees (" + shown->why + ")",
        "write live: --live; or set XDG_STATE_HOME to a directory on a disk of this host");
  CallLayers layers(TRY(LayerPlace::make(root)));
  layers.attributes_ = attributes;
  if (!task.empty()) layers.continue_task(plan, state, task);
  if (layers.continued_) {
    TRY(layers.take_trees(plan, privileged));
  } else {
    TRY(layers.make_trees(plan, privileged));
  }
  layers.hold_indexes(plan.directory);
  if (layers.continued_) {
    layers.start_ = layers.continued_->header.start;  // what the host did since then is in its way as well
  } else {
    TRY(layers.mark_start());  // last: what the host does from here on is a conflict
  }
  return layers;
}

Result<void> CallLayers::make_trees(const ConfinementPlan& plan, bool privileged) {
  for (const ViewEntry* entry : layered_trees(plan))
    trees_.push_back(TRY(make_layer(place_, std::to_string(trees_.size()), *entry, privileged)));
  return {};
}

// Of the repositories that are known without a search: at the top of each tree, their worktrees and
// submodules, a tree that is a git directory itself, and those around the directory that the command starts
// in.
void CallLayers::hold_indexes(const std::string& start_directory) {
  constexpr size_t most_parts = 256;
  for (size_t i = 0; i < trees_.size(); ++i) {
    const TreeLayer& tree = trees_[i];
    std::vector<std::string> places = {"index", ".git/index"};
    std::vector<std::string> waiting = {"worktrees", "modules", ".git/worktrees", ".git/modules"};
    while (!waiting.empty() && places.size() < most_parts) {
      const std::string parts = std::move(waiting.back());
      waiting.pop_back();
      const OwnedFd held = open_descendant(tree.lower.get(), parts, directory_flags);
      if (!held) continue;
      for_each_name(held.get(), [&](const dirent& entry) {
        if (kind_in(held.get(), entry) != NameKind::directory) return true;
        const std::string part = parts + "/" + entry.d_name;
        const bool is_one = ::faccessat(held.get(), (std::string(entry.d_name) + "/HEAD").c_str(), F_OK,
                                        AT_SYMLINK_NOFOLLOW) == 0;
        places.push_back(part + "/index");
        waiting.push_back(is_one ? part + "/modules" : part);  // a submodule's name may have slashes
        return places.size() < most_parts;
      });
    }
    const bool starts_below = is_plain_absolute(start_directory) && is_beneath(tree.target, start_directory);
    std::string_view below = starts_below ? std::string_view(start_directory).substr(tree.target.size()) : "";
    for (; below.size() > 1; below = below.substr(0, below.rfind('/')))
      places.push_back(std::string(below.substr(below[0] == '/' ? 1 : 0)) + "/.git/index");
    for (const std::string& place : places) {
      HeldIndex index = hold_index(i, tree.lower.get(), place);
      if (index.file) indexes_.push_back(std::move(index));
    }
  }
}

// The layers of the set. The kernel takes a work directory only once.
Result<void> CallLayers::take_trees(const ConfinementPlan& plan, bool privileged) {
  const auto entries = layered_trees(plan);
  for (size_t i = 0; i < entries.size(); ++i) {
    const ViewEntry& entry = *entries[i];
    TreeLayer layer{.tree = {entry.source, entry.device, entry.inode}, .target = entry.target};
    layer.lower = TRY(open_judged(entry));
    layer.upper = TRY(open_known(continued_->header.trees[i].source));
    layer.directory = TRY(know_directory(std::string(parent_of(continued_->header.trees[i].source.path))));
    const OwnedFd directory = TRY(open_known(layer.directory));
    TRY(remove_entry(directory.get(), wire::work_name));
    TRY(make_directory(directory.get(), wire::work_name, 0700, entry, privileged));
    trees_.push_back(std::move(layer));
  }
  return {};
}

// Nothing that is in the way here is in the way of the call: it is told what it does not see.
void CallLayers::continue_task(const ConfinementPlan& plan, const std::string& state,
                               const std::string& task) {
  const ChangeSets sets(state, boot_id());
  const auto workspace = know_directory(plan.workspace);
  const auto staged = workspace.ok() ? sets.staged_of(task, workspace.value()) : std::nullopt;
  if (!staged) return;
  const auto entries = layered_trees(plan);
  const bool fits =
      std::equal(entries.begin(), entries.end(), staged->header.trees.begin(), staged->header.trees.end(),
                 [](const ViewEntry* entry, const StoredTree& tree) {
                   return entry->source == tree.project.path && entry->device == tree.project.device &&
                          entry->inode == tree.project.inode;
                 });
  if (!fits || staged->header.attributes != attributes_) {
    left_out_ = "it was written with other directories than this call has";
    return;
  }
  constexpr uint64_t most_wait_ms = 10'000;
  constexpr useconds_t between_tries_us = 20'000;
  const uint64_t deadline_ms = sys::monotonic_ms() + most_wait_ms;
  for (;;) {
    auto taken = sets.continue_staged(task, workspace.value());
    if (taken.ok()) {
      continued_ = std::move(taken).value();
      return;
    }
    if (taken.error().number != EWOULDBLOCK) {
      left_out_ = describe(taken.error());
      return;
    }
    if (sys::monotonic_ms() >= deadline_ms) break;
    ::usleep(between_tries_us);
  }
  left_out_ = "another call of the task is writing to it";
}

Result<void> CallLayers::renew(const std::string& state) {
  std::vector<KnownDirectory> old;
  for (size_t i = 0; i < trees_.size(); ++i) {
    TreeLayer& layer = trees_[i];
    old.push_back(TRY(know_directory(layer.directory.path + "/" + wire::upper_name)));
    const KnownDirectory renewed = TRY(copy_layer(old.back()));
    layer.upper = TRY(open_known(renewed));
    layer.directory = TRY(know_directory(std::string(parent_of(renewed.path))));
    if (continued_) continued_->header.trees[i].source = renewed;
  }
  // A set that is stored has to know where its bytes are before the old ones go.
  if (continued_) TRY(ChangeSets(state, boot_id()).set_status(*continued_, SetStatus::continued));
  for (const KnownDirectory& layer : old) remove_old_layer(layer);
  return {};
}

// Where a tree is on another file system than the layers, a file without a name asks for its clock. The
// earliest answer counts for all; the layers' own comes last, because a clock that ticks is one tick late.
Result<void> CallLayers::mark_start() {
  std::vector<CallStart> starts;
  for (const TreeLayer& layer : trees_) {
    if (layer.tree.device == layer.directory.device) continue;
    const auto mark = sys::open_at(layer.lower.get(), ".", O_TMPFILE | O_WRONLY, 0600);
    if (!mark.ok())
      return refusal("what the host changes in " + layer.tree.path +
                         " during a call could not be known, because its file system gives no time (" +
                         describe(mark.error()) + ")",
                     "write live: --live");
    starts.push_back(TRY(cloche::mark_start(mark.value().get())));
  }
  starts.push_back(TRY(cloche::mark_start(place_.held())));
  start_ = *std::min_element(starts.begin(), starts.end(), [](const CallStart& a, const CallStart& b) {
    return a.change_ns < b.change_ns;
  });
  return {};
}

std::string CallLayers::find_moved(const std::string& path) {
  std::string found = path;
  for (TreeLayer& layer : trees_) {
    const auto now = sys::path_of(layer.lower.get());
    // Of one that was removed the kernel gives a name that leads nowhere.
    if (!now.ok() || now.value() == layer.tree.path || !stands_at(now.value(), layer.lower.get())) continue;
    if (is_beneath(layer.tree.path, path)) found = now.value() + path.substr(layer.tree.path.size());
    layer.tree.path = now.value();
  }
  return found;
}

Result<void> CallLayers::describe_kept(SetHeader& header) const {
  header.start = start_;
  header.attributes = attributes_;
  header.places = {TRY(place_.as_kept(header.id))};
  for (const TreeLayer& layer : trees_) {
    KnownDirectory upper = TRY(know_directory(layer.directory.path + "/" + wire::upper_name));
    upper.path.replace(0, place_.directory().size(), header.places.front().path);
    header.trees.push_back(
        {.project = {layer.tree.path, layer.tree.device, layer.tree.inode}, .source = std::move(upper)});
  }
  return {};
}

Result<void> CallLayers::keep(const std::string& id) {
  const std::string from = place_.directory();
  const std::string to = TRY(place_.as_kept(id)).path;
  TRY(place_.keep(id));
  for (TreeLayer& layer : trees_) layer.directory.path.replace(0, from.size(), to);
  return {};
}

}  // namespace cloche
