// The resolver that the sandbox sees: questions at its two listeners, answers from the book of names. Nothing
// that is asked here leaves the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "egress/dns/dns_stub.hpp"
#include "egress/dns/name_addresses.hpp"
#include "egress/proxy/gateway_channel.hpp"
#include "egress/proxy/loop.hpp"
#include "egress/proxy/settings.hpp"

namespace cloche::egress {

// The answer to one message, empty when there is none; what was refused is said.
dns::Message answer_question(Bytes message, NameAddresses& names, bool ipv6, GatewayChannel& speaker);

class DnsService {
 public:
  DnsService(Loop& loop, NameAddresses& names, bool ipv6, GatewayChannel& speaker)
      : loop_(loop), names_(names), ipv6_(ipv6), gateway_(speaker) {}

  bool serve(OwnedFd datagrams, OwnedFd streams);  // without streams: by datagrams alone
  void look_at_clock();

 private:
  struct Datagrams : Handler {
    explicit Datagrams(DnsService& whose) : service(whose) {}
    void ready(uint32_t events) override;
    DnsService& service;
    OwnedFd fd;
  };
  struct Streams : Handler {
    explicit Streams(DnsService& whose) : service(whose) {}
    void ready(uint32_t events) override;
    DnsService& service;
    OwnedFd fd;
  };
  // One client over TCP: question after question, and away when it asks no more.
  struct Stream : Handler, Mortal {
    Stream(DnsService& whose, OwnedFd socket) : service(whose), fd(std::move(socket)) {}
    void ready(uint32_t events) override;
    DnsService& service;
    OwnedFd fd;
    std::string taken = {};
    uint64_t began_ms = 0;
  };
  void sweep();

  Loop& loop_;
  NameAddresses& names_;
  bool ipv6_;
  GatewayChannel& gateway_;
  Datagrams datagrams_{*this};
  Streams streams_listener_{*this};
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace cloche::egress
