// SHA-256 (FIPS 180-4), for digests of plans and programs. Our own,
// tested against published vectors and sha256sum.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace cloche {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
extern const std::array<uint32_t, 64> sha256_round_constants;

class Sha256 {
 public:
  using State = std::array<uint32_t, 8>;
  using Compress = void (*)(State& state, const unsigned char* block);  // of 64 bytes

  Sha256() = default;
  // Another way to the same digest (base/sha256_fast.hpp).
  explicit Sha256(Compress compress) : compress_(compress) {}

  Sha256& add(std::string_view bytes);
  // Lower-case hexadecimal. The object is spent afterwards.
  std::string finish();

 private:
  static void compress_anywhere(State& state, const unsigned char* block);

  Compress compress_ = compress_anywhere;
  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  uint64_t total_ = 0;
};

inline std::string sha256(std::string_view bytes) { return Sha256().add(bytes).finish(); }

}  // namespace cloche
