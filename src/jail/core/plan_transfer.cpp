#include "jail/core/plan_transfer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/core/report.hpp"
#include "jail/core/text.hpp"

namespace cloche::jail {
namespace {

using wire::Plan;
using wire::Step;

// What a plan points to, and its bytes: one of the usual size is read into a buffer, cheaper than a mapping.
struct Room {
  wire::Storage storage;
  char buffer[size_t{16} << 10];
};
constinit Room room_of_still{};
constinit Room room_of_call{};

std::span<const char> plan_bytes(Room& room) {
  struct stat size {};
  must(::fstat(wire::plan_fd, &size), Step::read_plan);
  const auto bytes = static_cast<size_t>(size.st_size);
  if (bytes == 0 || bytes > wire::max_plan_bytes) fail(Step::read_plan, EMSGSIZE);
  if (bytes <= sizeof room.buffer) {
    if (::pread(wire::plan_fd, room.buffer, bytes, 0) != size.st_size) fail(Step::read_plan, EIO);
    return {room.buffer, bytes};
  }
  void* mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, wire::plan_fd, 0);
  if (mapping == MAP_FAILED) fail(Step::read_plan, errno);
  return {static_cast<const char*>(mapping), bytes};
}

void write_file(const char* path, const char* text, size_t size) {
  const int fd = must(::open(path, O_WRONLY | O_CLOEXEC), Step::map_ids);
  if (::write(fd, text, size) != static_cast<ssize_t>(size)) fail(Step::map_ids, errno);
  ::close(fd);
}

}  // namespace

namespace {

Plan read_into(Room& room) {
  Plan plan;
  if (wire::decode(plan_bytes(room), room.storage, plan) != nullptr)
    fail(Step::read_plan, EBADMSG, wire::format);
  return plan;
}

}  // namespace

Plan read_plan() { return read_into(room_of_call); }

Plan read_still_plan() {
  const Plan still = read_into(room_of_still);
  if (!wire::is_still(still)) fail(Step::read_plan, EINVAL);
  return still;
}

Plan read_plan_behind(const Plan& still) {
  const Plan plan = read_plan();
  if (!wire::begins_with(plan, still)) fail(Step::begin_with_still_view, ESTALE);
  return plan;
}

void take_plan_of_call(Word& word) {
  if (word.cgroups != 1) fail(Step::read_plan, EINVAL);
  must(::dup2(word.cgroup[0], wire::plan_fd), Step::read_plan);
  ::close(word.cgroup[0]);
  word.cgroups = 0;
}

bool wait_for_plan(Word& word) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof word.cgroup)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  ssize_t got = -1;
  do got = ::recvmsg(wire::control_fd, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != 1) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return true;
  word.cgroups = static_cast<uint32_t>((header->cmsg_len - CMSG_LEN(0)) / sizeof word.cgroup[0]);
  std::memcpy(word.cgroup, CMSG_DATA(header), word.cgroups * sizeof word.cgroup[0]);
  return true;
}

void join_cgroups(const Word& word) {
  for (uint32_t i = 0; i < word.cgroups; ++i) {
    if (::write(word.cgroup[i], "0", 1) != 1) fail(Step::join_cgroup, errno, i);
    ::close(word.cgroup[i]);
  }
}

void die_with(const Keeper& keeper) {
  must(::prctl(PR_SET_PDEATHSIG, SIGKILL), Step::parent_death);
  pollfd ended{keeper.pidfd, POLLIN, 0};
  if (::poll(&ended, 1, 0) != 0) ::_exit(125);
}

void map_ids(const Plan& plan, const char* who) {
  Text<64> path;
  Text<64> line;
  if (!plan.has(wire::privileged)) {
    // Without it the kernel lets no ordinary user map groups: setgroups could shed a group that denies
    // access.
    path.add("/proc/").add(who).add("/setgroups");
    // gVisor has no such file, and lets no process shed a group.
    if (::access(path.c_str(), F_OK) == 0) write_file(path.c_str(), "deny", 4);
  }
  line.add(plan.inside_uid).add(" ").add(plan.outside_uid).add(" 1\n");
  path.clear().add("/proc/").add(who).add("/uid_map");
  write_file(path.c_str(), line.c_str(), line.size());
  line.clear().add(plan.inside_gid).add(" ").add(plan.outside_gid).add(" 1\n");
  path.clear().add("/proc/").add(who).add("/gid_map");
  write_file(path.c_str(), line.c_str(), line.size());
}

void offer_to_oom_killer() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!::write(fd, "1000", 4);  // a preference, not a layer
  ::close(fd);
}

}  // namespace cloche::jail
