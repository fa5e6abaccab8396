// Selection of scalar code beyond the patterns that stand in the records.

// ---- Memory: base + 12-bit offset -----------------------------------------------------------------------------------
def AddrRegImm : ComplexPattern<iPTR, 2, "selectAddrRegImm", [], [], 10>;

class LoadPat<SDPatternOperator load, ValueType type, Instruction inst> : Pat<(type (load (AddrRegImm i64:$base, i64:$offset))), (inst $base, $offset)>;
class StorePat<SDPatternOperator store, ValueType type, Instruction inst>
    : Pat<(store type:$value, (AddrRegImm i64:$base, i64:$offset)), (inst $value, $base, $offset)>;
def : LoadPat<sextloadi8, i64, LB>;
def : LoadPat<sextloadi16, i64, LH>;
def : LoadPat<sextloadi32, i64, LW>;
def : LoadPat<zextloadi8, i64, LBU>;
def : LoadPat<zextloadi16, i64, LHU>;
def : LoadPat<zextloadi32, i64, LWU>;
def : LoadPat<extloadi8, i64, LBU>;
def : LoadPat<extloadi16, i64, LHU>;
def : LoadPat<extloadi32, i64, LW>;
def : LoadPat<load, i64, LD>;
def : LoadPat<load, f64, LD>;
def : LoadPat<load, f32, LW>;
def : LoadPat<load, f16, LHU>;
def : LoadPat<load, bf16, LHU>;
def : StorePat<truncstorei8, i64, SB>;
def : StorePat<truncstorei16, i64, SH>;
def : StorePat<truncstorei32, i64, SW>;
def : StorePat<store, i64, SD>;
def : StorePat<store, f64, SD>;
def : StorePat<store, f32, SW>;
def : StorePat<store, f16, SH>;
def : StorePat<store, bf16, SH>;

