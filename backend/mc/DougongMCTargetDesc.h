// The MC layer's table of contents: the enums of the target, its relocation specifiers, and what creates its parts.
#pragma once
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/DataTypes.h"
#include <memory>

namespace llvm {
class MCAsmBackend;
class MCCodeEmitter;
class MCContext;
class MCObjectTargetWriter;
class Target;

// The target's place in LLVM's registry. Looked up by its name, `dougong`.
Target &getTheDougongTarget();

// Registers the target and its MC parts (assembler, disassembler, printers, object writer). Idempotent.
void initializeDougongMC();

MCCodeEmitter *createDougongMCCodeEmitter(const MCInstrInfo &MCII, MCContext &Ctx);
MCAsmBackend *createDougongAsmBackend(const Target &T, const MCSubtargetInfo &STI, const MCRegisterInfo &MRI,
                                      const MCTargetOptions &Options);
std::unique_ptr<MCObjectTargetWriter> createDougongELFObjectWriter();
MCTargetAsmParser *createDougongAsmParser(const MCSubtargetInfo &STI, MCAsmParser &P, const MCInstrInfo &MII,
                                          const MCTargetOptions &Options);
MCDisassembler *createDougongDisassembler(const Target &T, const MCSubtargetInfo &STI, MCContext &Ctx);

// The specifier of an expression (`%hi(x)`) is the relocation it asks for, ELF::R_RISCV_*; of the two forms of a low part the I one.
namespace DougongSpecifier {
StringRef name(unsigned Specifier); // "hi" of R_RISCV_HI20; empty if it has none
unsigned fromName(StringRef Name);  // and back; 0 if there is none
} // namespace DougongSpecifier

} // namespace llvm

#define GET_REGINFO_ENUM
#include "DougongGenRegisterInfo.inc"

#define GET_INSTRINFO_ENUM
#include "DougongGenInstrInfo.inc"

#define GET_SUBTARGETINFO_ENUM
#include "DougongGenSubtargetInfo.inc"

namespace llvm::Dougong {
struct ControlRegister {
  const char *Name;
  uint16_t Number;
};
#define GET_ControlRegisters_DECL
#include "DougongGenControlRegisters.inc"
} // namespace llvm::Dougong
