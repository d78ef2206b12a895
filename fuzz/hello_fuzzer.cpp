// Feeds a stream to the reader of TLS hellos, at once and in pieces: the answer is the same. The seeds are
// hellos as real clients send them, whole, so the size of the pieces comes from the size of the stream.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "egress/protocol/client_hello.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

cloche::Hello read_in_pieces(cloche::Bytes stream, size_t piece) {
  using namespace cloche;
  ClientHelloReader reader;
  Hello hello;
  for (size_t have = 0; hello.state == Hello::State::need_more && have < stream.size();) {
    have = std::min(stream.size(), have + piece);
    hello = reader.read(stream.first(have));
  }
  return hello;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cloche;
  const Bytes stream(data, size);
  const Hello whole = ClientHelloReader().read(stream);
  const Hello pieces = read_in_pieces(stream, 1 + size % 97);
  require(whole.state == pieces.state && whole.reason == pieces.reason && whole.name == pieces.name);
  require(whole.name.has_value() == (whole.state == Hello::State::named));
  require(whole.reason.empty() == (whole.state != Hello::State::refused));
  return 0;
}
