// A pointer that vector accesses walk along moves on with them, not by an addition of its own.
//
//   %p = PHI %start, %next                %p = PHI %start, %next
//   %a = vld 0(%p)                        %a, %q = vldp (%p), 128
//   %b = vld 128(%p)                  →   %b, %next = vldp (%q), 128
//   %next = addi %p, 256                  BNE %next, %end
//   BNE %next, %end
//
// Not by SelectionDAG's indexed loads: those choose one access without regard to the order of the others, and each that comes after it
// wants the old pointer, a copy in the place of the addition. Here the chain is what follows the last access of distance 0, so that nothing
// wants the old value any more. Its links are a cycle apart, as are the memory unit's instructions, so that it delays nothing; it keeps its
// order, so it holds either loads or stores.
//
// Software pipelining leaves behind a pointer of a late stage the values that it will have, and a move for each:
//
//   %p = PHI %start, %q            %p = PHI %start, %n
//   %q = PHI %start+128, %r    →   vst %v, 0(%p)           it is a pointer of its own again
//   %r = PHI %start+256, %n        %n = addi %p, 128
//   vst %v, 0(%p)
//   %n = addi %r, 128
#include "DougongInstrInfo.h"
#include "DougongPasses.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace {

class DougongPostIncrement : public MachineFunctionPass {
public:
  static char ID;
  DougongPostIncrement() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Dougong post-increments"; }
  void getAnalysisUsage(AnalysisUsage &AU) const override {
    AU.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(AU);
  }
  bool runOnMachineFunction(MachineFunction &MF) override;

private:
  void bypass(MachineInstr &Phi);
  bool standAlone(MachineInstr &Phi);
  bool moveOn(MachineInstr &Add);
  const TargetInstrInfo *TII;
  MachineRegisterInfo *MRI;
};

char DougongPostIncrement::ID = 0;

} // namespace

FunctionPass *llvm::createDougongPostIncrement() { return new DougongPostIncrement(); }

// The form that moves its address on; 0 if there is none.
static unsigned postIncrement(unsigned Opcode) {
  switch (Opcode) {
#define FORMS(E)                                                                                                                           \
  case Dougong::VLD_##E:                                                                                                                   \
    return Dougong::VLDP_##E;
    FORMS(32)
    FORMS(F16)
    FORMS(BF16)
    FORMS(I16)
    FORMS(U16)
    FORMS(I8)
    FORMS(U8)
#undef FORMS
#define FORMS(E)                                                                                                                           \
  case Dougong::VST_##E:                                                                                                                   \
    return Dougong::VSTP_##E;
    FORMS(32) FORMS(F16) FORMS(BF16) FORMS(I16) FORMS(I8)
#undef FORMS
  }
  return 0;
}

static constexpr unsigned BaseOperand = 1, DistanceOperand = 2; // of loads and stores alike

static bool fits(int64_t Step) { return isInt<14>(Step) && Step % 16 == 0; }

// What a PHI of a loop of one block gets from it (`Again`), or on entry.
static Register incoming(const MachineInstr &Phi, bool Again) {
  for (unsigned I = 1; I < Phi.getNumOperands(); I += 2)
    if ((Phi.getOperand(I + 1).getMBB() == Phi.getParent()) == Again)
      return Phi.getOperand(I).getReg();
  return Register();
}

// Of a PHI with one source, its users take that.
void DougongPostIncrement::bypass(MachineInstr &Phi) {
  Register Old = Phi.getOperand(0).getReg(), New = Phi.getOperand(1).getReg();
  if (!New.isVirtual() || !MRI->constrainRegClass(New, MRI->getRegClass(Old)))
    return;
  MRI->replaceRegWith(Old, New);
  MRI->clearKillFlags(New);
  Phi.eraseFromParent();
}

