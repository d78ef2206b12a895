#include "base/hmac.hpp"

#include "base/sha256.hpp"

namespace cloche {
namespace {

constexpr size_t block_bytes = 64;

int value_of(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(value_of(hex[i]) * 16 + value_of(hex[i + 1]));
  return bytes;
}

std::string masked(std::string_view block, unsigned char mask) {
  std::string out;
  for (const char c : block) out += static_cast<char>(static_cast<unsigned char>(c) ^ mask);
  return out;
}

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string block = key.size() > block_bytes ? bytes_of(sha256(key)) : std::string(key);
  block.resize(block_bytes, '\0');
  const std::string inner = Sha256().add(masked(block, 0x36)).add(message).finish();
  return Sha256().add(masked(block, 0x5c)).add(bytes_of(inner)).finish();
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); ++i)
    differs = static_cast<unsigned char>(
        differs | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  return differs == 0;
}

}  // namespace cloche
