#include "base/sha256_fast.hpp"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <immintrin.h>
#define _Bool bool  // the next header is C and says so, which clang does not take in C++
#include <sys/platform/x86.h>
#undef _Bool
#define CLOCHE_SHA_INSTRUCTIONS 1
#endif

namespace cloche {

#ifdef CLOCHE_SHA_INSTRUCTIONS
namespace {

// The instructions keep the eight words as ABEF and CDGH, and do two rounds each.
__attribute__((target("sha,sse4.1"))) void compress_by_instructions(Sha256::State& state,
                                                                    const unsigned char* block) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* const words = reinterpret_cast<__m128i*>(state.data());
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  const __m128i abef_before = _mm_alignr_epi8(cdab, efgh, 8);
  const __m128i cdgh_before = _mm_blend_epi16(efgh, cdab, 0xf0);

  __m128i abef = abef_before;
  __m128i cdgh = cdgh_before;
  __m128i schedule[4];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    __m128i& next = schedule[i & 3];
    if (i < 4) {
      next = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i)), big_endian);
    } else {
      const __m128i before = schedule[(i - 1) & 3];
      const __m128i seven_back = _mm_alignr_epi8(before, schedule[(i - 2) & 3], 4);
      next = _mm_sha256msg2_epu32(
          _mm_add_epi32(_mm_sha256msg1_epu32(next, schedule[(i - 3) & 3]), seven_back), before);
    }
    const auto* const constants =
        reinterpret_cast<const __m128i*>(sha256_round_constants.data() + 4 * static_cast<size_t>(i));
    const __m128i message = _mm_add_epi32(next, _mm_loadu_si128(constants));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, message);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(message, 0x0e));
  }
  abef = _mm_add_epi32(abef, abef_before);
  cdgh = _mm_add_epi32(cdgh, cdgh_before);

  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

// The C library has asked when it started, so that nothing traps here.
bool has_instructions() { return CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1); }

}  // namespace

Sha256 fast_sha256() { return has_instructions() ? Sha256(compress_by_instructions) : Sha256(); }
#else
Sha256 fast_sha256() { return {}; }
#endif

}  // namespace cloche
