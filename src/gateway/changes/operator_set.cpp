#include "gateway/changes/operator_set.hpp"

#include <map>

#include "base/sys/directory.hpp"
#include "base/text/random_word.hpp"
#include "base/text/visible_text.hpp"
#include "store/layers/layer_place.hpp"

namespace cloche {
namespace {

// On the mount of each tree, as a call's own layers are.
Result<void> make_undo_directories(SetHeader& header, const std::string& state) {
  std::map<std::string, std::string> kept;  // by the root of the place
  for (size_t i = 0; i < header.trees.size(); ++i) {
    const KnownDirectory& project = header.trees[i].project;
    const OwnedFd tree = TRY(open_known(project));
    const std::string root = TRY(find_layer_root(project.path, tree.get(), state));
    if (!kept.contains(root)) {
      LayerPlace place = TRY(LayerPlace::make(root));
      header.places.push_back(TRY(place.keep(header.id)));
      kept[root] = header.places.back().path;
    }
    const std::string undo = kept[root] + "/" + std::to_string(i) + "/undo";
    if (!make_private_directories(undo)) return system_error("make " + shown(undo));
    header.trees[i].undo = TRY(know_directory(undo));
  }
  return {};
}

}  // namespace

Result<SetInWork> begin_operator_set(const std::string& state, const ChangeSets& sets, SetHeader header,
                                     const std::string& kind) {
  header.id = kind + TRY(random_word(12));
  header.places.clear();
  if (auto made = make_undo_directories(header, state); !made.ok()) {
    for (const KnownDirectory& place : header.places) remove_tree(place.path);
    return made.take_error();
  }
  const std::vector<KnownDirectory> places = header.places;
  auto begun = sets.begin(std::move(header));
  if (!begun.ok())
    for (const KnownDirectory& place : places) remove_tree(place.path);
  return begun;
}

void drop_operator_set(const ChangeSets& sets, SetInWork& set) {
  set.lock.reset();  // which the drop takes itself
  if (sets.drop(set.header.id).ok()) sets.empty_trash();
}

}  // namespace cloche
