// The little world that the egress tests live in, so that nothing ever leaves the machine.
//
//   here    the test program and everything it starts: a network namespace of its own with `out0`, and a
//   mount
//           namespace of its own in which /etc/hosts and /etc/resolv.conf are the tests'
//   there   a second network namespace at the other end of `out0`, where the servers live at addresses that
//           look public, and at the private ones that nobody may be led to
//
// Neither has a way to anywhere else. Both end with the test program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cloche::test {

// Of the servers' side. Each of them answers to everybody who is here: what is not reached was refused.
inline constexpr const char* web_address = "93.184.216.34";
inline constexpr const char* web_address6 = "2606:2800:220:1::34";
inline constexpr const char* tool_address = "93.184.216.35";
inline constexpr const char* tool_address6 = "2606:2800:220:1::35";
inline constexpr const char* resolver_address = "8.8.4.4";
inline constexpr const char* near_resolver_address = "fe80::53";  // of its end of `out0` alone
inline constexpr const char* dead_address = "93.184.216.99";      // no host has it
// Of this side.
inline constexpr const char* own_address = "93.184.217.1";
inline constexpr const char* own_address6 = "2606:2800:221::1";
inline constexpr const char* second_own_address = "93.184.217.9";  // in the same network as the first
inline constexpr const char* own_range_address = "93.184.219.5";   // of a whole range that is local
inline constexpr const char* own_range_address6 = "2606:2800:222::5";

// A file's text bound over `path`, as this process and everything it starts sees it, until the object ends.
class PutOver {
 public:
  PutOver(const std::string& path, const std::string& text);
  ~PutOver();
  PutOver(const PutOver&) = delete;
  PutOver& operator=(const PutOver&) = delete;

 private:
  std::string file_;
  std::string target_;
};

class World {
 public:
  // Goes into it, before there are any threads. `hosts` is the text of /etc/hosts. Throws what failed.
  explicit World(const std::string& hosts);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Sockets that `make` opens are there, whoever uses them afterwards.
  void there(const std::function<void()>& make) const;
  // A listening or, of datagrams, a bound socket there. Of an empty address: at every one, of both families.
  // A link-local one has its interface behind a %.
  enum class Kind { stream, datagrams };
  int socket_there(Kind kind, const std::string& address, uint16_t port) const;
  // The same on this side.
  static int socket_here(Kind kind, const std::string& address, uint16_t port);
  // For nsenter --net=.
  std::string path_there() const;

 private:
  int here_ = -1;
  int there_ = -1;
  std::vector<std::unique_ptr<PutOver>> files_ = {};
};

// A connection from here without Cloche, to show that a refusal is Cloche's: whether it came about.
bool reachable(const std::string& address, uint16_t port);

}  // namespace cloche::test
