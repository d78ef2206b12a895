#include "store/config/skill_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "base/text/sha256.hpp"
#include "policy/authority/declared_files.hpp"
#include "policy/authority/path_trust.hpp"
#include "store/host/system_facts.hpp"
#include "store/record/run_place.hpp"
#include "store/trust/bind_mount_alias.hpp"
#include "store/trust/trusted_file.hpp"
#include "store/workspace/open_beneath.hpp"
#include "tools/commands/executor.hpp"
#include "tools/skill.hpp"

namespace cloche {
namespace {

constexpr const char* manifest_name = "manifest.json";

struct OpenFile {
  std::string text = {};
  std::string resolved = {};  // where the file that was read is
};

// Not through a link that is the file itself, not a pipe or a device, and never waiting.
Result<OpenFile> read_declaration(const std::string& path, size_t most) {
  DeclarationFact fact{.path = path, .kind = FileFact::Kind::link};
  const auto fd = sys::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (!fd.ok() && fd.error().number != ELOOP) return fd.error();
  if (fd.ok()) {
    struct stat seen {};
    if (::fstat(fd.value().get(), &seen) != 0) return system_error("look at " + path);
    fact.kind = fact_from(seen, path).kind;
    fact.bytes = static_cast<uint64_t>(seen.st_size);
    fact.resolved = TRY(sys::path_of(fd.value().get()));
    if (!is_plain_absolute(fact.resolved)) fact.resolved.clear();
  }
  TRY(judge_declaration(fact, most));
  return OpenFile{TRY(sys::read_all(fd.value().get(), most)), std::move(fact.resolved)};
}

std::string child_of(const std::string& directory, const std::string& name) {
  return (directory == "/" ? "" : directory) + "/" + name;
}

// Also where the caller may not look.
bool may_exist(const std::string& path) {
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

// In the workspace of a run, which the calls of that run can write to. A run is known by the files of its
// record.
bool is_in_artifacts(const std::string& path) {
  for (std::string_view at = path; at != "/"; at = parent_of(at)) {
    if (!at.ends_with("/artifacts")) continue;
    const std::string run(parent_of(at));
    if (may_exist(child_of(run, audit_name)) && may_exist(child_of(run, lock_name))) return true;
  }
  return false;
}

bool is_writable_place(const std::string& path, const SessionPlaces& places) {
  if (!places.workspace.empty() && lies_in(places.workspace, path)) return true;
  return is_beneath_any(places.writable_roots, path) || is_in_artifacts(path);
}

// Whether a call could decide what a path leads to. Where the path leads nowhere, it could.
bool passes_writable(const std::string& path, const SessionPlaces& places) {
  MountCache mounts;
  const PassedPaths passed = paths_passed(path, mounts);
  return passed.error || passed.absent ||
         std::any_of(passed.paths.begin(), passed.paths.end(),
                     [&](const std::string& one) { return is_writable_place(one, places); });
}

// A home that is a repository of its own (dot files) does not make everything in it a project.
bool is_in_project(const std::string& path, const std::string& home) {
  for (std::string_view at = parent_of(path); at != "/" && at != home; at = parent_of(at)) {
    const std::string directory(at);
    if (may_exist(child_of(directory, ".git")) || may_exist(child_of(directory, ".cloche"))) return true;
  }
  return false;
}

Result<std::string> absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  const auto here = sys::read_link("/proc/self/cwd");
  if (!here.ok()) return here.error();
  return child_of(here.value(), path);
}

Result<FileFact> fact_of(int fd, const std::string& path) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return system_error("look at " + path);
  return fact_from(seen, path);
}

// What the path leads to, with the links on the way; absent where it cannot be opened.
FileFact look_along(const std::string& path) {
  auto walked = sys::walk(path);
  struct stat seen {};
  if (!walked.ok() || ::fstat(walked.value().fd.get(), &seen) != 0) return {.path = path};
  FileFact fact = fact_from(seen, path);
  fact.turns = std::move(walked.value().turns);
  return fact;
}

// Held before anything in it is judged: check_unchanged() compares with it when all is judged.
Result<void> hold_folder(Executor& executor) {
  auto found = TRY(sys::walk(executor.folder));
  executor.folder_fact = TRY(fact_of(found.fd.get(), executor.folder));
  executor.folder_fact.turns = std::move(found.turns);
  TRY(judge_executor_folder(executor.folder_fact));
  executor.held = std::make_shared<const OwnedFd>(std::move(found.fd));
  return {};
}

// By the path that was asked for and by what was opened: a link may have been replaced in between.
Result<Trust> trust_of_read(const std::string& path, const OpenFile& file, const SessionPlaces& places) {
  const std::string asked = TRY(absolute(path));
  return trust_of(asked, places) == Trust::operators ? trust_of(file.resolved, places) : Trust::project;
}

// In the order of their names, so that two loads give the same list.
std::vector<std::string> manifests_in(const std::string& directory) {
  std::vector<std::string> paths;
  if (const auto own = child_of(directory, manifest_name); may_exist(own)) paths.push_back(own);
  for (const auto& name : names_in(directory))
    if (const auto path = child_of(child_of(directory, name), manifest_name); may_exist(path))
      paths.push_back(path);
  return paths;
}

}  // namespace

