// From machine instructions to MC: operands to expressions, and the pseudos that are several instructions on paper.
#include "DougongInstrInfo.h"
#include "DougongPasses.h"
#include "DougongSubtarget.h"
#include "mc/DougongInstPrinter.h"
#include "mc/DougongMCTargetDesc.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/CodeGen/AsmPrinter.h"
#include "llvm/CodeGen/MachineConstantPool.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInstBuilder.h"
#include "llvm/MC/MCStreamer.h"

using namespace llvm;

namespace {

class DougongAsmPrinter : public AsmPrinter {
public:
  static char ID;
  DougongAsmPrinter(TargetMachine &TM, std::unique_ptr<MCStreamer> Streamer) : AsmPrinter(TM, std::move(Streamer), ID) {}
  StringRef getPassName() const override { return "Dougong assembly printer"; }

  void emitInstruction(const MachineInstr *MI) override;
  bool PrintAsmOperand(const MachineInstr *MI, unsigned OpNo, const char *ExtraCode, raw_ostream &OS) override;
  bool PrintAsmMemoryOperand(const MachineInstr *MI, unsigned OpNo, const char *ExtraCode, raw_ostream &OS) override;

private:
  const MCExpr *symbolOperand(const MachineOperand &MO);
  bool lowerOperand(const MachineOperand &MO, MCOperand &Result);
  void emit(MCInst Inst) { EmitToStreamer(*OutStreamer, Inst); }
  void emitPCRelative(const MachineInstr &MI, unsigned HighRelocation, unsigned LowOpcode);
  void emitThreadPointerRelative(const MachineInstr &MI);
};

char DougongAsmPrinter::ID = 0;

} // namespace

const MCExpr *DougongAsmPrinter::symbolOperand(const MachineOperand &MO) {
  MCSymbol *Symbol;
  switch (MO.getType()) {
  case MachineOperand::MO_GlobalAddress:
    Symbol = getSymbolPreferLocal(*MO.getGlobal());
    break;
  case MachineOperand::MO_ExternalSymbol:
    Symbol = GetExternalSymbolSymbol(MO.getSymbolName());
    break;
  case MachineOperand::MO_BlockAddress:
    Symbol = GetBlockAddressSymbol(MO.getBlockAddress());
    break;
  case MachineOperand::MO_ConstantPoolIndex:
    Symbol = GetCPISymbol(MO.getIndex());
    break;
  case MachineOperand::MO_JumpTableIndex:
    Symbol = GetJTISymbol(MO.getIndex());
    break;
  case MachineOperand::MO_MCSymbol:
    Symbol = MO.getMCSymbol();
    break;
  case MachineOperand::MO_MachineBasicBlock:
    return MCSymbolRefExpr::create(MO.getMBB()->getSymbol(), OutContext);
  default:
    llvm_unreachable("operand without a symbol");
  }
  const MCExpr *Expr = MCSymbolRefExpr::create(Symbol, OutContext);
  if (!MO.isJTI() && MO.getOffset())
    Expr = MCBinaryExpr::createAdd(Expr, MCConstantExpr::create(MO.getOffset(), OutContext), OutContext);
  return Expr;
}

bool DougongAsmPrinter::lowerOperand(const MachineOperand &MO, MCOperand &Result) {
  switch (MO.getType()) {
  case MachineOperand::MO_Register:
    if (MO.isImplicit())
      return false;
    Result = MCOperand::createReg(MO.getReg());
    return true;
  case MachineOperand::MO_RegisterMask:
    return false;
  case MachineOperand::MO_Immediate:
    Result = MCOperand::createImm(MO.getImm());
    return true;
  default:
    Result = MCOperand::createExpr(symbolOperand(MO));
    return true;
  }
}

// label: auipc rd, %pcrel_hi(symbol);  addi (or ld) rd, rd, %pcrel_lo(label)
void DougongAsmPrinter::emitPCRelative(const MachineInstr &MI, unsigned HighRelocation, unsigned LowOpcode) {
  Register Reg = MI.getOperand(0).getReg();
  MCSymbol *Label = OutContext.createTempSymbol("pcrel_hi", true);
  OutStreamer->emitLabel(Label);
  emit(MCInstBuilder(Dougong::AUIPC)
           .addReg(Reg)
           .addExpr(MCSpecifierExpr::create(symbolOperand(MI.getOperand(1)), HighRelocation, OutContext)));
  const MCExpr *Low = MCSpecifierExpr::create(MCSymbolRefExpr::create(Label, OutContext), ELF::R_RISCV_PCREL_LO12_I, OutContext);
  emit(MCInstBuilder(LowOpcode).addReg(Reg).addReg(Reg).addExpr(Low));
}

