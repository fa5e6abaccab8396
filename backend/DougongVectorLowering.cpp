// Vectors and masks: legal types and operations, and the lowering of the rest. See DougongISelLowering.h.
//
// Legal are 32 lanes: v32f32, v32i32, their 16-bit kin v32f16 and v32bf16 (see DougongVectorPatterns.td), and masks v32i1. Lanes of 8 and
// 16 bits are kept as i32; more lanes are split; fewer lanes, and lanes of 64 bits, become scalars, which also keeps short C vectors out of
// LM-only instructions. Every operation starts as Expand and is then enabled: with LLVM's default, "legal", what was forgotten cannot be
// selected, or never ends.
#include "DougongVectorLowering.h"

using namespace llvm;
using namespace llvm::vectors;

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
  if (!VT.isPow2VectorType()) // v24i32 in v32i32: LLVM does that to such types whatever is said here, but would count 24 registers
    return TypeWidenVector;
  return VT.getVectorNumElements() == 1 ? TypeScalarizeVector : TypeSplitVector;
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
