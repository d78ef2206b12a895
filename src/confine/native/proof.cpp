#include "confine/native/proof.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

struct Check {
  LayerId layer;
  std::string_view name;
};

constexpr std::string_view sys_check = "no-sys";

// Which check stands for which promise. A layer whose check is missing from a report is not proven.
constexpr Check checks[] = {
    {LayerId::user_ids, "not-root"},
    {LayerId::user_ids, "no-setuid"},
    {LayerId::user_ids, "one-id-mapped"},
    {LayerId::user_ids, "namespace-user"},
    {LayerId::mount_view, "namespace-mnt"},
    {LayerId::mount_view, "root-is-sealed"},
    {LayerId::mount_view, "usr-is-sealed"},
    {LayerId::mount_view, sys_check},
    {LayerId::mount_view, "proc-is-sealed"},
    {LayerId::mount_view, "nothing-above-root"},
    {LayerId::mount_view, "usr-is-readable"},
    {LayerId::mount_view, "three-descriptors"},
    {LayerId::pid_namespace, "namespace-pid"},
    {LayerId::pid_namespace, "second-process"},
    {LayerId::pid_namespace, "first-is-closed"},
    {LayerId::pid_namespace, "own-session"},
    {LayerId::pid_namespace, "fork-works"},
    {LayerId::net_namespace, "namespace-net"},
    {LayerId::net_namespace, "no-route"},
    {LayerId::net_namespace, "loopback-works"},
    {LayerId::ipc_namespace, "namespace-ipc"},
    {LayerId::uts_namespace, "namespace-uts"},
    {LayerId::uts_namespace, "own-host-name"},
    {LayerId::cgroup_namespace, "namespace-cgroup"},
    {LayerId::syscall_filter, "filter-installed"},
    {LayerId::syscall_filter, "no-unshare"},
    {LayerId::syscall_filter, "no-mount"},
    {LayerId::syscall_filter, "no-bpf"},
    {LayerId::syscall_filter, "no-io-uring"},
    {LayerId::syscall_filter, "no-clone3"},
    {LayerId::syscall_filter, "no-x32"},
    {LayerId::syscall_filter, "unknown-call"},
    {LayerId::syscall_filter, "no-vsock"},
    {LayerId::syscall_filter, "no-set-uid-bit"},
    {LayerId::landlock, "landlock-denies"},
    {LayerId::landlock, "landlock-allows"},
    {LayerId::no_new_privileges, "no-new-privileges"},
    {LayerId::no_capabilities, "no-capabilities-permitted"},
    {LayerId::no_capabilities, "no-capabilities-effective"},
    {LayerId::no_capabilities, "no-capabilities-bounding"},
    {LayerId::no_capabilities, "no-capabilities-ambient"},
    {LayerId::no_capabilities, "securebits-locked"},
    {LayerId::session_keyring, "no-keyctl"},
    {LayerId::process_limit, "process-limit"},
    {LayerId::memory_limit, "memory-held"},
};

// What one backend does by other means than the sandbox, so that a check of the sandbox has no meaning there.
struct Excuse {
  Backend backend;
  std::string_view check;
  std::string_view why;
  std::string_view instead = {};  // what the probe sees there; nothing: it need not look
};
constexpr Excuse excuses[] = {
    {Backend::subprocess, "securebits-locked",
     "an ordinary user may not; no_new_privs keeps exec from giving any"},
    {Backend::subprocess, "no-capabilities-bounding", "the same"},
    {Backend::subprocess, "process-limit", "counts the user's other processes along"},
    {Backend::bwrap, "securebits-locked", "bubblewrap has given up the right to; no_new_privs holds"},
    {Backend::crun, "securebits-locked", "the runtime has given up the right to; no_new_privs holds"},
    {Backend::runc, "securebits-locked", "the same"},
    {Backend::runsc, "securebits-locked", "the same"},
    {Backend::crun, "proc-is-sealed", "the jail writes its id map there; Landlock seals it", "EACCES"},
    {Backend::runc, "proc-is-sealed", "the same", "EACCES"},
    {Backend::runsc, "namespace-mnt", "its kernel is its own, and shows no name for it"},
    {Backend::runsc, "namespace-ipc", "the same"},
    {Backend::runsc, "namespace-uts", "the same"},
    {Backend::runsc, "no-new-privileges", "set, and not shown in status there"},
    {Backend::runsc, "no-capabilities-ambient", "its kernel has no such set"},
    {Backend::runsc, "usr-is-sealed", "the sentry looks at the owner first", "EACCES"},
    {Backend::runsc, sys_check, "the sentry's own, of its own kernel"},
    {Backend::runsc, "proc-is-sealed", "the same"},
    {Backend::runsc, "first-is-closed", "it has the environment of the command itself, and nothing else"},
    {Backend::runsc, "no-route", "how its network says it", "EHOSTUNREACH"},
};

