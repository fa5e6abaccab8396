// The scalar base: RV64IMA_Zicsr_Zfinx_Zdinx_Zba_Zbb, encodings and meaning as the RISC-V specifications have them.
// Floats live in the integer registers: an f32 result fills the upper half with its sign.

// ---- RV64I: arithmetic ----------------------------------------------------------------------------------------------
class AluRR<bits<7> funct7, bits<3> funct3, string mnemonic, string doc, string semantics, list<dag> pattern = [], Timing timing = Alu, Major op = OpReg>
    : FormatR<op, funct7, funct3, (outs GPR:$rd), (ins GPR:$rs1, GPR:$rs2), mnemonic, "$rd, $rs1, $rs2", timing, doc, semantics, pattern>;
class AluRI<bits<3> funct3, string mnemonic, string doc, string semantics, list<dag> pattern = [], Major op = OpImm>
    : FormatI<op, funct3, (outs GPR:$rd), (ins GPR:$rs1, simm12:$imm), mnemonic, "$rd, $rs1, $imm", Alu, doc, semantics, pattern>;
// | 31 funct6 26 | 25 shamt 20 | ...
class Shift<bits<6> funct6, bits<3> funct3, string mnemonic, string doc, string semantics, list<dag> pattern = [], Major op = OpImm>
    : FormatI<op, funct3, (outs GPR:$rd), (ins GPR:$rs1, uimm6:$imm), mnemonic, "$rd, $rs1, $imm", Alu, doc, semantics, pattern> {
  let Inst{31-26} = funct6;
  let Inst{25-20} = imm{5-0};
}
class ShiftW<bits<7> funct7, bits<3> funct3, string mnemonic, string doc, string semantics, list<dag> pattern = []>
    : FormatI<OpImm32, funct3, (outs GPR:$rd), (ins GPR:$rs1, uimm5:$imm), mnemonic, "$rd, $rs1, $imm", Alu, doc, semantics, pattern> {
  let Inst{31-25} = funct7;
  let Inst{24-20} = imm{4-0};
}
// One source; where a second would stand is a fixed number.
class AluR<bits<7> funct7, bits<5> sub, bits<3> funct3, string mnemonic, string doc, string semantics, list<dag> pattern = [], Major op = OpImm>
    : FormatR<op, funct7, funct3, (outs GPR:$rd), (ins GPR:$rs1), mnemonic, "$rd, $rs1", Alu, doc, semantics, pattern> {
  let rs2 = sub;
}
class Binary<SDPatternOperator node> { list<dag> Pattern = [(set i64:$rd, (node i64:$rs1, i64:$rs2))]; }
class BinaryImm<SDPatternOperator node> { list<dag> Pattern = [(set i64:$rd, (node i64:$rs1, simm12:$imm))]; }
class BinaryW<SDPatternOperator node> { list<dag> Pattern = [(set i64:$rd, (sext_inreg (node i64:$rs1, i64:$rs2), i32))]; }

let isReMaterializable = 1 in {
def LUI : FormatU<OpLui, (outs GPR:$rd), (ins uimm20:$imm), "lui", "$rd, $imm", Alu, "Sets bits 31..12, sign-extended.", "rd = (int64_t)(int32_t)((uint32_t)imm << 12);">;
def AUIPC : FormatU<OpAuipc, (outs GPR:$rd), (ins uimm20:$imm), "auipc", "$rd, $imm", Alu, "Adds bits 31..12, sign-extended, to this instruction's address.",
                    "rd = pc + (int64_t)(int32_t)((uint32_t)imm << 12);">;
}
let isAdd = 1, isReMaterializable = 1, isAsCheapAsAMove = 1 in
def ADDI : AluRI<0b000, "addi", "Adds an immediate.", "rd = rs1 + imm;", BinaryImm<add>.Pattern>;
def SLTI : AluRI<0b010, "slti", "1 if less than an immediate, signed, else 0.", "rd = (int64_t)rs1 < imm;", BinaryImm<setlt>.Pattern>;
def SLTIU : AluRI<0b011, "sltiu", "1 if less than the sign-extended immediate, unsigned, else 0.", "rd = rs1 < (uint64_t)imm;", BinaryImm<setult>.Pattern>;
let isReMaterializable = 1, isAsCheapAsAMove = 1 in {
def XORI : AluRI<0b100, "xori", "Exclusive or with an immediate.", "rd = rs1 ^ imm;", BinaryImm<xor>.Pattern>;
def ORI : AluRI<0b110, "ori", "Or with an immediate.", "rd = rs1 | imm;", BinaryImm<or>.Pattern>;
}
def ANDI : AluRI<0b111, "andi", "And with an immediate.", "rd = rs1 & imm;", BinaryImm<and>.Pattern>;
def SLLI : Shift<0b000000, 0b001, "slli", "Shifts left.", "rd = rs1 << imm;", [(set i64:$rd, (shl i64:$rs1, uimm6:$imm))]>;
def SRLI : Shift<0b000000, 0b101, "srli", "Shifts right, filling with zeros.", "rd = rs1 >> imm;", [(set i64:$rd, (srl i64:$rs1, uimm6:$imm))]>;
def SRAI : Shift<0b010000, 0b101, "srai", "Shifts right, filling with the sign.", "rd = (int64_t)rs1 >> imm;", [(set i64:$rd, (sra i64:$rs1, uimm6:$imm))]>;
let isCommutable = 1, isAdd = 1 in
def ADD : AluRR<0b0000000, 0b000, "add", "Adds.", "rd = rs1 + rs2;", Binary<add>.Pattern>;
def SUB : AluRR<0b0100000, 0b000, "sub", "Subtracts.", "rd = rs1 - rs2;", Binary<sub>.Pattern>;
def SLL : AluRR<0b0000000, 0b001, "sll", "Shifts left by the low 6 bits.", "rd = rs1 << (rs2 & 63);", Binary<shl>.Pattern>;
def SLT : AluRR<0b0000000, 0b010, "slt", "1 if less, signed, else 0.", "rd = (int64_t)rs1 < (int64_t)rs2;", Binary<setlt>.Pattern>;
def SLTU : AluRR<0b0000000, 0b011, "sltu", "1 if less, unsigned, else 0.", "rd = rs1 < rs2;", Binary<setult>.Pattern>;
let isCommutable = 1 in
def XOR : AluRR<0b0000000, 0b100, "xor", "Exclusive or.", "rd = rs1 ^ rs2;", Binary<xor>.Pattern>;
def SRL : AluRR<0b0000000, 0b101, "srl", "Shifts right by the low 6 bits, filling with zeros.", "rd = rs1 >> (rs2 & 63);", Binary<srl>.Pattern>;
def SRA : AluRR<0b0100000, 0b101, "sra", "Shifts right by the low 6 bits, filling with the sign.", "rd = (int64_t)rs1 >> (rs2 & 63);", Binary<sra>.Pattern>;
let isCommutable = 1 in {
def OR : AluRR<0b0000000, 0b110, "or", "Or.", "rd = rs1 | rs2;", Binary<or>.Pattern>;
def AND : AluRR<0b0000000, 0b111, "and", "And.", "rd = rs1 & rs2;", Binary<and>.Pattern>;
}

