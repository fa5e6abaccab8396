// Fills in fixups, and names the relocation for what only the linker knows. ELF as RISC-V has it, without linker relaxation.
#include "DougongMCTargetDesc.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAssembler.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCELFObjectWriter.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCSymbol.h"
#include "llvm/MC/MCValue.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace {

class DougongAsmBackend : public MCAsmBackend {
public:
  DougongAsmBackend() : MCAsmBackend(llvm::endianness::little) {}

  std::unique_ptr<MCObjectTargetWriter> createObjectTargetWriter() const override { return createDougongELFObjectWriter(); }

  std::optional<MCFixupKind> getFixupKind(StringRef Name) const override {
    return StringSwitch<std::optional<MCFixupKind>>(Name)
#define ELF_RELOC(X, Y) .Case(#X, FirstLiteralRelocationKind + Y)
#include "llvm/BinaryFormat/ELFRelocs/RISCV.def"
#undef ELF_RELOC
        .Default(std::nullopt);
  }

  MCFixupKindInfo getFixupKindInfo(MCFixupKind Kind) const override {
    switch (Kind) {
#define ELF_RELOC(X, Y)                                                                                                                    \
  case Y:                                                                                                                                  \
    return {#X, 0, 32, 0};
#include "llvm/BinaryFormat/ELFRelocs/RISCV.def"
#undef ELF_RELOC
    default:
      return MCAsmBackend::getFixupKindInfo(Kind);
    }
  }

  void applyFixup(const MCFragment &F, const MCFixup &Fixup, const MCValue &Target, uint8_t *Data, uint64_t Value,
                  bool IsResolved) override {
    MCFixupKind Kind = Fixup.getKind();
    IsResolved = IsResolved && !needsLinker(Kind);
    maybeAddReloc(F, Fixup, Target, Value, IsResolved);
    if (!IsResolved || mc::isRelocRelocation(Kind))
      return;
    if (Kind >= FK_NONE) {
      for (unsigned I = 0, Bytes = dataBytes(Kind); I < Bytes; ++I)
        Data[I] |= uint8_t(Value >> (8 * I));
      return;
    }
    support::endian::write32le(Data, support::endian::read32le(Data) | encode(Fixup, Value));
  }

  bool writeNopData(raw_ostream &OS, uint64_t Count, const MCSubtargetInfo *) const override {
    OS.write_zeros(Count % 4); // data in a text section may leave an odd place
    for (uint64_t I = 0; I < Count / 4; ++I)
      OS.write("\x13\0\0\0", 4);
    return true;
  }

private:
  static unsigned dataBytes(MCFixupKind Kind) {
    return Kind == FK_Data_1 ? 1 : Kind == FK_Data_2 ? 2 : Kind == FK_Data_4 ? 4 : Kind == FK_Data_8 ? 8 : 0;
  }

  // The two halves of a pc-relative address belong together, and calls may go through a stub.
  static bool needsLinker(MCFixupKind Kind) {
    switch (Kind) {
    case ELF::R_RISCV_PCREL_HI20:
    case ELF::R_RISCV_PCREL_LO12_I:
    case ELF::R_RISCV_PCREL_LO12_S:
    case ELF::R_RISCV_CALL_PLT:
    case ELF::R_RISCV_GOT_HI20:
    case ELF::R_RISCV_TPREL_HI20:
    case ELF::R_RISCV_TPREL_LO12_I:
    case ELF::R_RISCV_TPREL_LO12_S:
      return true;
    default:
      return false;
    }
  }

  // The bits of `Value` where the instruction has them.
  uint32_t encode(const MCFixup &Fixup, uint64_t Value) {
    auto Bits = [Value](unsigned High, unsigned Low, unsigned At) {
      return uint32_t((Value >> Low) & maskTrailingOnes<uint64_t>(High - Low + 1)) << At;
    };
    auto Check = [&](bool Fits, const char *Reach) {
      if (!Fits)
        getContext().reportError(Fixup.getLoc(), Twine("the target is ") + Twine(int64_t(Value)) + " bytes away; " + Reach);
      else if (Value & 1)
        getContext().reportError(Fixup.getLoc(), "the target is at an odd distance");
    };
    switch (Fixup.getKind()) {
    case ELF::R_RISCV_BRANCH:
      Check(isInt<13>(int64_t(Value)), "a branch reaches -4096 to 4094: branch over a jump");
      return Bits(12, 12, 31) | Bits(10, 5, 25) | Bits(4, 1, 8) | Bits(11, 11, 7);
    case ELF::R_RISCV_JAL:
      Check(isInt<21>(int64_t(Value)), "a jump reaches -1048576 to 1048574: use `call` or `tail`");
      return Bits(20, 20, 31) | Bits(10, 1, 21) | Bits(11, 11, 20) | Bits(19, 12, 12);
    case ELF::R_RISCV_HI20:
      return uint32_t((Value + 0x800) & 0xfffff000);
    case ELF::R_RISCV_LO12_I:
      return Bits(11, 0, 20);
    case ELF::R_RISCV_LO12_S:
      return Bits(11, 5, 25) | Bits(4, 0, 7);
    default:
      llvm_unreachable("a relocation that only the linker resolves");
    }
  }
};

class DougongELFObjectWriter : public MCELFObjectTargetWriter {
public:
  DougongELFObjectWriter() : MCELFObjectTargetWriter(/*Is64Bit=*/true, ELF::ELFOSABI_NONE, ELF::EM_RISCV, /*HasRelocationAddend=*/true) {}

  // The low half of a pc-relative address refers to the label of its high half. Other labels that only the assembler knows become their
  // section plus a distance, and stay out of the symbol table; names stay names.
  bool needsRelocateWithSymbol(const MCValue &Target, unsigned Type) const override {
    return Type == ELF::R_RISCV_PCREL_LO12_I || Type == ELF::R_RISCV_PCREL_LO12_S || !Target.getAddSym()->isTemporary();
  }

  unsigned getRelocType(const MCFixup &Fixup, const MCValue &, bool IsPCRel) const override {
    MCFixupKind Kind = Fixup.getKind();
    if (Kind < FirstLiteralRelocationKind)
      return Kind;
    if (Kind == FK_Data_4)
      return IsPCRel ? ELF::R_RISCV_32_PCREL : ELF::R_RISCV_32;
    if (Kind == FK_Data_8 && !IsPCRel)
      return ELF::R_RISCV_64;
    reportError(Fixup.getLoc(), IsPCRel ? "a pc-relative value wants 4 bytes here" : "an address wants 4 or 8 bytes");
    return ELF::R_RISCV_NONE;
  }
};

} // namespace

std::unique_ptr<MCObjectTargetWriter> llvm::createDougongELFObjectWriter() { return std::make_unique<DougongELFObjectWriter>(); }

MCAsmBackend *llvm::createDougongAsmBackend(const Target &, const MCSubtargetInfo &, const MCRegisterInfo &, const MCTargetOptions &) {
  return new DougongAsmBackend;
}
