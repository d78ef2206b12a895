// A name server of the tests' own: says what it is told to, keeps what it was asked, and can lie.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
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
    truncated,  // and nobody answers over TCP
    forged,     // before the true answer come lies: another id, another name, no answer but a question
    malformed,  // lengths that lead beyond the end
  };
  Kind kind = Kind::addresses;
  std::vector<std::string> addresses = {};
  std::string alias = {};
};

class DnsServer {
 public:
  explicit DnsServer(const World& world);
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
  void serve();
  std::vector<std::string> replies_to(const std::string& query);

  int fd_;
  int end_[2];
  mutable std::mutex mutex_;
  std::map<std::string, Told> told_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

}  // namespace cloche::test
