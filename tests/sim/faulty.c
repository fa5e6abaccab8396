// RUN: %python %S/inputs/build.py %s %t
// RUN: not dougong sim %t.elf 2>&1 | FileCheck %s --check-prefix=NULL
// RUN: sh -c 'dougong sim %t.elf; test $? = 200'
// RUN: not dougong sim %t.elf x 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: sh -c 'dougong sim %t.elf x y; test $? = 7'
// RUN: not dougong sim --max-instructions 500 %t.elf x y 2>&1 | FileCheck %s --check-prefix=LIMIT
//
// A fault names the access and the source line; the program's own status comes through.
#include <stdlib.h>
static int *volatile nothing;
// NULL: core 0 at 0x8{{[0-9a-f]+}} ({{reads|main}}+{{[0-9]+}}), {{.*}}faulty.c:[[#@LINE+1]]{{.*}}: read of 4 bytes at 0x0: a null
__attribute__((noinline)) static int reads(int *p) { return *p; }
int main(int argc, char **argv) {
  if (argc == 2)
    // ASSERT: device fault: core 0 {{.*}}faulty.c:[[#@LINE+1]]: {{.*}}
    __builtin_trap();
  if (argc == 3)
    exit(7);
  return reads(nothing) + 1;
}
// LIMIT: limit: core 0 {{.*}} 500 instructions
