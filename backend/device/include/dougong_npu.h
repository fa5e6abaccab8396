/* What a C program for the core may use of the machine: the engines' instructions as functions, 32-lane vectors, the core's own numbers.
 *
 * `dougong-cc` finds this header by itself. Commands and their descriptors: isa/commands.h; the address map: isa/machine_layout.h.
 * Vectors live in LM (DG_LM_BASE ...): a vector load or store of DRAM faults, and a function that spills vectors needs its stack there. */
#pragma once
#include <dougong/commands.h>
#include <dougong/machine_layout.h>
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
