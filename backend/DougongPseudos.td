// Instructions that exist in the compiler only; what becomes of each stands beside it.
class CodeGenPseudo<dag outs, dag ins, list<dag> pattern = []> : Pseudo<outs, ins, "", "", pattern> {
  let isCodeGenOnly = 1;
}

def SDTDougongCallSeqStart : SDCallSeqStart<[SDTCisVT<0, i64>, SDTCisVT<1, i64>]>;
def SDTDougongCallSeqEnd : SDCallSeqEnd<[SDTCisVT<0, i64>, SDTCisVT<1, i64>]>;
def callseq_start : SDNode<"ISD::CALLSEQ_START", SDTDougongCallSeqStart, [SDNPHasChain, SDNPOutGlue]>;
def callseq_end : SDNode<"ISD::CALLSEQ_END", SDTDougongCallSeqEnd, [SDNPHasChain, SDNPOptInGlue, SDNPOutGlue]>;
def dg_call : SDNode<"DGISD::CALL", SDTypeProfile<0, -1, [SDTCisVT<0, i64>]>, [SDNPHasChain, SDNPOptInGlue, SDNPOutGlue, SDNPVariadic]>;
def dg_tail : SDNode<"DGISD::TAIL", SDTypeProfile<0, -1, [SDTCisVT<0, i64>]>, [SDNPHasChain, SDNPOptInGlue, SDNPVariadic]>;
def dg_ret : SDNode<"DGISD::RET", SDTNone, [SDNPHasChain, SDNPOptInGlue, SDNPVariadic]>;
def dg_address : SDNode<"DGISD::ADDRESS", SDTypeProfile<1, 1, [SDTCisVT<0, i64>, SDTCisSameAs<0, 1>]>>;
def dg_got : SDNode<"DGISD::GOT", SDTypeProfile<1, 1, [SDTCisVT<0, i64>, SDTCisSameAs<0, 1>]>>;
def dg_tprel : SDNode<"DGISD::TPREL", SDTypeProfile<1, 1, [SDTCisVT<0, i64>, SDTCisSameAs<0, 1>]>>;
def dg_select_cc : SDNode<"DGISD::SELECT_CC", SDTypeProfile<1, 5, [SDTCisVT<1, i64>, SDTCisVT<2, i64>, SDTCisVT<3, i64>, SDTCisSameAs<0, 4>, SDTCisSameAs<0, 5>]>>;
def dg_fp_bits : SDNode<"DGISD::FP_BITS", SDTypeProfile<1, 1, [SDTCisVT<0, i64>, SDTCisFP<1>]>>;
def dg_bits_fp : SDNode<"DGISD::BITS_FP", SDTypeProfile<1, 1, [SDTCisFP<0>, SDTCisVT<1, i64>]>>;
def dg_to_int : SDNode<"DGISD::TO_INT", SDTypeProfile<1, 2, [SDTCisVT<0, i64>, SDTCisFP<1>, SDTCisVT<2, i64>]>>;
def dg_fclass : SDNode<"DGISD::FCLASS", SDTypeProfile<1, 1, [SDTCisVT<0, i64>, SDTCisFP<1>]>>;

// The stack pointer's moves around calls: eliminated with frame indices.
let Defs = [X2], Uses = [X2], Size = 0 in {
def ADJCALLSTACKDOWN : CodeGenPseudo<(outs), (ins i64imm:$amount, i64imm:$other), [(callseq_start timm:$amount, timm:$other)]>;
def ADJCALLSTACKUP : CodeGenPseudo<(outs), (ins i64imm:$amount, i64imm:$other), [(callseq_end timm:$amount, timm:$other)]>;
}

