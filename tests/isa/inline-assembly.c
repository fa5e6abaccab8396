// Inline assembly goes through the same parser; text and object of a compiled file are the same code.
// RUN: dougong-cc -O2 -g -S %s -o %t.s
// RUN: FileCheck %s < %t.s
// RUN: dougong-mc -filetype=obj %t.s -o %t.text.o
// RUN: dougong-cc -O2 -g -c %s -o %t.o
// RUN: llvm-objcopy -O binary -j .text %t.text.o %t.text.bin
// RUN: llvm-objcopy -O binary -j .text %t.o %t.bin
// RUN: cmp %t.bin %t.text.bin
// RUN: llvm-dwarfdump --verify %t.text.o
// RUN: sed 's/mhartid/nonsense/' %s > %t.bad.c
// RUN: not dougong-cc -O2 -c %t.bad.c -o %t.bad.o 2>&1 | FileCheck --check-prefix=BAD %s
// BAD: expected the name of a control and status register

unsigned long core(void) {
  unsigned long number;
  __asm__ volatile("csrr %0, mhartid" : "=r"(number)); // CHECK: csrr {{[ast][0-9]+}}, mhartid
  return number;
}
unsigned long sum(unsigned long *numbers, int count) {
  unsigned long total = 0;
  for (int i = 0; i < count; ++i)
    total += numbers[i] * core();
  return total;
}
