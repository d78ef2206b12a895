#include "store/protected/protected_judge.hpp"

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/git_config.hpp"
#include "policy/protected/git_config_paths.hpp"

namespace cloche {
namespace {

// Of a command's, so it may be anything.
Result<std::string> read_member(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                                size_t most) {
  const OwnedFd fd = S_ISREG(seen.st_mode) ? open_child(here.fd, member.name.c_str(), O_RDONLY) : OwnedFd();
  return fd ? sys::read_all(fd.get(), most) : Result<std::string>(system_error("read " + member.name));
}

}  // namespace

Known::Known(const std::vector<ProtectedFact>& facts) {
  for (const auto& fact : facts) {
    // One may be known in several ways: that it is read-only says most, and where it is more than that it is.
    const ProtectedFact*& known = files_[{fact.file.device, fact.file.inode}];
    if (known == nullptr || (!known->kept && !fact.file.path.empty())) known = &fact;
  }
}

const ProtectedFact* Known::find(const struct stat& seen) const {
  const auto found = files_.find({seen.st_dev, seen.st_ino});
  return found != files_.end() ? found->second : nullptr;
}

bool Known::is_at(const struct stat& seen, const std::string& path) const {
  const ProtectedFact* fact = find(seen);
  return fact != nullptr && (!S_ISDIR(seen.st_mode) || fact->file.path == path);
}

bool Known::is_unchanged(const struct stat& seen) const {
  const ProtectedFact* fact = find(seen);
  return fact != nullptr && fact->changed == change_of(seen);
}

Findings::Findings(const LookLimits& limits)
    : most_names_(limits.names),
      most_suspects_(limits.suspects),
      deadline_ms_(sys::monotonic_ms() + limits.milliseconds) {}

void Findings::gap(const std::string& what) {
  if (found_.gap.empty()) found_.gap = what;
}

void Findings::suspect(const std::string& path, std::string reason) {
  // Several ways may lead to it, and what lies in one goes with it.
  for (std::string_view at = path; !at.empty(); at = at.substr(0, at.rfind('/') + 1)) {
    if (at.back() == '/') at.remove_suffix(1);
    if (suspected_.contains(std::string(at))) return;
  }
  suspected_.insert(path);
  if (found_.suspects.size() >= most_suspects_)
    return gap("more than " + std::to_string(most_suspects_) + " protected files were made");
  found_.suspects.push_back({path, std::move(reason)});
}

bool Findings::may_go_on() {
  constexpr unsigned directories_between_looks = 128;  // at the clock, which costs as much as a directory
  if (directories_++ % directories_between_looks == 0 && sys::monotonic_ms() >= deadline_ms_)
    stop("it took too long");
  return !stopped_;
}

bool Findings::count() {
  if (++names_ > most_names_) stop("it holds more than " + std::to_string(most_names_) + " names");
  return !stopped_;
}

void Findings::stop(const std::string& why) {
  gap(why);
  stopped_ = true;
}

void MemberJudge::judge(const WalkedPlace& here, const MemberName& member, bool way_is_new) {
  judge_member(here, member, way_is_new);
  judge_all_led();
}

void MemberJudge::judge_member(const WalkedPlace& here, const MemberName& member, bool way_is_new) {
  const std::string path = joined(here.path, member.name);
  const auto seen = look_in(here.fd, member.name);
  if (!seen && errno != ENOENT)
    findings_.gap(system_error("'" + path + "' could not be looked at").what.text());
  if (!seen) return;
  if (is_out_of_reach(*seen)) {
    if (S_ISDIR(seen->st_mode)) look_inside(path, std::string(member.reason), Inside::links);
    return;
  }
  const bool is_executed = member.rule != MemberRule::inner_link;
  const bool is_as_it_was = !way_is_new && (!is_touched(*seen) || known_.is_unchanged(*seen));
  if (is_executed && S_ISLNK(seen->st_mode) && is_as_it_was)
    return judge_end(path, std::string(member.reason));
  if (known_.is_unchanged(*seen) && !way_is_new && !S_ISDIR(seen->st_mode)) return;
  switch (member.rule) {
    case MemberRule::always: return judge_always(here, member, *seen, way_is_new);
    case MemberRule::git_config: return judge_config(here, member, *seen, way_is_new);
    case MemberRule::git_remotes:
    case MemberRule::git_hooks: return judge_hooks(here, member, *seen, way_is_new);
    case MemberRule::git_todo: return judge_todo(here, member, *seen, way_is_new);
    case MemberRule::git_strategy: return judge_strategy(here, member, *seen, way_is_new);
    case MemberRule::git_link: return judge_link(here, member, *seen, way_is_new, "gitdir: ");
    case MemberRule::git_pointer: return judge_link(here, member, *seen, way_is_new, "");
    case MemberRule::inner_link: return judge_inner_link(here, member, *seen, way_is_new);
  }
}

// It was a mount point all the time, so only the host can have changed it; unless the file has a second name.
// Wherever the directory around it was moved, the mount went along. But it did not stay at the place: when
// the host put another file there, the kernel took the mount away, and the command could write to that one.
bool MemberJudge::is_out_of_reach(const struct stat& seen) const {
  if (S_ISREG(seen.st_mode) && seen.st_nlink > 1) return false;
  const ProtectedFact* same = known_.find(seen);
  return same != nullptr && same->kept;
}

void MemberJudge::judge_always(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                               bool way_is_new) {
  const std::string path = joined(here.path, member.name);
  const std::string reason(member.reason);
  if (!S_ISDIR(seen.st_mode)) {
    if (is_touched(seen) || way_is_new) findings_.suspect(path, reason);
    return;
  }
  // One that was renamed to this name holds files that are older than it.
  if (is_new(seen, path) || (way_is_new && !known_.is_at(seen, absolute(path))))
    return findings_.suspect(path, reason);
  look_inside(path, reason);
}

// In a member that was there before: what is new in it, or was changed. Directory by directory from the root:
// nothing is held, so any depth can be looked at.
void MemberJudge::look_inside(const std::string& path, const std::string& reason, Inside inside) {
  std::vector<std::string> waiting = {path};
  while (!waiting.empty() && findings_.may_go_on()) {
    const std::string next = std::move(waiting.back());
    waiting.pop_back();
    const OpenedDirectory opened = open_directory(root_fd_, next);
    if (opened.barrier == Barrier::none) {
      for (auto& name : look_in_one(opened.fd.get(), next, reason, inside))
        waiting.push_back(joined(next, name));
      continue;
    }
    const OwnedFd around = open_descendant(root_fd_, directory_of(next), O_PATH | O_DIRECTORY);
    const auto seen = around ? look_in(around.get(), last_of(next)) : std::nullopt;
    if (seen && inside == Inside::everything) judge_unread(opened, *seen, next, reason);
  }
}

// A directory that the command closed, perhaps to hide what is in it, or that nobody can read.
void MemberJudge::judge_unread(const OpenedDirectory& opened, const struct stat& seen,
                               const std::string& path, const std::string& reason) {
  if (opened.barrier == Barrier::absent) return;
  if (is_touched(seen)) return findings_.suspect(path, reason);
  if (opened.barrier == Barrier::unknown) findings_.gap(opened.describe(path));
}

// The directories in it that are to be looked in as well.
std::vector<std::string> MemberJudge::look_in_one(int fd, const std::string& path, const std::string& reason,
                                                  Inside inside) {
  std::vector<std::string> directories;
  const bool only_links = inside == Inside::links;
  const bool read = for_each_name(fd, [&](const dirent& entry) {
    const NameKind kind = kind_in(fd, entry);
    const bool is_led = kind == NameKind::link || !holds_checkouts(entry.d_name);
    if (only_links && (kind == NameKind::other || !is_led)) return findings_.count();
    const auto seen = look_in(fd, entry.d_name);
    if (!seen) return findings_.count();
    const std::string child = joined(path, entry.d_name);
    if (S_ISDIR(seen->st_mode) && (only_links || !is_new(*seen, child))) {
      directories.emplace_back(entry.d_name);
    } else if (!only_links && is_touched(*seen) && !known_.is_unchanged(*seen)) {
      findings_.suspect(child, reason);
    } else if (S_ISLNK(seen->st_mode)) {
      judge_end(child, reason);
    }
    return findings_.count();
  });
  if (!read) findings_.gap("'" + path + "' could not be read");
  return directories;
}

void MemberJudge::judge_config(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                               bool way_is_new) {
  if (!is_touched(seen) && !way_is_new) return;
  const std::string path = joined(here.path, member.name);
  const auto text = read_member(here, member, seen, max_git_config_bytes);
  if (!text.ok()) return findings_.suspect(path, std::string(member.reason));
  const auto before = way_is_new ? std::vector<std::string>() : dangers_before(here);
  if (const auto danger = danger_in_git_config(text.value(), before)) findings_.suspect(path, *danger);
}

// What the configurations of this very git directory had git run already: git rewrites them as a whole, for a
// branch that follows another.
std::vector<std::string> MemberJudge::dangers_before(const WalkedPlace& here) const {
  struct stat seen {};
  if (::fstat(here.fd, &seen) != 0) return {};
  using Kind = LeadFact::Kind;
  for (const Kind kind : {Kind::git_directory, Kind::common_part, Kind::worktree_part}) {
    const LeadFact* lead = leads_.find({absolute(here.path), kind});
    if (lead != nullptr && is_step(lead->end, absolute(here.path), seen)) return lead->dangers;
  }
  return {};
}

void MemberJudge::judge_todo(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                             bool way_is_new) {
  if (!is_touched(seen) && !way_is_new) return;
  const auto text = read_member(here, member, seen, max_rebase_todo_bytes);
  if (!text.ok() || has_exec_line(text.value()))
    findings_.suspect(joined(here.path, member.name), std::string(member.reason));
}

void MemberJudge::judge_strategy(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                                 bool way_is_new) {
  if (!is_touched(seen) && !way_is_new) return;
  constexpr size_t most_bytes = 8192;
  const auto text = read_member(here, member, seen, most_bytes);
  const auto runs = here.part == GitPart::rebase ? is_strategy_by_path : has_strategy_by_path;
  if (!text.ok() || runs(text.value()))
    findings_.suspect(joined(here.path, member.name), std::string(member.reason));
}

void MemberJudge::judge_hooks(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                              bool way_is_new) {
  const std::string path = joined(here.path, member.name);
  const std::string reason(member.reason);
  const bool all_new = way_is_new || is_new(seen, path);
  if (!S_ISDIR(seen.st_mode))
    return is_touched(seen) || way_is_new ? findings_.suspect(path, reason) : void();
  const OpenedDirectory opened = open_directory(here.fd, member.name);
  if (opened.barrier != Barrier::none) return judge_unread(opened, seen, path, reason);
  const OwnedFd& fd = opened.fd;
  const bool may_be_samples = member.rule == MemberRule::git_hooks;
  const bool read = for_each_name(fd.get(), [&](const dirent& entry) {
    const auto hook = look_in(fd.get(), entry.d_name);
    const bool sample = may_be_samples && hook && S_ISREG(hook->st_mode) && is_sample_hook(entry.d_name);
    if (hook && !sample && !known_.is_unchanged(*hook) && (all_new || is_touched(*hook)))
      findings_.suspect(joined(path, entry.d_name), reason);
    else if (hook && S_ISLNK(hook->st_mode))
      judge_end(joined(path, entry.d_name), reason);
    return findings_.count();
  });
  if (!read) findings_.gap("'" + path + "' could not be read");
}

// Wherever it leads: also what lies in the tree, or in the repository itself, is not to have git's lines in
// it.
void MemberJudge::judge_inner_link(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                                   bool way_is_new) {
  if (!is_touched(seen) && !way_is_new) return;
  if (is_symbolic_head(member.name, link_text(here.fd, member.name))) return;
  findings_.suspect(joined(here.path, member.name), std::string(member.reason));
}

// PATH after the key. Git takes config and hooks from there: in this tree they are looked at, elsewhere by
// nobody.
void MemberJudge::judge_link(const WalkedPlace& here, const MemberName& member, const struct stat& seen,
                             bool way_is_new, std::string_view key) {
  if (!is_touched(seen) && !way_is_new) return;
  const std::string path = joined(here.path, member.name);
  const auto text = read_member(here, member, seen, longest_pointer);
  const std::string target = text.ok() ? pointer_in(text.value(), key, absolute(here.path)) : "";
  if (target.empty()) return findings_.suspect(path, std::string(member.reason));
  const SymlinkTrace way = trace_symlinks(target);
  if (way.error != 0 || !is_beneath(root_, way.path)) findings_.suspect(path, std::string(member.reason));
}

}  // namespace cloche
