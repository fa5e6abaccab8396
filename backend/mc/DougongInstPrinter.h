// Prints instructions as the assembler reads them.
#pragma once
#include "llvm/MC/MCInstPrinter.h"

namespace llvm {

class DougongInstPrinter : public MCInstPrinter {
public:
  using MCInstPrinter::MCInstPrinter;

  void printInst(const MCInst *MI, uint64_t Address, StringRef Annotation, const MCSubtargetInfo &STI, raw_ostream &OS) override;
  void printRegName(raw_ostream &OS, MCRegister Reg) override;
  bool applyTargetSpecificCLOption(StringRef Option) override;
  static const char *getRegisterName(MCRegister Reg, unsigned AltIdx = 0);

  // Written by llvm-tblgen.
  std::pair<const char *, uint64_t> getMnemonic(const MCInst &MI) const override;
  void printInstruction(const MCInst *MI, uint64_t Address, const MCSubtargetInfo &STI, raw_ostream &OS);
  bool printAliasInstr(const MCInst *MI, uint64_t Address, const MCSubtargetInfo &STI, raw_ostream &OS);
  void printCustomAliasOperand(const MCInst *MI, uint64_t Address, unsigned Operand, unsigned PrintMethod, const MCSubtargetInfo &STI,
                               raw_ostream &OS);

private:
  void printOperand(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &STI, raw_ostream &OS);
  void printBranchTarget(const MCInst *MI, uint64_t Address, unsigned Operand, const MCSubtargetInfo &STI, raw_ostream &OS);
  void printControlRegister(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &STI, raw_ostream &OS);
  void printFenceSet(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &STI, raw_ostream &OS);
  void printExactRounding(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &STI, raw_ostream &OS);
  void printRounding(const MCInst *MI, unsigned Operand, const MCSubtargetInfo &STI, raw_ostream &OS);
};

} // namespace llvm