// Atomic accesses are the plain ones: memory is coherent, and fences stand around them.
def : LoadPat<atomic_load_asext_8, i64, LB>;
def : LoadPat<atomic_load_asext_16, i64, LH>;
def : LoadPat<atomic_load_asext_32, i64, LW>;
def : LoadPat<atomic_load_azext_8, i64, LBU>;
def : LoadPat<atomic_load_azext_16, i64, LHU>;
def : LoadPat<atomic_load_azext_32, i64, LWU>;
def : LoadPat<atomic_load_nonext_64, i64, LD>;
def : StorePat<atomic_store_8, i64, SB>;
def : StorePat<atomic_store_16, i64, SH>;
def : StorePat<atomic_store_32, i64, SW>;
def : StorePat<atomic_store_64, i64, SD>;
foreach op = ["ADD:add", "XOR:xor", "AND:and", "OR:or", "MIN:min", "MAX:max", "MINU:umin", "MAXU:umax", "SWAP:swap"] in {
  defvar colon = !find(op, ":");
  defvar inst = "AMO" # !substr(op, 0, colon);
  defvar node = !if(!eq(!substr(op, !add(colon, 1)), "swap"), "atomic_swap", "atomic_load_" # !substr(op, !add(colon, 1)));
  def : Pat<(i64 (!cast<PatFrag>(node # "_i32") i64:$address, i64:$value)), (!cast<Instruction>(inst # "_W") $value, $address)>;
  def : Pat<(i64 (!cast<PatFrag>(node # "_i64") i64:$address, i64:$value)), (!cast<Instruction>(inst # "_D") $value, $address)>;
}
def : Pat<(atomic_fence timm, timm), (FENCE 15, 15)>;

// ---- Integers -------------------------------------------------------------------------------------------------------
def : Pat<(i64 (setne i64:$a, 0)), (SLTU (i64 X0), $a)>;
def : Pat<(i64 (seteq i64:$a, 0)), (SLTIU $a, 1)>;
def negated_simm12 : ImmLeaf<i64, "return isInt<12>(-Imm);", SDNodeXForm<imm, [{ return CurDAG->getTargetConstant(-N->getSExtValue(), SDLoc(N), MVT::i64); }]>>;
def : Pat<(i64 (seteq i64:$a, negated_simm12:$imm)), (SLTIU (ADDI $a, negated_simm12:$imm), 1)>;
def : Pat<(i64 (setne i64:$a, negated_simm12:$imm)), (SLTU (i64 X0), (ADDI $a, negated_simm12:$imm))>;
def : Pat<(i64 (seteq i64:$a, i64:$b)), (SLTIU (XOR $a, $b), 1)>;
def : Pat<(i64 (setne i64:$a, i64:$b)), (SLTU (i64 X0), (XOR $a, $b))>;
def plus_one_simm12 : ImmLeaf<i64, "return Imm != -1 && isInt<12>(Imm + 1);", SDNodeXForm<imm, [{ return CurDAG->getTargetConstant(N->getSExtValue() + 1, SDLoc(N), MVT::i64); }]>>;
def : Pat<(i64 (setgt i64:$a, 0)), (SLT (i64 X0), $a)>;
def : Pat<(i64 (setgt i64:$a, plus_one_simm12:$imm)), (XORI (SLTI $a, plus_one_simm12:$imm), 1)>;
def : Pat<(i64 (setugt i64:$a, plus_one_simm12:$imm)), (XORI (SLTIU $a, plus_one_simm12:$imm), 1)>;
def : Pat<(i64 (setgt i64:$a, i64:$b)), (SLT $b, $a)>;
def : Pat<(i64 (setugt i64:$a, i64:$b)), (SLTU $b, $a)>;
def : Pat<(i64 (setge i64:$a, i64:$b)), (XORI (SLT $a, $b), 1)>;
def : Pat<(i64 (setuge i64:$a, i64:$b)), (XORI (SLTU $a, $b), 1)>;
def : Pat<(i64 (setle i64:$a, i64:$b)), (XORI (SLT $b, $a), 1)>;
def : Pat<(i64 (setule i64:$a, i64:$b)), (XORI (SLTU $b, $a), 1)>;

def : Pat<(i64 (sext_inreg i64:$a, i32)), (ADDIW $a, 0)>;
def : Pat<(i64 (and i64:$a, 0xFFFFFFFF)), (ADD_UW $a, (i64 X0))>;
def : Pat<(i64 (sext_inreg (i64 (srl (i64 (and i64:$a, 0xFFFFFFFF)), uimm5:$n)), i32)), (SRLIW $a, uimm5:$n)>;
// Bits n.. of a word: shifted up over the upper half first.
def plus_32 : SDNodeXForm<imm, [{ return CurDAG->getTargetConstant(N->getZExtValue() + 32, SDLoc(N), MVT::i64); }]>;
def : Pat<(i64 (srl (i64 (and i64:$a, 0xFFFFFFFF)), uimm5:$n)), (SRLI (SLLI $a, 32), (plus_32 $n))>;
def : Pat<(i64 (sra (i64 (sext_inreg i64:$a, i32)), uimm5:$n)), (SRAIW $a, uimm5:$n)>;

def minus_from_64 : SDNodeXForm<imm, [{ return CurDAG->getTargetConstant((64 - N->getZExtValue()) & 63, SDLoc(N), MVT::i64); }]>;
def : Pat<(i64 (rotl i64:$a, uimm6:$n)), (RORI $a, (minus_from_64 $n))>;

// In 32 bits.
def SDTWord2 : SDTypeProfile<1, 2, [SDTCisVT<0, i64>, SDTCisVT<1, i64>, SDTCisVT<2, i64>]>;
def SDTWord1 : SDTypeProfile<1, 1, [SDTCisVT<0, i64>, SDTCisVT<1, i64>]>;
foreach op = ["SLLW", "SRLW", "SRAW", "ROLW", "RORW", "DIVW", "DIVUW", "REMW", "REMUW"] in {
  def dg_#op : SDNode<"DGISD::" # op, SDTWord2>;
  def : Pat<(i64 (!cast<SDNode>("dg_" # op) i64:$a, i64:$b)), (!cast<Instruction>(op) $a, $b)>;
}
def : Pat<(i64 (dg_RORW i64:$a, uimm5:$n)), (RORIW $a, uimm5:$n)>;
foreach op = ["CLZW", "CTZW", "CPOPW"] in {
  def dg_#op : SDNode<"DGISD::" # op, SDTWord1>;
  def : Pat<(i64 (!cast<SDNode>("dg_" # op) i64:$a)), (!cast<Instruction>(op) $a)>;
}

// Shifts take the low 6 bits of the amount, in 32 bits the low 5.
def six_bits : PatFrag<(ops node:$n), (and node:$n, imm), [{ return (N->getConstantOperandVal(1) & 63) == 63; }]>;
def five_bits : PatFrag<(ops node:$n), (and node:$n, imm), [{ return (N->getConstantOperandVal(1) & 31) == 31; }]>;
foreach op = ["SLLW", "SRLW", "SRAW", "ROLW", "RORW"] in
  def : Pat<(i64 (!cast<SDNode>("dg_" # op) i64:$a, (i64 (five_bits i64:$n)))), (!cast<Instruction>(op) $a, $n)>;
def : Pat<(i64 (shl i64:$a, (i64 (six_bits i64:$n)))), (SLL $a, $n)>;
def : Pat<(i64 (srl i64:$a, (i64 (six_bits i64:$n)))), (SRL $a, $n)>;
def : Pat<(i64 (sra i64:$a, (i64 (six_bits i64:$n)))), (SRA $a, $n)>;

// ---- Branches -------------------------------------------------------------------------------------------------------
class BranchPat<SDPatternOperator compare, Instruction inst> : Pat<(brcond (i64 (compare i64:$a, i64:$b)), bb:$target), (inst $a, $b, bb:$target)>;
class SwappedBranchPat<SDPatternOperator compare, Instruction inst> : Pat<(brcond (i64 (compare i64:$a, i64:$b)), bb:$target), (inst $b, $a, bb:$target)>;
def : BranchPat<seteq, BEQ>;
def : BranchPat<setne, BNE>;
def : BranchPat<setlt, BLT>;
def : BranchPat<setge, BGE>;
def : BranchPat<setult, BLTU>;
def : BranchPat<setuge, BGEU>;
def : SwappedBranchPat<setgt, BLT>;
def : SwappedBranchPat<setle, BGE>;
def : SwappedBranchPat<setugt, BLTU>;
def : SwappedBranchPat<setule, BGEU>;
// Next to zero, which has a register: x < 1 as x <= 0, x > -1 as x >= 0.
def : Pat<(brcond (i64 (setlt i64:$a, 1)), bb:$target), (BGE (i64 X0), $a, bb:$target)>;
def : Pat<(brcond (i64 (setge i64:$a, 1)), bb:$target), (BLT (i64 X0), $a, bb:$target)>;
def : Pat<(brcond (i64 (setgt i64:$a, -1)), bb:$target), (BGE $a, (i64 X0), bb:$target)>;
def : Pat<(brcond (i64 (setle i64:$a, -1)), bb:$target), (BLT $a, (i64 X0), bb:$target)>;
def inverted_bit : PatFrag<(ops node:$a), (xor node:$a, 1), [{ return CurDAG->MaskedValueIsZero(N->getOperand(0), APInt::getBitsSetFrom(64, 1)); }]>;
def : Pat<(brcond (i64 (inverted_bit i64:$a)), bb:$target), (BEQ $a, (i64 X0), bb:$target)>;
def : Pat<(brcond i64:$a, bb:$target), (BNE $a, (i64 X0), bb:$target)>;

// ---- Floats: f32 and f64 --------------------------------------------------------------------------------------------
// The rounding mode `dyn` is the program's (fesetround); conversions to integers say their own.
defvar RNE = 0;
defvar RTZ = 1;
defvar RDN = 2;
defvar RUP = 3;
defvar RMM = 4;
defvar DYN = 7;
foreach t = ["S", "D"] in {
  defvar F = !if(!eq(t, "S"), f32, f64);
  foreach op = ["fadd", "fsub", "fmul", "fdiv"] in
    def : Pat<(F (!cast<SDNode>(op) F:$a, F:$b)), (!cast<Instruction>(!toupper(op) # "_" # t) $a, $b, DYN)>;
  def : Pat<(F (fsqrt F:$a)), (!cast<Instruction>("FSQRT_" # t) $a, DYN)>;
  def : Pat<(F (fma F:$a, F:$b, F:$c)), (!cast<Instruction>("FMADD_" # t) $a, $b, $c, DYN)>;
  def : Pat<(F (fma F:$a, F:$b, (fneg F:$c))), (!cast<Instruction>("FMSUB_" # t) $a, $b, $c, DYN)>;
  def : Pat<(F (fma (fneg F:$a), F:$b, F:$c)), (!cast<Instruction>("FNMSUB_" # t) $a, $b, $c, DYN)>;
  def : Pat<(F (fma (fneg F:$a), F:$b, (fneg F:$c))), (!cast<Instruction>("FNMADD_" # t) $a, $b, $c, DYN)>;
  def : Pat<(F (fneg F:$a)), (!cast<Instruction>("FSGNJN_" # t) $a, $a)>;
  def : Pat<(F (fabs F:$a)), (!cast<Instruction>("FSGNJX_" # t) $a, $a)>;
  def : Pat<(F (fcopysign F:$a, F:$b)), (!cast<Instruction>("FSGNJ_" # t) $a, $b)>;
  def : Pat<(F (fcopysign F:$a, (fneg F:$b))), (!cast<Instruction>("FSGNJN_" # t) $a, $b)>;
  foreach min = ["fminnum", "fminimumnum"] in def : Pat<(F (!cast<SDNode>(min) F:$a, F:$b)), (!cast<Instruction>("FMIN_" # t) $a, $b)>;
  foreach max = ["fmaxnum", "fmaximumnum"] in def : Pat<(F (!cast<SDNode>(max) F:$a, F:$b)), (!cast<Instruction>("FMAX_" # t) $a, $b)>;
  foreach eq = [seteq, setoeq] in def : Pat<(i64 (eq F:$a, F:$b)), (!cast<Instruction>("FEQ_" # t) $a, $b)>;
  foreach lt = [setlt, setolt] in def : Pat<(i64 (lt F:$a, F:$b)), (!cast<Instruction>("FLT_" # t) $a, $b)>;
  foreach le = [setle, setole] in def : Pat<(i64 (le F:$a, F:$b)), (!cast<Instruction>("FLE_" # t) $a, $b)>;
  def : Pat<(i64 (dg_to_int F:$a, timm:$mode)), (!cast<Instruction>("FCVT_L_" # t) $a, timm:$mode)>;
  def : Pat<(i64 (dg_fclass F:$a)), (!cast<Instruction>("FCLASS_" # t) $a)>;
  def : Pat<(F (sint_to_fp i64:$a)), (!cast<Instruction>("FCVT_" # t # "_L") $a, DYN)>;
  def : Pat<(F (uint_to_fp i64:$a)), (!cast<Instruction>("FCVT_" # t # "_LU") $a, DYN)>;
  defvar WORD = !if(!eq(t, "S"), DYN, RNE); // a double holds every word
  foreach from = [sint_to_fp, uint_to_fp] in // bits 63..32 are zero
    def : Pat<(F (from (i64 (and i64:$a, 0xFFFFFFFF)))), (!cast<Instruction>("FCVT_" # t # "_WU") $a, WORD)>;
  def : Pat<(F (sint_to_fp (i64 (sext_inreg i64:$a, i32)))), (!cast<Instruction>("FCVT_" # t # "_W") $a, WORD)>;
  def : Pat<(i64 (fp_to_sint F:$a)), (!cast<Instruction>("FCVT_L_" # t) $a, RTZ)>;
  def : Pat<(i64 (fp_to_uint F:$a)), (!cast<Instruction>("FCVT_LU_" # t) $a, RTZ)>;
  foreach round = ["lrint", "llrint"] in def : Pat<(i64 (!cast<SDNode>(round) F:$a)), (!cast<Instruction>("FCVT_L_" # t) $a, DYN)>;
  foreach round = ["lround", "llround"] in def : Pat<(i64 (!cast<SDNode>(round) F:$a)), (!cast<Instruction>("FCVT_L_" # t) $a, RMM)>;
}
def : Pat<(f32 (fpround f64:$a)), (FCVT_S_D $a, DYN)>;
def : Pat<(f64 (fpextend f32:$a)), (FCVT_D_S $a, DYN)>;
// The sign of another type's value, moved to where this type has it.
foreach sign = [f16, bf16] in {
  def : Pat<(f32 (fcopysign f32:$a, sign:$b)), (FSGNJ_S $a, (SLLI $b, 16))>;
  def : Pat<(f64 (fcopysign f64:$a, sign:$b)), (FSGNJ_D $a, (SLLI $b, 48))>;
}
def : Pat<(f32 (fcopysign f32:$a, f64:$b)), (FSGNJ_S $a, (SRLI $b, 32))>;
def : Pat<(f64 (fcopysign f64:$a, f32:$b)), (FSGNJ_D $a, (SLLI $b, 32))>;

// The register as it is.
foreach type = [f32, f16, bf16] in {
  def : Pat<(i64 (dg_fp_bits type:$a)), (COPY_TO_REGCLASS $a, GPR)>;
  def : Pat<(type (dg_bits_fp i64:$a)), (COPY_TO_REGCLASS $a, GPR)>;
}
def : Pat<(i64 (bitconvert f64:$a)), (COPY_TO_REGCLASS $a, GPR)>;
def : Pat<(f64 (bitconvert i64:$a)), (COPY_TO_REGCLASS $a, GPR)>;

// ---- Floats: f16 and bf16. Their bits are the low 16 of the register; what stands above is undefined. -------------------
foreach t = ["H", "BF16"] in {
  defvar F = !if(!eq(t, "H"), f16, bf16);
  def : Pat<(f32 (fpextend F:$a)), (!cast<Instruction>("FCVT_S_" # t) $a)>;
  def : Pat<(f64 (fpextend F:$a)), (!cast<Instruction>("FCVT_D_" # t) $a)>;
  def : Pat<(F (fpround f32:$a)), (!cast<Instruction>("FCVT_" # t # "_S") $a)>;
  def : Pat<(F (fpround f64:$a)), (!cast<Instruction>("FCVT_" # t # "_D") $a)>;
  def : Pat<(i64 (fp_to_sint F:$a)), (FCVT_L_S (!cast<Instruction>("FCVT_S_" # t) $a), RTZ)>;
  def : Pat<(i64 (fp_to_uint F:$a)), (FCVT_LU_S (!cast<Instruction>("FCVT_S_" # t) $a), RTZ)>;
  // Through f64: an integer that it does not hold exactly is beyond f16, and beyond a tie of bf16 but for one in 2^44.
  def : Pat<(F (sint_to_fp i64:$a)), (!cast<Instruction>("FCVT_" # t # "_D") (FCVT_D_L $a, DYN))>;
  def : Pat<(F (uint_to_fp i64:$a)), (!cast<Instruction>("FCVT_" # t # "_D") (FCVT_D_LU $a, DYN))>;
}
foreach type = [f16, bf16] in {
  def : Pat<(type (fneg type:$a)), (XOR $a, (LUI 8))>;
  def : Pat<(type (fabs type:$a)), (SRLI (SLLI $a, 49), 49)>;
  foreach sign = [f16, bf16] in
    def : Pat<(type (fcopysign type:$a, sign:$b)), (OR (SRLI (SLLI $a, 49), 49), (AND $b, (LUI 8)))>;
  def : Pat<(type (fcopysign type:$a, f32:$b)), (OR (SRLI (SLLI $a, 49), 49), (AND (SRLI $b, 16), (LUI 8)))>;
  def : Pat<(type (fcopysign type:$a, f64:$b)), (OR (SRLI (SLLI $a, 49), 49), (AND (SRLI $b, 48), (LUI 8)))>;
}

// ---- The rest -------------------------------------------------------------------------------------------------------
def : Pat<(trap), (EBREAK)>;
def : Pat<(debugtrap), (EBREAK)>;
def : Pat<(i64 (readcyclecounter)), (CSRRS 0xC00, (i64 X0))>;
