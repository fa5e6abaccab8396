// out = 3x3 depthwise convolution of x with w, stride 1, zeros around, f16 in memory and f32 in between, NHWC, on all cores' vector units.
//
// 32 channels at a time, down a column of the image: the nine weights stay in registers, and so do the three rows under the window, so that an output
// costs three loads, nine multiply-adds and a store. A program is a band of rows of 32 channels; its input comes by DMA with zeros around it:
//
//   DRAM x[height, width, channels]  --load-->  LM [rows + 2][width + 2][32]  --vector-->  LM [rows][width][32]  --store-->  DRAM
#include "copies.h"

struct arguments {
  uint64_t x, w, out;                        // f16[height, width, channels], f16[3, 3, channels], f16[height, width, channels]
  uint64_t height, width, channels, band;    // band: rows of a program, divides the height; channels a multiple of 32
};

enum { slots = 2, lane_bytes = 64 };

static dg_f32x32 at(const dg_f16x32 *p) { return __builtin_convertvector(*p, dg_f32x32); }

static void band_of_rows(const dg_f16x32 *in, const dg_f16x32 *weights, dg_f16x32 *out, uint64_t rows, uint64_t width) {
  dg_f32x32 w[9];
  for (int i = 0; i < 9; ++i) w[i] = at(weights + i);
  uint64_t padded = width + 2;
  for (uint64_t y = 0; y < rows; ++y, in += padded, out += width) {
    const dg_f16x32 *r0 = in, *r1 = in + padded, *r2 = in + 2 * padded;
    // Three columns of the window, each the sum over its rows of what it gives to the output at its left, under it and at its right:
    //   x:    0   1   2   3          sums of the outputs that column x touches, one of which it completes
    dg_f32x32 before = w[0] * at(r0), here;
    before = __builtin_elementwise_fma(w[3], at(r1), before);
    before = __builtin_elementwise_fma(w[6], at(r2), before);
    dg_f32x32 a = at(r0 + 1), b = at(r1 + 1), c = at(r2 + 1);
    before = __builtin_elementwise_fma(w[1], a, before);
    before = __builtin_elementwise_fma(w[4], b, before);
    before = __builtin_elementwise_fma(w[7], c, before);
    here = w[0] * a;
    here = __builtin_elementwise_fma(w[3], b, here);
    here = __builtin_elementwise_fma(w[6], c, here);
#pragma clang loop unroll_count(4)
    for (uint64_t x = 0; x < width; ++x) {
      a = at(r0 + x + 2), b = at(r1 + x + 2), c = at(r2 + x + 2);
      dg_f32x32 done = __builtin_elementwise_fma(w[2], a, before);
      done = __builtin_elementwise_fma(w[5], b, done);
      done = __builtin_elementwise_fma(w[8], c, done);
      out[x] = __builtin_convertvector(done, dg_f16x32);
      before = __builtin_elementwise_fma(w[1], a, here);
      before = __builtin_elementwise_fma(w[4], b, before);
      before = __builtin_elementwise_fma(w[7], c, before);
      here = w[0] * a;
      here = __builtin_elementwise_fma(w[3], b, here);
      here = __builtin_elementwise_fma(w[6], c, here);
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
