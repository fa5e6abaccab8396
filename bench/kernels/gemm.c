// C[m, n] = convert(sum over k of A[m, k] * B[k, n] * scale[n] + bias[n]), all row-major in DRAM, on all cores.
//
// A core computes one tile of C at a time, in ACC. Blocks of k stream through three buffers in LM; every wait is for a ticket, so load,
// tensor, drain and store overlap across blocks and tiles while the core only issues:
//
//   load    | A0 B0 | A1 B1 | A2 B2 | ...            a block waits for the tensor command that read its buffer last
//   tensor          | block 0 | block 1 | ...        waits for its loads; a tile's first block waits, piece by piece, until
//   drain                           | p0 p1 p2 p3    the last tile's accumulators are drained
//   store                                | p0 p1 ...
//
// Tiles are dealt out so that the cores work side by side on `group` rows of tiles and the same columns: what one core loads, its
// neighbours find in L2, if they come soon after: so the core itself waits for a buffer before it issues loads, which would else
// run up to a queue's depth ahead of their neighbours. Odd cores load B first, else all want unseen A at once, then unseen B. Odd rounds of
// tiles may walk k backwards (`serpentine`): their first blocks are those that L2 saw last, and the first blocks of A are in LM still.
#include "copies.h"

struct arguments {
  uint64_t a, b, c, scale, bias; // scale and bias: f32[n]
  uint64_t m, n, k;              // multiples of the tile's
  uint64_t tile_m, tile_n, block_k;
  uint64_t piece;     // rows of a tile that are drained and stored at once
  uint64_t acc_slots; // tiles that ACC holds, 1 or 2
  uint64_t group, serpentine;
  uint64_t type, out_type; // enum dg_type
};

static uint32_t bytes_of(uint64_t type) { return type == DG_F32 || type == DG_I32 ? 4 : type == DG_F16 || type == DG_BF16 ? 2 : 1; }

enum { buffers = 3, most_pieces = 8 };

