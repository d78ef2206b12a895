// Everything that stands while the egress tests run: made by main(), once.
#pragma once

#include "egress/dns_server.hpp"
#include "egress/servers.hpp"
#include "egress/web.hpp"
#include "egress/world.hpp"

namespace cloche::test {

inline constexpr uint16_t echo_port = 7000;  // at every address there
inline constexpr uint16_t banner_port = 7001;
inline constexpr uint16_t source_port = 7002;
inline constexpr uint16_t deaf_port = 7003;
inline constexpr uint16_t listener_port = 7004;

struct Stage {
  Stage();

  World world;
  DnsServer dns;
  TcpServer echo;
  TcpServer banner;
  TcpServer source;
  TcpServer deaf;
  TcpServer listener;
  TcpServer http;   // a recorder at port 80 of the tools' address
  TcpServer https;  // and at 443
  Web web;
};

// Only while main() runs the tests.
Stage& stage();

}  // namespace cloche::test
