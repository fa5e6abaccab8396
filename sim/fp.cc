#include "sim/fp.h"
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma STDC FENV_ACCESS ON

namespace dougong::sim::fp {
namespace {

enum : uint64_t { inexact = 1, underflow = 2, overflow = 4, divide_by_zero = 8, invalid = 16 };

// The host's rounding mode and sticky exceptions around one operation.
class HostFloat {
public:
#if defined(__x86_64__)
  explicit HostFloat(int rm) : saved(_mm_getcsr()) {
    static constexpr unsigned modes[8] = {0x0000, 0x6000, 0x2000, 0x4000, 0x0000};
    _mm_setcsr(0x1f80 | modes[rm & 7]);
  }
  uint64_t finish() {
    unsigned raised = _mm_getcsr();
    _mm_setcsr(saved);
    return (raised & 0x20 ? inexact : 0) | (raised & 0x10 ? underflow : 0) | (raised & 8 ? overflow : 0) |
           (raised & 4 ? divide_by_zero : 0) | (raised & 1 ? invalid : 0);
  }

private:
  unsigned saved;
#else
  explicit HostFloat(int rm) {
    static constexpr int modes[8] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    std::feholdexcept(&saved);
    std::fesetround(modes[rm & 7]);
  }
  uint64_t finish() {
    int raised = std::fetestexcept(FE_ALL_EXCEPT);
    std::fesetenv(&saved);
    return (raised & FE_INEXACT ? inexact : 0) | (raised & FE_UNDERFLOW ? underflow : 0) | (raised & FE_OVERFLOW ? overflow : 0) |
           (raised & FE_DIVBYZERO ? divide_by_zero : 0) | (raised & FE_INVALID ? invalid : 0);
  }

private:
  std::fenv_t saved;
#endif
};

template <typename F> F quiet_nan() { return std::numeric_limits<F>::quiet_NaN(); }
template <typename F> using BitsOf = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
template <typename F> bool is_nan(F x) { return x != x; }
template <typename F> bool is_signalling(F x) {
  constexpr int quiet_bit = sizeof(F) == 4 ? 22 : 51;
  return is_nan(x) && !(std::bit_cast<BitsOf<F>>(x) >> quiet_bit & 1);
}

// Keeps the optimiser from moving the operation out from between the control register's changes.
template <typename F> [[gnu::always_inline]] inline F opaque(F x) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(x));
  return x;
#else
  volatile F y = x;
  return y;
#endif
}

template <typename F, typename Operation> [[gnu::always_inline]] inline F rounded(int rm, uint64_t &flags, Operation operation) {
  HostFloat host(rm);
  F result = opaque(operation());
  flags |= host.finish();
  return is_nan(result) ? quiet_nan<F>() : result;
}

// Ties away from zero, which the host does not have: the result towards zero, and the next one away from it when the exact value
// is at least half way there. `residual_sign(candidate)` is the sign of |exact| - |candidate|, exactly.
template <typename F, typename Operation, typename Compare> F ties_away(uint64_t &flags, Operation operation, Compare magnitude_beyond) {
  F nearest = rounded<F>(rne, flags, operation);
  if (is_nan(nearest) || std::isinf(nearest))
    return nearest;
  uint64_t ignored = 0;
  F down = rounded<F>(rtz, ignored, operation);
  if (down != nearest || !(ignored & inexact))
    return nearest; // already away, or exact
  F away = std::bit_cast<F>(BitsOf<F>(std::bit_cast<BitsOf<F>>(down) + 1));
  if (std::isinf(away))
    return nearest; // the greatest number is odd: half way to infinity goes there anyway
  return magnitude_beyond(down, away) ? away : nearest;
}

