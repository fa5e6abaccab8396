# Stock lld links our objects: far data and calls come out right.
# RUN: dougong-mc -filetype=obj %s -o %t.o
# RUN: ld.lld -Ttext=0x80000000 -Tdata=0x90000010 -e main %t.o -o %t
# RUN: dougong-objdump -d %t | FileCheck %s
# RUN: llvm-objdump -d --no-print-imm-hex --mattr=+m %t | FileCheck %s

  .globl main, f
f:
  ret
# CHECK: <main>:
main:
  call f                # CHECK: auipc ra, 0
                        # CHECK-NEXT: jalr -4(ra)
  la a0, x              # CHECK: auipc a0, 65536
                        # CHECK-NEXT: addi a0, a0, 4
  ret                   # CHECK-NEXT: ret
  .data
x:
  .dword 1
