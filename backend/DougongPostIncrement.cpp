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
    FORMS(I16) FORMS(U16) FORMS(I8) FORMS(U8)
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
  SmallVector<MachineInstr *, 16> Additions;
  for (MachineBasicBlock &Block : MF)
    for (MachineInstr &MI : Block)
      if (MI.getOpcode() == Dougong::ADDI && MI.getOperand(1).isReg() && MI.getOperand(2).isImm())
        Additions.push_back(&MI);
  for (MachineInstr *Add : Additions)
    Changed |= moveOn(*Add);
  return Changed;
}
