// SHA-256 for the front, which has no C library and so no libcrypto: linked before the library's
// (base/sha256.cpp) and in its place. Gone with the front.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/sha256.hpp"

namespace cloche {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t load_big_endian(const unsigned char* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | uint32_t{at[3]};
}

void compress(SHA256_CTX& state, const unsigned char* block) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state.h;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t sum_e = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t first = h + sum_e + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const uint32_t sum_a = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t second = sum_a + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state.h[i] += added[i];
}

}  // namespace

Sha256::Sha256()
    : state_{.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
                   0x5be0cd19}} {}

Sha256& Sha256::add(std::string_view bytes) {
  auto* const block = reinterpret_cast<unsigned char*>(state_.data);
  while (!bytes.empty()) {
    const size_t taken = std::min<size_t>(bytes.size(), SHA256_CBLOCK - state_.num);
    std::memcpy(block + state_.num, bytes.data(), taken);
    state_.num += static_cast<unsigned>(taken);
    bytes.remove_prefix(taken);
    if (state_.num < SHA256_CBLOCK) break;
    compress(state_, block);
    state_.num = 0;
    if (++state_.Nl == 0) ++state_.Nh;  // whole blocks
  }
  return *this;
}

std::string Sha256::finish() {
  const uint64_t blocks = uint64_t{state_.Nh} << 32 | state_.Nl;
  const uint64_t bits = (blocks * SHA256_CBLOCK + state_.num) * 8;
  std::string tail(1, '\x80');
  tail.append((state_.num < 56 ? 56 : 120) - state_.num - 1, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift);
  add(tail);
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (const uint32_t word : state_.h)
    for (int shift = 28; shift >= 0; shift -= 4) hex += digits[word >> shift & 0xf];
  return hex;
}

}  // namespace cloche
