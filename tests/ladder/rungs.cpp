#include "ladder/rungs.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace cloche::test {
namespace {

// Ids of this test process alone, so that what is left behind can be told from what another call has.
constexpr unsigned id_count = 1'000;
unsigned first_id() { return 2'050'000'000U + static_cast<unsigned>(getpid()) % 9'000 * id_count; }
std::string id_range() { return std::to_string(first_id()) + ":" + std::to_string(id_count); }

// "cloche-ID", as the group of root's call is named.
bool is_our_group(const std::string& name) {
  const std::string prefix = "cloche-";
  if (!name.starts_with(prefix)) return false;
  const unsigned long id = std::strtoul(name.c_str() + prefix.size(), nullptr, 10);
  return id >= first_id() && id < first_id() + id_count;
}

// What a user would type, with a bundle that Cloche has printed: that the tool itself works on this host.
std::string bare_words(const std::string& backend, As as) {
  if (backend == "bwrap") return "bwrap --unshare-all --ro-bind / / /bin/true";
  const bool gvisor = backend == "runsc";
  const std::string bundle = "\"$CLOCHE\" wrap --backend oci " +
                             std::string(gvisor ? "--runtime runsc " : "") +
                             "--bundle bundle -- /bin/true >/dev/null 2>&1 && ";
  const std::string root = backend + " --root \"$PWD/containers\" ";
  const std::string run = " run --bundle bundle ladder-$$";
  if (gvisor) {
    const std::string flags = "--network=none --platform=ptrace --ignore-cgroups";
    return bundle + root + flags + (as == As::nobody ? " --rootless" : "") + run;
  }
  if (backend != "crun") return bundle + root + run;
  // It refuses groups of both versions at once, so it is shown none.
  return bundle + "unshare --mount" + (as == As::nobody ? " --map-current-user --keep-caps" : "") +
         " sh -c 'mount -t tmpfs none /sys/fs/cgroup && " + root + "--cgroup-manager=disabled" + run + "'";
}

std::string without_bare_tool(const LaunchResources& seat) {
  const Scene scene(seat.as);
  const Ran ran = run({.argv = {"bash", "-c", bare_words(seat.rung.backend, seat.as)},
                       .as = seat.as,
                       .cwd = scene.workspace(),
                       .env = {{"CLOCHE", cloche()}, {"XDG_STATE_HOME", state_home(seat.as)}}});
  if (ran.exit_code == 0) return "";
  return std::string(seat.rung.backend) + " itself does not work here: " + last_line(ran.err.substr(0, 300));
}

// Of a process that may end meanwhile: empty then.
std::string read_process(int process, const std::string& name) {
  std::string text;
  FILE* file = std::fopen(("/proc/" + std::to_string(process) + "/" + name).c_str(), "re");
  if (file == nullptr) return text;
  char buffer[4096];
  for (size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, got);
  std::fclose(file);
  return text;
}

// The fields of a line of /proc/PID/stat behind the name, which may hold anything: state, parent.
std::pair<char, int> state_and_parent(const std::string& stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return {'Z', 0};
  return {stat[name_end + 2], atoi(stat.c_str() + name_end + 4)};
}

void collect_groups(const fs::path& directory, int depth, std::vector<std::string>& found) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(directory, gone)) {
    if (entry.is_symlink(gone) || !entry.is_directory(gone)) continue;
    if (is_our_group(entry.path().filename())) found.push_back(entry.path());
    if (depth > 1) collect_groups(entry.path(), depth - 1, found);
  }
}

}  // namespace

std::vector<LaunchResources> seats() {
  std::vector<LaunchResources> all;
  for (As as : identities()) {
    for (const Rung& rung : rungs) all.push_back({rung, as});
  }
  return all;
}

std::vector<LaunchResources> seats_of_three() {
  std::vector<LaunchResources> three;
  for (const auto& seat : seats()) {
    const std::string backend = seat.rung.backend;
    if (backend == "native" || backend == "bwrap" || backend == "subprocess") three.push_back(seat);
  }
  return three;
}

void PrintTo(const LaunchResources& seat, std::ostream* out) {
  *out << seat.rung.backend << " as " << name_of(seat.as);
}

