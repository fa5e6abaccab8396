/* What a C program for the core may use of the machine: the engines' instructions as functions, vectors, the core's own numbers.
 *
 * `dougong-cc` finds this header by itself. Commands and their descriptors: isa/commands.h; the address map: isa/machine_layout.h.
 * Vectors live in LM (DG_LM_BASE ...): a vector load or store of DRAM faults, and a function that spills vectors needs its stack there. */
#pragma once
#include <dougong/commands.h>
#include <dougong/machine_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Issue a command; the ticket it returns is what flag `queue` will be when it has completed. */
uint64_t __dg_tensor(const dg_tensor_command *command);
uint64_t __dg_drain(const dg_drain_command *command);
uint64_t __dg_dma(uint32_t queue, const dg_dma_command *command); /* queue: a constant */
/* The queue starts nothing issued after this until flag >= value; the core itself waits. Queue and flag are constants. */
void __dg_qwait(uint32_t queue, uint32_t flag, uint64_t value);
void __dg_await(uint32_t flag, uint64_t value);
uint64_t __dg_flag(uint32_t flag);
void __dg_flag_add(uint32_t flag, uint64_t value); /* flag: 8..31 */

uint64_t __dg_core(void);  /* this core's number */
uint64_t __dg_cores(void); /* how many take part */
uint64_t __dg_cycle(void); /* cycles since the core started */

/* Calls function(argument) with the stack at the top of LM, of `lm_bytes` bytes: what uses vectors must be able to spill them. */
static inline void dg_call_in_lm(void (*function)(void *), void *argument, uint64_t lm_bytes) {
  register void *a0 __asm__("a0") = argument;
  register void (*t1)(void *) __asm__("t1") = function;
  register uint64_t t2 __asm__("t2") = DG_LM_BASE + lm_bytes;
  __asm__ volatile("mv s1, sp\n\tmv sp, t2\n\tjalr t1\n\tmv sp, s1"
                   : "+r"(a0), "+r"(t1), "+r"(t2)
                   :
                   : "ra", "s1", "t0", "t3", "t4", "t5", "t6", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "memory");
}

#ifdef __cplusplus
}
#endif

/* A pointer of this kind says that what it points to lies in LM: `*(const DG_LM float *)p * vector` loads the scalar into all lanes at
 * once. */
#define DG_LM __attribute__((address_space(1)))

/* 32 lanes. Operators, __builtin_elementwise_*, __builtin_reduce_*, __builtin_convertvector and __builtin_shufflevector work on them. */
typedef float dg_f32x32 __attribute__((vector_size(128), aligned(4)));
typedef int32_t dg_i32x32 __attribute__((vector_size(128), aligned(4)));
typedef uint32_t dg_u32x32 __attribute__((vector_size(128), aligned(4)));
typedef _Float16 dg_f16x32 __attribute__((vector_size(64), aligned(2)));
typedef __bf16 dg_bf16x32 __attribute__((vector_size(64), aligned(2)));
typedef int16_t dg_i16x32 __attribute__((vector_size(64), aligned(2)));
typedef int8_t dg_i8x32 __attribute__((vector_size(32), aligned(1)));
typedef int16_t dg_i16x64 __attribute__((vector_size(128), aligned(2)));
typedef uint16_t dg_u16x64 __attribute__((vector_size(128), aligned(2)));
typedef int8_t dg_i8x128 __attribute__((vector_size(128), aligned(1)));
typedef uint8_t dg_u8x128 __attribute__((vector_size(128), aligned(1)));
typedef _Float16 dg_f16x64 __attribute__((vector_size(128), aligned(2)));
typedef __bf16 dg_bf16x64 __attribute__((vector_size(128), aligned(2)));

/* One register, whatever its lanes: 32 of 32 bits, 64 of 16, 128 of 8. A pointer to it may point into an array of any type. What operators
 * cannot say of vectors is below, one instruction each; build/docs/isa.md says lane by lane what each computes. */
typedef int32_t dg_register __attribute__((vector_size(128), aligned(4), may_alias));
typedef bool dg_bool32 __attribute__((ext_vector_type(32)));

#define DG_FUNCTION static inline __attribute__((always_inline, unused, const))
#define DG_FUNCTION1(name, instruction)                                                                                                    \
  DG_FUNCTION dg_register name(dg_register a) {                                                                                            \
    dg_register r;                                                                                                                         \
    __asm__(instruction " %0, %1" : "=vr"(r) : "vr"(a));                                                                                   \
    return r;                                                                                                                              \
  }
#define DG_FUNCTION2(name, instruction, immediate)                                                                                         \
  DG_FUNCTION dg_register name(dg_register a, dg_register b) {                                                                             \
    dg_register r;                                                                                                                         \
    __asm__(instruction " %0, %1, %2" immediate : "=vr"(r) : "vr"(a), "vr"(b));                                                            \
    return r;                                                                                                                              \
  }

