#include "egress/proxy/published_ports.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "egress/proxy/sockets.hpp"

namespace cloche::egress {
namespace {

constexpr uint64_t connect_ms = 5000;  // on a loopback: its server does not take connections in
constexpr int most_accepted_at_once = 64;
constexpr std::string_view reported_name = "localhost";

SocketPlace loopback_place(bool v6, uint16_t port) {
  if (!v6) return place_of(IpAddress::v4(std::array<uint8_t, 4>{127, 0, 0, 1}), port);
  std::array<uint8_t, 16> bytes = {};
  bytes.back() = 1;
  return place_of(IpAddress::v6(bytes), port);
}

}  // namespace

class PublishedPorts::Stream : public Mortal {
 public:
  Stream(PublishedPorts& ports, Door& door, OwnedFd client)
      : ports_(ports),
        door_(door),
        client_(std::move(client)),
        began_ms_(ports.loop_.now_ms()),
        moved_ms_(began_ms_) {}
  ~Stream() override { end(); }

  void start() {
    make_relayed(client_.get(), buffers_for(ports_.streams_.size() + 1));
    if (!ports_.loop_.watch(client_.get(), client_end_)) return end();
    try_family(Family::v4);
  }
  bool over() const { return over_; }
  // Nothing more comes from the server.
  bool is_answered() const { return over() || in_ended_; }

  void look_at_clock() {
    const uint64_t now = ports_.loop_.now_ms();
    if (over()) return;
    if (connecting_ && now - moved_ms_ > connect_ms) return end();
    if (now - began_ms_ > ports_.settings_.time_ms) return refuse(EgressReason::too_long_open);
    if (now - moved_ms_ > ports_.settings_.idle_ms) return refuse(EgressReason::too_long_idle);
  }

 private:
  enum class Side { client, server };
  struct End : Handler {
    End(Stream& whose, Side which) : owner(whose), side(which) {}
    void ready(uint32_t events) override { owner.ready(side, events); }
    Stream& owner;
    Side side;
  };

  void try_family(Family family) {
    put_server_back();
    family_ = family;
    server_ = ports_.borrow(family);
    if (!server_) return refuse(EgressReason::too_many_published);
    make_relayed(server_.get(), buffers_for(ports_.streams_.size() + 1));
    const SocketPlace place = loopback_place(family == Family::v6, door_.port.inside);
    connecting_ = true;
    if (::connect(server_.get(), place.address(), place.size) != 0 && errno != EINPROGRESS)
      return not_there();
    if (!ports_.loop_.watch(server_.get(), server_end_)) return end();
  }

  // A server may listen at one address of its loopback alone.
  void not_there() { family_ == Family::v4 ? try_family(Family::v6) : end(); }

