// See DougongFrameLowering.h.
#include "DougongFrameLowering.h"
#include "DougongInstrInfo.h"
#include "DougongPasses.h"
#include "DougongSubtarget.h"
#include "llvm/CodeGen/CFIInstBuilder.h"

using namespace llvm;

static const DougongInstrInfo &instrInfo(const MachineFunction &MF) { return *MF.getSubtarget<DougongSubtarget>().getInstrInfo(); }

// How far the prologue moves sp before it saves registers: all of a small frame; of a large one, what keeps the saves'
// offsets within an immediate.
static int64_t firstStep(const MachineFunction &MF) {
  int64_t Size = alignTo(MF.getFrameInfo().getStackSize(), 16);
  return isInt<12>(Size) ? Size : 2032;
}

// sp += Amount. `Moved` hears of every instruction that changes sp, where that takes two.
static void moveStack(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, const DebugLoc &DL, int64_t Amount, MachineInstr::MIFlag Flag,
                      function_ref<void(int64_t)> Moved) {
  while (Amount != 0) {
    int64_t Part = Amount < 0 ? -2048 : 2032, Step = !isInt<12>(Amount) && isInt<12>(Amount - Part) ? Part : Amount;
    instrInfo(*MBB.getParent()).addImmediate(MBB, I, DL, Dougong::X2, Dougong::X2, Step, Flag);
    Moved(Step);
    Amount -= Step;
  }
}

bool DougongFrameLowering::hasFPImpl(const MachineFunction &MF) const {
  const MachineFrameInfo &MFI = MF.getFrameInfo();
  return MF.getTarget().Options.DisableFramePointerElim(MF) || MFI.hasVarSizedObjects() || MFI.isFrameAddressTaken() ||
         MF.getSubtarget().getRegisterInfo()->hasStackRealignment(MF);
}

bool DougongFrameLowering::hasBasePointer(const MachineFunction &MF) const {
  return MF.getFrameInfo().hasVarSizedObjects() && MF.getSubtarget().getRegisterInfo()->hasStackRealignment(MF);
}

bool DougongFrameLowering::hasReservedCallFrame(const MachineFunction &MF) const { return !MF.getFrameInfo().hasVarSizedObjects(); }

void DougongFrameLowering::determineCalleeSaves(MachineFunction &MF, BitVector &SavedRegs, RegScavenger *RS) const {
  TargetFrameLowering::determineCalleeSaves(MF, SavedRegs, RS);
  for (unsigned Number = 8; Number < 28; ++Number) // the program's global variables are no caller's to get back
    if (isReservedByUser(MF.getFunction(), Number))
      SavedRegs.reset(Dougong::X0 + Number);
  if (hasFP(MF)) {
    SavedRegs.set(Dougong::X1);
    SavedRegs.set(Dougong::X8);
  }
  if (hasBasePointer(MF))
    SavedRegs.set(Dougong::X9);
}

// A frame whose slots may lie out of an immediate's reach needs slots for the scavenger: one for the address and, where
// masks are spilled through a scalar register, one more.
void DougongFrameLowering::processFunctionBeforeFrameFinalized(MachineFunction &MF, RegScavenger *RS) const {
  MachineFrameInfo &MFI = MF.getFrameInfo();
  bool HasVectorSlot = false;
  for (int I = MFI.getObjectIndexBegin(), E = MFI.getObjectIndexEnd(); I != E; ++I)
    HasVectorSlot |= !MFI.isDeadObjectIndex(I) && MFI.getObjectSize(I) >= 64;
  if (!isInt<11>(MFI.estimateStackSize(MF)) || HasVectorSlot)
    for (int I = 0; I < 2; ++I)
      RS->addScavengingFrameIndex(MFI.CreateStackObject(8, Align(8), false));
}

