# Targets out of reach: the distance, and the way out.
# RUN: not dougong-mc -filetype=obj %s -o %t.o 2>&1 | FileCheck %s

start:
  beq a0, a1, far       # CHECK: :[[#@LINE]]:15: error: the target is 8004 bytes away; a branch reaches -4096 to 4094: branch over a jump
  .zero 8000
far:
  j further             # CHECK: :[[#@LINE]]:5: error: the target is 2000004 bytes away; a jump reaches -1048576 to 1048574: use `call` or `tail`
  .zero 2000000
further:
  .half start           # CHECK: :[[#@LINE]]:9: error: an address wants 4 or 8 bytes
  .half x - .           # CHECK: :[[#@LINE]]:11: error: a pc-relative value wants 4 bytes here
  .dword x - .          # CHECK: :[[#@LINE]]:12: error: a pc-relative value wants 4 bytes here
  .section .text.odd, "ax"
  j odd                 # CHECK: :[[#@LINE]]:5: error: the target is at an odd distance
  .byte 0
odd:
