#include "egress/dns/dns_message.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace cloche::dns {
namespace {

// Each pointer of a name leads further to the front, so a name ends in any case; a chain of more than this is
// no name that a server writes.
constexpr int max_pointers = 16;

constexpr uint8_t pointer_bits = 0xc0;

bool append_label(WireName& name, Bytes label) {
  if (!name.append(static_cast<char>(label.size()))) return false;
  for (const uint8_t byte : label)
    if (!name.append(static_cast<char>(byte))) return false;
  return true;
}

void append_escaped(std::string& text, char c) {
  if (ascii::is_letter(c) || ascii::is_digit(c) || c == '-' || c == '_') {
    text += c;
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  text += '\\';
  for (const unsigned unit : {100U, 10U, 1U}) text += static_cast<char>('0' + byte / unit % 10);
}

}  // namespace

std::optional<WireName> take_name(ByteReader& reader, Bytes message, Compression compression) {
  WireName name;
  ByteReader elsewhere = reader;
  ByteReader* from = &reader;
  size_t floor = reader.at();  // pointers lead to before this
  for (int pointers = 0;;) {
    const uint8_t length = from->u8();
    if (!from->good()) return {};
    if (length == 0) break;
    if ((length & pointer_bits) == 0) {
      if (!append_label(name, from->bytes(length)) || !from->good()) return {};
      continue;
    }
    // The other two of the four patterns were never given a meaning that lasted.
    if (compression == Compression::refused || (length & pointer_bits) != pointer_bits) return {};
    const size_t target = size_t{length & 0x3fU} << 8 | from->u8();
    if (!from->good() || target >= floor || target < header_bytes || ++pointers > max_pointers) return {};
    floor = target;
    elsewhere = ByteReader(message, target);
    from = &elsewhere;
  }
  if (!name.append('\0')) return {};
  return name;
}

WireName wire_name(const HostName& name) {
  WireName wire;
  for (std::string_view rest = name.text(); !rest.empty();) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    // 253 characters with their dots are 255 bytes on the wire: it fits.
    (void)wire.append(static_cast<char>(label.size()));
    (void)wire.append(label);
    rest.remove_prefix(std::min(rest.size(), label.size() + 1));
  }
  (void)wire.append('\0');
  return wire;
}

std::optional<HostName> host_name(const WireName& name) {
  FixedText<255> dotted;
  for (std::string_view rest = name.view(); rest.size() > 1;) {
    const std::string_view label = rest.substr(1, static_cast<uint8_t>(rest.front()));
    if (label.find('.') != std::string_view::npos) return {};
    if ((dotted.size() > 0 && !dotted.append('.')) || !dotted.append(label)) return {};
    rest.remove_prefix(1 + label.size());
  }
  return HostName::read(dotted.view()).name;
}

std::string escaped(const WireName& name) {
  constexpr size_t longest = 200;
  std::string text;
  for (std::string_view rest = name.view(); rest.size() > 1;) {
    const std::string_view label = rest.substr(1, static_cast<uint8_t>(rest.front()));
    if (!text.empty()) text += '.';
    for (const char c : label) {
      if (text.size() > longest) return text + "...";
      append_escaped(text, c);
    }
    rest.remove_prefix(1 + label.size());
  }
  return text;
}

bool same_name(const WireName& a, const WireName& b) { return ascii::same_without_case(a.view(), b.view()); }

void Message::u8(uint8_t value) {
  if (size_ + 2 < bytes_.size()) bytes_[2 + size_++] = value;
}

void Message::u16(uint16_t value) {
  u8(static_cast<uint8_t>(value >> 8));
  u8(static_cast<uint8_t>(value));
}

void Message::u32(uint32_t value) {
  u16(static_cast<uint16_t>(value >> 16));
  u16(static_cast<uint16_t>(value));
}

void Message::bytes(Bytes bytes) {
  for (const uint8_t byte : bytes) u8(byte);
}

void Message::name(const WireName& name) {
  for (const char c : name.view()) u8(static_cast<uint8_t>(c));
}

Bytes Message::framed() {
  bytes_[0] = static_cast<uint8_t>(size_ >> 8);
  bytes_[1] = static_cast<uint8_t>(size_);
  return {bytes_.data(), 2 + size_};
}

Frame read_frame(Bytes stream, size_t longest) {
  ByteReader reader(stream);
  const uint16_t length = reader.u16();
  if (!reader.good()) return {};
  if (length < header_bytes || length > longest) return {.state = Frame::State::refused};
  const Bytes message = reader.bytes(length);
  if (!reader.good()) return {};
  return {.state = Frame::State::whole, .message = message};
}

}  // namespace cloche::dns
