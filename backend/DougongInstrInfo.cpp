// See DougongInstrInfo.h.
#include "DougongInstrInfo.h"
#include "DougongSubtarget.h"
#include "llvm/CodeGen/RegisterScavenging.h"
#include "llvm/MC/MCInstBuilder.h"

using namespace llvm;

#define GET_INSTRINFO_CTOR_DTOR
#include "DougongGenInstrInfo.inc"

DougongInstrInfo::DougongInstrInfo(const DougongSubtarget &STI)
    : DougongGenInstrInfo(STI, RegInfo, Dougong::ADJCALLSTACKDOWN, Dougong::ADJCALLSTACKUP) {}

//===-- Constants and addresses ------------------------------------------------------------------------------------===//

void DougongInstrInfo::loadImmediate(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, const DebugLoc &DL, Register Dest,
                                     int64_t Value, MachineInstr::MIFlag Flags) const {
  Register From = Dougong::X0;
  for (const DougongConstant::Step &Step : DougongConstant::steps(Value)) {
    MachineInstrBuilder MIB = BuildMI(MBB, I, DL, get(Step.Opcode), Dest).setMIFlag(Flags);
    if (Step.Opcode != Dougong::LUI)
      MIB.addReg(From, getKillRegState(From == Dest));
    MIB.addImm(Step.Immediate);
    From = Dest;
  }
}

void DougongInstrInfo::addImmediate(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, const DebugLoc &DL, Register Dest, Register Src,
                                    int64_t Value, MachineInstr::MIFlag Flags) const {
  if (Value == 0 && Dest == Src)
    return;
  if (isInt<12>(Value)) {
    BuildMI(MBB, I, DL, get(Dougong::ADDI), Dest).addReg(Src).addImm(Value).setMIFlag(Flags);
    return;
  }
  // Two steps for the near ones; the first keeps sp aligned.
  if (int64_t First = Value < 0 ? -2048 : 2032; isInt<12>(Value - First)) {
    BuildMI(MBB, I, DL, get(Dougong::ADDI), Dest).addReg(Src).addImm(First).setMIFlag(Flags);
    BuildMI(MBB, I, DL, get(Dougong::ADDI), Dest).addReg(Dest, RegState::Kill).addImm(Value - First).setMIFlag(Flags);
    return;
  }
  Register Scratch = MBB.getParent()->getRegInfo().createVirtualRegister(&Dougong::GPRRegClass);
  loadImmediate(MBB, I, DL, Scratch, Value, Flags);
  BuildMI(MBB, I, DL, get(Dougong::ADD), Dest).addReg(Src).addReg(Scratch, RegState::Kill).setMIFlag(Flags);
}

//===-- Copies and spills ------------------------------------------------------------------------------------------===//

void DougongInstrInfo::copyPhysReg(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, const DebugLoc &DL, Register Dest, Register Src,
                                   bool KillSrc, bool, bool) const {
  if (Dougong::GPRRegClass.contains(Dest, Src))
    BuildMI(MBB, I, DL, get(Dougong::ADDI), Dest).addReg(Src, getKillRegState(KillSrc)).addImm(0);
  else if (Dougong::VRRegClass.contains(Dest, Src))
    BuildMI(MBB, I, DL, get(Dougong::VMOV), Dest).addReg(Src, getKillRegState(KillSrc));
  else if (Dougong::MRRegClass.contains(Dest, Src))
    BuildMI(MBB, I, DL, get(Dougong::MMOV), Dest).addReg(Src, getKillRegState(KillSrc));
  else
    llvm_unreachable("no copy between these register classes");
}

static unsigned storeOpcode(const TargetRegisterClass *RC) {
  if (Dougong::GPRRegClass.hasSubClassEq(RC))
    return Dougong::SD;
  return Dougong::VRRegClass.hasSubClassEq(RC) ? Dougong::VST_32 : Dougong::MST;
}

static unsigned loadOpcode(const TargetRegisterClass *RC) {
  if (Dougong::GPRRegClass.hasSubClassEq(RC))
    return Dougong::LD;
  return Dougong::VRRegClass.hasSubClassEq(RC) ? Dougong::VLD_32 : Dougong::MLD;
}

