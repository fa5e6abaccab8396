// Atomics: fences around relaxed operations; what has no instruction is a loop around a compare-and-swap. See DougongISelLowering.h.
#include "DougongISelLowering.h"
#include "DougongSubtarget.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

Instruction *DougongTargetLowering::emitLeadingFence(IRBuilderBase &Builder, Instruction *Inst, AtomicOrdering Order) const {
  if (isa<LoadInst>(Inst) && Order == AtomicOrdering::SequentiallyConsistent)
    return Builder.CreateFence(Order);
  return !isa<LoadInst>(Inst) && isReleaseOrStronger(Order) ? Builder.CreateFence(AtomicOrdering::Release) : nullptr;
}

Instruction *DougongTargetLowering::emitTrailingFence(IRBuilderBase &Builder, Instruction *Inst, AtomicOrdering Order) const {
  if (isa<StoreInst>(Inst))
    return Order == AtomicOrdering::SequentiallyConsistent ? Builder.CreateFence(Order) : nullptr;
  return isAcquireOrStronger(Order) ? Builder.CreateFence(AtomicOrdering::Acquire) : nullptr;
}

TargetLowering::AtomicExpansionKind DougongTargetLowering::shouldExpandAtomicRMWInIR(AtomicRMWInst *RMW) const {
  unsigned Bits = RMW->getType()->getPrimitiveSizeInBits();
  if (RMW->getType()->isPointerTy())
    Bits = 64;
  switch (RMW->getOperation()) {
  case AtomicRMWInst::Xchg:
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
  case AtomicRMWInst::And:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin:
    return Bits >= 32 && !RMW->getType()->isFloatingPointTy() ? AtomicExpansionKind::None : AtomicExpansionKind::CmpXChg;
  default:
    return AtomicExpansionKind::CmpXChg;
  }
}
