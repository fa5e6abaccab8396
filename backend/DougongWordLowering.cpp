// Integers: operations on the low 32 bits, what is known of their results, and products by constants. See DougongISelLowering.h.
#include "DougongISelLowering.h"
#include "DougongSubtarget.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

// The instruction of RV64 that does an i32 operation in 32 bits, as a node; 0 if the i64 one serves as well.
static unsigned wordNode(const SDNode *N) {
  switch (N->getOpcode()) {
  case ISD::SHL:
    return isa<ConstantSDNode>(N->getOperand(1)) ? 0 : DGISD::SLLW;
  case ISD::SRL:
    return isa<ConstantSDNode>(N->getOperand(1)) ? 0 : DGISD::SRLW;
  case ISD::SRA:
    return isa<ConstantSDNode>(N->getOperand(1)) ? 0 : DGISD::SRAW;
  case ISD::ROTL:
    return DGISD::ROLW;
  case ISD::ROTR:
    return DGISD::RORW;
  case ISD::SDIV:
    return DGISD::DIVW;
  case ISD::UDIV:
    return DGISD::DIVUW;
  case ISD::SREM:
    return DGISD::REMW;
  case ISD::UREM:
    return DGISD::REMUW;
  case ISD::CTLZ:
  case ISD::CTLZ_ZERO_UNDEF:
    return DGISD::CLZW;
  case ISD::CTTZ:
    return DGISD::CTZW;
  case ISD::CTPOP:
    return DGISD::CPOPW;
  }
  return 0;
}

unsigned DougongTargetLowering::ComputeNumSignBitsForTargetNode(SDValue Op, const APInt &, const SelectionDAG &, unsigned) const {
  unsigned Opcode = Op.getOpcode();
  return (Opcode >= DGISD::SLLW && Opcode <= DGISD::CPOPW) || Opcode == DGISD::FCLASS ? 33 : 1;
}

// Of a mask some bits are free. 0x00000000fffffff0 of which only the word is wanted is -16, an immediate; 0xfffffffe is zext.w's where bit
// 0 does not matter.
bool DougongTargetLowering::targetShrinkDemandedConstant(SDValue Op, const APInt &DemandedBits, const APInt &,
                                                         TargetLoweringOpt &TLO) const {
  auto *Constant =
      Op.getOpcode() == ISD::AND && Op.getValueType() == MVT::i64 && TLO.LegalOps ? dyn_cast<ConstantSDNode>(Op.getOperand(1)) : nullptr;
  if (!Constant)
    return false;
  const APInt &Mask = Constant->getAPIntValue();
  APInt Least = Mask & DemandedBits, Most = Mask | ~DemandedBits;
  if (Least.isSignedIntN(12))
    return false; // generic code makes it that
  auto Use = [&](const APInt &New) {
    if (New == Mask)
      return true; // and generic code shall not undo it
    SDLoc DL(Op);
    return TLO.CombineTo(Op, TLO.DAG.getNode(ISD::AND, DL, MVT::i64, Op.getOperand(0), TLO.DAG.getConstant(New, DL, MVT::i64)));
  };
  for (unsigned Bits : {16u, 32u})
    if (APInt Low = APInt::getLowBitsSet(64, Bits); Least.isSubsetOf(Low) && Low.isSubsetOf(Most))
      return Use(Low);
  unsigned Significant = Most.getSignificantBits();
  if (!Most.isNegative() || (Significant > 12 && (Significant > 32 || Least.isSignedIntN(32))))
    return false;
  Least.setBitsFrom(Significant <= 12 ? 11 : 31);
  return Use(Least);
}

void DougongTargetLowering::computeKnownBitsForTargetNode(const SDValue Op, KnownBits &Known, const APInt &, const SelectionDAG &,
                                                          unsigned) const {
  switch (Op.getOpcode()) {
  case DGISD::CLZW:
  case DGISD::CTZW:
  case DGISD::CPOPW:
    Known.Zero.setBitsFrom(6);
    break; // at most 32
  case DGISD::FCLASS:
    Known.Zero.setBitsFrom(10);
    break;
  }
}

