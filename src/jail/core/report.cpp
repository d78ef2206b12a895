#include "jail/core/report.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/core/text.hpp"

namespace cloche::jail {
namespace {

ReportWay way = ReportWay::socket;
uint64_t seal = 0;

// Not what is said while the command can read it.
wire::Report sealed(wire::Report report) {
  const bool before_it =
      report.kind == wire::ReportKind::failed || report.kind == wire::ReportKind::not_executed;
  report.seal = before_it ? seal : 0;
  return report;
}

void tell_people(const wire::Report& report) {
  Text<256> line;
  if (report.kind == wire::ReportKind::not_executed) {
    line.add("cloche-jail: the command cannot be executed: errno ");
  } else if (report.kind == wire::ReportKind::failed) {
    line.add("cloche-jail: cannot ").add(wire::name_of(report.step)).add(": errno ");
  } else {
    return;
  }
  line.add(static_cast<uint64_t>(report.number)).add("\n");
  (void)!::write(2, line.c_str(), line.size());
}

}  // namespace

void report_by(ReportWay chosen) { way = chosen; }
ReportWay report_way() { return way; }
void seal_with(uint64_t number) { seal = number; }

void send(const wire::Report& report) {
  if (way == ReportWay::text) return tell_people(report);
  if (way == ReportWay::file) {
    const wire::Report written = sealed(report);
    (void)!::write(wire::control_fd, &written, sizeof written);
    return;
  }
  // A supervisor that is gone cannot be told; its end of the socket is watched elsewhere.
  (void)::send(wire::control_fd, &report, sizeof report, MSG_NOSIGNAL);
}

void send_with(const wire::Report& report, int fd) { send_with(report, {&fd, 1}); }

void send_with(const wire::Report& report, std::span<const int> fds) {
  if (way != ReportWay::socket) return send(report);
  iovec data{const_cast<wire::Report*>(&report), sizeof report};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * wire::max_listeners)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  (void)::sendmsg(wire::control_fd, &message, MSG_NOSIGNAL);
}

void fail(wire::Step step, int number, uint32_t index) {
  send({.kind = wire::ReportKind::failed, .step = step, .number = number, .index = index});
  ::_exit(125);
}

int must(int value, wire::Step step, uint32_t index) {
  if (value < 0) fail(step, errno, index);
  return value;
}

void must_be(const wire::Identity& judged, int fd, wire::Step step, uint32_t index) {
  if (judged.inode == 0) return;
  struct stat seen {};
  must(::fstat(fd, &seen), step, index);
  const bool is_it = judged.inode == seen.st_ino && (judged.device == 0 || judged.device == seen.st_dev);
  if (!is_it) fail(step, ESTALE, index);
}

}  // namespace cloche::jail
