// Ends hardware loops: the last pass over a loop, when blocks are in their places and branches reach.
//
//   loop: …                            loop: …
//         addi  a0, a0, -1        →          …
//         …                                  dg.loop a0, loop
//         bne   a0, zero, loop
//
// Whatever counts down so becomes a hardware loop, several blocks and calls included: the count is a register like others. Between the two
// nothing may look at it.
#include "DougongInstrInfo.h"
#include "DougongPasses.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using namespace llvm;

namespace {

class DougongLoopEnds : public MachineFunctionPass {
public:
  static char ID;
  DougongLoopEnds() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Dougong ends of hardware loops"; }
  bool runOnMachineFunction(MachineFunction &MF) override {
    MF.RenumberBlocks();
    bool Changed = false;
    for (MachineBasicBlock &MBB : MF)
      Changed |= endLoop(MBB);
    return Changed;
  }

private:
  bool endLoop(MachineBasicBlock &MBB);
};

char DougongLoopEnds::ID = 0;

bool subtractsOne(const MachineInstr &MI, Register Count) {
  return MI.getOpcode() == Dougong::ADDI && MI.getOperand(0).getReg() == Count && MI.getOperand(1).isReg() &&
         MI.getOperand(1).getReg() == Count && MI.getOperand(2).isImm() && MI.getOperand(2).getImm() == -1;
}

} // namespace

FunctionPass *llvm::createDougongLoopEnds() { return new DougongLoopEnds(); }

bool DougongLoopEnds::endLoop(MachineBasicBlock &MBB) {
  auto Branch = MBB.getFirstTerminator();
  if (Branch == MBB.end() || Branch->getOpcode() != Dougong::BNE || Branch->getOperand(1).getReg() != Dougong::X0 ||
      Branch->getOperand(2).getMBB()->getNumber() > MBB.getNumber())
    return false;
  Register Count = Branch->getOperand(0).getReg();
  const TargetSubtargetInfo &ST = MBB.getParent()->getSubtarget();
  const TargetRegisterInfo *TRI = ST.getRegisterInfo();
  SmallVector<MachineInstr *, 4> Shown; // to debuggers, as of now
  MachineInstr *Subtraction = nullptr;
  for (MachineInstr &MI : make_range(std::next(Branch.getReverse()), MBB.rend())) {
    if (subtractsOne(MI, Count)) {
      Subtraction = &MI;
      break;
    }
    if (MI.isDebugInstr()) {
      if (MI.readsRegister(Count, TRI))
        Shown.push_back(&MI);
    } else if (MI.readsRegister(Count, TRI) || MI.modifiesRegister(Count, TRI)) {
      return false;
    }
  }
  if (!Subtraction)
    return false;
  for (MachineInstr *MI : Shown)
    MI->setDebugValueUndef();
  BuildMI(MBB, Branch, Branch->getDebugLoc(), ST.getInstrInfo()->get(Dougong::DG_LOOP), Count)
      .addReg(Count)
      .addMBB(Branch->getOperand(2).getMBB());
  Branch->eraseFromParent();
  Subtraction->eraseFromParent();
  return true;
}
