// What the program prints on the device model, at O0 and O2, is what it prints on the host.
// RUN: clang -w -O0 -funsigned-char -ffp-contract=off %s -o %t.host -lm && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O0 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
#include <math.h>
#include <stdint.h>
#include <stdio.h>

volatile double a = 2.5, b = -0.0, c = 1e300, d = 1e-310, n = NAN;
volatile float f = 1.1f, g = 3e38f, h = 1e-40f;
volatile long i = -123456789012345, j = 1000003;
volatile int k = -7, l = 2;
volatile unsigned u = 0x80000001u;
volatile uint64_t w = 0xfedcba9876543210;
volatile _Float16 x = 1.5, y = 3.25;
/* Doubles by their bits: C libraries differ in the digits they print. */
static unsigned long bits(double v) {
  union {
    double v;
    unsigned long bits;
  } u = {v};
  return v != v ? 0x7ff8000000000000 : u.bits;
}
int main(void) {
  printf("%lx %lx %lx %lx %lx\n", bits(a / 3), bits(a * c * c), bits(d / 3), bits(b + b), bits(a - c));
  printf("%lx %lx %lx %lx\n", bits(f * f), bits(g * f), bits(h / 3), bits(f - 1.1f));
  printf("%d %d %d %d %d %d\n", n<a, n == n, n != n, a> b, !(n >= a), isnan(n) != 0);
  printf("%lx %lx %lx %lx\n", bits(sqrt(a)), bits(fabs(b)), bits(copysign(a, b)), bits(fma(a, a, -6.25)));
  printf("%g %g %g %g %g %g\n", floor(-a), ceil(a), trunc(-a), rint(a), round(-a), nearbyint(3.5));
  printf("%g %g %g %g\n", fmin(n, a), fmax(a, n), fmin(b, a), fmod(10.0, a));
  printf("%.10g %.10g %.10g %.10g\n", sin(a), exp(a), log(a), pow(a, 3.5));
  printf("%ld %lu %d %u %ld\n", (long)-a, (unsigned long)1.8e19, (int)-3.9, (unsigned)3e9, lrint(a));
  printf("%lx %lx %lx %lx %lx\n", bits((double)i), bits((double)w), bits((float)i), bits((float)w), bits((float)u));
  printf("%ld %ld %ld %ld\n", i / j, i % j, i * j, (long)((__int128)i * j >> 60));
  unsigned __int128 q = (unsigned __int128)w * w;
  printf("%lx %lx %lx\n", (long)(q >> 64), (long)(q / 12345), (long)(q % 1000000007));
  printf("%d %d %u %u %d %d\n", k / l, k % l, u / 3, u % 10, k >> 1, k << 28);
  printf("%d %u %ld %lu %x\n", (int)u >> 1, u >> 1, (long)(int)u, (unsigned long)u, u << 3 | u >> 29);
  printf("%lx %lx %lx %x\n", w << 13, w >> 13, (long)w >> 13, (unsigned)__builtin_bswap32(u));
  printf("%d %d %d %d %d %d\n", __builtin_clz(5u), __builtin_ctz(40), __builtin_clzl(w >> 9), __builtin_popcount(u), __builtin_popcountl(w),
         __builtin_parity(u));
  printf("%f %f %f %f %d\n", (double)(x * y), (double)(x + y), (double)(_Float16)(1.0 / 3), (double)(_Float16)65519.99, x < y);
  long r;
  int s;
  printf("%d %d %d\n", __builtin_add_overflow(i, INT64_MIN, &r), __builtin_mul_overflow(k, 0x40000000, &s),
         __builtin_sub_overflow(5u, 6u, &s));
}
