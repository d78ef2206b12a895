// The questions that are asked outside, about names that were declared, and what comes back. Pure: who sends
// them, how long to wait and where an id comes from is the caller's.
#pragma once

#include "egress/dns/dns_message.hpp"
#include "policy/hosts/ip_address.hpp"

namespace cloche::dns {

inline constexpr size_t max_answer_bytes = 4096;
inline constexpr size_t max_addresses = 16;  // of more, the first

struct Question {
  HostName name;
  IpAddress::Family family = IpAddress::Family::v4;
  uint16_t id = 0;  // unguessable
};

Message write_question(const Question& question);

struct Answer {
  enum class Kind {
    not_ours,      // another id, another question, or no answer at all: wait on, it may be forged
    malformed,     // ours, and not to be understood
    truncated,     // ask again over TCP
    failed,        // the server could not, or would not
    no_such_name,  // and there are no addresses of the other family either
    addresses,     // of this family; there may be none
  };
  Kind kind = Kind::not_ours;
  std::array<IpAddress, max_addresses> list = {};
  size_t count = 0;

  std::span<const IpAddress> addresses() const { return {list.data(), count}; }
};

// Takes the addresses of the name itself, or of the name that a short chain of aliases leads to. Every other
// record is passed over: nothing is learned from an answer but what was asked.
Answer read_answer(Bytes message, const Question& question);

}  // namespace cloche::dns
