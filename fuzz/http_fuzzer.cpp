// Feeds a connection to the walker over requests, at once and in pieces of the size that the first byte says:
// the same bytes are passed on, and nothing before a head that names the host.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "egress/protocol/request_stream.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

struct Passed {
  size_t bytes = 0;
  uint64_t requests = 0;
  std::string_view refused = {};
};

// As a connection would: what was forwarded is gone, what was not is shown again.
Passed pass(std::string_view sent, size_t piece, const cloche::Destination& destination) {
  cloche::RequestStream stream(destination);
  Passed passed;
  for (size_t have = 0; passed.refused.empty() && have < sent.size();) {
    have = std::min(sent.size(), have + piece);
    const auto step = stream.feed(sent.substr(passed.bytes, have - passed.bytes));
    passed.bytes += step.forward;
    passed.refused = step.refused;
  }
  passed.requests = stream.requests();
  return passed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const cloche::Destination destination{.name = *cloche::HostName::read("a.b").name};
  const std::string_view sent(reinterpret_cast<const char*>(data + 1), size - 1);
  const Passed whole = pass(sent, sent.size() + 1, destination);
  const Passed pieces = pass(sent, size_t{data[0]} + 1, destination);
  require(whole.bytes == pieces.bytes && whole.requests == pieces.requests &&
          whole.refused == pieces.refused);
  require(whole.bytes <= sent.size() && (whole.bytes > 0) == (whole.requests > 0));
  const std::string_view passed = sent.substr(0, whole.bytes);
  require(passed.empty() || passed.find_first_of("aA") != std::string_view::npos);
  return 0;
}
