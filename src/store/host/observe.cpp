#include "store/host/observe.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/directory.hpp"
#include "base/sys/mount_table.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/plan/git_identity.hpp"
#include "policy/plan/system_view.hpp"
#include "policy/protected/git_config.hpp"
#include "store/config/config_paths.hpp"
#include "store/host/hidden_files.hpp"
#include "store/host/system_facts.hpp"
#include "store/host/toolchains.hpp"
#include "store/host/worktree.hpp"
#include "store/protected/git_places.hpp"
#include "store/trust/bind_mount_alias.hpp"
#include "store/trust/hard_links.hpp"

namespace cloche {
namespace {

// Masked where it really is: a secret behind a link is the same secret. What does not exist, or the caller
// cannot reach, the command cannot reach either.
void add_secret(Facts& facts, const std::string& path) {
  const auto held = sys::hold(path);
  struct stat seen {};
  if (!held.ok() || ::fstat(held.value().fd.get(), &seen) != 0) return;
  FileFact fact = fact_from(seen, held.value().path);
  if (fact.kind == FileFact::Kind::directory || fact.kind == FileFact::Kind::file)
    facts.secrets.push_back(std::move(fact));
}

std::vector<std::string> homes_of(const CallerFact& caller) {
  std::vector<std::string> homes = {"/root"};
  for (const auto& name : names_in("/home")) homes.push_back("/home/" + name);
  if (!caller.home.empty()) homes.push_back(caller.home);
  for (auto& home : homes) {
    if (const auto held = sys::hold(home); held.ok()) home = held.value().path;
  }
  std::sort(homes.begin(), homes.end());
  homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
  return homes;
}

// Whether the command can enter it. Where root calls, the command has an id of its own that owns nothing;
// else it has the caller's.
// What is closed to it shows nothing, and some runtimes cannot even mount it.
bool is_open_to_command(const FileFact& fact, const CallerFact& caller) {
  if (fact.kind != FileFact::Kind::directory) return true;
  if (!caller.privileged) return ::access(fact.path.c_str(), X_OK) == 0;
  struct stat seen {};
  return ::lstat(fact.path.c_str(), &seen) == 0 && (seen.st_mode & S_IXOTH) != 0;
}

// Everything at the root but what is private to each sandbox.
void look_at_host(Facts& facts) {
  constexpr std::string_view own[] = {"proc", "sys", "dev", "tmp", "run", "lost+found"};
  for (const auto& name : names_in("/")) {
    if (std::find(std::begin(own), std::end(own), name) != std::end(own)) continue;
    FileFact fact = look_at("/" + name);
    if (fact.kind != FileFact::Kind::other && fact.exists() && is_open_to_command(fact, facts.caller)) {
      fact.inode = 0;  // it can be remounted or upgraded at any time: what it is, not which, is judged
      facts.root.push_back(std::move(fact));
    }
  }
  for (const auto& home : homes_of(facts.caller)) {
    // Where root calls, the command has another id, to which homes are closed anyway: they are masked whole.
    if (facts.caller.privileged) {
      add_secret(facts, home);
      continue;
    }
    for (std::string_view secret : home_secrets) add_secret(facts, home + "/" + std::string(secret));
  }
}

// Where root calls, the command has another id, and nothing can be mounted behind a directory that is closed
// to it: such a directory above Cloche's own files is masked whole, as homes are. The outermost one is
// enough; a directory at the root of the host is not masked.
void mask_closed_way(Facts& facts, const FileFact& own) {
  const auto shows = [&](const FileFact& root) { return is_beneath(root.path, own.path); };
  if (!facts.caller.privileged || !own.exists()) return;
  if (std::none_of(facts.root.begin(), facts.root.end(), shows)) return;
  std::string closed;
  for (std::string_view at = parent_of(own.path); parent_of(at) != "/" && at != "/"; at = parent_of(at)) {
    struct stat seen {};
    const std::string directory(at);
    if (::lstat(directory.c_str(), &seen) == 0 && (seen.st_mode & S_IXOTH) == 0) closed = directory;
  }
  if (!closed.empty()) add_secret(facts, closed);
}

// Opens what an operator named and holds it; the fact carries the resolved path.
Result<FileFact> hold(const std::string& path, std::vector<OwnedFd>& held) {
  auto opened = sys::walk(path);
  if (!opened.ok()) {
    if (opened.error().number == ENOENT || opened.error().number == ENOTDIR) return FileFact{.path = path};
    return system_error("look at " + path, opened.error().number);
  }
  sys::Walked& found = opened.value();
  struct stat seen {};
  if (::fstat(found.fd.get(), &seen) != 0) return system_error("look at " + path);
  if (seen.st_nlink == 0 || !is_plain_absolute(found.path))
    return FileFact{.path = path};  // deleted, or elsewhere
  held.push_back(std::move(found.fd));
  FileFact fact = fact_from(seen, std::move(found.path));
  fact.turns = std::move(found.turns);
  return fact;
}

// What was judged before is what is shown: another look-up by name could find something else.
Result<FileFact> hold(const Grant& grant, std::vector<OwnedFd>& held) {
  return grant.judged ? Result<FileFact>(*grant.judged) : hold(grant.source, held);
}

// Of a directory that the call itself would make: as mkdir() would leave it.
Result<FileFact> hold_or_plan(const std::string& path, bool would_be_made, std::vector<OwnedFd>& held) {
  FileFact fact = TRY(hold(path, held));
  if (fact.exists() || !would_be_made) return fact;
  fact = {.kind = FileFact::Kind::directory, .path = look_at_place(path).path};
  fact.uid = ::geteuid();
  fact.gid = ::getegid();
  struct stat above {};
  std::string parent(parent_of(fact.path));
  while (::stat(parent.c_str(), &above) != 0 && parent.size() > 1) parent = std::string(parent_of(parent));
  if ((above.st_mode & S_ISGID) != 0) fact.gid = above.st_gid;
  fact.mount = MountCache().look(parent).mount;
  return fact;
}

bool is_on_read_only_mount(const std::string& path) {
  struct statvfs seen {};
  return ::statvfs(path.c_str(), &seen) == 0 && (seen.f_flag & ST_RDONLY) != 0;
}

void look_above(std::vector<FileFact>& above, const FileFact& own) {
  const auto is_known = [&](std::string_view path) {
    return std::any_of(above.begin(), above.end(), [&](const FileFact& fact) { return fact.path == path; });
  };
  for (std::string path = own.path; path.size() > 1;) {
    path = std::string(parent_of(path));
    if (is_known(path)) return;
    struct stat seen {};
    if (::lstat(path.c_str(), &seen) == 0) above.push_back(fact_from(seen, path));
  }
}

// Files that are judged by where they are, looked at from their directory: it is held once for all of them,
// and reached through no link.
class HeldDirectories {
 public:
  void add(const std::string& path, int fd) { held_.push_back({path, fd}); }