// The same on the low 32 bits, the result sign-extended.
def ADDIW : AluRI<0b000, "addiw", "Adds an immediate in 32 bits.", "rd = (int64_t)(int32_t)(uint32_t)(rs1 + imm);",
                  [(set i64:$rd, (sext_inreg (add i64:$rs1, simm12:$imm), i32))], OpImm32>;
def SLLIW : ShiftW<0b0000000, 0b001, "slliw", "Shifts left in 32 bits.", "rd = (int64_t)(int32_t)((uint32_t)rs1 << imm);",
                   [(set i64:$rd, (sext_inreg (shl i64:$rs1, uimm5:$imm), i32))]>;
def SRLIW : ShiftW<0b0000000, 0b101, "srliw", "Shifts the low 32 bits right, filling with zeros.", "rd = (int64_t)(int32_t)((uint32_t)rs1 >> imm);">;
def SRAIW : ShiftW<0b0100000, 0b101, "sraiw", "Shifts the low 32 bits right, filling with their sign.", "rd = (int64_t)((int32_t)rs1 >> imm);",
                   [(set i64:$rd, (sra (sext_inreg i64:$rs1, i32), uimm5:$imm))]>;
let isCommutable = 1 in
def ADDW : AluRR<0b0000000, 0b000, "addw", "Adds in 32 bits.", "rd = (int64_t)(int32_t)(uint32_t)(rs1 + rs2);", BinaryW<add>.Pattern, Alu, OpReg32>;
def SUBW : AluRR<0b0100000, 0b000, "subw", "Subtracts in 32 bits.", "rd = (int64_t)(int32_t)(uint32_t)(rs1 - rs2);", BinaryW<sub>.Pattern, Alu, OpReg32>;
def SLLW : AluRR<0b0000000, 0b001, "sllw", "Shifts left in 32 bits by the low 5 bits.", "rd = (int64_t)(int32_t)((uint32_t)rs1 << (rs2 & 31));", [], Alu, OpReg32>;
def SRLW : AluRR<0b0000000, 0b101, "srlw", "Shifts the low 32 bits right by the low 5 bits, filling with zeros.",
                 "rd = (int64_t)(int32_t)((uint32_t)rs1 >> (rs2 & 31));", [], Alu, OpReg32>;
def SRAW : AluRR<0b0100000, 0b101, "sraw", "Shifts the low 32 bits right by the low 5 bits, filling with their sign.",
                 "rd = (int64_t)((int32_t)rs1 >> (rs2 & 31));", [], Alu, OpReg32>;

// ---- RV64I: loads, stores, control ----------------------------------------------------------------------------------
class ScalarLoad<bits<3> funct3, string mnemonic, string type, string doc, list<dag> pattern = []>
    : FormatI<OpLoad, funct3, (outs GPR:$rd), (ins GPR:$rs1, simm12:$imm), mnemonic, "$rd, ${imm}(${rs1})", Load, doc,
              "rd = (int64_t)load<" # type # ">(rs1 + imm);", pattern> {
  let mayLoad = 1;
}
class ScalarStore<bits<3> funct3, string mnemonic, string type, string doc>
    : FormatS<OpStore, funct3, (outs), (ins GPR:$rs2, GPR:$rs1, simm12:$imm), mnemonic, "$rs2, ${imm}(${rs1})", Store, doc,
              "store<" # type # ">(rs1 + imm, (" # type # ")rs2);"> {
  let mayStore = 1;
}
def LB : ScalarLoad<0b000, "lb", "int8_t", "Loads a byte, sign-extended.">;
def LH : ScalarLoad<0b001, "lh", "int16_t", "Loads 16 bits, sign-extended.">;
def LW : ScalarLoad<0b010, "lw", "int32_t", "Loads 32 bits, sign-extended.">;
def LD : ScalarLoad<0b011, "ld", "int64_t", "Loads 64 bits.">;
def LBU : ScalarLoad<0b100, "lbu", "uint8_t", "Loads a byte, zero-extended.">;
def LHU : ScalarLoad<0b101, "lhu", "uint16_t", "Loads 16 bits, zero-extended.">;
def LWU : ScalarLoad<0b110, "lwu", "uint32_t", "Loads 32 bits, zero-extended.">;
def SB : ScalarStore<0b000, "sb", "uint8_t", "Stores the low byte.">;
def SH : ScalarStore<0b001, "sh", "uint16_t", "Stores the low 16 bits.">;
def SW : ScalarStore<0b010, "sw", "uint32_t", "Stores the low 32 bits.">;
def SD : ScalarStore<0b011, "sd", "uint64_t", "Stores 64 bits.">;

def BEQ : FormatB<0b000, "beq", "Branches if equal.", "if (rs1 == rs2) jump(pc + imm);">;
def BNE : FormatB<0b001, "bne", "Branches if not equal.", "if (rs1 != rs2) jump(pc + imm);">;
def BLT : FormatB<0b100, "blt", "Branches if less, signed.", "if ((int64_t)rs1 < (int64_t)rs2) jump(pc + imm);">;
def BGE : FormatB<0b101, "bge", "Branches if greater or equal, signed.", "if ((int64_t)rs1 >= (int64_t)rs2) jump(pc + imm);">;
def BLTU : FormatB<0b110, "bltu", "Branches if less, unsigned.", "if (rs1 < rs2) jump(pc + imm);">;
def BGEU : FormatB<0b111, "bgeu", "Branches if greater or equal, unsigned.", "if (rs1 >= rs2) jump(pc + imm);">;

// | 31 imm[20] | 30 imm[10:1] 21 | 20 imm[11] | 19 imm[19:12] 12 | 11 rd 7 | 6 opcode 0 |
let isCall = 1 in
def JAL : DougongInst<(outs GPR:$rd), (ins jump_target:$imm), "jal", "$rd, $imm", Branch, "Jumps, and keeps the next instruction's address.",
                      "uint64_t target = pc + imm; rd = next; jump(target);"> {
  bits<5> rd;
  bits<21> imm;
  let Opcode = OpJal.Value;
  let Inst{31} = imm{20};
  let Inst{30-21} = imm{10-1};
  let Inst{20} = imm{11};
  let Inst{19-12} = imm{19-12};
  let Inst{11-7} = rd;
}
let isCall = 1 in
def JALR : FormatI<OpJalr, 0b000, (outs GPR:$rd), (ins GPR:$rs1, simm12:$imm), "jalr", "$rd, ${imm}(${rs1})", Branch,
                   "Jumps to a register plus an immediate, and keeps the next instruction's address.",
                   "uint64_t target = (rs1 + imm) & ~1ull; rd = next; jump(target);">;

