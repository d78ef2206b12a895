#include "gateway/protected/protected_look.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/protected_trees.hpp"
#include "store/protected/file_system_times.hpp"
#include "store/protected/look_memory.hpp"
#include "store/protected/member_contents.hpp"
#include "store/protected/member_files.hpp"
#include "store/sealed/leftovers.hpp"

namespace cloche {
namespace {

// Of its own for each call: a name that sorts by time.
std::string quarantine_for(const std::string& named, const std::string& state) {
  if (!named.empty()) return named;
  if (state.empty()) return {};
  return state + "/quarantine/" + std::to_string(::time(nullptr)) + "-" + std::to_string(::getpid());
}

// What would be a mount, were there any. By a look of its own: since the one for the plan another call may
// have put something back.
void save_members(SavedMembers& saved, const HeldRoot& root, const GuardFacts& guard, const OpenCall& call) {
  if (guard.mounts) return;
  TreeFacts found;
  std::vector<OwnedFd> held;
  if (!look_before(root.path, {guard.hidden, guard.git, {}, {}}, found, held).ok()) return;
  // What another call may have made is not what anything is put back to.
  const auto is_certain = [&](const ChangeTime& changed) { return !call.is_doubtful(changed); };
  for (const auto& fact : found.files) {
    const std::string& path = fact.file.path;
    if (!fact.kept || path == root.path || meets_allowed(guard.allowed, path)) continue;
    saved.save(root, path.substr(root.path.size() + 1), is_certain);
  }
}

}  // namespace

Result<ProtectedLook> ProtectedLook::begin(const Facts& facts, const std::string& quarantine,
                                           const std::string& state, Afterwards afterwards) {
  const std::string& workspace = facts.workspace.path;
  ProtectedLook look(quarantine_for(quarantine, state), state, workspace);
  const GuardFacts& guard = facts.guard;
  const ChangeTime now = change_time_now();
  for (const auto& path : guard.roots) {
    HeldRoot root{path, TRY(sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))};
    const auto save = [&](SavedMembers& saved, const OpenCall& call) {
      save_members(saved, root, guard, call);
    };
    const bool goes = path == workspace && afterwards == Afterwards::nobody_comes;
    OpenCall call = OpenCall::begin(goes ? "" : state, root.fd.get(), now,
                                    {guard.files, guard.leads, guard.is_complete}, save);
    const bool compares = !stamps_mapped_writes(file_system_type(root.fd.get()));
    look.trees_.push_back({std::move(root), std::move(call), compares});
  }
  for (auto& tree : look.trees_) {
    if (tree.call.abandoned()) look.make_up_for_abandoned(tree, guard);
    if (tree.compares) look.learn_contents(tree, guard);
  }
  return look;
}

void ProtectedLook::make_up_for_abandoned(Tree& tree, const GuardFacts& guard) {
  const GuardFacts then{.allowed = guard.allowed,
                        .files = tree.call.known_to_abandoned(),
                        .hidden = guard.hidden,
                        .git = guard.git};
  const SavedMembers& saved = tree.call.saved_by_abandoned();
  const Digests& digests = tree.call.digests_of_abandoned();
  has_made_up_ = true;
  const bool complete = look(
      tree, then,
      {*tree.call.abandoned(), saved, tree.call.leads_of_abandoned(), digests.empty() ? nullptr : &digests});
  put_back(tree, saved, guard, Places::empty);
  // Of what else has changed since then nobody knows what it was.
  if (!guard.mounts) tree.call.add_saved(saved.unchanged(tree.root));
  if (complete) tree.call.forget_abandoned();
  clear_leftovers(state_);
}

// Before the command, so that what it changed without a trace is seen.
void ProtectedLook::learn_contents(Tree& tree, const GuardFacts& guard) {
  const LookMemory memory(state_, tree.root.fd.get());
  const Contents found = contents_of_members(tree.root, {guard.files, tree.call.leads().facts},
                                             {.hidden = guard.hidden, .git = guard.git}, memory.text());
  memory.keep(found.memory);
  tree.before_gap = found.gap;
  tree.call.add_digests(found.digests);
}

// As it was before every call that is in this tree, or put back by one: nobody's doing.
bool ProtectedLook::is_as_before(const Tree& tree, const Suspect& suspect, const Before& before) const {
  const Vouchers vouchers(state_, tree.root.fd.get());
  const auto is_so = [&](const std::string& path, const struct stat& seen, const std::string& content) {
    return before.saved.has(path, seen, content) || vouchers.is_for(path, seen, content, before.since);
  };
  return every_file_is(tree.root, suspect.path, is_so);
}

LookAfter ProtectedLook::find_suspects(const Tree& tree, const GuardFacts& facts,
                                       const Before& before) const {
  TreeFacts known{facts.files, before.leads.facts, before.leads.are_all};
  // What changed while another call was here may be that call's: that it was there before this one says
  // nothing, unless it was read-only to both.
  const auto may_be_anothers = [&](const ProtectedFact& fact) {
    return fact.changed >= before.since && !(fact.kept && tree.call.is_kept_by_others(fact.file.path));
  };
  if (tree.call.overlaps()) std::erase_if(known.files, may_be_anothers);
  const LookMemory memory(state_, tree.root.fd.get());
  const LookLimits limits{.hidden = facts.hidden, .git = facts.git};
  LookAfter after = look_after(tree.root, known, before.since, limits, memory.text());
  memory.keep(after.memory);
  if (after.gap.empty()) memory.keep_leads(after.leads);
  if (before.digests == nullptr) return after;
  const Contents now =
      contents_of_members(tree.root, {facts.files, before.leads.facts}, limits, after.memory);
  add_suspects(after.suspects, changed_since(*before.digests, now));
  for (const std::string& gap : {tree.before_gap, now.gap}) {
    if (after.gap.empty()) after.gap = gap;
  }
  return after;
}

bool ProtectedLook::look(const Tree& tree, const GuardFacts& facts, const Before& before) {
  LookAfter after = find_suspects(tree, facts, before);
  for (const auto& suspect : after.suspects) {
    if (is_allowed(facts.allowed, tree.root.path + "/" + suspect.path)) continue;
    if (is_as_before(tree, suspect, before)) continue;
    auto taken = quarantine_.take(tree.root, suspect);
    if (taken.ok()) {
      if (taken.value()) add(tree, std::move(*taken.value()));
    } else if (after.gap.empty()) {
      after.gap = "'" + suspect.path + "' could not be moved away: " + describe(taken.error());
    }
  }
  add_gap(tree, after.gap);
  return after.gap.empty();
}

void ProtectedLook::let_go_of_doubtful(GuardFacts& guard) const {
  for (const auto& tree : trees_) {
    for (auto& fact : guard.files) {
      if (is_beneath(tree.root.path, fact.file.path) && fact.changed >= tree.call.since()) fact.kept = false;
    }
  }
}

bool has_lost_a_member(const GuardFacts& guard) {
  return std::any_of(guard.files.begin(), guard.files.end(), [](const ProtectedFact& fact) {
    struct stat now {};
    return fact.kept && (::lstat(fact.file.path.c_str(), &now) != 0 || now.st_dev != fact.file.device ||
                         now.st_ino != fact.file.inode);
  });
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

void ProtectedLook::put_back(const Tree& tree, const SavedMembers& saved, const GuardFacts& facts,
                             Places places) {
  // Another call, for which it is not allowed, may have copied it.
  const SavedMembers due = saved.without(
      [&](const std::string& path) { return is_allowed(facts.allowed, tree.root.path + "/" + path); });
  SavedMembers::PutBack done =
      due.put_back(tree.root, quarantine_, Vouchers(state_, tree.root.fd.get()), places);
  for (auto& taken : done.quarantined) add(tree, std::move(taken));
  for (const auto& path : done.restored) found_.restored.push_back(named(tree, path));
  add_gap(tree, done.gap);
}

ProtectedLook::Found ProtectedLook::finish(const GuardFacts& facts) {
  for (auto& tree : trees_) {
    const SavedMembers& saved = tree.call.saved();
    const Digests* digests = tree.compares ? &tree.call.digests() : nullptr;
    const bool complete = look(tree, facts, {tree.call.since(), saved, tree.call.leads(), digests});
    put_back(tree, saved, facts, Places::all);
    complete ? tree.call.close() : tree.call.leave();
  }
  return std::move(found_);
}

}  // namespace cloche
