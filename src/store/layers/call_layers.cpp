#include "store/layers/call_layers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "jail/core/wire.hpp"
#include "policy/plan/layered_trees.hpp"
#include "store/commit/entry_attributes.hpp"

namespace cloche {
namespace {

constexpr const char* undo_directory = "undo";  // what a commit replaces goes there, on the mount of the tree

// The tree that was judged, and nothing that stands at its name by now.
Result<OwnedFd> open_judged(const ViewEntry& entry) {
  OwnedFd tree = TRY(sys::open(entry.source, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  struct stat seen {};
  if (::fstat(tree.get(), &seen) != 0) return system_error("look at " + entry.source);
  if (seen.st_dev != entry.device || seen.st_ino != entry.inode)
    return Error{Cause::system, "a directory that was judged was replaced: " + entry.source, ESTALE,
                 "run it again"};
  return tree;
}

Result<void> make_directory(int parent, const char* name, mode_t mode, const ViewEntry& entry,
                            bool privileged) {
  const std::string what = "make a layer for writes to " + entry.source;
  if (::mkdirat(parent, name, 0700) != 0) return system_error(what);
  if (privileged && ::fchownat(parent, name, entry.owner_uid, entry.owner_gid, AT_SYMLINK_NOFOLLOW) != 0)
    return system_error(what);
  if (::fchmodat(parent, name, mode, 0) != 0) return system_error(what);
  return {};
}

Result<TreeLayer> make_layer(int parent, const std::string& name, const ViewEntry& entry, bool privileged) {
  TreeLayer layer{.tree = {entry.source, entry.device, entry.inode}, .target = entry.target};
  layer.lower = TRY(open_judged(entry));
  struct stat root {};
  if (::fstat(layer.lower.get(), &root) != 0) return system_error("look at " + entry.source);
  TRY(make_directory(parent, name.c_str(), 0700, entry, privileged));
  const OwnedFd directory = TRY(sys::open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  // The root of an overlay has the mode and attributes of its upper directory.
  TRY(make_directory(directory.get(), wire::upper_name, root.st_mode & 07777, entry, privileged));
  TRY(copy_attributes(layer.lower.get(), ".", directory.get(), wire::upper_name));
  TRY(make_directory(directory.get(), wire::work_name, 0700, entry, privileged));
  if (::mkdirat(directory.get(), undo_directory, 0700) != 0)
    return system_error("make a layer's undo directory");
  struct stat made {};
  if (::fstat(directory.get(), &made) != 0) return system_error("look at a layer");
  layer.device = made.st_dev;
  layer.inode = made.st_ino;
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

Result<StoredTree> stored_tree(const TreeLayer& layer) {
  return StoredTree{.project = {layer.tree.path, layer.tree.device, layer.tree.inode},
                    .source = TRY(know_directory(layer.directory + "/" + wire::upper_name)),
                    .undo = TRY(know_directory(layer.directory + "/" + undo_directory))};
}

// Trees of one mount share a place.
Result<size_t> CallLayers::place_for(const ViewEntry& entry, const ConfinementPlan& plan,
                                     const std::string& state) {
  const OwnedFd tree = TRY(open_judged(entry));
  const std::string root = TRY(find_layer_root(entry.source, tree.get(), state));
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].root() == root) return i;
  const bool is_hidden = !state.empty() && is_beneath(state, root);  // no view has it
  if (const ViewEntry* shown = is_hidden ? nullptr : shows(plan, root))
    return refusal("the layer for " + entry.source + " would lie in " + root + ", which the command sees (" +
                       shown->why + ")",
                   "write live: --live; or set XDG_STATE_HOME to a directory on that mount");
  places_.push_back(TRY(LayerPlace::make(root)));
  return places_.size() - 1;
}

Result<CallLayers> CallLayers::make(const ConfinementPlan& plan, const std::string& state, bool privileged) {
  if (state.empty())
    return refusal("there is no state directory for what a call writes",
                   "set XDG_STATE_HOME to a directory that only you can change, or write live: --live");
  ChangeSets(state, boot_id()).recover_interrupted();  // the call is to see whole what was committed before
  CallLayers layers;
  if (privileged) layers.attributes_ = OverlayAttributes::privileged;
  for (const ViewEntry* entry : layered_trees(plan)) {
    const size_t number = layers.trees_.size();
    const size_t at = TRY(layers.place_for(*entry, plan, state));
    const LayerPlace& place = layers.places_[at];
    layers.trees_.push_back(TRY(make_layer(place.held(), std::to_string(number), *entry, privileged)));
    layers.trees_.back().place = at;
    layers.trees_.back().directory = place.directory() + "/" + std::to_string(number);
    HeldIndex index = hold_index(number, layers.trees_.back().lower.get(), ".git/index");
    if (index.file) layers.indexes_.push_back(std::move(index));
  }
  // Last: what the host does from here on is a conflict.
  if (!layers.places_.empty()) layers.start_ = TRY(mark_start(layers.places_.front().held()));
  return layers;
}

Result<std::vector<KnownDirectory>> CallLayers::keep(const std::string& id) {
  std::vector<KnownDirectory> kept;
  for (size_t i = 0; i < places_.size(); ++i) {
    const size_t length = places_[i].directory().size();
    kept.push_back(TRY(places_[i].keep(id)));
    for (TreeLayer& layer : trees_)
      if (layer.place == i) layer.directory = kept.back().path + layer.directory.substr(length);
  }
  return kept;
}

}  // namespace cloche
