// See DougongInstPrinter.h.
#include "DougongInstPrinter.h"
#include "DougongMCTargetDesc.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

#define PRINT_ALIAS_INSTR
#include "DougongGenAsmWriter.inc"

void DougongInstPrinter::printInst(const MCInst *MI, uint64_t Address, StringRef Annotation, const MCSubtargetInfo &STI, raw_ostream &OS) {
  if (!PrintAliases || !printAliasInstr(MI, Address, STI, OS))
    printInstruction(MI, Address, STI, OS);
  printAnnotation(OS, Annotation);
}

void DougongInstPrinter::printRegName(raw_ostream &OS, MCRegister Reg) { OS << getRegisterName(Reg); }

bool DougongInstPrinter::applyTargetSpecificCLOption(StringRef Option) {
  if (Option != "no-aliases")
    return false;
  PrintAliases = false;
  return true;
}

void DougongInstPrinter::printOperand(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &, raw_ostream &OS) {
  const MCOperand &Op = MI->getOperand(Operand);
  if (Op.isReg())
    printRegName(OS, Op.getReg());
  else if (Op.isImm())
    OS << formatImm(Op.getImm());
  else
    MAI.printExpr(OS, *Op.getExpr());
}

// A distance in assembly, an address in a disassembly.
void DougongInstPrinter::printBranchTarget(const MCInst *MI, uint64_t Address, unsigned Operand, const MCSubtargetInfo &STI,
                                           raw_ostream &OS) {
  const MCOperand &Op = MI->getOperand(Operand);
  if (Op.isImm() && PrintBranchImmAsAddress)
    OS << formatHex(Address + Op.getImm());
  else
    printOperand(MI, Operand, STI, OS);
}

void DougongInstPrinter::printControlRegister(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &, raw_ostream &OS) {
  unsigned Number = MI->getOperand(Operand).getImm();
  if (const auto *Register = Dougong::controlRegisterByNumber(Number))
    OS << Register->Name;
  else
    OS << formatImm(Number);
}

void DougongInstPrinter::printFenceSet(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &, raw_ostream &OS) {
  unsigned Set = MI->getOperand(Operand).getImm();
  for (unsigned I = 0; I < 4; ++I)
    if (Set & (8 >> I))
      OS << "iorw"[I];
  if (Set == 0)
    OS << '0';
}

static constexpr const char *RoundingNames[] = {"rne", "rtz", "rdn", "rup", "rmm", "5", "6", "dyn"};

// With its comma; the default is left out.
void DougongInstPrinter::printRounding(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &, raw_ostream &OS) {
  if (unsigned Mode = MI->getOperand(Operand).getImm(); Mode != 7)
    OS << ", " << RoundingNames[Mode & 7];
}

void DougongInstPrinter::printExactRounding(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &, raw_ostream &OS) {
  if (unsigned Mode = MI->getOperand(Operand).getImm(); Mode != 0)
    OS << ", " << RoundingNames[Mode & 7];
}
