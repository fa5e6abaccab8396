// The MC layer as the toolchain's programs use it: the parts that assembling, printing and disassembling have in common.
#pragma once
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace dougong {

struct MachineCode {
  MachineCode();

  const llvm::Target &target;
  llvm::Triple triple{"riscv64-dougong-elf"};
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> syntax;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;

  // With `aliases`, `li a0, 1`; without, `addi a0, zero, 1`.
  std::unique_ptr<llvm::MCInstPrinter> printer(bool aliases) const;
};

// Assembles the main buffer of `sources`: to an ELF object, or to normalised assembly, each instruction's bytes beside it if `encoding`.
// What is wrong is told on stderr, line by line; then the result is false.
enum class Assembled { object, text };
bool assemble(MachineCode &machine, llvm::SourceMgr &sources, Assembled form, bool aliases, bool encoding, llvm::raw_pwrite_stream &out);

} // namespace dougong