// lui rd, %tprel_hi(symbol);  add rd, rd, tp;  addi rd, rd, %tprel_lo(symbol)
void DougongAsmPrinter::emitThreadPointerRelative(const MachineInstr &MI) {
  Register Reg = MI.getOperand(0).getReg();
  const MCExpr *Symbol = symbolOperand(MI.getOperand(1));
  emit(MCInstBuilder(Dougong::LUI).addReg(Reg).addExpr(MCSpecifierExpr::create(Symbol, ELF::R_RISCV_TPREL_HI20, OutContext)));
  emit(MCInstBuilder(Dougong::ADD).addReg(Reg).addReg(Reg).addReg(Dougong::X4));
  emit(
      MCInstBuilder(Dougong::ADDI).addReg(Reg).addReg(Reg).addExpr(MCSpecifierExpr::create(Symbol, ELF::R_RISCV_TPREL_LO12_I, OutContext)));
}

void DougongAsmPrinter::emitInstruction(const MachineInstr *MI) {
  switch (MI->getOpcode()) {
  case TargetOpcode::PATCHABLE_FUNCTION_ENTER: { // -fpatchable-function-entry=N
    unsigned Count = 0;
    MF->getFunction().getFnAttribute("patchable-function-entry").getValueAsString().getAsInteger(10, Count);
    return emitNops(Count);
  }
  case Dougong::PseudoLLA:
    return emitPCRelative(*MI, ELF::R_RISCV_PCREL_HI20, Dougong::ADDI);
  case Dougong::PseudoLGA:
    return emitPCRelative(*MI, ELF::R_RISCV_GOT_HI20, Dougong::LD);
  case Dougong::PseudoLoadConstant:
    return emitPCRelative(*MI, ELF::R_RISCV_PCREL_HI20, Dougong::LD);
  case Dougong::PseudoTPREL:
    return emitThreadPointerRelative(*MI);
  case Dougong::PseudoBR:
    return emit(MCInstBuilder(Dougong::JAL).addReg(Dougong::X0).addExpr(symbolOperand(MI->getOperand(0))));
  case Dougong::PseudoBRIND:
    return emit(MCInstBuilder(Dougong::JALR).addReg(Dougong::X0).addReg(MI->getOperand(0).getReg()).addImm(MI->getOperand(1).getImm()));
  case Dougong::PseudoRET:
    return emit(MCInstBuilder(Dougong::JALR).addReg(Dougong::X0).addReg(Dougong::X1).addImm(0));
  case Dougong::PseudoCALLReg:
    return emit(MCInstBuilder(Dougong::JALR).addReg(Dougong::X1).addReg(MI->getOperand(0).getReg()).addImm(0));
  }
  MCInst Inst;
  Inst.setOpcode(MI->getOpcode());
  for (const MachineOperand &MO : MI->operands()) {
    MCOperand Operand;
    if (lowerOperand(MO, Operand))
      Inst.addOperand(Operand);
  }
  emit(Inst);
}

// %z0: `zero` for the constant 0, else the operand itself; %i0: `i` if the operand is an immediate.
bool DougongAsmPrinter::PrintAsmOperand(const MachineInstr *MI, unsigned OpNo, const char *ExtraCode, raw_ostream &OS) {
  if (!AsmPrinter::PrintAsmOperand(MI, OpNo, ExtraCode, OS))
    return false;
  const MachineOperand &MO = MI->getOperand(OpNo);
  if (ExtraCode && ExtraCode[0]) {
    if (ExtraCode[1])
      return true;
    switch (ExtraCode[0]) {
    case 'z':
      if (MO.isImm() && MO.getImm() == 0) {
        OS << "zero";
        return false;
      }
      break;
    case 'i':
      if (!MO.isReg())
        OS << 'i';
      return false;
    default:
      return true;
    }
  }
  switch (MO.getType()) {
  case MachineOperand::MO_Immediate:
    OS << MO.getImm();
    return false;
  case MachineOperand::MO_Register:
    OS << DougongInstPrinter::getRegisterName(MO.getReg());
    return false;
  case MachineOperand::MO_GlobalAddress:
    PrintSymbolOperand(MO, OS);
    return false;
  case MachineOperand::MO_BlockAddress:
    GetBlockAddressSymbol(MO.getBlockAddress())->print(OS, MAI);
    return false;
  default:
    return true;
  }
}

bool DougongAsmPrinter::PrintAsmMemoryOperand(const MachineInstr *MI, unsigned OpNo, const char *ExtraCode, raw_ostream &OS) {
  if (ExtraCode)
    return AsmPrinter::PrintAsmMemoryOperand(MI, OpNo, ExtraCode, OS);
  OS << MI->getOperand(OpNo + 1).getImm() << '(' << DougongInstPrinter::getRegisterName(MI->getOperand(OpNo).getReg()) << ')';
  return false;
}

AsmPrinter *llvm::createDougongAsmPrinter(TargetMachine &TM, std::unique_ptr<MCStreamer> &&Streamer) {
  return new DougongAsmPrinter(TM, std::move(Streamer));
}
