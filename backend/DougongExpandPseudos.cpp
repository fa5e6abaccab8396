// Expands what must stay whole until registers are allocated: a compare-and-swap. A spill between lr and sc could lose
// the reservation every time round.
//
//   rd, scratch = PseudoCmpXchg address, expected, desired
//   →
//   again: lr.aqrl rd, (address)
//          bne     rd, expected, done
//   store: sc.rl   scratch, desired, (address)
//          bnez    scratch, again
//   done:
#include "DougongInstrInfo.h"
#include "DougongPasses.h"
#include "llvm/CodeGen/LivePhysRegs.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"

using namespace llvm;

namespace {

class DougongExpandPseudos : public MachineFunctionPass {
public:
  static char ID;
  DougongExpandPseudos() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Dougong pseudo expansion"; }

  bool runOnMachineFunction(MachineFunction &MF) override {
    bool Changed = false;
    for (auto Block = MF.begin(); Block != MF.end(); ++Block)
      for (MachineInstr &MI : *Block)
        if (MI.getOpcode() == Dougong::PseudoCmpXchg32 || MI.getOpcode() == Dougong::PseudoCmpXchg64) {
          expand(*Block, MI); // what follows is in a new block, which the outer loop reaches
          Changed = true;
          break;
        }
    return Changed;
  }

private:
  void expand(MachineBasicBlock &Head, MachineInstr &MI);
};

char DougongExpandPseudos::ID = 0;

} // namespace

FunctionPass *llvm::createDougongExpandPseudos() { return new DougongExpandPseudos(); }

void DougongExpandPseudos::expand(MachineBasicBlock &Head, MachineInstr &MI) {
  MachineFunction &MF = *Head.getParent();
  const TargetInstrInfo &TII = *MF.getSubtarget().getInstrInfo();
  DebugLoc DL = MI.getDebugLoc();
  bool Wide = MI.getOpcode() == Dougong::PseudoCmpXchg64;
  Register Old = MI.getOperand(0).getReg(), Scratch = MI.getOperand(1).getReg(), Address = MI.getOperand(2).getReg(),
           Expected = MI.getOperand(3).getReg(), Desired = MI.getOperand(4).getReg();

  MachineBasicBlock *Blocks[3];
  for (MachineBasicBlock *&Block : Blocks)
    Block = MF.CreateMachineBasicBlock(Head.getBasicBlock());
  auto [Again, Store, Done] = Blocks;
  auto Next = std::next(Head.getIterator());
  for (MachineBasicBlock *Block : Blocks)
    MF.insert(Next, Block);

  BuildMI(Again, DL, TII.get(Wide ? Dougong::LR_D_AQRL : Dougong::LR_W_AQRL), Old).addReg(Address);
  BuildMI(Again, DL, TII.get(Dougong::BNE)).addReg(Old).addReg(Expected).addMBB(Done);
  BuildMI(Store, DL, TII.get(Wide ? Dougong::SC_D_RL : Dougong::SC_W_RL), Scratch).addReg(Desired).addReg(Address);
  BuildMI(Store, DL, TII.get(Dougong::BNE)).addReg(Scratch).addReg(Dougong::X0).addMBB(Again);
  Again->addSuccessor(Done);
  Again->addSuccessor(Store);
  Store->addSuccessor(Again);
  Store->addSuccessor(Done);
  Done->splice(Done->end(), &Head, std::next(MI.getIterator()), Head.end());
  Done->transferSuccessors(&Head);
  Head.addSuccessor(Again);
  MI.eraseFromParent();

  LivePhysRegs Live;
  computeAndAddLiveIns(Live, *Done);
  computeAndAddLiveIns(Live, *Store);
  computeAndAddLiveIns(Live, *Again);
  // Around the loop's edge once more: what Again needs, Store must keep.
  Store->clearLiveIns();
  computeAndAddLiveIns(Live, *Store);
  Again->clearLiveIns();
  computeAndAddLiveIns(Live, *Again);
}
