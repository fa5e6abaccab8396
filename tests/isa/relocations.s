# What the linker is asked, in RISC-V's own relocations; and what needs no linker.
# RUN: dougong-mc -filetype=obj %s -o %t.o
# RUN: dougong-objdump -d -r %t.o | FileCheck %s
# RUN: llvm-readelf -h %t.o | FileCheck --check-prefix=HEADER %s
# RUN: llvm-readelf -r %t.o | FileCheck --check-prefix=DATA %s
# HEADER: Machine: {{.*}}RISC-V
# HEADER: Flags: {{.*}}0x0

# CHECK: <start>:
start:
  call f                # CHECK: auipc ra, 0
                        # CHECK-NEXT: R_RISCV_CALL_PLT f
                        # CHECK-NEXT: jalr ra
  tail f                # CHECK-NEXT: auipc t1, 0
                        # CHECK-NEXT: R_RISCV_CALL_PLT f
                        # CHECK-NEXT: jr t1
  la a0, start          # CHECK-NEXT: auipc a0, 0
                        # CHECK-NEXT: R_RISCV_PCREL_HI20 start
                        # CHECK-NEXT: mv a0, a0
                        # CHECK-NEXT: R_RISCV_PCREL_LO12_I .Lpcrel_hi0
  lui a0, %hi(x+8)      # CHECK-NEXT: lui
                        # CHECK-NEXT: R_RISCV_HI20 x+8
  lw a1, %lo(x+8)(a0)   # CHECK-NEXT: lw
                        # CHECK-NEXT: R_RISCV_LO12_I x+8
  sw a1, %lo(x+8)(a0)   # CHECK-NEXT: sw
                        # CHECK-NEXT: R_RISCV_LO12_S x+8
  lui a0, %tprel_hi(t)  # CHECK-NEXT: lui
                        # CHECK-NEXT: R_RISCV_TPREL_HI20 t
  j start               # CHECK-NEXT: j 0x0 <start>
  bnez a0, end          # CHECK-NEXT: bnez a0, {{.*}} <end>
  beq a0, a1, elsewhere # CHECK-NEXT: beq
                        # CHECK-NEXT: R_RISCV_BRANCH elsewhere
end:                    # CHECK: <end>:
  lui a0, %hi(0x12345800) # CHECK-NEXT: lui a0, 74566
  addi a0, a0, %lo(0x12345800) # CHECK-NEXT: addi a0, a0, -2048
  .reloc ., R_RISCV_RELAX, x   # CHECK-NEXT: nop
                        # CHECK-NEXT: R_RISCV_RELAX x
  nop
  .data
  .dword start+4        # DATA: R_RISCV_64 {{.*}} start + 4
  .word f               # DATA: R_RISCV_32 {{.*}} f + 0
  .word f - .           # DATA: R_RISCV_32_PCREL {{.*}} f + 0
  .word end - start
  .dword .Lhere + 4     # DATA: R_RISCV_64 {{.*}} .data + 20
.Lhere:
