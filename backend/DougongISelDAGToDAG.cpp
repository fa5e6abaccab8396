// Instruction selection: the generated matcher, and in C++ what its patterns cannot say (constants, frame addresses,
// addressing modes, atomics with two results).
#include "DougongISelLowering.h"
#include "DougongPasses.h"
#include "DougongSubtarget.h"
#include "DougongTargetMachine.h"
#include "llvm/CodeGen/SelectionDAGISel.h"

using namespace llvm;

#define DEBUG_TYPE "dougong-isel"
#define PASS_NAME "Dougong instruction selection"

namespace {

class DougongDAGToDAGISel : public SelectionDAGISel {
public:
  DougongDAGToDAGISel(DougongTargetMachine &TM, CodeGenOptLevel OptLevel) : SelectionDAGISel(TM, OptLevel) {}

  void Select(SDNode *N) override;
  bool SelectInlineAsmMemoryOperand(const SDValue &Op, InlineAsm::ConstraintCode Constraint, std::vector<SDValue> &OutOps) override;

  bool selectAddrRegImm(SDValue Address, SDValue &Base, SDValue &Offset) { return selectAddress(Address, Base, Offset, 12, 1); }
  bool selectAddrVector(SDValue Address, SDValue &Base, SDValue &Offset) { return selectAddress(Address, Base, Offset, 14, 16); }
  bool selectAddrElement4(SDValue Address, SDValue &Base, SDValue &Offset) { return selectAddress(Address, Base, Offset, 12, 4); }
  bool selectAddrElement2(SDValue Address, SDValue &Base, SDValue &Offset) { return selectAddress(Address, Base, Offset, 11, 2); }
  bool selectAddrElement1(SDValue Address, SDValue &Base, SDValue &Offset) { return selectAddress(Address, Base, Offset, 10, 1); }

private:
  bool selectAddress(SDValue Address, SDValue &Base, SDValue &Offset, unsigned Bits, unsigned Scale);
  SDValue loadConstant(int64_t Value, const SDLoc &DL);
  SDValue materialize(int64_t Value, const SDLoc &DL);
  bool selectCompareAndSwap(SDNode *N);

#include "DougongGenDAGISel.inc"
};

class DougongDAGToDAGISelLegacy : public SelectionDAGISelLegacy {
public:
  static char ID;
  DougongDAGToDAGISelLegacy(DougongTargetMachine &TM, CodeGenOptLevel OptLevel)
      : SelectionDAGISelLegacy(ID, std::make_unique<DougongDAGToDAGISel>(TM, OptLevel)) {}
};

char DougongDAGToDAGISelLegacy::ID = 0;

} // namespace

FunctionPass *llvm::createDougongISelDag(DougongTargetMachine &TM, CodeGenOptLevel OptLevel) {
  return new DougongDAGToDAGISelLegacy(TM, OptLevel);
}

// Base register and immediate, of `Bits` bits in units of one byte, a multiple of `Scale`. Any address will do: at worst the offset is 0.
bool DougongDAGToDAGISel::selectAddress(SDValue Address, SDValue &Base, SDValue &Offset, unsigned Bits, unsigned Scale) {
  SDLoc DL(Address);
  int64_t Distance = 0;
  if (CurDAG->isBaseWithConstantOffset(Address)) {
    int64_t Constant = cast<ConstantSDNode>(Address.getOperand(1))->getSExtValue();
    if (isIntN(Bits, Constant) && Constant % Scale == 0) {
      Distance = Constant;
      Address = Address.getOperand(0);
    }
  }
  if (auto *Frame = dyn_cast<FrameIndexSDNode>(Address))
    Address = CurDAG->getTargetFrameIndex(Frame->getIndex(), MVT::i64);
  Base = Address;
  Offset = CurDAG->getTargetConstant(Distance, DL, MVT::i64);
  return true;
}

// More than four instructions: loaded instead, as a value that never changes.
SDValue DougongDAGToDAGISel::loadConstant(int64_t Value, const SDLoc &DL) {
  MachineFunction &MF = CurDAG->getMachineFunction();
  Constant *C = ConstantInt::getSigned(Type::getInt64Ty(*CurDAG->getContext()), Value);
  SDValue Pool = CurDAG->getTargetConstantPool(C, MVT::i64, Align(8));
  MachineSDNode *Load = CurDAG->getMachineNode(Dougong::PseudoLoadConstant, DL, MVT::i64, MVT::Other, {Pool, CurDAG->getEntryNode()});
  CurDAG->setNodeMemRefs(
      Load, {MF.getMachineMemOperand(MachinePointerInfo::getConstantPool(MF),
                                     MachineMemOperand::MOLoad | MachineMemOperand::MODereferenceable | MachineMemOperand::MOInvariant, 8,
                                     Align(8))});
  return SDValue(Load, 0);
}

SDValue DougongDAGToDAGISel::materialize(int64_t Value, const SDLoc &DL) {
  if (Value == 0)
    return CurDAG->getCopyFromReg(CurDAG->getEntryNode(), DL, Dougong::X0, MVT::i64);
  auto Steps = DougongConstant::steps(Value);
  if (Steps.size() > 4)
    return loadConstant(Value, DL);
  SDValue Result = CurDAG->getRegister(Dougong::X0, MVT::i64);
  for (const DougongConstant::Step &Step : Steps) {
    SDValue Immediate = CurDAG->getTargetConstant(Step.Immediate, DL, MVT::i64);
    SDNode *Node = Step.Opcode == Dougong::LUI ? CurDAG->getMachineNode(Step.Opcode, DL, MVT::i64, Immediate)
                                               : CurDAG->getMachineNode(Step.Opcode, DL, MVT::i64, Result, Immediate);
    Result = SDValue(Node, 0);
  }
  return Result;
}

