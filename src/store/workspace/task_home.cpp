#include "store/workspace/task_home.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "policy/plan/concurrent_calls.hpp"
#include "policy/plan/plan_run.hpp"
#include "store/record/run_place.hpp"

namespace cloche {
namespace {

constexpr std::string_view tmp_inside = "/tmp";
constexpr uint64_t say_after_ms = 1000;
constexpr std::string_view why_waiting =
    "another call of this session still runs, and calls in a project below /tmp or /var/tmp run one at a "
    "time";

// A command sees it as a mount of its own: the command cannot replace it, only change its mode, which is put
// back here. Only Cloche can write to the task's directory above it.
Result<void> make_directory(int task, const char* name, const std::string& shown) {
  if (::mkdirat(task, name, 0700) != 0 && errno != EEXIST) return system_error("make " + shown);
  // By name, because an ordinary user cannot open a directory whose permissions a command took away.
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

Result<void> make_mount_points(const ConfinementPlan& plan, const std::vector<Grant>& own) {
  for (const auto& given : own) {
    if (!is_mounted(plan, given)) continue;
    for (const auto& entry : plan.view) {
      if (!lies_within(entry, given)) continue;
      TRY(make_mount_point(given.source, std::string_view(entry.target).substr(given.target.size() + 1),
                           entry.file));
    }
  }
  return {};
}

// Tries again and again, often at first, because calls are short and the kernel has no lock with a time
// limit.
Result<void> wait_for_lock(int fd, TaskUse use, uint64_t most_ms,
                           const std::function<void(std::string_view)>& waits) {
  const int wanted = (use == TaskUse::exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  const uint64_t begun_ms = sys::monotonic_ms();
  bool said = !waits;
  for (int pause_ms = 1; ::flock(fd, wanted) != 0; pause_ms = std::min(2 * pause_ms, 20)) {
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error("wait for the task's other calls");
    const uint64_t waited_ms = sys::monotonic_ms() - begun_ms;
    if (waited_ms >= most_ms)
      return refusal(
          "another call of the task still runs, and this one cannot run beside it: something that it is "
          "shown lies in the task's own /tmp or home",
          "wait for the other one, use another task, or keep the workspace outside of /tmp");
    if (!said && waited_ms >= say_after_ms) {
      waits(why_waiting);
      said = true;
    }
    ::poll(nullptr, 0, pause_ms);
  }
  return {};
}

}  // namespace

Result<OwnedFd> enter_task(const ConfinementPlan& plan, const std::vector<Grant>& own,
                           const std::function<void(std::string_view)>& waits, std::string_view pinned) {
  const auto mounted = [&](std::string_view target) {
    return std::find_if(own.begin(), own.end(), [&](const Grant& given) {
      return given.target == target && is_mounted(plan, given);
    });
  };
  // The one that all calls of a task share; a session whose workspace lies in /tmp has only a home.
  const auto tmp = mounted(tmp_inside);
  const auto shared = tmp != own.end() ? tmp : mounted(home_inside);
  if (shared == own.end()) return OwnedFd();
  const std::string task(parent_of(shared->source));
  const OwnedFd directory = TRY(sys::open(task, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  OwnedFd lock = TRY(append_record_file(directory.get(), lock_name, task + "/" + lock_name));
  const TaskUse use = task_use_of(plan, own, pinned);
  TRY(wait_for_lock(lock.get(), use, plan.limits.wall_ms, waits));
  TRY(make_mount_points(plan, own));
  return lock;
}

Result<TaskHome> plan_task_home(const RunPlace& place, const std::string& task_id,
                                const std::string& executor) {
  TRY(check_task_id(task_id));
  const std::string own = place.directory + "/" + task_homes_name + "/" + task_id;
  return TaskHome{own + (executor.empty() ? "" : "/executors/" + executor) + "/home", own + "/tmp"};
}

Result<TaskHome> make_task_home(const RunPlace& place, const std::string& task_id,
                                const std::string& executor) {
  TRY(check_task_id(task_id));
  const std::string all = place.directory + "/" + task_homes_name;
  const std::string own = all + "/" + task_id;
  const OwnedFd run = TRY(hold_run_directory(place, RecordUse::write));
  const OwnedFd tasks = TRY(make_record_directory(run.get(), task_homes_name, all));
  const OwnedFd task = TRY(make_record_directory(tasks.get(), task_id, own));
  if (executor.empty()) return make_home_beneath(task.get(), own);
  TRY(make_directory(task.get(), "tmp", own + "/tmp"));
  const std::string folder = own + "/executors/" + executor;
  const OwnedFd executors = TRY(make_record_directory(task.get(), "executors", own + "/executors"));
  const OwnedFd mine = TRY(make_record_directory(executors.get(), executor, folder));
  TRY(make_directory(mine.get(), "home", folder + "/home"));
  return TaskHome{folder + "/home", own + "/tmp"};
}

Result<TaskHome> make_home_beneath(int directory, const std::string& path) {
  TRY(make_directory(directory, "tmp", path + "/tmp"));
  TRY(make_directory(directory, "home", path + "/home"));
  return TaskHome{path + "/home", path + "/tmp"};
}

std::vector<Grant> task_grants(const TaskHome& home) {
  return {{home.home, std::string(home_inside), true}, {home.tmp, std::string(tmp_inside), true}};
}

void remove_task_homes(const RunPlace& place) { remove_tree(place.directory + "/" + task_homes_name); }

namespace {

constexpr const char* alive_name = "alive";
constexpr size_t id_letters = 16;

// Nothing: a running server holds it.
OwnedFd take_over(int session, const std::string& path) {
  auto alive = append_record_file(session, alive_name, path + "/" + alive_name);
  if (!alive.ok() || ::flock(alive.value().get(), LOCK_EX | LOCK_NB) != 0) return {};
  return std::move(alive).value();
}

void remove_dead(int sessions, const std::string& path) {
  for (const auto& name : names_in(path)) {
    if (name == lock_name) continue;
    const std::string one = path + "/" + name;
    const auto session = open_record_directory(sessions, name, one);
    if (!session.ok()) continue;  // not one of ours
    if (const OwnedFd alive = take_over(session.value().get(), one)) remove_tree(one);
  }
}

}  // namespace

Result<std::unique_ptr<SessionHome>> SessionHome::make(const std::string& state) {
  if (state.empty()) return refusal("there is no state directory");
  const std::string path = state + "/" + sessions_name;
  if (!make_private_directories(path)) return system_error("make " + path);
  const OwnedFd above = TRY(sys::open(state, O_RDONLY | O_DIRECTORY));
  const OwnedFd sessions = TRY(make_record_directory(above.get(), sessions_name, path));
  // Held until this one is locked: before that it looks like one that a dead server has left.
  const OwnedFd starting = TRY(append_record_file(sessions.get(), lock_name, path + "/" + lock_name));
  if (::flock(starting.get(), LOCK_EX) != 0) return system_error("wait for another server that starts");
  remove_dead(sessions.get(), path);
  const std::string id = TRY(random_word(id_letters));
  const std::string own = path + "/" + id;
  const OwnedFd session = TRY(make_record_directory(sessions.get(), id, own));
  OwnedFd alive = take_over(session.get(), own);
  if (!alive) return system_error("lock " + own);
  return std::unique_ptr<SessionHome>(new SessionHome(own, std::move(alive)));
}

SessionHome::~SessionHome() { remove_tree(directory_); }

Result<TaskHome> SessionHome::now() const {
  const std::string number = std::to_string(generation_);
  const std::string own = directory_ + "/" + number;
  const OwnedFd session = TRY(sys::open(directory_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const OwnedFd place = TRY(make_record_directory(session.get(), number, own));
  return make_home_beneath(place.get(), own);
}

void SessionHome::remove_earlier() const {
  for (const auto& name : names_in(directory_)) {
    if (name != alive_name && name != std::to_string(generation_)) remove_tree(directory_ + "/" + name);
  }
}

}  // namespace cloche
