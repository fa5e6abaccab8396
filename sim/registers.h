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
  // Bits 0..31 from a function of the lane, the others 0.
  template <typename F> [[gnu::always_inline]] void lanes(F value) {
    using Bytes [[gnu::vector_size(32)]] = int8_t;
    using Bits = bool __attribute__((ext_vector_type(32)));
    Bytes set;
    for (int i = 0; i < 32; ++i)
      set[i] = value(i) ? -1 : 0;
    Bits packed = __builtin_convertvector(set, Bits);
    uint32_t word;
    __builtin_memcpy(&word, &packed, 4);
    bits[0] = word, bits[1] = 0;
  }
};

} // namespace dougong::sim
