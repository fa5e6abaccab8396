// Decodes 32-bit instructions, and compressed ones of stock objects as the 32-bit instructions they stand for.
#include "DougongMCTargetDesc.h"
#include "isa/compressed.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDecoder.h"
#include "llvm/MC/MCDecoderOps.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::MCD;
using DecodeStatus = MCDisassembler::DecodeStatus;

// The registers of each class are numbered in a row.
template <unsigned First, unsigned Count> static DecodeStatus decodeRegister(MCInst &Inst, uint64_t Number) {
  if (Number >= Count)
    return MCDisassembler::Fail;
  Inst.addOperand(MCOperand::createReg(First + Number));
  return MCDisassembler::Success;
}
static DecodeStatus DecodeGPRRegisterClass(MCInst &Inst, uint64_t Number, uint64_t, const MCDisassembler *) {
  return decodeRegister<Dougong::X0, 32>(Inst, Number);
}
static DecodeStatus DecodeVRRegisterClass(MCInst &Inst, uint64_t Number, uint64_t, const MCDisassembler *) {
  return decodeRegister<Dougong::V0, 32>(Inst, Number);
}
static DecodeStatus DecodeMRRegisterClass(MCInst &Inst, uint64_t Number, uint64_t, const MCDisassembler *) {
  return decodeRegister<Dougong::M0, 8>(Inst, Number);
}
template <unsigned Width> static DecodeStatus decodeUImm(MCInst &Inst, uint64_t Value, uint64_t, const MCDisassembler *) {
  Inst.addOperand(MCOperand::createImm(Value));
  return MCDisassembler::Success;
}
template <unsigned Width> static DecodeStatus decodeSImm(MCInst &Inst, uint64_t Value, uint64_t, const MCDisassembler *) {
  Inst.addOperand(MCOperand::createImm(SignExtend64<Width>(Value)));
  return MCDisassembler::Success;
}
// Rounding modes 5 and 6 do not exist.
static DecodeStatus decodeRounding(MCInst &Inst, uint64_t Value, uint64_t, const MCDisassembler *) {
  Inst.addOperand(MCOperand::createImm(Value));
  return Value == 5 || Value == 6 ? MCDisassembler::Fail : MCDisassembler::Success;
}
// Nor do queues 6 and 7.
static DecodeStatus decodeQueue(MCInst &Inst, uint64_t Value, uint64_t, const MCDisassembler *) {
  Inst.addOperand(MCOperand::createImm(Value));
  return Value > 5 ? MCDisassembler::Fail : MCDisassembler::Success;
}

#include "DougongGenDisassemblerTables.inc"

namespace {

class DougongDisassembler : public MCDisassembler {
public:
  using MCDisassembler::MCDisassembler;

  DecodeStatus getInstruction(MCInst &Inst, uint64_t &Size, ArrayRef<uint8_t> Bytes, uint64_t Address, raw_ostream &) const override {
    Size = 0;
    if (Bytes.size() < 2)
      return Fail;
    Size = 2;
    if ((Bytes[0] & 3) != 3)
      return decodeInstruction(DecoderTableDougong32, Inst, compressed::expand(support::endian::read16le(Bytes.data())), Address, this,
                               STI);
    if (Bytes.size() < 4)
      return Fail;
    Size = 4;
    uint32_t Word = support::endian::read32le(Bytes.data());
    return decodeInstruction(DecoderTableDougong32, Inst, Word, Address, this, STI);
  }
};

} // namespace

MCDisassembler *llvm::createDougongDisassembler(const Target &, const MCSubtargetInfo &STI, MCContext &Ctx) {
  return new DougongDisassembler(STI, Ctx);
}
