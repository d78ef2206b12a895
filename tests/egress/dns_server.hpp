// A name server of the tests' own: says what it is told to, keeps what it was asked, and can lie.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "egress/world.hpp"

namespace cloche::test {

struct DnsAnswer {
  enum class Kind {
    addresses,  // of both families, and the alias that leads to them
    no_such_name,
    silent,
    failed,     // SERVFAIL
    truncated,  // over TCP whole, if `whole_over_tcp`; else nobody answers there
    forged,     // before the true answer come lies: another id, another name, no answer but a question
    malformed,  // lengths that lead beyond the end
  };
  Kind kind = Kind::addresses;
  std::vector<std::string> addresses = {};
  std::string alias = {};
  std::optional<Kind> kind6 = {};  // of the answer about IPv6, where it is another one
  int after_ms = 0;                // of the answer about IPv4: how long it takes
  bool whole_over_tcp = false;
};

class DnsServer {
 public:
  explicit DnsServer(const World& world, const std::string& address = resolver_address);
  ~DnsServer();
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;

  // What is said about a name, one after the other; the last goes on. A name that was never told has none.
  void tell(const std::string& name, std::vector<DnsAnswer> in_turn);
  void tell(const std::string& name, const std::string& address);
  // Every name that anybody has asked for, ever.
  std::vector<std::string> asked() const;

 private:
  struct Told {
    std::vector<DnsAnswer> in_turn;
    size_t times = 0;  // that its IPv4 addresses were asked for
  };
  enum class Over { udp, tcp };
  struct Reply {
    uint64_t due_ms;
    std::string bytes;
    std::string peer;  // a socket address, as bytes
  };
  void serve();
  void hear_datagram();
  void hear_stream();
  void send_due();
  int wait_ms() const;
  std::vector<std::string> replies_to(const std::string& query, Over over, int& after_ms);

  int fd_;
  int streams_;
  std::vector<Reply> late_ = {};
  int end_[2];
  mutable std::mutex mutex_;
  std::map<std::string, Told> told_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

}  // namespace cloche::test