void gemm(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  struct arguments g = *(const struct arguments *)launch->arguments;
  uint32_t in = bytes_of(g.type), out = bytes_of(g.out_type);
  uint32_t a_bytes = g.tile_m * g.block_k * in, b_bytes = g.block_k * g.tile_n * in, pieces = g.tile_m / g.piece,
           piece_bytes = g.piece * g.tile_n * out;
  uint32_t a_at = DG_LM_BASE, b_at = a_at + buffers * a_bytes, out_at = b_at + buffers * b_bytes, scale_at = out_at + pieces * piece_bytes,
           bias_at = scale_at + 4 * g.n;
  uint64_t tiles_n = g.n / g.tile_n, tiles = g.m / g.tile_m * tiles_n, blocks = g.k / g.block_k;

  dg_dma_command load_a, load_b, store;
  copy_rows(&load_a, 0, g.block_k * in, 0, g.k * in, g.tile_m, g.block_k * in);
  copy_rows(&load_b, 0, g.tile_n * in, 0, g.n * in, g.block_k, g.tile_n * in);
  copy_rows(&store, 0, g.n * out, 0, g.tile_n * out, g.piece, g.tile_n * out);

  dg_tensor_command product = {.a_type = g.type,
                               .b_type = g.type,
                               .m = {1, g.tile_m},
                               .k = {1, 1, g.block_k},
                               .n = g.tile_n,
                               .a_m_stride = {0, g.block_k * in},
                               .a_k_stride = {0, 0, in},
                               .b_k_stride = {0, 0, g.tile_n * in},
                               .b_n_stride = in,
                               .acc_m_stride = 4 * g.tile_n};
  dg_drain_command drain = {.acc_type = in == 1 ? DG_I32 : DG_F32,
                            .out_type = g.out_type,
                            .m = {1, g.piece},
                            .n = g.tile_n,
                            .acc_m_stride = 4 * g.tile_n,
                            .out_m_stride = {0, g.tile_n * out},
                            .low = -__builtin_inff(),
                            .high = __builtin_inff()};

  uint64_t read_a[buffers] = {0}, read_b[buffers] = {0}; // tensor tickets: the last reader of each operand buffer
  uint64_t held[buffers] = {~0ull, ~0ull, ~0ull};        // where the block of A in each buffer comes from
  uint64_t drained[2][most_pieces] = {{0}, {0}};         // of each piece of each ACC slot
  uint64_t stored[most_pieces] = {0};                    // of each piece of the output buffer
  uint64_t scales = 0;
  uint64_t round = 0, count = 0, odd = __dg_core() % 2;
  for (uint64_t t = __dg_core(); t < tiles; t += __dg_cores(), ++round) {
    uint64_t band = t / (g.group * tiles_n), within = t % (g.group * tiles_n), left = g.m / g.tile_m - band * g.group,
             height = left < g.group ? left : g.group;
    uint64_t row = band * g.group + within % height, column = within / height;
    if (g.serpentine && band % 2)
      column = tiles_n - 1 - column;
    uint64_t slot = round % g.acc_slots;
    uint32_t acc = slot * g.tile_m * g.tile_n * 4;
    for (uint64_t block = 0; block < blocks; ++block, ++count) {
      uint64_t k = (g.serpentine && round % 2 ? blocks - 1 - block : block) * g.block_k, buffer_b = count % buffers;
      load_a.src = g.a + (row * g.tile_m * g.k + k) * in;
      uint64_t buffer_a = 0, kept = 0; // the one that holds the block, else the one not read for longest
      for (uint64_t i = 0; i < buffers; ++i) {
        if (held[i] == load_a.src) {
          buffer_a = i, kept = 1;
          break;
        }
        if (read_a[i] < read_a[buffer_a])
          buffer_a = i;
      }
      load_a.dst = a_at + buffer_a * a_bytes;
      load_b.src = g.b + (k * g.n + column * g.tile_n) * in;
      load_b.dst = b_at + buffer_b * b_bytes;
      __dg_await(DG_TENSOR, read_b[buffer_b]);
      if (!kept)
        __dg_await(DG_TENSOR, read_a[buffer_a]);
      if (!kept && !odd)
        __dg_dma(DG_LOAD0, &load_a);
      uint64_t loaded = __dg_dma(DG_LOAD0, &load_b);
      if (!kept && odd)
        loaded = __dg_dma(DG_LOAD0, &load_a);
      held[buffer_a] = load_a.src;

      if (count == 0) { // behind the first operands, long before the first drain
        dg_dma_command vector;
        copy_rows(&vector, scale_at, 0, g.scale, 0, 1, 4 * g.n);
        __dg_dma(DG_LOAD0, &vector);
        copy_rows(&vector, bias_at, 0, g.bias, 0, 1, 4 * g.n);
        scales = __dg_dma(DG_LOAD0, &vector);
        __dg_qwait(DG_DRAIN, DG_LOAD0, scales);
      }

      __dg_qwait(DG_TENSOR, DG_LOAD0, loaded);
      product.b = load_b.dst;
      int begins = block == 0, ends = block + 1 == blocks;
      product.accumulate = !begins;
      if (!begins && !ends) {
        product.a = load_a.dst;
        product.acc = acc;
        product.m[1] = g.tile_m;
        read_a[buffer_a] = read_b[buffer_b] = __dg_tensor(&product);
        continue;
      }
      product.m[1] = g.piece;
      for (uint32_t p = 0; p < pieces; ++p) {
        product.a = load_a.dst + p * g.piece * g.block_k * in;
        product.acc = acc + p * g.piece * g.tile_n * 4;
        if (begins)
          __dg_qwait(DG_TENSOR, DG_DRAIN, drained[slot][p]);
        uint64_t computed = __dg_tensor(&product);
        read_a[buffer_a] = read_b[buffer_b] = computed;
        if (!ends)
          continue;
        __dg_qwait(DG_DRAIN, DG_TENSOR, computed);
        __dg_qwait(DG_DRAIN, DG_STORE0, stored[p]);
        drain.acc = product.acc;
        drain.out = out_at + p * piece_bytes;
        drain.scale = scale_at + 4 * column * g.tile_n;
        drain.bias = bias_at + 4 * column * g.tile_n;
        drained[slot][p] = __dg_drain(&drain);
        __dg_qwait(DG_STORE0, DG_DRAIN, drained[slot][p]);
        store.src = drain.out;
        store.dst = g.c + ((row * g.tile_m + p * g.piece) * g.n + column * g.tile_n) * out;
        stored[p] = __dg_dma(DG_STORE0, &store);
      }
    }
  }
}
