// The target machine: data layout, and the order of the code generation passes.
#pragma once
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include <memory>

namespace llvm {

class DougongSubtarget;

class DougongTargetMachine : public CodeGenTargetMachineImpl {
  std::unique_ptr<TargetLoweringObjectFile> ObjectFile;
  std::unique_ptr<DougongSubtarget> Subtarget;

public:
  DougongTargetMachine(const Target &T, const Triple &TT, StringRef CPU, StringRef FS, const TargetOptions &Options,
                       std::optional<Reloc::Model> RM, std::optional<CodeModel::Model> CM, CodeGenOptLevel OL, bool JIT);
  ~DougongTargetMachine() override;

  const TargetSubtargetInfo *getSubtargetImpl(const Function &) const override;
  TargetPassConfig *createPassConfig(PassManagerBase &PM) override;
  TargetLoweringObjectFile *getObjFileLowering() const override { return ObjectFile.get(); }
  TargetTransformInfo getTargetTransformInfo(const Function &F) const override;
  MachineFunctionInfo *createMachineFunctionInfo(BumpPtrAllocator &Allocator, const Function &F,
                                                 const TargetSubtargetInfo *STI) const override;
  // Address space 1 is LM, of which generic addresses are a superset: the same addresses, known to be there.
  bool isNoopAddrSpaceCast(unsigned, unsigned) const override { return true; }
  ScheduleDAGInstrs *createMachineScheduler(MachineSchedContext *C) const override;
  ScheduleDAGInstrs *createPostMachineScheduler(MachineSchedContext *C) const override;
};

} // namespace llvm