// Makes `Phi`, the first of a row of PHIs that each take over the next one's value, a pointer that is added to.
bool DougongPostIncrement::standAlone(MachineInstr &Phi) {
  MachineBasicBlock &Block = *Phi.getParent();
  if (Block.succ_size() != 2 || !Block.isSuccessor(&Block))
    return false;
  MachineBasicBlock &Exit = **(*Block.succ_begin() == &Block ? std::next(Block.succ_begin()) : Block.succ_begin());
  if (Exit.pred_size() != 1)
    return false;
  SmallVector<MachineInstr *, 4> Row = {&Phi};
  MachineInstr *Add, *Copy = nullptr;
  for (;;) {
    Add = Row.back()->getNumOperands() == 5 ? MRI->getVRegDef(incoming(*Row.back(), /*Again=*/true)) : nullptr;
    if (!Add || Add->getParent() != &Block || llvm::is_contained(Row, Add))
      return false;
    if (!Add->isPHI())
      break;
    Row.push_back(Add);
  }
  auto Adds = [](const MachineInstr *MI) {
    return MI && MI->getOpcode() == Dougong::ADDI && MI->getOperand(1).isReg() && MI->getOperand(2).isImm();
  };
  if (Row.size() < 2 || !Adds(Add))
    return false;
  if (Add->getOperand(1).getReg() != Row.back()->getOperand(0).getReg()) {
    Copy = Add->getOperand(1).getReg().isVirtual() ? MRI->getVRegDef(Add->getOperand(1).getReg()) : nullptr;
    if (!Copy || !Copy->isCopy() || Copy->getParent() != &Block || Copy->getOperand(1).getReg() != Row.back()->getOperand(0).getReg())
      return false;
  }
  int64_t Step = Add->getOperand(2).getImm(), Most = Step * int64_t(Row.size());
  if (!isInt<12>(Most) || !isInt<12>(-Step))
    return false;
  SmallVector<MachineInstr *, 4> Starts;
  for (size_t I = 0; I + 1 < Row.size(); ++I) {
    MachineInstr *Start = MRI->getVRegDef(incoming(*Row[I + 1], /*Again=*/false));
    if (!Adds(Start) || Start->getOperand(1).getReg() != incoming(*Row[I], /*Again=*/false) || Start->getOperand(2).getImm() != Step)
      return false;
    Starts.push_back(Start);
  }
  // Nobody but the row may want the values to come in the loop; behind it they are made of the last one.
  SmallVector<MachineInstr *, 6> Made(Row.begin(), Row.end());
  if (Copy)
    Made.push_back(Copy);
  Made.push_back(Add);
  bool Accessed = false;
  for (MachineInstr *MI : Made)
    for (MachineInstr &User : MRI->use_nodbg_instructions(MI->getOperand(0).getReg())) {
      if (User.getParent() != &Block ? User.isPHI() : MI != &Phi && !llvm::is_contained(Made, &User))
        return false;
      Accessed |= MI == &Phi && User.getParent() == &Block && postIncrement(User.getOpcode());
    }
  if (!Accessed)
    return false;

  Register Next = MRI->createVirtualRegister(&Dougong::GPRRegClass);
  BuildMI(Block, Block.getFirstTerminator(), Add->getDebugLoc(), TII->get(Dougong::ADDI), Next)
      .addReg(Phi.getOperand(0).getReg())
      .addImm(Step);
  for (size_t I = 0; I < Made.size(); ++I) {
    MachineInstr *MI = Made[I];
    int64_t Distance = Step * (int64_t(I) - 1 - (Copy && I >= Row.size())); // of its value from Next
    Register Old = MI->getOperand(0).getReg(), New;
    MRI->clearKillFlags(Old);
    for (MachineOperand &Use : make_early_inc_range(MRI->use_operands(Old))) {
      MachineInstr &User = *Use.getParent();
      if (User.isDebugValue() && MI != &Phi)
        User.setDebugValueUndef();
      if (User.isDebugInstr() || User.getParent() == &Block)
        continue;
      if (!New && Distance != 0) {
        New = MRI->createVirtualRegister(&Dougong::GPRRegClass);
        BuildMI(Exit, Exit.getFirstNonPHI(), Add->getDebugLoc(), TII->get(Dougong::ADDI), New).addReg(Next).addImm(Distance);
      }
      Use.setReg(New ? New : Next);
    }
  }
  for (unsigned I = 1; I < Phi.getNumOperands(); I += 2)
    if (Phi.getOperand(I + 1).getMBB() == &Block)
      Phi.getOperand(I).setReg(Next);
  for (MachineInstr *MI : Made)
    if (MI != &Phi)
      MI->eraseFromParent();
  for (MachineInstr *Start : llvm::reverse(Starts))
    if (MRI->use_empty(Start->getOperand(0).getReg()))
      Start->eraseFromParent();
  return true;
}

