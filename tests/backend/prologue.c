// RUN: dougong-cc -g -O2 -S %s -o - | FileCheck %s
//
// A breakpoint at a function stands behind its saves.
int probe(int n);
// CHECK-LABEL: walk:
// CHECK: sd ra
// CHECK: sd s1
// CHECK-NOT: sd
// CHECK: .loc {{.*}} prologue_end
int walk(int n) {
  int first = probe(n);
  return first + probe(n + 1);
}
