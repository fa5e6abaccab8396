// Vectors out of lanes: built from scalars, shuffled. See DougongVectorLowering.h.
#include "DougongVectorLowering.h"

using namespace llvm;
using namespace llvm::vectors;

static SDValue buildMask(SDValue Op, Builder B) {
  uint64_t Constant = 0;
  SmallVector<std::pair<unsigned, SDValue>, 32> Variable;
  for (unsigned I = 0; I < 32; ++I) {
    SDValue Lane = Op.getOperand(I);
    if (auto *C = dyn_cast<ConstantSDNode>(Lane))
      Constant |= uint64_t(C->getZExtValue() & 1) << I;
    else if (!Lane.isUndef())
      Variable.push_back({I, Lane});
  }
  if (Variable.size() == 32 && llvm::all_of(Variable, [&](auto &Lane) { return Lane.second == Op.getOperand(0); }))
    return B.maskSplat(Op.getOperand(0));
  SDValue Bits = B.integer(Constant);
  for (auto &[I, Lane] : Variable) {
    SDValue Bit = B.node(ISD::AND, MVT::i64, {B.DAG.getAnyExtOrTrunc(Lane, B.DL, MVT::i64), B.integer(1)});
    Bits = B.node(ISD::OR, MVT::i64, {Bits, B.node(ISD::SHL, MVT::i64, {Bit, B.integer(I)})});
  }
  return B.maskIn(Bits);
}

// start + step * lane number, which stepvector and affine index vectors are.
static SDValue buildSequence(SDValue Op, Builder B) {
  if (Op.getValueType() != I32)
    return SDValue();
  int32_t Lanes[32];
  for (unsigned I = 0; I < 32; ++I) {
    auto *C = dyn_cast<ConstantSDNode>(Op.getOperand(I));
    if (!C)
      return SDValue();
    Lanes[I] = int32_t(C->getZExtValue());
  }
  uint32_t Step = uint32_t(Lanes[1]) - uint32_t(Lanes[0]);
  for (unsigned I = 2; I < 32; ++I)
    if (uint32_t(Lanes[I]) - uint32_t(Lanes[I - 1]) != Step)
      return SDValue();
  SDValue Result = B.node(DGISD::IOTA, I32, {});
  if (isPowerOf2_32(Step) && Step != 1)
    Result = B.node(ISD::SHL, I32, {Result, B.lanes(int64_t(Log2_32(Step)))});
  else if (Step != 1)
    Result = B.node(ISD::MUL, I32, {Result, B.lanes(int64_t(int32_t(Step)))});
  return Lanes[0] ? B.node(ISD::ADD, I32, {Result, B.lanes(int64_t(Lanes[0]))}) : Result;
}

// Any vector: a splat of the commonest lane, then the others inserted, if they are few; else written to the stack by scalar stores and
// loaded. (Not a vector load of a constant: constants lie in DRAM, vectors read LM, where a kernel's stack is.)
SDValue vectors::buildVector(SDValue Op, Builder B) {
  SelectionDAG &DAG = B.DAG;
  MVT VT = Op.getSimpleValueType();
  if (VT == Mask)
    return buildMask(Op, B);
  if (SDValue Sequence = buildSequence(Op, B))
    return Sequence;

  SmallVector<std::pair<SDValue, unsigned>, 32> Counts;
  for (SDValue Lane : Op->op_values()) {
    if (Lane.isUndef())
      continue;
    auto I = llvm::find_if(Counts, [&](auto &C) { return C.first == Lane; });
    I == Counts.end() ? Counts.push_back({Lane, 1}) : void(++I->second);
  }
  if (Counts.empty())
    return DAG.getUNDEF(VT);
  auto Commonest = *llvm::max_element(Counts, [](auto &A, auto &C) { return A.second < C.second; });
  unsigned Defined = 0;
  for (auto &Count : Counts)
    Defined += Count.second;
  if (Defined - Commonest.second <= 8) {
    SDValue Result = B.node(ISD::SPLAT_VECTOR, VT, Commonest.first);
    for (unsigned I = 0; I < 32; ++I)
      if (SDValue Lane = Op.getOperand(I); !Lane.isUndef() && Lane != Commonest.first)
        Result = B.node(ISD::INSERT_VECTOR_ELT, VT, {Result, Lane, B.integer(I)});
    return Result;
  }

  bool Narrow = isNarrowFloat(VT);
  unsigned Bytes = Narrow ? 2 : 4;
  SDValue Slot = DAG.CreateStackTemporary(TypeSize::getFixed(32 * Bytes), Align(16));
  int FI = cast<FrameIndexSDNode>(Slot)->getIndex();
  auto Place = [&](unsigned I) { return MachinePointerInfo::getFixedStack(DAG.getMachineFunction(), FI, I * Bytes); };
  auto Address = [&](unsigned I) { return DAG.getMemBasePlusOffset(Slot, TypeSize::getFixed(I * Bytes), B.DL); };
  SmallVector<SDValue, 32> Stores;
  auto Constant = [](SDValue Lane) -> std::optional<uint32_t> {
    if (auto *C = dyn_cast<ConstantSDNode>(Lane))
      return uint32_t(C->getZExtValue());
    if (auto *C = dyn_cast<ConstantFPSDNode>(Lane); C && Lane.getValueType() == MVT::f32)
      return uint32_t(C->getValueAPF().bitcastToAPInt().getZExtValue());
    return Lane.isUndef() ? std::optional<uint32_t>(0) : std::nullopt;
  };
  for (unsigned I = 0; I < 32; ++I) {
    SDValue Lane = Op.getOperand(I);
    if (!Narrow && I % 2 == 0) { // two constants in one store
      std::optional<uint32_t> Low = Constant(Lane), High = Constant(Op.getOperand(I + 1));
      if (Low && High) {
        Stores.push_back(
            DAG.getStore(DAG.getEntryNode(), B.DL, B.integer(int64_t(uint64_t(*High) << 32 | *Low)), Address(I), Place(I), Align(8)));
        ++I;
        continue;
      }
    }
    if (Lane.isUndef())
      continue;
    if (VT == I32)
      Stores.push_back(
          DAG.getTruncStore(DAG.getEntryNode(), B.DL, DAG.getAnyExtOrTrunc(Lane, B.DL, MVT::i64), Address(I), Place(I), MVT::i32));
    else
      Stores.push_back(DAG.getStore(DAG.getEntryNode(), B.DL, Lane, Address(I), Place(I)));
  }
  SDValue Chain = DAG.getNode(ISD::TokenFactor, B.DL, MVT::Other, Stores);
  return DAG.getLoad(VT, B.DL, Chain, Slot, MachinePointerInfo::getFixedStack(DAG.getMachineFunction(), FI), Align(16));
}

