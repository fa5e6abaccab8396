/* Conversions of 16-bit floats that libgcc for RISC-V does not have and compilers call: stock objects for all of them, since the stock
 * target has no instructions for them, ours for those of long double. Each rounds once, to nearest even.
 *
 * Names are libgcc's: sf, df, tf are float, double and the 128-bit long double; hf is _Float16, bf __bf16. A 16-bit float travels in the
 * low half of a register, as its bits. */
#include <stdint.h>

float __extendhfsf2(_Float16 x) { return x; }
double __extendhfdf2(_Float16 x) { return x; }
long double __extendhftf2(_Float16 x) { return (double)x; }
_Float16 __truncsfhf2(float x) { return (_Float16)x; }
_Float16 __truncdfhf2(double x) { return (_Float16)x; }

float __extendbfsf2(__bf16 x) { return x; }
__bf16 __truncsfbf2(float x) { return (__bf16)x; }
__bf16 __truncdfbf2(double x) { return (__bf16)x; }

/* The double next to x towards zero, its last bit set if that is not x itself: whatever rounds that to fewer bits rounds x. */
static double to_odd(long double x) {
  double near = (double)x;
  long double back = near;
  union {
    double value;
    uint64_t bits;
  } result = {near};
  if (back == x || x != x)
    return near;
  int away = x < 0 ? back < x : back > x;
  result.bits = (result.bits - away) | 1;
  return result.value;
}
_Float16 __trunctfhf2(long double x) { return (_Float16)to_odd(x); }
__bf16 __trunctfbf2(long double x) { return (__bf16)to_odd(x); }

/* Integers of 128 bits. The double next to x towards zero with 53 bits, the last of them set if more followed: as to_odd. */
static double magnitude_to_odd(unsigned __int128 x) {
  uint64_t high = x >> 64, low = (uint64_t)x;
  int bits = high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
  int shift = bits > 53 ? bits - 53 : 0;
  uint64_t kept = (uint64_t)(x >> shift) | ((x & (((unsigned __int128)1 << shift) - 1)) != 0);
  union {
    uint64_t bits;
    double value;
  } scale = {(uint64_t)(1023 + shift) << 52};
  return (double)kept * scale.value;
}
static double signed_to_odd(__int128 x) { return x < 0 ? -magnitude_to_odd(-(unsigned __int128)x) : magnitude_to_odd(x); }

_Float16 __floattihf(__int128 x) { return (_Float16)signed_to_odd(x); }
_Float16 __floatuntihf(unsigned __int128 x) { return (_Float16)magnitude_to_odd(x); }
__int128 __fixhfti(_Float16 x) { return (__int128)(float)x; }
unsigned __int128 __fixunshfti(_Float16 x) { return (unsigned __int128)(float)x; }
