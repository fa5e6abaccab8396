# Every mistake is told with its place and what is allowed; the assembler goes on to the next.
# RUN: not dougong-mc %s 2>&1 >/dev/null | FileCheck %s

  addi a0, a1, 5000     # CHECK: :[[#@LINE]]:16: error: expected an integer from -2048 to 2047, or %lo or %pcrel_lo of a symbol
  addi a0, a1, symbol   # CHECK: :[[#@LINE]]:16: error: expected an integer from -2048 to 2047, or %lo or %pcrel_lo of a symbol
  addd a0, a1           # CHECK: :[[#@LINE]]:3: error: unknown instruction `addd`, did you mean: add
  add a0, a1            # CHECK: :[[#@LINE]]:3: error: too few operands for `add`
  slli a0, a0, 64       # CHECK: :[[#@LINE]]:16: error: expected an integer from 0 to 63
  lui a0, 0x100000      # CHECK: :[[#@LINE]]:11: error: expected an integer from 0 to 1048575, or %hi or %pcrel_hi of a symbol
  lw a0, %foo(a)(a1)    # CHECK: :[[#@LINE]]:10: error: expected %hi, %lo, %pcrel_hi, %pcrel_lo, %got_pcrel_hi, %tprel_hi or %tprel_lo
  lw a0, 0(v1           # CHECK: :[[#@LINE]]:{{[0-9]+}}: error: expected ')' after the register
  beq a0, a1, 3         # CHECK: :[[#@LINE]]:15: error: expected a label or an even distance from -4096 to 4094
  jal 0x200000          # CHECK: :[[#@LINE]]:7: error: expected a label or an even distance from -1048576 to 1048574
  csrr a0, nope         # CHECK: :[[#@LINE]]:12: error: expected the name of a control and status register, or its number from 0 to 4095
  fence wr, r           # CHECK: :[[#@LINE]]:9: error: expected a set of `i`, `o`, `r`, `w` in this order
  fadd.s a0, a1, a2, up # CHECK: :[[#@LINE]]:22: error: expected a rounding mode: rne, rtz, rdn, rup, rmm or dyn
  dg.vld.32 v0, 8(a0)   # CHECK: :[[#@LINE]]:17: error: expected a multiple of 16 from -8192 to 8176
  dg.vldb.f16 v0, 1(a0) # CHECK: :[[#@LINE]]:19: error: expected an even integer from -1024 to 1022
  dg.vldb.32 v0, 2(a0)  # CHECK: :[[#@LINE]]:18: error: expected a multiple of 4 from -2048 to 2044
  dg.vldb.i8 v0, 512(a0) # CHECK: :[[#@LINE]]:18: error: expected an integer from -512 to 511
  dg.dma a0, 6, (a1)    # CHECK: :[[#@LINE]]:14: error: expected a queue: an integer from 0 to 5
  dg.vwiden.f16 v0, v1, 2 # CHECK: :[[#@LINE]]:25: error: expected 0 or 1
  dg.vwiden.i8 v0, v1, 4  # CHECK: :[[#@LINE]]:24: error: expected an integer from 0 to 3
  dg.vextract.16 a0, v1, 64 # CHECK: :[[#@LINE]]:26: error: expected an integer from 0 to 63
  dg.vinsert.8 v0, a1, 128  # CHECK: :[[#@LINE]]:24: error: expected an integer from 0 to 127
  dg.vtrnlo v0, v1, v2, 8   # CHECK: :[[#@LINE]]:25: error: expected an integer from 0 to 7
  dg.vsel.16 v0, v1, v2, v3 # CHECK: :[[#@LINE]]:18: error: no form of `dg.vsel.16` takes this operand here
  dg.tensor a0, a1      # CHECK: :[[#@LINE]]:17: error: no form of `dg.tensor` takes this operand here
  dg.vadd.f32 v0, v1, m2 # CHECK: :[[#@LINE]]:23: error: no form of `dg.vadd.f32` takes this operand here
  call 5                # CHECK: :[[#@LINE]]:8: error: expected the name of a function
  la a0, 5              # CHECK: :[[#@LINE]]:10: error: expected the name of a symbol
  li a0, symbol         # CHECK: :[[#@LINE]]:10: error: expected an integer of 64 bits
  add a0, a1, a2 a3     # CHECK: :[[#@LINE]]:18: error: expected a comma or the end of the line
  .option sideways      # CHECK: :[[#@LINE]]:11: error: expected push, pop, relax, norelax, rvc, norvc, pic, nopic or arch
  lui a0, %hi x         # CHECK: :[[#@LINE]]:15: error: expected '(' after the specifier
  lw a0, 0(foo)         # CHECK: :[[#@LINE]]:12: error: expected a register: x0 to x31, v0 to v31, m0 to m7, or an ABI name
