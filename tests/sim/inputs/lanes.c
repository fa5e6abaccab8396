// Vectors under gdb: in registers, in LM, in the accumulators' memory.
#include <dougong_npu.h>
#define LM ((float *)DG_LM_BASE)
__attribute__((noinline)) static void scale(void *argument) {
  float factor = *(float *)argument;
  dg_f32x32 v = *(dg_f32x32 *)LM;
  dg_f32x32 scaled = v * factor;
  dg_i32x32 whole = __builtin_convertvector(scaled, dg_i32x32);
  *(dg_f32x32 *)(LM + 32) = scaled + __builtin_convertvector(whole, dg_f32x32); // V
}
int main(void) {
  float factor = 2.5f;
  for (int i = 0; i < 32; ++i)
    LM[i] = i;
  dg_call_in_lm(scale, &factor, 0x40000);
  return (int)LM[33]; // M: 2.5 + 2
}
