// A program's thread-local variables, initialised, zero and of another file, by whichever model of them is asked for; errno is one.
// RUN: dougong-cc -O0 -DOTHER -c %s -o %t.other.o && dougong-cc -O0 %s %t.other.o -o %t.elf && dougong sim %t.elf | FileCheck %s
// RUN: dougong-cc -O2 %s %t.other.o -fPIC -ftls-model=global-dynamic -o %t.elf && dougong sim %t.elf | FileCheck %s
// RUN: clang @%S/inputs/stock.txt -O2 -DOTHER -ftls-model=local-exec -c %s -o %t.other.o && dougong-cc -O2 %s %t.other.o -o %t.elf
// RUN: dougong sim %t.elf | FileCheck %s
#ifdef OTHER
_Thread_local long other = 21;
_Thread_local char aligned[64] __attribute__((aligned(64)));
long *address(void) { return &other; }
#else
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
_Thread_local int set = 5, zero;
extern _Thread_local long other;
extern _Thread_local char aligned[64];
static _Thread_local char string[100];
long *address(void);
int main(void) {
  set += 2, zero -= 3, other *= 2, string[99] = 7;
  // CHECK: 7 -3 42 7 1 0
  printf("%d %d %ld %d %d %d\n", set, zero, other, string[98] + string[99], address() == &other, (int)((uintptr_t)aligned % 64));
  errno = 0;
  long large = strtol("99999999999999999999", 0, 10);
  // CHECK-NEXT: 1 1
  printf("%d %d\n", large == 0x7fffffffffffffff, errno == ERANGE);
  return 0;
}
#endif
