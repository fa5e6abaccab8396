// The one subtarget: the core of isa/. Machines differ in timing and sizes, not in instructions.
#pragma once
#include "DougongFrameLowering.h"
#include "DougongISelLowering.h"
#include "DougongInstrInfo.h"
#include "DougongRegisterInfo.h"
#include "llvm/CodeGen/SelectionDAGTargetInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

#define GET_SUBTARGETINFO_HEADER
#include "DougongGenSubtargetInfo.inc"

namespace llvm {

class DougongSubtarget : public DougongGenSubtargetInfo {
  DougongFrameLowering FrameLowering;
  DougongInstrInfo InstrInfo;
  DougongTargetLowering TLInfo;
  SelectionDAGTargetInfo TSInfo;

public:
  DougongSubtarget(const Triple &TT, StringRef CPU, StringRef FS, const TargetMachine &TM);
  void ParseSubtargetFeatures(StringRef CPU, StringRef TuneCPU, StringRef FS);

  const DougongInstrInfo *getInstrInfo() const override { return &InstrInfo; }
  const DougongFrameLowering *getFrameLowering() const override { return &FrameLowering; }
  const DougongTargetLowering *getTargetLowering() const override { return &TLInfo; }
  const DougongRegisterInfo *getRegisterInfo() const override { return &InstrInfo.getRegisterInfo(); }
  const SelectionDAGTargetInfo *getSelectionDAGInfo() const override { return &TSInfo; }

  bool enableMachineScheduler() const override { return true; }
  bool enablePostRAMachineScheduler() const override { return true; }
  // Software pipelining: by the records' units and latencies.
  bool enableMachinePipeliner() const override { return true; }
  bool useDFAforSMS() const override { return false; }
  bool enableWindowScheduler() const override { return false; }
  void adjustSchedDependency(SUnit *Def, int DefOpIdx, SUnit *Use, int UseOpIdx, SDep &Dep, const TargetSchedModel *Model) const override;
  void overrideSchedPolicy(MachineSchedPolicy &Policy, const SchedRegion &Region) const override;
  bool useAA() const override { return true; } // kernels say which of their buffers are apart (alias.scope, noalias)
};

} // namespace llvm