let hasSideEffects = 1 in {
// | 31 mode 28 | 27 pred 24 | 23 succ 20 | 19 0 15 | 14 000 12 | 11 0 7 | 6 opcode 0 |
def FENCE : DougongInst<(outs), (ins fence_set:$pred, fence_set:$succ), "fence", "$pred, $succ", Store,
                        "Orders memory accesses. The machine's memory is coherent and in order: nothing to do. Fields that are reserved are ignored.",
                        "(void)pred, (void)succ;"> {
  bits<4> pred;
  bits<4> succ;
  let Opcode = OpFence.Value;
  let Inst{27-24} = pred;
  let Inst{23-20} = succ;
  let Ignored{31-28} = 0b1111;
  let Ignored{19-15} = 0b11111;
  let Ignored{11-7} = 0b11111;
}
def FENCE_TSO : DougongInst<(outs), (ins), "fence.tso", "", Store, "Orders memory accesses, as FENCE.", ";"> {
  let Opcode = OpFence.Value;
  let Inst{31-20} = 0b100000110011;
}
def ECALL : DougongInst<(outs), (ins), "ecall", "", Csr, "Traps: environment call.", "core.trap(11);"> { let Opcode = OpSystem.Value; }
def EBREAK : DougongInst<(outs), (ins), "ebreak", "", Csr, "Traps: breakpoint. Between `slli zero, zero, 31` and `srai zero, zero, 7` it is a semihosting call.",
                         "core.trap(3);"> {
  let Opcode = OpSystem.Value;
  let Inst{31-20} = 1;
}

// ---- Zicsr ----------------------------------------------------------------------------------------------------------
// | 31 csr 20 | 19 rs1 or imm 15 | 14 funct3 12 | 11 rd 7 | 6 opcode 0 |
class CsrR<bits<3> funct3, string mnemonic, string doc, string semantics>
    : DougongInst<(outs GPR:$rd), (ins csr_number:$csr, GPR:$rs1), mnemonic, "$rd, $csr, $rs1", Csr, doc, semantics> {
  bits<5> rd;
  bits<5> rs1;
  bits<12> csr;
  let Opcode = OpSystem.Value;
  let Inst{31-20} = csr;
  let Inst{19-15} = rs1;
  let Inst{14-12} = funct3;
  let Inst{11-7} = rd;
}
class CsrI<bits<3> funct3, string mnemonic, string doc, string semantics>
    : DougongInst<(outs GPR:$rd), (ins csr_number:$csr, uimm5:$imm), mnemonic, "$rd, $csr, $imm", Csr, doc, semantics> {
  bits<5> rd;
  bits<5> imm;
  bits<12> csr;
  let Opcode = OpSystem.Value;
  let Inst{31-20} = csr;
  let Inst{19-15} = imm;
  let Inst{14-12} = funct3;
  let Inst{11-7} = rd;
}
// A set or clear of nothing (x0, or 0) does not write, so that read-only registers can be read. `rs1_number` is the number of the register.
def CSRRW : CsrR<0b001, "csrrw", "Reads a control register, then writes it.",
                 "uint64_t value = rs1, old = rd_number ? core.csr_read(csr) : 0; core.csr_write(csr, value); rd = old;">;
def CSRRS : CsrR<0b010, "csrrs", "Reads a control register, then sets bits.",
                 "uint64_t value = rs1, old = core.csr_read(csr); if (rs1_number) core.csr_write(csr, old | value); rd = old;">;
def CSRRC : CsrR<0b011, "csrrc", "Reads a control register, then clears bits.",
                 "uint64_t value = rs1, old = core.csr_read(csr); if (rs1_number) core.csr_write(csr, old & ~value); rd = old;">;
def CSRRWI : CsrI<0b101, "csrrwi", "Reads a control register, then writes an immediate.",
                  "uint64_t old = rd_number ? core.csr_read(csr) : 0; core.csr_write(csr, imm); rd = old;">;
def CSRRSI : CsrI<0b110, "csrrsi", "Reads a control register, then sets bits of an immediate.",
                  "uint64_t old = core.csr_read(csr); if (imm) core.csr_write(csr, old | imm); rd = old;">;
def CSRRCI : CsrI<0b111, "csrrci", "Reads a control register, then clears bits of an immediate.",
                  "uint64_t old = core.csr_read(csr); if (imm) core.csr_write(csr, old & ~imm); rd = old;">;
} // hasSideEffects

// ---- M --------------------------------------------------------------------------------------------------------------
class Mul<bits<3> funct3, string mnemonic, string doc, string semantics, list<dag> pattern = [], Major op = OpReg>
    : AluRR<0b0000001, funct3, mnemonic, doc, semantics, pattern, Multiply, op> { let isCommutable = 1; }
class Div<bits<3> funct3, string mnemonic, string doc, string semantics, list<dag> pattern = [], Major op = OpReg>
    : AluRR<0b0000001, funct3, mnemonic, doc, semantics, pattern, Divide, op>;
def MUL : Mul<0b000, "mul", "Multiplies; the low half.", "rd = rs1 * rs2;", Binary<mul>.Pattern>;
def MULH : Mul<0b001, "mulh", "Multiplies, signed; the high half.", "rd = (uint64_t)(((__int128)(int64_t)rs1 * (int64_t)rs2) >> 64);", Binary<mulhs>.Pattern>;
let isCommutable = 0 in
def MULHSU : Mul<0b010, "mulhsu", "Multiplies, signed by unsigned; the high half.", "rd = (uint64_t)(((__int128)(int64_t)rs1 * (__int128)rs2) >> 64);">;
def MULHU : Mul<0b011, "mulhu", "Multiplies, unsigned; the high half.", "rd = (uint64_t)(((unsigned __int128)rs1 * rs2) >> 64);", Binary<mulhu>.Pattern>;
def DIV : Div<0b100, "div", "Divides, signed, towards zero; by zero gives -1, an overflow the dividend.",
              "rd = rs2 == 0 ? ~0ull : rs2 == ~0ull ? 0 - rs1 : (uint64_t)((int64_t)rs1 / (int64_t)rs2);", Binary<sdiv>.Pattern>;
