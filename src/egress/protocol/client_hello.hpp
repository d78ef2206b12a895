// Finds the name in the first message of a TLS connection, and refuses what leaves a doubt about it. The
// bytes stay where they are: they are passed on as they came once the name was judged.
#pragma once

#include <optional>
#include <string_view>

#include "egress/protocol/byte_reader.hpp"
#include "policy/hosts/host_name.hpp"

namespace cloche {

struct Hello {
  enum class State { need_more, named, refused };
  State state = State::need_more;
  std::optional<HostName> name = {};  // when named
  std::string_view reason = {};       // when refused: "the hello names no server"
};

class ClientHelloReader {
 public:
  // A hello is far smaller, with the keys of a post-quantum exchange as well.
  static constexpr size_t max_hello_bytes = 16 * 1024;
  // What all of it may take, cut into records: what a caller must be able to hold.
  static constexpr size_t max_stream_bytes = max_hello_bytes + 2 * 1024;

  // `stream` is everything from the first byte on: what was shown before, and more. Each byte is looked at
  // once until the hello is whole, however small the pieces are that it comes in.
  Hello read(Bytes stream);

 private:
  std::string_view take_records(Bytes stream);
  std::string_view take_record(Bytes stream, ByteReader& reader);
  bool is_whole() const { return hello_bytes_ != 0 && gathered_ == hello_bytes_; }

  size_t at_ = 0;           // where the next record begins
  size_t gathered_ = 0;     // of the message, in the records before that
  size_t hello_bytes_ = 0;  // of the message with its head; zero: not known yet
  std::array<uint8_t, 4> head_ = {};
};

}  // namespace cloche
