// What code generation remembers about one function.
#pragma once
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/MachineFunction.h"

namespace llvm {

struct DougongFunctionInfo : public MachineFunctionInfo {
  int VarArgsFrameIndex = 0;            // where the first variadic argument stands
  DenseSet<Register> ExtendedArguments; // virtual registers of arguments that the caller has sign-extended from 32 bits or fewer

  DougongFunctionInfo(const Function &, const TargetSubtargetInfo *) {}
  MachineFunctionInfo *clone(BumpPtrAllocator &Allocator, MachineFunction &DestMF,
                             const DenseMap<MachineBasicBlock *, MachineBasicBlock *> &) const override {
    return DestMF.cloneInfo<DougongFunctionInfo>(*this);
  }

  SmallPtrSet<const MachineBasicBlock *, 4> Kernels; // the blocks that software pipelining has made loops of
};

} // namespace llvm
