#include "egress/dns_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace cloche::test {
namespace {

constexpr uint16_t type_a = 1;
constexpr uint16_t type_cname = 5;
constexpr uint16_t type_aaaa = 28;
constexpr size_t head_bytes = 12;

std::string u16(unsigned value) {
  return {static_cast<char>(value >> 8 & 0xff), static_cast<char>(value & 0xff)};
}

std::string wire(const std::string& name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    out += static_cast<char>(end - at);
    out += name.substr(at, end - at);
    at = end + 1;
  }
  return out + '\0';
}

struct Asked {
  std::string name;
  std::string question;  // as it came: the name, the type and the class
  unsigned type = 0;
};

Asked read(const std::string& query) {
  Asked asked;
  size_t at = head_bytes;
  while (at < query.size() && query[at] != '\0') {
    const auto length = static_cast<unsigned char>(query[at]);
    if (!asked.name.empty()) asked.name += '.';
    asked.name += query.substr(at + 1, length);
    at += size_t{1} + length;
  }
  asked.question = query.substr(head_bytes, at + 5 - head_bytes);
  if (asked.question.size() >= 5) {
    const std::string& q = asked.question;
    asked.type = static_cast<unsigned>(static_cast<unsigned char>(q[q.size() - 4])) << 8 |
                 static_cast<unsigned char>(q[q.size() - 3]);
  }
  return asked;
}

std::string record(const std::string& name, unsigned type, const std::string& data) {
  return name + u16(type) + u16(1) + u16(0) + u16(60) + u16(static_cast<unsigned>(data.size())) + data;
}

std::string message(const std::string& id, unsigned flags, const std::string& question,
                    const std::vector<std::string>& records = {}) {
  std::string out = id + u16(0x8180 | flags) + u16(1) + u16(static_cast<unsigned>(records.size())) + u16(0) +
                    u16(0) + question;
  for (const auto& text : records) out += text;
  return out;
}

std::vector<std::string> records_of(const DnsAnswer& answer, unsigned type) {
  std::vector<std::string> out;
  std::string owner = "\xc0\x0c";  // the name of the question
  if (!answer.alias.empty()) {
    out.push_back(record(owner, type_cname, wire(answer.alias)));
    owner = wire(answer.alias);
  }
  for (const auto& address : answer.addresses) {
    const bool six = address.find(':') != std::string::npos;
    if (type != (six ? type_aaaa : type_a)) continue;
    char bytes[16];
    inet_pton(six ? AF_INET6 : AF_INET, address.c_str(), bytes);
    out.push_back(record(owner, type, std::string(bytes, six ? 16U : 4U)));
  }
  return out;
}

std::string other_id(std::string id) {
  id[0] = static_cast<char>(id[0] ^ 0x55);
  return id;
}

uint64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::vector<std::string> replies(const DnsAnswer& answer, const std::string& id, const Asked& asked,
                                 bool over_tcp) {
  using Kind = DnsAnswer::Kind;
  const std::string truth = message(id, 0, asked.question, records_of(answer, asked.type));
  const std::vector<std::string> lies = records_of({.addresses = {"93.184.216.66", "2606::66"}}, asked.type);
  if (over_tcp) return answer.whole_over_tcp ? std::vector{truth} : std::vector<std::string>{};
  switch (asked.type == type_aaaa ? answer.kind6.value_or(answer.kind) : answer.kind) {
    case Kind::addresses: return {truth};
    case Kind::no_such_name: return {message(id, 3, asked.question)};
    case Kind::silent: return {};
    case Kind::failed: return {message(id, 2, asked.question)};
    case Kind::truncated: return {message(id, 0x200, asked.question, records_of(answer, asked.type))};
    case Kind::malformed: return {message(id, 0, asked.question, {"\xc0\xff\x01"})};
    case Kind::forged:
      return {message(other_id(id), 0, asked.question, lies),
              message(id, 0, wire("other.cloche.test") + u16(asked.type) + u16(1), lies),
              message(id, 0, asked.question, lies).replace(2, 1, 1, '\x01'), truth};
  }
  return {};
}

}  // namespace

