// Vectors and masks: legal types and operations, and the lowering of the rest. See DougongISelLowering.h.
//
// Legal are 32 lanes: v32f32, v32i32, their 16-bit kin v32f16 and v32bf16 (see DougongVectorPatterns.td), and masks v32i1. Lanes of 8 and
// 16 bits are kept as i32; more lanes are split; fewer lanes, and lanes of 64 bits, become scalars, which also keeps short C vectors out of
// LM-only instructions. Every operation starts as Expand and is then enabled: with LLVM's default, "legal", what was forgotten cannot be
// selected, or never ends.
#include "DougongISelLowering.h"
#include "DougongSubtarget.h"

using namespace llvm;

static constexpr MVT F32 = MVT::v32f32, I32 = MVT::v32i32, F16 = MVT::v32f16, BF16 = MVT::v32bf16, Mask = MVT::v32i1;

void DougongTargetLowering::setVectorActions() {
  for (MVT VT : MVT::fixedlen_vector_valuetypes()) {
    for (unsigned Op = 0; Op < ISD::BUILTIN_OP_END; ++Op)
      setOperationAction(Op, VT, Expand);
    for (MVT Memory : MVT::fixedlen_vector_valuetypes()) {
      setTruncStoreAction(VT, Memory, Expand);
      for (auto Extension : {ISD::EXTLOAD, ISD::SEXTLOAD, ISD::ZEXTLOAD})
        setLoadExtAction(Extension, VT, Memory, Expand);
    }
    setOperationAction({ISD::UNDEF, ISD::POISON, ISD::FREEZE, ISD::CopyToReg, ISD::CopyFromReg, ISD::AssertSext, ISD::AssertZext}, VT,
                       Legal);
  }

  for (MVT VT : {F32, I32, F16, BF16}) {
    setOperationAction({ISD::LOAD, ISD::STORE, ISD::VSELECT, ISD::SPLAT_VECTOR}, VT, Legal);
    setOperationAction({ISD::BUILD_VECTOR, ISD::VECTOR_SHUFFLE, ISD::SELECT, ISD::MLOAD, ISD::MSTORE, ISD::MGATHER, ISD::MSCATTER}, VT,
                       Custom);
  }
  setOperationAction({ISD::MGATHER, ISD::MSCATTER}, MVT::v32i64, Custom); // by the type of the index
  for (MVT VT : {F32, I32}) {
    setOperationAction({ISD::BITCAST, ISD::EXTRACT_VECTOR_ELT, ISD::INSERT_VECTOR_ELT, ISD::SETCC}, VT, Legal);
  }

  // Integers.
  setOperationAction({ISD::ADD,
                      ISD::SUB,
                      ISD::MUL,
                      ISD::MULHS,
                      ISD::MULHU,
                      ISD::SDIV,
                      ISD::UDIV,
                      ISD::SREM,
                      ISD::UREM,
                      ISD::AND,
                      ISD::OR,
                      ISD::XOR,
                      ISD::SHL,
                      ISD::SRL,
                      ISD::SRA,
                      ISD::SMIN,
                      ISD::SMAX,
                      ISD::UMIN,
                      ISD::UMAX,
                      ISD::ABS,
                      ISD::CTLZ,
                      ISD::CTPOP,
                      ISD::FP_TO_SINT,
                      ISD::FP_TO_UINT,
                      ISD::SINT_TO_FP,
                      ISD::UINT_TO_FP,
                      ISD::LRINT,
                      ISD::VECREDUCE_ADD,
                      ISD::VECREDUCE_MUL,
                      ISD::VECREDUCE_SMIN,
                      ISD::VECREDUCE_SMAX,
                      ISD::VECREDUCE_UMIN,
                      ISD::VECREDUCE_UMAX,
                      ISD::VECREDUCE_AND,
                      ISD::VECREDUCE_OR,
                      ISD::VECREDUCE_XOR},
                     I32, Legal);
  setOperationAction({ISD::FP_TO_SINT_SAT, ISD::FP_TO_UINT_SAT, ISD::SIGN_EXTEND, ISD::ZERO_EXTEND, ISD::ANY_EXTEND}, I32, Custom);
  for (auto CC : {ISD::SETGT, ISD::SETGE, ISD::SETUGT, ISD::SETUGE})
    setCondCodeAction(CC, I32, Expand);
  for (MVT Memory : {MVT::v32i8, MVT::v32i16}) {
    for (auto Extension : {ISD::EXTLOAD, ISD::SEXTLOAD, ISD::ZEXTLOAD})
      setLoadExtAction(Extension, I32, Memory, Legal);
    setTruncStoreAction(I32, Memory, Legal);
  }

  // Floats.
  setOperationAction({ISD::FADD,
                      ISD::FSUB,
                      ISD::FMUL,
                      ISD::FDIV,
                      ISD::FMA,
                      ISD::FSQRT,
                      ISD::FNEG,
                      ISD::FABS,
                      ISD::FCOPYSIGN,
                      ISD::FMINNUM,
                      ISD::FMAXNUM,
                      ISD::FMINIMUM,
                      ISD::FMAXIMUM,
                      ISD::FMINIMUMNUM,
                      ISD::FMAXIMUMNUM,
                      ISD::FFLOOR,
                      ISD::FCEIL,
                      ISD::FTRUNC,
                      ISD::FRINT,
                      ISD::FNEARBYINT,
                      ISD::FROUNDEVEN,
                      ISD::FROUND,
                      ISD::FEXP2,
                      ISD::FLOG2,
                      ISD::FTANH,
                      ISD::FP_EXTEND,
                      ISD::VECREDUCE_FADD,
                      ISD::VECREDUCE_FMUL,
                      ISD::VECREDUCE_FMIN,
                      ISD::VECREDUCE_FMAX,
                      ISD::VECREDUCE_FMINIMUM,
                      ISD::VECREDUCE_FMAXIMUM,
                      ISD::VECREDUCE_SEQ_FADD,
                      ISD::VECREDUCE_SEQ_FMUL},
                     F32, Legal);
  setOperationAction({ISD::FEXP, ISD::FEXP10, ISD::FLOG, ISD::FLOG10, ISD::IS_FPCLASS}, F32, Custom);
  for (auto CC : {ISD::SETOGT, ISD::SETOGE, ISD::SETONE, ISD::SETUEQ, ISD::SETUGT, ISD::SETUGE, ISD::SETULT, ISD::SETULE, ISD::SETUNE,
                  ISD::SETGT, ISD::SETGE, ISD::SETNE, ISD::SETO})
    setCondCodeAction(CC, F32, Expand);

  // f16 and bf16 compute in f32; each result is rounded.
  for (MVT VT : {F16, BF16}) {
    for (unsigned Op : {ISD::FADD,    ISD::FSUB,     ISD::FMUL,       ISD::FDIV,        ISD::FMA,         ISD::FSQRT,  ISD::FMINNUM,
                        ISD::FMAXNUM, ISD::FMINIMUM, ISD::FMAXIMUM,   ISD::FMINIMUMNUM, ISD::FMAXIMUMNUM, ISD::FFLOOR, ISD::FCEIL,
                        ISD::FTRUNC,  ISD::FRINT,    ISD::FNEARBYINT, ISD::FROUNDEVEN,  ISD::FROUND,      ISD::FEXP,   ISD::FEXP2,
                        ISD::FEXP10,  ISD::FLOG,     ISD::FLOG2,      ISD::FLOG10,      ISD::FTANH})
      setOperationPromotedToType(Op, VT, F32);
    setOperationAction({ISD::FNEG, ISD::FABS, ISD::FP_ROUND}, VT, Legal);
    setOperationAction({ISD::SETCC, ISD::EXTRACT_VECTOR_ELT, ISD::INSERT_VECTOR_ELT, ISD::FCOPYSIGN, ISD::IS_FPCLASS, ISD::VECREDUCE_FADD,
                        ISD::VECREDUCE_FMUL, ISD::VECREDUCE_FMIN, ISD::VECREDUCE_FMAX, ISD::VECREDUCE_FMINIMUM, ISD::VECREDUCE_FMAXIMUM,
                        ISD::VECREDUCE_SEQ_FADD, ISD::VECREDUCE_SEQ_FMUL},
                       VT, Custom);
    setLoadExtAction(ISD::EXTLOAD, F32, VT, Legal);
    setTruncStoreAction(F32, VT, Legal);
  }
  for (unsigned Op : {ISD::FP_TO_SINT, ISD::FP_TO_UINT, ISD::FP_TO_SINT_SAT, ISD::FP_TO_UINT_SAT})
    setOperationAction(Op, I32, Custom); // from f32 as it is; from f16, bf16 through f32
  for (unsigned Op : {ISD::SINT_TO_FP, ISD::UINT_TO_FP})
    setOperationAction(Op, I32, Custom); // keyed on the integer

  // Masks.
  setOperationAction({ISD::AND, ISD::OR, ISD::XOR}, Mask, Legal);
  setOperationAction({ISD::LOAD, ISD::STORE, ISD::BITCAST, ISD::BUILD_VECTOR, ISD::SPLAT_VECTOR, ISD::VECTOR_SHUFFLE,
                      ISD::EXTRACT_VECTOR_ELT, ISD::INSERT_VECTOR_ELT, ISD::SETCC, ISD::VSELECT, ISD::SELECT, ISD::TRUNCATE,
                      ISD::SINT_TO_FP, ISD::UINT_TO_FP, ISD::GET_ACTIVE_LANE_MASK, ISD::VECREDUCE_AND, ISD::VECREDUCE_OR,
                      ISD::VECREDUCE_XOR, ISD::VECREDUCE_ADD},
                     Mask, Custom);
}

