# What the GNU assembler calls pseudo instructions: one word each, or the sequences at the end.
# RUN: dougong-mc -no-aliases %s | FileCheck %s

  nop                   # CHECK: addi zero, zero, 0
  mv a0, a1             # CHECK-NEXT: addi a0, a1, 0
  not a0, a1            # CHECK-NEXT: xori a0, a1, -1
  neg a0, a1            # CHECK-NEXT: sub a0, zero, a1
  negw a0, a1           # CHECK-NEXT: subw a0, zero, a1
  sext.w a0, a1         # CHECK-NEXT: addiw a0, a1, 0
  zext.w a0, a1         # CHECK-NEXT: add.uw a0, a1, zero
  zext.b a0, a1         # CHECK-NEXT: andi a0, a1, 255
  seqz a0, a1           # CHECK-NEXT: sltiu a0, a1, 1
  snez a0, a1           # CHECK-NEXT: sltu a0, zero, a1
  sltz a0, a1           # CHECK-NEXT: slt a0, a1, zero
  sgtz a0, a1           # CHECK-NEXT: slt a0, zero, a1
  sgt a0, a1, a2        # CHECK-NEXT: slt a0, a2, a1
  sgtu a0, a1, a2       # CHECK-NEXT: sltu a0, a2, a1
  fmv.s a0, a1          # CHECK-NEXT: fsgnj.s a0, a1, a1
  fneg.d a0, a1         # CHECK-NEXT: fsgnjn.d a0, a1, a1
  fabs.s a0, a1         # CHECK-NEXT: fsgnjx.s a0, a1, a1
  fgt.s a0, a1, a2      # CHECK-NEXT: flt.s a0, a2, a1
  beqz a0, 16           # CHECK-NEXT: beq a0, zero, 16
  bgez a0, 16           # CHECK-NEXT: bge a0, zero, 16
  blez a0, 16           # CHECK-NEXT: bge zero, a0, 16
  bgtu a0, a1, 16       # CHECK-NEXT: bltu a1, a0, 16
  j 32                  # CHECK-NEXT: jal zero, 32
  jal 32                # CHECK-NEXT: jal ra, 32
  jr a0                 # CHECK-NEXT: jalr zero, 0(a0)
  jalr a0               # CHECK-NEXT: jalr ra, 0(a0)
  jalr t0, a0, 4        # CHECK-NEXT: jalr t0, 4(a0)
  ret                   # CHECK-NEXT: jalr zero, 0(ra)
  fence                 # CHECK-NEXT: fence iorw, iorw
  csrr a0, mhartid      # CHECK-NEXT: csrrs a0, mhartid, zero
  csrw frm, a0          # CHECK-NEXT: csrrw zero, frm, a0
  csrwi frm, 1          # CHECK-NEXT: csrrwi zero, frm, 1
  csrr a0, dgcores      # CHECK-NEXT: csrrs a0, dgcores, zero
  rdcycle a0            # CHECK-NEXT: csrrs a0, cycle, zero
  lw a0, (a1)           # CHECK-NEXT: lw a0, 0(a1)
  sd a0, (fp)           # CHECK-NEXT: sd a0, 0(s0)
  add a0, a0, 5         # CHECK-NEXT: addi a0, a0, 5
  li a0, -1             # CHECK-NEXT: addi a0, zero, -1
  li a0, 0x12345678     # CHECK-NEXT: lui a0, 74565
                        # CHECK-NEXT: addiw a0, a0, 1656
  li a0, 0x80000000     # CHECK-NEXT: addi a0, zero, 1
                        # CHECK-NEXT: slli a0, a0, 31
  lla a0, symbol        # CHECK-NEXT: [[HIGH:.*]]:
                        # CHECK-NEXT: auipc a0, %pcrel_hi(symbol)
                        # CHECK-NEXT: addi a0, a0, %pcrel_lo([[HIGH]])
  fadd.s a0, a1, a2, rtz # CHECK-NEXT: fadd.s a0, a1, a2, rtz
  add x10, x11, x12     # CHECK-NEXT: add a0, a1, a2
  .option norelax
