// A scalar that is known to lie in LM is loaded into all lanes by one instruction; any other by a scalar load and a splat.
// RUN: clang -w -O1 -ffp-contract=off %s -o %t.host && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O0 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O2 %s -S -o - | FileCheck %s
#include <stdint.h>
#include <stdio.h>
#ifdef __DOUGONG__
#include <dougong_npu.h>
#define IN ((uint8_t *)DG_LM_BASE)
#define OUT ((uint8_t *)DG_LM_BASE + 0x2000)
#else
#define DG_LM
typedef float dg_f32x32 __attribute__((vector_size(128), aligned(4)));
typedef int32_t dg_i32x32 __attribute__((vector_size(128), aligned(4)));
typedef uint32_t dg_u32x32 __attribute__((vector_size(128), aligned(4)));
typedef _Float16 dg_f16x32 __attribute__((vector_size(64), aligned(2)));
static uint8_t memory[0x3000] __attribute__((aligned(128)));
#define IN memory
#define OUT (memory + 0x2000)
#endif
#define KERNEL(name, scalar, vector, expression)                                                                                           \
  __attribute__((noinline)) void name(const void *from, void *to, long i) {                                                                \
    const DG_LM scalar *p = (const DG_LM scalar *)from;                                                                                    \
    vector *v = to;                                                                                                                        \
    *v = expression;                                                                                                                       \
  }
// CHECK-LABEL: of_f32:
// CHECK: dg.vldb.32 {{v[0-9]+}}, 12(a0)
KERNEL(of_f32, float, dg_f32x32, *v *p[3])
// CHECK-LABEL: of_i32:
// CHECK: dg.vldb.32 {{v[0-9]+}}, 2044(a0)
KERNEL(of_i32, int, dg_i32x32, *v + p[511])
// CHECK-LABEL: far:
// CHECK: dg.vldb.32 {{v[0-9]+}}, 0({{a[0-9]}})
KERNEL(far, int, dg_i32x32, *v ^ p[512])
// CHECK-LABEL: of_f16:
// CHECK: dg.vldb.f16 {{v[0-9]+}}, 10(a0)
KERNEL(of_f16, _Float16, dg_f32x32, *v *(float)p[5])
// CHECK-LABEL: as_f16:
// CHECK: dg.vldb.f16 {{v[0-9]+}}, 0(a0)
KERNEL(as_f16, _Float16, dg_f16x32, *v + p[0])
// CHECK-LABEL: of_bf16:
// CHECK: dg.vldb.bf16 {{v[0-9]+}}, 14(a0)
KERNEL(of_bf16, __bf16, dg_f32x32, *v - (float)p[7])
// CHECK-LABEL: of_i16:
// CHECK: dg.vldb.i16 {{v[0-9]+}}, 10(a0)
KERNEL(of_i16, int16_t, dg_i32x32, *v + (int)p[5])
// CHECK-LABEL: of_u16:
// CHECK: dg.vldb.u16 {{v[0-9]+}}, 10(a0)
KERNEL(of_u16, uint16_t, dg_i32x32, *v + (int)p[5])
// CHECK-LABEL: of_i8:
// CHECK: dg.vldb.i8 {{v[0-9]+}}, 511(a0)
KERNEL(of_i8, int8_t, dg_i32x32, *v *(int)p[511])
// CHECK-LABEL: of_u8:
// CHECK: add [[A:a[0-9]]], a0, a2
// CHECK: dg.vldb.u8 {{v[0-9]+}}, 0([[A]])
KERNEL(of_u8, uint8_t, dg_u32x32, *v *(unsigned)p[i])
// Wanted as a scalar too: loaded once.
// CHECK-LABEL: twice:
// CHECK-NOT: vldb
// CHECK: dg.vsplat.32
// CHECK: ret
__attribute__((noinline)) void twice(const void *from, void *to, long i) {
  int scalar = *(const DG_LM int *)from;
  *(dg_i32x32 *)to = *(dg_i32x32 *)to * scalar;
  *(int *)((char *)to + 128) = scalar + 1;
}
// CHECK-LABEL: anywhere:
// CHECK-NOT: vldb
// CHECK: dg.vsplat.32
// CHECK: ret
__attribute__((noinline)) void anywhere(const void *from, void *to, long i) { *(dg_f32x32 *)to *= *(const float *)from; }

typedef void function(const void *, void *, long);
static function *const functions[] = {of_f32, of_i32, far, of_f16, as_f16, of_bf16, of_i16, of_u16, of_i8, of_u8, twice, anywhere};
static void run(void *unused) {
  for (unsigned k = 0; k < sizeof functions / sizeof *functions; ++k) {
    for (int i = 0; i < 0x1000; ++i)
      IN[i] = i * 37 % (i % 2 ? 61 : 251), OUT[i % 0x800] = i * 29 % (i % 2 ? 59 : 241); // floats below 2, of all types
    functions[k](IN, OUT, 77);
    uint64_t sum = 0;
    for (int i = 0; i < 0x800; ++i)
      sum = sum * 31 + OUT[i];
    printf("%u %016lx\n", k, (unsigned long)sum);
  }
}
int main(void) {
#ifdef __DOUGONG__
  dg_call_in_lm(run, 0, 0x40000);
#else
  run(0);
#endif
  return 0;
}