bool DougongDAGToDAGISel::selectCompareAndSwap(SDNode *N) {
  auto *Atomic = cast<AtomicSDNode>(N);
  unsigned Opcode = Atomic->getMemoryVT() == MVT::i64 ? Dougong::PseudoCmpXchg64 : Dougong::PseudoCmpXchg32;
  SDNode *Node = CurDAG->getMachineNode(Opcode, SDLoc(N), CurDAG->getVTList(MVT::i64, MVT::i64, MVT::Other),
                                        {N->getOperand(1), N->getOperand(2), N->getOperand(3), N->getOperand(0)});
  CurDAG->setNodeMemRefs(cast<MachineSDNode>(Node), {Atomic->getMemOperand()});
  ReplaceUses(SDValue(N, 0), SDValue(Node, 0));
  ReplaceUses(SDValue(N, 1), SDValue(Node, 2));
  CurDAG->RemoveDeadNode(N);
  return true;
}

void DougongDAGToDAGISel::Select(SDNode *N) {
  if (N->isMachineOpcode()) {
    N->setNodeId(-1);
    return;
  }
  SDLoc DL(N);
  switch (N->getOpcode()) {
  case ISD::Constant:
    ReplaceNode(N, materialize(cast<ConstantSDNode>(N)->getSExtValue(), DL).getNode());
    return;
  case ISD::ConstantFP: {
    APInt Bits = cast<ConstantFPSDNode>(N)->getValueAPF().bitcastToAPInt();
    SDValue Value = materialize(Bits.getSExtValue(), DL);
    SDValue Class = CurDAG->getTargetConstant(Dougong::GPRRegClassID, DL, MVT::i32);
    ReplaceNode(N, CurDAG->getMachineNode(TargetOpcode::COPY_TO_REGCLASS, DL, N->getValueType(0), Value, Class));
    return;
  }
  case ISD::FrameIndex: {
    SDValue Slot = CurDAG->getTargetFrameIndex(cast<FrameIndexSDNode>(N)->getIndex(), MVT::i64);
    ReplaceNode(N, CurDAG->getMachineNode(Dougong::ADDI, DL, MVT::i64, Slot, CurDAG->getTargetConstant(0, DL, MVT::i64)));
    return;
  }
  case ISD::SRL: { // a word shifted right: its mask may have lost the bits that are shifted out
    auto *Amount = dyn_cast<ConstantSDNode>(N->getOperand(1));
    SDValue And = N->getOperand(0);
    auto *Mask = And.getOpcode() == ISD::AND ? dyn_cast<ConstantSDNode>(And.getOperand(1)) : nullptr;
    if (Amount && Mask && Amount->getZExtValue() > 0 && Amount->getZExtValue() < 32 &&
        (Mask->getZExtValue() | maskTrailingOnes<uint64_t>(Amount->getZExtValue())) == 0xffffffff) {
      SDValue Shift = CurDAG->getTargetConstant(Amount->getZExtValue(), DL, MVT::i64);
      ReplaceNode(N, CurDAG->getMachineNode(Dougong::SRLIW, DL, MVT::i64, And.getOperand(0), Shift));
      return;
    }
    break;
  }
  case ISD::AND: // bits s.. of a register, as many as the mask is wide: shifted up against the top, and down again
    if (N->getOperand(0).getOpcode() == ISD::SRL && N->getOperand(0).hasOneUse() && isa<ConstantSDNode>(N->getOperand(1))) {
      SDValue Shift = N->getOperand(0);
      auto *Amount = dyn_cast<ConstantSDNode>(Shift.getOperand(1));
      uint64_t Mask = N->getConstantOperandVal(1);
      unsigned Width = llvm::countr_one(Mask);
      if (Amount && isMask_64(Mask) && Width > 11 && Width != 16 && Amount->getZExtValue() > 0 && Amount->getZExtValue() + Width < 64) {
        SDValue Up = CurDAG->getTargetConstant(64 - Amount->getZExtValue() - Width, DL, MVT::i64),
                Down = CurDAG->getTargetConstant(64 - Width, DL, MVT::i64);
        SDValue Raised(CurDAG->getMachineNode(Dougong::SLLI, DL, MVT::i64, Shift.getOperand(0), Up), 0);
        ReplaceNode(N, CurDAG->getMachineNode(Dougong::SRLI, DL, MVT::i64, Raised, Down));
        return;
      }
    }
    break;
  case ISD::ATOMIC_CMP_SWAP:
    if (selectCompareAndSwap(N))
      return;
  }
  SelectCode(N);
}

bool DougongDAGToDAGISel::SelectInlineAsmMemoryOperand(const SDValue &Op, InlineAsm::ConstraintCode Constraint,
                                                       std::vector<SDValue> &OutOps) {
  // `m` prints as `offset(register)`, `A` as `(register)`; both get the bare address and offset 0 or what fits.
  SDValue Base, Offset;
  if (Constraint == InlineAsm::ConstraintCode::A) {
    Base = Op;
    Offset = CurDAG->getTargetConstant(0, SDLoc(Op), MVT::i64);
  } else {
    selectAddrRegImm(Op, Base, Offset);
  }
  OutOps.push_back(Base);
  OutOps.push_back(Offset);
  return false;
}
