// Hosts as they are declared and compared: a name, or all that is below one, and the ports that go with it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policy/hosts/host_name.hpp"

namespace cloche {

// The ports of a declaration: the one it names, or the web's two. There is no empty set and none of all
// ports.
class Ports {
 public:
  static constexpr Ports web() { return Ports({80, 443}, 2); }
  static constexpr Ports one(uint16_t port) { return Ports({port, 0}, 1); }

  std::span<const uint16_t> list() const { return {ports_.data(), count_}; }
  bool contain(uint16_t port) const;
  bool contain(const Ports& others) const;
  friend bool operator==(const Ports&, const Ports&) = default;

 private:
  constexpr Ports(std::array<uint16_t, 2> ports, uint8_t count) : ports_(ports), count_(count) {}

  std::array<uint16_t, 2> ports_;
  uint8_t count_;
};

struct DeclaredHost {
  enum class Kind {
    name,           // NAME
    below,          // *.NAME: one label or more below the name, not the name itself
    host_loopback,  // localhost:PORT: a service on the host's own loopback, never 127.0.0.1 of the sandbox
  };

  Kind kind = Kind::name;
  HostName name;
  Ports ports = Ports::web();
};

struct ReadHost {
  std::optional<DeclaredHost> host = {};
  std::string_view problem = {};  // where there is none: half a sentence, "the port is not one of 1 to 65535"

  explicit operator bool() const { return host.has_value(); }
};

// NAME, *.NAME or localhost, each with :PORT; without a port it is 80 and 443, and localhost needs one. Below
// a single label (*.org) nothing can be declared: that would be a whole top-level domain. Shared suffixes of
// two labels
// (*.co.uk, *.github.io) are not known here, and can.
ReadHost read_declared_host(std::string_view text);
// The same for what a call wants to reach: never a pattern.
ReadHost read_wanted_host(std::string_view text);
// :PORT without the colon: 1 to 65535, digits alone, no zero in front.
std::optional<uint16_t> read_port(std::string_view text);

// Whether every host and port of `narrow` is one of `wide`.
bool covers(const DeclaredHost& wide, const DeclaredHost& narrow);
// The same for a name that was looked up, or is connected to, within a call. Never true of localhost, which
// has its own way: asking for the name gives nothing.
bool covers(const DeclaredHost& wide, const HostName& name, uint16_t port);
bool covers(const DeclaredHost& wide, const HostName& name);

}  // namespace cloche
