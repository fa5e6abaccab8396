/* The engines' commands: what the descriptor holds that `dg.tensor`, `dg.drain` and `dg.dma` take the address of.
 *
 * Plain C, the one definition for the model, the compiler and device programs. A descriptor lies in LM (usually on the
 * kernel's stack) and is read once, when the command is issued: it may be changed right afterwards.
 *
 * Queues and flags. A core has these queues, each in order, all independent:
 *
 *   queue  0 tensor   1 drain   2 load 0   3 store 0   4 load 1   5 store 1      (4 and 5 where machine.dma.queues = 4)
 *
 * Flag q (0..7) counts the commands of queue q that have completed, and nothing else raises it. Issuing a command
 * returns its *ticket*: the value flag q will have when this command has completed. So "flag q >= ticket" names one
 * command, on which the proof of freedom from races rests. Flags 8..31 are the program's own (`dg.flag.add`).
 *
 *   t = dg.dma    q, desc     issue a copy on load or store queue q
 *   t = dg.tensor desc        issue on queue 0
 *   t = dg.drain  desc        issue on queue 1
 *   dg.qwait q, f, n          queue q starts nothing issued after this until flag f >= n
 *   dg.await f, n             the core itself waits until flag f >= n
 *   n = dg.flag f             read;   dg.flag.add f, n   raise a flag of 8..31 (n > 0)
 *
 * A ticket of 0 is always reached: the wait of a first iteration. */
#pragma once
#include <stdint.h>

enum dg_queue { DG_TENSOR = 0, DG_DRAIN = 1, DG_LOAD0 = 2, DG_STORE0 = 3, DG_LOAD1 = 4, DG_STORE1 = 5, DG_QUEUES = 6 };

enum dg_type { DG_I8 = 0, DG_U8 = 1, DG_I16 = 2, DG_I32 = 3, DG_F16 = 4, DG_BF16 = 5, DG_F32 = 6, DG_F8E4M3 = 7, DG_F8E5M2 = 8 };

/* ACC[m, n] = (accumulate ? ACC[m, n] : 0) + sum over k ascending of A[m, k] * B[k, n].
 *
 * m = (m0, m1) and k = (k0, k1, k2), the last varying fastest, so that A can walk a convolution's window:
 *   A[m, k] at a + m0*a_m_stride[0] + m1*a_m_stride[1] + k0*a_k_stride[0] + k1*a_k_stride[1] + k2*a_k_stride[2]
 *   B[k, n] at b + k0*b_k_stride[0] + k1*b_k_stride[1] + k2*b_k_stride[2] + n*b_n_stride
 *   ACC[m, n] at acc + (m0*m[1] + m1)*acc_m_stride + 4*n
 * All strides in bytes. f16, bf16 and fp8 operands: each step is one f32 fused multiply-add, round to nearest even, f32 accumulators. i8
 * and u8 (A and B may differ): i32 accumulators that wrap. A count of 0 does nothing but (k = 0, accumulate = 0) writes zeros. m, k and n
 * each are below 2^24, and one command has its limits, far beyond what memories hold: */
#define DG_TENSOR_MOST_ELEMENTS (1ull << 27) /* m * k, and k * n */
#define DG_TENSOR_MOST_STEPS (1ull << 36)    /* m * k * n */
typedef struct dg_tensor_command {
  uint32_t a, b;          /* LM addresses */
  uint32_t acc;           /* ACC byte offset, a multiple of 4 */
  uint8_t a_type, b_type; /* enum dg_type; both float of the same type, or both of I8/U8 */
  uint8_t accumulate;     /* 0 or 1 */
  uint8_t reserved0;
  uint32_t m[2], k[3], n; /* counts */
  int32_t a_m_stride[2], a_k_stride[3];
  int32_t b_k_stride[3], b_n_stride;
  int32_t acc_m_stride;
  uint32_t reserved1;
} dg_tensor_command;

/* out[m, n] = convert(clamp(ACC[m, n] * scale[n] + bias[n] + residual[m, n], low, high)), all in f32 (the multiply-add fused;
 * i32 accumulators are converted first, to nearest even). Integers round to nearest even and saturate.
 * With acc_type I32 and out_type I32 the value is copied as it is. */
