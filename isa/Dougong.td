// The Dougong instruction set: every instruction once (D4). Start here.
//
// From these records `llvm-tblgen` makes the assembler, disassembler, encoder and selector (backend/), and its JSON dump
// feeds the generators of the model's decode and execute code (sim/) and of the manual (isa/manual.py).
//
//   Registers.td   x0..x31, v0..v31, m0..m7
//   Units.td       who executes an instruction, and for how long
//   Formats.td     operands, the fields a record has, and the encoding formats with their bits drawn
//   Scalar.td      RV64IMA_Zicsr_Zfinx_Zdinx_Zba_Zbb
//   Vector.td      vectors of 32-bit lanes, masks, memory accesses
//   Packed.td      vectors of 16- and 8-bit lanes, 8-bit floats, transposition, compression
//   Engine.td      the engines' commands, and scalar conversions of 16-bit floats
//   Loop.td        the end of a hardware loop
//   Csr.td         control and status registers
include "llvm/Target/Target.td"

include "Registers.td"
include "Units.td"
include "Formats.td"
include "Csr.td"
include "Scalar.td"
include "Vector.td"
include "Packed.td"
include "Engine.td"
include "Loop.td"

defm : RemapAllTargetPseudoPointerOperands<GPR>;

def DougongInstrInfo : InstrInfo;

def DougongAsmParser : AsmParser {
  let ShouldEmitMatchRegisterAltName = true;
  let AllowDuplicateRegisterNames = true;
}
def DougongAsmWriter : AsmWriter { int PassSubtarget = 1; }

def Dougong : Target {
  let InstructionSet = DougongInstrInfo;
  let AssemblyParsers = [DougongAsmParser];
  let AssemblyWriters = [DougongAsmWriter];
  let AllowRegisterRenaming = true;
}

def : ProcessorModel<"dougong", DougongModel, []>;
