// Register allocation's view of the core's registers: what is reserved, what calls preserve, and how a frame index
// becomes base register plus offset.
#pragma once
#include "llvm/CodeGen/TargetRegisterInfo.h"

#define GET_REGINFO_HEADER
#include "DougongGenRegisterInfo.inc"

namespace llvm {

class DougongRegisterInfo : public DougongGenRegisterInfo {
public:
  DougongRegisterInfo();

  const MCPhysReg *getCalleeSavedRegs(const MachineFunction *MF) const override;
  const uint32_t *getCallPreservedMask(const MachineFunction &MF, CallingConv::ID) const override;
  BitVector getReservedRegs(const MachineFunction &MF) const override;
  const TargetRegisterClass *getPointerRegClass(unsigned Kind = 0) const override;
  bool eliminateFrameIndex(MachineBasicBlock::iterator II, int SPAdj, unsigned FIOperandNum, RegScavenger *RS) const override;
  Register getFrameRegister(const MachineFunction &MF) const override;
  bool requiresRegisterScavenging(const MachineFunction &) const override { return true; }
  bool requiresFrameIndexScavenging(const MachineFunction &) const override { return true; }
};

} // namespace llvm