static MachineMemOperand *slotAccess(MachineFunction &MF, int FI, MachineMemOperand::Flags Flags) {
  const MachineFrameInfo &MFI = MF.getFrameInfo();
  return MF.getMachineMemOperand(MachinePointerInfo::getFixedStack(MF, FI), Flags, MFI.getObjectSize(FI), MFI.getObjectAlign(FI));
}

void DougongInstrInfo::storeRegToStackSlot(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, Register Src, bool IsKill, int FI,
                                           const TargetRegisterClass *RC, Register, MachineInstr::MIFlag Flags) const {
  BuildMI(MBB, I, DebugLoc(), get(storeOpcode(RC))) // of no line: a function's first line begins behind its saves
      .addReg(Src, getKillRegState(IsKill))
      .addFrameIndex(FI)
      .addImm(0)
      .addMemOperand(slotAccess(*MBB.getParent(), FI, MachineMemOperand::MOStore))
      .setMIFlag(Flags);
}

void DougongInstrInfo::loadRegFromStackSlot(MachineBasicBlock &MBB, MachineBasicBlock::iterator I, Register Dest, int FI,
                                            const TargetRegisterClass *RC, Register, unsigned, MachineInstr::MIFlag Flags) const {
  BuildMI(MBB, I, MBB.findDebugLoc(I), get(loadOpcode(RC)), Dest)
      .addFrameIndex(FI)
      .addImm(0)
      .addMemOperand(slotAccess(*MBB.getParent(), FI, MachineMemOperand::MOLoad))
      .setMIFlag(Flags);
}

static Register slotRegister(const MachineInstr &MI, int &FI) {
  if (!MI.getOperand(1).isFI() || !MI.getOperand(2).isImm() || MI.getOperand(2).getImm() != 0)
    return Register();
  FI = MI.getOperand(1).getIndex();
  return MI.getOperand(0).getReg();
}

Register DougongInstrInfo::isLoadFromStackSlot(const MachineInstr &MI, int &FI) const {
  unsigned Opcode = MI.getOpcode();
  return Opcode == Dougong::LD || Opcode == Dougong::VLD_32 || Opcode == Dougong::MLD ? slotRegister(MI, FI) : Register();
}

Register DougongInstrInfo::isStoreToStackSlot(const MachineInstr &MI, int &FI) const {
  unsigned Opcode = MI.getOpcode();
  return Opcode == Dougong::SD || Opcode == Dougong::VST_32 || Opcode == Dougong::MST ? slotRegister(MI, FI) : Register();
}

// After frame layout: the memory operand still says that it is a slot.
static Register spilledRegister(const MachineInstr &MI, ArrayRef<unsigned> Opcodes, int &FI) {
  if (!is_contained(Opcodes, MI.getOpcode()) || !MI.hasOneMemOperand())
    return Register();
  auto *Slot = dyn_cast_or_null<FixedStackPseudoSourceValue>((*MI.memoperands_begin())->getPseudoValue());
  if (!Slot || !MI.getMF()->getFrameInfo().isSpillSlotObjectIndex(Slot->getFrameIndex()))
    return Register();
  FI = Slot->getFrameIndex();
  return MI.getOperand(0).getReg();
}

Register DougongInstrInfo::isStoreToStackSlotPostFE(const MachineInstr &MI, int &FI) const {
  return spilledRegister(MI, {Dougong::SD, Dougong::VST_32, Dougong::MST}, FI);
}

Register DougongInstrInfo::isLoadFromStackSlotPostFE(const MachineInstr &MI, int &FI) const {
  return spilledRegister(MI, {Dougong::LD, Dougong::VLD_32, Dougong::MLD}, FI);
}

std::optional<DestSourcePair> DougongInstrInfo::isCopyInstrImpl(const MachineInstr &MI) const {
  bool Add = MI.getOpcode() == Dougong::ADDI && MI.getOperand(1).isReg() && MI.getOperand(2).isImm() && MI.getOperand(2).getImm() == 0;
  if (Add || MI.getOpcode() == Dougong::VMOV || MI.getOpcode() == Dougong::MMOV)
    return DestSourcePair{MI.getOperand(0), MI.getOperand(1)};
  return std::nullopt;
}

