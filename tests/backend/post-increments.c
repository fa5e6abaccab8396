// Pointers that vector accesses walk along move on with them, whatever lies in memory; what the loops compute is what the host computes.
// RUN: clang -w -O1 -ffp-contract=off %s -o %t.host && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O2 -g %s -S -o - -mllvm -verify-machineinstrs | FileCheck %s
//
// A pipelined loop's late stages have pointers of their own, not moves of those of the early ones.
// RUN: dougong-cc -w -O2 -DPIPELINED %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O2 -DPIPELINED %s -S -o - | FileCheck %s --check-prefix=PIPELINED
// PIPELINED-LABEL: f32:
// PIPELINED: [[LOOP:.LBB[0-9_]+]]:
// PIPELINED-NOT: mv
// PIPELINED: dg.vstp.32 {{v[0-9]+}}, ({{a[0-9]}}), 128
// PIPELINED-NOT: mv
// PIPELINED: dg.loop {{.*}}, [[LOOP]]
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __DOUGONG__
#include <dougong_npu.h>
#define BUFFER(n) ((void *)(DG_LM_BASE + (n) * 0x4000))
#else
typedef float dg_f32x32 __attribute__((vector_size(128), aligned(4)));
typedef int32_t dg_i32x32 __attribute__((vector_size(128), aligned(4)));
typedef uint32_t dg_u32x32 __attribute__((vector_size(128), aligned(4)));
typedef _Float16 dg_f16x32 __attribute__((vector_size(64), aligned(2)));
typedef int16_t dg_i16x32 __attribute__((vector_size(64), aligned(2)));
typedef int8_t dg_i8x32 __attribute__((vector_size(32), aligned(1)));
static uint8_t buffers[3][0x4000] __attribute__((aligned(128)));
#define BUFFER(n) ((void *)buffers[n])
#endif
typedef uint16_t u16x32 __attribute__((vector_size(64), aligned(2)));
typedef uint8_t u8x32 __attribute__((vector_size(32), aligned(1)));
enum { vectors = 17 };
#define TO(type, value) __builtin_convertvector(value, type)
#ifdef PIPELINED
#define PLAIN
#define ONE _Pragma("clang loop unroll(disable)")
#else
#define PLAIN _Pragma("clang loop pipeline(disable)")
#define ONE _Pragma("clang loop unroll(disable) pipeline(disable)")
#endif

