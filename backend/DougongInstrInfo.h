// What code generation must know about instructions beyond their records: copies, spills, branches, materialised
// constants, and the expansion of pseudos after register allocation.
#pragma once
#include "DougongRegisterInfo.h"
#include "mc/DougongConstant.h"
#include "mc/DougongMCTargetDesc.h"
#include "llvm/CodeGen/TargetInstrInfo.h"

#define GET_INSTRINFO_HEADER
#include "DougongGenInstrInfo.inc"

namespace llvm {

class DougongSubtarget;

class DougongInstrInfo : public DougongGenInstrInfo {
  const DougongRegisterInfo RegInfo;

public:
  explicit DougongInstrInfo(const DougongSubtarget &STI);
  const DougongRegisterInfo &getRegisterInfo() const { return RegInfo; }

  void copyPhysReg(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, const DebugLoc &DL, Register Dest, Register Src, bool KillSrc,
                   bool RenamableDest = false, bool RenamableSrc = false) const override;
  void storeRegToStackSlot(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, Register Src, bool IsKill, int FI,
                           const TargetRegisterClass *RC, Register VReg, MachineInstr::MIFlag Flags = MachineInstr::NoFlags) const override;
  void loadRegFromStackSlot(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, Register Dest, int FI, const TargetRegisterClass *RC,
                            Register VReg, unsigned SubReg = 0, MachineInstr::MIFlag Flags = MachineInstr::NoFlags) const override;
  Register isLoadFromStackSlot(const MachineInstr &MI, int &FI) const override;
  Register isStoreToStackSlot(const MachineInstr &MI, int &FI) const override;

  // For debug information: where a value went, and what a call passed.
  std::optional<DestSourcePair> isCopyInstrImpl(const MachineInstr &MI) const override;
  std::optional<RegImmPair> isAddImmediate(const MachineInstr &MI, Register Reg) const override;
  Register isStoreToStackSlotPostFE(const MachineInstr &MI, int &FI) const override;
  Register isLoadFromStackSlotPostFE(const MachineInstr &MI, int &FI) const override;

  bool analyzeBranch(MachineBasicBlock &MBB, MachineBasicBlock *&TBB, MachineBasicBlock *&FBB, SmallVectorImpl<MachineOperand> &Cond,
                     bool AllowModify) const override;
  unsigned insertBranch(MachineBasicBlock &MBB, MachineBasicBlock *TBB, MachineBasicBlock *FBB, ArrayRef<MachineOperand> Cond,
                        const DebugLoc &DL, int *BytesAdded = nullptr) const override;
  unsigned removeBranch(MachineBasicBlock &MBB, int *BytesRemoved = nullptr) const override;
  bool reverseBranchCondition(SmallVectorImpl<MachineOperand> &Cond) const override;
  MachineBasicBlock *getBranchDestBlock(const MachineInstr &MI) const override;
  bool isBranchOffsetInRange(unsigned Opcode, int64_t Offset) const override;
  void insertIndirectBranch(MachineBasicBlock &MBB, MachineBasicBlock &Dest, MachineBasicBlock &Restore, const DebugLoc &DL, int64_t Offset,
                            RegScavenger *RS) const override;
  unsigned getInstSizeInBytes(const MachineInstr &MI) const override;
  MCInst getNop() const override;

  // For the software pipeliner: DougongPipelinedLoop.cpp.
  std::unique_ptr<PipelinerLoopInfo> analyzeLoopForPipelining(MachineBasicBlock *Loop) const override;
  bool getIncrementValue(const MachineInstr &MI, int &Value) const override;
  bool getMemOperandsWithOffsetWidth(const MachineInstr &MI, SmallVectorImpl<const MachineOperand *> &BaseOps, int64_t &Offset,
                                     bool &OffsetIsScalable, LocationSize &Width, const TargetRegisterInfo *TRI) const override;
  bool areMemAccessesTriviallyDisjoint(const MachineInstr &A, const MachineInstr &B) const override;

  // dest = src + value, in as few instructions as it takes (none for sp += 0). A value out of an immediate's reach goes
  // through a fresh virtual register, or through t1 where there are no virtual registers left to the scavenger (prologues).
  void addImmediate(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, const DebugLoc &DL, Register Dest, Register Src, int64_t Value,
                    MachineInstr::MIFlag Flags = MachineInstr::NoFlags) const;
  // dest = value.
  void loadImmediate(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, const DebugLoc &DL, Register Dest, int64_t Value,
                     MachineInstr::MIFlag Flags = MachineInstr::NoFlags) const;
  // What distances a memory instruction can hold: signed, of `Bits` bits, multiples of `Multiple`.
  struct OffsetField {
    unsigned Bits, Multiple;
    bool holds(int64_t Offset) const { return isIntN(Bits, Offset) && Offset % Multiple == 0; }
  };
  OffsetField offsetField(const MachineInstr &MI) const;
};

} // namespace llvm