def DIVU : Div<0b101, "divu", "Divides, unsigned; by zero gives all ones.", "rd = rs2 == 0 ? ~0ull : rs1 / rs2;", Binary<udiv>.Pattern>;
def REM : Div<0b110, "rem", "Remainder, signed, with the dividend's sign; by zero gives the dividend.",
              "rd = rs2 == 0 ? rs1 : rs2 == ~0ull ? 0 : (uint64_t)((int64_t)rs1 % (int64_t)rs2);", Binary<srem>.Pattern>;
def REMU : Div<0b111, "remu", "Remainder, unsigned; by zero gives the dividend.", "rd = rs2 == 0 ? rs1 : rs1 % rs2;", Binary<urem>.Pattern>;
def MULW : Mul<0b000, "mulw", "Multiplies in 32 bits.", "rd = (int64_t)(int32_t)((uint32_t)rs1 * (uint32_t)rs2);", BinaryW<mul>.Pattern, OpReg32>;
def DIVW : Div<0b100, "divw", "Divides in 32 bits, signed; by zero gives -1.",
               "int32_t a = (int32_t)rs1, b = (int32_t)rs2; rd = (int64_t)(b == 0 ? -1 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b);", [], OpReg32>;
def DIVUW : Div<0b101, "divuw", "Divides in 32 bits, unsigned, the result sign-extended; by zero gives all ones.",
                "uint32_t a = (uint32_t)rs1, b = (uint32_t)rs2; rd = (int64_t)(int32_t)(b == 0 ? ~0u : a / b);", [], OpReg32>;
def REMW : Div<0b110, "remw", "Remainder in 32 bits, signed; by zero gives the dividend.",
               "int32_t a = (int32_t)rs1, b = (int32_t)rs2; rd = (int64_t)(b == 0 ? a : b == -1 ? 0 : a % b);", [], OpReg32>;
def REMUW : Div<0b111, "remuw", "Remainder in 32 bits, unsigned, the result sign-extended; by zero gives the dividend.",
                "uint32_t a = (uint32_t)rs1, b = (uint32_t)rs2; rd = (int64_t)(int32_t)(b == 0 ? a : a % b);", [], OpReg32>;

// ---- A --------------------------------------------------------------------------------------------------------------
// | 31 funct5 27 | 26 aq | 25 rl | 24 rs2 20 | 19 rs1 15 | 14 funct3 12 | 11 rd 7 | 6 opcode 0 |    Memory is in order: aq and rl change nothing.
// The address is a multiple of the width, as the A extension has it.
class AtomicInst<bits<5> funct5, bit aq, bit rl, bits<3> width, dag ins, string mnemonic, string operands, string doc, string semantics>
    : FormatR<OpAmo, {funct5, aq, rl}, width, (outs GPR:$rd), ins, mnemonic # !cond(!and(aq, rl): ".aqrl", aq: ".aq", rl: ".rl", true: ""),
              operands, Atomic, doc, semantics> {
  let mayLoad = 1;
  let mayStore = 1;
}
multiclass AtomicOrders<bits<5> funct5, bits<3> width, dag ins, string mnemonic, string operands, string doc, string semantics> {
  def "" : AtomicInst<funct5, 0, 0, width, ins, mnemonic, operands, doc, semantics>;
  def _AQ : AtomicInst<funct5, 1, 0, width, ins, mnemonic, operands, doc, semantics>;
  def _RL : AtomicInst<funct5, 0, 1, width, ins, mnemonic, operands, doc, semantics>;
  def _AQRL : AtomicInst<funct5, 1, 1, width, ins, mnemonic, operands, doc, semantics>;
}
// `value` computes what is stored from `old` and `operand`, both of the width's unsigned type.
multiclass Amo<bits<5> funct5, string mnemonic, string doc, string value> {
  defm _W : AtomicOrders<funct5, 0b010, (ins GPR:$rs2, GPR:$rs1), mnemonic # ".w", "$rd, $rs2, (${rs1})", doc # " 32 bits; returns the old value, sign-extended.",
    "using S = int32_t; using U = uint32_t; U old = load<U>(aligned<U>(rs1)), operand = (U)rs2; store<U>(rs1, " # value # "); rd = (int64_t)(S)old;">;
  defm _D : AtomicOrders<funct5, 0b011, (ins GPR:$rs2, GPR:$rs1), mnemonic # ".d", "$rd, $rs2, (${rs1})", doc # " 64 bits; returns the old value.",
    "using S = int64_t; using U = uint64_t; U old = load<U>(aligned<U>(rs1)), operand = (U)rs2; store<U>(rs1, " # value # "); rd = (uint64_t)(S)old;">;
}
defm AMOADD : Amo<0b00000, "amoadd", "Adds to memory, atomically.", "old + operand">;
defm AMOSWAP : Amo<0b00001, "amoswap", "Swaps with memory, atomically.", "operand">;
defm AMOXOR : Amo<0b00100, "amoxor", "Exclusive or into memory, atomically.", "old ^ operand">;
defm AMOAND : Amo<0b01100, "amoand", "And into memory, atomically.", "old & operand">;
defm AMOOR : Amo<0b01000, "amoor", "Or into memory, atomically.", "old | operand">;
defm AMOMIN : Amo<0b10000, "amomin", "Signed minimum into memory, atomically.", "(S)old < (S)operand ? old : operand">;
defm AMOMAX : Amo<0b10100, "amomax", "Signed maximum into memory, atomically.", "(S)old > (S)operand ? old : operand">;
defm AMOMINU : Amo<0b11000, "amominu", "Unsigned minimum into memory, atomically.", "old < operand ? old : operand">;
defm AMOMAXU : Amo<0b11100, "amomaxu", "Unsigned maximum into memory, atomically.", "old > operand ? old : operand">;

// The reservation names an address; the model may drop it at any time, and does when another core may have run in between.
multiclass Reserved<bits<3> width, string suffix, string signed, string unsigned> {
  let rs2 = 0 in
  defm LR # NAME : AtomicOrders<0b00010, width, (ins GPR:$rs1), "lr" # suffix, "$rd, (${rs1})", "Loads and reserves the address.",
    "uint64_t address = aligned<" # signed # ">(rs1); rd = (int64_t)load<" # signed # ">(address); core.reservation = address;">;
  defm SC # NAME : AtomicOrders<0b00011, width, (ins GPR:$rs2, GPR:$rs1), "sc" # suffix, "$rd, $rs2, (${rs1})",
    "Stores if the address is still reserved: 0 if it did, 1 if not.",
    "bool reserved = core.reservation == aligned<" # unsigned # ">(rs1); if (reserved) store<" # unsigned # ">(rs1, (" # unsigned # ")rs2); core.reservation = ~0ull; rd = !reserved;">;
}
defm _W : Reserved<0b010, ".w", "int32_t", "uint32_t">;
defm _D : Reserved<0b011, ".d", "int64_t", "uint64_t">;

