// What the program prints on the device model, at O0 and O2, is what it prints on the host.
// RUN: clang -w -O0 -funsigned-char -ffp-contract=off %s -o %t.host -lm && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O0 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
#include <stdio.h>

typedef struct {
  char c[3];
} Three;
typedef struct {
  long a, b;
} Sixteen;
typedef struct {
  float f, g;
} Floats;
typedef struct {
  double d;
  int i;
} Mixed;
typedef struct {
  long v[9];
} Big;
typedef struct {
  unsigned a : 3, b : 11;
  int c : 20;
  long d : 40;
} Bits;
__attribute__((noinline)) Three three(Three x) {
  x.c[1]++;
  return x;
}
__attribute__((noinline)) Sixteen sixteen(int p, Sixteen x) {
  x.b += p;
  return x;
}
__attribute__((noinline)) Floats floats(Floats x, float y) {
  x.f *= y;
  return x;
}
__attribute__((noinline)) Mixed mixed(Mixed x) {
  x.d /= 3;
  x.i--;
  return x;
}
__attribute__((noinline)) Big big(Big x, int k) {
  for (int i = 0; i < 9; i++)
    x.v[i] *= k;
  return x;
}
__attribute__((noinline)) Bits bits(Bits x) {
  x.a += 5;
  x.b ^= 0x555;
  x.c -= 3;
  x.d *= -7;
  return x;
}
/* More arguments than registers, a struct half in a7 and half on the stack among them. */
__attribute__((noinline)) long many(int a, long b, char c, short d, float e, double f, long g, Sixteen s, int h, double i, _Float16 j,
                                    Big k, char l) {
  return a + b * 2 + c * 3 + d * 4 + (long)(e * 5) + (long)(f * 6) + g * 7 + h * 8 + (long)(i * 9) + (long)(j * 10) + s.a * 11 + s.b * 12 +
         k.v[8] * 13 + l * 14;
}
int main(void) {
  Three t = three((Three){{'a', 'b', 'c'}});
  printf("%.3s\n", t.c);
  Sixteen s = sixteen(3, (Sixteen){5, 6});
  printf("%ld %ld\n", s.a, s.b);
  Floats f = floats((Floats){1.5f, 2.5f}, 3);
  printf("%f %f\n", f.f, f.g);
  Mixed m = mixed((Mixed){10, 3});
  printf("%.17g %d\n", m.d, m.i);
  Big b = big((Big){{1, 2, 3, 4, 5, 6, 7, 8, 9}}, 3);
  printf("%ld %ld\n", b.v[0], b.v[8]);
  Bits x = bits((Bits){6, 77, -5, 123456789});
  printf("%u %u %d %ld\n", x.a, x.b, x.c, (long)x.d);
  printf("%ld\n", many(1, 2, 3, 4, 5.5f, 6.5, 7, (Sixteen){11, 12}, 8, 9.5, 10.25, b, 13));
}