// Replaces `Add`, %next = addi %p, n, if a chain of accesses can do its work.
bool DougongPostIncrement::moveOn(MachineInstr &Add) {
  MachineBasicBlock &Block = *Add.getParent();
  Register Pointer = Add.getOperand(1).getReg(), Next = Add.getOperand(0).getReg();
  if (!Pointer.isVirtual() || !Next.isVirtual())
    return false;
  // The users of the pointer must all be here: behind the chain its old value is gone.
  SmallPtrSet<MachineInstr *, 16> Users, NextUsers;
  for (MachineInstr &User : MRI->use_nodbg_instructions(Pointer)) {
    if (User.getParent() != &Block || User.isPHI())
      return false;
    if (&User != &Add)
      Users.insert(&User);
  }
  for (MachineInstr &User : MRI->use_nodbg_instructions(Next))
    if (User.getParent() == &Block && !User.isPHI())
      NextUsers.insert(&User);

  SmallVector<MachineInstr *, 8> Chain; // the last first
  bool Found = false;
  for (MachineInstr &MI : llvm::reverse(Block)) {
    if (Chain.empty() && NextUsers.contains(&MI))
      NextUsers.erase(&MI);
    if (!Users.contains(&MI))
      continue;
    bool Access = postIncrement(MI.getOpcode()) && MI.getOperand(BaseOperand).isReg() && MI.getOperand(DistanceOperand).isImm();
    if (!Access || (!Chain.empty() && MI.mayStore() != Chain.back()->mayStore()))
      return false;
    Chain.push_back(&MI);
    if (MI.getOperand(DistanceOperand).getImm() == 0) {
      Found = true;
      break;
    }
  }
  if (!Found || !NextUsers.empty()) // somebody wants the new value before the chain ends
    return false;

  SmallVector<int64_t, 8> Steps;
  int64_t End = Add.getOperand(2).getImm();
  for (MachineInstr *MI : Chain) {
    int64_t At = MI->getOperand(DistanceOperand).getImm();
    Steps.push_back(End - At);
    End = At;
  }
  if (!llvm::all_of(Steps, fits))
    return false;

  for (MachineInstr &MI : make_range(Block.begin(), MachineBasicBlock::iterator(Chain.front())))
    if (MI.isDebugValue() && MI.hasDebugOperandForReg(Next))
      MI.setDebugValueUndef(); // the value is there later now
  MRI->clearKillFlags(Pointer);
  Register At = Pointer;
  for (size_t I = Chain.size(); I-- > 0;) {
    MachineInstr &MI = *Chain[I];
    Register Moved = I == 0 ? Next : MRI->createVirtualRegister(&Dougong::GPRRegClass);
    MachineInstrBuilder MIB = BuildMI(Block, MI, MI.getDebugLoc(), TII->get(postIncrement(MI.getOpcode())));
    if (MI.mayStore())
      MIB.addDef(Moved).add(MI.getOperand(0));
    else
      MIB.add(MI.getOperand(0)).addDef(Moved);
    MIB.addReg(At).addImm(Steps[I]).cloneMemRefs(MI);
    MI.eraseFromParent();
    At = Moved;
  }
  Add.eraseFromParent();
  return true;
}

bool DougongPostIncrement::runOnMachineFunction(MachineFunction &MF) {
  if (skipFunction(MF.getFunction()))
    return false;
  TII = MF.getSubtarget().getInstrInfo();
  MRI = &MF.getRegInfo();
  bool Changed = false;
  SmallVector<MachineInstr *, 16> Phis, Additions;
  for (MachineBasicBlock &Block : MF)
    for (MachineInstr &Phi : Block.phis())
      if (Phi.getNumOperands() == 5 && llvm::any_of(MRI->use_nodbg_instructions(Phi.getOperand(0).getReg()), [&](MachineInstr &User) {
            return User.getParent() == &Block && postIncrement(User.getOpcode()) != 0;
          }))
        Phis.push_back(&Phi);
  if (!Phis.empty()) // what the pipeliner's last stages get has one way in: it needs no PHI, which would hide who uses it
    for (MachineBasicBlock &Block : MF)
      for (MachineInstr &MI : make_early_inc_range(Block.phis()))
        if (MI.getNumOperands() == 3)
          bypass(MI);
  for (MachineInstr *Phi : Phis) // one that an access uses is no later one's row: it stays
    Changed |= standAlone(*Phi);
  for (MachineBasicBlock &Block : MF)
    for (MachineInstr &MI : Block)
      if (MI.getOpcode() == Dougong::ADDI && MI.getOperand(1).isReg() && MI.getOperand(2).isImm())
        Additions.push_back(&MI);
  for (MachineInstr *Add : Additions)
    Changed |= moveOn(*Add);
  return Changed;
}
