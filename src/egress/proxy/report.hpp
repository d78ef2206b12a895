// What an egress process tells the gateway: decisions and counts, in messages of one size. The process reads
// bytes that a hostile program and a hostile server have written, so nothing it says is taken for more than a
// number from a list and a name that is checked again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/ascii.hpp"
#include "model/limits.hpp"

namespace cloche {

enum class EgressNews : uint32_t {
  refused,       // a decision: `reason`
  failed,        // what was allowed could not be reached: `reason`, and `number` is an errno
  used,          // now and then, and at the end, for each host and port: the counts so far
  more_refused,  // at the end: `number` of decisions that were not told one by one, or `at_least` so many
  more_failed,
  repeated,  // at the end: a decision that was told was taken `number` times in all
};

enum class EgressReason : uint32_t {
  not_declared,       // a name
  port_not_declared,  // of a declared name
  no_such_address,    // of the inside range, that stands for nothing
  address_of_name,    // what the name resolves to is private or the like
  address_by_route,   // it is public, and leads back here or to many; the detail says which
  bad_hello,          // on 443: no TLS, or no name in it; the detail says which
  other_server_name,  // TLS for another name
  bad_request,        // on 80: no HTTP, one that leaves a doubt, or for another host; the detail says which
  too_many_connections,
  too_many_published,  // to servers of the command, at all published ports together
  too_many_files,      // the process may open no more
  too_many_bytes,
  too_long_idle,
  too_long_open,
  too_many_names,  // below a wildcard
  // Of `failed`:
  unknown_outside,  // the resolver has no address for it
  resolver_silent,
  no_resolver,  // none that is named can be asked
  unreachable,  // with errno
  no_route,     // the detail is the address
  cut_at_end,   // what the command sent last was still under way when the call was over
  last = cut_at_end
};

struct EgressMessage {
  EgressNews news = EgressNews::refused;
  EgressReason reason = EgressReason::not_declared;
  uint32_t port = 0;
  uint32_t number = 0;
  uint32_t at_least = 0;
  std::array<char, 256> name = {};    // ends with a NUL
  std::array<char, 160> detail = {};  // which address it was, the name that was said instead, half a sentence
  uint64_t connections = 0;
  uint64_t bytes_out = 0;  // from the sandbox
  uint64_t bytes_in = 0;
};

// A text of such a message: up to its NUL, everything but printable ASCII replaced.
template <size_t size>
std::string text_of(const std::array<char, size>& field) {
  std::string text;
  for (const char c : field) {
    if (c == '\0') break;
    text += c >= ' ' && c < 127 ? c : '?';
  }
  return text;
}

// A name or an address of such a message: what DNS can write, and everything else replaced.
template <size_t size>
std::string name_of(const std::array<char, size>& field) {
  std::string text = text_of(field);
  for (char& c : text) {
    const bool plain =
        ascii::is_letter(c) || ascii::is_digit(c) || c == '-' || c == '_' || c == '.' || c == '\\';
    if (!plain) c = '?';
  }
  return text;
}

// The limit that was reached, if that is the reason.
std::optional<LimitId> limit_of(EgressReason reason);

// "egress: connect to NAME:443 refused: not declared (DECLARED)". `declared` says what was.
std::string describe(const EgressMessage& message, std::string_view declared);
// Of a call without a network: which names it asked for, and what the operator can do about it. Nothing:
// none of them can be declared. Pure.
std::string describe_looked_up(const std::vector<std::string>& names, uint64_t more);
std::string advice_about_names(const std::vector<std::string>& names);
// Of a name that leads to an address which is not public: the flag that lets it; nothing where none does.
std::string advice_about_address(const EgressMessage& message);
// How that ends for the operator: what would raise the limit; `limited_by` is whose limit it is where it is
// not the operator's. Empty: nothing would.
std::string advice_about(EgressReason reason, std::string_view limited_by);

}  // namespace cloche
