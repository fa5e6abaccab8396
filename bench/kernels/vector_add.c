// out = x + y over f32 in DRAM, on all cores: chunks stream through LM in `slots` slots, dealt out to the cores in turn, so that neighbours
// in time are neighbours in DRAM.
#include "copies.h"

struct arguments {
  uint64_t x, y, out, n, chunk; // elements; n a multiple of chunk, chunk of 128
};

enum { slots = 4 };

static void add(uint32_t x, uint32_t y, uint32_t out, uint64_t n) {
  const dg_f32x32 *a = (const dg_f32x32 *)(uint64_t)x, *b = (const dg_f32x32 *)(uint64_t)y;
  dg_f32x32 *c = (dg_f32x32 *)(uint64_t)out;
  for (uint64_t i = 0; i < n / 32; i += 4)
    for (int j = 0; j < 4; ++j)
      c[i + j] = a[i + j] + b[i + j];
}

void vector_add(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  const struct arguments g = *(const struct arguments *)launch->arguments;
  uint32_t bytes = 4 * g.chunk;
  uint64_t loaded[slots], stored[slots] = {0}, chunks = g.n / g.chunk, core = __dg_core(), cores = __dg_cores();
  uint64_t mine = (chunks + cores - 1 - core) / cores;
  dg_dma_command copy;
  copy_rows(&copy, 0, 0, 0, 0, 1, bytes);
  // Loads are issued `slots - 1` chunks ahead of the sums: `i` counts loads.
  for (uint64_t i = 0; i < mine + slots - 1; ++i) {
    if (i < mine) {
      uint64_t from = (core + i * cores) * bytes;
      uint32_t at = DG_LM_BASE + i % slots * 3 * bytes;
      copy.src = g.x + from, copy.dst = at;
      __dg_dma(DG_LOAD0, &copy);
      copy.src = g.y + from, copy.dst = at + bytes;
      loaded[i % slots] = __dg_dma(DG_LOAD0, &copy);
    }
    if (i < slots - 1)
      continue;
    uint64_t done = i - (slots - 1), slot = done % slots;
    uint32_t at = DG_LM_BASE + slot * 3 * bytes;
    __dg_await(DG_LOAD0, loaded[slot]);
    __dg_await(DG_STORE0, stored[slot]);
    add(at, at + bytes, at + 2 * bytes, g.chunk);
    copy.src = at + 2 * bytes, copy.dst = g.out + (core + done * cores) * bytes;
    stored[slot] = __dg_dma(DG_STORE0, &copy);
  }
}
