// out = convert(3x3 convolution of x with w, stride 1, zeros around, times scale plus bias), int8, NHWC and HWIO, on all cores, from DRAM.
//
// No im2col: a tensor command walks the window through the strides of its k = (ky, kx, c), over a patch of m = (rows, columns). Cores split
// the output channels in two and the rows among pairs of cores. A core takes its rows in chunks, the odd one first, so that it can begin
// soon:
//
//   rows of a core    | rows % 8 |    8    |    8    |      8 rows of whatever width fill the engine's rows without a remainder
//   load     w[ky=0] x | w[1] x w[2] x | x chunk 1 | x chunk 2 |
//   tensor             | ky 0 | ky 1 | ky 2 | chunk 1 | chunk 2 left | right |    the last in two, so that little is left to drain
#include "copies.h"

struct arguments {
  uint64_t x, w, scale, bias,
      out; // i8[height, width, channels], i8[3, 3, channels, filters], f32[filters] twice, i8[height, width, filters]
  uint64_t height, width, channels, filters;
};

enum { chunk_rows = 8, tail_columns = 16 };

struct place {
  uint32_t x, w, scale, bias, out;                              // LM
  uint64_t top, rows, padded, width, channels, filters, filter; // filters of this core, and its first
};

// Input rows [from, to) of the core's window, counted from the row above its first output row.
static uint64_t load_rows(const struct arguments *g, const struct place *at, int64_t from, int64_t to) {
  dg_dma_command c;
  whole(&c, 8);
  int64_t first = (int64_t)at->top - 1 + from, row_bytes = g->width * g->channels;
  c.src = g->x + first * row_bytes - (int64_t)g->channels;
  c.dst = at->x + from * at->padded * g->channels;
  c.fill_outside = 1;
  c.count[2] = to - from, c.low[2] = first < 0 ? -first : 0,
  c.high[2] = (int64_t)g->height - first < to - from ? (int64_t)g->height - first : to - from;
  c.src_stride[2] = row_bytes, c.dst_stride[2] = at->padded * g->channels;
  c.count[3] = at->padded, c.low[3] = 1, c.high[3] = at->padded - 1;
  c.src_stride[3] = c.dst_stride[3] = g->channels;
  c.count[4] = c.high[4] = g->channels / 8;
  c.src_stride[4] = c.dst_stride[4] = 8;
  return __dg_dma(DG_LOAD0, &c);
}

static uint64_t load_weights(const struct arguments *g, const struct place *at, uint64_t ky) {
  dg_dma_command c;
  uint64_t rows = 3 * g->channels;
  copy_rows(&c, at->w + ky * rows * at->filters, at->filters, g->w + ky * rows * g->filters + at->filter, g->filters, rows, at->filters);
  return __dg_dma(DG_LOAD0, &c);
}

// The patch's drain and store, behind its last tensor command.
static uint64_t finish(const struct arguments *g, const struct place *at, const dg_tensor_command *product, uint64_t computed, uint64_t row,
                       uint64_t column) {
  dg_drain_command drain = {.acc = product->acc,
                            .out = at->out + (row * g->width + column) * at->filters,
                            .scale = at->scale,
                            .bias = at->bias,
                            .acc_type = DG_I32,
                            .out_type = DG_I8,
                            .m = {product->m[0], product->m[1]},
                            .n = at->filters,
                            .acc_m_stride = product->acc_m_stride,
                            .out_m_stride = {g->width * at->filters, at->filters},
                            .low = -128,
                            .high = 127};
  __dg_qwait(DG_DRAIN, DG_TENSOR, computed);
  uint64_t drained = __dg_drain(&drain);
  dg_dma_command c;
  whole(&c, 8);
  c.src = drain.out;
  c.dst = g->out + ((at->top + row) * g->width + column) * g->filters + at->filter;
  c.count[2] = c.high[2] = product->m[0], c.src_stride[2] = g->width * at->filters, c.dst_stride[2] = g->width * g->filters;
  c.count[3] = c.high[3] = product->m[1], c.src_stride[3] = at->filters, c.dst_stride[3] = g->filters;
  c.count[4] = c.high[4] = at->filters / 8, c.src_stride[4] = c.dst_stride[4] = 8;
  __dg_qwait(DG_STORE0, DG_DRAIN, drained);
  __dg_dma(DG_STORE0, &c);
  return drained;
}