  // Nothing when the path has to be resolved: it is a link, or lies behind one. `path` is plain.
  std::optional<FileFact> look_below(const std::string& path) {
    const Directory* directory = find(parent_of(path));
    if (directory == nullptr) return std::nullopt;
    struct stat seen {};
    const char* const name = path.c_str() + path.rfind('/') + 1;
    if (::fstatat(directory->fd, name, &seen, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT ? std::optional(FileFact{.path = path}) : std::nullopt;
    if (S_ISLNK(seen.st_mode)) return std::nullopt;
    return fact_from(seen, path);
  }

 private:
  struct Directory {
    std::string path;
    int fd;
  };

  const Directory* find(std::string_view path) {
    for (const auto& directory : held_) {
      if (directory.path == path) return &directory;
    }
    auto opened = sys::hold(std::string(path));
    if (!opened.ok() || opened.value().path != path) return nullptr;
    owned_.push_back(std::move(opened.value().fd));
    return &held_.emplace_back(Directory{std::string(path), owned_.back().get()});
  }

  std::vector<Directory> held_;
  std::vector<OwnedFd> owned_;
};

// Nothing of it is mounted, so nothing of it has to be held.
Result<FileFact> look_at_unheld(const std::string& path, HeldDirectories& directories) {
  if (is_plain_absolute(path) && path != "/") {
    if (auto fact = directories.look_below(path)) return std::move(*fact);
  }
  std::vector<OwnedFd> passing;
  return hold(path, passing);
}

struct NamedTree {
  const FileFact* fact;
  bool writable;
};

std::vector<NamedTree> named_trees(const RunRequest& request, const Facts& facts) {
  std::vector<NamedTree> trees = {{&facts.workspace, true}};
  for (size_t i = 0; i < request.grants.size(); ++i)
    trees.push_back({&facts.grants[i], request.grants[i].writable});
  return trees;
}

// Mounts by which what is named and what is Cloche's or the operator's own are the same.
std::vector<MountAlias> look_at_aliases(const RunRequest& request, const Facts& facts, MountCache& mounts) {
  using Of = MountAlias::Of;
  using Way = MountAlias::Way;
  std::vector<std::pair<Of, const FileFact*>> all = {{Of::state, &facts.state}};
  for (const auto& fact : facts.configuration) all.emplace_back(Of::configuration, &fact);
  for (const auto& fact : facts.kept) all.emplace_back(Of::kept, &fact);
  std::vector<MountAlias> aliases;
  for (const auto& [named, writable] : named_trees(request, facts)) {
    if (!named->exists()) continue;
    for (const auto& [of, own] : all) {
      if (!own->path.starts_with('/')) continue;
      if (of == Of::state && mounts.is_mounted_from(named->path, own->path))
        aliases.push_back({of, Way::own_is_mount_of_named, named->path, writable, own->path});
      if (mounts.is_mounted_from(own->path, named->path))
        aliases.push_back({of, Way::named_is_mount_of_own, named->path, writable, own->path});
    }
  }
  return aliases;
}

void add_once(std::vector<std::string>& paths, std::string path) {
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
}

// What does not exist is left out: where Cloche needs it, the call is refused.
Result<void> look_at_parts(Facts& facts, const std::vector<std::string>& parts) {
  HeldDirectories directories;
  std::vector<std::string> named = parts;
  for (size_t at = 0; at < named.size(); ++at) {
    FileFact part = TRY(look_at_unheld(named[at], directories));
    if (!part.exists()) continue;
    // A process that can replace a link of the path decides where it leads. So the link's directory is
    // protected too, and what leads to that: then .. from there is settled as well.
    for (const auto& link : part.turns) {
      struct stat seen {};
      if (::lstat(link.c_str(), &seen) == 0 && S_ISLNK(seen.st_mode))
        add_once(named, std::string(parent_of(link)));
    }
    if (part.kind != FileFact::Kind::directory) {
      add_once(named, std::string(parent_of(part.path)));
      continue;
    }
    const auto is_it = [&](const FileFact& other) { return other.path == part.path; };
    if (std::any_of(facts.parts.begin(), facts.parts.end(), is_it)) continue;
    look_above(facts.above_parts, part);
    facts.parts.push_back(std::move(part));
  }
  return {};
}

// What lies in a directory that is known is protected with it, unless a link led there: a link can be
// replaced. In a directory that does not exist there is nothing to observe.
void look_at_configuration(Facts& facts, const std::vector<std::string>& places) {
  for (const auto& place : places) {
    const auto lacks = [&](const FileFact& known) {
      return known.kind == FileFact::Kind::absent && is_beneath(known.path, place);
    };
    if (std::any_of(facts.configuration.begin(), facts.configuration.end(), lacks)) continue;
    FileFact found = look_at_place(place);
    const auto holds = [&](const FileFact& known) { return is_beneath(known.path, found.path); };
    const bool known = std::any_of(facts.configuration.begin(), facts.configuration.end(), holds);
    if (known && found.turns.empty()) continue;
    look_above(facts.above_own, found);
    facts.configuration.push_back(std::move(found));
  }
}

}  // namespace

FileFact look_at_place(const std::string& place) {
  if (place.empty()) return {};
  std::vector<OwnedFd> passing;
  for (std::string existing = place; existing != "/"; existing = std::string(parent_of(existing))) {
    auto fact = hold(existing, passing);
    if (!fact.ok() || !fact.value().exists()) continue;
    const std::string rest = place.substr(existing.size());
    fact.value().path += rest;
    if (!rest.empty()) fact.value().kind = FileFact::Kind::absent;
    return std::move(fact).value();
  }
  return {.path = place};
}

// In the files that git takes for the user's own; of the second, and only when the first does not say it all,
// what that lacks. What cannot be read says nothing.
GitIdentity look_at_git_identity(const Environment& environment, const std::string& home) {
  const auto said_in = [](const std::string& path) {
    const auto text =
        path.empty() ? Result<std::string>(std::string()) : sys::read_file(path, max_git_config_bytes);
    return text.ok() ? identity_in(text.value()) : GitIdentity{};
  };
  if (const auto named = environment.find("GIT_CONFIG_GLOBAL")) return said_in(*named);
  if (home.empty()) return {};
  GitIdentity identity = said_in(home + "/.gitconfig");
  if (!identity.name.empty() && !identity.email.empty()) return identity;
  const auto folder = config_home(environment, home);
  return folder.ok() ? completed(std::move(identity), said_in(folder.value() + "/git/config")) : identity;
}

Result<Facts> observe_host(const RunRequest& request, const Environment& environment, CallerFact caller,
                           const OwnPlaces& own) {
  Facts facts;
  facts.caller = std::move(caller);
  facts.caller.git = look_at_git_identity(environment, facts.caller.home);
  facts.guard.git = find_git_sources(environment, facts.caller.home, own.state);
  facts.state = look_at_place(own.state);
  TRY(look_at_parts(facts, own.parts));
  look_at_configuration(facts, own.configuration);
  for (const auto& place : own.trusted) {
    for (auto& path : with_other_names(place, facts.caller.uid))
      facts.with_other_names.push_back(std::move(path));
  }
  if (request.view == View::host) {
    look_at_host(facts);
    mask_closed_way(facts, facts.state);
    for (const auto& place : facts.configuration) mask_closed_way(facts, place);
  } else {
    look_at_system(facts, own.state);
  }
  const ToolchainQuery query{request.toolchains, facts.caller.home, facts.caller.path,
                             [&environment](std::string_view name) { return environment.get(name); }};
  facts.toolchains = TRY(find_toolchains(query));
  return facts;
}

namespace {

// All that a plan could make writable.
std::vector<std::string> trees_of(const Facts& facts) {
  std::vector<std::string> trees = {facts.workspace.path};
  for (const auto* list : {&facts.grants, &facts.own, &facts.git_written}) {
    for (const auto& fact : *list) trees.push_back(fact.path);
  }
  if (facts.git_common) trees.push_back(facts.git_common->path);
  return trees;
}

}  // namespace

Result<Observation> observe_named(const RunRequest& request, Facts host) {
  Observation seen{std::move(host), {}};
  Facts& facts = seen.facts;
  const bool plans_workspace = request.explained && request.workspace_of_run;
  facts.workspace = TRY(hold_or_plan(request.workspace.value_or("."), plans_workspace, seen.held));
  for (const auto& grant : request.grants) facts.grants.push_back(TRY(hold(grant, seen.held)));
  for (const auto& path : request.live_paths) {
    FileFact there = look_at_place(facts.workspace.path + "/" + path);
    const bool is_meant = there.kind == FileFact::Kind::directory && there.path.ends_with("/" + path);
    if (is_meant && is_beneath(facts.workspace.path, there.path)) facts.live.push_back(std::move(there));
  }
  for (const auto& grant : request.own)
    facts.own.push_back(TRY(hold_or_plan(grant.source, request.explained && grant.writable, seen.held)));
  if (request.network == Network::of_host) {
    facts.hosts_file = TRY(hold("/etc/hosts", seen.held));
    facts.resolver_file = TRY(hold("/etc/resolv.conf", seen.held));
  }
  HeldDirectories directories;
  if (facts.workspace.kind == FileFact::Kind::directory && facts.workspace.inode != 0) {
    directories.add(facts.workspace.path, seen.held.front().get());
    auto config = directories.look_below(facts.workspace.path + "/.cloche");
    if (config && config->kind == FileFact::Kind::directory) facts.project_config = std::move(*config);
    const auto git = directories.look_below(facts.workspace.path + "/.git");
    auto worktree =
        git && git->kind == FileFact::Kind::file ? find_worktree_git(facts.workspace) : std::nullopt;
    if (worktree) {
      facts.git_common = std::move(worktree->common);
      facts.git_written = std::move(worktree->written);
    }
  }
  for (const auto& path : request.hidden) {
    FileFact own = TRY(look_at_unheld(path, directories));
    if (!own.exists() && plans_workspace && is_beneath(facts.workspace.path, path))
      own = {.kind = FileFact::Kind::directory, .path = path};  // the transcripts
    facts.hidden.push_back(std::move(own));
  }
  for (const auto& own : facts.hidden) look_above(facts.above_own, own);
  if (request.view == View::host)
    for (const auto& own : facts.hidden) mask_closed_way(facts, own);
  for (const auto& path : request.kept) {
    facts.kept.push_back(look_at_place(path));
    look_above(facts.above_own, facts.kept.back());
  }
  look_above(facts.above_own, facts.state);
  look_above(facts.above_own, facts.project_config);
  MountCache mounts;
  const auto look_at_mount = [&](FileFact& tree) {
    tree.mount = mounts.look(tree.path).mount;
    tree.mount_is_read_only = is_on_read_only_mount(tree.path);
  };
  if (facts.workspace.inode != 0) look_at_mount(facts.workspace);
  for (auto& grant : facts.grants) look_at_mount(grant);
  if (facts.git_common) look_at_mount(*facts.git_common);
  for (auto& place : facts.git_written) look_at_mount(place);
  if (!request.hide.empty()) {
    std::vector<FileFact> trees = facts.grants;
    trees.insert(trees.begin(), facts.workspace);
    facts.hide = TRY(find_hidden(request.hide, trees, {.apart = facts.state.path}));
    for (const auto& hidden : facts.hide.found) look_above(facts.above_own, hidden);
  }
  facts.mount_aliases = look_at_aliases(request, facts, mounts);
  facts.with_other_names = that_could_lie_in(trees_of(facts), std::move(facts.with_other_names));
  return seen;
}

Result<Observation> observe(const RunRequest& request, const Environment& environment, CallerFact caller,
                            const OwnPlaces& own) {
  return observe_named(request, TRY(observe_host(request, environment, std::move(caller), own)));
}

Result<std::vector<std::string>> mount_points() {
  const auto table = mount_table();
  if (!table) return system_error("read the mount table");
  std::vector<std::string> points;
  for (const auto& mount : *table) points.push_back(mount.point);
  return points;
}

Result<void> observe_mounts_below(Facts& facts) {
  for (const auto& point : TRY(mount_points())) {
    FileFact fact = look_at(point);
    fact.path = point;
    if (!fact.exists())
      fact.kind = FileFact::Kind::directory;  // not ours to look at: a mount point all the same
    facts.mounts_below.push_back(std::move(fact));
  }
  return {};
}

}  // namespace cloche