// CHECK-LABEL: f32:
// CHECK: dg.vldp.32 {{v[0-9]+}}, ([[A:[a-z][0-9]]]), 128
// CHECK-NOT: addi [[A]]
// CHECK: dg.vstp.32 {{v[0-9]+}}, ({{[a-z][0-9]}}), 128
__attribute__((noinline)) void f32(dg_f32x32 *restrict a, dg_f32x32 *restrict b, dg_f32x32 *restrict o) {
  ONE for (int i = 0; i < vectors; ++i) o[i] = a[i] * 3.0f + b[i];
}
// CHECK-LABEL: f16:
// CHECK: dg.vldp.f16 {{v[0-9]+}}, ({{[a-z][0-9]}}), 64
// CHECK: dg.vstp.f16 {{v[0-9]+}}, ({{[a-z][0-9]}}), 64
__attribute__((noinline)) void f16(dg_f16x32 *restrict a, dg_f16x32 *restrict b, dg_f16x32 *restrict o) {
  ONE for (int i = 0; i < vectors; ++i) o[i] = TO(dg_f16x32, TO(dg_f32x32, a[i]) * 0.5f);
}
// CHECK-LABEL: i16:
// CHECK-DAG: dg.vldp.i16 {{v[0-9]+}}, ({{[a-z][0-9]}}), 64
// CHECK-DAG: dg.vldp.u16 {{v[0-9]+}}, ({{[a-z][0-9]}}), 64
// CHECK: dg.vstp.i16 {{v[0-9]+}}, ({{[a-z][0-9]}}), 64
__attribute__((noinline)) void i16(dg_i16x32 *restrict a, u16x32 *restrict b, dg_i16x32 *restrict o) {
  ONE for (int i = 0; i < vectors; ++i) o[i] = TO(dg_i16x32, (TO(dg_i32x32, a[i]) >> 3) ^ TO(dg_i32x32, TO(dg_u32x32, b[i]) >> 1));
}
// CHECK-LABEL: i8:
// CHECK-DAG: dg.vldp.i8 {{v[0-9]+}}, ({{[a-z][0-9]}}), 32
// CHECK-DAG: dg.vldp.u8 {{v[0-9]+}}, ({{[a-z][0-9]}}), 32
// CHECK: dg.vstp.i8 {{v[0-9]+}}, ({{[a-z][0-9]}}), 32
__attribute__((noinline)) void i8(dg_i8x32 *restrict a, u8x32 *restrict b, dg_i8x32 *restrict o) {
  ONE for (int i = 0; i < vectors; ++i) o[i] = TO(dg_i8x32, (TO(dg_i32x32, a[i]) >> 1) + TO(dg_i32x32, TO(dg_u32x32, b[i]) >> 2));
}
// CHECK-LABEL: backwards:
// CHECK: dg.vldp.32 {{v[0-9]+}}, ({{[a-z][0-9]}}), -128
__attribute__((noinline)) void backwards(dg_f32x32 *restrict a, dg_f32x32 *restrict b, dg_f32x32 *restrict o) {
  ONE for (int i = vectors - 1; i >= 0; --i) o[i] = a[i] - b[i];
}
// CHECK-LABEL: several:
// CHECK: dg.vld.32 {{v[0-9]+}}, -256([[A:[a-z][0-9]]])
// CHECK: dg.vld.32 {{v[0-9]+}}, -128([[A]])
// CHECK: dg.vldp.32 {{v[0-9]+}}, ([[A]]), 384
__attribute__((noinline)) void several(dg_f32x32 *restrict a, dg_f32x32 *restrict b, dg_f32x32 *restrict o) {
  ONE for (int i = 0; i + 2 < vectors; i += 3) o[i] = a[i] + a[i + 1] * a[i + 2];
}
// The last access of distance 0 and what follows it, all loads or all stores.
// CHECK-LABEL: chain:
// CHECK: dg.vldp.32 {{v[0-9]+}}, ([[A:[a-z][0-9]]]), 128
// CHECK: dg.vldp.32 {{v[0-9]+}}, ([[A]]), 384
// CHECK: dg.vstp.32 {{v[0-9]+}}, ([[O:[a-z][0-9]]]), 128
// CHECK: dg.vstp.32 {{v[0-9]+}}, ([[O]]), 384
static volatile long number = vectors;
__attribute__((noinline)) void chain(dg_f32x32 *restrict a, dg_f32x32 *restrict b, dg_f32x32 *restrict o) {
  PLAIN for (long i = 0, n = number; i < n; ++i) o[i] = a[i] + b[i];
}
// CHECK-LABEL: in_place:
// CHECK: dg.vld.32 [[V:v[0-9]+]], 0([[A:[a-z][0-9]]])
// CHECK: dg.vstp.32 {{v[0-9]+}}, ([[A]]), 128
__attribute__((noinline)) void in_place(dg_f32x32 *restrict a, dg_f32x32 *restrict b, dg_f32x32 *restrict o) {
  memcpy(o, a, vectors * sizeof *a);
  ONE for (int i = 0; i < vectors; ++i) o[i] += 1.5f;
}
// A pointer that somebody wants as it was stays, and so does its addition.
// CHECK-LABEL: found:
// CHECK-NOT: dg.vldp
// CHECK: ret
__attribute__((noinline)) dg_f32x32 *found(dg_f32x32 *a, dg_f32x32 *last, float *o) {
  ONE for (; a != last; ++a) { // the pointer is the result: behind the loop its old value lives
    *o = __builtin_reduce_max(*a);
    if (*o > 1.2f)
      break;
  }
  return a;
}

typedef void function(void *, void *, void *);
static function *const functions[] = {(function *)f32,       (function *)f16,     (function *)i16,   (function *)i8,
                                      (function *)backwards, (function *)several, (function *)chain, (function *)in_place};
static void run(void *unused) {
  (void)unused;
  for (unsigned k = 0; k < sizeof functions / sizeof *functions; ++k) {
    for (int i = 0; i < 0x1000; ++i) { // small numbers as f32 and as f16
      float value = (i * 37 % 101 - 50) / 32.0f;
      _Float16 half = value;
      if (k == 1)
        ((_Float16 *)BUFFER(0))[i] = half, ((_Float16 *)BUFFER(1))[i] = half;
      else if (k == 2 || k == 3)
        ((int16_t *)BUFFER(0))[i] = i * 12345, ((int16_t *)BUFFER(1))[i] = i * 23456;
      else
        ((float *)BUFFER(0))[i] = value, ((float *)BUFFER(1))[i] = 1 / (value + 9);
    }
    memset(BUFFER(2), 0, 0x4000);
    functions[k](BUFFER(0), BUFFER(1), BUFFER(2));
    uint64_t sum = 0;
    for (int i = 0; i < 0x4000; ++i)
      sum = sum * 31 + ((uint8_t *)BUFFER(2))[i];
    printf("%u %016lx\n", k, (unsigned long)sum);
  }
  dg_f32x32 *a = BUFFER(0);
  float most = 0;
  printf("%d", (int)(found(a, a + vectors, &most) - a));
  printf(" %g\n", most);
}
int main(void) {
#ifdef __DOUGONG__
  dg_call_in_lm(run, 0, 0x40000);
#else
  run(0);
#endif
  return 0;
}
