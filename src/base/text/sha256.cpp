#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/text/sha256.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>

namespace cloche {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;
using Block = std::array<unsigned char, SHA256_CBLOCK>;

std::string hexadecimal(const Digest& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    hex += digits[byte >> 4];
    hex += digits[byte & 0xf];
  }
  return hex;
}

// SHA256() would do, and goes by EVP.
Digest digest_of(std::string_view first, std::string_view second) {
  SHA256_CTX state;
  Digest digest;
  SHA256_Init(&state);
  SHA256_Update(&state, first.data(), first.size());
  SHA256_Update(&state, second.data(), second.size());
  SHA256_Final(digest.data(), &state);
  return digest;
}

template <typename Bytes>
std::string_view view_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Block masked(Block block, unsigned char mask) {
  for (unsigned char& byte : block) byte ^= mask;
  return block;
}

}  // namespace

Sha256::Sha256() { SHA256_Init(&state_); }

Sha256& Sha256::add(std::string_view bytes) {
  SHA256_Update(&state_, bytes.data(), bytes.size());
  return *this;
}

std::string Sha256::finish() {
  Digest digest;
  SHA256_Final(digest.data(), &state_);
  return hexadecimal(digest);
}

std::string sha1_bytes(std::string_view bytes) {
  SHA_CTX state;
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1_Init(&state);
  SHA1_Update(&state, bytes.data(), bytes.size());
  SHA1_Final(digest.data(), &state);
  return std::string(view_of(digest));
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  Block block{};
  if (key.size() > block.size()) {
    const Digest short_key = digest_of(key, {});
    std::ranges::copy(short_key, block.begin());
  } else {
    std::ranges::copy(key, block.begin());
  }
  const Digest inner = digest_of(view_of(masked(block, 0x36)), message);
  return hexadecimal(digest_of(view_of(masked(block, 0x5c)), view_of(inner)));
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace cloche
