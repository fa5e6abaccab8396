// What the program prints on the device model, at O0 and O2, is what it prints on the host.
// RUN: clang -w -O0 -funsigned-char -ffp-contract=off %s -o %t.host -lm && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O0 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) int variable(int n) {
  int a[n], s = 0;
  for (int i = 0; i < n; i++)
    a[i] = i * i;
  for (int i = 0; i < n; i++)
    s += a[n - 1 - i] * (i + 1);
  return s;
}
/* Beyond the reach of an immediate, with saved registers and calls. */
__attribute__((noinline)) int large(int n, int (*f)(int)) {
  volatile char buffer[100000];
  int s = 0;
  for (int i = 0; i < 100000; i += 777)
    buffer[i] = (char)(i + n);
  for (int i = 0; i < 100000; i += 777)
    s += buffer[i] + f(i & 7);
  return s;
}
__attribute__((noinline)) int aligned(int n) { /* realigned and of variable size: base pointer */
  _Alignas(256) int x[64];
  int *y = alloca(n * sizeof *y);
  memset(x, n, sizeof x);
  y[n - 1] = (uintptr_t)x % 256 == 0 ? x[5] : -1;
  return variable(n) + y[n - 1];
}
__attribute__((noinline)) int arguments(int a, int b, int c, int d, int e, int f, int g, int h, long i, char j,
                                        int n) { /* stack arguments beside a variable frame */
  int *p = alloca(n * sizeof *p);
  for (int k = 0; k < n; k++)
    p[k] = variable(k + 1) + i;
  return p[n - 1] + a + b + c + d + e + f + g + h + j;
}
int main(void) {
  printf("%d %d %d %d\n", variable(20), large(3, variable + 0), aligned(7), arguments(1, 2, 3, 4, 5, 6, 7, 8, 1L << 30, 10, 9));
}
