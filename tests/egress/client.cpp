// A client that runs inside the sandbox: connects by name or by number, sends what it is told to in pieces,
// and says in one line what became of each connection. Nothing of it knows of Cloche.
//
//   talk FILE...            of each file the first line is "NAME PORT PIECE PAUSE_MS HALF", the rest is sent;
//                           "NAME seen|ended|reset|silent|refused|unknown TEXT"
//   connect ADDRESS PORT    the name of the errno, or "connected"
//   datagram ADDRESS PORT   the same for a datagram that is sent, and what comes back
//   sockets                 which kinds of socket can be made
//   hold NAME PORT COUNT    so many connections, an echo on each; "held COUNT"; ends when stdin does
//   pull NAME PORT BYTES    takes so many and counts them: "pulled COUNT ended|reset"
//   listen PORT             whether 127.0.0.1 is the sandbox's own there
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int patience_ms = 15'000;

struct Dialled {
  int fd = -1;
  std::string problem = {};
};

// The first address that answers, as every client does.
Dialled dial(const std::string& name, const std::string& port, int flags = 0) {
  addrinfo wish{};
  wish.ai_socktype = SOCK_STREAM;
  wish.ai_flags = flags;
  addrinfo* list = nullptr;
  if (getaddrinfo(name.c_str(), port.c_str(), &wish, &list) != 0) return {-1, "unknown"};
  Dialled dialled{-1, "none"};
  for (const addrinfo* at = list; at != nullptr && dialled.fd < 0; at = at->ai_next) {
    const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, at->ai_addr, at->ai_addrlen) == 0) {
      dialled = {fd, {}};
    } else {
      dialled.problem = strerrorname_np(errno);
      close(fd);
    }
  }
  freeaddrinfo(list);
  const int on = 1;
  if (dialled.fd >= 0) setsockopt(dialled.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return dialled;
}

struct Script {
  std::string name;
  std::string port;
  size_t piece = 0;
  int pause_ms = 0;
  bool half = false;  // says that it has ended, and still listens
  std::string bytes;
};

Script read_script(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  Script script;
  std::istringstream(line) >> script.name >> script.port >> script.piece >> script.pause_ms >> script.half;
  script.bytes.assign(std::istreambuf_iterator<char>(file), {});
  return script;
}

bool send_pieces(int fd, const Script& script) {
  for (size_t at = 0; at < script.bytes.size(); at += script.piece) {
    const std::string piece = script.bytes.substr(at, script.piece);
    if (send(fd, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) return false;
    if (script.pause_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(script.pause_ms));
  }
  return !script.half || shutdown(fd, SHUT_WR) == 0;
}

std::string wait_for_word(int fd) {
  pollfd event{fd, POLLIN, 0};
  if (poll(&event, 1, patience_ms) != 1) return "silent";
  char room[4096];
  const ssize_t got = recv(fd, room, sizeof room, 0);
  if (got < 0) return "reset";
  if (got == 0) return "ended";
  return "seen " + std::string(room, static_cast<size_t>(got)).substr(0, 200);
}

std::string talk(const Script& script) {
  const Dialled dialled = dial(script.name, script.port);
  if (dialled.fd < 0) return dialled.problem == "unknown" ? "unknown" : "refused " + dialled.problem;
  std::string word = send_pieces(dialled.fd, script) ? wait_for_word(dialled.fd) : "reset";
  close(dialled.fd);
  return word;
}

const char* errno_or(bool good, const char* text) { return good ? text : strerrorname_np(errno); }

int connect_number(const std::string& address, const std::string& port) {
  const Dialled dialled = dial(address, port, AI_NUMERICHOST);
  std::puts(dialled.fd >= 0 ? "connected" : dialled.problem.c_str());
  return 0;
}

int send_datagram(const std::string& address, const std::string& port) {
  addrinfo wish{};
  wish.ai_socktype = SOCK_DGRAM;
  wish.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), port.c_str(), &wish, &found) != 0) return 1;
  const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool sent = connect(fd, found->ai_addr, found->ai_addrlen) == 0 && send(fd, "x", 1, 0) == 1;
  freeaddrinfo(found);
  if (!sent) return std::puts(strerrorname_np(errno)), 0;
  pollfd event{fd, POLLIN, 0};
  if (poll(&event, 1, 2000) != 1) return std::puts("silent"), 0;
  char room[16];
  std::puts(errno_or(recv(fd, room, sizeof room, 0) >= 0, "answered"));
  return 0;
}