void DougongTargetLowering::ReplaceNodeResults(SDNode *N, SmallVectorImpl<SDValue> &Results, SelectionDAG &DAG) const {
  SDLoc DL(N);
  if (N->getOpcode() == ISD::BITCAST && N->getValueType(0).isScalarInteger() && !N->getOperand(0).getValueType().isVector()) {
    SDValue Bits = DAG.getNode(DGISD::FP_BITS, DL, MVT::i64, N->getOperand(0));
    Results.push_back(DAG.getNode(ISD::TRUNCATE, DL, N->getValueType(0), Bits));
    return;
  }
  if (N->getValueType(0) == MVT::i32) {
    // Every use shares the word instruction's result, whether or not it wants the sign above.
    if (N->getOpcode() == ISD::ADD || N->getOpcode() == ISD::SUB || N->getOpcode() == ISD::MUL) {
      SDValue Left = DAG.getAnyExtOrTrunc(N->getOperand(0), DL, MVT::i64), Right = DAG.getAnyExtOrTrunc(N->getOperand(1), DL, MVT::i64);
      SDValue Word = DAG.getNode(ISD::SIGN_EXTEND_INREG, DL, MVT::i64, DAG.getNode(N->getOpcode(), DL, MVT::i64, Left, Right),
                                 DAG.getValueType(MVT::i32));
      Results.push_back(DAG.getNode(ISD::TRUNCATE, DL, MVT::i32, Word));
      return;
    }
    if (N->getOpcode() == ISD::ABS) { // the negative of the least word is itself
      SDValue Value = DAG.getNode(ISD::SIGN_EXTEND, DL, MVT::i64, N->getOperand(0));
      SDValue Negative =
          DAG.getNode(ISD::SIGN_EXTEND_INREG, DL, MVT::i64, DAG.getNegative(Value, DL, MVT::i64), DAG.getValueType(MVT::i32));
      Results.push_back(DAG.getNode(ISD::TRUNCATE, DL, MVT::i32, DAG.getNode(ISD::SMAX, DL, MVT::i64, Value, Negative)));
      return;
    }
    if (unsigned Opcode = wordNode(N)) {
      SmallVector<SDValue, 2> Operands;
      for (SDValue Operand : N->op_values())
        Operands.push_back(DAG.getAnyExtOrTrunc(Operand, DL, MVT::i64));
      if (auto *Amount = dyn_cast<ConstantSDNode>(N->getOperand(N->getNumOperands() - 1)); Amount && Opcode == DGISD::ROLW) {
        Opcode = DGISD::RORW;
        Operands[1] = DAG.getConstant((32 - Amount->getZExtValue()) & 31, DL, MVT::i64);
      }
      Results.push_back(DAG.getNode(ISD::TRUNCATE, DL, MVT::i32, DAG.getNode(Opcode, DL, MVT::i64, Operands)));
    }
    if (N->getOpcode() != ISD::BITCAST)
      return;
  }
  if (SDValue Result = lowerVectorOperation(SDValue(N, 0), DAG)) {
    Results.push_back(Result);
    for (unsigned I = 1; I < N->getNumValues(); ++I)
      Results.push_back(Result.getValue(I));
  }
}

// x * (2^n ± 1) as a shift and an addition: a multiplication takes three cycles and its constant a register. 3, 5 and 9 are one sh?add.
bool DougongTargetLowering::decomposeMulByConstant(LLVMContext &, EVT VT, SDValue C) const {
  auto *Constant = dyn_cast<ConstantSDNode>(C);
  if (!Constant || !VT.isScalarInteger() || VT.getSizeInBits() > 64)
    return false;
  const APInt &Value = Constant->getAPIntValue();
  return (Value + 1).isPowerOf2() || (Value - 1).isPowerOf2() || (1 - Value).isPowerOf2() || (-1 - Value).isPowerOf2();
}