  void ready(Side side, uint32_t events) {
    if (over()) return;
    if (!connecting_) return relay();
    if (side == Side::client || (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return;
    int problem = 0;
    socklen_t size = sizeof problem;
    if (::getsockopt(server_.get(), SOL_SOCKET, SO_ERROR, &problem, &size) != 0) problem = errno;
    if (problem != 0) return not_there();
    connecting_ = false;
    relay();
  }

  Moved move(Relay& relay, int source, int target) {
    uint64_t left = ports_.settings_.bytes - std::min(ports_.settings_.bytes, door_.bytes);
    const uint64_t before = left;
    const Moved moved = relay.splice(source, target, ports_.pipes_, left, moved_bytes_);
    door_.bytes += before - left;
    return moved;
  }

  void relay() {
    const uint64_t before = moved_bytes_;
    const Moved out = out_ended_ ? Moved::waits : move(out_, client_.get(), server_.get());
    const Moved in = in_ended_ ? Moved::waits : move(in_, server_.get(), client_.get());
    if (moved_bytes_ != before) moved_ms_ = ports_.loop_.now_ms();
    if (out == Moved::spent || in == Moved::spent) return refuse(EgressReason::too_many_bytes);
    if (in == Moved::cut || in == Moved::broken || out == Moved::cut) return end();
    // The server may have said everything before it went.
    if (out == Moved::ended) ::shutdown(server_.get(), SHUT_WR);
    if (in == Moved::ended) ::shutdown(client_.get(), SHUT_WR);
    out_ended_ = out_ended_ || out == Moved::ended || out == Moved::broken;
    in_ended_ = in_ended_ || in == Moved::ended;
    if (out_ended_ && in_ended_) {
      end_orderly(client_);
      return end();
    }
    if (out == Moved::more || in == Moved::more) ports_.loop_.again(client_end_);
  }

  void refuse(EgressReason reason) {
    ports_.speaker_.refused(reason, {reported_name, door_.port.host});
    end();
  }

  void put_server_back() {
    if (!server_) return;
    ports_.loop_.unwatch(server_.get(), server_end_);
    ports_.give_back(std::move(server_), family_);
  }

  void end() {
    if (over_) return;
    over_ = true;
    put_server_back();
    ports_.loop_.forget(client_end_);
    end_abruptly(client_);
    out_.drop(ports_.pipes_);
    in_.drop(ports_.pipes_);
  }

  PublishedPorts& ports_;
  Door& door_;
  OwnedFd client_;  // of the host's side
  OwnedFd server_;  // a connector
  Family family_ = Family::v4;
  End client_end_{*this, Side::client};
  End server_end_{*this, Side::server};
  Relay out_;  // to the server
  Relay in_;
  uint64_t moved_bytes_ = 0;
  bool connecting_ = false;
  bool over_ = false;
  bool out_ended_ = false;
  bool in_ended_ = false;
  uint64_t began_ms_;
  uint64_t moved_ms_;
};

PublishedPorts::PublishedPorts(Loop& loop, PipePool& pipes, GatewayChannel& speaker,
                               const EgressSettings& settings)
    : loop_(loop), pipes_(pipes), speaker_(speaker), settings_(settings) {}

PublishedPorts::~PublishedPorts() = default;

bool PublishedPorts::serve(std::vector<OwnedFd> listeners, std::vector<OwnedFd> connectors) {
  const size_t half = connectors.size() / 2;
  for (size_t i = 0; i < connectors.size(); ++i)
    (i < half ? free4_ : free6_).push_back(std::move(connectors[i]));
  for (size_t i = 0; i < listeners.size() && i < settings_.published.size(); ++i) {
    doors_.push_back(std::make_unique<Door>(*this, std::move(listeners[i]), settings_.published[i]));
    if (!loop_.watch(doors_.back()->fd.get(), *doors_.back())) return false;
  }
  return true;
}

void PublishedPorts::accept_from(Door& door) {
  for (int i = 0; i < most_accepted_at_once; ++i) {
    OwnedFd client(::accept4(door.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client && errno == EINTR) continue;
    if (!client) return;
    streams_.push_back(std::make_unique<Stream>(*this, door, std::move(client)));
    streams_.back()->start();
  }
  loop_.again(door);
}

OwnedFd PublishedPorts::borrow(Family family) {
  auto& free = family == Family::v4 ? free4_ : free6_;
  if (free.empty()) return {};
  OwnedFd connector = std::move(free.back());
  free.pop_back();
  return connector;
}

// Dissolved, it is as it was made.
void PublishedPorts::give_back(OwnedFd connector, Family family) {
  sockaddr nothing{};
  nothing.sa_family = AF_UNSPEC;
  if (::connect(connector.get(), &nothing, sizeof nothing) != 0) return;
  (family == Family::v4 ? free4_ : free6_).push_back(std::move(connector));
}

void PublishedPorts::look_at_clock() {
  for (auto& stream : streams_) {
    stream->look_at_clock();
    if (stream->over()) loop_.bury(std::move(stream));
  }
  std::erase(streams_, nullptr);
}

bool PublishedPorts::are_delivering() {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& one) { return !one->is_answered(); });
}

}  // namespace cloche::egress
