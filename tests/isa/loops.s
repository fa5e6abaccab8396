# The end of a hardware loop: a count and a target, near or, by a relocation that stock linkers know, in another section.
# RUN: dougong-mc -filetype=obj %s -o %t.o && dougong-objdump -d %t.o | FileCheck %s
# RUN: llvm-readelf -r %t.o | FileCheck %s --check-prefix=RELOCATION
# RUN: ld.lld -e 0 %t.o -o %t.elf && dougong-objdump -d %t.elf | FileCheck %s --check-prefix=LINKED
# RUN: sh -c 'echo "dg.loop a0, 3; dg.loop a0, 4096; dg.loop v0, .; dg.loop a0" | tr ";" "\n" | not dougong-mc -filetype=obj - -o %t.bad 2>&1' | FileCheck %s --check-prefix=WRONG
again:
  addi t0, t0, 1
# CHECK: fe056efb {{.*}}dg.loop a0, 0x0 <again>
  dg.loop a0, again
# CHECK: 0002e47b {{.*}}dg.loop t0, 0x10
  dg.loop t0, . + 8
# RELOCATION: R_RISCV_BRANCH {{.*}} elsewhere
# LINKED: dg.loop a1, 0x{{[0-9a-f]+}} <elsewhere>
  dg.loop a1, elsewhere
  .section .text.other, "ax"
  .globl elsewhere
elsewhere:
  ret
# WRONG: 1:13: error: expected a label or an even distance from -4096 to 4094
# WRONG: 2:{{[0-9]+}}: error: expected a label or an even distance from -4096 to 4094
# WRONG: 3:{{[0-9]+}}: error:
# WRONG: 4:{{[0-9]+}}: error: too few operands
