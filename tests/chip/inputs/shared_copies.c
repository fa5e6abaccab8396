// Kernels of copies that cores share: rows gathered and scattered by a list, sums made in DRAM, weights that one core brings to all.
#include <dougong_npu.h>

static void *here(uint64_t offset) { return (void *)(DG_LM_BASE + offset); }

void *memcpy(void *to, const void *from, unsigned long bytes) {
  for (unsigned long i = 0; i < bytes; i++)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}
void *memset(void *to, int value, unsigned long bytes) {
  for (unsigned long i = 0; i < bytes; i++)
    ((volatile char *)to)[i] = (char)value;
  return to;
}

// Rows of 64 floats: dense on either side.
static dg_dma_command rows(uint64_t src, uint64_t dst, uint32_t count) {
  return (dg_dma_command){.src = src,
                          .dst = dst,
                          .element_bytes = 4,
                          .count = {count, 1, 1, 1, 64},
                          .high = {(int32_t)count, 1, 1, 1, 64},
                          .src_stride = {256, [4] = 4},
                          .dst_stride = {256, [4] = 4}};
}
static dg_dma_command bytes(uint64_t src, uint64_t dst, uint32_t count) {
  return (dg_dma_command){.src = src,
                          .dst = dst,
                          .element_bytes = 1,
                          .count = {1, 1, 1, 1, count},
                          .high = {1, 1, 1, 1, (int32_t)count},
                          .src_stride = {[4] = 1},
                          .dst_stride = {[4] = 1}};
}
static void load(const dg_dma_command *command) { __dg_await(DG_LOAD0, __dg_dma(DG_LOAD0, command)); }
static void store(const dg_dma_command *command) { __dg_await(DG_STORE0, __dg_dma(DG_STORE0, command)); }

// out[to[i]] = table[from[i]], 32 indexes an instance; rows that are outside the table are -1, places that are outside of `out` are left.
struct move {
  uint64_t table, from, to, out;
  uint64_t table_rows, out_rows;
};
void move_rows(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  struct move g = *(const struct move *)launch->arguments;
  for (uint64_t i = first; i < last; i += step) {
    dg_dma_command lists = bytes(g.from + 128 * i, DG_LM_BASE, 128);
    load(&lists);
    lists.src = g.to + 128 * i, lists.dst = DG_LM_BASE + 128;
    load(&lists);
    dg_dma_command gather = rows(g.table, DG_LM_BASE + 4096, 32);
    gather.listed = DG_LIST_SRC, gather.list = DG_LM_BASE, gather.high[0] = (int32_t)g.table_rows;
    gather.fill_outside = 1, gather.fill = 0xbf800000;
    load(&gather);
    dg_dma_command scatter = rows(DG_LM_BASE + 4096, g.out, 32);
    scatter.listed = DG_LIST_DST, scatter.list = DG_LM_BASE + 128, scatter.high[0] = (int32_t)g.out_rows;
    store(&scatter);
  }
}

// The gradient of an embedding, in whole numbers: sums[index[i]] += gradient[i], all cores at once.
struct gradient {
  uint64_t gradients, indexes, sums;
  uint64_t table_rows;
};
void add_rows(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  struct gradient g = *(const struct gradient *)launch->arguments;
  for (uint64_t i = first; i < last; i += step) {
    dg_dma_command list = bytes(g.indexes + 128 * i, DG_LM_BASE, 128);
    load(&list);
    dg_dma_command in = rows(g.gradients + 32 * 256 * i, DG_LM_BASE + 4096, 32);
    load(&in);
    dg_dma_command add = rows(DG_LM_BASE + 4096, g.sums, 32);
    add.listed = DG_LIST_DST, add.list = DG_LM_BASE, add.high[0] = (int32_t)g.table_rows;
    add.add = 1, add.add_type = DG_I32;
    store(&add);
  }
}

// C[32][32] += A[32][k] B[k][32], i8 and i32: each instance takes 64 of k, and adds what it has to the same C.
struct product {
  uint64_t a, b, c;
  uint64_t k;
};
void split_k(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  struct product g = *(const struct product *)launch->arguments;
  for (uint64_t i = first; i < last; i += step) {
    dg_dma_command a = {.src = g.a + 64 * i,
                        .dst = DG_LM_BASE,
                        .element_bytes = 1,
                        .count = {1, 1, 1, 32, 64},
                        .high = {1, 1, 1, 32, 64},
                        .src_stride = {[3] = (int64_t)g.k, [4] = 1},
                        .dst_stride = {[3] = 64, [4] = 1}};
    load(&a);
    dg_dma_command b = bytes(g.b + 64 * 32 * i, DG_LM_BASE + 4096, 64 * 32);
    load(&b);
    dg_tensor_command multiply = {.a = DG_LM_BASE,
                                  .b = DG_LM_BASE + 4096,
                                  .a_type = DG_I8,
                                  .b_type = DG_I8,
                                  .m = {1, 32},
                                  .k = {1, 1, 64},
                                  .n = 32,
                                  .a_m_stride = {0, 64},
                                  .a_k_stride = {0, 0, 1},
                                  .b_k_stride = {0, 0, 32},
                                  .b_n_stride = 1,
                                  .acc_m_stride = 128};
    dg_drain_command drain = {.out = DG_LM_BASE + 8192,
                              .acc_type = DG_I32,
                              .out_type = DG_I32,
                              .m = {1, 32},
                              .n = 32,
                              .acc_m_stride = 128,
                              .out_m_stride = {0, 128}};
    __dg_qwait(DG_DRAIN, DG_TENSOR, __dg_tensor(&multiply));
    __dg_await(DG_DRAIN, __dg_drain(&drain));
    dg_dma_command sum = bytes(DG_LM_BASE + 8192, g.c, 32 * 32);
    sum.element_bytes = 4, sum.src_stride[4] = sum.dst_stride[4] = 4, sum.add = 1, sum.add_type = DG_I32;
    store(&sum);
  }
}

// Core 0 brings `bytes` of weights to all cores, or each core its own; then every one multiplies each by its number + 1 and stores its own.
struct weights {
  uint64_t weights, ready, out;
  uint64_t bytes, multicast;
};
void share(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  struct weights g = *(const struct weights *)launch->arguments;
  uint64_t *ready = (uint64_t *)g.ready, core = __dg_core(), cores = __dg_cores();
  dg_dma_command c = bytes(g.weights, DG_LM_BASE, (uint32_t)g.bytes);
  if (!g.multicast) {
    load(&c);
  } else if (core == 0) {
    c.cores = (1ull << cores) - 1;
    load(&c);
    __atomic_store_n(ready, 1, __ATOMIC_RELEASE);
  } else {
    while (!__atomic_load_n(ready, __ATOMIC_ACQUIRE)) {
    }
  }
  dg_i32x32 *lanes = here(0);
  for (uint64_t i = 0; i < g.bytes / sizeof *lanes; i++)
    lanes[i] *= (int32_t)core + 1;
  dg_dma_command out = bytes(DG_LM_BASE, g.out + core * g.bytes, (uint32_t)g.bytes);
  store(&out);
}
