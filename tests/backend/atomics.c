// What the program prints on the device model, at O0 and O2, is what it prints on the host.
// RUN: clang -w -O0 -funsigned-char -ffp-contract=off %s -o %t.host -lm && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O0 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
#include <stdatomic.h>
#include <stdio.h>

_Atomic int word;
_Atomic long wide;
_Atomic unsigned char byte;
_Atomic short half;
_Atomic float number;
int main(void) {
  atomic_fetch_add(&word, 5), atomic_fetch_sub(&word, 2), atomic_fetch_or(&word, 0x70), atomic_fetch_xor(&wide, 0x1234567890ab);
  int expected = 0x73;
  printf("%d ", atomic_compare_exchange_strong(&word, &expected, 9));
  printf("%d ", atomic_compare_exchange_weak_explicit(&word, &expected, 10, memory_order_relaxed, memory_order_relaxed));
  printf("%d %d %lx\n", expected, word, wide);
  printf("%d ", atomic_fetch_add(&byte, 250)), printf("%d ", atomic_fetch_add(&byte, 10)), printf("%d\n", byte);
  printf("%d ", atomic_exchange(&half, -7)), printf("%d\n", half);
  unsigned char old = 4;
  printf("%d %d\n", atomic_compare_exchange_strong(&byte, &old, 200), byte);
  number = 1.5f;
  float f = 1.5f;
  printf("%d %g\n", atomic_compare_exchange_strong(&number, &f, 2.25f), number);
  printf("%d ", __atomic_fetch_nand((int *)&word, 3, __ATOMIC_SEQ_CST));
  printf("%d %ld\n", __atomic_and_fetch((int *)&word, 0xff, __ATOMIC_ACQUIRE), __atomic_fetch_max((long *)&wide, -1, __ATOMIC_RELEASE));
  atomic_thread_fence(memory_order_seq_cst);
}
