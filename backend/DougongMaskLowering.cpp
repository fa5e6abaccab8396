// Masks: 32 bits as a vector of i1, kept in mask registers; in memory and in bit casts a word. See DougongVectorLowering.h.
#include "DougongVectorLowering.h"

using namespace llvm;
using namespace llvm::vectors;

// A mask in memory is a word, lane i in bit i.
static SDValue lowerMaskMemory(SDValue Op, Builder B) {
  if (auto *Load = dyn_cast<LoadSDNode>(Op)) {
    SDValue Word = B.DAG.getExtLoad(ISD::ZEXTLOAD, B.DL, MVT::i64, Load->getChain(), Load->getBasePtr(), Load->getPointerInfo(), MVT::i32,
                                    Load->getAlign(), Load->getMemOperand()->getFlags());
    return B.DAG.getMergeValues({B.maskIn(Word), Word.getValue(1)}, B.DL);
  }
  auto *Store = cast<StoreSDNode>(Op);
  return B.DAG.getTruncStore(Store->getChain(), B.DL, B.maskOut(Store->getValue()), Store->getBasePtr(), Store->getPointerInfo(), MVT::i32,
                             Store->getAlign(), Store->getMemOperand()->getFlags());
}

static SDValue lowerMaskCompare(SDValue Op, Builder B) {
  SDValue L = Op.getOperand(0), R = Op.getOperand(1);
  auto Not = [&](SDValue M) { return B.DAG.getNOT(B.DL, M, Mask); };
  auto And = [&](SDValue X, SDValue Y) { return B.node(ISD::AND, Mask, {X, Y}); };
  auto Or = [&](SDValue X, SDValue Y) { return B.node(ISD::OR, Mask, {X, Y}); };
  switch (cast<CondCodeSDNode>(Op.getOperand(2))->get()) {
  case ISD::SETEQ:
    return Not(B.node(ISD::XOR, Mask, {L, R}));
  case ISD::SETNE:
    return B.node(ISD::XOR, Mask, {L, R});
  // A set bit is 1 unsigned, -1 signed.
  case ISD::SETULT:
  case ISD::SETGT:
    return And(Not(L), R);
  case ISD::SETUGT:
  case ISD::SETLT:
    return And(L, Not(R));
  case ISD::SETULE:
  case ISD::SETGE:
    return Or(Not(L), R);
  case ISD::SETUGE:
  case ISD::SETLE:
    return Or(L, Not(R));
  default:
    llvm_unreachable("integer compare");
  }
}

static SDValue lowerMaskReduction(SDValue Op, Builder B) {
  SDValue Bits = B.maskOut(Op.getOperand(0));
  EVT VT = Op.getValueType() == MVT::i1 ? EVT(MVT::i64) : Op.getValueType();
  switch (Op.getOpcode()) {
  case ISD::VECREDUCE_AND:
    return B.DAG.getSetCC(B.DL, VT, Bits, B.integer(0xffffffff), ISD::SETEQ);
  case ISD::VECREDUCE_OR:
    return B.DAG.getSetCC(B.DL, VT, Bits, B.integer(0), ISD::SETNE);
  default: // xor, and add of single bits
    return B.node(ISD::AND, MVT::i64, {B.node(ISD::CTPOP, MVT::i64, Bits), B.integer(1)});
  }
}

// Mask operands and results; the remaining cases are the caller's.
SDValue vectors::lowerMaskOperation(SDValue Op, Builder B) {
  switch (Op.getOpcode()) {
  case ISD::LOAD:
  case ISD::STORE:
    return lowerMaskMemory(Op, B);
  case ISD::SPLAT_VECTOR:
    return B.maskSplat(Op.getOperand(0));
  case ISD::BITCAST: // i32 <-> mask
    if (isMask(Op))
      return B.maskIn(B.DAG.getAnyExtOrTrunc(Op.getOperand(0), B.DL, MVT::i64));
    return B.DAG.getAnyExtOrTrunc(B.maskOut(Op.getOperand(0)), B.DL, Op.getValueType());
  case ISD::EXTRACT_VECTOR_ELT: {
    SDValue Bit = B.node(ISD::SRL, MVT::i64, {B.maskOut(Op.getOperand(0)), Op.getOperand(1)});
    return B.DAG.getAnyExtOrTrunc(B.node(ISD::AND, MVT::i64, {Bit, B.integer(1)}), B.DL, Op.getValueType());
  }
  case ISD::INSERT_VECTOR_ELT: {
    SDValue Value = B.node(ISD::AND, MVT::i64, {B.DAG.getAnyExtOrTrunc(Op.getOperand(1), B.DL, MVT::i64), B.integer(1)});
    SDValue At = B.node(ISD::SHL, MVT::i64, {B.integer(1), Op.getOperand(2)});
    SDValue Others = B.node(ISD::AND, MVT::i64, {B.maskOut(Op.getOperand(0)), B.DAG.getNOT(B.DL, At, MVT::i64)});
    return B.maskIn(B.node(ISD::OR, MVT::i64, {Others, B.node(ISD::SHL, MVT::i64, {Value, Op.getOperand(2)})}));
  }
  case ISD::VSELECT: {
    SDValue M = Op.getOperand(0);
    SDValue Other = B.node(ISD::AND, Mask, {Op.getOperand(2), B.DAG.getNOT(B.DL, M, Mask)});
    return B.node(ISD::OR, Mask, {B.node(ISD::AND, Mask, {Op.getOperand(1), M}), Other});
  }
  case ISD::TRUNCATE:
    return B.DAG.getSetCC(B.DL, Mask, B.node(ISD::AND, I32, {Op.getOperand(0), B.lanes(int64_t(1))}), B.lanes(int64_t(0)), ISD::SETNE);
  case ISD::SIGN_EXTEND:
    return B.select(Op.getOperand(0), B.lanes(int64_t(-1)), B.lanes(int64_t(0)));
  case ISD::ZERO_EXTEND:
  case ISD::ANY_EXTEND:
    return B.select(Op.getOperand(0), B.lanes(int64_t(1)), B.lanes(int64_t(0)));
  case ISD::SINT_TO_FP:
    return B.fromF32(B.select(Op.getOperand(0), B.lanes(-1.0f), B.lanes(0.0f)), Op.getValueType());
  case ISD::UINT_TO_FP:
    return B.fromF32(B.select(Op.getOperand(0), B.lanes(1.0f), B.lanes(0.0f)), Op.getValueType());
  case ISD::GET_ACTIVE_LANE_MASK: // lanes i with base + i < limit, unsigned, without overflow
    return B.node(DGISD::MASK_FIRST, Mask, B.node(ISD::USUBSAT, MVT::i64, {Op.getOperand(1), Op.getOperand(0)}));
  case ISD::VECREDUCE_AND:
  case ISD::VECREDUCE_OR:
  case ISD::VECREDUCE_XOR:
  case ISD::VECREDUCE_ADD:
    return lowerMaskReduction(Op, B);
  case ISD::SETCC:
    return isMask(Op.getOperand(0)) ? lowerMaskCompare(Op, B) : SDValue();
  }
  return SDValue();
}