int try_sockets() {
  const struct {
    const char* name;
    int family;
    int type;
    int protocol;
  } rows[] = {{"raw", AF_INET, SOCK_RAW, IPPROTO_TCP},
              {"raw6", AF_INET6, SOCK_RAW, IPPROTO_TCP},
              {"icmp", AF_INET, SOCK_RAW, IPPROTO_ICMP},
              {"ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
              {"packet", AF_PACKET, SOCK_RAW, 0},
              {"vsock", AF_VSOCK, SOCK_STREAM, 0},
              {"netlink", AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}};
  for (const auto& row : rows) {
    const int fd = socket(row.family, row.type | SOCK_CLOEXEC, row.protocol);
    if (fd < 0) {
      std::printf("%s %s\n", row.name, strerrorname_np(errno));
      continue;
    }
    // Whatever can be made must lead nowhere.
    sockaddr_in place{};
    place.sin_family = AF_INET;
    inet_pton(AF_INET, "93.184.216.34", &place.sin_addr);
    const char echo_request[8] = {8, 0};
    const bool sent =
        row.family == AF_INET && sendto(fd, echo_request, sizeof echo_request, 0,
                                        reinterpret_cast<const sockaddr*>(&place), sizeof place) > 0;
    std::printf("%s %s\n", row.name, sent ? "SENT" : "made");
    close(fd);
  }
  return 0;
}

int hold(const std::string& name, const std::string& port, int count) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  std::vector<int> fds;
  for (int i = 0; i < count; ++i) {
    const Dialled dialled = dial(name, port);
    char byte = 'x';
    const bool good = dialled.fd >= 0 && send(dialled.fd, &byte, 1, MSG_NOSIGNAL) == 1 &&
                      recv(dialled.fd, &byte, 1, 0) == 1;
    if (!good) break;
    fds.push_back(dialled.fd);
  }
  std::printf("held %zu\n", fds.size());
  std::fflush(stdout);
  char room[16];
  while (read(0, room, sizeof room) > 0) {
  }
  return 0;
}

int pull(const std::string& name, const std::string& port, unsigned long long wanted) {
  const Dialled dialled = dial(name, port);
  if (dialled.fd < 0) return std::puts(dialled.problem.c_str()), 0;
  std::vector<char> room(size_t{1} << 20);
  unsigned long long count = 0;
  ssize_t got = 1;
  while (count < wanted && (got = recv(dialled.fd, room.data(), room.size(), 0)) > 0)
    count += static_cast<unsigned long long>(got);
  std::printf("pulled %llu %s\n", count, got < 0 ? "reset" : got == 0 ? "ended" : "enough");
  return 0;
}

// The sandbox's own server at a port whose number some declared host has as well.
int listen_here(const char* port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<uint16_t>(std::stoi(port)));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool good =
      bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 && listen(fd, 1) == 0;
  if (!good) return std::puts(strerrorname_np(errno)), 0;
  const Dialled dialled = dial("127.0.0.1", port, AI_NUMERICHOST);
  const int client = accept(fd, nullptr, nullptr);
  std::puts(dialled.fd >= 0 && client >= 0 ? "own" : "not own");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "talk") {
    for (int i = 2; i < argc; ++i) {
      const Script script = read_script(argv[i]);
      std::printf("%s %s\n", script.name.c_str(), talk(script).c_str());
      std::fflush(stdout);
    }
    return 0;
  }
  if (mode == "connect" && argc == 4) return connect_number(argv[2], argv[3]);
  if (mode == "datagram" && argc == 4) return send_datagram(argv[2], argv[3]);
  if (mode == "sockets") return try_sockets();
  if (mode == "hold" && argc == 5) return hold(argv[2], argv[3], std::stoi(argv[4]));
  if (mode == "pull" && argc == 5) return pull(argv[2], argv[3], std::stoull(argv[4]));
  if (mode == "listen" && argc == 3) return listen_here(argv[2]);
  std::fputs("egress_client: see the head of its source\n", stderr);
  return 2;
}