// Is the exact a·b + c the midpoint of down and away? Computed in integers: both sides as sums of scaled significands.
struct Exact {
  // value = significand · 2^exponent, significand within ±2^106
  __int128 significand;
  int exponent;
};
template <typename F> Exact exact(F x) {
  int exponent;
  F fraction = std::frexp(x, &exponent);
  constexpr int digits = std::numeric_limits<F>::digits;
  return {__int128(std::ldexp(fraction, digits)), exponent - digits};
}
// Sign of x + y + z + w with |significand| < 2^107: align to the smallest exponent when the span allows; far apart terms decide alone.
bool sums_to_zero(const Exact (&terms)[4]) {
  // 512-bit two's complement accumulator, aligned at the smallest exponent; a span beyond it cannot cancel to zero.
  int least = std::numeric_limits<int>::max();
  for (const Exact &term : terms)
    if (term.significand != 0 && term.exponent < least)
      least = term.exponent;
  constexpr int words = 72; // 4608 bits: the whole range of f64 products
  uint64_t sum[words] = {};
  for (const Exact &term : terms) {
    if (term.significand == 0)
      continue;
    int shift = term.exponent - least;
    if (shift > (words - 4) * 64)
      return false;
    uint64_t parts[4] = {uint64_t(term.significand), uint64_t(term.significand >> 64), term.significand < 0 ? ~0ull : 0,
                         term.significand < 0 ? ~0ull : 0};
    int word = shift / 64, bit = shift % 64;
    unsigned __int128 carry = 0;
    for (int i = word; i < words; ++i) {
      int from = i - word;
      uint64_t extension = term.significand < 0 ? ~0ull : 0;
      uint64_t low = from < 4 ? parts[from] : extension, below = from == 0 ? 0 : from - 1 < 4 ? parts[from - 1] : extension;
      uint64_t part = bit ? low << bit | below >> (64 - bit) : low;
      carry += (unsigned __int128)sum[i] + part;
      sum[i] = uint64_t(carry);
      carry >>= 64;
    }
  }
  for (uint64_t word : sum)
    if (word)
      return false;
  return true;
}
// 2·(a·b + c) = down + away?
template <typename F> bool is_midpoint(F a, F b, F c, F down, F away) {
  Exact x = exact(a), y = exact(b), z = exact(c), d = exact(down), e = exact(away);
  return sums_to_zero({{x.significand * y.significand, x.exponent + y.exponent + 1},
                       {z.significand, z.exponent + 1},
                       {-d.significand, d.exponent},
                       {-e.significand, e.exponent}});
}

template <typename F> F add(F a, F b, int rm, uint64_t &flags) {
  auto operation = [&] { return opaque(a) + opaque(b); };
  if (rm == rmm)
    return ties_away<F>(flags, operation, [&](F down, F away) { return is_midpoint<F>(a, 1, b, down, away); });
  return rounded<F>(rm, flags, operation);
}
template <typename F> F mul(F a, F b, int rm, uint64_t &flags) {
  auto operation = [&] { return opaque(a) * opaque(b); };
  if (rm == rmm)
    return ties_away<F>(flags, operation, [&](F down, F away) { return is_midpoint<F>(a, b, 0, down, away); });
  return rounded<F>(rm, flags, operation);
}
template <typename F> F div(F a, F b, int rm, uint64_t &flags) {
  auto operation = [&] { return opaque(a) / opaque(b); };
  // a / b is half way iff a = b · middle.
  if (rm == rmm)
    return ties_away<F>(flags, operation, [&](F down, F away) {
      Exact x = exact(a), y = exact(b), d = exact(down), e = exact(away);
      return sums_to_zero({{x.significand, x.exponent + 1},
                           {-y.significand * d.significand, y.exponent + d.exponent},
                           {-y.significand * e.significand, y.exponent + e.exponent},
                           {0, 0}});
    });
  return rounded<F>(rm, flags, operation);
}
template <typename F> F fused(F a, F b, F c, int rm, uint64_t &flags) {
  auto operation = [&] { return std::fma(opaque(a), opaque(b), opaque(c)); };
  // RISC-V: infinity times zero is invalid even when the addend is a quiet NaN.
  if ((std::isinf(a) && b == 0) || (a == 0 && std::isinf(b)))
    flags |= invalid;
  if (rm == rmm)
    return ties_away<F>(flags, operation, [&](F down, F away) { return is_midpoint<F>(a, b, c, down, away); });
  return rounded<F>(rm, flags, operation);
}

