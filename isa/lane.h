// What a vector instruction does in one lane, where C++'s operators do not say it: bit by bit the definition (D5) that the model executes,
// that the host CPU follows in NPU-numerics mode, and that hardware would have to meet. The records in Vector.td refer to it.
//
// Straight-line f32 code with explicit fused multiply-adds and no calls, so that a compiler may vectorise loops over it and still get these
// bits; compile it without contraction and without fast-math. Bounds are over all 2^32 arguments (tests/isa/lane_test.cc).
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace lane {

inline uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }
inline float from_bits(uint32_t b) { return std::bit_cast<float>(b); }
inline float nan() { return from_bits(0x7fc00000u); }
inline float infinity() { return from_bits(0x7f800000u); }

// Zeros are ordered: -0 < +0. For equal arguments (zeros of either sign) or-ing the bits gives the lesser, and-ing the greater.
inline float least(float a, float b) { return a < b ? a : a > b ? b : from_bits(bits(a) | bits(b)); }
inline float greatest(float a, float b) { return a > b ? a : a < b ? b : from_bits(bits(a) & bits(b)); }
// IEEE 754-2019 minimumNumber, maximumNumber, minimum, maximum.
inline float minimum_number(float a, float b) { return a != a ? (b != b ? nan() : b) : b != b ? a : least(a, b); }
inline float maximum_number(float a, float b) { return a != a ? (b != b ? nan() : b) : b != b ? a : greatest(a, b); }
inline float minimum(float a, float b) { return a != a || b != b ? nan() : least(a, b); }
inline float maximum(float a, float b) { return a != a || b != b ? nan() : greatest(a, b); }

// The same of 16-bit floats, by their bits.
struct f16 {
  static constexpr uint16_t infinity = 0x7c00, nan = 0x7e00;
};
struct bf16 {
  static constexpr uint16_t infinity = 0x7f80, nan = 0x7fc0;
};
template <class Format> constexpr bool is_nan16(uint16_t a) { return (a & 0x7fff) > Format::infinity; }
// Integers in the order of the numbers: of negative ones the bits below the sign run the other way.
constexpr int16_t order16(uint16_t a) { return int16_t(a ^ (int16_t(a) >> 15 & 0x7fff)); }
constexpr uint16_t least16(uint16_t a, uint16_t b) { return order16(a) < order16(b) ? a : b; }
constexpr uint16_t greatest16(uint16_t a, uint16_t b) { return order16(a) > order16(b) ? a : b; }
template <class F> constexpr uint16_t minimum_number16(uint16_t a, uint16_t b) {
  return is_nan16<F>(a) ? (is_nan16<F>(b) ? F::nan : b) : is_nan16<F>(b) ? a : least16(a, b);
}
template <class F> constexpr uint16_t maximum_number16(uint16_t a, uint16_t b) {
  return is_nan16<F>(a) ? (is_nan16<F>(b) ? F::nan : b) : is_nan16<F>(b) ? a : greatest16(a, b);
}
template <class F> constexpr uint16_t minimum16(uint16_t a, uint16_t b) {
  return is_nan16<F>(a) || is_nan16<F>(b) ? F::nan : least16(a, b);
}
template <class F> constexpr uint16_t maximum16(uint16_t a, uint16_t b) {
  return is_nan16<F>(a) || is_nan16<F>(b) ? F::nan : greatest16(a, b);
}

// To the nearest integer, ties to even, whatever the host's rounding mode says to <cmath>: adding 2^23 leaves no bit for a fraction.
inline float round_even(float a) {
  float magnitude = from_bits(bits(a) & 0x7fffffffu);
  float rounded = (magnitude + 0x1p23f) - 0x1p23f;
  return magnitude < 0x1p23f ? from_bits(bits(rounded) | (bits(a) & 0x80000000u)) : a;
}

// The nearest value that Narrow, of 8 or 16 bits, has.
template <class Narrow> constexpr Narrow saturate(int32_t a) {
  constexpr int32_t least = Narrow(-1) > Narrow(0) ? 0 : -(1 << (8 * sizeof(Narrow) - 1));
  constexpr int32_t greatest = least + (1 << 8 * sizeof(Narrow)) - 1;
  return Narrow(a < least ? least : a > greatest ? greatest : a);
}

// a * b + c of three f16 in f32, of three bf16 in f64: where that cannot hold it exactly the neighbour whose last bit is 1 ("rounded to
// odd"), so that the narrower format is rounded to as if once. The product is exact; what the sum loses is found exactly by differences. Of
// infinities and NaN the loss is NaN, and nothing changes.
template <class Float> Float fma_odd(Float a, Float b, Float c) {
  using Bits = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;
  Float product = a * b, sum = product + c;
  Float added = sum - product, lost = (product - (sum - added)) + (c - added);
  bool inexact = (lost > 0) | (lost < 0);
  Bits away = (lost > 0) == (sum > 0) ? Bits(1) : ~Bits(0); // from zero, or towards it
  Bits nearest = std::bit_cast<Bits>(sum);
  return std::bit_cast<Float>(nearest + (inexact && !(nearest & 1) ? away : Bits(0)));
}

