// Selects: by arithmetic where that does without a branch, else as a branch around nothing. See DougongISelLowering.h.
#include "DougongISelLowering.h"
#include "DougongSubtarget.h"
#include "llvm/ADT/SmallSet.h"

using namespace llvm;

// A select that arithmetic on the condition's 0 or 1 does without a branch; empty if none does.
//   c ? x : 0 -> -c & x       c ? 0 : x -> c - 1 & x       c ? -1 : x -> -c | x       c ? x : -1 -> c - 1 | x       c ? k : l -> (-c & k -
//   l) + l
static SDValue selectByArithmetic(SDValue Op, SelectionDAG &DAG) {
  SDLoc DL(Op);
  if (Op.getValueType() != MVT::i64)
    return SDValue();
  SDValue Condition = Op.getOperand(0), True = Op.getOperand(1), False = Op.getOperand(2);
  auto IfTrue = [&] { return DAG.getNegative(Condition, DL, MVT::i64); };
  auto IfFalse = [&] { return DAG.getNode(ISD::ADD, DL, MVT::i64, Condition, DAG.getAllOnesConstant(DL, MVT::i64)); };
  if (isNullConstant(False))
    return DAG.getNode(ISD::AND, DL, MVT::i64, IfTrue(), True);
  if (isNullConstant(True))
    return DAG.getNode(ISD::AND, DL, MVT::i64, IfFalse(), False);
  if (isAllOnesConstant(True))
    return DAG.getNode(ISD::OR, DL, MVT::i64, IfTrue(), False);
  if (isAllOnesConstant(False))
    return DAG.getNode(ISD::OR, DL, MVT::i64, IfFalse(), True);
  auto *K = dyn_cast<ConstantSDNode>(True), *L = dyn_cast<ConstantSDNode>(False);
  if (!K || !L || !isInt<12>(L->getSExtValue()) || !isInt<12>(K->getSExtValue()) || !isInt<12>(K->getSExtValue() - L->getSExtValue()))
    return SDValue();
  SDValue Difference = DAG.getSignedConstant(K->getSExtValue() - L->getSExtValue(), DL, MVT::i64);
  return DAG.getNode(ISD::ADD, DL, MVT::i64, DAG.getNode(ISD::AND, DL, MVT::i64, IfTrue(), Difference), False);
}

// select (setcc l, r, cc), t, f -> SELECT_CC l, r, branch, t, f; any other condition is compared with zero.
SDValue DougongTargetLowering::lowerSelect(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  if (SDValue Result = selectByArithmetic(Op, DAG))
    return Result;
  SDValue Condition = Op.getOperand(0);
  SDValue Left = Condition, Right = DAG.getConstant(0, DL, MVT::i64);
  unsigned Branch = Dougong::BNE;
  if (Condition.getOpcode() == ISD::SETCC && Condition.getOperand(0).getValueType() == MVT::i64) {
    Left = Condition.getOperand(0);
    Right = Condition.getOperand(1);
    ISD::CondCode CC = cast<CondCodeSDNode>(Condition.getOperand(2))->get();
    if ((CC == ISD::SETLT || CC == ISD::SETGE) && isOneConstant(Right)) { // x < 1 as x <= 0
      CC = CC == ISD::SETLT ? ISD::SETLE : ISD::SETGT;
      Right = DAG.getConstant(0, DL, MVT::i64);
    } else if ((CC == ISD::SETGT || CC == ISD::SETLE) && isAllOnesConstant(Right)) { // x > -1 as x >= 0
      CC = CC == ISD::SETGT ? ISD::SETGE : ISD::SETLT;
      Right = DAG.getConstant(0, DL, MVT::i64);
    }
    if (CC == ISD::SETGT || CC == ISD::SETLE || CC == ISD::SETUGT || CC == ISD::SETULE) {
      std::swap(Left, Right);
      CC = ISD::getSetCCSwappedOperands(CC);
    }
    switch (CC) {
    case ISD::SETEQ:
      Branch = Dougong::BEQ;
      break;
    case ISD::SETNE:
      Branch = Dougong::BNE;
      break;
    case ISD::SETLT:
      Branch = Dougong::BLT;
      break;
    case ISD::SETGE:
      Branch = Dougong::BGE;
      break;
    case ISD::SETULT:
      Branch = Dougong::BLTU;
      break;
    case ISD::SETUGE:
      Branch = Dougong::BGEU;
      break;
    default:
      llvm_unreachable("integer compare");
    }
  }
  return DAG.getNode(DGISD::SELECT_CC, DL, Op.getValueType(), Left, Right, DAG.getTargetConstant(Branch, DL, MVT::i64), Op.getOperand(1),
                     Op.getOperand(2));
}

// rd = left <cc> right ? t : f, as a branch around nothing and a PHI; the register allocator turns the PHI into one move.
static MachineBasicBlock *insertSelect(MachineInstr &MI, MachineBasicBlock *Head) {
  MachineFunction *MF = Head->getParent();
  const TargetInstrInfo &TII = *MF->getSubtarget().getInstrInfo();
  DebugLoc DL = MI.getDebugLoc();
  MachineBasicBlock *Other = MF->CreateMachineBasicBlock(Head->getBasicBlock());
  MachineBasicBlock *Tail = MF->CreateMachineBasicBlock(Head->getBasicBlock());
  MF->insert(std::next(Head->getIterator()), Other);
  MF->insert(std::next(Other->getIterator()), Tail);

  // Selects that follow on the same condition share the branch: max and its index, for example.
  SmallVector<MachineInstr *, 4> Selects = {&MI};
  SmallSet<Register, 4> Made = {MI.getOperand(0).getReg()};
  auto Same = [&](MachineInstr &Next) {
    return Next.getOpcode() == MI.getOpcode() && Next.getOperand(1).getReg() == MI.getOperand(1).getReg() &&
           Next.getOperand(2).getReg() == MI.getOperand(2).getReg() && Next.getOperand(3).getImm() == MI.getOperand(3).getImm() &&
           !Made.count(Next.getOperand(4).getReg()) && !Made.count(Next.getOperand(5).getReg());
  };
  for (auto I = std::next(MI.getIterator()); I != Head->end() && Same(*I); ++I) {
    Selects.push_back(&*I);
    Made.insert(I->getOperand(0).getReg());
  }

  Tail->splice(Tail->begin(), Head, std::next(Selects.back()->getIterator()), Head->end());
  Tail->transferSuccessorsAndUpdatePHIs(Head);
  Head->addSuccessor(Other);
  Head->addSuccessor(Tail);
  Other->addSuccessor(Tail);
  BuildMI(*Head, Head->end(), DL, TII.get(MI.getOperand(3).getImm())).add(MI.getOperand(1)).add(MI.getOperand(2)).addMBB(Tail);
  for (MachineInstr *Select : llvm::reverse(Selects)) {
    BuildMI(*Tail, Tail->begin(), Select->getDebugLoc(), TII.get(TargetOpcode::PHI), Select->getOperand(0).getReg())
        .addReg(Select->getOperand(4).getReg())
        .addMBB(Head)
        .addReg(Select->getOperand(5).getReg())
        .addMBB(Other);
    Select->eraseFromParent();
  }
  return Tail;
}

MachineBasicBlock *DougongTargetLowering::EmitInstrWithCustomInserter(MachineInstr &MI, MachineBasicBlock *MBB) const {
  if (MI.getOpcode() == Dougong::PseudoSelect)
    return insertSelect(MI, MBB);
  llvm_unreachable("an instruction without a custom inserter");
}
