#include "model/holder.hpp"

#include "base/path.hpp"

namespace cloche {

Holder holder_of(const ConfinementPlan& plan, const ViewEntry& entry) {
  const ViewEntry* nearest = nullptr;
  for (const auto& other : plan.view) {
    if (other.kind != EntryKind::tree && other.kind != EntryKind::tmpfs) continue;
    if (other.target.size() >= entry.target.size() || !is_beneath(other.target, entry.target)) continue;
    if (nearest == nullptr || other.target.size() > nearest->target.size()) nearest = &other;
  }
  if (nearest == nullptr) return Holder::root;
  return nearest->kind == EntryKind::tree ? Holder::host_tree : Holder::memory;
}

}  // namespace cloche
