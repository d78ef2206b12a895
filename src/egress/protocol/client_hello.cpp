#include "egress/protocol/client_hello.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace cloche {
namespace {

constexpr uint8_t handshake_record = 22;
constexpr uint8_t client_hello_message = 1;
constexpr uint16_t server_name_extension = 0;
constexpr size_t record_head_bytes = 5;
constexpr size_t message_head_bytes = 4;
constexpr size_t max_record_bytes = 16 * 1024;

constexpr std::string_view malformed = "the hello is malformed";
constexpr std::string_view nameless = "the hello names no server (no SNI)";
constexpr std::string_view many_names = "the hello names more than one server";
constexpr std::string_view hidden_name =
    "the hello holds an encrypted one (ECH), which can name another server: switch it off";

// The final one, and the drafts that were deployed. A real one cannot be told from the made-up one that some
// browsers send to every server, so both are refused: behind it the server would be another than the one
// judged.
bool hides_a_name(uint16_t extension) {
  return (extension >= 0xfe08 && extension <= 0xfe0d) || extension == 0xffce;
}

struct Names {
  std::string_view problem = {};
  bool seen = false;
  Bytes name = {};
};

// The list of names: by the standard it could hold several, of several kinds; no client sends more than the
// one.
void read_server_names(Bytes data, Names& names) {
  if (names.seen) {
    names.problem = many_names;
    return;
  }
  names.seen = true;
  ByteReader outer(data);
  ByteReader list(outer.block16());
  const uint8_t kind = list.u8();
  names.name = list.block16();
  if (!outer.at_end() || !list.good() || kind != 0) {
    names.problem = malformed;
  } else if (!list.at_end()) {
    names.problem = many_names;
  }
}

Names read_extensions(Bytes data) {
  Names names;
  ByteReader reader(data);
  while (reader.left() > 0 && names.problem.empty()) {
    const uint16_t type = reader.u16();
    const Bytes content = reader.block16();
    if (!reader.good()) break;
    if (hides_a_name(type)) names.problem = hidden_name;
    if (type == server_name_extension) read_server_names(content, names);
  }
  if (!reader.good()) names.problem = malformed;
  if (names.problem.empty() && !names.seen) names.problem = nameless;
  return names;
}

// The body of a ClientHello. Servers forgive different mistakes, so none is forgiven here.
Names read_body(Bytes body) {
  ByteReader reader(body);
  const uint8_t major = reader.u8();
  reader.skip(1);
  reader.skip(32);
  const Bytes session = reader.block8();
  const Bytes ciphers = reader.block16();
  const Bytes compressions = reader.block8();
  if (!reader.good() || major != 3 || session.size() > 32 || ciphers.empty() || ciphers.size() % 2 != 0 ||
      compressions.empty())
    return {.problem = malformed};
  if (reader.at_end()) return {.problem = nameless};  // older than extensions
  const Bytes extensions = reader.block16();
  if (!reader.at_end()) return {.problem = malformed};
  return read_extensions(extensions);
}

Hello refused(std::string_view reason) { return {.state = Hello::State::refused, .reason = reason}; }

Hello read_message(Bytes message) {
  const Names names = read_body(message.subspan(message_head_bytes));
  if (!names.problem.empty()) return refused(names.problem);
  const ReadName read = HostName::read({reinterpret_cast<const char*>(names.name.data()), names.name.size()});
  if (!read) return refused("the hello's name is not the name of a host");
  return {.state = Hello::State::named, .name = read.name};
}

// What a stream is whose first record is no handshake.
std::string_view what_else(Bytes stream) {
  const uint8_t first = stream[0];
  if ((first & 0x80) != 0) return "a hello of SSL 2, or no TLS at all";
  if (ascii::is_letter(static_cast<char>(first))) return "it is no TLS but plain text, as of HTTP or SSH";
  return first >= 20 && first <= 24 ? "the connection begins with a record that is no handshake"
                                    : "it is no TLS where TLS is expected";
}

}  // namespace

// One record off the front: its head is checked as soon as it is there, its content counted when all of it
// is.
std::string_view ClientHelloReader::take_record(Bytes stream, ByteReader& reader) {
  if (stream[at_] != handshake_record)
    return at_ == 0 ? what_else(stream) : "another record stands within the hello";
  reader.skip(1);
  const uint8_t major = reader.u8();
  const uint8_t minor = reader.u8();
  const uint16_t length = reader.u16();
  if (!reader.good()) return {};
  if (major != 3 || minor < 1 || minor > 4) return "the hello is of an unknown version";
  if (length == 0 || length > max_record_bytes) return malformed;
  const Bytes content = reader.bytes(length);
  if (!reader.good()) return {};
  for (size_t i = 0; i < content.size() && gathered_ + i < message_head_bytes; ++i)
    head_[gathered_ + i] = content[i];
  gathered_ += content.size();
  at_ = reader.at();
  return {};
}

std::string_view ClientHelloReader::take_records(Bytes stream) {
  stream = stream.first(std::min(stream.size(), max_stream_bytes));
  while (!is_whole() && at_ < stream.size()) {
    ByteReader reader(stream, at_);
    if (const auto problem = take_record(stream, reader); !problem.empty()) return problem;
    if (!reader.good()) break;
    if (head_[0] != client_hello_message) return "the handshake begins with something else than a hello";
    if (gathered_ < message_head_bytes) continue;
    hello_bytes_ = message_head_bytes + ByteReader(head_, 1).u24();
    if (hello_bytes_ > max_hello_bytes) return "the hello is too long";
    if (gathered_ > hello_bytes_) return "another message stands behind the hello in its record";
  }
  if (!is_whole() && stream.size() == max_stream_bytes) return "the hello is too long";
  return {};
}

Hello ClientHelloReader::read(Bytes stream) {
  if (const auto problem = take_records(stream); !problem.empty()) return refused(problem);
  if (!is_whole()) return {};
  std::array<uint8_t, max_hello_bytes> message = {};
  size_t size = 0;
  for (size_t at = 0; at < at_;) {
    const Bytes content = ByteReader(stream, at + record_head_bytes - 2).block16();
    std::copy(content.begin(), content.end(), message.begin() + size);
    size += content.size();
    at += record_head_bytes + content.size();
  }
  return read_message(Bytes(message.data(), size));
}

}  // namespace cloche
