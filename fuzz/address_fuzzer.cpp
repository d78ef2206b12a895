// Feeds addresses to the guard: what passes is public unicast, and no address of IPv4 passes inside one of
// IPv6. Each is written so that the system reads the same address back.
#include <arpa/inet.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "egress/proxy/address_guard.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cloche;
  if (size != 4 && size != 16) return 0;
  IpAddress address{.family = size == 4 ? IpAddress::Family::v4 : IpAddress::Family::v6};
  std::memcpy(address.bytes.data(), data, size);
  const std::string text(text_of(address).view());
  IpAddress again{.family = address.family};
  require(inet_pton(size == 4 ? AF_INET : AF_INET6, text.c_str(), again.bytes.data()) == 1 &&
          again == address);

  const IpAddress own[] = {address};
  require(!why_not_dialled(address, own).empty());
  const bool passes = why_not_dialled(address, {}).empty();
  const uint8_t first = data[0];
  if (size == 16) require(!passes || (first >> 5) == 1);
  if (size == 4) require(!passes || (first != 0 && first != 10 && first != 127 && first < 224));
  return 0;
}
