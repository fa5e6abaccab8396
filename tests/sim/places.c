// RUN: dougong-cc -g -O2 -w %s -o %t.elf
// RUN: not dougong sim %t.elf dma 2>&1 | FileCheck %s --check-prefix=DMA
// RUN: not dougong sim %t.elf late 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not dougong sim %t.elf tensor 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not dougong sim %t.elf await 2>&1 | FileCheck %s --check-prefix=AWAIT
// RUN: not dougong sim %t.elf forgotten 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
// RUN: not dougong sim %t.elf vector 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not dougong sim %t.elf deep 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not dougong sim %t.elf wild 2>&1 | FileCheck %s --check-prefix=WILD
// RUN: not dougong sim %t.elf jump 2>&1 | FileCheck %s --check-prefix=JUMP
//
// Every kind of fault says where in the source it is, in optimised code: the line, the functions that are inlined there, the line of the
// command or of each wait.
#include <dougong_npu.h>
#include <string.h>
static inline void copy(uint64_t from, uint64_t to, uint32_t bytes) {
  dg_dma_command c = {.src = from, .dst = to, .element_bytes = 1, .count = {1, 1, 1, 1, bytes}, .high = {1, 1, 1, 1, bytes}};
  c.src_stride[4] = c.dst_stride[4] = 1;
  __dg_dma(DG_LOAD0, &c); // L
}
static inline void fetch(uint64_t from) {
  copy(from, DG_LM_BASE, 64); // L
}
__attribute__((noinline)) static int deep(int n) {
  volatile char much[65536];
  much[n & 255] = n;
  return deep(n + 1) + much[n & 255]; // L
}
static inline int peek(const int *p) { return *(volatile const int *)p; } // L
static char room[256];
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "dma"))
    fetch(0x20); // L
  if (!strcmp(what, "late")) {
    __dg_qwait(DG_LOAD0, 9, 1);
    // Both ends are mapped, the middle is not: found when the copy runs, not when it is issued.
    dg_dma_command c = {.src = (uint64_t)room, .dst = DG_LM_BASE, .element_bytes = 1, .count = {1, 1, 1, 2, 8}, .high = {1, 1, 1, 2, 8}};
    c.src_stride[3] = 0x200000000, c.src_stride[4] = c.dst_stride[4] = 1, c.dst_stride[3] = 8;
    __dg_dma(DG_LOAD0, &c); // L
    __dg_flag_add(9, 1);
  }
  if (!strcmp(what, "tensor")) {
    dg_tensor_command t = {.a_type = 77};
    __dg_tensor(&t); // L
  }
  if (!strcmp(what, "await")) {
    __dg_qwait(DG_LOAD0, 8, 1); // L
    copy((uint64_t)room, DG_LM_BASE, 64);
    __dg_await(DG_LOAD0, 1); // L
  }
  if (!strcmp(what, "forgotten")) {
    __dg_qwait(DG_LOAD1, 8, 1); // L
    dg_dma_command c = {.src = (uint64_t)room, .dst = DG_LM_BASE, .element_bytes = 1, .count = {1, 1, 1, 1, 1}, .high = {1, 1, 1, 1, 1}};
    __dg_dma(DG_LOAD1, &c);
  }
  if (!strcmp(what, "vector"))
    *(dg_f32x32 *)DG_LM_BASE = *(volatile dg_f32x32 *)room; // L
  if (!strcmp(what, "deep"))
    return deep(argc);
  if (!strcmp(what, "wild"))
    return peek((const int *)0x123456789abcdef0); // L
  if (!strcmp(what, "jump"))
    ((void (*)(void))(uintptr_t)(argc * 0x1000))(); // L
  return 0;
}
// DMA: device fault: core 0 at {{.*}} (main+{{[0-9]+}}), {{.*}}places.c:19 in copy, inlined at {{.*}}places.c:22 in fetch,
// DMA-SAME: inlined at {{.*}}places.c:34: dg.dma: src reaches [0x20, 0x60)
// LATE: device fault: core 0 at {{.*}} (main+{{[0-9]+}}), {{.*}}places.c:40: dg.dma: src {{.*}}
// TENSOR: device fault: core 0 at {{.*}} (main+{{[0-9]+}}), {{.*}}places.c:45: dg.tensor: a_type 77
// AWAIT: deadlock: core 0 at {{.*}} (main+{{[0-9]+}}), {{.*}}places.c:50: core 0 waits for flag 2 >= 1
// AWAIT: holds 1 command behind `dg.qwait` at {{.*}} (main+{{[0-9]+}}), {{.*}}places.c:48: flag 8 >= 1, and it is 0
// FORGOTTEN: deadlock: core 0 at {{.*}}: the core is done, but commands are left that nothing will start
// FORGOTTEN: behind `dg.qwait` at {{.*}}places.c:53: flag 8 >= 1
// VECTOR: device fault: core 0 at {{.*}}places.c:58: vector access of 128 bytes at 0x8{{.*}}: vector loads and stores work on local memory
// DEEP: device fault: core 0 at {{.*}} (deep+{{[0-9]+}}), {{.*}}places.c:{{2[4-7]}}: write of {{[0-9]+}} byte{{s?}} at
// DEEP-SAME: ; sp is 0xb{{.*}}: the stack has overflown, which is 8192 KiB
// WILD: device fault: core 0 at {{.*}}places.c:29 in peek, inlined at {{.*}}places.c:62: read of 4 bytes at 0x123456789abcdef0
// JUMP: device fault: core 0 at {{.*}}places.c:64: jumps to 0x2000, which is not code