// x * c as two instructions of one cycle, where generic code has found none: c = (3, 5 or 9) * 2^n, or a product of two of 3, 5 and 9.
static SDValue multiplyByAdditions(SDNode *N, SelectionDAG &DAG) {
  auto *Constant = dyn_cast<ConstantSDNode>(N->getOperand(1));
  if (!Constant || Constant->getSExtValue() <= 0)
    return SDValue();
  SDLoc DL(N);
  uint64_t Value = Constant->getZExtValue();
  auto Times = [&](SDValue X, unsigned Shift) { // x * (2^Shift + 1)
    return DAG.getNode(ISD::ADD, DL, MVT::i64, DAG.getNode(ISD::SHL, DL, MVT::i64, X, DAG.getConstant(Shift, DL, MVT::i64)), X);
  };
  for (unsigned Shift = 1; Shift <= 3; ++Shift) {
    uint64_t Factor = (1 << Shift) + 1;
    if (Value % Factor != 0)
      continue;
    uint64_t Rest = Value / Factor;
    SDValue Once = Times(N->getOperand(0), Shift);
    if (isPowerOf2_64(Rest))
      return Rest == 1 ? Once : DAG.getNode(ISD::SHL, DL, MVT::i64, Once, DAG.getConstant(Log2_64(Rest), DL, MVT::i64));
    for (unsigned Second = 1; Second <= 3; ++Second)
      if (Rest == (1u << Second) + 1)
        return Times(Once, Second);
  }
  return SDValue();
}

// An offset that no access can hold goes into the symbol's: address + c -> address of symbol + c. A near one does too where the sum is
// wanted itself.
static SDValue foldIntoAddress(SDNode *N, SelectionDAG &DAG) {
  SDValue Address = N->getOperand(0);
  auto *Constant = dyn_cast<ConstantSDNode>(N->getOperand(1));
  auto *Symbol = Constant && Address.getOpcode() == DGISD::ADDRESS ? dyn_cast<GlobalAddressSDNode>(Address.getOperand(0)) : nullptr;
  if (!Symbol)
    return SDValue();
  int64_t Offset = Symbol->getOffset() + Constant->getSExtValue();
  bool Access = any_of(N->users(), [&](SDNode *User) {
    auto *Memory = dyn_cast<MemSDNode>(User);
    return Memory && Memory->getBasePtr().getNode() == N;
  });
  if (!isInt<20>(Offset) || (isInt<12>(Constant->getSExtValue()) && (Access || !Address.hasOneUse())))
    return SDValue();
  SDLoc DL(N);
  return DAG.getNode(DGISD::ADDRESS, DL, MVT::i64, DAG.getTargetGlobalAddress(Symbol->getGlobal(), DL, MVT::i64, Offset));
}

SDValue DougongTargetLowering::PerformDAGCombine(SDNode *N, DAGCombinerInfo &DCI) const {
  if (N->getOpcode() == ISD::ADD && N->getValueType(0) == MVT::i64 && DCI.isAfterLegalizeDAG())
    return foldIntoAddress(N, DCI.DAG);
  if (N->getOpcode() == ISD::MUL && N->getValueType(0) == MVT::i64 && DCI.isAfterLegalizeDAG())
    return multiplyByAdditions(N, DCI.DAG);
  return SDValue();
}

// A bit of a constant is tested as c >> y & 1, with one immediate fewer than 1 << y & c; otherwise constants stay out of shifts.
bool DougongTargetLowering::shouldProduceAndByConstByHoistingConstFromShiftsLHSOfAnd(SDValue, ConstantSDNode *XConstant,
                                                                                     ConstantSDNode *Mask, SDValue, unsigned OldShift,
                                                                                     unsigned NewShift, SelectionDAG &) const {
  if (XConstant && XConstant->isOne() && OldShift == ISD::SRL)
    return false;
  return (NewShift == ISD::SRL && Mask->isOne()) || !XConstant;
}
