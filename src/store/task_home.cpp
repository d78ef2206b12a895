#include "store/task_home.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/directory.hpp"
#include "base/path.hpp"
#include "policy/plan_run.hpp"

namespace cloche {
namespace {

// To a command it is a mount of its own: it cannot be replaced, only its mode changed, which is put back. The
// task's directory above it is ours alone.
Result<void> make_directory(int task, const char* name, const std::string& shown) {
  if (::mkdirat(task, name, 0700) != 0 && errno != EEXIST) return system_error("make " + shown);
  // By name, because an ordinary user cannot open what a command has closed.
  if (::fchmodat(task, name, 0700, AT_SYMLINK_NOFOLLOW) != 0) return system_error("open " + shown);
  const OwnedFd made(::openat(task, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made) return system_error("open " + shown);
  return {};
}

// `below` is relative to the directory.
Result<void> make_mount_point(const std::string& directory, std::string_view below, bool file) {
  const auto in_the_way = [&](const std::string& name) {
    return refusal("the task's earlier calls have put something in the way of " + name + " in " + directory,
                   "use another task, or cloche log prune");
  };
  OwnedFd at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  while (at && !below.empty()) {
    const std::string name(below.substr(0, below.find('/')));
    below.remove_prefix(std::min(below.size(), name.size() + 1));
    if (below.empty() && file) {
      const OwnedFd made(
          ::openat(at.get(), name.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
      if (!made) return in_the_way(name);
      return {};
    }
    if (::mkdirat(at.get(), name.c_str(), 0755) != 0 && errno != EEXIST) return system_error("make " + name);
    OwnedFd next(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return in_the_way(name);
    at = std::move(next);
  }
  if (!at) return system_error("open " + directory);
  return {};
}

}  // namespace

Result<void> make_mount_points(const ConfinementPlan& plan, const std::vector<Grant>& own) {
  for (const auto& given : own) {
    const bool mounted =
        given.writable && std::any_of(plan.view.begin(), plan.view.end(), [&](const ViewEntry& entry) {
          return entry.kind == EntryKind::tree && entry.target == given.target;
        });
    if (!mounted) continue;
    for (const auto& entry : plan.view) {
      if (entry.target == given.target || !is_beneath(given.target, entry.target)) continue;
      TRY(make_mount_point(given.source, std::string_view(entry.target).substr(given.target.size() + 1),
                           entry.file));
    }
  }
  return {};
}

Result<TaskHome> make_task_home(const RunPlace& place, const std::string& task_id) {
  TRY(check_task_id(task_id));
  const std::string all = place.directory + "/" + task_homes_name;
  const std::string own = all + "/" + task_id;
  const OwnedFd run = TRY(hold_run_directory(place, RecordUse::write));
  const OwnedFd tasks = TRY(make_record_directory(run.get(), task_homes_name, all));
  const OwnedFd task = TRY(make_record_directory(tasks.get(), task_id, own));
  TRY(make_directory(task.get(), "home", own + "/home"));
  TRY(make_directory(task.get(), "tmp", own + "/tmp"));
  return TaskHome{own + "/home", own + "/tmp"};
}

std::vector<Grant> task_grants(const TaskHome& home) {
  return {{home.home, std::string(home_inside), true}, {home.tmp, "/tmp", true}};
}

void remove_task_homes(const RunPlace& place) { remove_tree(place.directory + "/" + task_homes_name); }

}  // namespace cloche
