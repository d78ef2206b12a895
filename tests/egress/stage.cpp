#include "egress/stage.hpp"

namespace cloche::test {
namespace {

using Kind = World::Kind;

// Names of the host's own file come before the resolver's.
constexpr const char* own_hosts =
    "93.184.216.34 from-file.cloche.test\n"
    "10.1.2.3 private-in-file.cloche.test\n";

}  // namespace

Stage::Stage()
    : world(own_hosts),
      dns(world),
      echo(world.socket_there(Kind::stream, "", echo_port), Manner::echo),
      banner(world.socket_there(Kind::stream, "", banner_port), Manner::banner),
      source(world.socket_there(Kind::stream, "", source_port), Manner::source),
      deaf(world.socket_there(Kind::stream, "", deaf_port), Manner::deaf),
      listener(world.socket_there(Kind::stream, "", listener_port), Manner::listen),
      http(world.socket_there(Kind::stream, tool_address, 80), Manner::record),
      https(world.socket_there(Kind::stream, tool_address, 443), Manner::record),
      web(world) {
  dns.tell("web.cloche.test", {{.addresses = {web_address, web_address6}}});
  dns.tell("six.cloche.test", web_address6);
  dns.tell("other.cloche.test", web_address);
  dns.tell("tool.cloche.test", tool_address);
  dns.tell("tool6.cloche.test", tool_address6);
}

}  // namespace cloche::test
