// Work for the device model's own speed (bench/model_speed.py): vector instructions on registers and LM, and tensor commands of one size,
// again and again.
#include "copies.h"

// Four multiply-adds, two other operations, two loads and a store an iteration.
void vectors(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  if (__dg_core() != 0)
    return;
  dg_f32x32 *at = (dg_f32x32 *)DG_LM_BASE, a = at[0], b = at[1], sum[4] = {at[2], at[3], at[4], at[5]};
  for (uint64_t i = 0; i < launch->arguments[0]; ++i) {
    dg_f32x32 x = at[8 + i % 64], y = at[80 + i % 64];
    sum[0] = __builtin_elementwise_fma(x, a, sum[0]);
    sum[1] = __builtin_elementwise_fma(y, a, sum[1]);
    sum[2] = __builtin_elementwise_fma(x, b, sum[2]);
    sum[3] = __builtin_elementwise_fma(y, b, sum[3]);
    at[160 + i % 64] = __builtin_elementwise_max(x, y) + sum[0];
  }
  for (int i = 0; i < 4; ++i)
    at[2 + i] = sum[i];
}

// arguments: commands, enum dg_type. 256 x 256 x 64, as the model compiler's tiles are.
void tensors(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  if (__dg_core() != 0)
    return;
  uint32_t type = launch->arguments[1], bytes = type == DG_I8 || type == DG_U8 ? 1 : 2, m = 256, n = 256, k = 64;
  dg_tensor_command product = {.a = DG_LM_BASE,
                               .b = DG_LM_BASE + m * k * bytes,
                               .a_type = type,
                               .b_type = type,
                               .accumulate = 1,
                               .m = {1, m},
                               .k = {1, 1, k},
                               .n = n,
                               .a_m_stride = {0, k * bytes},
                               .a_k_stride = {0, 0, bytes},
                               .b_k_stride = {0, 0, n * bytes},
                               .b_n_stride = bytes,
                               .acc_m_stride = 4 * n};
  for (uint64_t i = 0; i < launch->arguments[0]; ++i)
    __dg_tensor(&product);
}
