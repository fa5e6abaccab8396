// out[r, :] = softmax(x[r, :]) over f32 rows in DRAM, on all cores, a few rows at a time in LM: the largest of the row, then exp2((x -
// largest) log2 e) and its sum, then the division by multiplication with the sum's reciprocal.
#include "copies.h"

struct arguments {
  uint64_t x, out, rows, columns, rows_at_once; // columns a multiple of 128
};

enum { slots = 4 };

static void softmax_row(dg_f32x32 *row, uint64_t vectors) {
  const float log2e = 1.44269504f;
  dg_f32x32 most[4] = {row[0], row[1], row[2], row[3]};
  for (uint64_t i = 4; i < vectors; i += 4)
    for (int j = 0; j < 4; ++j)
      most[j] = __builtin_elementwise_max(most[j], row[i + j]);
  float largest = __builtin_reduce_max(
      __builtin_elementwise_max(__builtin_elementwise_max(most[0], most[1]), __builtin_elementwise_max(most[2], most[3])));
  dg_f32x32 sum[4] = {};
  for (uint64_t i = 0; i < vectors; i += 4)
    for (int j = 0; j < 4; ++j) {
      dg_f32x32 e = __builtin_elementwise_exp2((row[i + j] - largest) * log2e);
      row[i + j] = e;
      sum[j] += e;
    }
  sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  // A pairwise tree; the order of a float sum is the program's.
  sum[0] += __builtin_shufflevector(sum[0], sum[0], 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7,
                                    8, 9, 10, 11, 12, 13, 14, 15);
  sum[0] += __builtin_shufflevector(sum[0], sum[0], 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31,
                                    16, 17, 18, 19, 20, 21, 22, 23);
  float total = 0;
  for (int i = 0; i < 8; ++i)
    total += sum[0][i];
  float inverse = 1.0f / total;
  for (uint64_t i = 0; i < vectors; i += 4)
    for (int j = 0; j < 4; ++j)
      row[i + j] *= inverse;
}

void softmax(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  const struct arguments g = *(const struct arguments *)launch->arguments;
  uint32_t row_bytes = 4 * g.columns, bytes = g.rows_at_once * row_bytes;
  uint64_t loaded[slots], stored[slots] = {0}, chunks = g.rows / g.rows_at_once, core = __dg_core(), cores = __dg_cores();
  uint64_t mine = (chunks + cores - 1 - core) / cores;
  dg_dma_command copy;
  copy_rows(&copy, 0, 0, 0, 0, 1, bytes);
  for (uint64_t i = 0; i < mine + slots - 1; ++i) {
    if (i < mine) { // in place: a slot is loaded again when it has been stored
      copy.src = g.x + (core + i * cores) * bytes, copy.dst = DG_LM_BASE + i % slots * bytes;
      __dg_qwait(DG_LOAD0, DG_STORE0, stored[i % slots]);
      loaded[i % slots] = __dg_dma(DG_LOAD0, &copy);
    }
    if (i < slots - 1)
      continue;
    uint64_t done = i - (slots - 1), slot = done % slots;
    uint64_t at = DG_LM_BASE + slot * bytes;
    __dg_await(DG_LOAD0, loaded[slot]);
    for (uint64_t r = 0; r < g.rows_at_once; ++r)
      softmax_row((dg_f32x32 *)(at + r * row_bytes), g.columns / 32);
    copy.src = at, copy.dst = g.out + (core + done * cores) * bytes;
    stored[slot] = __dg_dma(DG_STORE0, &copy);
  }
}