std::string name_of(const ::testing::TestParamInfo<LaunchResources>& info) {
  return std::string(info.param.rung.backend) + "_" + name_of(info.param.as);
}

std::string why_not(const LaunchResources& seat) {
  static std::map<std::pair<std::string, As>, std::string> known;
  const auto key = std::pair(std::string(seat.rung.backend), seat.as);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  std::string& why = known[key];
  if (key.first == "native") {
    const bool works = exited(run({.argv = {"unshare", "-U", "-r", "true"}, .as = seat.as}), 0);
    why = works ? "" : "no user namespaces";
  } else if (*seat.rung.package != '\0') {
    why = installed(key.first) ? without_bare_tool(seat) : key.first + " is not installed";
  }
  return why;
}

void Rungs::SetUp() {
  adopt_orphans();
  const std::string why = why_not(GetParam());
  if (!why.empty()) GTEST_SKIP() << "skipped: " << why;
}

Command Rungs::on_rung(const std::vector<std::string>& flags, const std::vector<std::string>& argv,
                       Command how) const {
  std::vector<std::string> all = {"--isolation", GetParam().rung.rung, "--backend", backend()};
  all.insert(all.end(), flags.begin(), flags.end());
  how.argv = under_cloche(all, argv);
  how.as = as();
  if (how.cwd.empty()) how.cwd = workspace();
  how.env.emplace("XDG_STATE_HOME", state_home(as()));
  how.env.emplace("CLOCHE_UID_RANGE", id_range());
  return how;
}

Ran in_own_mounts(As as, const Scene& scene, const std::string& script) {
  const std::string become = as == As::nobody ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  const std::string setup = "set -e; cloche() { " + become + " env HOME=\"$HOME_OF\" \"$CLOCHE\" \"$@\"; }; ";
  return run({.argv = {"unshare", "-m", "--propagation", "private", "bash", "-c", setup + script},
              .cwd = scene.workspace(),
              .env = {{"CLOCHE", cloche()},
                      {"HOME_OF", scene.root() / "home"},
                      {"XDG_STATE_HOME", scene.root() / "state"},
                      {"XDG_CONFIG_HOME", scene.root() / "config"},
                      {"CLOCHE_UID_RANGE", id_range()}}});
}

std::vector<int> children_of(int parent) {
  std::vector<int> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const int pid = atoi(entry.path().filename().c_str());
    if (pid > 0 && state_and_parent(read_process(pid, "stat")).second == parent) found.push_back(pid);
  }
  return found;
}

std::string command_of(int process) {
  const std::string words = read_process(process, "cmdline");
  return words.substr(0, words.find('\0'));
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::string orphans_left(double seconds) {
  std::string left;
  wait_until(seconds, [&] {
    left.clear();
    for (const int pid : children_of(getpid())) {
      if (waitpid(pid, nullptr, WNOHANG) == pid) continue;
      std::string line = read_process(pid, "cmdline").substr(0, 80);
      std::replace(line.begin(), line.end(), '\0', ' ');
      left += std::to_string(pid) + " " + line + "\n";
    }
    return left.empty();
  });
  return left;
}

Traces traces() {
  Traces now;
  now.mounts = read_file("/proc/self/mountinfo");
  collect_groups("/sys/fs/cgroup", 5, now.groups);
  for (const char* directory : {"/tmp", "/var/tmp"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(directory, none)) {
      // Others use these directories too, but nobody else has our ids.
      struct stat seen {};
      const bool ours = lstat(entry.path().c_str(), &seen) == 0 && seen.st_uid >= first_id() &&
                        seen.st_uid < first_id() + id_count;
      if (ours) now.temporary.push_back(entry.path());
    }
  }
  return now;
}

std::string traces_left(const Traces& before, double seconds) {
  std::string left;
  const auto add_new = [&](const std::vector<std::string>& was, const std::vector<std::string>& is) {
    for (const auto& path : is) {
      if (std::find(was.begin(), was.end(), path) == was.end()) left += path + "\n";
    }
  };
  wait_until(seconds, [&] {
    const Traces now = traces();
    left = now.mounts == before.mounts ? "" : "the mount table changed\n";
    add_new(before.groups, now.groups);
    add_new(before.temporary, now.temporary);
    return left.empty();
  });
  return left;
}

bool wait_until(double seconds, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace cloche::test
