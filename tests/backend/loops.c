// Counted loops end in `dg.loop`; what the loops compute is what they compute on the host.
// RUN: clang -w -O1 -ffp-contract=off %s -o %t.host && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim --timing %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -enable-pipeliner=0 && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O2 -S %s -o - -mllvm -enable-pipeliner=0 | FileCheck %s
#include <stdio.h>
#define SEEN __attribute__((noinline))

// The count of an i32 loop; the pointer moves by itself.
// CHECK-LABEL: sum:
// CHECK: [[LOOP:.LBB[0-9_]+]]:
// CHECK-NEXT: lw
// CHECK-NEXT: addi
// CHECK-NEXT: addw
// CHECK-NEXT: dg.loop {{[a-z0-9]+}}, [[LOOP]]
SEEN int sum(const int *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}
// A way out in the middle.
// CHECK-LABEL: find:
// CHECK: beq
// CHECK: dg.loop
SEEN int find(const int *a, unsigned n, int x) {
  for (unsigned i = 0; i < n; i++)
    if (a[i] == x)
      return i;
  return -1;
}
// The index is wanted too, and what it is afterwards.
// CHECK-LABEL: iota:
// CHECK: dg.loop
SEEN long iota(int *a, long n) {
  long i = 0;
  for (; i < n; i++)
    a[i] = i * i;
  return i;
}
// A constant count; `do`, counted down.
// CHECK-LABEL: powers:
// CHECK: li {{[a-z0-9]+}}, 100
// CHECK: dg.loop
// CHECK: dg.loop
SEEN unsigned powers(unsigned x, unsigned long n) {
  unsigned s = x;
  for (int i = 0; i < 100; i++)
    s = s * 1664525 + 1013904223 + (s >> 7);
  do
    s ^= s << 13, s ^= s >> 17;
  while (--n);
  return s;
}
// What the inner loop counts is set anew; no loop around a call becomes one.
// CHECK-LABEL: table:
// CHECK: dg.loop
// CHECK-LABEL: calls:
// CHECK-NOT: dg.loop
// CHECK: .Lfunc_end
SEEN long table(long rows, long columns) {
  long s = 0;
  for (long r = 0; r < rows; r++)
    for (long c = 0; c < columns; c++)
      s = s * 3 + (r ^ c);
  return s;
}
SEEN long calls(long n) {
  long s = 0;
  for (long i = 0; i < n; i++)
    s += table(i, 2);
  return s;
}
// Not before the loop is it known how often it runs.
// CHECK-LABEL: chain:
// CHECK-NOT: dg.loop
// CHECK: .Lfunc_end
SEEN long chain(long *const *p) {
  long n = 0;
  for (; p; p = (long *const *)*p)
    n++;
  return n;
}
int main(void) {
  static int a[300];
  printf("%ld %ld %ld\n", iota(a, 300), iota(a, 0), iota(a, 1));
  for (int n = -1; n < 9; n++)
    printf("%d ", sum(a, n));
  printf("%d %d %d %d\n", sum(a, 300), find(a, 300, 81), find(a, 300, 5), find(a, 0, 0));
  printf("%u %u\n", powers(7, 1), powers(9, 1000));
  printf("%ld %ld %ld %ld\n", table(5, 7), table(0, 3), table(3, 0), calls(9));
  long *one = 0, *two = (long *)&one, *three = (long *)&two;
  printf("%ld\n", chain((long *const *)&three));
}
