// Loops of commands and waits in which every order matters: vector code writes a command's input right before it, reads its result right
// after the wait, and rewrites the descriptor, which the issue has read. arguments: in (f32[rounds][32]), out (the same), rounds. Round i:
// y = drain(A * B) with A = a row of 32 f16 made of in[i] and the round before, B = twice the identity; out[i] = y + 1 + what a copy within
// LM brought back.
#include <dougong_npu.h>

struct arguments {
  const float *in;
  float *out;
  uint64_t rounds;
};

static _Float16 *const b = (_Float16 *)(DG_LM_BASE + 0x1000);
static dg_f32x32 *const row = (dg_f32x32 *)(DG_LM_BASE + 0x2000);   // loaded
static dg_f32x32 *const there = (dg_f32x32 *)(DG_LM_BASE + 0x2100); // copied within LM
static dg_f32x32 *const back = (dg_f32x32 *)(DG_LM_BASE + 0x2200);
static _Float16 *const a = (_Float16 *)(DG_LM_BASE + 0x2300);
static dg_f32x32 *const y = (dg_f32x32 *)(DG_LM_BASE + 0x2400);
static dg_f32x32 *const sum = (dg_f32x32 *)(DG_LM_BASE + 0x2500);

// What clang calls to initialise the descriptors; a kernel image has no C library.
__attribute__((no_builtin)) void *memcpy(void *to, const void *from, unsigned long n) {
  for (unsigned long i = 0; i < n; i++)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}

void command_loop(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  const struct arguments g = *(const struct arguments *)launch->arguments;
  if (__dg_core())
    return;
  for (int k = 0; k < 32; k++)
    for (int n = 0; n < 32; n++)
      b[32 * k + n] = k == n ? 2 : 0;
  dg_dma_command copy = {.element_bytes = 4,
                         .count = {1, 1, 1, 1, 32},
                         .high = {1, 1, 1, 1, 32},
                         .src_stride = {0, 0, 0, 0, 4},
                         .dst_stride = {0, 0, 0, 0, 4}};
  dg_tensor_command product = {.a_type = DG_F16,
                               .b_type = DG_F16,
                               .m = {1, 1},
                               .k = {1, 1, 32},
                               .n = 32,
                               .a_k_stride = {0, 0, 2},
                               .b_k_stride = {0, 0, 64},
                               .b_n_stride = 2,
                               .acc_m_stride = 128};
  dg_drain_command drain = {.acc_type = DG_F32,
                            .out_type = DG_F32,
                            .residual_type = DG_F32,
                            .m = {1, 1},
                            .n = 32,
                            .acc_m_stride = 128,
                            .low = -__builtin_inff(),
                            .high = __builtin_inff()};
  product.a = (uint32_t)(uint64_t)a, product.b = (uint32_t)(uint64_t)b, drain.out = (uint32_t)(uint64_t)y;
  uint64_t stored = 0;
  dg_f32x32 before = {0};
  for (uint64_t i = 0; i < g.rounds; i++) {
    copy.src = (uint64_t)(g.in + 32 * i), copy.dst = (uint64_t)row;
    __dg_await(DG_LOAD0, __dg_dma(DG_LOAD0, &copy));
    dg_f32x32 x = *row;
    *there = x * 3 + before;
    copy.src = (uint64_t)there, copy.dst = (uint64_t)back; // reads what was stored just now
    uint64_t copied = __dg_dma(DG_LOAD0, &copy);
    for (int k = 0; k < 32; k++)
      a[k] = (_Float16)((float *)row)[k];
    product.acc = drain.acc = (uint32_t)(i % 4 * 128);
    uint64_t multiplied = __dg_tensor(&product);
    __dg_qwait(DG_DRAIN, DG_TENSOR, multiplied);
    uint64_t drained = __dg_drain(&drain);
    __dg_await(DG_LOAD0, copied);
    dg_f32x32 came = *back; // not before the wait
    __dg_await(DG_DRAIN, drained);
    dg_f32x32 product_row = *y;
    __dg_await(DG_STORE0, stored); // nor the next line before this one
    *sum = product_row + 1 + came;
    copy.src = (uint64_t)sum, copy.dst = (uint64_t)(g.out + 32 * i);
    stored = __dg_dma(DG_STORE0, &copy);
    before = x;
  }
  __dg_await(DG_STORE0, stored);
}
