// out = 3x3 depthwise convolution of x with w, stride 1, zeros around, f16 in memory and f32 in between, NHWC, on all cores' vector units.
//
// 32 channels at a time, two rows of outputs at once: the nine weights and the sums that a column of the window begins stay in registers, so that two
// outputs cost four loads, two multiplications, sixteen multiply-adds in six chains (their latency is four), and two stores. A program is a band of rows of 32 channels; its input comes by DMA with zeros around it:
//
//   DRAM x[height, width, channels]  --load-->  LM [rows + 2][width + 2][32]  --vector-->  LM [rows][width][32]  --store-->  DRAM
#include "copies.h"

struct arguments {
  uint64_t x, w, out;                        // f16[height, width, channels], f16[3, 3, channels], f16[height, width, channels]
  uint64_t height, width, channels, band;    // band: rows of a program, even, divides the height; channels a multiple of 32
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

static void band_of_rows(const dg_f16x32 *restrict in, const dg_f16x32 *restrict weights, dg_f16x32 *restrict out, uint64_t rows, uint64_t width) {
  dg_f32x32 w[9];
  for (int i = 0; i < 9; ++i) w[i] = at(weights + i);
  uint64_t padded = width + 2;
  for (uint64_t y = 0; y < rows; y += 2, in += 2 * padded, out += 2 * width) {
    // Rows a to d of the input lie under two rows of windows. `under` and `left` are the sums so far of the outputs that have seen two columns and one.
    const dg_f16x32 *row[4] = {in, in + padded, in + 2 * padded, in + 3 * padded};
    dg_f32x32 a = at(row[0]), b = at(row[1]), c = at(row[2]), d = at(row[3]);
    dg_f32x32 under0 = first_column(w, a, b, c), under1 = first_column(w, b, c, d);
    a = at(row[0] + 1), b = at(row[1] + 1), c = at(row[2] + 1), d = at(row[3] + 1);
    under0 = column(w, 1, a, b, c, under0), under1 = column(w, 1, b, c, d, under1);
    dg_f32x32 left0 = first_column(w, a, b, c), left1 = first_column(w, b, c, d);
    a = at(row[0] + 2), b = at(row[1] + 2), c = at(row[2] + 2), d = at(row[3] + 2);
#pragma clang loop unroll_count(4)
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

// The program's input with its border, and its weights.
static uint64_t load(const struct arguments *g, uint64_t program, uint32_t input, uint32_t weights) {
  uint64_t groups = g->channels / 32, group = program % groups, top = program / groups * g->band;
  int64_t first = (int64_t)top - 1, pixel = 2 * g->channels, rows = g->band + 2;
  dg_dma_command c;
  whole(&c, 8);
  c.fill_outside = 1;
  c.src = g->x + first * (int64_t)g->width * pixel - pixel + group * lane_bytes;
  c.dst = input;
  c.count[2] = rows, c.low[2] = first < 0 ? 1 : 0, c.high[2] = (int64_t)g->height - first < rows ? (int64_t)g->height - first : rows;
  c.src_stride[2] = g->width * pixel, c.dst_stride[2] = (g->width + 2) * lane_bytes;
  c.count[3] = g->width + 2, c.low[3] = 1, c.high[3] = g->width + 1;
  c.src_stride[3] = pixel, c.dst_stride[3] = lane_bytes;
  c.count[4] = c.high[4] = lane_bytes / 8, c.src_stride[4] = c.dst_stride[4] = 8;
  __dg_dma(DG_LOAD0, &c);
  copy_rows(&c, weights, lane_bytes, g->w + group * lane_bytes, pixel, 9, lane_bytes);
  return __dg_dma(DG_LOAD0, &c);
}

void depthwise(const dg_launch *launch, uint64_t unused_first, uint64_t unused_last, uint64_t step) {
  const struct arguments g = *(const struct arguments *)launch->arguments;
  uint32_t in_bytes = (g.band + 2) * (g.width + 2) * lane_bytes, out_bytes = g.band * g.width * lane_bytes, weight_bytes = 9 * lane_bytes, slot_bytes = in_bytes + weight_bytes + out_bytes;
  uint64_t groups = g.channels / 32, programs = g.height / g.band * groups, cores = __dg_cores(), core = __dg_core();
  uint64_t first = core * programs / cores, last = (core + 1) * programs / cores, loaded[slots], stored[slots] = {0};
  for (uint64_t i = first; i < last + 1; ++i) {
    if (i < last) {
      uint32_t base = DG_LM_BASE + i % slots * slot_bytes;
      loaded[i % slots] = load(&g, i, base, base + in_bytes);
    }
    if (i == first) continue;
    uint64_t program = i - 1, slot = program % slots;
    uint64_t base = DG_LM_BASE + slot * slot_bytes, out = base + in_bytes + weight_bytes;
    __dg_await(DG_LOAD0, loaded[slot]);
    __dg_await(DG_STORE0, stored[slot]);
    band_of_rows((const dg_f16x32 *)base, (const dg_f16x32 *)(base + in_bytes), (dg_f16x32 *)out, g.band, g.width);
    dg_dma_command c;
    uint64_t pixel = 2 * g.channels;
    copy_rows(&c, g.out + program / groups * g.band * g.width * pixel + program % groups * lane_bytes, pixel, out, lane_bytes, g.band * g.width, lane_bytes);
    stored[slot] = __dg_dma(DG_STORE0, &c);
  }
}
