// Pictures in C: vectors of 128 bytes and of 64 halves compute in packed instructions what the host computes.
// RUN: clang -w -O1 -ffp-contract=off %s -o %t.host && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O0 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O3 -g %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O2 %s -S -o - | FileCheck %s
#include <stdint.h>
#include <stdio.h>
#ifdef __DOUGONG__
#include <dougong_npu.h>
#endif
typedef uint8_t bytes __attribute__((vector_size(128), aligned(1)));
typedef int8_t signed_bytes __attribute__((vector_size(128), aligned(1)));
typedef int16_t halves __attribute__((vector_size(128), aligned(2)));
typedef uint16_t wide __attribute__((vector_size(256), aligned(2)));
typedef int32_t words __attribute__((vector_size(256), aligned(4)));
struct picture {
  uint8_t a[1024 + 128], b[1024 + 128], out[1024 + 128];
};

// A blend: bytes widen to halves and come back.
// CHECK-LABEL: blend:
// CHECK: dg.vzip.8
// CHECK: dg.vmul.i16
// CHECK: dg.vpack.i8
// CHECK-NOT: dg.vmul.i32
// CHECK: ret
__attribute__((noinline)) void blend(struct picture *p, uint8_t alpha) {
  for (int i = 0; i < 1024; i += 128) {
    wide a = __builtin_convertvector(*(bytes *)(p->a + i), wide), b = __builtin_convertvector(*(bytes *)(p->b + i), wide);
    *(bytes *)(p->out + i) = __builtin_convertvector((a * alpha + b * (uint16_t)(255 - alpha) + (uint16_t)128) >> 8, bytes);
  }
}

// Where a pixel is bright its difference to the next one, saturated.
// CHECK-LABEL: edges:
// CHECK: dg.vssub.u8
// CHECK: dg.vcmplt.u8
// CHECK: dg.vsel.8
// CHECK: ret
__attribute__((noinline)) void edges(struct picture *p, uint8_t limit) {
  for (int i = 0; i < 1024; i += 128) {
    bytes a = *(bytes *)(p->a + i), next = *(bytes *)(p->a + i + 1);
    *(bytes *)(p->out + i) = (bytes)(a > limit) & __builtin_elementwise_sub_sat(a, next);
  }
}

// Three taps of a filter in halves, at addresses of any half.
// CHECK-LABEL: filter:
// CHECK: dg.vmul.i16
// CHECK: dg.vmax.i16
// CHECK: dg.vmin.i16
// CHECK-NOT: dg.vmax.i32
// CHECK: ret
__attribute__((noinline)) void filter(struct picture *p, int16_t k0, int16_t k1) {
  for (int i = 0; i < 1024; i += 128) {
    halves x = *(halves *)(p->a + i), y = *(halves *)(p->a + i + 2), z = *(halves *)(p->a + i + 4);
    halves sum = (x + z) * k0 + y * k1 >> 3;
    *(halves *)(p->out + i) = __builtin_elementwise_min(__builtin_elementwise_max(sum, (halves){} - 1000), (halves){} + 1000);
  }
}

// Sums of halves in words, backwards, and lanes by number.
__attribute__((noinline)) int32_t others(struct picture *p, int lane) {
  halves a = *(halves *)p->a, b = *(halves *)p->b, total = {};
  for (int i = 0; i < 896; i += 2) {
    halves x = *(halves *)(p->a + i);
    total += (x ^ b) + ((x & (x < a)) | (b & ~(x < a)));
  }
  words w = __builtin_convertvector(total, words);
  signed_bytes s = (signed_bytes)total, r = s >> 1;
  r[lane] = total[lane / 2];
  *(signed_bytes *)p->out = r;
  return __builtin_reduce_add(w) + __builtin_reduce_max(total) + s[lane];
}

static void run(void *argument) {
  struct picture *p = argument;
  uint32_t sum = 0;
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < sizeof p->a; ++i)
      p->a[i] = (i * 37 + round * 11) ^ i >> 3, p->b[i] = i * i + round;
    for (int what = 0; what < 4; ++what) {
      if (what == 0)
        blend(p, round * 31);
      else if (what == 1)
        edges(p, 200 - round * 20);
      else if (what == 2)
        filter(p, round - 3, 7 * round);
      else
        sum = sum * 31 + others(p, 16 * round + 5);
      for (int i = 0; i < 1024; ++i)
        sum = sum * 31 + p->out[i];
      printf("%d %d %08x\n", round, what, sum);
    }
  }
}

int main(void) {
#ifdef __DOUGONG__
  dg_call_in_lm(run, (void *)(DG_LM_BASE + 0x1000), 0x40000);
#else
  static struct picture picture;
  run(&picture);
#endif
}