std::optional<RegImmPair> DougongInstrInfo::isAddImmediate(const MachineInstr &MI, Register Reg) const {
  if (MI.getOpcode() != Dougong::ADDI || MI.getOperand(0).getReg() != Reg || !MI.getOperand(1).isReg() || !MI.getOperand(2).isImm())
    return std::nullopt;
  return RegImmPair{MI.getOperand(1).getReg(), MI.getOperand(2).getImm()};
}

DougongInstrInfo::OffsetField DougongInstrInfo::offsetField(const MachineInstr &MI) const {
  switch (MI.getOpcode()) {
  case Dougong::VLD_32:
  case Dougong::VLD_F16:
  case Dougong::VLD_BF16:
  case Dougong::VLD_I16:
  case Dougong::VLD_U16:
  case Dougong::VLD_I8:
  case Dougong::VLD_U8:
  case Dougong::VST_32:
  case Dougong::VST_F16:
  case Dougong::VST_BF16:
  case Dougong::VST_I16:
  case Dougong::VST_I8:
  case Dougong::MLD:
  case Dougong::MST:
    return {14, 16};
  case Dougong::VLDB_32:
    return {12, 4};
  case Dougong::VLDB_F16:
  case Dougong::VLDB_BF16:
  case Dougong::VLDB_I16:
  case Dougong::VLDB_U16:
    return {11, 2};
  case Dougong::VLDB_I8:
  case Dougong::VLDB_U8:
    return {10, 1};
  }
  return {12, 1};
}

//===-- Branches: Cond = opcode, left, right -----------------------------------------------------------------------===//

static unsigned oppositeBranch(unsigned Opcode) {
  switch (Opcode) {
  case Dougong::BEQ:
    return Dougong::BNE;
  case Dougong::BNE:
    return Dougong::BEQ;
  case Dougong::BLT:
    return Dougong::BGE;
  case Dougong::BGE:
    return Dougong::BLT;
  case Dougong::BLTU:
    return Dougong::BGEU;
  case Dougong::BGEU:
    return Dougong::BLTU;
  }
  return 0;
}

static bool isConditional(const MachineInstr &MI) { return oppositeBranch(MI.getOpcode()) != 0; }
static bool isUnconditional(const MachineInstr &MI) { return MI.getOpcode() == Dougong::PseudoBR; }

MachineBasicBlock *DougongInstrInfo::getBranchDestBlock(const MachineInstr &MI) const {
  return MI.getOperand(MI.getNumExplicitOperands() - 1).getMBB();
}

bool DougongInstrInfo::analyzeBranch(MachineBasicBlock &MBB, MachineBasicBlock *&TBB, MachineBasicBlock *&FBB,
                                     SmallVectorImpl<MachineOperand> &Cond, bool AllowModify) const {
  TBB = FBB = nullptr;
  Cond.clear();
  SmallVector<MachineInstr *, 4> Terminators;
  for (MachineInstr &MI : MBB.terminators())
    if (!MI.isDebugInstr())
      Terminators.push_back(&MI);
  for (MachineInstr *MI : Terminators)
    if (!isConditional(*MI) && !isUnconditional(*MI))
      return true;
  // What follows the first unconditional branch is never reached.
  for (size_t I = 0; I + 1 < Terminators.size(); ++I)
    if (isUnconditional(*Terminators[I])) {
      if (!AllowModify)
        return true;
      for (size_t J = I + 1; J < Terminators.size(); ++J)
        Terminators[J]->eraseFromParent();
      Terminators.resize(I + 1);
    }
  if (Terminators.empty())
    return false;
  if (Terminators.size() > 2)
    return true;
  if (isUnconditional(*Terminators[0])) {
    TBB = getBranchDestBlock(*Terminators[0]);
    return false;
  }
  if (Terminators.size() == 2 && !isUnconditional(*Terminators[1]))
    return true;
  TBB = getBranchDestBlock(*Terminators[0]);
  Cond.append({MachineOperand::CreateImm(Terminators[0]->getOpcode()), Terminators[0]->getOperand(0), Terminators[0]->getOperand(1)});
  if (Terminators.size() == 2)
    FBB = getBranchDestBlock(*Terminators[1]);
  return false;
}

