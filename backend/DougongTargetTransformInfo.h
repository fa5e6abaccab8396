// The costs the IR optimiser asks for. Vectors live in LM only, which ordinary C data does not: loops of C are never vectorised
// on the compiler's own initiative, while kernels arrive as vector code.
#pragma once
#include "DougongHardwareLoops.h"
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
    return Kind == TargetTransformInfo::RGK_Scalar             ? TypeSize::getFixed(64)
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

  // What a loop's induction variables cost is first the instructions they take each time round: registers are plenty, and a counter that
  // only counts goes when the end of a pointer's range can be compared instead.
  bool isLSRCostLess(const TargetTransformInfo::LSRCost &A, const TargetTransformInfo::LSRCost &B) const override {
    auto Order = [](const TargetTransformInfo::LSRCost &C) {
      unsigned Registers = C.NumRegs + (C.NumBaseAdds != 0); // the sum of bases stands in one more
      return std::make_tuple(C.Insns, Registers, C.AddRecCost, C.NumIVMuls, C.NumBaseAdds, C.ScaleCost, C.ImmCost, C.SetupCost);
    };
    return Order(A) < Order(B);
  }

  // A pointer for each access of a vector loop: post-increments move them for nothing, and the software pipeliner sees what accesses of
  // different iterations are apart.
  TargetTransformInfo::AddressingModeKind getPreferredAddressingMode(const Loop *L, ScalarEvolution *) const override {
    bool Vector =
        any_of(L->blocks(), [](BasicBlock *Block) { return any_of(*Block, [](Instruction &I) { return I.getType()->isVectorTy(); }); });
    return Vector && L->isInnermost() ? TargetTransformInfo::AMK_PostIndexed : TargetTransformInfo::AMK_None;
  }

  bool isIndexedLoadLegal(TargetTransformInfo::MemIndexedMode Mode, Type *) const override {
    return Mode == TargetTransformInfo::MIM_PostInc;
  }
  bool isIndexedStoreLegal(TargetTransformInfo::MemIndexedMode Mode, Type *) const override {
    return Mode == TargetTransformInfo::MIM_PostInc;
  }

  // The end of a hardware loop compares for nothing.
  bool canSaveCmp(Loop *L, BranchInst **Branch, ScalarEvolution *SE, LoopInfo *, DominatorTree *, AssumptionCache *,
                  TargetLibraryInfo *) const override {
    if (!hardwareTripCount(*L, *SE))
      return false;
    *Branch = cast<BranchInst>(L->getLoopLatch()->getTerminator());
    return true;
  }

  // The instructions reduce, and access memory under a mask and through an index: 32 lanes of up to 32 bits, or several times that.
  bool shouldExpandReduction(const IntrinsicInst *II) const override {
    Type *Operand = II->getArgOperand(II->arg_size() - 1)->getType();
    return !isWhole(Operand);
  }
  bool isLegalMaskedLoad(Type *Data, Align, unsigned, TargetTransformInfo::MaskKind) const override { return isWhole(Data); }
  bool isLegalMaskedStore(Type *Data, Align, unsigned, TargetTransformInfo::MaskKind) const override { return isWhole(Data); }
  bool isLegalMaskedGather(Type *Data, Align) const override { return isWhole(Data); }
  bool isLegalMaskedScatter(Type *Data, Align) const override { return isWhole(Data); }

  // An in-order core hides latencies by what stands between: small loops of vector code are unrolled, with a remainder where the
  // trip count is not known.
  void getUnrollingPreferences(Loop *L, ScalarEvolution &SE, TargetTransformInfo::UnrollingPreferences &UP,
                               OptimizationRemarkEmitter *ORE) const override {
    Base::getUnrollingPreferences(L, SE, UP, ORE);
    bool Vector = false;
    unsigned Size = 0;
    for (BasicBlock *Block : L->blocks())
      for (Instruction &I : *Block) {
        Vector |= I.getType()->isVectorTy();
        ++Size;
      }
    if (!Vector || L->getNumBlocks() > 1 || Size > 60)
      return;
    UP.Partial = UP.Runtime = UP.AllowExpensiveTripCount = true;
    UP.PartialThreshold = UP.Threshold = 4000; // in costs that know nothing of this machine; the size is bounded above
    UP.DefaultUnrollRuntimeCount = UP.MaxCount = Size > 30 ? 2 : 4;
    UP.FullUnrollMaxCount = 240 / Size; // of a longer loop laid out flat, all loads come first and their values fill the stack
    UP.UnrollRemainder = false;
  }

private:
  static bool isWhole(Type *Ty) {
    auto *Vector = dyn_cast<FixedVectorType>(Ty);
    unsigned Bits = Vector ? Vector->getScalarSizeInBits() : 0;
    return Vector && isPowerOf2_32(Vector->getNumElements()) && Vector->getNumElements() >= 32 && (Bits == 8 || Bits == 16 || Bits == 32);
  }
};

} // namespace llvm
