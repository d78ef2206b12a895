#include "confine/warm/late_text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "jail/core/wire.hpp"

namespace cloche {
namespace {

// What a pipe takes at once. A longer text is not worth the wait for its reader.
constexpr size_t most_text_bytes = size_t{60} << 10;

bool is_script(const ViewEntry& entry, const std::string& target) {
  return entry.kind == EntryKind::text && entry.target == target;
}

// Python reads a source in another encoding from its beginning again, and a pipe has none. The word stands in
// a comment of the first two lines; that a third is looked at too does no harm.
bool names_encoding(std::string_view code) {
  for (int line = 0; line < 3 && !code.empty(); ++line) {
    const std::string_view text = code.substr(0, code.find_first_of("\r\n"));
    const size_t comment = text.find('#');
    if (comment != text.npos && text.find("coding", comment) != text.npos) return true;
    code.remove_prefix(std::min(text.size() + 1, code.size()));
  }
  return false;
}

Error not_usable(std::string why) { return Error{Cause::internal, "the box that waited " + std::move(why)}; }

// The letter of /proc/PID/stat; 0: there is no such process. `root` is that of the sandbox's view.
char state_of(int root, const char* stat) {
  const OwnedFd file(::openat(root, stat, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  char text[128] = {};
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return 0;
  const std::string_view seen(text);
  const size_t name_end = seen.rfind(')');
  return name_end != seen.npos && name_end + 2 < seen.size() ? seen[name_end + 2] : '\0';
}

// By what the jail has said so far: it has started its command, and given us the directory of the text.
struct Waiting {
  int directory = -1;
  int root = -1;

  bool is_ready() const { return directory >= 0 && root >= 0; }
};
Result<Waiting> look_at(JailProcess& jail) {
  JailReport next;
  while (true) {
    const Hearing hearing = receive_report(jail.control.get(), next);
    if (hearing == Hearing::nothing) break;
    if (hearing != Hearing::report) return not_usable("is gone");
    jail.early.push_back(std::exchange(next, {}));
  }
  Waiting waiting;
  for (const auto& heard : jail.early) {
    if (heard.report.kind == wire::ReportKind::listeners) continue;
    const bool is_text = heard.report.kind == wire::ReportKind::late_text;
    if (heard.fds.size() != 1 || (!is_text && heard.report.kind != wire::ReportKind::started))
      return not_usable("has ended");
    (is_text ? waiting.directory : waiting.root) = heard.fds.front().get();
  }
  pollfd ended{jail.keeper.pidfd.get(), POLLIN, 0};
  if (::poll(&ended, 1, 0) != 0) return not_usable("is gone");
  return waiting;
}

// Whether the keeper, process 1 and the command stand still in a call of the kernel's. One that was stopped
// from outside would stay so.
Result<bool> is_asleep(const JailProcess& jail, int root) {
  const std::string keeper = "/proc/" + std::to_string(jail.keeper.pid) + "/stat";
  for (const char* stat : {keeper.c_str(), "proc/1/stat", "proc/2/stat"}) {
    const char state = state_of(root, stat);
    if (state == 'R' || state == 'D') return false;
    if (state != 'S') return not_usable("does not wait any more");
  }
  return true;
}

// Whether another process has opened the pipe for writing: the command does not wait for ours then, and what
// it reads is not ours alone. One that cannot be looked at is none of ours.
bool has_been_opened(int root, int directory, const std::string& name) {
  struct stat pipe {};
  if (::fstatat(directory, name.c_str(), &pipe, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISFIFO(pipe.st_mode))
    return true;
  const OwnedFd held(::openat(root, "proc/2/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!held) return true;
  const auto names = names_in("/proc/self/fd/" + std::to_string(held.get()));
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& number) {
           struct stat seen {};
           return ::fstatat(held.get(), number.c_str(), &seen, 0) == 0 && seen.st_ino == pipe.st_ino &&
                  seen.st_dev == pipe.st_dev;
         });
}

}  // namespace

std::optional<LateScript> late_script(const ConfinementPlan& plan) {
  if (plan.backend != Backend::native || plan.terminal || plan.argv.size() != 3 || !plan.hosts.empty() ||
      !plan.published.empty() || !plan.secrets.empty() || plan.network != Network::own)
    return std::nullopt;
  if (plan.argv[0] != "python3" || plan.argv[1] != "-I") return std::nullopt;
  const std::string& target = plan.argv[2];
  if (std::any_of(plan.view.begin(), plan.view.end(), [](const auto& entry) { return entry.layered; }))
    return std::nullopt;
  const auto found = std::find_if(plan.view.begin(), plan.view.end(),
                                  [&](const auto& entry) { return is_script(entry, target); });
  if (found == plan.view.end() || found->content.size() > most_text_bytes || names_encoding(found->content))
    return std::nullopt;
  return LateScript{found->target, found->content};
}

ConfinementPlan without_script(ConfinementPlan plan) {
  for (ViewEntry& entry : plan.view.edit())
    if (!plan.argv.empty() && is_script(entry, plan.argv.back())) entry.content.clear();
  return plan;
}

wire::PlanText with_late_text(wire::PlanText plan, std::string_view target) {
  target.remove_prefix(1);
  const std::string_view parent = target.substr(0, target.rfind('/'));
  for (auto& mount : plan.mounts) {
    if (mount.target == parent && mount.kind == wire::MountKind::tmpfs) {
      mount.size_bytes = 2 * (size_t{64} << 10);
      mount.files = 64;
    }
    if (mount.target != target || mount.kind != wire::MountKind::text) continue;
    mount.kind = wire::MountKind::late_text;
    mount.content.clear();
  }
  return plan;
}

Result<bool> write_late_text(JailProcess& jail, const LateScript& script) {
  const Waiting waiting = TRY(look_at(jail));
  if (!waiting.is_ready() || !TRY(is_asleep(jail, waiting.root))) return false;
  const std::string name(script.target.substr(script.target.rfind('/') + 1));
  if (has_been_opened(waiting.root, waiting.directory, name)) return not_usable("was spoken to by another");
  OwnedFd pipe(::openat(waiting.directory, name.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!pipe && errno == ENXIO) return false;  // the command has not come to the open yet
  if (!pipe) return system_error("open the pipe of a box that waited");
  jail.late_text = std::move(pipe);
  const int room = ::fcntl(jail.late_text.get(), F_GETPIPE_SZ);
  if (room < 0 || static_cast<size_t>(room) < script.code.size()) return not_usable("has too small a pipe");
  const OwnedFd file(::openat(waiting.directory, wire::late_text_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return system_error("open the script of a box that waited");
  TRY(sys::write_all(file.get(), script.code));
  if (::renameat(waiting.directory, wire::late_text_name, waiting.directory, name.c_str()) != 0)
    return system_error("put the script of a box that waited in its place");
  const ssize_t put = ::write(jail.late_text.get(), script.code.data(), script.code.size());
  if (put != static_cast<ssize_t>(script.code.size())) return not_usable("did not take its script");
  return true;
}

}  // namespace cloche
