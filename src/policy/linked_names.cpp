#include "policy/linked_names.hpp"

#include <algorithm>

#include "base/sys/path.hpp"
#include "policy/plan/plan_run.hpp"
#include "policy/plan/system_view.hpp"
#include "policy/view_entries.hpp"

namespace cloche::view {
namespace {

// A link of the view gives way to what is granted beneath it (put_in_order).
bool gives_way(const ConfinementPlan& plan, const ViewEntry& entry) {
  return entry.kind == EntryKind::link &&
         std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& other) {
           return other.owned && is_beneath(entry.target, other.target);
         });
}

// Whether something that the view has shows the name already, as a link in a tree of the host's does, or
// would be covered there.
bool is_taken(const ConfinementPlan& plan, const std::string& name) {
  if (is_beneath("/proc", name) || is_beneath("/dev", name) || is_beneath(name, home_inside)) return true;
  return std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& entry) {
    const bool memory = entry.kind == EntryKind::tmpfs || entry.kind == EntryKind::directory;
    if (is_beneath(entry.target, name)) return entry.target == name || (!memory && !gives_way(plan, entry));
    return is_beneath(name, entry.target) && !entry.owned;
  });
}

// The absolute name that was written, when a link has led elsewhere; empty without one, and where it cannot
// be told: what .. means depends on links, and a relative name is known by the link alone that it ends in.
std::string name_by_links(const Grant& grant, const FileFact& fact) {
  if (fact.turns.empty()) return {};
  std::string name = grant.source;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  const std::string& link = fact.turns.front();
  if (!name.starts_with('/') && link.ends_with("/" + name)) name = link;
  return is_plain_absolute(name) && name != fact.path ? name : std::string();
}

}  // namespace

void add_linked_names(ConfinementPlan& plan, const RunRequest& request, const Facts& facts) {
  if (request.rung < Rung::namespaces) return;
  for (size_t i = 0; i < request.grants.size(); ++i) {
    const Grant& grant = request.grants[i];
    const FileFact& fact = facts.grants[i];
    const std::string name = name_by_links(grant, fact);
    if (!grant.target.empty() || name.empty() || is_taken(plan, name)) continue;
    const std::string flag = grant.writable ? "--rw " : "--ro ";
    if (grant.writable && is_system_root(name)) continue;  // what it leads to was judged
    plan.view.push_back(
        owned_tree(fact, name, grant.writable ? Access::write_run : Access::run, flag + grant.source));
  }
}

}  // namespace cloche::view
