// The hardware loop: one branch that ends a counted loop and costs nothing.
//
// The count is an ordinary register, so that a loop nests, may hold calls, is left and entered like any code, and is saved, shown and restored by what
// saves, shows and restores registers: the ABI, debuggers and objects of other compilers need not know of it. What makes the loop one of
// *hardware* is who executes its end: the fetch unit. It reads the count as soon as that is known, so that nothing is predicted, and goes on at the target in the
// same cycle, so that the loop takes the time of its body laid out flat. Where a set-up instruction with start, end and count in state of their own would
// save nothing but the register, it would cost a limit on nesting, a rule for calls, and in the model a comparison at each instruction.
//
// The bits are those of a RISC-V branch, so that stock linkers can resolve a distant label:
// | 31 imm[12] | 30 imm[10:5] 25 | 24 00000 20 | 19 rs1 15 | 14 110 12 | 11 imm[4:1] 8 | 7 imm[11] | 6 1111011 0 |
let Constraints = "$rs1 = $rs1_in", isBranch = 1, isTerminator = 1 in
def DG_LOOP : DougongInst<(outs GPR:$rs1), (ins GPR:$rs1_in, branch_target:$imm), "dg.loop", "$rs1, $imm", LoopEnd,
                          "Subtracts 1 from rs1, and branches unless that gave 0. Takes no issue slot and is never mispredicted: what follows, here or at the target, may issue in the "
                          "same cycle. It waits for rs1 like any instruction, and the new rs1 is there a cycle later, so a loop takes at least one cycle each time round. "
                          "A loop that is entered with 0 runs 2^64 times; of x0, which reads 0, it always branches.",
                          "rs1 = rs1 - 1; if (rs1 != 0) jump(pc + imm);"> {
  bits<5> rs1;
  bits<13> imm;
  let Opcode = OpEngine.Value;
  let Inst{31} = imm{12};
  let Inst{30-25} = imm{10-5};
  let Inst{19-15} = rs1;
  let Inst{14-12} = 0b110;
  let Inst{11-8} = imm{4-1};
  let Inst{7} = imm{11};
}
