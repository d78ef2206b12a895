// A report is a proof only when every line of it is there and good.
#include "confine/native/proof.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t enough_memory = 64ULL << 20;
const ProofTerms glass{.layers = {std::begin(all_layers), std::end(all_layers)}};

struct Line {
  const char* name;
  LayerId layer;
  const char* good;  // what follows the name
  const char* broken;
};

// What the probe prints on a host where everything holds.
const Line lines[] = {
    {"namespace-user", LayerId::user_ids, "seen user:[2]", "seen user:[1]"},
    {"namespace-mnt", LayerId::mount_view, "seen mnt:[2]", "seen mnt:[1]"},
    {"namespace-pid", LayerId::pid_namespace, "seen pid:[2]", "seen pid:[1]"},
    {"namespace-net", LayerId::net_namespace, "seen net:[2]", "seen net:[1]"},
    {"namespace-ipc", LayerId::ipc_namespace, "seen ipc:[2]", "seen ipc:[1]"},
    {"namespace-uts", LayerId::uts_namespace, "seen uts:[2]", "seen uts:[1]"},
    {"namespace-cgroup", LayerId::cgroup_namespace, "seen cgroup:[2]", "BROKEN "},
    {"not-root", LayerId::user_ids, "ok -", "BROKEN -"},
    {"no-setuid", LayerId::user_ids, "ok EPERM", "BROKEN -"},
    {"one-id-mapped", LayerId::user_ids, "ok uid_map", "BROKEN uid_map"},
    {"no-capabilities-permitted", LayerId::no_capabilities, "ok 0000000000000000", "BROKEN 0000000000000001"},
    {"no-capabilities-effective", LayerId::no_capabilities, "ok 0000000000000000", "BROKEN 0000000000000001"},
    {"no-capabilities-bounding", LayerId::no_capabilities, "ok 0000000000000000", "BROKEN 000001ffffffffff"},
    {"no-capabilities-ambient", LayerId::no_capabilities, "ok 0000000000000000", "BROKEN absent"},
    {"no-new-privileges", LayerId::no_new_privileges, "ok 1", "BROKEN 0"},
    {"securebits-locked", LayerId::no_capabilities, "ok -", "BROKEN -"},
    {"root-is-sealed", LayerId::mount_view, "ok EROFS", "BROKEN EEXIST"},
    {"usr-is-sealed", LayerId::mount_view, "ok EROFS", "BROKEN -"},
    {"no-sys", LayerId::mount_view, "ok ENOENT", "BROKEN -"},
    {"proc-is-sealed", LayerId::mount_view, "ok EROFS", "BROKEN EACCES"},
    {"nothing-above-root", LayerId::mount_view, "ok -", "BROKEN -"},
    {"usr-is-readable", LayerId::mount_view, "ok -", "BROKEN -"},
    {"landlock-denies", LayerId::landlock, "ok EACCES", "BROKEN -"},
    {"landlock-allows", LayerId::landlock, "ok -", "BROKEN EACCES"},
    {"second-process", LayerId::pid_namespace, "ok -", "BROKEN -"},
    {"first-is-closed", LayerId::pid_namespace, "ok EACCES", "BROKEN -"},
    {"own-session", LayerId::pid_namespace, "ok -", "BROKEN -"},
    {"three-descriptors", LayerId::mount_view, "ok -", "BROKEN -"},
    {"process-limit", LayerId::process_limit, "seen 513", "seen 515"},
    {"fork-works", LayerId::pid_namespace, "ok -", "BROKEN -"},
    {"filter-installed", LayerId::syscall_filter, "ok 2", "BROKEN 0"},
    {"no-unshare", LayerId::syscall_filter, "ok EPERM", "BROKEN -"},
    {"no-mount", LayerId::syscall_filter, "ok EPERM", "BROKEN -"},
    {"no-bpf", LayerId::syscall_filter, "ok EPERM", "BROKEN EINVAL"},
    {"no-io-uring", LayerId::syscall_filter, "ok EPERM", "BROKEN EFAULT"},
    {"no-keyctl", LayerId::session_keyring, "ok EPERM", "BROKEN -"},
    {"no-clone3", LayerId::syscall_filter, "ok ENOSYS", "BROKEN EINVAL"},
    {"no-x32", LayerId::syscall_filter, "ok ENOSYS", "BROKEN -"},
    {"unknown-call", LayerId::syscall_filter, "ok ENOSYS", "BROKEN EPERM"},
    {"no-vsock", LayerId::syscall_filter, "ok EPERM", "BROKEN -"},
    {"no-set-uid-bit", LayerId::syscall_filter, "ok EPERM", "BROKEN -"},
    {"no-route", LayerId::net_namespace, "ok ENETUNREACH", "BROKEN EINPROGRESS"},
    {"loopback-works", LayerId::net_namespace, "ok -", "BROKEN ENETUNREACH"},
    {"own-host-name", LayerId::uts_namespace, "ok -", "BROKEN -"},
    {"memory-held", LayerId::memory_limit, "ok 4M", "BROKEN 4M"},
};