void DougongFrameLowering::emitPrologue(MachineFunction &MF, MachineBasicBlock &MBB) const {
  const DougongInstrInfo &TII = instrInfo(MF);
  MachineFrameInfo &MFI = MF.getFrameInfo();
  uint64_t StackSize = alignTo(MFI.getStackSize(), getStackAlign());
  MFI.setStackSize(StackSize);
  if (StackSize == 0 && !MFI.adjustsStack() && !hasFP(MF))
    return;

  // Saves have been inserted already, relative to the new sp. When the frame is large, sp goes down in two steps so that the saves'
  // offsets stay small; the second step follows them.
  auto I = MBB.begin();
  DebugLoc DL;
  const auto &CSI = MFI.getCalleeSavedInfo();
  uint64_t First = firstStep(MF);
  TII.addImmediate(MBB, I, DL, Dougong::X2, Dougong::X2, -int64_t(First), MachineInstr::FrameSetup);
  CFIInstBuilder CFI(MBB, I, MachineInstr::FrameSetup);
  if (First)
    CFI.buildDefCFAOffset(First);
  std::advance(I, CSI.size());
  CFI.setInsertPoint(I);
  for (const CalleeSavedInfo &Saved : CSI)
    CFI.buildOffset(Saved.getReg(), MFI.getObjectOffset(Saved.getFrameIdx()));

  if (hasFP(MF)) {
    TII.addImmediate(MBB, I, DL, Dougong::X8, Dougong::X2, First, MachineInstr::FrameSetup);
    CFI.buildDefCFA(Dougong::X8, 0);
  }
  int64_t Depth = First;
  moveStack(MBB, I, DL, -int64_t(StackSize - First), MachineInstr::FrameSetup, [&](int64_t Step) {
    Depth -= Step;
    if (!hasFP(MF))
      CFI.buildDefCFAOffset(Depth);
  });
  const TargetRegisterInfo &TRI = *MF.getSubtarget().getRegisterInfo();
  if (TRI.hasStackRealignment(MF)) {
    int64_t Mask = -int64_t(MFI.getMaxAlign().value());
    if (isInt<12>(Mask)) {
      BuildMI(MBB, I, DL, TII.get(Dougong::ANDI), Dougong::X2).addReg(Dougong::X2).addImm(Mask).setMIFlag(MachineInstr::FrameSetup);
    } else {
      unsigned Shift = Log2_64(MFI.getMaxAlign().value());
      BuildMI(MBB, I, DL, TII.get(Dougong::SRLI), Dougong::X2).addReg(Dougong::X2).addImm(Shift).setMIFlag(MachineInstr::FrameSetup);
      BuildMI(MBB, I, DL, TII.get(Dougong::SLLI), Dougong::X2).addReg(Dougong::X2).addImm(Shift).setMIFlag(MachineInstr::FrameSetup);
    }
  }
  if (hasBasePointer(MF))
    TII.addImmediate(MBB, I, DL, Dougong::X9, Dougong::X2, 0, MachineInstr::FrameSetup);
}

// A block without a frame that stands behind one with a frame says so to debuggers.
void DougongFrameLowering::resetCFIToInitialState(MachineBasicBlock &MBB) const {
  CFIInstBuilder CFI(MBB, MBB.begin(), MachineInstr::NoFlags);
  CFI.buildDefCFA(Dougong::X2, 0);
  for (const CalleeSavedInfo &Saved : MBB.getParent()->getFrameInfo().getCalleeSavedInfo())
    CFI.buildRestore(Saved.getReg());
}

// In the order of the saves, ra first: the return waits for it.
bool DougongFrameLowering::restoreCalleeSavedRegisters(MachineBasicBlock &MBB, MachineBasicBlock::iterator I,
                                                       MutableArrayRef<CalleeSavedInfo> CSI, const TargetRegisterInfo *TRI) const {
  const DougongInstrInfo &TII = instrInfo(*MBB.getParent());
  for (const CalleeSavedInfo &Saved : CSI)
    TII.loadRegFromStackSlot(MBB, I, Saved.getReg(), Saved.getFrameIdx(), TRI->getMinimalPhysRegClass(Saved.getReg()), Register(), 0,
                             MachineInstr::FrameDestroy);
  return true;
}