unsigned DougongInstrInfo::insertBranch(MachineBasicBlock &MBB, MachineBasicBlock *TBB, MachineBasicBlock *FBB,
                                        ArrayRef<MachineOperand> Cond, const DebugLoc &DL, int *BytesAdded) const {
  unsigned Count = 1;
  if (Cond.empty()) {
    BuildMI(&MBB, DL, get(Dougong::PseudoBR)).addMBB(TBB);
  } else {
    BuildMI(&MBB, DL, get(Cond[0].getImm())).add(Cond[1]).add(Cond[2]).addMBB(TBB);
    if (FBB) {
      BuildMI(&MBB, DL, get(Dougong::PseudoBR)).addMBB(FBB);
      Count = 2;
    }
  }
  if (BytesAdded)
    *BytesAdded = 4 * Count;
  return Count;
}

unsigned DougongInstrInfo::removeBranch(MachineBasicBlock &MBB, int *BytesRemoved) const {
  unsigned Count = 0;
  for (auto I = MBB.getLastNonDebugInstr(); I != MBB.end() && (isConditional(*I) || isUnconditional(*I)); I = MBB.getLastNonDebugInstr()) {
    I->eraseFromParent();
    ++Count;
  }
  if (BytesRemoved)
    *BytesRemoved = 4 * Count;
  return Count;
}

bool DougongInstrInfo::reverseBranchCondition(SmallVectorImpl<MachineOperand> &Cond) const {
  Cond[0].setImm(oppositeBranch(Cond[0].getImm()));
  return false;
}

bool DougongInstrInfo::isBranchOffsetInRange(unsigned Opcode, int64_t Offset) const {
  if (oppositeBranch(Opcode))
    return isInt<13>(Offset);
  return Opcode == Dougong::PseudoBR ? isInt<21>(Offset) : true;
}

// A jump beyond 1 MiB: the address goes through a register that is free here; if none is, t6 is saved and `Restore` brings it back.
void DougongInstrInfo::insertIndirectBranch(MachineBasicBlock &MBB, MachineBasicBlock &Dest, MachineBasicBlock &Restore, const DebugLoc &DL,
                                            int64_t, RegScavenger *RS) const {
  MachineRegisterInfo &MRI = MBB.getParent()->getRegInfo();
  Register Target = MRI.createVirtualRegister(&Dougong::GPRRegClass);
  MachineInstr &Address = *BuildMI(&MBB, DL, get(Dougong::PseudoLLA), Target).addMBB(&Dest);
  BuildMI(&MBB, DL, get(Dougong::PseudoBRIND)).addReg(Target, RegState::Kill).addImm(0);
  RS->enterBasicBlockEnd(MBB);
  Register Free = RS->scavengeRegisterBackwards(Dougong::GPRRegClass, Address.getIterator(), false, 0, false);
  if (!Free)
    report_fatal_error("dougong: a jump of more than 1 MiB with every register in use; split the function");
  RS->setRegUsed(Free);
  MRI.replaceRegWith(Target, Free);
  MRI.clearVirtRegs();
}

MCInst DougongInstrInfo::getNop() const { return MCInstBuilder(Dougong::ADDI).addReg(Dougong::X0).addReg(Dougong::X0).addImm(0); }

unsigned DougongInstrInfo::getInstSizeInBytes(const MachineInstr &MI) const {
  if (MI.isMetaInstruction())
    return 0;
  if (MI.isInlineAsm())
    return getInlineAsmLength(MI.getOperand(0).getSymbolName(), *MI.getMF()->getTarget().getMCAsmInfo());
  return MI.getDesc().getSize() ? MI.getDesc().getSize() : 4;
}