// ---- Zba ------------------------------------------------------------------------------------------------------------
def ADD_UW : AluRR<0b0000100, 0b000, "add.uw", "Adds the zero-extended low 32 bits of the first.", "rd = rs2 + (uint32_t)rs1;",
                   [(set i64:$rd, (add (and i64:$rs1, 0xFFFFFFFF), i64:$rs2))], Alu, OpReg32>;
foreach n = 1-3 in {
  def SH#n#ADD : AluRR<0b0010000, !shl(n, 1), "sh" # n # "add", "Shifts the first left by " # n # " and adds.", "rd = rs2 + (rs1 << " # n # ");",
                       [(set i64:$rd, (add (shl i64:$rs1, (i64 n)), i64:$rs2))]>;
  def SH#n#ADD_UW : AluRR<0b0010000, !shl(n, 1), "sh" # n # "add.uw", "Shifts the zero-extended low 32 bits of the first left by " # n # " and adds.",
                          "rd = rs2 + ((uint64_t)(uint32_t)rs1 << " # n # ");",
                          [(set i64:$rd, (add (shl (and i64:$rs1, 0xFFFFFFFF), (i64 n)), i64:$rs2))], Alu, OpReg32>;
}
def SLLI_UW : Shift<0b000010, 0b001, "slli.uw", "Shifts the zero-extended low 32 bits left.", "rd = (uint64_t)(uint32_t)rs1 << imm;",
                    [(set i64:$rd, (shl (and i64:$rs1, 0xFFFFFFFF), uimm6:$imm))], OpImm32>;

// ---- Zbb ------------------------------------------------------------------------------------------------------------
def ANDN : AluRR<0b0100000, 0b111, "andn", "And with the complement of the second.", "rd = rs1 & ~rs2;", [(set i64:$rd, (and i64:$rs1, (not i64:$rs2)))]>;
def ORN : AluRR<0b0100000, 0b110, "orn", "Or with the complement of the second.", "rd = rs1 | ~rs2;", [(set i64:$rd, (or i64:$rs1, (not i64:$rs2)))]>;
def XNOR : AluRR<0b0100000, 0b100, "xnor", "Complement of the exclusive or.", "rd = ~(rs1 ^ rs2);", [(set i64:$rd, (not (xor i64:$rs1, i64:$rs2)))]>;
def CLZ : AluR<0b0110000, 0, 0b001, "clz", "Counts leading zeros; 64 for 0.", "rd = rs1 ? __builtin_clzll(rs1) : 64;", [(set i64:$rd, (ctlz i64:$rs1))]>;
def CTZ : AluR<0b0110000, 1, 0b001, "ctz", "Counts trailing zeros; 64 for 0.", "rd = rs1 ? __builtin_ctzll(rs1) : 64;", [(set i64:$rd, (cttz i64:$rs1))]>;
def CPOP : AluR<0b0110000, 2, 0b001, "cpop", "Counts ones.", "rd = __builtin_popcountll(rs1);", [(set i64:$rd, (ctpop i64:$rs1))]>;
def CLZW : AluR<0b0110000, 0, 0b001, "clzw", "Counts leading zeros of the low 32 bits; 32 for 0.", "rd = (uint32_t)rs1 ? __builtin_clz((uint32_t)rs1) : 32;", [], OpImm32>;
def CTZW : AluR<0b0110000, 1, 0b001, "ctzw", "Counts trailing zeros of the low 32 bits; 32 for 0.", "rd = (uint32_t)rs1 ? __builtin_ctz((uint32_t)rs1) : 32;", [], OpImm32>;
def CPOPW : AluR<0b0110000, 2, 0b001, "cpopw", "Counts ones of the low 32 bits.", "rd = __builtin_popcount((uint32_t)rs1);",
                 [(set i64:$rd, (ctpop (and i64:$rs1, 0xFFFFFFFF)))], OpImm32>;
let isCommutable = 1 in {
def MAX : AluRR<0b0000101, 0b110, "max", "The greater, signed.", "rd = (int64_t)rs1 > (int64_t)rs2 ? rs1 : rs2;", Binary<smax>.Pattern>;
def MAXU : AluRR<0b0000101, 0b111, "maxu", "The greater, unsigned.", "rd = rs1 > rs2 ? rs1 : rs2;", Binary<umax>.Pattern>;
def MIN : AluRR<0b0000101, 0b100, "min", "The lesser, signed.", "rd = (int64_t)rs1 < (int64_t)rs2 ? rs1 : rs2;", Binary<smin>.Pattern>;
def MINU : AluRR<0b0000101, 0b101, "minu", "The lesser, unsigned.", "rd = rs1 < rs2 ? rs1 : rs2;", Binary<umin>.Pattern>;
}
def SEXT_B : AluR<0b0110000, 4, 0b001, "sext.b", "Sign-extends the low byte.", "rd = (int64_t)(int8_t)rs1;", [(set i64:$rd, (sext_inreg i64:$rs1, i8))]>;
def SEXT_H : AluR<0b0110000, 5, 0b001, "sext.h", "Sign-extends the low 16 bits.", "rd = (int64_t)(int16_t)rs1;", [(set i64:$rd, (sext_inreg i64:$rs1, i16))]>;
def ZEXT_H : AluR<0b0000100, 0, 0b100, "zext.h", "Zero-extends the low 16 bits.", "rd = (uint16_t)rs1;", [(set i64:$rd, (and i64:$rs1, 0xFFFF))], OpReg32>;
def ROL : AluRR<0b0110000, 0b001, "rol", "Rotates left.", "unsigned n = rs2 & 63; rd = rs1 << n | rs1 >> (-n & 63);", Binary<rotl>.Pattern>;
def ROR : AluRR<0b0110000, 0b101, "ror", "Rotates right.", "unsigned n = rs2 & 63; rd = rs1 >> n | rs1 << (-n & 63);", Binary<rotr>.Pattern>;
def RORI : Shift<0b011000, 0b101, "rori", "Rotates right.", "rd = rs1 >> imm | rs1 << (-imm & 63);", [(set i64:$rd, (rotr i64:$rs1, uimm6:$imm))]>;
def ROLW : AluRR<0b0110000, 0b001, "rolw", "Rotates the low 32 bits left.",
                 "unsigned n = rs2 & 31; uint32_t a = (uint32_t)rs1; rd = (int64_t)(int32_t)(a << n | a >> (-n & 31));", [], Alu, OpReg32>;
def RORW : AluRR<0b0110000, 0b101, "rorw", "Rotates the low 32 bits right.",
                 "unsigned n = rs2 & 31; uint32_t a = (uint32_t)rs1; rd = (int64_t)(int32_t)(a >> n | a << (-n & 31));", [], Alu, OpReg32>;