// Debuggers unwind from every instruction, so the way back is described like the way in:
//
//   addi sp, sp, 4000            addi sp, s0, -2032           CFA = sp + the first step (before s0, which it counted from, is restored)
//   ld ra …; ld s0 …             ld ra …; ld s0 …             ra, s0, … are the caller's
//   addi sp, sp, 2032            addi sp, sp, 2032            CFA = sp
//   ret                          ret
void DougongFrameLowering::emitEpilogue(MachineFunction &MF, MachineBasicBlock &MBB) const {
  const DougongInstrInfo &TII = instrInfo(MF);
  MachineFrameInfo &MFI = MF.getFrameInfo();
  if (MFI.getStackSize() == 0 && !MFI.adjustsStack() && !hasFP(MF))
    return;
  auto End = MBB.getFirstTerminator();
  DebugLoc DL = End != MBB.end() ? End->getDebugLoc() : DebugLoc();
  const auto &CSI = MFI.getCalleeSavedInfo();
  auto Restores = End;
  std::advance(Restores, -int64_t(CSI.size()));

  uint64_t First = firstStep(MF);
  CFIInstBuilder CFI(MBB, Restores, MachineInstr::FrameDestroy);
  int64_t Depth = MFI.getStackSize();
  if (MFI.hasVarSizedObjects() || MF.getSubtarget().getRegisterInfo()->hasStackRealignment(MF))
    TII.addImmediate(MBB, Restores, DL, Dougong::X2, Dougong::X8, -int64_t(First), MachineInstr::FrameDestroy);
  else
    moveStack(MBB, Restores, DL, Depth - int64_t(First), MachineInstr::FrameDestroy, [&](int64_t Step) {
      Depth -= Step;
      if (!hasFP(MF))
        CFI.buildDefCFAOffset(Depth);
    });
  if (hasFP(MF))
    CFI.buildDefCFA(Dougong::X2, First);
  CFI.setInsertPoint(End);
  for (const CalleeSavedInfo &Saved : CSI)
    CFI.buildRestore(Saved.getReg());
  TII.addImmediate(MBB, End, DL, Dougong::X2, Dougong::X2, First, MachineInstr::FrameDestroy);
  if (First)
    CFI.buildDefCFAOffset(0);
}

// Objects' offsets count from the caller's sp.
StackOffset DougongFrameLowering::getFrameIndexReference(const MachineFunction &MF, int FI, Register &FrameReg) const {
  const MachineFrameInfo &MFI = MF.getFrameInfo();
  int64_t Offset = MFI.getObjectOffset(FI);
  for (const CalleeSavedInfo &Saved : MFI.getCalleeSavedInfo())
    if (Saved.getFrameIdx() == FI) { // accessed between the prologue's two steps only
      FrameReg = Dougong::X2;
      return StackOffset::getFixed(Offset + firstStep(MF));
    }
  bool Realigned = MF.getSubtarget().getRegisterInfo()->hasStackRealignment(MF);
  if (hasFP(MF) && (!Realigned || MFI.isFixedObjectIndex(FI))) {
    FrameReg = Dougong::X8;
    return StackOffset::getFixed(Offset);
  }
  FrameReg = hasBasePointer(MF) ? Dougong::X9 : Dougong::X2;
  return StackOffset::getFixed(Offset + MFI.getStackSize());
}

MachineBasicBlock::iterator DougongFrameLowering::eliminateCallFramePseudoInstr(MachineFunction &MF, MachineBasicBlock &MBB,
                                                                                MachineBasicBlock::iterator I) const {
  if (!hasReservedCallFrame(MF)) {
    int64_t Amount = alignTo(I->getOperand(0).getImm(), getStackAlign());
    if (I->getOpcode() == Dougong::ADJCALLSTACKDOWN)
      Amount = -Amount;
    instrInfo(MF).addImmediate(MBB, I, I->getDebugLoc(), Dougong::X2, Dougong::X2, Amount);
  }
  return MBB.erase(I);
}
