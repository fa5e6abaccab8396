// See DougongRegisterInfo.h. The calling convention is RISC-V's lp64; every vector and mask register is the caller's to save.
#include "DougongRegisterInfo.h"
#include "DougongFrameLowering.h"
#include "DougongInstrInfo.h"
#include "DougongPasses.h"
#include "DougongSubtarget.h"

using namespace llvm;

#define GET_REGINFO_TARGET_DESC
#include "DougongGenRegisterInfo.inc"

DougongRegisterInfo::DougongRegisterInfo() : DougongGenRegisterInfo(Dougong::X1) {}

const MCPhysReg *DougongRegisterInfo::getCalleeSavedRegs(const MachineFunction *) const { return CSR_LP64_SaveList; }

const uint32_t *DougongRegisterInfo::getCallPreservedMask(const MachineFunction &, CallingConv::ID) const { return CSR_LP64_RegMask; }

const TargetRegisterClass *DougongRegisterInfo::getPointerRegClass(unsigned) const { return &Dougong::GPRRegClass; }

BitVector DougongRegisterInfo::getReservedRegs(const MachineFunction &MF) const {
  BitVector Reserved(getNumRegs());
  for (MCPhysReg Reg : {Dougong::X0, Dougong::X2, Dougong::X3, Dougong::X4})
    markSuperRegs(Reserved, Reg);
  for (unsigned Number = 5; Number < 32; ++Number)
    if (isReservedByUser(MF.getFunction(), Number))
      markSuperRegs(Reserved, Dougong::X0 + Number);
  const auto &Frame = *MF.getSubtarget<DougongSubtarget>().getFrameLowering();
  if (Frame.hasFP(MF))
    markSuperRegs(Reserved, Dougong::X8);
  if (Frame.hasBasePointer(MF))
    markSuperRegs(Reserved, Dougong::X9);
  return Reserved;
}

Register DougongRegisterInfo::getFrameRegister(const MachineFunction &MF) const {
  return MF.getSubtarget().getFrameLowering()->hasFP(MF) ? Dougong::X8 : Dougong::X2;
}

// `op …, <fi#n>, offset`: the operand becomes a register, and the next one the offset, where it fits the instruction's field.
// Otherwise the address is built in a scratch register that the scavenger finds.
bool DougongRegisterInfo::eliminateFrameIndex(MachineBasicBlock::iterator II, int, unsigned FIOperandNum, RegScavenger *) const {
  MachineInstr &MI = *II;
  MachineFunction &MF = *MI.getMF();
  const DougongInstrInfo &TII = *MF.getSubtarget<DougongSubtarget>().getInstrInfo();
  const auto &Frame = *MF.getSubtarget<DougongSubtarget>().getFrameLowering();

  Register Base;
  int64_t Offset = Frame.getFrameIndexReference(MF, MI.getOperand(FIOperandNum).getIndex(), Base).getFixed();
  if (MI.isInlineAsm()) { // the operand stands alone: an address in a register
    Register Address = MF.getRegInfo().createVirtualRegister(&Dougong::GPRRegClass);
    TII.addImmediate(*MI.getParent(), II, MI.getDebugLoc(), Address, Base, Offset);
    MI.getOperand(FIOperandNum).ChangeToRegister(Address, false, false, true);
    return false;
  }

  MachineOperand &Immediate = MI.getOperand(FIOperandNum + 1);
  DougongInstrInfo::OffsetField Field = TII.offsetField(MI);
  Offset += Immediate.getImm();
  if (Field.holds(Offset)) {
    MI.getOperand(FIOperandNum).ChangeToRegister(Base, false);
    Immediate.ChangeToImmediate(Offset);
    return false;
  }
  bool IsAddress = MI.getOpcode() == Dougong::ADDI;
  Register Address = IsAddress ? MI.getOperand(0).getReg() : MF.getRegInfo().createVirtualRegister(&Dougong::GPRRegClass);
  // What the instruction's own field can hold stays there: addresses of neighbouring slots are then the same.
  int64_t Low = !IsAddress && Field.Bits == 12 && Field.Multiple == 1 ? SignExtend64<12>(Offset) : 0;
  if (IsAddress && Address == Base) { // addi sp, <fi>, n does not occur; a destination that is the base needs a scratch
    Address = MF.getRegInfo().createVirtualRegister(&Dougong::GPRRegClass);
    IsAddress = false;
    Low = 0;
  }
  TII.addImmediate(*MI.getParent(), II, MI.getDebugLoc(), Address, Base, Offset - Low);
  if (IsAddress) {
    MI.eraseFromParent();
    return true;
  }
  MI.getOperand(FIOperandNum).ChangeToRegister(Address, false, false, true);
  Immediate.ChangeToImmediate(Low);
  return false;
}