def RORIW : ShiftW<0b0110000, 0b101, "roriw", "Rotates the low 32 bits right.",
                   "uint32_t a = (uint32_t)rs1; rd = (int64_t)(int32_t)(a >> imm | a << (-imm & 31));">;
def ORC_B : AluR<0b0010100, 7, 0b101, "orc.b", "Fills every byte that is not zero with ones.",
                 "uint64_t value = rs1, result = 0; for (int i = 0; i < 64; i += 8) if (value >> i & 255) result |= 255ull << i; rd = result;">;
def REV8 : AluR<0b0110101, 24, 0b101, "rev8", "Reverses the bytes.", "rd = __builtin_bswap64(rs1);", [(set i64:$rd, (bswap i64:$rs1))]>;

// ---- Zfinx, Zdinx ---------------------------------------------------------------------------------------------------
// `T`: s or d, f32 or f64. Where an operand `rm` stands, its rounding mode is used (7: the frm register's); flags accrue in fflags.
class FloatR<bits<5> funct5, bits<2> format, string mnemonic, Timing timing, string doc, string semantics>
    : FormatR<OpFloat, {funct5, format}, 0, (outs GPR:$rd), (ins GPR:$rs1, GPR:$rs2, rounding:$rm), mnemonic, "$rd, $rs1, $rs2$rm", timing, doc, semantics> {
  bits<3> rm;
  let Inst{14-12} = rm;
}
class FloatU<bits<5> funct5, bits<2> format, bits<5> sub, string mnemonic, Timing timing, string doc, string semantics, dag rounding = (ins rounding:$rm)>
    : FormatR<OpFloat, {funct5, format}, 0, (outs GPR:$rd), !con((ins GPR:$rs1), rounding), mnemonic, "$rd, $rs1$rm", timing, doc, semantics> {
  bits<3> rm;
  let rs2 = sub;
  let Inst{14-12} = rm;
}
class FloatF<bits<5> funct5, bits<2> format, bits<3> funct3, string mnemonic, Timing timing, string doc, string semantics>
    : FormatR<OpFloat, {funct5, format}, funct3, (outs GPR:$rd), (ins GPR:$rs1, GPR:$rs2), mnemonic, "$rd, $rs1, $rs2", timing, doc, semantics>;
class FloatMulAdd<Major op, bits<2> format, string mnemonic, string doc, string semantics>
    : FormatR4<op, format, 0, (outs GPR:$rd), (ins GPR:$rs1, GPR:$rs2, GPR:$rs3, rounding:$rm), mnemonic, "$rd, $rs1, $rs2, $rs3$rm", Float, doc, semantics> {
  bits<3> rm;
  let Inst{14-12} = rm;
}
multiclass Floats<bits<2> format, string t, string width, string unsigned, Timing divide> {
  defvar F = "f" # width;
  defvar a = F # "(rs1)";
  defvar b = F # "(rs2)";
  defvar c = F # "(rs3)";
  def FMADD_#NAME : FloatMulAdd<OpMadd, format, "fmadd." # t, "a * b + c, rounded once.", "rd = bits(fp::fma" # width # "(" # a # ", " # b # ", " # c # ", rm, flags));">;
  def FMSUB_#NAME : FloatMulAdd<OpMsub, format, "fmsub." # t, "a * b - c, rounded once.", "rd = bits(fp::fma" # width # "(" # a # ", " # b # ", -" # c # ", rm, flags));">;
  def FNMSUB_#NAME : FloatMulAdd<OpNmsub, format, "fnmsub." # t, "-(a * b) + c, rounded once.", "rd = bits(fp::fma" # width # "(-" # a # ", " # b # ", " # c # ", rm, flags));">;
  def FNMADD_#NAME : FloatMulAdd<OpNmadd, format, "fnmadd." # t, "-(a * b) - c, rounded once.", "rd = bits(fp::fma" # width # "(-" # a # ", " # b # ", -" # c # ", rm, flags));">;
  let isCommutable = 1 in {
  def FADD_#NAME : FloatR<0b00000, format, "fadd." # t, Float, "Adds.", "rd = bits(fp::add" # width # "(" # a # ", " # b # ", rm, flags));">;
  def FMUL_#NAME : FloatR<0b00010, format, "fmul." # t, Float, "Multiplies.", "rd = bits(fp::mul" # width # "(" # a # ", " # b # ", rm, flags));">;
  }
  def FSUB_#NAME : FloatR<0b00001, format, "fsub." # t, Float, "Subtracts.", "rd = bits(fp::sub" # width # "(" # a # ", " # b # ", rm, flags));">;
  def FDIV_#NAME : FloatR<0b00011, format, "fdiv." # t, divide, "Divides.", "rd = bits(fp::div" # width # "(" # a # ", " # b # ", rm, flags));">;
  def FSQRT_#NAME : FloatU<0b01011, format, 0, "fsqrt." # t, divide, "Square root.", "rd = bits(fp::sqrt" # width # "(" # a # ", rm, flags));">;
  defvar magnitude = "(" # unsigned # ")rs1 & (" # unsigned # ")~sign";
  defvar signs = unsigned # " sign = (" # unsigned # ")1 << (sizeof(" # unsigned # ") * 8 - 1); ";
  defvar result = "rd = sizeof(" # unsigned # ") == 4 ? (uint64_t)(int64_t)(int32_t)result : (uint64_t)result;";
  def FSGNJ_#NAME : FloatF<0b00100, format, 0b000, "fsgnj." # t, FloatMove, "The first with the sign of the second.",
    signs # unsigned # " result = (" # magnitude # ") | ((" # unsigned # ")rs2 & sign); " # result>;
  def FSGNJN_#NAME : FloatF<0b00100, format, 0b001, "fsgnjn." # t, FloatMove, "The first with the opposite sign of the second.",
    signs # unsigned # " result = (" # magnitude # ") | (~(" # unsigned # ")rs2 & sign); " # result>;
  def FSGNJX_#NAME : FloatF<0b00100, format, 0b010, "fsgnjx." # t, FloatMove, "The first with the product of the signs.",
    signs # unsigned # " result = (" # unsigned # ")rs1 ^ ((" # unsigned # ")rs2 & sign); " # result>;
  let isCommutable = 1 in {
  def FMIN_#NAME : FloatF<0b00101, format, 0b000, "fmin." # t, FloatMove, "The lesser; of a number and a NaN, the number.", "rd = bits(fp::min" # width # "(" # a # ", " # b # ", flags));">;
  def FMAX_#NAME : FloatF<0b00101, format, 0b001, "fmax." # t, FloatMove, "The greater; of a number and a NaN, the number.", "rd = bits(fp::max" # width # "(" # a # ", " # b # ", flags));">;
  def FEQ_#NAME : FloatF<0b10100, format, 0b010, "feq." # t, FloatMove, "1 if equal, else 0; quiet.", "rd = fp::eq" # width # "(" # a # ", " # b # ", flags);">;
  }
  def FLT_#NAME : FloatF<0b10100, format, 0b001, "flt." # t, FloatMove, "1 if less, else 0.", "rd = fp::lt" # width # "(" # a # ", " # b # ", flags);">;
  def FLE_#NAME : FloatF<0b10100, format, 0b000, "fle." # t, FloatMove, "1 if less or equal, else 0.", "rd = fp::le" # width # "(" # a # ", " # b # ", flags);">;
  def FCLASS_#NAME : FormatR<OpFloat, {0b11100, format}, 0b001, (outs GPR:$rd), (ins GPR:$rs1), "fclass." # t, "$rd, $rs1", FloatMove,
    "One bit: -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf, signalling NaN, quiet NaN.", "rd = fp::classify" # width # "(" # a # ");"> { let rs2 = 0; }
  def FCVT_W_#NAME : FloatU<0b11000, format, 0, "fcvt.w." # t, Float, "To a signed 32-bit integer, saturating; NaN gives the greatest.", "rd = (int64_t)fp::to_int<int32_t>(" # a # ", rm, flags);">;
  def FCVT_WU_#NAME : FloatU<0b11000, format, 1, "fcvt.wu." # t, Float, "To an unsigned 32-bit integer, saturating, the result sign-extended.", "rd = (int64_t)(int32_t)fp::to_int<uint32_t>(" # a # ", rm, flags);">;
  def FCVT_L_#NAME : FloatU<0b11000, format, 2, "fcvt.l." # t, Float, "To a signed 64-bit integer, saturating.", "rd = (uint64_t)fp::to_int<int64_t>(" # a # ", rm, flags);">;
  def FCVT_LU_#NAME : FloatU<0b11000, format, 3, "fcvt.lu." # t, Float, "To an unsigned 64-bit integer, saturating.", "rd = fp::to_int<uint64_t>(" # a # ", rm, flags);">;
  defvar type = !if(!eq(t, "s"), "float", "double");
  defvar narrow = !if(!eq(t, "s"), (ins rounding:$rm), (ins exact_rounding:$rm)); // a double holds every 32-bit integer
  def FCVT_#NAME#_W : FloatU<0b11010, format, 0, "fcvt." # t # ".w", Float, "From a signed 32-bit integer.", "rd = bits(fp::from_int<" # type # ">((int32_t)rs1, rm, flags));", narrow>;
  def FCVT_#NAME#_WU : FloatU<0b11010, format, 1, "fcvt." # t # ".wu", Float, "From an unsigned 32-bit integer.", "rd = bits(fp::from_int<" # type # ">((uint32_t)rs1, rm, flags));", narrow>;
  def FCVT_#NAME#_L : FloatU<0b11010, format, 2, "fcvt." # t # ".l", Float, "From a signed 64-bit integer.", "rd = bits(fp::from_int<" # type # ">((int64_t)rs1, rm, flags));">;
  def FCVT_#NAME#_LU : FloatU<0b11010, format, 3, "fcvt." # t # ".lu", Float, "From an unsigned 64-bit integer.", "rd = bits(fp::from_int<" # type # ">((uint64_t)rs1, rm, flags));">;
}
defm S : Floats<0b00, "s", "32", "uint32_t", FloatDivide>;
defm D : Floats<0b01, "d", "64", "uint64_t", FloatDivide64>;
def FCVT_S_D : FloatU<0b01000, 0b00, 1, "fcvt.s.d", Float, "From f64 to f32.", "rd = bits(fp::narrow(f64(rs1), rm, flags));">;
def FCVT_D_S : FloatU<0b01000, 0b01, 0, "fcvt.d.s", Float, "From f32 to f64, exact.", "(void)rm; rd = bits(fp::widen(f32(rs1), flags));", (ins exact_rounding:$rm)>;