DnsServer::DnsServer(const World& world, const std::string& address)
    : fd_(world.socket_there(World::Kind::datagrams, address, 53)),
      streams_(world.socket_there(World::Kind::stream, address, 53)) {
  if (pipe2(end_, O_CLOEXEC) != 0) end_[0] = end_[1] = -1;
  thread_ = std::thread([this] { serve(); });
}

DnsServer::~DnsServer() {
  close(end_[1]);
  thread_.join();
  close(end_[0]);
  close(streams_);
  close(fd_);
}

void DnsServer::tell(const std::string& name, std::vector<DnsAnswer> in_turn) {
  const std::scoped_lock lock(mutex_);
  told_[name] = {std::move(in_turn)};
}

void DnsServer::tell(const std::string& name, const std::string& address) {
  tell(name, std::vector<DnsAnswer>{{.addresses = {address}}});
}

std::vector<std::string> DnsServer::asked() const {
  const std::scoped_lock lock(mutex_);
  return asked_;
}

std::vector<std::string> DnsServer::replies_to(const std::string& query, Over over, int& after_ms) {
  if (query.size() < head_bytes + 5) return {};
  const Asked asked = read(query);
  const std::string id = query.substr(0, 2);
  const std::scoped_lock lock(mutex_);
  asked_.push_back(asked.name);
  const auto told = told_.find(asked.name);
  if (told == told_.end()) return replies({.kind = DnsAnswer::Kind::no_such_name}, id, asked, false);
  // The question for IPv4 comes first, and with it the next answer.
  auto& [in_turn, times] = told->second;
  if (asked.type == type_a && over == Over::udp) ++times;
  const size_t turn = std::min(std::max<size_t>(times, 1), in_turn.size()) - 1;
  if (asked.type == type_a) after_ms = in_turn[turn].after_ms;
  return replies(in_turn[turn], id, asked, over == Over::tcp);
}

void DnsServer::hear_datagram() {
  char room[2048];
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  const ssize_t got = recvfrom(fd_, room, sizeof room, 0, reinterpret_cast<sockaddr*>(&peer), &size);
  if (got <= 0) return;
  int after_ms = 0;
  for (auto& reply : replies_to(std::string(room, static_cast<size_t>(got)), Over::udp, after_ms))
    late_.push_back({now_ms() + static_cast<uint64_t>(after_ms), std::move(reply),
                     std::string(reinterpret_cast<const char*>(&peer), size)});
}

// One question each, which comes in one piece from whoever asks here.
void DnsServer::hear_stream() {
  const int fd = accept4(streams_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  char room[2048];
  pollfd event{fd, POLLIN, 0};
  const ssize_t got = poll(&event, 1, 1000) == 1 ? recv(fd, room, sizeof room, 0) : 0;
  int after_ms = 0;
  if (got > 2) {
    for (const auto& reply :
         replies_to(std::string(room + 2, static_cast<size_t>(got) - 2), Over::tcp, after_ms)) {
      const std::string framed = u16(static_cast<unsigned>(reply.size())) + reply;
      (void)!send(fd, framed.data(), framed.size(), MSG_NOSIGNAL);
    }
  }
  close(fd);
}

void DnsServer::send_due() {
  const uint64_t now = now_ms();
  for (const auto& reply : late_) {
    if (reply.due_ms <= now)
      sendto(fd_, reply.bytes.data(), reply.bytes.size(), 0,
             reinterpret_cast<const sockaddr*>(reply.peer.data()), static_cast<socklen_t>(reply.peer.size()));
  }
  std::erase_if(late_, [&](const Reply& reply) { return reply.due_ms <= now; });
}

int DnsServer::wait_ms() const { return late_.empty() ? -1 : 2; }

void DnsServer::serve() {
  while (true) {
    pollfd events[3] = {{fd_, POLLIN, 0}, {streams_, POLLIN, 0}, {end_[0], POLLIN, 0}};
    poll(events, 3, wait_ms());
    if (events[2].revents != 0) return;
    if (events[0].revents != 0) hear_datagram();
    if (events[1].revents != 0) hear_stream();
    send_due();
  }
}

}  // namespace cloche::test