const std::map<std::string, std::string> outside = {
    {"user", "user:[1]"}, {"mnt", "mnt:[1]"}, {"pid", "pid:[1]"},      {"net", "net:[1]"},
    {"ipc", "ipc:[1]"},   {"uts", "uts:[1]"}, {"cgroup", "cgroup:[1]"}};

// Every line good, but `changed` with this text; without a text the line is left out.
std::string report(const Line* changed = nullptr, const char* text = nullptr) {
  std::string all;
  for (const auto& line : lines) {
    if (&line == changed && text == nullptr) continue;
    all += std::string(line.name) + " " + (&line == changed ? text : line.good) + "\n";
  }
  return all + "finished ok -\n";
}

void expect_layer_missing(const Result<Proof>& judged, const Line& line) {
  ASSERT_FALSE(judged.ok()) << line.name;
  EXPECT_EQ(judged.error().cause, Cause::missing_layer) << line.name;
  EXPECT_TRUE(
      judged.error().what.text().starts_with("missing layer " + std::string(name_of(line.layer)) + ":"))
      << judged.error().what;
  EXPECT_EQ(judged.error().layer, line.layer);
  EXPECT_NE(judged.error().what.text().find(line.name), std::string::npos) << judged.error().what;
}

TEST(JudgeProof, AGoodReportPassesAndNamesTheChecksOfEveryRequiredLayer) {
  const auto proof = judge_proof(report(), outside, Limits{}, enough_memory, glass);
  ASSERT_TRUE(proof.ok()) << proof.error().what;
  for (LayerId layer : required_by(IsolationLevel::namespaces))
    EXPECT_TRUE(proof.value().by_layer.contains(layer)) << name_of(layer);
  EXPECT_EQ(proof.value().report, report());
  EXPECT_TRUE(proof.value().digest.starts_with("sha256:"));
}

TEST(JudgeProof, EveryLineCounts) {
  for (const auto& line : lines) {
    expect_layer_missing(judge_proof(report(&line), outside, Limits{}, enough_memory, glass), line);
    expect_layer_missing(judge_proof(report(&line, line.broken), outside, Limits{}, enough_memory, glass),
                         line);
    expect_layer_missing(judge_proof(report(&line, "BROKEN -"), outside, Limits{}, enough_memory, glass),
                         line);
    expect_layer_missing(judge_proof(report(&line, "OK -"), outside, Limits{}, enough_memory, glass), line);
    expect_layer_missing(judge_proof(report(&line, "maybe -"), outside, Limits{}, enough_memory, glass),
                         line);
  }
}

TEST(JudgeProof, WhatThePlanShowsIsNotAskedToBeAbsent) {
  ProofTerms shown = glass;
  shown.sys_is_shown = true;
  for (const auto& line : lines) {
    const auto judged = judge_proof(report(&line, line.broken), outside, Limits{}, enough_memory, shown);
    if (std::string_view(line.name) == "no-sys") {
      EXPECT_TRUE(judged.ok());
    } else {
      expect_layer_missing(judged, line);
    }
  }
}

TEST(ShowsSys, ByWhatTheProbeWouldFind) {
  const std::pair<const char*, bool> rows[] = {{"/sys", true},           {"/sys/kernel", true},
                                               {"/sys/kernel/mm", true}, {"/sys/fs", false},
                                               {"/system", false},       {"/srv/sys", false}};
  for (const auto& [target, shown] : rows) {
    ConfinementPlan plan;
    plan.view = {{.kind = EntryKind::tree, .access = Access::read, .target = target, .source = "/sys"}};
    EXPECT_EQ(shows_sys(plan), shown) << target;
    plan.view[0].access = Access::none;
    EXPECT_FALSE(shows_sys(plan)) << "a cover over " << target;
  }
}

TEST(JudgeProof, WhatIsOnlySeenIsNotOk) {
  for (const auto& line : lines) {
    if (std::string_view(line.good).starts_with("seen")) continue;
    expect_layer_missing(
        judge_proof(report(&line, "seen something"), outside, Limits{}, enough_memory, glass), line);
  }
}

TEST(JudgeProof, ANamespaceThatWeCannotCompareIsNotProven) {
  for (const auto& [name, link] : outside) {
    auto known = outside;
    known.erase(name);
    EXPECT_FALSE(judge_proof(report(), known, Limits{}, enough_memory, glass).ok()) << name;
    known[name] = "";
    EXPECT_FALSE(judge_proof(report(), known, Limits{}, enough_memory, glass).ok()) << name;
  }
}

TEST(JudgeProof, AReportThatStopsEarlyIsNoProof) {
  const std::string whole = report();
  for (size_t size = 0; size + 2 < whole.size(); ++size) {
    ASSERT_FALSE(judge_proof(whole.substr(0, size), outside, Limits{}, enough_memory, glass).ok()) << size;
  }
}

