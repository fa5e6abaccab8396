// The costs the IR optimiser asks for. Vectors live in LM only, which ordinary C data does not: loops of C are never vectorised
// on the compiler's own initiative, while kernels arrive as vector code.
#pragma once
#include "DougongSubtarget.h"
#include "DougongTargetMachine.h"
#include "llvm/CodeGen/BasicTTIImpl.h"

namespace llvm {

class DougongTTIImpl final : public BasicTTIImplBase<DougongTTIImpl> {
  using Base = BasicTTIImplBase<DougongTTIImpl>;
  friend Base;
  const DougongSubtarget *ST;
  const DougongTargetLowering *TLI;

  const DougongSubtarget *getST() const { return ST; }
  const DougongTargetLowering *getTLI() const { return TLI; }

public:
  DougongTTIImpl(const DougongTargetMachine *TM, const Function &F)
      : Base(TM, F.getDataLayout()), ST(static_cast<const DougongSubtarget *>(TM->getSubtargetImpl(F))), TLI(ST->getTargetLowering()) {}

  TypeSize getRegisterBitWidth(TargetTransformInfo::RegisterKind Kind) const override {
    return Kind == TargetTransformInfo::RGK_Scalar ? TypeSize::getFixed(64)
                                                   : Kind == TargetTransformInfo::RGK_FixedWidthVector ? TypeSize::getFixed(0)
                                                                                                       : TypeSize::getScalable(0);
  }
  unsigned getNumberOfRegisters(unsigned Class) const override { return Class == 0 ? 29 : 32; }
  TargetTransformInfo::PopcntSupportKind getPopcntSupport(unsigned Width) const override { return TargetTransformInfo::PSK_FastHardware; }
  // What takes several instructions is worth keeping in a register.
  InstructionCost getIntImmCost(const APInt &Imm, Type *Ty, TargetTransformInfo::TargetCostKind) const override {
    if (Imm.getBitWidth() > 64)
      return TargetTransformInfo::TCC_Expensive;
    return Imm.isZero() ? 0 : int(DougongConstant::steps(Imm.getSExtValue()).size());
  }
};

} // namespace llvm
