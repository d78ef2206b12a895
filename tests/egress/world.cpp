#include "egress/world.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

void must(bool good, const std::string& doing) {
  if (!good) throw std::runtime_error(doing + ": " + std::strerror(errno));
}

void ip(const std::string& words) {
  const Ran ran = run({.argv = {"bash", "-c", "set -e; " + words}});
  if (ran.exit_code != 0) throw std::runtime_error(words + ": " + ran.err);
}

int open_namespace() { return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC); }

constexpr const char* addresses_there[] = {
    "93.184.217.2/24 dev in0",
    "2606:2800:221::2/64 dev in0 nodad",
    "fe80::53/64 dev in0 nodad",
    "93.184.216.34/32 dev lo",
    "93.184.216.35/32 dev lo",
    "8.8.4.4/32 dev lo",
    "2606:2800:220:1::34/128 dev lo nodad",
    "2606:2800:220:1::35/128 dev lo nodad",
    // Where no name may lead:
    "10.1.2.3/32 dev lo",
    "172.16.1.1/32 dev lo",
    "192.168.1.1/32 dev lo",
    "169.254.169.254/32 dev lo",
    "100.64.0.1/32 dev lo",
    "100.100.100.200/32 dev lo",
    "198.51.100.7/32 dev lo",
    "fd00:ec2::254/128 dev lo nodad",
    "64:ff9b::5db8:d823/128 dev lo nodad",
    "2002:5db8:d823::1/128 dev lo nodad",
};

}  // namespace

PutOver::PutOver(const std::string& path, const std::string& text) : target_(fs::canonical(path)) {
  char name[] = "/var/tmp/cloche-egress-XXXXXX";
  const int fd = mkstemp(name);
  must(fd >= 0, "make a file");
  file_ = name;
  must(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write a file");
  must(fchmod(fd, 0644) == 0, "chmod");
  close(fd);
  must(mount(name, target_.c_str(), nullptr, MS_BIND, nullptr) == 0, "mount over " + path);
}

PutOver::~PutOver() {
  umount2(target_.c_str(), MNT_DETACH);
  unlink(file_.c_str());
}

World::World(const std::string& hosts) {
  must(unshare(CLONE_NEWNET | CLONE_NEWNS) == 0, "unshare");
  must(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "make the mounts private");
  here_ = open_namespace();
  std::thread([this] {
    if (unshare(CLONE_NEWNET) == 0) there_ = open_namespace();
  }).join();
  must(here_ >= 0 && there_ >= 0, "make the network namespaces");
  ip("ip link set lo up; ip link add out0 type veth peer name in0 netns " + path_there());
  std::string there = "ip link set lo up; ip link set in0 up; ";
  for (const char* address : addresses_there) there += "ip address add " + std::string(address) + "; ";
  ip("nsenter --net=" + path_there() + " bash -ec '" + there + "'");
  ip("ip link set out0 up; ip address add 93.184.217.1/24 dev out0;"
     "ip -6 address add 2606:2800:221::1/64 dev out0 nodad;"
     "ip route add default via 93.184.217.2; ip -6 route add default via 2606:2800:221::2;"
     "ip address add 93.184.217.9/24 dev out0;"
     "ip route add local 93.184.219.0/24 dev lo; ip -6 route add local 2606:2800:222::/64 dev lo;"
     "ip route add blackhole 93.184.220.0/24; ip -6 route add blackhole 2606:2800:223::/64;"
     "ip route add prohibit 93.184.221.0/24; ip -6 route add prohibit 2606:2800:224::/64;"
     "ip route add unreachable 93.184.222.0/24; ip -6 route add unreachable 2606:2800:225::/64");
  files_.push_back(std::make_unique<PutOver>("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n" + hosts));
  files_.push_back(
      std::make_unique<PutOver>("/etc/resolv.conf", "nameserver " + std::string(resolver_address) + "\n"));
}

World::~World() {
  close(here_);
  close(there_);
}

void World::there(const std::function<void()>& make) const {
  std::thread([&] {
    if (setns(there_, CLONE_NEWNET) == 0) make();
  }).join();
}

std::string World::path_there() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(there_);
}

namespace {

struct Place {
  sockaddr_storage room{};
  socklen_t size = 0;
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&room); }
};

Place place_of(const std::string& address, uint16_t port) {
  Place place;
  sockaddr_in old{};
  if (inet_pton(AF_INET, address.c_str(), &old.sin_addr) == 1) {
    old.sin_family = AF_INET;
    old.sin_port = htons(port);
    std::memcpy(&place.room, &old, sizeof old);
    place.size = sizeof old;
    return place;
  }
  sockaddr_in6 wide{};
  wide.sin6_family = AF_INET6;
  wide.sin6_port = htons(port);
  const size_t mark = address.find('%');
  if (mark != std::string::npos) wide.sin6_scope_id = if_nametoindex(address.c_str() + mark + 1);
  if (!address.empty() && inet_pton(AF_INET6, address.substr(0, mark).c_str(), &wide.sin6_addr) != 1)
    throw std::runtime_error("no address: " + address);
  std::memcpy(&place.room, &wide, sizeof wide);
  place.size = sizeof wide;
  return place;
}

}  // namespace

int World::socket_here(Kind kind, const std::string& address, uint16_t port) {
  const Place place = place_of(address, port);
  const int type = kind == Kind::stream ? SOCK_STREAM : SOCK_DGRAM;
  const int fd = socket(place.room.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool good =
      bind(fd, place.address(), place.size) == 0 && (kind == Kind::datagrams || listen(fd, 1024) == 0);
  if (good) return fd;
  close(fd);
  return -1;
}

int World::socket_there(Kind kind, const std::string& address, uint16_t port) const {
  int fd = -1;
  there([&] { fd = socket_here(kind, address, port); });
  must(fd >= 0, "serve at " + address + " port " + std::to_string(port));
  return fd;
}

bool reachable(const std::string& address, uint16_t port) {
  const Place place = place_of(address, port);
  const int fd = socket(place.room.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  connect(fd, place.address(), place.size);
  pollfd event{fd, POLLOUT, 0};
  int problem = ETIMEDOUT;
  socklen_t size = sizeof problem;
  if (poll(&event, 1, 3000) == 1) getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size);
  close(fd);
  return problem == 0;
}

}  // namespace cloche::test
