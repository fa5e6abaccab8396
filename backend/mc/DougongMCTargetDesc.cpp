// Registers the target and creates the plain parts of its MC layer. See DougongMCTargetDesc.h.
#include "DougongMCTargetDesc.h"
#include "DougongInstPrinter.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/MC/MCAsmInfoELF.h"
#include "llvm/MC/MCDwarf.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCValue.h"

using namespace llvm;

#define GET_INSTRINFO_MC_DESC
#include "DougongGenInstrInfo.inc"
#define GET_REGINFO_MC_DESC
#include "DougongGenRegisterInfo.inc"
#define GET_SUBTARGETINFO_MC_DESC
#include "DougongGenSubtargetInfo.inc"
namespace llvm::Dougong {
#define GET_ControlRegisters_IMPL
#include "DougongGenControlRegisters.inc"
} // namespace llvm::Dougong

// ---- Specifiers -----------------------------------------------------------------------------------------------------
static constexpr struct {
  StringLiteral Name;
  unsigned Relocation;
} Specifiers[] = {
    {"hi", ELF::R_RISCV_HI20},
    {"lo", ELF::R_RISCV_LO12_I},
    {"pcrel_hi", ELF::R_RISCV_PCREL_HI20},
    {"pcrel_lo", ELF::R_RISCV_PCREL_LO12_I},
    {"got_pcrel_hi", ELF::R_RISCV_GOT_HI20},
    {"tprel_hi", ELF::R_RISCV_TPREL_HI20},
    {"tprel_lo", ELF::R_RISCV_TPREL_LO12_I},
};

StringRef DougongSpecifier::name(unsigned Specifier) {
  for (const auto &S : Specifiers)
    if (S.Relocation == Specifier)
      return S.Name;
  return {};
}

unsigned DougongSpecifier::fromName(StringRef Name) {
  for (const auto &S : Specifiers)
    if (S.Name == Name)
      return S.Relocation;
  return 0;
}

namespace {

// GNU assembler conventions of RISC-V.
class DougongMCAsmInfo : public MCAsmInfoELF {
public:
  DougongMCAsmInfo() {
    CodePointerSize = CalleeSaveStackSlotSize = 8;
    AlignmentIsInBytes = false;
    CommentString = "#";
    SupportsDebugInformation = true;
    ExceptionsType = ExceptionHandling::DwarfCFI;
    UseAtForSpecifier = false;
    Data16bitsDirective = "\t.half\t";
    Data32bitsDirective = "\t.word\t";
    MaxInstLength = 8;
    MinInstAlignment = 4;
  }

  // %hi(symbol + 4)
  void printSpecifierExpr(raw_ostream &OS, const MCSpecifierExpr &Expr) const override {
    StringRef Name = DougongSpecifier::name(Expr.getSpecifier());
    if (!Name.empty())
      OS << '%' << Name << '(';
    printExpr(OS, *Expr.getSubExpr());
    if (!Name.empty())
      OS << ')';
  }
};

// Where branches and calls go: what objdump names.
class DougongMCInstrAnalysis : public MCInstrAnalysis {
public:
  using MCInstrAnalysis::MCInstrAnalysis;
  bool evaluateBranch(const MCInst &Inst, uint64_t Address, uint64_t, uint64_t &Target) const override {
    unsigned Last = Inst.getNumOperands() - 1;
    if (Inst.getOpcode() != Dougong::JAL && !Info->get(Inst.getOpcode()).isBranch())
      return false;
    if (!Inst.getOperand(Last).isImm())
      return false;
    Target = Address + Inst.getOperand(Last).getImm();
    return true;
  }
};

} // namespace

static MCInstrInfo *createInstrInfo() {
  auto *Info = new MCInstrInfo;
  InitDougongMCInstrInfo(Info);
  return Info;
}
static MCRegisterInfo *createRegisterInfo(const Triple &) {
  auto *Info = new MCRegisterInfo;
  InitDougongMCRegisterInfo(Info, Dougong::X1);
  return Info;
}
static MCSubtargetInfo *createSubtargetInfo(const Triple &TT, StringRef, StringRef Features) {
  return createDougongMCSubtargetInfoImpl(TT, "dougong", "dougong", Features);
}
// The frame starts with the canonical frame address at sp.
static MCAsmInfo *createAsmInfo(const MCRegisterInfo &MRI, const Triple &, const MCTargetOptions &) {
  auto *Info = new DougongMCAsmInfo;
  Info->addInitialFrameState(MCCFIInstruction::cfiDefCfa(nullptr, MRI.getDwarfRegNum(Dougong::X2, true), 0));
  return Info;
}
static MCInstPrinter *createInstPrinter(const Triple &, unsigned, const MCAsmInfo &MAI, const MCInstrInfo &MII, const MCRegisterInfo &MRI) {
  return new DougongInstPrinter(MAI, MII, MRI);
}
static MCInstrAnalysis *createInstrAnalysis(const MCInstrInfo *Info) { return new DougongMCInstrAnalysis(Info); }

Target &llvm::getTheDougongTarget() {
  static Target TheTarget;
  return TheTarget;
}

void llvm::initializeDougongMC() {
  Target &T = getTheDougongTarget();
  static const bool Registered = [&T] {
    // It never matches by triple: riscv64 is the stock target's.
    TargetRegistry::RegisterTarget(T, "dougong", "Dougong NPU core", "Dougong", [](Triple::ArchType) { return false; });
    TargetRegistry::RegisterMCAsmInfo(T, createAsmInfo);
    TargetRegistry::RegisterMCInstrInfo(T, createInstrInfo);
    TargetRegistry::RegisterMCRegInfo(T, createRegisterInfo);
    TargetRegistry::RegisterMCSubtargetInfo(T, createSubtargetInfo);
    TargetRegistry::RegisterMCInstPrinter(T, createInstPrinter);
    TargetRegistry::RegisterMCInstrAnalysis(T, createInstrAnalysis);
    TargetRegistry::RegisterMCCodeEmitter(T, createDougongMCCodeEmitter);
    TargetRegistry::RegisterMCAsmBackend(T, createDougongAsmBackend);
    TargetRegistry::RegisterMCAsmParser(T, createDougongAsmParser);
    TargetRegistry::RegisterMCDisassembler(T, createDougongDisassembler);
    TargetRegistry::RegisterAsmTargetStreamer(
        T, [](MCStreamer &S, formatted_raw_ostream &, MCInstPrinter *) { return new MCTargetStreamer(S); });
    TargetRegistry::RegisterObjectTargetStreamer(T, [](MCStreamer &S, const MCSubtargetInfo &) { return new MCTargetStreamer(S); });
    TargetRegistry::RegisterNullTargetStreamer(T, [](MCStreamer &S) { return new MCTargetStreamer(S); });
    return true;
  }();
  (void)Registered;
}
