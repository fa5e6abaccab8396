// Operands, the fields of a record, and the encoding formats.
//
// A record's immediate fields hold the operand's value itself, with its low bits left out of the encoding where the operand is
// scaled: a branch distance is `bits<13> imm` of which imm{12-1} are encoded. So the model's decoder collects the bits it finds, sets the others to
// zero, and extends the sign from the operand's `Width` if it is `Signed`.

// ---- Operands -------------------------------------------------------------------------------------------------------
class ImmediateClass<string name, string diagnostic> : AsmOperandClass {
  let Name = name;
  let RenderMethod = "addImmOperands";
  let DiagnosticType = "Invalid" # name;
  let DiagnosticString = "expected " # diagnostic;
}
class ParsedClass<string name, string diagnostic> : ImmediateClass<name, diagnostic> { let ParserMethod = "parse" # name; }
// An integer operand of `width` bits that is a multiple of `scale`; the parser's predicate for it is is<name>.
class Immediate<AsmOperandClass parsed, int width, bit signed, int scale = 1, ValueType type = i64> : Operand<type> {
  int Width = width;
  bit Signed = signed;
  int Scale = scale;
  let ParserMatchClass = parsed;
  let EncoderMethod = "getImmOpValue";
  let DecoderMethod = !if(signed, "decodeSImm<", "decodeUImm<") # width # ">";
  let OperandType = "OPERAND_IMMEDIATE";
}
class Constant<AsmOperandClass parsed, int width, bit signed, int scale = 1>
    : Immediate<parsed, width, signed, scale>,
      ImmLeaf<i64, "return " # !if(signed, "isInt<", "isUInt<") # width # ">(Imm)" # !if(!gt(scale, 1), " && Imm % " # scale # " == 0", "") # ";">;

def simm12 : Constant<ImmediateClass<"SImm12", "an integer from -2048 to 2047, or %lo or %pcrel_lo of a symbol">, 12, 1>;
def uimm7 : Constant<ImmediateClass<"UImm7", "an integer from 0 to 127">, 7, 0>;
def uimm6 : Constant<ImmediateClass<"UImm6", "an integer from 0 to 63">, 6, 0>;
def uimm5 : Constant<ImmediateClass<"UImm5", "an integer from 0 to 31">, 5, 0>;
def uimm3 : Constant<ImmediateClass<"UImm3", "an integer from 0 to 7">, 3, 0>;
def uimm2 : Constant<ImmediateClass<"UImm2", "an integer from 0 to 3">, 2, 0>;
def uimm1 : Constant<ImmediateClass<"UImm1", "0 or 1">, 1, 0>;
def queue : Constant<ImmediateClass<"Queue", "a queue: an integer from 0 to 5">, 3, 0> { let DecoderMethod = "decodeQueue"; }
def uimm20 : Immediate<ImmediateClass<"UImm20", "an integer from 0 to 1048575, or %hi or %pcrel_hi of a symbol">, 20, 0>;
class TargetAddress<string name, string diagnostic, int width> : Immediate<ImmediateClass<name, diagnostic>, width, 1, 2, OtherVT> {
  let PrintMethod = "printBranchTarget";
  let OperandType = "OPERAND_PCREL";
}
def branch_target : TargetAddress<"BranchTarget", "a label or an even distance from -4096 to 4094", 13>;
def jump_target : TargetAddress<"JumpTarget", "a label or an even distance from -1048576 to 1048574", 21>;
def call_target : Operand<i64> { let ParserMatchClass = ImmediateClass<"CallTarget", "the name of a function">; let EncoderMethod = "getImmOpValue"; }
def bare_symbol : Operand<i64> { let ParserMatchClass = ImmediateClass<"BareSymbol", "the name of a symbol">; }
def any_constant : Operand<i64> { let ParserMatchClass = ImmediateClass<"AnyConstant", "an integer of 64 bits">; }

// Distances of vector accesses count 16 bytes, those of an element that is broadcast count elements: in the encoding. The operand, in
// assembly and in the compiler, is the distance in bytes.
def vdistance : Constant<ImmediateClass<"VectorDistance", "a multiple of 16 from -8192 to 8176">, 14, 1, 16>;
def distance4 : Constant<ImmediateClass<"Distance4", "a multiple of 4 from -2048 to 2044">, 12, 1, 4>;
def distance2 : Constant<ImmediateClass<"Distance2", "an even integer from -1024 to 1022">, 11, 1, 2>;
def distance1 : Constant<ImmediateClass<"Distance1", "an integer from -512 to 511">, 10, 1>;

// Operands with words of their own.
class NamedOperand<string name, string diagnostic, int width> : Constant<ParsedClass<name, diagnostic>, width, 0> {
  let PrintMethod = "print" # name;
}
def csr_number : NamedOperand<"ControlRegister", "the name of a control and status register, or its number from 0 to 4095", 12>;
def fence_set : NamedOperand<"FenceSet", "a set of `i`, `o`, `r`, `w` in this order", 4>;
// A rounding mode; left out, it is `dyn`: that of the frm register.
def Rounding : ParsedClass<"Rounding", "a rounding mode: rne, rtz, rdn, rup, rmm or dyn"> {
  let IsOptional = true;
  let DefaultMethod = "defaultRounding";
}
def rounding : Immediate<Rounding, 3, 0> {
  let PrintMethod = "printRounding";
  let DecoderMethod = "decodeRounding";
}
// Of a conversion that is always exact: left out, it is `rne`.
def ExactRounding : ParsedClass<"ExactRounding", "a rounding mode: rne, rtz, rdn, rup, rmm or dyn"> {
  let ParserMethod = "parseRounding";
  let IsOptional = true;
  let DefaultMethod = "defaultExactRounding";
}
def exact_rounding : Immediate<ExactRounding, 3, 0> {
  let PrintMethod = "printExactRounding";
  let DecoderMethod = "decodeRounding";
}

// ---- Records --------------------------------------------------------------------------------------------------------
// `assembly` are the mnemonic and the operands. What `semantics` may say stands in README.md.
class DougongInst<dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics, list<dag> pattern = []>
    : Instruction {
  let Namespace = "Dougong";
  let OutOperandList = outs;
  let InOperandList = ins;
  let AsmString = mnemonic # !if(!empty(operands), "", "\t" # operands);
  let Pattern = pattern;
  let Size = 4;
  let hasSideEffects = 0;
  let mayLoad = 0;
  let mayStore = 0;
  let SchedRW = [timing];
  bits<32> Inst = 0;
  bits<32> SoftFail = 0;
  bits<32> Ignored = 0; // fields that are 0 in assembly and that the machine does not look at
  let DecoderNamespace = "Dougong";

  string Mnemonic = mnemonic;
  Unit ExecutionUnit = timing.ExecutionUnit;
  int Latency = timing.Latency;
  int Occupancy = timing.Occupancy;
  string Documentation = doc;
  string Semantics = semantics;

  bits<7> Opcode = 0;
  let Inst{6-0} = Opcode;
}

// The major opcodes in use.
class Major<bits<7> value> { bits<7> Value = value; }
def OpLoad : Major<0b0000011>;
def OpFence : Major<0b0001111>;
def OpImm : Major<0b0010011>;
def OpAuipc : Major<0b0010111>;
def OpImm32 : Major<0b0011011>;
def OpStore : Major<0b0100011>;
def OpAmo : Major<0b0101111>;
def OpReg : Major<0b0110011>;
def OpLui : Major<0b0110111>;
def OpReg32 : Major<0b0111011>;
def OpMadd : Major<0b1000011>;
def OpMsub : Major<0b1000111>;
def OpNmsub : Major<0b1001011>;
def OpNmadd : Major<0b1001111>;
def OpFloat : Major<0b1010011>;
def OpBranch : Major<0b1100011>;
def OpJalr : Major<0b1100111>;
def OpJal : Major<0b1101111>;
def OpSystem : Major<0b1110011>;
def OpVector : Major<0x0B>;       // custom-0: up to two sources
def OpVectorMemory : Major<0x2B>; // custom-1: vector loads and stores
def OpVector4 : Major<0x5B>;      // custom-2: three sources
def OpEngine : Major<0x7B>;       // custom-3: commands and flags

// | 31 funct7 25 | 24 rs2 20 | 19 rs1 15 | 14 funct3 12 | 11 rd 7 | 6 opcode 0 |
class FormatR<Major op, bits<7> funct7, bits<3> funct3, dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics,
              list<dag> pattern = []> : DougongInst<outs, ins, mnemonic, operands, timing, doc, semantics, pattern> {
  bits<5> rd;
  bits<5> rs1;
  bits<5> rs2;
  let Opcode = op.Value;
  let Inst{31-25} = funct7;
  let Inst{24-20} = rs2;
  let Inst{19-15} = rs1;
  let Inst{14-12} = funct3;
  let Inst{11-7} = rd;
}

// | 31 imm[11:0] 20 | 19 rs1 15 | 14 funct3 12 | 11 rd 7 | 6 opcode 0 |
class FormatI<Major op, bits<3> funct3, dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics,
              list<dag> pattern = []> : DougongInst<outs, ins, mnemonic, operands, timing, doc, semantics, pattern> {
  bits<5> rd;
  bits<5> rs1;
  bits<12> imm;
  let Opcode = op.Value;
  let Inst{31-20} = imm;
  let Inst{19-15} = rs1;
  let Inst{14-12} = funct3;
  let Inst{11-7} = rd;
}

// | 31 imm[11:5] 25 | 24 rs2 20 | 19 rs1 15 | 14 funct3 12 | 11 imm[4:0] 7 | 6 opcode 0 |
class FormatS<Major op, bits<3> funct3, dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics,
              list<dag> pattern = []> : DougongInst<outs, ins, mnemonic, operands, timing, doc, semantics, pattern> {
  bits<5> rs1;
  bits<5> rs2;
  bits<12> imm;
  let Opcode = op.Value;
  let Inst{31-25} = imm{11-5};
  let Inst{24-20} = rs2;
  let Inst{19-15} = rs1;
  let Inst{14-12} = funct3;
  let Inst{11-7} = imm{4-0};
}

// | 31 imm[12] | 30 imm[10:5] 25 | 24 rs2 20 | 19 rs1 15 | 14 funct3 12 | 11 imm[4:1] 8 | 7 imm[11] | 6 opcode 0 |
class FormatB<bits<3> funct3, string mnemonic, string doc, string semantics>
    : DougongInst<(outs), (ins GPR:$rs1, GPR:$rs2, branch_target:$imm), mnemonic, "$rs1, $rs2, $imm", Branch, doc, semantics> {
  bits<5> rs1;
  bits<5> rs2;
  bits<13> imm;
  let Opcode = OpBranch.Value;
  let Inst{31} = imm{12};
  let Inst{30-25} = imm{10-5};
  let Inst{24-20} = rs2;
  let Inst{19-15} = rs1;
  let Inst{14-12} = funct3;
  let Inst{11-8} = imm{4-1};
  let Inst{7} = imm{11};
  let isBranch = 1;
  let isTerminator = 1;
}

// | 31 imm[19:0] 12 | 11 rd 7 | 6 opcode 0 |
class FormatU<Major op, dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics>
    : DougongInst<outs, ins, mnemonic, operands, timing, doc, semantics> {
  bits<5> rd;
  bits<20> imm;
  let Opcode = op.Value;
  let Inst{31-12} = imm;
  let Inst{11-7} = rd;
}

// | 31 rs3 27 | 26 funct2 25 | 24 rs2 20 | 19 rs1 15 | 14 funct3 12 | 11 rd 7 | 6 opcode 0 |
class FormatR4<Major op, bits<2> funct2, bits<3> funct3, dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics,
               list<dag> pattern = []> : DougongInst<outs, ins, mnemonic, operands, timing, doc, semantics, pattern> {
  bits<5> rd;
  bits<5> rs1;
  bits<5> rs2;
  bits<5> rs3;
  let Opcode = op.Value;
  let Inst{31-27} = rs3;
  let Inst{26-25} = funct2;
  let Inst{24-20} = rs2;
  let Inst{19-15} = rs1;
  let Inst{14-12} = funct3;
  let Inst{11-7} = rd;
}

// What exists in assembly or before encoding only: expanded by the assembler's parser or by the encoder.
class Pseudo<dag outs, dag ins, string mnemonic, string operands, list<dag> pattern = []> : Instruction {
  let Namespace = "Dougong";
  let OutOperandList = outs;
  let InOperandList = ins;
  let AsmString = mnemonic # !if(!empty(operands), "", "\t" # operands);
  let Pattern = pattern;
  let isPseudo = 1;
  let isCodeGenOnly = 0;
  let hasSideEffects = 0;
  let mayLoad = 0;
  let mayStore = 0;
  let Size = 4;
  let SchedRW = [Alu];
}

// The vector formats. `D`, `A`, `B`, `C` are the places of the destination and the sources, whatever register class stands there; a mask
// register uses the low 3 bits of its place.
// | 31 funct7 25 | 24 B 20 | 19 A 15 | 14 funct3 12 | 11 D 7 | 6 opcode 0 |
class FormatV<Major op, bits<7> funct7, bits<3> funct3, dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics,
              list<dag> pattern = []> : DougongInst<outs, ins, "dg." # mnemonic, operands, timing, doc, semantics, pattern> {
  bits<5> D = 0;
  bits<5> A = 0;
  bits<5> B = 0;
  let Opcode = op.Value;
  let Inst{31-25} = funct7;
  let Inst{24-20} = B;
  let Inst{19-15} = A;
  let Inst{14-12} = funct3;
  let Inst{11-7} = D;
}
// | 31 C 27 | 26 funct2 25 | 24 B 20 | 19 A 15 | 14 funct3 12 | 11 D 7 | 6 opcode 0 |
class FormatV4<bits<5> funct, dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics, list<dag> pattern = []>
    : DougongInst<outs, ins, "dg." # mnemonic, operands, timing, doc, semantics, pattern> {
  bits<5> D = 0;
  bits<5> A = 0;
  bits<5> B = 0;
  bits<5> C = 0;
  let Opcode = OpVector4.Value;
  let Inst{31-27} = C;
  let Inst{26-25} = funct{4-3};
  let Inst{24-20} = B;
  let Inst{19-15} = A;
  let Inst{14-12} = funct{2-0};
  let Inst{11-7} = D;
}
// | 31 distance 22 | 21 funct[4:3] 20 | 19 rs1 15 | 14 funct[2:0] 12 | 11 D 7 | 6 opcode 0 |
class FormatVM<bits<5> funct, dag outs, dag ins, string mnemonic, string operands, Timing timing, string doc, string semantics, list<dag> pattern = []>
    : DougongInst<outs, ins, "dg." # mnemonic, operands, timing, doc, semantics, pattern> {
  bits<5> D = 0;
  bits<5> rs1;
  bits<10> Distance = 0;
  let Opcode = OpVectorMemory.Value;
  let Inst{31-22} = Distance;
  let Inst{21-20} = funct{4-3};
  let Inst{19-15} = rs1;
  let Inst{14-12} = funct{2-0};
  let Inst{11-7} = D;
}
