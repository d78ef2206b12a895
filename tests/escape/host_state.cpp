// What a call may leave behind on the host, and how to tell it from what others do there meanwhile.
#include <sys/stat.h>

#include <cstdlib>

#include "escape/stage.hpp"

namespace cloche::test {
namespace {

constexpr unsigned nobody_id = 65534;

void collect_groups(const fs::path& folder, int depth, std::set<std::string>& found) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(folder, gone)) {
    if (entry.is_symlink(gone) || !entry.is_directory(gone)) continue;
    found.insert(entry.path().string());
    if (depth > 1) collect_groups(entry.path(), depth - 1, found);
  }
}

// As nobody everything of nobody's counts, because nobody else is nobody. As root others share /tmp with us
// (a compiler, an editor), so there only names that say whose they are.
bool may_be_ours(const fs::path& path, As as) {
  // Where calls claim their ids: the first since the machine started makes it, and it stays.
  if (path == "/run/cloche") return false;
  const std::string name = path.filename();
  for (const char* own :
       {"cloche-scene-", "cloche-state-", "cloche-bench-"}) {  // of tests and of the benchmark
    if (name.starts_with(own)) return false;
  }
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return false;
  if (as == As::nobody && info.st_uid == nobody_id) return true;
  return name.find("cloche") != std::string::npos;
}

// Others may use the host, and Cloche itself, meanwhile. A group of somebody else has processes in it, and
// one of a call that is still going on carries the number of a supervisor that lives.
bool is_forgotten(const std::string& group) {
  const std::string name = fs::path(group).filename();
  const std::string prefix = "cloche-";
  if (name.starts_with(prefix)) return !is_alive(atoi(name.c_str() + prefix.size()));
  return read_proc(group + "/cgroup.procs").empty();
}

std::string difference(const HostState& before, As as) {
  const HostState now = look_at_host(as);
  if (now.mounts != before.mounts) return "the host's mount table changed";
  for (const std::string& group : now.groups) {
    if (before.groups.count(group) == 0 && fs::exists(group) && is_forgotten(group)) return "cgroup " + group;
  }
  for (const std::string& path : now.temporary) {
    if (before.temporary.count(path) == 0) return "temporary file " + path;
  }
  return "";
}

}  // namespace

HostState look_at_host(As as) {
  HostState state;
  state.mounts = read_proc("/proc/self/mountinfo");
  collect_groups("/sys/fs/cgroup", 4, state.groups);
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "/run"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      if (may_be_ours(entry.path(), as)) state.temporary.insert(entry.path().string());
    }
  }
  return state;
}

std::string left_behind(const HostState& before, As as) {
  std::string last;
  wait_until([&] { return (last = difference(before, as)).empty(); }, std::chrono::seconds(2));
  return last;
}

}  // namespace cloche::test
