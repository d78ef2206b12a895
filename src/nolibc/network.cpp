// What only those who speak to a network use.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "nolibc/call.hpp"

using cloche::nolibc::call;
using cloche::nolibc::kernel_mask_bytes;

extern "C" {

int bind(int fd, const sockaddr* place, socklen_t size) noexcept {
  return static_cast<int>(call(SYS_bind, fd, place, size));
}
int listen(int fd, int backlog) noexcept { return static_cast<int>(call(SYS_listen, fd, backlog)); }
int connect(int fd, const sockaddr* place, socklen_t size) {
  return static_cast<int>(call(SYS_connect, fd, place, size));
}
int accept4(int fd, sockaddr* peer, socklen_t* size, int flags) {
  return static_cast<int>(call(SYS_accept4, fd, peer, size, flags));
}
int getsockname(int fd, sockaddr* place, socklen_t* size) noexcept {
  return static_cast<int>(call(SYS_getsockname, fd, place, size));
}
int setsockopt(int fd, int level, int option, const void* value, socklen_t size) noexcept {
  return static_cast<int>(call(SYS_setsockopt, fd, level, option, value, size));
}
int getsockopt(int fd, int level, int option, void* value, socklen_t* size) noexcept {
  return static_cast<int>(call(SYS_getsockopt, fd, level, option, value, size));
}
ssize_t sendto(int fd, const void* bytes, size_t size, int flags, const sockaddr* to, socklen_t to_size) {
  return call(SYS_sendto, fd, bytes, size, flags, to, to_size);
}
ssize_t recvfrom(int fd, void* bytes, size_t size, int flags, sockaddr* from, socklen_t* from_size) {
  return call(SYS_recvfrom, fd, bytes, size, flags, from, from_size);
}
ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  return call(SYS_splice, from, from_offset, to, to_offset, size, flags);
}
int epoll_create1(int flags) noexcept { return static_cast<int>(call(SYS_epoll_create1, flags)); }
int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  return static_cast<int>(call(SYS_epoll_ctl, epoll, operation, fd, event));
}
int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  return static_cast<int>(call(SYS_epoll_pwait, epoll, events, most, timeout_ms, nullptr, kernel_mask_bytes));
}

}  // extern "C"
