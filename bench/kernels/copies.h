// DMA descriptors as the kernels here need them: dense blocks out of, and into, row-major matrices.
#pragma once
#include <dougong_npu.h>

// What is left of a descriptor after `copy_rows` has set it: the whole range is inside, unused dimensions count 1.
static inline void whole(dg_dma_command *c, uint32_t element_bytes) {
  c->element_bytes = element_bytes;
  c->fill_outside = c->listed = c->add = c->add_type = 0;
  c->fill = c->cores = 0;
  for (int d = 0; d < 5; ++d) {
    c->count[d] = 1;
    c->low[d] = 0;
    c->high[d] = 1;
    c->src_stride[d] = c->dst_stride[d] = 0;
  }
}

// `rows` rows of `bytes` each, a multiple of 4, from one address and row stride to another.
static inline void copy_rows(dg_dma_command *c, uint64_t dst, int64_t dst_stride, uint64_t src, int64_t src_stride, uint32_t rows,
                             uint32_t bytes) {
  whole(c, 4);
  c->src = src;
  c->dst = dst;
  c->count[3] = rows;
  c->high[3] = (int32_t)rows;
  c->src_stride[3] = src_stride;
  c->dst_stride[3] = dst_stride;
  c->count[4] = bytes / 4;
  c->high[4] = (int32_t)(bytes / 4);
  c->src_stride[4] = c->dst_stride[4] = 4;
}