// ---- Pseudo instructions --------------------------------------------------------------------------------------------
// A call of any distance: the encoder writes `auipc ra, ...; jalr ra, ra, ...` with one relocation R_RISCV_CALL_PLT.
let isCall = 1, Size = 8, Defs = [X1] in
def PseudoCALL : Pseudo<(outs), (ins call_target:$target), "call", "$target">;
// As PseudoCALL, through t1, for a call that does not return here.
let isCall = 1, isTerminator = 1, isReturn = 1, isBarrier = 1, Size = 8, Defs = [X6] in
def PseudoTAIL : Pseudo<(outs), (ins call_target:$target), "tail", "$target">;
// The address of a symbol: `auipc rd, %pcrel_hi(symbol); addi rd, rd, %pcrel_lo(label of the auipc)`.
let isReMaterializable = 1, Size = 8 in {
def PseudoLLA : Pseudo<(outs GPR:$rd), (ins bare_symbol:$symbol), "lla", "$rd, $symbol">;
def PseudoLA : Pseudo<(outs GPR:$rd), (ins bare_symbol:$symbol), "la", "$rd, $symbol">;
}
// Any 64-bit constant, by the shortest sequence (parser only).
let Size = 32 in
def PseudoLI : Pseudo<(outs GPR:$rd), (ins any_constant:$imm), "li", "$rd, $imm">;

