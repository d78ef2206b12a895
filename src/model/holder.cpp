#include "model/holder.hpp"

#include "base/sys/path.hpp"

namespace cloche {

Holders::Holders(const ConfinementPlan& plan) {
  for (const auto& entry : plan.view) {
    if (entry.kind == EntryKind::tree) by_target_[entry.target] = Holder::host_tree;
    if (entry.kind == EntryKind::proc)
      by_target_[entry.target] = Holder::host_tree;  // the kernel's: nothing is made in it
    if (entry.kind == EntryKind::tmpfs) by_target_[entry.target] = Holder::memory;
  }
}

Holder Holders::of(const ViewEntry& entry) const {
  for (std::string_view above = parent_of(entry.target); above != "/"; above = parent_of(above)) {
    if (const auto found = by_target_.find(above); found != by_target_.end()) return found->second;
  }
  return Holder::root;
}

}  // namespace cloche