template <typename F> F least(F a, F b, bool greater, uint64_t &flags) {
  if (is_signalling(a) || is_signalling(b))
    flags |= invalid;
  if (is_nan(a))
    return is_nan(b) ? quiet_nan<F>() : b;
  if (is_nan(b))
    return a;
  bool a_less = a < b || (a == b && std::signbit(a));
  return a_less != greater ? a : b;
}

template <typename F> bool equal(F a, F b, uint64_t &flags) {
  if (is_signalling(a) || is_signalling(b))
    flags |= invalid;
  return !is_nan(a) && !is_nan(b) && a == b;
}
template <typename F> bool ordered(F a, F b, uint64_t &flags) {
  bool nan = is_nan(a) || is_nan(b);
  if (nan)
    flags |= invalid;
  return !nan;
}

template <typename F> uint64_t classify(F x) {
  bool negative = std::signbit(x);
  switch (std::fpclassify(x)) {
  case FP_INFINITE:
    return negative ? 1 : 1 << 7;
  case FP_NORMAL:
    return negative ? 1 << 1 : 1 << 6;
  case FP_SUBNORMAL:
    return negative ? 1 << 2 : 1 << 5;
  case FP_ZERO:
    return negative ? 1 << 3 : 1 << 4;
  default:
    return is_signalling(x) ? 1 << 8 : 1 << 9;
  }
}

template <typename F> F to_integral(F x, int rm) {
  F whole = std::trunc(x), rest = x - whole;
  switch (rm) {
  case rtz:
    return whole;
  case rdn:
    return std::floor(x);
  case rup:
    return std::ceil(x);
  case rmm:
    return std::fabs(rest) >= F(0.5) ? whole + std::copysign(F(1), x) : whole;
  default:
    if (std::fabs(rest) > F(0.5) || (std::fabs(rest) == F(0.5) && std::fmod(whole, F(2)) != 0))
      return whole + std::copysign(F(1), x);
    return whole;
  }
}

template <typename Int, typename F> Int convert(F x, int rm, uint64_t &flags) {
  using Limits = std::numeric_limits<Int>;
  if (is_nan(x))
    return flags |= invalid, Limits::max();
  F whole = to_integral(x, rm);
  constexpr int digits = Limits::digits; // 31, 32, 63, 64
  F beyond = std::ldexp(F(1), digits);   // one past the greatest
  if (whole >= beyond)
    return flags |= invalid, Limits::max();
  if (std::is_signed_v<Int> ? whole < -beyond : whole < 0)
    return flags |= invalid, Limits::min();
  if (whole != x)
    flags |= inexact;
  return static_cast<Int>(whole);
}

template <typename F, typename Int> F from(Int value, int rm, uint64_t &flags) {
  constexpr int digits = std::numeric_limits<F>::digits;
  bool negative = std::is_signed_v<Int> && value < 0;
  uint64_t magnitude = negative ? 0 - uint64_t(value) : uint64_t(value);
  int width = 64 - std::countl_zero(magnitude | 1), surplus = width - digits;
  if (surplus > 0) {
    uint64_t unit = uint64_t(1) << surplus, rest = magnitude & (unit - 1), half = unit / 2;
    magnitude -= rest;
    bool up = rm == rdn   ? negative && rest
              : rm == rup ? !negative && rest
              : rm == rtz ? false
              : rm == rmm ? rest >= half
                          : rest > half || (rest == half && magnitude & unit);
    if (rest)
      flags |= inexact;
    // One unit up may carry out of 64 bits: 2^64 is a power of two, exact in either type.
    if (up && magnitude + unit < magnitude)
      return negative ? -std::ldexp(F(1), 64) : std::ldexp(F(1), 64);
    if (up)
      magnitude += unit;
  }
  // At most `digits` significant bits: halves convert exactly, whatever the host's mode.
  F result = std::ldexp(static_cast<F>(magnitude >> 32), 32) + static_cast<F>(magnitude & 0xffffffff);
  return negative ? -result : result;
}

} // namespace