// ---- Other spellings. Emitted where the last argument is 1 --------------------------------------------------------------
def : InstAlias<"nop", (ADDI X0, X0, 0), 3>;
def : InstAlias<"li $rd, $imm", (ADDI GPR:$rd, X0, simm12:$imm), 2>;
def : InstAlias<"mv $rd, $rs", (ADDI GPR:$rd, GPR:$rs, 0), 1>;
def : InstAlias<"not $rd, $rs", (XORI GPR:$rd, GPR:$rs, -1), 1>;
def : InstAlias<"neg $rd, $rs", (SUB GPR:$rd, X0, GPR:$rs), 1>;
def : InstAlias<"negw $rd, $rs", (SUBW GPR:$rd, X0, GPR:$rs), 1>;
def : InstAlias<"sext.w $rd, $rs", (ADDIW GPR:$rd, GPR:$rs, 0), 1>;
def : InstAlias<"zext.w $rd, $rs", (ADD_UW GPR:$rd, GPR:$rs, X0), 1>;
def : InstAlias<"zext.b $rd, $rs", (ANDI GPR:$rd, GPR:$rs, 255), 1>;
def : InstAlias<"seqz $rd, $rs", (SLTIU GPR:$rd, GPR:$rs, 1), 1>;
def : InstAlias<"snez $rd, $rs", (SLTU GPR:$rd, X0, GPR:$rs), 1>;
def : InstAlias<"sltz $rd, $rs", (SLT GPR:$rd, GPR:$rs, X0), 1>;
def : InstAlias<"sgtz $rd, $rs", (SLT GPR:$rd, X0, GPR:$rs), 1>;
def : InstAlias<"sgt $rd, $rs, $rt", (SLT GPR:$rd, GPR:$rt, GPR:$rs), 0>;
def : InstAlias<"sgtu $rd, $rs, $rt", (SLTU GPR:$rd, GPR:$rt, GPR:$rs), 0>;
def : InstAlias<"beqz $rs, $target", (BEQ GPR:$rs, X0, branch_target:$target), 1>;
def : InstAlias<"bnez $rs, $target", (BNE GPR:$rs, X0, branch_target:$target), 1>;
def : InstAlias<"blez $rs, $target", (BGE X0, GPR:$rs, branch_target:$target), 1>;
def : InstAlias<"bgez $rs, $target", (BGE GPR:$rs, X0, branch_target:$target), 1>;
def : InstAlias<"bltz $rs, $target", (BLT GPR:$rs, X0, branch_target:$target), 1>;
def : InstAlias<"bgtz $rs, $target", (BLT X0, GPR:$rs, branch_target:$target), 1>;
def : InstAlias<"bgt $rs, $rt, $target", (BLT GPR:$rt, GPR:$rs, branch_target:$target), 0>;
def : InstAlias<"ble $rs, $rt, $target", (BGE GPR:$rt, GPR:$rs, branch_target:$target), 0>;
def : InstAlias<"bgtu $rs, $rt, $target", (BLTU GPR:$rt, GPR:$rs, branch_target:$target), 0>;
def : InstAlias<"bleu $rs, $rt, $target", (BGEU GPR:$rt, GPR:$rs, branch_target:$target), 0>;
def : InstAlias<"j $target", (JAL X0, jump_target:$target), 1>;
def : InstAlias<"jal $target", (JAL X1, jump_target:$target), 1>;
def : InstAlias<"ret", (JALR X0, X1, 0), 3>;
def : InstAlias<"jr $rs", (JALR X0, GPR:$rs, 0), 2>;
def : InstAlias<"jr ${imm}(${rs})", (JALR X0, GPR:$rs, simm12:$imm), 1>;
def : InstAlias<"jalr $rs", (JALR X1, GPR:$rs, 0), 2>;
def : InstAlias<"jalr ${imm}(${rs})", (JALR X1, GPR:$rs, simm12:$imm), 1>;
def : InstAlias<"jalr $rd, $rs", (JALR GPR:$rd, GPR:$rs, 0), 0>;
def : InstAlias<"jalr $rd, $rs, $imm", (JALR GPR:$rd, GPR:$rs, simm12:$imm), 0>;
def : InstAlias<"fence", (FENCE 15, 15), 1>;
def : InstAlias<"unimp", (CSRRW X0, 0xC00, X0), 2>;
def : InstAlias<"csrr $rd, $csr", (CSRRS GPR:$rd, csr_number:$csr, X0), 1>;
def : InstAlias<"csrw $csr, $rs", (CSRRW X0, csr_number:$csr, GPR:$rs), 1>;
def : InstAlias<"csrs $csr, $rs", (CSRRS X0, csr_number:$csr, GPR:$rs), 1>;
def : InstAlias<"csrc $csr, $rs", (CSRRC X0, csr_number:$csr, GPR:$rs), 1>;
def : InstAlias<"csrwi $csr, $imm", (CSRRWI X0, csr_number:$csr, uimm5:$imm), 1>;
def : InstAlias<"csrsi $csr, $imm", (CSRRSI X0, csr_number:$csr, uimm5:$imm), 1>;
def : InstAlias<"csrci $csr, $imm", (CSRRCI X0, csr_number:$csr, uimm5:$imm), 1>;
def : InstAlias<"rdcycle $rd", (CSRRS GPR:$rd, 0xC00, X0), 1>;
def : InstAlias<"rdtime $rd", (CSRRS GPR:$rd, 0xC01, X0), 1>;
def : InstAlias<"rdinstret $rd", (CSRRS GPR:$rd, 0xC02, X0), 1>;
// An immediate in place of the last register.
def : InstAlias<"add $rd, $rs, $imm", (ADDI GPR:$rd, GPR:$rs, simm12:$imm), 0>;
def : InstAlias<"addw $rd, $rs, $imm", (ADDIW GPR:$rd, GPR:$rs, simm12:$imm), 0>;
def : InstAlias<"and $rd, $rs, $imm", (ANDI GPR:$rd, GPR:$rs, simm12:$imm), 0>;
def : InstAlias<"or $rd, $rs, $imm", (ORI GPR:$rd, GPR:$rs, simm12:$imm), 0>;
def : InstAlias<"xor $rd, $rs, $imm", (XORI GPR:$rd, GPR:$rs, simm12:$imm), 0>;
def : InstAlias<"sll $rd, $rs, $imm", (SLLI GPR:$rd, GPR:$rs, uimm6:$imm), 0>;
def : InstAlias<"srl $rd, $rs, $imm", (SRLI GPR:$rd, GPR:$rs, uimm6:$imm), 0>;
def : InstAlias<"sra $rd, $rs, $imm", (SRAI GPR:$rd, GPR:$rs, uimm6:$imm), 0>;
foreach t = ["s", "d"] in {
  defvar T = !toupper(t);
  def : InstAlias<"fmv." # t # " $rd, $rs", (!cast<Instruction>("FSGNJ_" # T) GPR:$rd, GPR:$rs, GPR:$rs), 0>;
  def : InstAlias<"fneg." # t # " $rd, $rs", (!cast<Instruction>("FSGNJN_" # T) GPR:$rd, GPR:$rs, GPR:$rs), 1>;
  def : InstAlias<"fabs." # t # " $rd, $rs", (!cast<Instruction>("FSGNJX_" # T) GPR:$rd, GPR:$rs, GPR:$rs), 1>;
  def : InstAlias<"fgt." # t # " $rd, $rs, $rt", (!cast<Instruction>("FLT_" # T) GPR:$rd, GPR:$rt, GPR:$rs), 0>;
  def : InstAlias<"fge." # t # " $rd, $rs, $rt", (!cast<Instruction>("FLE_" # T) GPR:$rd, GPR:$rt, GPR:$rs), 0>;
}
// No distance.
foreach m = ["LB", "LH", "LW", "LD", "LBU", "LHU", "LWU"] in
  def : InstAlias<!tolower(m) # " $rd, (${rs1})", (!cast<Instruction>(m) GPR:$rd, GPR:$rs1, 0), 0>;
foreach m = ["SB", "SH", "SW", "SD"] in
  def : InstAlias<!tolower(m) # " $rs2, (${rs1})", (!cast<Instruction>(m) GPR:$rs2, GPR:$rs1, 0), 0>;
