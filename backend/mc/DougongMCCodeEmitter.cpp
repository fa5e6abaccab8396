// Encodes instructions, and says by fixups what is not known yet.
#include "DougongMCTargetDesc.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCFixup.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstBuilder.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"

using namespace llvm;

namespace {

class DougongMCCodeEmitter : public MCCodeEmitter {
  MCContext &Ctx;

public:
  explicit DougongMCCodeEmitter(MCContext &Ctx) : Ctx(Ctx) {}

  void encodeInstruction(const MCInst &MI, SmallVectorImpl<char> &Code, SmallVectorImpl<MCFixup> &Fixups,
                         const MCSubtargetInfo &STI) const override {
    if (MI.getOpcode() == Dougong::PseudoCALL || MI.getOpcode() == Dougong::PseudoTAIL)
      return encodeCall(MI, Code, Fixups, STI);
    support::endian::write<uint32_t>(Code, getBinaryCodeForInstr(MI, Fixups, STI), llvm::endianness::little);
  }

  // Written by llvm-tblgen.
  uint64_t getBinaryCodeForInstr(const MCInst &MI, SmallVectorImpl<MCFixup> &Fixups, const MCSubtargetInfo &STI) const;

private:
  // auipc link, 0; jalr link or zero, 0(link): one relocation on the pair.
  void encodeCall(const MCInst &MI, SmallVectorImpl<char> &Code, SmallVectorImpl<MCFixup> &Fixups, const MCSubtargetInfo &STI) const {
    bool Tail = MI.getOpcode() == Dougong::PseudoTAIL;
    MCRegister Link = Tail ? Dougong::X6 : Dougong::X1;
    Fixups.push_back(MCFixup::create(0, MI.getOperand(0).getExpr(), ELF::R_RISCV_CALL_PLT, /*PCRel=*/true));
    SmallVector<MCFixup, 1> None;
    for (const MCInst &Inst : {MCInst(MCInstBuilder(Dougong::AUIPC).addReg(Link).addImm(0)),
                               MCInst(MCInstBuilder(Dougong::JALR).addReg(Tail ? Dougong::X0 : Link).addReg(Link).addImm(0))})
      support::endian::write<uint32_t>(Code, getBinaryCodeForInstr(Inst, None, STI), llvm::endianness::little);
  }

  unsigned getMachineOpValue(const MCInst &MI, const MCOperand &Op, SmallVectorImpl<MCFixup> &, const MCSubtargetInfo &) const {
    if (Op.isReg())
      return Ctx.getRegisterInfo()->getEncodingValue(Op.getReg());
    return Op.getImm();
  }

  uint64_t getImmOpValue(const MCInst &MI, unsigned Operand, SmallVectorImpl<MCFixup> &Fixups, const MCSubtargetInfo &) const {
    const MCOperand &Op = MI.getOperand(Operand);
    if (Op.isImm())
      return Op.getImm();
    MCFixupKind Kind = fixupKind(MI.getOpcode(), *Op.getExpr());
    if (!Kind) // the parser lets no such expression through: code generation made it
      reportUnsupportedOperand(MI, Operand);
    Fixups.push_back(MCFixup::create(0, Op.getExpr(), Kind, isRelative(Kind)));
    return 0;
  }

  static bool isRelative(MCFixupKind Kind) {
    return Kind == ELF::R_RISCV_BRANCH || Kind == ELF::R_RISCV_JAL || Kind == ELF::R_RISCV_PCREL_HI20 || Kind == ELF::R_RISCV_GOT_HI20;
  }

  // The relocation an expression asks for in the place where it stands; 0 if none fits.
  static MCFixupKind fixupKind(unsigned Opcode, const MCExpr &Expr) {
    const auto *Specified = dyn_cast<MCSpecifierExpr>(&Expr);
    unsigned Specifier = Specified ? Specified->getSpecifier() : 0;
    switch (Opcode) {
    case Dougong::BEQ:
    case Dougong::BNE:
    case Dougong::BLT:
    case Dougong::BGE:
    case Dougong::BLTU:
    case Dougong::BGEU:
    case Dougong::DG_LOOP:
      return Specified ? 0 : ELF::R_RISCV_BRANCH;
    case Dougong::JAL:
      return Specified ? 0 : ELF::R_RISCV_JAL;
    case Dougong::SB:
    case Dougong::SH:
    case Dougong::SW:
    case Dougong::SD: // the immediate lies elsewhere in a store
      return Specifier == ELF::R_RISCV_LO12_I         ? ELF::R_RISCV_LO12_S
             : Specifier == ELF::R_RISCV_PCREL_LO12_I ? ELF::R_RISCV_PCREL_LO12_S
             : Specifier == ELF::R_RISCV_TPREL_LO12_I ? ELF::R_RISCV_TPREL_LO12_S
                                                      : 0;
    default:
      return Specifier;
    }
  }
};

} // namespace

#include "DougongGenMCCodeEmitter.inc"

MCCodeEmitter *llvm::createDougongMCCodeEmitter(const MCInstrInfo &, MCContext &Ctx) { return new DougongMCCodeEmitter(Ctx); }