SDValue vectors::lowerShuffle(SDValue Op, Builder B) {
  auto *Shuffle = cast<ShuffleVectorSDNode>(Op);
  ArrayRef<int> Lanes = Shuffle->getMask();
  MVT VT = Op.getSimpleValueType();
  SDValue First = Op.getOperand(0), Second = Op.getOperand(1);
  if (VT == Mask) { // as lanes of i32
    auto Widen = [&](SDValue M) { return B.DAG.getNode(ISD::ZERO_EXTEND, B.DL, I32, M); };
    SDValue Wide = B.DAG.getVectorShuffle(I32, B.DL, Widen(First), Widen(Second), Lanes);
    return B.DAG.getSetCC(B.DL, Mask, Wide, B.lanes(int64_t(0)), ISD::SETNE);
  }
  if (Shuffle->isSplat() && Lanes[Shuffle->getSplatIndex()] >= 0) {
    int Lane = Lanes[Shuffle->getSplatIndex()];
    SDValue Source = Lane < 32 ? First : Second;
    return B.node(DGISD::BROADCAST_LANE, VT, {Source, B.DAG.getTargetConstant(Lane % 32, B.DL, MVT::i64)});
  }
  // A window on the two sources, or on one of them rotated.
  for (unsigned Modulus : {64, 32}) {
    int Start = -1;
    bool Window = true, FromSecond = false;
    for (int I = 0; I < 32 && Window; ++I) {
      if (Lanes[I] < 0)
        continue;
      if (Start < 0) {
        Start = (Lanes[I] + int(Modulus) - I) % int(Modulus);
        FromSecond = Lanes[I] >= 32;
      }
      bool SameSource = Modulus == 64 || (Lanes[I] >= 32) == FromSecond;
      Window = SameSource && Lanes[I] % int(Modulus) == (Start + I) % int(Modulus);
    }
    if (!Window || Start < 0)
      continue;
    SDValue Low = First, High = Second;
    if (Modulus == 32)
      Low = High = FromSecond ? Second : First;
    else if (Start >= 32)
      std::swap(Low, High);
    return B.node(DGISD::ALIGN, VT, {Low, High, B.DAG.getTargetConstant(Start % 32, B.DL, MVT::i64)});
  }
  SmallVector<SDValue, 32> Indices;
  for (int Lane : Lanes)
    Indices.push_back(B.integer(std::max(Lane, 0)));
  SDValue Index = B.DAG.getBuildVector(I32, B.DL, Indices);
  bool OneSource = Second.isUndef() || llvm::all_of(Lanes, [](int Lane) { return Lane < 32; });
  return OneSource ? B.node(DGISD::PERMUTE, VT, {First, Index}) : B.node(DGISD::PERMUTE2, VT, {First, Second, Index});
}