const Excuse* excuse_for(const ProofTerms& terms, const Check& check) {
  const auto* found = std::find_if(std::begin(excuses), std::end(excuses), [&](const Excuse& excuse) {
    return excuse.backend == terms.backend && excuse.check == check.name;
  });
  return found != std::end(excuses) ? found : nullptr;
}

bool is_offered(const ProofTerms& terms, LayerId layer) {
  return std::find(terms.layers.begin(), terms.layers.end(), layer) != terms.layers.end();
}

constexpr uint64_t memory_held_bytes = 4ULL << 20;  // by the probe, for long enough to be counted

struct Line {
  std::string name;
  std::string word;  // ok, BROKEN, or seen
  std::string detail;
};

std::map<std::string, Line> lines_of(const std::string& report) {
  std::map<std::string, Line> lines;
  size_t begin = 0;
  while (begin < report.size()) {
    const size_t end = std::min(report.find('\n', begin), report.size());
    const std::string text = report.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = text.find(' ');
    const size_t second = text.find(' ', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    lines[text.substr(0, first)] = {text.substr(0, first), text.substr(first + 1, second - first - 1),
                                    text.substr(second + 1)};
  }
  return lines;
}

Error not_kept(LayerId layer, const std::string& why) {
  const std::string name(name_of(layer));
  return {Cause::missing_layer, "missing layer " + name + ": " + why, 0,
          "the levels that hold here are in cloche doctor: choose one with --isolation", layer};
}

// What the probe could only show, judged here.
bool holds(const Line& line, const std::map<std::string, std::string>& outside, const Limits& limits) {
  if (line.word != "seen") return line.word == "ok";
  if (line.name.starts_with("namespace-")) {
    const auto ours = outside.find(line.name.substr(10));
    return ours != outside.end() && !ours->second.empty() && ours->second != line.detail;
  }
  if (line.name == "process-limit") {
    uint64_t seen = 0;
    const char* end = line.detail.data() + line.detail.size();
    const auto [at, problem] = std::from_chars(line.detail.data(), end, seen);
    return problem == std::errc{} && at == end && seen > 0 &&
           seen <= limits.processes + 2;  // the first process, and behind a cgroup's
  }
  return false;
}

void add_file_identity(Sha256& hash, const std::string& path) {
  struct stat seen {};
  if (::stat(path.c_str(), &seen) != 0) seen = {};
  const uint64_t identity[] = {seen.st_dev,
                               seen.st_ino,
                               static_cast<uint64_t>(seen.st_size),
                               static_cast<uint64_t>(seen.st_mtim.tv_sec),
                               static_cast<uint64_t>(seen.st_mtim.tv_nsec),
                               static_cast<uint64_t>(seen.st_ctim.tv_sec),
                               static_cast<uint64_t>(seen.st_ctim.tv_nsec)};
  hash.add({reinterpret_cast<const char*>(identity), sizeof identity});
}

std::string file_for(const std::string& state, const std::string& key) { return state + "/proofs/" + key; }

}  // namespace

bool shows_sys(const ConfinementPlan& plan) {
  return std::any_of(plan.view.begin(), plan.view.end(), [](const ViewEntry& entry) {
    return entry.access != Access::none &&
           (entry.target == "/sys" || is_beneath("/sys/kernel", entry.target));
  });
}

Result<std::string> proof_key(const ConfinementPlan& plan, const LaunchSpec& spec, const std::string& jail,
                              const std::string& probe) {
  Sha256 hash;
  hash.add(TRY(sys::read_small_file("/proc/sys/kernel/random/boot_id")));
  // Their content by proxy: a user who can keep every one of these numbers while changing a file is root
  // already, and hashing a megabyte on each call would cost more than the call.
  add_file_identity(hash, jail);
  add_file_identity(hash, probe);
  hash.add(name_of(plan.level)).add(name_of(spec.backend)).add(plan.debugging ? "debugging" : "");
  hash.add(spec.pooled ? "pooled" : "");  // another way to the same layers
  // What was not asked is not proven for a plan that differs by it alone.
  hash.add(shows_sys(plan) ? "sys" : "");
  for (const auto& layer : spec.layers) hash.add(name_of(layer.id)).add("=").add(layer.by).add("\n");
  // Of an operator's own trees the kinds and accesses matter, not which trees they are nor how many: a
  // project with one protected file more is no other shape.
  std::set<std::string> said;
  for (const auto& entry : plan.view) {
    const std::string line = std::string(name_of(entry.kind)) + std::string(name_of(entry.access)) +
                             (entry.owned ? "owned" : entry.target) + (entry.layered ? "layered" : "") + "\n";
    if (said.insert(line).second) hash.add(line);
  }
  return hash.finish();
}