// Towards zero, saturating; NaN gives 0.
inline int32_t to_i32(float a) { return a != a ? 0 : a >= 0x1p31f ? INT32_MAX : a < -0x1p31f ? INT32_MIN : (int32_t)a; }
inline uint32_t to_u32(float a) { return !(a > 0.0f) ? 0u : a >= 0x1p32f ? UINT32_MAX : (uint32_t)a; }

// 2^n for an integer n of [-126, 127].
inline float power_of_two(int32_t n) { return from_bits((uint32_t)(n + 127) << 23); }

// 2^f for f in [-0.5, 0.5]: degree 6, relative error below 2^-28 before rounding.
inline float exp2_fraction(float f) {
  float p = 0x1.416b50p-13f;
  p = std::fma(p, f, 0x1.5f082ep-10f);
  p = std::fma(p, f, 0x1.3b2de0p-7f);
  p = std::fma(p, f, 0x1.c6af7cp-5f);
  p = std::fma(p, f, 0x1.ebfbdcp-3f);
  p = std::fma(p, f, 0x1.62e430p-1f);
  return std::fma(p, f, 1.0f);
}

// 2^a, within 0.9 ulp; exact for integers. Overflows to infinity, underflows gradually.
//   a = n + f with n an integer, |f| <= 1/2;   2^a = 2^f * 2^(n/2) * 2^(n - n/2), of which only the last product can round.
inline float exp2(float a) {
  float clamped = a < -151.0f ? -151.0f : a > 129.0f ? 129.0f : a != a ? 0.0f : a;
  float whole = round_even(clamped);
  int32_t n = (int32_t)whole, half = n >> 1;
  float result = exp2_fraction(clamped - whole) * power_of_two(half) * power_of_two(n - half);
  return a != a ? nan() : result;
}

// Binary logarithm, within 1.7 ulp; exact for powers of two. log2(+-0) = -infinity; of a negative number NaN.
//   a = m * 2^e with sqrt(1/2) <= m < sqrt(2);   log2(a) = e + (m - 1) * p(m - 1)
inline float log2(float a) {
  bool subnormal = a < 0x1p-126f;
  float scaled = subnormal ? a * 0x1p24f : a;
  // 0x3f3504f3 is the float just below sqrt(1/2): subtracting it makes the exponent field count from there.
  int32_t e = (int32_t)(bits(scaled) - 0x3f3504f3u) >> 23;
  float f = from_bits(bits(scaled) - ((uint32_t)e << 23)) - 1.0f;
  float p = 0x1.32cc2cp-4f;
  p = std::fma(p, f, -0x1.985262p-4f);
  p = std::fma(p, f, 0x1.266182p-3f);
  p = std::fma(p, f, -0x1.843478p-3f);
  p = std::fma(p, f, 0x1.af9ac6p-3f);
  p = std::fma(p, f, -0x1.eb8136p-3f);
  p = std::fma(p, f, 0x1.2726ccp-2f);
  p = std::fma(p, f, -0x1.715614p-2f);
  p = std::fma(p, f, 0x1.ec723ap-2f);
  p = std::fma(p, f, -0x1.715476p-1f);
  p = std::fma(p, f, 0x1.715476p+0f);
  float result = std::fma(f, p, (float)(subnormal ? e - 24 : e));
  return a != a || a < 0.0f ? nan() : a == 0.0f ? -infinity() : a == infinity() ? a : result;
}

// Hyperbolic tangent, within 1.4 ulp; keeps the sign of zero.
//   |a| < 0.625: a + a^3 * q(a^2), degree 5.   else: 1 - 2 / (2^(2a*log2 e) + 1), the exponent's product kept in two floats; 1 from 10 on.
inline float tanh(float a) {
  float x = from_bits(bits(a) & 0x7fffffffu);
  float z = x * x;
  float q = 0x1.1a27fep-9f;
  q = std::fma(q, z, -0x1.0c5ecep-7f);
  q = std::fma(q, z, 0x1.63a550p-6f);
  q = std::fma(q, z, -0x1.b9f188p-5f);
  q = std::fma(q, z, 0x1.11107ap-3f);
  q = std::fma(q, z, -0x1.555554p-2f);
  float small = std::fma(x * z, q, x);
  float bounded = x < 10.0f ? x : 10.0f;
  float high = bounded * 0x1.715476p+1f;
  float low = std::fma(bounded, 0x1.715476p+1f, -high) + bounded * 0x1.4ae0cp-25f;
  float whole = round_even(high);
  float power = exp2_fraction((high - whole) + low) * power_of_two((int32_t)whole);
  float large = 1.0f - 2.0f / (power + 1.0f);
  float magnitude = x < 0.625f ? small : large;
  return a != a ? nan() : from_bits(bits(magnitude) | (bits(a) & 0x80000000u));
}

} // namespace lane
