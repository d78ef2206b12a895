// Published ports: connections that come to the host's loopback and are answered by servers of the command.
//
// The sandbox's network has no socket that waits here, so the jail hands out connectors: unconnected sockets
// that were made inside. One is connected to the server's port for each connection of the host's side, and
// dissolved and used again when that has ended. Nothing inside can begin one: a connector only ever connects
// to the loopback of the sandbox.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "egress/proxy/gateway_channel.hpp"
#include "egress/proxy/loop.hpp"
#include "egress/proxy/relay.hpp"
#include "egress/proxy/settings.hpp"

namespace cloche::egress {

class PublishedPorts {
 public:
  PublishedPorts(Loop& loop, PipePool& pipes, GatewayChannel& speaker, const EgressSettings& settings);
  ~PublishedPorts();

  // One listener for each published port, and connectors: the first half of IPv4.
  bool serve(std::vector<OwnedFd> listeners, std::vector<OwnedFd> connectors);
  void look_at_clock();
  bool is_idle() const { return streams_.empty(); }
  // The command has ended: whether an answer is still on its way. What its server has ended is.
  bool are_delivering();

 private:
  class Stream;
  struct Door : Handler {
    Door(PublishedPorts& whose, OwnedFd socket, PublishedPort which)
        : ports(whose), fd(std::move(socket)), port(which) {}
    void ready(uint32_t) override { ports.accept_from(*this); }
    PublishedPorts& ports;
    OwnedFd fd;
    PublishedPort port;
    uint64_t bytes = 0;  // both ways, of all its connections
  };
  enum class Family { v4, v6 };

  void accept_from(Door& door);
  OwnedFd borrow(Family family);
  void give_back(OwnedFd connector, Family family);

  Loop& loop_;
  PipePool& pipes_;
  GatewayChannel& speaker_;
  const EgressSettings& settings_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::vector<OwnedFd> free4_;
  std::vector<OwnedFd> free6_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace cloche::egress
