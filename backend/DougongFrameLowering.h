// Stack frames: RISC-V's layout. From the caller's sp downwards: the variadic arguments' register save area, saved
// registers, locals and spills, outgoing stack arguments.
//
//   caller's sp ->  ┌ variadic save area      │ fixed objects, offsets from here
//                   │ saved ra, s0, …         │
//                   │ locals, spill slots     │
//   sp          ->  └ outgoing arguments      │
//
// sp stays 16-byte aligned: vector accesses want no more. s0 is the frame pointer where the frame's size varies or it is
// asked for; s1 the base pointer where the stack is realigned and varies as well.
#pragma once
#include "llvm/CodeGen/TargetFrameLowering.h"

namespace llvm {

class DougongFrameLowering : public TargetFrameLowering {
public:
  DougongFrameLowering() : TargetFrameLowering(StackGrowsDown, Align(16), 0) {}

  void emitPrologue(MachineFunction &MF, MachineBasicBlock &MBB) const override;
  void emitEpilogue(MachineFunction &MF, MachineBasicBlock &MBB) const override;
  StackOffset getFrameIndexReference(const MachineFunction &MF, int FI, Register &FrameReg) const override;
  void determineCalleeSaves(MachineFunction &MF, BitVector &SavedRegs, RegScavenger *RS) const override;
  void processFunctionBeforeFrameFinalized(MachineFunction &MF, RegScavenger *RS) const override;
  MachineBasicBlock::iterator eliminateCallFramePseudoInstr(MachineFunction &MF, MachineBasicBlock &MBB,
                                                            MachineBasicBlock::iterator I) const override;
  bool restoreCalleeSavedRegisters(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, MutableArrayRef<CalleeSavedInfo> CSI,
                                   const TargetRegisterInfo *TRI) const override;
  void resetCFIToInitialState(MachineBasicBlock &MBB) const override;
  bool enableShrinkWrapping(const MachineFunction &) const override { return true; }
  bool hasReservedCallFrame(const MachineFunction &MF) const override;
  bool hasBasePointer(const MachineFunction &MF) const;

protected:
  bool hasFPImpl(const MachineFunction &MF) const override;
};

} // namespace llvm
