// out = 3x3 depthwise convolution of x with w, stride 1, zeros around, f16 in memory and f32 in between, NHWC, on all cores' vector units.
//
// 32 channels at a time, two rows of outputs at once: the nine weights and the sums that a column of the window begins stay in registers,
// so that two outputs cost four loads, two multiplications, sixteen multiply-adds in six chains (their latency is four), and two stores.
// Pairs of rows are dealt out evenly; a core takes its own a few at a time, with zeros around them:
//
//   DRAM x[height, width, channels]  --load-->  LM [rows + 2][width + 2][32]  --vector-->  LM [rows][width][32]  --store-->  DRAM
#include "copies.h"

struct arguments {
  uint64_t x, w, out;                     // f16[height, width, channels], f16[3, 3, channels], f16[height, width, channels]
  uint64_t height, width, channels, band; // height and band even; channels a multiple of 32; band: rows at a time
};

enum { slots = 2, lane_bytes = 64 };

static dg_f32x32 at(const dg_f16x32 *p) { return __builtin_convertvector(*p, dg_f32x32); }

// What a column of the window gives to an output: the window's column `kx`, three rows of it.
static inline dg_f32x32 column(const dg_f32x32 *w, int kx, dg_f32x32 a, dg_f32x32 b, dg_f32x32 c, dg_f32x32 sum) {
  sum = __builtin_elementwise_fma(w[kx], a, sum);
  sum = __builtin_elementwise_fma(w[3 + kx], b, sum);
  return __builtin_elementwise_fma(w[6 + kx], c, sum);
}
static inline dg_f32x32 first_column(const dg_f32x32 *w, dg_f32x32 a, dg_f32x32 b, dg_f32x32 c) {
  return __builtin_elementwise_fma(w[6], c, __builtin_elementwise_fma(w[3], b, w[0] * a));
}

static void band_of_rows(const dg_f16x32 *restrict in, const dg_f16x32 *restrict weights, dg_f16x32 *restrict out, uint64_t rows,
                         uint64_t width) {
  dg_f32x32 w[9];
  for (int i = 0; i < 9; ++i)
    w[i] = at(weights + i);
  uint64_t padded = width + 2;
  for (uint64_t y = 0; y < rows; y += 2, in += 2 * padded, out += 2 * width) {
    // Rows a to d of the input lie under two rows of windows. `under` and `left` are the sums so far of the outputs that have seen two
    // columns and one.
    const dg_f16x32 *row[4] = {in, in + padded, in + 2 * padded, in + 3 * padded};
    dg_f32x32 a = at(row[0]), b = at(row[1]), c = at(row[2]), d = at(row[3]);
    dg_f32x32 under0 = first_column(w, a, b, c), under1 = first_column(w, b, c, d);
    a = at(row[0] + 1), b = at(row[1] + 1), c = at(row[2] + 1), d = at(row[3] + 1);
    under0 = column(w, 1, a, b, c, under0), under1 = column(w, 1, b, c, d, under1);
    dg_f32x32 left0 = first_column(w, a, b, c), left1 = first_column(w, b, c, d);
    a = at(row[0] + 2), b = at(row[1] + 2), c = at(row[2] + 2), d = at(row[3] + 2);
#pragma clang loop unroll(disable) // the compiler pipelines it: an iteration takes pipe A 17 cycles or 18
    for (uint64_t x = 0; x < width; ++x) {
      // The next column is under way while this one is computed; behind the last one it is read and not used.
      dg_f32x32 next_a = at(row[0] + x + 3), next_b = at(row[1] + x + 3), next_c = at(row[2] + x + 3), next_d = at(row[3] + x + 3);
      out[x] = __builtin_convertvector(column(w, 2, a, b, c, under0), dg_f16x32);
      out[x + width] = __builtin_convertvector(column(w, 2, b, c, d, under1), dg_f16x32);
      under0 = column(w, 1, a, b, c, left0), under1 = column(w, 1, b, c, d, left1);
      left0 = first_column(w, a, b, c), left1 = first_column(w, b, c, d);
      a = next_a, b = next_b, c = next_c, d = next_d;
    }
  }
}

