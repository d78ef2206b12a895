#include "gateway/protected_look.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "policy/guarded.hpp"
#include "store/look_memory.hpp"

namespace cloche {
namespace {

// Of its own for each call: a name that sorts by time.
std::string quarantine_for(const Observation& seen, const std::string& state) {
  if (!seen.quarantine.empty()) return seen.quarantine;
  if (state.empty()) return {};
  return state + "/quarantine/" + std::to_string(::time(nullptr)) + "-" + std::to_string(::getpid());
}

}  // namespace

Result<ProtectedLook> ProtectedLook::begin(const Observation& seen, const std::string& state) {
  ProtectedLook look(quarantine_for(seen, state), state, seen.facts.workspace.path);
  const GuardFacts& guard = seen.facts.guard;
  const ChangeTime now = change_time_now();
  for (const auto& path : guard.roots) {
    HeldRoot root{path, TRY(sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))};
    OpenCall call = OpenCall::begin(state, root.fd.get(), now, guard.files);
    look.trees_.push_back({std::move(root), std::move(call), {}});
  }
  for (auto& tree : look.trees_) {
    if (!tree.call.abandoned()) continue;
    const GuardFacts then{
        .allowed = guard.allowed, .files = tree.call.known_to_abandoned(), .git = guard.git};
    if (look.look(tree, then, *tree.call.abandoned())) tree.call.forget_abandoned();
  }
  // What another call may have made is not what anything is put back to.
  const auto is_certain = [&](const Tree& tree, const std::string& path) {
    const auto fact = std::find_if(guard.files.begin(), guard.files.end(),
                                   [&](const ProtectedFact& known) { return known.file.path == path; });
    return fact != guard.files.end() && !tree.call.is_doubtful(fact->changed);
  };
  for (auto& tree : look.trees_) {
    for (const auto& path : guard.saved) {
      if (path != tree.root.path && is_beneath(tree.root.path, path) && is_certain(tree, path))
        tree.saved.save(tree.root, path.substr(tree.root.path.size() + 1));
    }
  }
  return look;
}

bool ProtectedLook::look(const Tree& tree, const GuardFacts& facts, const ChangeTime& since) {
  std::vector<ProtectedFact> known = facts.files;
  // What changed while another call was here may be that call's: that it was there before this one says
  // nothing.
  if (tree.call.overlaps())
    std::erase_if(known, [&](const ProtectedFact& fact) { return fact.changed >= since; });
  const LookMemory memory(state_, tree.root.fd.get());
  LookAfter after =
      look_after(tree.root, known, since, {.hidden = facts.hidden, .git = facts.git}, memory.text());
  memory.keep(after.memory);
  const Vouchers vouchers(state_, tree.root.fd.get());
  for (const auto& suspect : after.suspects) {
    if (is_allowed(facts.allowed, tree.root.path + "/" + suspect.path)) continue;
    if (vouchers.are_for(tree.root, suspect.path, since)) continue;
    auto taken = quarantine_.take(tree.root, suspect);
    if (taken.ok()) {
      add(tree, std::move(taken).value());
    } else if (after.gap.empty()) {
      after.gap = "'" + suspect.path + "' could not be moved away: " + describe(taken.error());
    }
  }
  add_gap(tree, after.gap);
  return after.gap.empty();
}

std::string ProtectedLook::named(const Tree& tree, const std::string& path) const {
  const std::string whole = tree.root.path + "/" + path;
  const bool within = !workspace_.empty() && is_beneath(workspace_, whole);
  return within ? whole.substr(workspace_.size() + 1) : whole;
}

void ProtectedLook::add(const Tree& tree, Quarantined taken) {
  taken.host_path = tree.root.path + "/" + taken.path;
  taken.path = named(tree, taken.path);
  found_.quarantined.push_back(std::move(taken));
}

void ProtectedLook::add_gap(const Tree& tree, const std::string& gap) {
  if (gap.empty() || !found_.gap.empty()) return;
  found_.gap = tree.root.path == workspace_ ? gap : "in " + tree.root.path + ": " + gap;
}

void ProtectedLook::put_back(const Tree& tree) {
  SavedMembers::PutBack done =
      tree.saved.put_back(tree.root, quarantine_, Vouchers(state_, tree.root.fd.get()));
  for (auto& taken : done.quarantined) add(tree, std::move(taken));
  for (const auto& path : done.restored) found_.restored.push_back(named(tree, path));
  add_gap(tree, done.gap);
}

ProtectedLook::Found ProtectedLook::finish(const GuardFacts& facts) {
  for (auto& tree : trees_) {
    const bool complete = look(tree, facts, tree.call.since());
    put_back(tree);
    complete ? tree.call.close() : tree.call.leave();
  }
  return std::move(found_);
}

}  // namespace cloche
