// The host's widest vectors at the level being compiled (host_level.h).
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dougong::sim::DOUGONG_LEVEL {

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif

using Floats [[gnu::vector_size(lanes * 4)]] = float;
using Ints [[gnu::vector_size(lanes * 4)]] = int32_t;

[[gnu::always_inline]] static inline Floats splat(float value) { return value - Floats{}; } // keeps -0, which an addition would not
[[gnu::always_inline]] static inline Ints splat(int32_t value) { return Ints{} + value; }
[[gnu::always_inline]] static inline Floats load_floats(const float *at) {
  Floats value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
[[gnu::always_inline]] static inline Ints load_ints(const int16_t *at) {
  Ints value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Each lane holds two 16-bit integers: the sum of their two products. |x·y| ≤ 2^15 · 255, so two fit in 32 bits.
[[gnu::always_inline]] static inline Ints multiply_pairs(Ints a, Ints b) {
#if defined(__AVX512BW__)
  return (Ints)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Ints)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Ints)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}

} // namespace dougong::sim::DOUGONG_LEVEL