// Control: `jal zero, block`; `jalr zero, rs, imm`; `ret`; `jalr ra, rs, 0`. Emitted by the AsmPrinter.
let isBranch = 1, isTerminator = 1, isBarrier = 1 in {
def PseudoBR : CodeGenPseudo<(outs), (ins branch_target:$target), [(br bb:$target)]> { let SchedRW = [Branch]; }
let isIndirectBranch = 1 in
def PseudoBRIND : CodeGenPseudo<(outs), (ins GPR:$rs1, simm12:$imm)> { let SchedRW = [Branch]; }
}
def : Pat<(brind i64:$rs1), (PseudoBRIND $rs1, 0)>;
let isReturn = 1, isTerminator = 1, isBarrier = 1 in
def PseudoRET : CodeGenPseudo<(outs), (ins), [(dg_ret)]> { let SchedRW = [Branch]; }
let isCall = 1, Defs = [X1] in
def PseudoCALLReg : CodeGenPseudo<(outs), (ins GPR:$rs1), [(dg_call i64:$rs1)]> { let SchedRW = [Branch]; }
def : Pat<(dg_call tglobaladdr:$target), (PseudoCALL $target)>;
def : Pat<(dg_call texternalsym:$target), (PseudoCALL $target)>;
def : Pat<(dg_tail tglobaladdr:$target), (PseudoTAIL $target)>;
def : Pat<(dg_tail texternalsym:$target), (PseudoTAIL $target)>;

// rd = left <branch> right ? t : f, made a branch by the custom inserter, before register allocation.
let usesCustomInserter = 1 in
def PseudoSelect : CodeGenPseudo<(outs GPR:$rd), (ins GPR:$rs1, GPR:$rs2, i64imm:$branch, GPR:$t, GPR:$f)>;
foreach type = [i64, f64, f32, f16, bf16] in
  def : Pat<(type (dg_select_cc i64:$rs1, i64:$rs2, timm:$branch, type:$t, type:$f)), (PseudoSelect $rs1, $rs2, timm:$branch, $t, $f)>;

// Addresses. `auipc, ld` through the GOT; `lui, add tp, addi`. Both emitted by the AsmPrinter, like PseudoLLA.
let Size = 8, mayLoad = 1 in
def PseudoLGA : CodeGenPseudo<(outs GPR:$rd), (ins bare_symbol:$symbol), [(set i64:$rd, (dg_got tglobaladdr:$symbol))]> { let SchedRW = [Load]; }
// `auipc, ld`: a constant out of the pool. Not rematerialised: a spilled one comes back in one instruction.
let Size = 8, mayLoad = 1 in
def PseudoLoadConstant : CodeGenPseudo<(outs GPR:$rd), (ins bare_symbol:$symbol)> { let SchedRW = [Load]; }
foreach type = [i64, f64] in
  def : Pat<(type (load (dg_address tconstpool:$symbol))), (PseudoLoadConstant tconstpool:$symbol)>;
let Size = 12, isReMaterializable = 1 in
def PseudoTPREL : CodeGenPseudo<(outs GPR:$rd), (ins bare_symbol:$symbol), [(set i64:$rd, (dg_tprel tglobaltlsaddr:$symbol))]>;
foreach symbol = [tglobaladdr, tconstpool, tjumptable, tblockaddress, texternalsym] in
  def : Pat<(dg_address symbol:$symbol), (PseudoLLA symbol:$symbol)>;

// Compare and swap, expanded after register allocation (a spill between lr and sc could lose the reservation for ever).
//   again: lr rd, (address); bne rd, expected, done; sc scratch, desired, (address); bnez scratch, again; done:
let Constraints = "@earlyclobber $rd,@earlyclobber $scratch", mayLoad = 1, mayStore = 1, hasSideEffects = 0, Size = 16 in {
def PseudoCmpXchg32 : CodeGenPseudo<(outs GPR:$rd, GPR:$scratch), (ins GPR:$address, GPR:$expected, GPR:$desired)> { let SchedRW = [Atomic, Atomic]; }
def PseudoCmpXchg64 : CodeGenPseudo<(outs GPR:$rd, GPR:$scratch), (ins GPR:$address, GPR:$expected, GPR:$desired)> { let SchedRW = [Atomic, Atomic]; }
}
