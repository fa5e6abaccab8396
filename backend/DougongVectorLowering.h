// What the lowerings of vectors are written in, and what they share. See DougongVectorLowering.cpp.
#pragma once
#include "DougongISelLowering.h"

namespace llvm::vectors {

inline constexpr MVT F32 = MVT::v32f32, I32 = MVT::v32i32, F16 = MVT::v32f16, BF16 = MVT::v32bf16, Mask = MVT::v32i1;

struct Builder {
  SelectionDAG &DAG;
  SDLoc DL;

  SDValue integer(int64_t Value) const { return DAG.getConstant(Value, DL, MVT::i64); }
  SDValue lanes(int64_t Value) const { return DAG.getNode(ISD::SPLAT_VECTOR, DL, I32, integer(Value)); }
  SDValue lanes(float Value) const { return DAG.getNode(ISD::SPLAT_VECTOR, DL, F32, DAG.getConstantFP(Value, DL, MVT::f32)); }
  SDValue node(unsigned Opcode, EVT VT, ArrayRef<SDValue> Operands) const { return DAG.getNode(Opcode, DL, VT, Operands); }
  SDValue maskOut(SDValue M) const { return node(DGISD::MASK_OUT, MVT::i64, M); }
  SDValue maskIn(SDValue Bits) const { return node(DGISD::MASK_IN, Mask, Bits); }
  // A scalar condition, of which only bit 0 counts, in every lane.
  SDValue maskSplat(SDValue Condition) const {
    SDValue Bit = node(ISD::AND, MVT::i64, {DAG.getAnyExtOrTrunc(Condition, DL, MVT::i64), integer(1)});
    return maskIn(node(ISD::SUB, MVT::i64, {integer(0), Bit}));
  }
  SDValue select(SDValue M, SDValue A, SDValue B) const { return node(ISD::VSELECT, A.getValueType(), {M, A, B}); }
  SDValue toF32(SDValue V) const { return V.getValueType() == F32 ? V : node(ISD::FP_EXTEND, F32, V); }
  SDValue fromF32(SDValue V, EVT VT) const {
    return VT == V.getValueType() ? V : node(ISD::FP_ROUND, VT, {V, DAG.getIntPtrConstant(0, DL, true)});
  }
};

inline bool isMask(SDValue V) { return V.getValueType() == Mask; }
inline bool isNarrowFloat(EVT VT) { return VT == F16 || VT == BF16; }

// DougongVectorLanes.cpp
SDValue buildVector(SDValue Op, Builder B);
SDValue lowerShuffle(SDValue Op, Builder B);
// DougongVectorMemory.cpp
SDValue lowerMaskedLoad(SDValue Op, Builder B);
SDValue lowerMaskedStore(SDValue Op, Builder B);
SDValue lowerGather(SDValue Op, Builder B);
SDValue lowerScatter(SDValue Op, Builder B);
// DougongMaskLowering.cpp: mask operands and results; empty for what is neither.
SDValue lowerMaskOperation(SDValue Op, Builder B);

} // namespace llvm::vectors