Result<ConfinementPlan> proof_plan(const ConfinementPlan& plan, const std::string& probe, unsigned hold_ms,
                                   Backend backend) {
  struct stat seen {};
  if (::stat(probe.c_str(), &seen) != 0) {
    Error error = system_error("find " + probe);
    error.fix = "cloche-probe belongs beside cloche: build or install both";
    return error;
  }
  ConfinementPlan proof = plan;
  for (auto& entry : proof.view) {
    if (entry.kind == EntryKind::tree) entry.size_bytes = 0;  // how full a task's home is proves nothing
  }
  const std::string place = backend == Backend::subprocess ? probe : "/.cloche/probe";
  proof.secrets.clear();  // for the command alone
  proof.argv = {place, std::to_string(hold_ms), "/.cloche/canary"};
  proof.terminal = false;
  proof.directory = "/";
  proof.limits = Limits{};  // the command's own may be too small for a probe; they are no part of a shape
  proof.limits.wall_ms = std::min<uint64_t>(20'000, std::max<uint64_t>(2'000, plan.limits.wall_ms));
  ViewEntry program{.kind = EntryKind::tree, .access = Access::run, .target = place, .source = probe};
  program.owned = true;
  program.file = true;
  program.owner_uid = seen.st_uid;
  program.owner_gid = seen.st_gid;
  program.why = "the probe itself";
  ViewEntry canary{
      .kind = EntryKind::text, .target = "/.cloche/canary", .content = "only Landlock denies this\n"};
  canary.mode = 0444;
  canary.why = "a file that only Landlock denies";
  proof.view.push_back(std::move(program));
  proof.view.push_back(std::move(canary));
  return proof;
}

std::map<std::string, std::string> own_namespaces() {
  std::map<std::string, std::string> names;
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    std::array<char, 64> link{};
    const std::string path = std::string("/proc/self/ns/") + name;
    if (::readlink(path.c_str(), link.data(), link.size() - 1) > 0) names[name] = link.data();
  }
  return names;
}

Result<Proof> judge_proof(const std::string& report, const std::map<std::string, std::string>& outside,
                          const Limits& limits, uint64_t memory_seen_bytes, const ProofTerms& terms) {
  const auto lines = lines_of(report);
  if (memory_seen_bytes < memory_held_bytes) {
    return not_kept(LayerId::memory_limit, "the probe held " + show_size(memory_held_bytes) + " and only " +
                                               show_size(memory_seen_bytes) + " were counted");
  }
  Proof proof;
  for (const auto& check : checks) {
    const Excuse* excuse = excuse_for(terms, check);
    if (!is_offered(terms, check.layer) || (excuse != nullptr && excuse->instead.empty())) continue;
    if (terms.sys_is_shown && check.name == sys_check) continue;
    const auto line = lines.find(std::string(check.name));
    const bool held = line != lines.end() && (excuse != nullptr ? line->second.detail == excuse->instead
                                                                : holds(line->second, outside, limits));
    if (!held) {
      const std::string saw =
          line == lines.end() ? "no answer" : line->second.word + " " + line->second.detail;
      return not_kept(check.layer, "it is configured and does not hold (check " + std::string(check.name) +
                                       ": " + saw + ")");
    }
    std::string& list = proof.by_layer[check.layer];
    list += (list.empty() ? "" : " ") + std::string(check.name);
  }
  if (lines.find("finished") == lines.end())
    return Error{Cause::internal, "the self-proof did not finish", 0, {}};
  proof.report = report;
  proof.digest = "sha256:" + sha256(report);
  return proof;
}

// Its digest on a line of its own, so that it is not computed again for every call.
Result<Proof> load_proof(const std::string& state, const std::string& key) {
  if (state.empty()) return system_error("find a proof", ENOENT);
  const std::string kept = TRY(read_private_file(file_for(state, key), 1 << 16));
  const size_t line = kept.find('\n');
  if (line == std::string::npos || !kept.starts_with("sha256:")) return system_error("read a proof", EBADMSG);
  return Proof{.digest = kept.substr(0, line), .report = kept.substr(line + 1), .by_layer = {}};
}

void store_proof(const std::string& state, const std::string& key, const Proof& proof) {
  if (!state.empty()) write_private_file(file_for(state, key), proof.digest + "\n" + proof.report);
}

}  // namespace cloche