TargetLoweringBase::LegalizeTypeAction DougongTargetLowering::getPreferredVectorAction(MVT VT) const {
  if (VT.isScalableVector())
    return TargetLoweringBase::getPreferredVectorAction(VT);
  if (VT == MVT::v32i8 || VT == MVT::v32i16)
    return TypePromoteInteger;
  return VT.getVectorNumElements() == 1 ? TypeScalarizeVector : TypeSplitVector;
}

//===-- Small steps ------------------------------------------------------------------------------------------------===//

namespace {

// What the lowerings below are written in.
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

} // namespace

static bool isMask(SDValue V) { return V.getValueType() == Mask; }
static bool isNarrowFloat(EVT VT) { return VT == F16 || VT == BF16; }

//===-- Building vectors -------------------------------------------------------------------------------------------===//

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
static SDValue buildVector(SDValue Op, Builder B) {
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

//===-- Shuffles ---------------------------------------------------------------------------------------------------===//

static SDValue lowerShuffle(SDValue Op, Builder B) {
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

//===-- Memory -----------------------------------------------------------------------------------------------------===//

namespace {
// The masked and indexed accesses of an element type in memory.
struct Accesses {
  MVT Memory;
  ISD::LoadExtType Extension;
  unsigned MaskedLoad, Gather, MaskedGather, MaskedStore, Scatter, MaskedScatter;
};
} // namespace

static const Accesses &accesses(EVT Memory, ISD::LoadExtType Extension) {
  static const Accesses Table[] = {
#define ROW(VT, EXT, E, W)                                                                                                                 \
  {MVT::VT,                                                                                                                                \
   ISD::EXT,                                                                                                                               \
   Dougong::VLDM_##E,                                                                                                                      \
   Dougong::VGATHER_##E,                                                                                                                   \
   Dougong::VGATHERM_##E,                                                                                                                  \
   Dougong::VSTM_##W,                                                                                                                      \
   Dougong::VSCATTER_##W,                                                                                                                  \
   Dougong::VSCATTERM_##W}
      ROW(v32f32, NON_EXTLOAD, 32, 32),      ROW(v32i32, NON_EXTLOAD, 32, 32), ROW(v32f16, NON_EXTLOAD, F16, F16),
      ROW(v32bf16, NON_EXTLOAD, BF16, BF16), ROW(v32i8, SEXTLOAD, I8, I8),     ROW(v32i8, ZEXTLOAD, U8, I8),
      ROW(v32i16, SEXTLOAD, I16, I16),       ROW(v32i16, ZEXTLOAD, U16, I16),
#undef ROW
  };
  bool Integer = Memory == MVT::v32i8 || Memory == MVT::v32i16;
  for (const Accesses &A : Table)
    if (Memory == A.Memory && (!Integer || Extension == A.Extension || (Extension != ISD::SEXTLOAD && A.Extension == ISD::ZEXTLOAD)))
      return A;
  report_fatal_error("dougong: a masked access of a type that is not split");
}

static SDValue machineNode(Builder B, unsigned Opcode, SDVTList VTs, ArrayRef<SDValue> Operands, MachineMemOperand *MMO) {
  MachineSDNode *Node = B.DAG.getMachineNode(Opcode, B.DL, VTs, Operands);
  B.DAG.setNodeMemRefs(Node, {MMO});
  return SDValue(Node, 0);
}

static SDValue lowerMaskedLoad(SDValue Op, Builder B) {
  auto *Load = cast<MaskedLoadSDNode>(Op);
  unsigned Opcode = accesses(Load->getMemoryVT(), Load->getExtensionType()).MaskedLoad;
  return machineNode(B, Opcode, B.DAG.getVTList(Op.getValueType(), MVT::Other),
                     {Load->getPassThru(), Load->getBasePtr(), Load->getMask(), Load->getChain()}, Load->getMemOperand());
}

static SDValue lowerMaskedStore(SDValue Op, Builder B) {
  auto *Store = cast<MaskedStoreSDNode>(Op);
  unsigned Opcode = accesses(Store->getMemoryVT(), ISD::NON_EXTLOAD).MaskedStore;
  return machineNode(B, Opcode, B.DAG.getVTList(MVT::Other), {Store->getValue(), Store->getBasePtr(), Store->getMask(), Store->getChain()},
                     Store->getMemOperand());
}

// Byte offsets from a base. LM is small: an index of 64 bits is cut to 32. Without a common base the addresses are the index.
static SDValue byteOffsets(MaskedGatherScatterSDNode *N, Builder B) {
  SDValue Index = N->getIndex();
  if (Index.getValueType() != I32)
    Index = B.node(ISD::TRUNCATE, I32, Index);
  uint64_t Scale = N->isIndexScaled() ? N->getScale()->getAsZExtVal() : 1;
  if (Scale == 1)
    return Index;
  if (isPowerOf2_64(Scale))
    return B.node(ISD::SHL, I32, {Index, B.lanes(int64_t(Log2_64(Scale)))});
  return B.node(ISD::MUL, I32, {Index, B.lanes(int64_t(Scale))});
}

static bool isAllOnes(SDValue M) { return ISD::isConstantSplatVectorAllOnes(M.getNode()); }

static SDValue lowerGather(SDValue Op, Builder B) {
  auto *N = cast<MaskedGatherSDNode>(Op);
  const Accesses &A = accesses(N->getMemoryVT(), N->getExtensionType());
  SDVTList VTs = B.DAG.getVTList(Op.getValueType(), MVT::Other);
  SDValue Offsets = byteOffsets(N, B);
  if (isAllOnes(N->getMask()))
    return machineNode(B, A.Gather, VTs, {N->getBasePtr(), Offsets, N->getChain()}, N->getMemOperand());
  return machineNode(B, A.MaskedGather, VTs, {N->getPassThru(), N->getBasePtr(), Offsets, N->getMask(), N->getChain()}, N->getMemOperand());
}

static SDValue lowerScatter(SDValue Op, Builder B) {
  auto *N = cast<MaskedScatterSDNode>(Op);
  const Accesses &A = accesses(N->getMemoryVT(), ISD::NON_EXTLOAD);
  SDVTList VTs = B.DAG.getVTList(MVT::Other);
  SDValue Offsets = byteOffsets(N, B);
  if (isAllOnes(N->getMask()))
    return machineNode(B, A.Scatter, VTs, {N->getValue(), N->getBasePtr(), Offsets, N->getChain()}, N->getMemOperand());
  return machineNode(B, A.MaskedScatter, VTs, {N->getValue(), N->getBasePtr(), Offsets, N->getMask(), N->getChain()}, N->getMemOperand());
}

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

//===-- Masks ------------------------------------------------------------------------------------------------------===//

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
static SDValue lowerMaskOperation(SDValue Op, Builder B) {
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

//===-- Floats -----------------------------------------------------------------------------------------------------===//

// e^x = 2^(x·log2 e): the product in two parts, the second, small, entering through 2^(t+d) = 2^t + 2^t·d·ln 2. Where t overflows, d is no
// number.
static SDValue lowerExponential(SDValue Op, Builder B, double Log2OfBase) {
  float High = float(Log2OfBase), Low = float(Log2OfBase - High);
  SDValue X = Op.getOperand(0);
  SDValue T = B.node(ISD::FMUL, F32, {X, B.lanes(High)});
  SDValue Rest = B.node(ISD::FMA, F32, {X, B.lanes(High), B.node(ISD::FNEG, F32, T)});
  SDValue D = B.node(ISD::FMA, F32, {X, B.lanes(Low), Rest});
  SDValue Power = B.node(ISD::FEXP2, F32, T);
  SDValue Result = B.node(ISD::FMA, F32, {Power, B.node(ISD::FMUL, F32, {D, B.lanes(0.69314718f)}), Power});
  SDValue Plain = B.DAG.getSetCC(B.DL, Mask, B.node(ISD::FABS, F32, T), B.lanes(160.0f), ISD::SETOLT);
  return B.select(Plain, Result, Power);
}

static SDValue lowerFloatToInt(SDValue Op, Builder B) {
  SDValue From = Op.getOperand(0);
  bool Signed = Op.getOpcode() == ISD::FP_TO_SINT || Op.getOpcode() == ISD::FP_TO_SINT_SAT;
  bool Saturating = Op.getOpcode() == ISD::FP_TO_SINT_SAT || Op.getOpcode() == ISD::FP_TO_UINT_SAT;
  if (!Saturating)
    return From.getValueType() == F32 ? Op : B.node(Op.getOpcode(), I32, B.toF32(From));
  // The instructions saturate to 32 bits and make NaN 0; fewer bits are clamped afterwards.
  unsigned Bits = cast<VTSDNode>(Op.getOperand(1))->getVT().getScalarSizeInBits();
  SDValue Word = B.DAG.getValueType(MVT::i32);
  if (From.getValueType() == F32 && Bits == 32)
    return Op;
  SDValue Wide = B.node(Op.getOpcode(), I32, {B.toF32(From), Word});
  if (Bits >= 32)
    return Wide;
  if (!Signed)
    return B.node(ISD::UMIN, I32, {Wide, B.lanes((int64_t(1) << Bits) - 1)});
  SDValue Capped = B.node(ISD::SMIN, I32, {Wide, B.lanes((int64_t(1) << (Bits - 1)) - 1)});
  return B.node(ISD::SMAX, I32, {Capped, B.lanes(-(int64_t(1) << (Bits - 1)))});
}

static SDValue lowerVectorClassTest(SDValue Op, Builder B) {
  SDValue Value = Op.getOperand(0);
  unsigned Test = Op.getConstantOperandVal(1), Bits = 0;
  const unsigned Order[] = {fcNegInf,       fcNegNormal, fcNegSubnormal, fcNegZero, fcPosZero,
                            fcPosSubnormal, fcPosNormal, fcPosInf,       fcSNan,    fcQNan};
  for (unsigned I = 0; I < 10; ++I)
    if (Test & Order[I])
      Bits |= 1u << I;
  SDValue Hit = B.node(ISD::AND, I32, {B.node(DGISD::VCLASS, I32, B.toF32(Value)), B.lanes(int64_t(Bits))});
  return B.DAG.getSetCC(B.DL, Mask, Hit, B.lanes(int64_t(0)), ISD::SETNE);
}

// Operations on v32f16 and v32bf16 that have no plain promotion: on the f32 values, the result rounded where it is a float.
static SDValue lowerNarrowFloat(SDValue Op, Builder B) {
  SDLoc &DL = B.DL;
  SelectionDAG &DAG = B.DAG;
  SDValue First = Op.getOperand(0);
  EVT VT = Op.getValueType();
  auto RoundScalar = [&](SDValue V, EVT To) { return DAG.getNode(ISD::FP_ROUND, DL, To, V, DAG.getIntPtrConstant(0, DL, true)); };
  switch (Op.getOpcode()) {
  case ISD::SETCC:
    return DAG.getSetCC(DL, Mask, B.toF32(First), B.toF32(Op.getOperand(1)), cast<CondCodeSDNode>(Op.getOperand(2))->get());
  case ISD::EXTRACT_VECTOR_ELT:
    return RoundScalar(B.node(ISD::EXTRACT_VECTOR_ELT, MVT::f32, {B.toF32(First), Op.getOperand(1)}), VT);
  case ISD::INSERT_VECTOR_ELT: {
    SDValue Lane = DAG.getNode(ISD::FP_EXTEND, DL, MVT::f32, Op.getOperand(1));
    return B.fromF32(B.node(ISD::INSERT_VECTOR_ELT, F32, {B.toF32(First), Lane, Op.getOperand(2)}), VT);
  }
  case ISD::FCOPYSIGN: {
    SDValue Sign = isNarrowFloat(Op.getOperand(1).getValueType()) ? B.toF32(Op.getOperand(1)) : Op.getOperand(1);
    return B.fromF32(B.node(ISD::FCOPYSIGN, F32, {B.toF32(First), Sign}), VT);
  }
  case ISD::VECREDUCE_SEQ_FADD:
  case ISD::VECREDUCE_SEQ_FMUL: {
    SDValue Start = DAG.getNode(ISD::FP_EXTEND, DL, MVT::f32, First);
    return RoundScalar(B.node(Op.getOpcode(), MVT::f32, {Start, B.toF32(Op.getOperand(1))}), VT);
  }
  case ISD::VECREDUCE_FADD:
  case ISD::VECREDUCE_FMUL:
  case ISD::VECREDUCE_FMIN:
  case ISD::VECREDUCE_FMAX:
  case ISD::VECREDUCE_FMINIMUM:
  case ISD::VECREDUCE_FMAXIMUM:
    return RoundScalar(DAG.getNode(Op.getOpcode(), DL, MVT::f32, B.toF32(First), Op->getFlags()), VT);
  }
  return SDValue();
}

//===-- The switch -------------------------------------------------------------------------------------------------===//

SDValue DougongTargetLowering::lowerVectorOperation(SDValue Op, SelectionDAG &DAG) const {
  Builder B{DAG, SDLoc(Op)};
  switch (Op.getOpcode()) {
  case ISD::BUILD_VECTOR:
    return buildVector(Op, B);
  case ISD::VECTOR_SHUFFLE:
    return lowerShuffle(Op, B);
  case ISD::SELECT:
    return B.node(ISD::VSELECT, Op.getValueType(), {B.maskSplat(Op.getOperand(0)), Op.getOperand(1), Op.getOperand(2)});
  case ISD::MLOAD:
    return lowerMaskedLoad(Op, B);
  case ISD::MSTORE:
    return lowerMaskedStore(Op, B);
  case ISD::MGATHER:
    return lowerGather(Op, B);
  case ISD::MSCATTER:
    return lowerScatter(Op, B);
  case ISD::FEXP:
    return lowerExponential(Op, B, 1.4426950408889634);
  case ISD::FEXP10:
    return lowerExponential(Op, B, 3.3219280948873623);
  case ISD::FLOG:
    return B.node(ISD::FMUL, F32, {B.node(ISD::FLOG2, F32, Op.getOperand(0)), B.lanes(0.69314718f)});
  case ISD::FLOG10:
    return B.node(ISD::FMUL, F32, {B.node(ISD::FLOG2, F32, Op.getOperand(0)), B.lanes(0.30103f)});
  case ISD::FP_TO_SINT:
  case ISD::FP_TO_UINT:
  case ISD::FP_TO_SINT_SAT:
  case ISD::FP_TO_UINT_SAT:
    return lowerFloatToInt(Op, B);
  case ISD::IS_FPCLASS:
    return lowerVectorClassTest(Op, B);
  }
  if (isMask(Op) || llvm::any_of(Op->op_values(), isMask))
    if (SDValue Result = lowerMaskOperation(Op, B))
      return Result;
  if (Op.getOpcode() == ISD::SINT_TO_FP || Op.getOpcode() == ISD::UINT_TO_FP) {
    if (Op.getValueType() == F32)
      return Op;
    return isNarrowFloat(Op.getValueType()) ? B.fromF32(B.node(Op.getOpcode(), F32, Op.getOperand(0)), Op.getValueType()) : SDValue();
  }
  if (Op.getNumOperands() && llvm::any_of(Op->op_values(), [](SDValue V) { return isNarrowFloat(V.getValueType()); }))
    return lowerNarrowFloat(Op, B);
  return SDValue();
}
