// Everything of one egress process: the listeners, the connections, and the gateway's end of the line.
#pragma once

#include <memory>
#include <vector>

#include "egress/dns/dns_service.hpp"
#include "egress/proxy/connection.hpp"
#include "egress/proxy/published_ports.hpp"

namespace cloche::egress {

class Server {
 public:
  Server(const EgressSettings& settings, ResolverFiles files, Routes& routes);

  // Until the gateway has closed its end. False: it could not begin.
  bool run(std::vector<OwnedFd> listeners);

 private:
  struct Listener : Handler {
    Listener(Server& whose, OwnedFd socket) : server(whose), fd(std::move(socket)) {}
    void ready(uint32_t) override { server.accept_from(*this); }
    Server& server;
    OwnedFd fd;
  };
  struct Control : Handler {
    void ready(uint32_t events) override;
    bool closed = false;
  };

  bool serve_published(std::vector<OwnedFd>& listeners);
  void accept_from(Listener& listener);
  bool accept_one(Listener& listener);
  bool turn_away(Listener& listener);
  void keep_spare();
  void take(OwnedFd client);
  void look_at_clock();
  void deliver_last_words();
  bool are_delivering();
  HostCount& count_for(const std::string& name, uint16_t port);
  bool say_totals_so_far();
  void say_what_was_used();

  EgressSettings settings_;
  ResolverFiles files_;
  Loop loop_;
  GatewayChannel gateway_;
  PipePool pipes_;
  Lookups lookups_;
  NameAddresses names_;
  DnsService dns_;
  House house_;
  PublishedPorts published_;
  Control control_;
  OwnedFd spare_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<uint64_t>> totals_;  // of bytes, one for each name
  std::vector<std::unique_ptr<HostCount>> counts_;
  std::vector<std::unique_ptr<Connection>> connections_;
  uint64_t looked_ms_ = 0;
  uint64_t totals_ms_ = 0;
  bool totals_are_said_ = true;
};

}  // namespace cloche::egress
