// What a call may leave behind on the host, and how to tell it from what others do there meanwhile.
#include <sys/stat.h>

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
  const std::string name = path.filename();
  if (name.starts_with("cloche-scene-")) return false;  // the tests' own
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return false;
  if (as == As::nobody && info.st_uid == nobody_id) return true;
  return name.find("cloche") != std::string::npos;
}

// A group that another program of the host made meanwhile has processes in it; one that was forgotten has
// none.
bool is_forgotten(const std::string& group) {
  return group.find("cloche") != std::string::npos || read_proc(group + "/cgroup.procs").empty();
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
