// The vector and mask registers as the semantics snippets of isa/*.td see them.
#pragma once
#include <cstdint>

namespace dougong::sim {

union alignas(64) Vector {
  float f32[32];
  double f64[16];
  int32_t i32[32];
  uint32_t u32[32];
  int64_t i64[16];
  uint64_t u64[16];
  uint16_t f16[64], u16[64]; // f16 and bf16 as raw bits
  int16_t i16[64];
  uint8_t u8[128];
  int8_t i8[128];
};

struct Mask {
  uint64_t bits[2];
  [[gnu::always_inline]] bool get(int lane) const { return bits[lane / 64] >> (lane % 64) & 1; }
  [[gnu::always_inline]] void set(int lane, bool value) {
    uint64_t bit = uint64_t(1) << (lane % 64);
    bits[lane / 64] = value ? bits[lane / 64] | bit : bits[lane / 64] & ~bit;
  }
  // The first `count` bits from a function of the lane, the others 0. By way of bytes, which is how the host's compiler vectorises it.
  template <int count = 32, typename F> [[gnu::always_inline]] void lanes(F value) {
    constexpr int part = count < 64 ? count : 64;
    using Bytes [[gnu::vector_size(part)]] = int8_t;
    using Bits = bool __attribute__((ext_vector_type(part)));
    uint64_t words[2] = {};
    for (int first = 0; first < count; first += part) {
      int8_t set[part];
      for (int i = 0; i < part; ++i)
        set[i] = value(first + i) ? -1 : 0;
      Bytes bytes;
      __builtin_memcpy(&bytes, set, part);
      Bits packed = __builtin_convertvector(bytes, Bits);
      __builtin_memcpy(&words[first / 64], &packed, part / 8);
    }
    bits[0] = words[0], bits[1] = words[1];
  }
  // The first `count` bits as bytes, not 0 where set.
  template <int count> [[gnu::always_inline]] void spread(int8_t (&set)[count]) const {
    constexpr int part = count < 64 ? count : 64;
    using Bytes [[gnu::vector_size(part)]] = int8_t;
    using Bits = bool __attribute__((ext_vector_type(part)));
    for (int first = 0; first < count; first += part) {
      Bits packed;
      __builtin_memcpy(&packed, &bits[first / 64], part / 8);
      Bytes bytes = __builtin_convertvector(packed, Bytes);
      __builtin_memcpy(&set[first], &bytes, part);
    }
  }
};

} // namespace dougong::sim
