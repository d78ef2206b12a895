// What both ends of DNS share: names on the wire, and a message of fixed size to write into. The stub that
// answers a sandbox is dns_stub.hpp; the resolver that asks outside is dns_resolver.hpp.
#pragma once

#include <optional>
#include <string>

#include "base/text/fixed_text.hpp"
#include "egress/protocol/byte_reader.hpp"
#include "policy/hosts/host_name.hpp"

namespace cloche::dns {

inline constexpr uint16_t type_a = 1;
inline constexpr uint16_t type_cname = 5;
inline constexpr uint16_t type_soa = 6;
inline constexpr uint16_t type_aaaa = 28;
inline constexpr uint16_t type_opt = 41;
inline constexpr uint16_t type_svcb = 64;
inline constexpr uint16_t type_https = 65;
inline constexpr uint16_t class_in = 1;

inline constexpr uint16_t flag_response = 0x8000;
inline constexpr uint16_t flag_truncated = 0x0200;
inline constexpr uint16_t flag_recursion_desired = 0x0100;
inline constexpr uint16_t flag_recursion_available = 0x0080;
inline constexpr unsigned opcode_of(uint16_t flags) { return (flags >> 11) & 0xfU; }
inline constexpr unsigned rcode_of(uint16_t flags) { return flags & 0xfU; }

inline constexpr size_t header_bytes = 12;

// A name as it is on the wire: labels with their lengths in front and the root at the end, nothing
// compressed. The labels may hold any byte; a HostName holds less.
using WireName = FixedText<255>;

enum class Compression {
  refused,   // in a query there is nothing before its only name that it could point at
  followed,  // to what lies before the name alone, and only so often
};

// Takes a name off the reader; `message` is the whole, for pointers. Nothing: it is none.
std::optional<WireName> take_name(ByteReader& reader, Bytes message, Compression compression);

WireName wire_name(const HostName& name);
// Nothing: it is no name of a host. A dot within a label never becomes one between two.
std::optional<HostName> host_name(const WireName& name);
// For a person to read, even where it is no name of a host: every byte but letters, digits, hyphens and
// underscores as \DDD, so that no text within a label is taken for words of ours. Bounded; dots at the end
// say that it goes on.
std::string escaped(const WireName& name);
// Names are compared without case, whatever their other bytes are.
bool same_name(const WireName& a, const WireName& b);

// A message that is written from its front. Ours are all smaller than this by construction: a header, one
// question of at most 259 bytes, one record of 33 and an OPT of 11.
class Message {
 public:
  void u8(uint8_t value);
  void u16(uint16_t value);
  void u32(uint32_t value);
  void bytes(Bytes bytes);
  void name(const WireName& name);

  Bytes view() const { return {bytes_.data() + 2, size_}; }
  // With its length in front, as it goes over TCP.
  Bytes framed();

 private:
  std::array<uint8_t, 2 + 512> bytes_ = {};  // the first two are the frame's
  size_t size_ = 0;
};

// One message off the front of what came over TCP.
struct Frame {
  enum class State { need_more, whole, refused };
  State state = State::need_more;
  Bytes message = {};  // when whole; the next frame begins 2 bytes and this many further on
};
// Longer ones than `longest` are refused: no client waits for them.
Frame read_frame(Bytes stream, size_t longest);

}  // namespace cloche::dns