float add32(float a, float b, int rm, uint64_t &flags) { return add(a, b, rm, flags); }
float sub32(float a, float b, int rm, uint64_t &flags) { return add(a, -b, rm, flags); }
float mul32(float a, float b, int rm, uint64_t &flags) { return mul(a, b, rm, flags); }
float div32(float a, float b, int rm, uint64_t &flags) { return div(a, b, rm, flags); }
float sqrt32(float a, int rm, uint64_t &flags) {
  return rounded<float>(rm, flags, [&] { return std::sqrt(opaque(a)); }); // never half way between two floats
}
float fma32(float a, float b, float c, int rm, uint64_t &flags) { return fused(a, b, c, rm, flags); }
double add64(double a, double b, int rm, uint64_t &flags) { return add(a, b, rm, flags); }
double sub64(double a, double b, int rm, uint64_t &flags) { return add(a, -b, rm, flags); }
double mul64(double a, double b, int rm, uint64_t &flags) { return mul(a, b, rm, flags); }
double div64(double a, double b, int rm, uint64_t &flags) { return div(a, b, rm, flags); }
double sqrt64(double a, int rm, uint64_t &flags) {
  return rounded<double>(rm, flags, [&] { return std::sqrt(opaque(a)); });
}
double fma64(double a, double b, double c, int rm, uint64_t &flags) { return fused(a, b, c, rm, flags); }

float min32(float a, float b, uint64_t &flags) { return least(a, b, false, flags); }
float max32(float a, float b, uint64_t &flags) { return least(a, b, true, flags); }
double min64(double a, double b, uint64_t &flags) { return least(a, b, false, flags); }
double max64(double a, double b, uint64_t &flags) { return least(a, b, true, flags); }
bool eq32(float a, float b, uint64_t &flags) { return equal(a, b, flags); }
bool lt32(float a, float b, uint64_t &flags) { return ordered(a, b, flags) && a < b; }
bool le32(float a, float b, uint64_t &flags) { return ordered(a, b, flags) && a <= b; }
bool eq64(double a, double b, uint64_t &flags) { return equal(a, b, flags); }
bool lt64(double a, double b, uint64_t &flags) { return ordered(a, b, flags) && a < b; }
bool le64(double a, double b, uint64_t &flags) { return ordered(a, b, flags) && a <= b; }
uint64_t classify32(float x) { return classify(x); }
uint64_t classify64(double x) { return classify(x); }

float narrow(double x, int rm, uint64_t &flags) {
  auto operation = [&] { return static_cast<float>(opaque(x)); };
  if (rm != rmm)
    return rounded<float>(rm, flags, operation);
  return ties_away<float>(flags, operation, [&](float down, float away) { return is_midpoint<double>(x, 1, 0, down, away); });
}
double widen(float x, uint64_t &flags) {
  if (is_signalling(x))
    flags |= invalid;
  return is_nan(x) ? quiet_nan<double>() : static_cast<double>(x);
}

template <typename Int> Int to_int(float x, int rm, uint64_t &flags) { return convert<Int>(x, rm, flags); }
template <typename Int> Int to_int(double x, int rm, uint64_t &flags) { return convert<Int>(x, rm, flags); }
template <typename Float, typename Int> Float from_int(Int value, int rm, uint64_t &flags) { return from<Float>(value, rm, flags); }

#define DG_INSTANTIATE(Int)                                                                                                                \
  template Int to_int<Int>(float, int, uint64_t &);                                                                                        \
  template Int to_int<Int>(double, int, uint64_t &);                                                                                       \
  template float from_int<float, Int>(Int, int, uint64_t &);                                                                               \
  template double from_int<double, Int>(Int, int, uint64_t &);
DG_INSTANTIATE(int32_t)
DG_INSTANTIATE(uint32_t)
DG_INSTANTIATE(int64_t)
DG_INSTANTIATE(uint64_t)

} // namespace dougong::sim::fp