Trust trust_of(const std::string& path, const SessionPlaces& places) {
  const auto held = sys::hold(path);
  if (!held.ok()) return Trust::project;
  const std::string& resolved = held.value().path;
  struct stat seen {};
  // Another name of the same file may lie anywhere.
  if (::fstat(held.value().fd.get(), &seen) != 0 || (S_ISREG(seen.st_mode) && seen.st_nlink != 1))
    return Trust::project;
  if (is_writable_place(resolved, places) || passes_writable(path, places)) return Trust::project;
  if (is_in_project(resolved, places.home)) return Trust::project;
  return is_ours_alone(resolved) && is_ours_alone(path) ? Trust::operators : Trust::project;
}

Result<Skill> load_skill(const std::string& path, const SessionPlaces& places) {
  const OpenFile file = TRY(read_declaration(path, max_skill_bytes));
  const Trust trust = TRY(trust_of_read(path, file, places));
  Skill skill = TRY(read_skill(file.text, path, trust));
  skill.source = file.resolved;  // what authority_of compares with what the skill would write to
  return skill;
}

Result<Executor> load_executor(const std::string& path, const SessionPlaces& places) {
  const OpenFile file = TRY(read_declaration(path, max_manifest_bytes));
  const std::string folder(parent_of(file.resolved));
  const Trust trust = TRY(trust_of_read(path, file, places));
  Executor executor = TRY(read_executor(file.text, path, folder, trust));
  TRY(hold_folder(executor));
  TRY(judge_executor_code(executor, look_along(executor.code)));
  // A manifest is worth no more than the program that it describes.
  if (trust_of(executor.code, places) == Trust::project) executor.trust = Trust::project;
  TRY(check_unchanged(executor));
  return executor;
}

Result<std::vector<Executor>> load_executors(const std::string& directory, const SessionPlaces& places) {
  struct stat seen {};
  if (::stat(directory.c_str(), &seen) != 0) return system_error("look at the executors in " + directory);
  TRY(judge_executors_directory(fact_from(seen, directory)));
  if (::access(directory.c_str(), R_OK | X_OK) != 0)
    return system_error("list the executors in " + directory);
  std::vector<Executor> executors;
  for (const auto& path : manifests_in(directory)) {
    executors.push_back(TRY(load_executor(path, places)));
    TRY(judge_executor_names(executors));
  }
  return executors;
}

Result<void> check_unchanged(const Executor& executor) {
  return judge_unchanged(executor, look_along(executor.folder));
}

Result<std::string> digest_of_code(const Executor& executor) {
  constexpr size_t most = 64 << 20;
  const std::string name = executor.code.substr(executor.folder.size() + 1);
  const OwnedFd code =
      TRY(open_beneath(executor.held->get(), name, O_RDONLY, Links::refused, shown(executor.code)));
  return "sha256:" + sha256(TRY(sys::read_all(code.get(), most)));
}

Result<std::optional<Grant>> settle_grant(Grant grant, const HostPaths& names, std::vector<OwnedFd>& held) {
  auto found = sys::walk(grant.source);
  if (!found.ok() && (found.error().number == ENOENT || found.error().number == ENOTDIR))
    return std::optional<Grant>();
  if (!found.ok()) return found.error();
  sys::Walked& walked = found.value();
  FileFact fact = TRY(fact_of(walked.fd.get(), walked.path));
  fact.turns = std::move(walked.turns);
  if (fact.path != grant.source) TRY(judge_resolved(grant.source, fact.path, names));
  TRY(judge_symlinks_crossed(shown(grant.source), fact, grant.writable, names.written));
  if (fact.path != grant.source) {
    const bool inside = !names.workspace.empty() && is_beneath(names.workspace, fact.path);
    if (grant.writable && !inside) TRY(judge_written_path(fact.path, names));
    grant.target = std::exchange(grant.source, fact.path);
  }
  held.push_back(std::move(walked.fd));
  grant.judged = std::move(fact);
  return std::optional(std::move(grant));
}

Result<Settled> settle_grants(Authority authority, const HostPaths& names) {
  Settled settled{std::move(authority), {}};
  std::vector<Grant> present;
  for (auto& grant : settled.authority.grants) {
    const std::string declared = grant.source;
    auto one = TRY(settle_grant(std::move(grant), names, settled.held));
    if (one) {
      present.push_back(std::move(*one));
    } else {
      settled.authority.notes.push_back(shown(declared) + " is not there and is left out");
    }
  }
  settled.authority.grants = std::move(present);
  return settled;
}

}  // namespace cloche