void convolution(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  const struct arguments g = *(const struct arguments *)launch->arguments;
  uint64_t bands = __dg_cores() / 2, core = __dg_core();
  if (core >= 2 * bands)
    return;
  struct place at = {.padded = g.width + 2, .filters = g.filters / 2, .filter = core % 2 * (g.filters / 2)};
  at.top = core / 2 * g.height / bands;
  at.rows = (core / 2 + 1) * g.height / bands - at.top;
  at.w = DG_LM_BASE;
  at.scale = at.w + 9 * g.channels * at.filters;
  at.bias = at.scale + 4 * at.filters;
  at.x = at.bias + 4 * at.filters;
  at.out = at.x + (at.rows + 2) * at.padded * g.channels;

  uint32_t row_stride = at.padded * g.channels, acc_slot = chunk_rows * g.width * at.filters * 4;
  dg_tensor_command product = {.a_type = DG_I8,
                               .b_type = DG_I8,
                               .k = {1, 3, g.channels},
                               .n = at.filters,
                               .a_m_stride = {row_stride, g.channels},
                               .a_k_stride = {row_stride, g.channels, 1},
                               .b_k_stride = {3 * g.channels * at.filters, g.channels * at.filters, at.filters},
                               .b_n_stride = 1,
                               .acc_m_stride = 4 * at.filters};

  // The first chunk, a row of the window after the other.
  uint64_t rows = at.rows % chunk_rows ? at.rows % chunk_rows : chunk_rows, computed = 0;
  product.m[0] = rows, product.m[1] = g.width;
  for (uint64_t ky = 0; ky < 3; ++ky) {
    load_weights(&g, &at, ky);
    uint64_t loaded = ky == 0 ? load_rows(&g, &at, 0, rows) : load_rows(&g, &at, rows + ky - 1, rows + ky);
    __dg_qwait(DG_TENSOR, DG_LOAD0, loaded);
    product.a = at.x + ky * row_stride;
    product.b = at.w + ky * 3 * g.channels * at.filters;
    product.accumulate = ky > 0;
    computed = __dg_tensor(&product);
  }
  dg_dma_command vector;
  copy_rows(&vector, at.scale, 0, g.scale + 4 * at.filter, 0, 1, 4 * at.filters);
  __dg_dma(DG_LOAD0, &vector);
  copy_rows(&vector, at.bias, 0, g.bias + 4 * at.filter, 0, 1, 4 * at.filters);
  __dg_qwait(DG_DRAIN, DG_LOAD0, __dg_dma(DG_LOAD0, &vector));
  uint64_t drained[2] = {finish(&g, &at, &product, computed, 0, 0), 0};

  product.b = at.w;
  product.k[0] = 3;
  product.accumulate = 0;
  uint64_t slot = 1;
  for (uint64_t row = rows; row < at.rows; row += chunk_rows, slot ^= 1) {
    product.m[0] = chunk_rows;
    __dg_qwait(DG_TENSOR, DG_LOAD0, load_rows(&g, &at, row + 2, row + 2 + chunk_rows));
    __dg_qwait(DG_TENSOR, DG_DRAIN, drained[slot]);
    int ends = row + chunk_rows == at.rows;
    uint64_t left = ends ? g.width - tail_columns : g.width;
    for (uint64_t column = 0; column < g.width; column += product.m[1]) {
      product.m[1] = column == 0 ? left : g.width - left;
      product.a = at.x + row * row_stride + column * g.channels;
      product.acc = slot * acc_slot + column * chunk_rows * at.filters * 4;
      drained[slot] = finish(&g, &at, &product, __dg_tensor(&product), row, column);
    }
  }
}