/* Two registers into one of narrower lanes, a's below b's, saturating: of i32 to i16 or u16, of i16 to i8 or u8. */
DG_FUNCTION2(dg_pack_i16, "dg.vpacks.i16", "")
DG_FUNCTION2(dg_pack_u16, "dg.vpacks.u16", "")
DG_FUNCTION2(dg_pack_i8, "dg.vpacks.i8", "")
DG_FUNCTION2(dg_pack_u8, "dg.vpacks.u8", "")
/* (a + b + 1) >> 1, without overflow. */
DG_FUNCTION2(dg_average_i16, "dg.vavg.i16", "")
DG_FUNCTION2(dg_average_u16, "dg.vavg.u16", "")
DG_FUNCTION2(dg_average_i8, "dg.vavg.i8", "")
DG_FUNCTION2(dg_average_u8, "dg.vavg.u8", "")
/* The high half of the product. */
DG_FUNCTION2(dg_mulh_i16, "dg.vmulh.i16", "")
DG_FUNCTION2(dg_mulh_u16, "dg.vmulh.u16", "")
/* Lane i of the result is lane b[i] (mod their number) of a: bytes, 16-bit lanes. */
DG_FUNCTION2(dg_permute_8, "dg.vperm.8", "")
DG_FUNCTION2(dg_permute_16, "dg.vperm.16", "")
/* Lanes of a and b in turn: of their lower halves, of their upper. And back: the even lanes of a, then of b; the odd ones. */
DG_FUNCTION2(dg_zip_low_8, "dg.vzip.8", ", 0")
DG_FUNCTION2(dg_zip_high_8, "dg.vzip.8", ", 1")
DG_FUNCTION2(dg_zip_low_16, "dg.vzip.16", ", 0")
DG_FUNCTION2(dg_zip_high_16, "dg.vzip.16", ", 1")
DG_FUNCTION2(dg_zip_low_32, "dg.vzip.32", ", 0")
DG_FUNCTION2(dg_zip_high_32, "dg.vzip.32", ", 1")
DG_FUNCTION2(dg_unzip_even_8, "dg.vunzip.8", ", 0")
DG_FUNCTION2(dg_unzip_odd_8, "dg.vunzip.8", ", 1")
DG_FUNCTION2(dg_unzip_even_16, "dg.vunzip.16", ", 0")
DG_FUNCTION2(dg_unzip_odd_16, "dg.vunzip.16", ", 1")
DG_FUNCTION2(dg_unzip_even_32, "dg.vunzip.32", ", 0")
DG_FUNCTION2(dg_unzip_odd_32, "dg.vunzip.32", ", 1")
/* 8-bit floats in the low bits of 32-bit lanes, from and to f32 (dg_f32x32, by a cast). To: to nearest even. */
DG_FUNCTION1(dg_f32_from_e4m3, "dg.vcvt.f32.f8e4m3")
DG_FUNCTION1(dg_f32_from_e5m2, "dg.vcvt.f32.f8e5m2")
DG_FUNCTION1(dg_e4m3_from_f32, "dg.vcvt.f8e4m3.f32")
DG_FUNCTION1(dg_e5m2_from_f32, "dg.vcvt.f8e5m2.f32")

/* Bit i: whether lane i is not 0, as a comparison of vectors of 32 lanes makes it. */
DG_FUNCTION uint32_t dg_bits(dg_i32x32 lanes) { return __builtin_bit_cast(uint32_t, __builtin_convertvector(lanes, dg_bool32)); }
/* The 32-bit lanes whose bit is set, one after another in the low lanes, the others 0; and the low lanes to where the bits are set. */
DG_FUNCTION dg_register dg_compress(dg_register a, uint32_t bits) {
  dg_register r;
  __asm__("dg.vcompress.32 %0, %1, %2" : "=vr"(r) : "vr"(a), "vm"(bits));
  return r;
}
DG_FUNCTION dg_register dg_expand(dg_register a, uint32_t bits) {
  dg_register r;
  __asm__("dg.vexpand.32 %0, %1, %2" : "=vr"(r) : "vr"(a), "vm"(bits));
  return r;
}

/* One step of a transposition (isa/Packed.td: vtrnlo, vtrnhi). log2_bytes, a constant of 0 to 7: of a block. */
#define dg_transpose_low(a, b, log2_bytes)                                                                                                 \
  __extension__({                                                                                                                          \
    dg_register dg_result;                                                                                                                 \
    __asm__("dg.vtrnlo %0, %1, %2, %3" : "=vr"(dg_result) : "vr"((dg_register)(a)), "vr"((dg_register)(b)), "i"(log2_bytes));              \
    dg_result;                                                                                                                             \
  })
#define dg_transpose_high(a, b, log2_bytes)                                                                                                \
  __extension__({                                                                                                                          \
    dg_register dg_result;                                                                                                                 \
    __asm__("dg.vtrnhi %0, %1, %2, %3" : "=vr"(dg_result) : "vr"((dg_register)(a)), "vr"((dg_register)(b)), "i"(log2_bytes));              \
    dg_result;                                                                                                                             \
  })
/* Transposes 32 rows of 32 lanes of 32 bits where they stand: five steps of 32 instructions. */
static inline void dg_transpose_32x32(dg_register *rows) {
#define DG_STEP(apart, log2_bytes)                                                                                                         \
  for (int row = 0; row < 32; ++row)                                                                                                       \
    if (!(row & (apart))) {                                                                                                                \
      dg_register low = rows[row], high = rows[row + (apart)];                                                                             \
      rows[row] = dg_transpose_low(low, high, log2_bytes);                                                                                 \
      rows[row + (apart)] = dg_transpose_high(low, high, log2_bytes);                                                                      \
    }
  DG_STEP(1, 2)
  DG_STEP(2, 3)
  DG_STEP(4, 4)
  DG_STEP(8, 5)
  DG_STEP(16, 6)
#undef DG_STEP
}
