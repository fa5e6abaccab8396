// The tensor engine alone: C = A * B with both operands in LM already, int8, on one core. Writes the cycles from the first command's issue
// until the last drained piece is in LM to `cycles`; bringing A and B in, and C out, is not in them.
#include "copies.h"

struct arguments {
  uint64_t a, b, c, cycles; // i8[m, k], i8[k, n], i32[m, n], u64
  uint64_t m, n, k, piece;  // m x n accumulators fit ACC; a piece of rows is drained while the next is computed
};

void gemm_local(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  const struct arguments g = *(const struct arguments *)launch->arguments;
  if (__dg_core() != 0)
    return;
  uint32_t a = DG_LM_BASE, b = a + g.m * g.k, out = b + g.k * g.n;
  dg_dma_command copy;
  copy_rows(&copy, a, 0, g.a, 0, 1, g.m * g.k);
  __dg_dma(DG_LOAD0, &copy);
  copy_rows(&copy, b, 0, g.b, 0, 1, g.k * g.n);
  __dg_await(DG_LOAD0, __dg_dma(DG_LOAD0, &copy));

  uint64_t start = __dg_cycle(), drained = 0;
  dg_tensor_command product = {.b = b,
                               .a_type = DG_I8,
                               .b_type = DG_I8,
                               .m = {1, g.piece},
                               .k = {1, 1, g.k},
                               .n = g.n,
                               .a_m_stride = {0, g.k},
                               .a_k_stride = {0, 0, 1},
                               .b_k_stride = {0, 0, g.n},
                               .b_n_stride = 1,
                               .acc_m_stride = 4 * g.n};
  dg_drain_command drain = {
      .acc_type = DG_I32, .out_type = DG_I32, .m = {1, g.piece}, .n = g.n, .acc_m_stride = 4 * g.n, .out_m_stride = {0, 4 * g.n}};
  for (uint64_t row = 0; row < g.m; row += g.piece) {
    product.a = a + row * g.k;
    product.acc = row * g.n * 4;
    __dg_qwait(DG_DRAIN, DG_TENSOR, __dg_tensor(&product));
    drain.acc = product.acc;
    drain.out = out + row * g.n * 4;
    drained = __dg_drain(&drain);
  }
  __dg_await(DG_DRAIN, drained);
  *(uint64_t *)g.cycles = __dg_cycle() - start;

  copy_rows(&copy, g.c, 0, out, 0, 1, 4 * g.m * g.n);
  __dg_await(DG_STORE0, __dg_dma(DG_STORE0, &copy));
}
