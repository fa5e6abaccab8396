// The engines' commands and flags (commands.h), and scalar conversions of 16-bit floats.
// | 31 funct7 25 | 24 B 20 | 19 A 15 | 14 funct3 12 | 11 D 7 | 6 1111011 0 |
class EngineInst<bits<7> funct7, bits<3> funct3, dag outs, dag ins, string mnemonic, string operands, string doc, string semantics>
    : FormatV<OpEngine, funct7, funct3, outs, ins, mnemonic, operands, Command, doc, semantics> { let hasSideEffects = 1; }

// Issue a command: its descriptor is read at once, and the ticket returned.
let mayLoad = 1, mayStore = 1 in {
class IssueInst<bits<7> funct7, string mnemonic, string doc, string semantics>
    : EngineInst<funct7, 0, (outs GPR:$rd), (ins GPR:$rs1), mnemonic, "$rd, (${rs1})", doc, semantics> {
  bits<5> rd;
  bits<5> rs1;
  let D = rd;
  let A = rs1;
}
def DG_TENSOR : IssueInst<0, "tensor", "Issues the dg_tensor_command at rs1 on queue 0; rd is its ticket.", "rd = core.issue_tensor(rs1);">;
def DG_DRAIN : IssueInst<1, "drain", "Issues the dg_drain_command at rs1 on queue 1; rd is its ticket.", "rd = core.issue_drain(rs1);">;
def DG_DMA : EngineInst<2, 0, (outs GPR:$rd), (ins queue:$queue, GPR:$rs1), "dma", "$rd, $queue, (${rs1})",
                        "Issues the dg_dma_command at rs1 on a load or store queue (2 to 5); rd is its ticket.", "rd = core.issue_dma(queue, rs1);"> {
  bits<5> rd;
  bits<3> queue;
  bits<5> rs1;
  let D = rd;
  let A = rs1;
  let B{2-0} = queue;
}
// Waits order memory: what comes before stays before.
// | 31 00 30 | 29 queue 27 | 26 00 25 | 24 flag 20 | 19 rs1 15 | 14 001 12 | 11 0 7 | 6 opcode 0 |
def DG_QWAIT : EngineInst<0, 1, (outs), (ins queue:$queue, uimm5:$flag, GPR:$rs1), "qwait", "$queue, $flag, $rs1",
                          "The queue starts nothing issued after this until the flag is at least rs1.", "core.queue_wait(queue, flag, rs1);"> {
  bits<3> queue;
  bits<5> flag;
  bits<5> rs1;
  let A = rs1;
  let B = flag;
  let Inst{29-27} = queue;
}
def DG_AWAIT : EngineInst<0, 2, (outs), (ins uimm5:$flag, GPR:$rs1), "await", "$flag, $rs1", "The core waits until the flag is at least rs1.", "core.await(flag, rs1);"> {
  bits<5> flag;
  bits<5> rs1;
  let A = rs1;
  let B = flag;
}
def DG_FLAG : EngineInst<0, 3, (outs GPR:$rd), (ins uimm5:$flag), "flag", "$rd, $flag", "Reads a flag.", "rd = core.flag(flag);"> {
  bits<5> rd;
  bits<5> flag;
  let D = rd;
  let B = flag;
}
def DG_FLAG_ADD : EngineInst<0, 4, (outs), (ins uimm5:$flag, GPR:$rs1), "flag.add", "$flag, $rs1", "Raises a flag of 8 to 31 by rs1, which is not 0.", "core.flag_add(flag, rs1);"> {
  bits<5> flag;
  bits<5> rs1;
  let A = rs1;
  let B = flag;
}
}

// Scalar 16-bit floats live in the low 16 bits of integer registers; results are sign-extended.
class Convert16<bits<7> funct7, string mnemonic, string doc, string semantics>
    : FormatV<OpEngine, funct7, 5, (outs GPR:$rd), (ins GPR:$rs1), mnemonic, "$rd, $rs1", Float, doc, semantics> {
  bits<5> rd;
  bits<5> rs1;
  let D = rd;
  let A = rs1;
}
def FCVT_S_H : Convert16<0, "fcvt.s.h", "From f16 to f32, exact.", "rd = bits(fp::from_f16((uint16_t)rs1));">;
def FCVT_H_S : Convert16<1, "fcvt.h.s", "From f32 to f16, to nearest even.", "rd = (int64_t)(int16_t)fp::to_f16(f32(rs1));">;
def FCVT_D_H : Convert16<2, "fcvt.d.h", "From f16 to f64, exact.", "rd = bits((double)fp::from_f16((uint16_t)rs1));">;
def FCVT_H_D : Convert16<3, "fcvt.h.d", "From f64 to f16, to nearest even, rounded once.", "rd = (int64_t)(int16_t)fp::to_f16(f64(rs1));">;
def FCVT_S_BF16 : Convert16<4, "fcvt.s.bf16", "From bf16 to f32, exact.", "rd = bits(fp::from_bf16((uint16_t)rs1));">;
def FCVT_BF16_S : Convert16<5, "fcvt.bf16.s", "From f32 to bf16, to nearest even.", "rd = (int64_t)(int16_t)fp::to_bf16(f32(rs1));">;
def FCVT_D_BF16 : Convert16<6, "fcvt.d.bf16", "From bf16 to f64, exact.", "rd = bits((double)fp::from_bf16((uint16_t)rs1));">;
def FCVT_BF16_D : Convert16<7, "fcvt.bf16.d", "From f64 to bf16, to nearest even, rounded once.", "rd = (int64_t)(int16_t)fp::to_bf16(f64(rs1));">;
