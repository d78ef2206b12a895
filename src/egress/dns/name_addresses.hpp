// Which names a call may reach, and which address inside stands for which: the one place that maps between
// them, both ways. A name below a wildcard gets its address when it is first asked for; how many there may be
// is bounded, because each one that is connected to is looked up outside, and so is a message to the server
// that answers for that zone. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "egress/proxy/settings.hpp"
#include "policy/hosts/host_name.hpp"

namespace cloche::egress {

class NameAddresses {
 public:
  explicit NameAddresses(const EgressSettings& settings);

  enum class Answer { known, not_declared, too_many };
  struct Found {
    Answer answer = Answer::not_declared;
    uint32_t offset = 0;
  };
  Found look_up(const HostName& name);

  // Nothing: no name has that address.
  const NamedHost* named(uint32_t offset) const;
  bool is_declared(const NamedHost& host, uint16_t port) const;

 private:
  Found add(const HostName& name);
  Found look_up_host_loopback(std::string_view name) const;

  std::vector<NamedHost> declared_;
  std::vector<HostEntry> below_;
  std::vector<NamedHost> found_;  // in the order of their addresses
  size_t found_bytes_ = 0;
  size_t most_found_ = 256;
  size_t most_found_bytes_ = size_t{16} << 10;
};

}  // namespace cloche::egress
