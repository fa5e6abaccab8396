// Conversions of the 16- and 8-bit floats, round to nearest even, NaN canonical (ARCHITECTURE.md, section 6). Included by sources of a
// host level, hence all static and always inlined.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#define DG_INLINE [[gnu::always_inline]] static inline

DG_INLINE float f32_of_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
DG_INLINE float f32_of_f16(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
DG_INLINE float canonical32(float value) { return value == value ? value : std::bit_cast<float>(0x7fc00000u); }
DG_INLINE uint16_t f16_of_f32(float value) {
  return value == value ? std::bit_cast<uint16_t>(static_cast<_Float16>(value)) : uint16_t(0x7e00);
}
DG_INLINE uint16_t bf16_of_f32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return value == value ? uint16_t(rounded) : uint16_t(0x7fc0);
}
DG_INLINE uint16_t f16_of_f64(double value) {
  return value == value ? std::bit_cast<uint16_t>(static_cast<_Float16>(value)) : uint16_t(0x7e00);
}
// To f32 first, rounded to odd: the sticky last bit keeps the second rounding right.
DG_INLINE uint16_t bf16_of_f64(double value) {
  float nearest = static_cast<float>(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  double back = nearest;
  if (back != value && value == value && !(bits & 1))
    bits += (std::fabs(back) < std::fabs(value)) ? 1 : -1;
  return bf16_of_f32(std::bit_cast<float>(bits));
}
// E5M2 is f16 without its low byte; E4M3 has bias 7, no infinity, and NaN only as S.1111.111.
DG_INLINE float f32_of_f8e5m2(uint8_t bits) { return f32_of_f16(uint16_t(bits << 8)); }
DG_INLINE float f32_of_f8e4m3(uint8_t bits) {
  uint32_t sign = uint32_t(bits & 0x80) << 24, exponent = bits >> 3 & 15, fraction = bits & 7;
  if (exponent == 15 && fraction == 7)
    return std::bit_cast<float>(0x7fc00000u);
  if (exponent == 0)
    return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(fraction) * 0x1p-9f) | sign);
  return std::bit_cast<float>(sign | (exponent + 120) << 23 | fraction << 20);
}
// A float's magnitude (its bits) in a format of `fraction` bits after the point and a bias, without regard to where the format ends: as
// large as 2^(9 + fraction).
template <int fraction, int bias> DG_INLINE uint32_t f8_magnitude(uint32_t bits) {
  constexpr int dropped = 23 - fraction;
  uint32_t normal = ((bits + (1u << (dropped - 1)) - 1 + (bits >> dropped & 1)) >> dropped) - (uint32_t(127 - bias) << fraction);
  // Adding 2^23 of the least subnormals leaves no bit for what is finer.
  constexpr float unit = std::bit_cast<float>(uint32_t(1 - bias - fraction + 23 + 127) << 23);
  uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + unit) - std::bit_cast<uint32_t>(unit);
  return bits < uint32_t(128 - bias) << 23 ? subnormal : normal;
}
DG_INLINE uint8_t f8e4m3_of_f32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = f8_magnitude<3, 7>(bits & 0x7fffffff);
  return uint8_t(value == value && magnitude <= 0x7e ? magnitude | (bits >> 24 & 0x80) : 0x7f);
}
DG_INLINE uint8_t f8e5m2_of_f32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = f8_magnitude<2, 15>(bits & 0x7fffffff);
  uint32_t bounded = magnitude < 0x7c ? magnitude : 0x7c;
  return uint8_t(value == value ? bounded | (bits >> 24 & 0x80) : 0x7e);
}