// What a core does at a time: up to `band` rows of 32 channels.
struct piece {
  uint64_t group, top, rows;
};

// The piece that begins at `pair`, of pairs of rows counted through the image, 32 channels after 32 channels, and ends before `last`.
static struct piece piece_at(const struct arguments *g, uint64_t pair, uint64_t last) {
  uint64_t pairs = g->height / 2, within = pair % pairs, most = g->band / 2;
  if (most > pairs - within)
    most = pairs - within;
  if (most > last - pair)
    most = last - pair;
  return (struct piece){pair / pairs, 2 * within, 2 * most};
}

void depthwise(const dg_launch *launch, uint64_t unused_first, uint64_t unused_last, uint64_t step) {
  const struct arguments g = *(const struct arguments *)launch->arguments;
  int64_t pixel = 2 * g.channels;
  uint32_t in_bytes = (g.band + 2) * (g.width + 2) * lane_bytes, out_bytes = g.band * g.width * lane_bytes, weight_bytes = 9 * lane_bytes,
           slot_bytes = in_bytes + weight_bytes + out_bytes;
  uint64_t all = g.height / 2 * (g.channels / 32), cores = __dg_cores(), core = __dg_core(), next = core * all / cores,
           last = (core + 1) * all / cores;

  dg_dma_command image, weights, store;
  whole(&image, 8);
  image.fill_outside = 1;
  image.src_stride[2] = g.width * pixel, image.dst_stride[2] = (g.width + 2) * lane_bytes;
  image.count[3] = g.width + 2, image.low[3] = 1, image.high[3] = g.width + 1;
  image.src_stride[3] = pixel, image.dst_stride[3] = lane_bytes;
  image.count[4] = image.high[4] = lane_bytes / 8, image.src_stride[4] = image.dst_stride[4] = 8;
  copy_rows(&weights, 0, lane_bytes, 0, pixel, 9, lane_bytes);
  copy_rows(&store, 0, pixel, 0, lane_bytes, 0, lane_bytes);

  struct piece pieces[slots];
  uint64_t loaded[slots], stored[slots] = {0};
  for (uint64_t i = 0, waiting = 0; waiting || next < last; ++i) {
    uint64_t was = waiting;
    waiting = next < last;
    if (waiting) { // the next piece's operands, while the piece before is computed
      struct piece p = pieces[i % slots] = piece_at(&g, next, last);
      uint32_t base = DG_LM_BASE + i % slots * slot_bytes;
      int64_t top = (int64_t)p.top - 1, rows = p.rows + 2;
      image.src = g.x + top * (int64_t)g.width * pixel - pixel + p.group * lane_bytes;
      image.dst = base;
      image.count[2] = rows, image.low[2] = top < 0 ? 1 : 0,
      image.high[2] = (int64_t)g.height - top < rows ? (int64_t)g.height - top : rows;
      __dg_dma(DG_LOAD0, &image);
      weights.src = g.w + p.group * lane_bytes;
      weights.dst = base + in_bytes;
      loaded[i % slots] = __dg_dma(DG_LOAD0, &weights);
      next += p.rows / 2;
    }
    if (!was)
      continue;
    uint64_t slot = (i - 1) % slots, base = DG_LM_BASE + slot * slot_bytes, out = base + in_bytes + weight_bytes;
    struct piece p = pieces[slot];
    __dg_await(DG_LOAD0, loaded[slot]);
    __dg_await(DG_STORE0, stored[slot]);
    band_of_rows((const dg_f16x32 *)base, (const dg_f16x32 *)(base + in_bytes), (dg_f16x32 *)out, p.rows, g.width);
    store.src = out;
    store.dst = g.out + p.top * g.width * pixel + p.group * lane_bytes;
    store.count[3] = store.high[3] = p.rows * g.width;
    stored[slot] = __dg_dma(DG_STORE0, &store);
  }
}