typedef struct dg_drain_command {
  uint32_t acc;          /* ACC byte offset */
  uint32_t out;          /* LM address; out[m, n] at out + m0*out_m_stride[0] + m1*out_m_stride[1] + n*sizeof(out_type) */
  uint32_t scale, bias;  /* LM addresses of f32[n]; 0 = none (1, 0) */
  uint32_t residual;     /* LM address, 0 = none; of type residual_type, addressed as out with its own strides */
  uint8_t acc_type;      /* DG_F32 or DG_I32 */
  uint8_t out_type;      /* F32, BF16, F16, I8, U8, I32 */
  uint8_t residual_type; /* F32, BF16, F16 */
  uint8_t reserved0;
  uint32_t m[2], n;
  int32_t acc_m_stride;
  int32_t out_m_stride[2], residual_m_stride[2];
  float low, high; /* -inf, +inf: none. clamp(x) = min(max(x, low), high); NaN stays NaN */
  uint32_t reserved1;
} dg_drain_command;

/* An N-dimensional affine copy, dimension 4 varying fastest: for every index i in count,
 *   dst + sum i_d*dst_stride[d]  =  src + sum i_d*src_stride[d]     where low_d <= i_d < high_d for all d
 *                                =  fill                             elsewhere, if fill_outside; else dst is left alone.
 * Outside [low, high) the source is not touched (its address may be nonsense). Strides in bytes. Unused dimensions have count 1, low 0,
 * high 1. A load queue reads DRAM or LM and writes LM; a store queue reads LM and writes DRAM or LM (own or remote). What is read of places
 * that the same command writes is not defined.
 *
 * Index lists: `listed` names the side on which dimension 0 goes where a list of count[0] int32 at `list`, in the core's own LM, says:
 * there its coordinate is list[i_0] instead of i_0, and low[0], high[0] clip that coordinate. So a load gathers (DG_LIST_SRC: rows of src;
 * an index outside is filled, or leaves its row of dst alone) and a store scatters (DG_LIST_DST: an index outside writes nothing; with
 * fill_outside there would be no place to fill, and the command faults). Indexes that repeat are served in the order of i_0: the last wins.
 * All of low[0] .. high[0] - 1 must be memory, whatever the list holds: then no list can be wrong. The list is read when the
 * command executes, unlike the descriptor: it must stay as it is until the command has completed.
 *
 * Adding: where `add` is 1, `+=` stands for each `=` above, in add_type: integers wrap, floats are rounded to nearest even (a NaN is the
 * canonical one). One element after another, i_0 slowest and i_4 fastest, so that places which come up again (a stride of 0, an index that
 * repeats) get every sum. DRAM adds each element as a whole: several cores may add integers to the same place in any order, and the sum is
 * the same. That of floats is not, so cores that add floats to the same place must take turns.
 *
 * Multicast: where `cores` is not 0, it is the set of cores (bit i: core i) to whose LM the copy goes, at the same address in each; dst is
 * an address of the core's own LM, [DG_LM_BASE, ...), whether it is one of them or not. The source is read once. */
#define DG_DMA_MOST_ELEMENTS (1ull << 30) /* the product of the counts */
enum dg_listed { DG_LIST_NONE = 0, DG_LIST_SRC = 1, DG_LIST_DST = 2 };
typedef struct dg_dma_command {
  uint64_t src, dst;
  uint32_t element_bytes;  /* 1, 2, 4, 8 */
  uint8_t fill_outside;    /* 0 or 1 */
  uint8_t listed;          /* enum dg_listed: SRC on a load queue only, DST on a store queue only */
  uint8_t add, add_type;   /* 0 or 1; I8, U8, I16, I32, F16, BF16 or F32, of element_bytes: read only where add is 1 */
  uint64_t fill;           /* the low element_bytes of it */
  uint32_t count[5], list; /* list: an LM address, a multiple of 4; read only where listed is not 0 */
  int32_t low[5], high[5];
  int64_t src_stride[5], dst_stride[5];
  uint64_t cores; /* 0: to dst alone */
} dg_dma_command;
