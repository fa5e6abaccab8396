// Software pipelining: for every trip count the values that the loop as written computes, in about half the cycles, and in functional mode.
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim --timing %t.elf > %t.out && FileCheck %s < %t.out
// RUN: dougong-cc -w -O2 %s -o %t.as.elf -mllvm -enable-pipeliner=0 && dougong sim --timing %t.as.elf > %t.as
// RUN: FileCheck %s --check-prefix=FLAT < %t.as
// RUN: grep values %t.out > %t.a && grep values %t.as | diff %t.a -
// RUN: dougong sim %t.elf | grep values | diff %t.a -
#include "dougong_npu.h"
#include <stdio.h>
#include <string.h>
#define SEEN __attribute__((noinline))
#define AS_WRITTEN _Pragma("clang loop unroll(disable)")

// A chain of 4 cycles for the load, 4, 4, 12 and the store: 25 as written, since the next load comes after the store.
SEEN void exponentials(dg_f32x32 *restrict y, const dg_f32x32 *restrict x, long n) {
  AS_WRITTEN for (long i = 0; i < n; i++) y[i] = __builtin_elementwise_exp2(__builtin_elementwise_fma(x[i], x[0], x[1]) + x[2]);
}
// What is carried lives on through several iterations.
SEEN void filtered(dg_f32x32 *restrict y, const dg_f32x32 *restrict x, long n) {
  dg_f32x32 a = x[0], b = x[1], c = x[2];
  AS_WRITTEN for (long i = 0; i < n; i++) {
    y[i] = __builtin_elementwise_fma(a, b, c) * x[i];
    c = b, b = a, a = x[i] + c;
  }
}
// The next iteration reads what this one writes: a recurrence through memory.
SEEN void running(dg_f32x32 *y, long n) { AS_WRITTEN for (long i = 0; i < n; i++) y[i + 1] = y[i + 1] * 0.5f + y[i]; }
// It may: nothing says that the two are apart.
SEEN void shifted(dg_f32x32 *y, dg_f32x32 *x, long n) { AS_WRITTEN for (long i = 0; i < n; i++) y[i] = x[i] * 2.0f + 1.0f; }
// What is carried is handed on from one to the next, and seen after the loop.
SEEN void rotated(dg_f32x32 *restrict y, const dg_f32x32 *restrict x, long n) {
  dg_f32x32 a = x[0], b = x[1], c = x[2];
  AS_WRITTEN for (long i = 0; i < n; i++) {
    dg_f32x32 t = a;
    a = b, b = c, c = t * 0.5f;
    y[i] = __builtin_elementwise_exp2(b);
  }
  y[n] = a, y[n + 1] = b, y[n + 2] = c;
}
// A recurrence through memory that goes down, in steps of three words.
SEEN int down(dg_f32x32 *restrict y, const dg_f32x32 *restrict x, int *p, long n) {
  int g = 1;
  AS_WRITTEN for (long i = n - 1; i >= 0; i--) {
    g = g * 3 + p[i * 3 + 3], p[i * 3] += g;
    y[i] = __builtin_elementwise_exp2(x[i]);
  }
  return g;
}
// A count that is known, of fewer iterations than there would be stages, and of more.
SEEN void two(dg_f32x32 *restrict y, const dg_f32x32 *restrict x) {
  AS_WRITTEN for (long i = 0; i < 2; i++) y[i] = __builtin_elementwise_exp2(x[i] * x[3]);
}
SEEN void fifty(dg_f32x32 *restrict y, const dg_f32x32 *restrict x) {
  AS_WRITTEN for (long i = 0; i < 50; i++) y[i] = __builtin_elementwise_exp2(x[i] * x[3]);
}
SEEN double scalars(const double *x, long n) {
  double s = 0;
  AS_WRITTEN for (long i = 0; i < n; i++) s = s * 0.5 + x[i] * x[i];
  return s;
}

enum { most = 300 };
static unsigned long hash;
static void add(const void *from, long bytes) {
  for (const unsigned *p = from; bytes > 0; bytes -= 4)
    hash = hash * 1099511628211u + *p++;
}
static long cycles(dg_f32x32 *y, dg_f32x32 *x, long n) {
  exponentials(y, x, n); // once for the instruction cache
  long start = __dg_cycle();
  exponentials(y, x, n);
  return __dg_cycle() - start;
}

int main(void) {
  dg_f32x32 *x = (dg_f32x32 *)DG_LM_BASE, *y = x + most;
  for (long i = 0; i < most; i++)
    x[i] = y[i] = (dg_f32x32){} + (float)(i % 17) * 0.125f - 1.0f;
  static double d[40];
  for (int i = 0; i < 40; i++)
    d[i] = i * 0.75 - 9;
  for (long n = 0; n < 14; n++) {
    exponentials(y, x, n), add(y, 128 * 15);
    filtered(y, x, n), add(y, 128 * 15);
    running(y, n), add(y, 128 * 15);
    shifted(y + 1, y, n), add(y, 128 * 15);
    shifted(y, y + 1, n), add(y, 128 * 15);
    rotated(y, x, n), add(y, 128 * (n + 3));
    int words[45];
    for (int i = 0; i < 45; i++)
      words[i] = i;
    words[44] = down(y, x, words, n);
    add(words, sizeof words), add(y, 128 * 15);
    double s = scalars(d, 2 * n);
    add(&s, 8);
  }
  two(y, x), fifty(y + 2, x), add(y, 128 * 60);
  printf("values %lx\n", hash);
  long each = (cycles(y, x, 200) - cycles(y, x, 100)) / 100;
  // CHECK: {{^([5-9]|1[0-5]) cycles}}
  // FLAT: {{^2[4-9] cycles}}
  printf("%ld cycles\n", each);
}