TEST(JudgeProof, MemoryMustHaveBeenCounted) {
  for (uint64_t seen : {0ULL, 1ULL << 20}) {
    const auto judged = judge_proof(report(), outside, Limits{}, seen, glass);
    ASSERT_FALSE(judged.ok()) << seen;
    EXPECT_EQ(judged.error().layer, LayerId::memory_limit);
  }
}

TEST(JudgeProof, TheProcessLimitIsComparedWithThePlans) {
  Limits limits;
  limits.processes = 64;
  EXPECT_FALSE(judge_proof(report(), outside, limits, enough_memory, glass).ok()) << "513 is more than 65";
  limits.processes = 512;
  EXPECT_TRUE(judge_proof(report(), outside, limits, enough_memory, glass).ok());
}

TEST(OwnNamespaces, AreAllSevenOfThisProcess) {
  const auto own = own_namespaces();
  EXPECT_EQ(own.size(), 7U);
  for (const auto& [name, link] : own) EXPECT_NE(link.find(":["), std::string::npos) << name << " " << link;
}

TEST(StoredProof, ComesBackTheSameAndOnlyForItsKey) {
  const Scratch scratch;
  const std::string state = scratch.path + "/state/cloche";
  const Proof proof = judge_proof(report(), outside, Limits{}, enough_memory, glass).value();
  EXPECT_FALSE(load_proof(state, "key").ok());
  store_proof(state, "key", proof);
  const auto loaded = load_proof(state, "key");
  ASSERT_TRUE(loaded.ok()) << loaded.error().what;
  EXPECT_EQ(loaded.value().report, proof.report);
  EXPECT_EQ(loaded.value().digest, proof.digest);
  EXPECT_FALSE(load_proof(state, "another").ok());
  struct stat seen {};
  ASSERT_EQ(::stat((state + "/proofs/key").c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777, 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(state + "/proofs"), {}), 1)
      << "nothing half-written is left";
}

TEST(StoredProof, IsTrustedOnlyAsOurOwnPrivateFile) {
  const Scratch scratch;
  store_proof(scratch.path, "key", {.digest = "sha256:0", .report = "report"});
  const std::string file = scratch.path + "/proofs/key";
  for (auto mode : {0644, 0660, 0602}) {
    fs::permissions(file, fs::perms(mode));
    EXPECT_FALSE(load_proof(scratch.path, "key").ok()) << std::oct << mode;
  }
  fs::permissions(file, fs::perms(0600));
  EXPECT_TRUE(load_proof(scratch.path, "key").ok());
  fs::rename(file, scratch.path + "/elsewhere");
  fs::create_symlink(scratch.path + "/elsewhere", file);
  EXPECT_FALSE(load_proof(scratch.path, "key").ok()) << "a link";
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(load_proof(scratch.path, "key").ok()) << "a directory";
}

TEST(StoredProof, WithoutAStateDirectoryIsNotKept) {
  store_proof("", "key", {.report = "report"});
  EXPECT_FALSE(load_proof("", "key").ok());
}

TEST(ProofKey, ChangesWithTheShapeAndWithTheProgramsAndNotWithTheTree) {
  const Scratch scratch;
  const std::string jail = scratch.path + "/jail";
  const std::string probe = scratch.path + "/probe";
  std::ofstream(jail) << "program";
  std::ofstream(probe) << "program";
  ConfinementPlan plan;
  plan.argv = {"x"};
  plan.view = {{.kind = EntryKind::tree,
                .access = Access::write_run,
                .target = "/project",
                .source = "/project",
                .owned = true},
               {.kind = EntryKind::tree, .access = Access::run, .target = "/usr", .source = "/usr"}};
  const LaunchSpec spec{.jail = {}, .layers = {{LayerId::landlock, "landlock-abi6"}}};
  const auto key = [&](const ConfinementPlan& p, const LaunchSpec& s) {
    return proof_key(p, s, jail, probe).value();
  };
  const std::string usual = key(plan, spec);
  std::set<std::string> keys = {usual};

  ConfinementPlan other = plan;
  other.view[0].target = "/elsewhere";
  other.argv = {"y"};
  EXPECT_EQ(key(other, spec), usual) << "another workspace and another command have the same shape";
  other.view[0].target = "/sys";
  EXPECT_TRUE(keys.insert(key(other, spec)).second) << "of which less is proven";
  other = plan;
  other.view[0].access = Access::run;
  EXPECT_TRUE(keys.insert(key(other, spec)).second);
  other = plan;
  other.view[1].target = "/opt";
  EXPECT_TRUE(keys.insert(key(other, spec)).second);
  other = plan;
  other.debugging = true;
  EXPECT_TRUE(keys.insert(key(other, spec)).second);
  EXPECT_TRUE(keys.insert(key(plan, {.jail = {}, .layers = {{LayerId::landlock, "landlock-abi2"}}})).second);
  for (const auto& program : {jail, probe}) {
    std::ofstream(program) << "another program";
    EXPECT_TRUE(keys.insert(key(plan, spec)).second) << program;
  }
}

}  // namespace
}  // namespace cloche
