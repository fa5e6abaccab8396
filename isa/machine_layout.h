/* Where things lie in a core's address space, and how a kernel is entered. Plain C: the model, the compiler, start-up
 * code and device programs all include it.
 *
 *   0x0000_0000   nothing: a null pointer faults
 *   0x1000_0000   LM, the core's own local memory; buffers from the bottom up, a kernel's stack from the top down
 *   0x1800_0000   (reserved)
 *   0x2000_0000   LM of core c at 0x2000_0000 + c * 0x0100_0000: for DMA only
 *   0x8000_0000   DRAM: programs, weights, activations, and (behind the caches) stack and heap of a C program
 *
 * ACC has an address space of its own, byte offsets from 0: only tensor and drain commands name it. */
#pragma once

#define DG_LM_BASE 0x10000000ull
#define DG_REMOTE_LM_BASE 0x20000000ull
#define DG_REMOTE_LM_STRIDE 0x01000000ull
#define DG_DRAM_BASE 0x80000000ull
#define DG_LM_STACK_BYTES 16384u /* of a kernel: [LM top - this, LM top) */

/* A kernel is `void kernel(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step)`: it runs the programs
 * first, first + step, ... < last of the grid, counted x fastest. `launch` points to DRAM. The model enters it with
 * a0..a3 so set, sp at the top of LM, and ra = DG_KERNEL_RETURN; a return there ends the core's part of the launch.
 * On the host CPU it is the same function with the same arguments. */
#define DG_KERNEL_RETURN 0x10ull

#ifndef __ASSEMBLER__
#include <stdint.h>
typedef struct dg_launch {
  uint64_t grid[3];     /* x, y, z */
  uint64_t arguments[]; /* one slot each: a pointer's address, an integer sign- or zero-extended, a float's bits in the low half */
} dg_launch;
#endif
