// Floats: tests of their class, minima of IEEE 754-2019, rounding to integers, their bits. See DougongISelLowering.h.
#include "DougongISelLowering.h"
#include "DougongSubtarget.h"

using namespace llvm;

// A float constant is an integer constant in a register; what takes more than three instructions is loaded.
bool DougongTargetLowering::isFPImmLegal(const APFloat &Imm, EVT VT, bool) const {
  if (VT == MVT::f32 || VT == MVT::f16 || VT == MVT::bf16)
    return true;
  return VT == MVT::f64 && DougongConstant::steps(Imm.bitcastToAPInt().getSExtValue()).size() <= 3;
}

bool DougongTargetLowering::isFMAFasterThanFMulAndFAdd(const MachineFunction &, EVT VT) const {
  return VT == MVT::f32 || VT == MVT::f64 || VT == MVT::v32f32;
}

// Bits of fclass: 0 -inf, 1 -normal, 2 -subnormal, 3 -0, 4 +0, 5 +subnormal, 6 +normal, 7 +inf, 8 signalling NaN, 9 quiet NaN.
SDValue DougongTargetLowering::lowerClassTest(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  SDValue Value = Op.getOperand(0), Zero = DAG.getConstant(0, DL, MVT::i64);
  EVT VT = Value.getValueType(), ResultVT = Op.getValueType();
  unsigned Test = Op.getConstantOperandVal(1), Mask = 0;
  const unsigned Order[] = {fcNegInf,       fcNegNormal, fcNegSubnormal, fcNegZero, fcPosZero,
                            fcPosSubnormal, fcPosNormal, fcPosInf,       fcSNan,    fcQNan};
  if (VT == MVT::f32 || VT == MVT::f64) {
    for (unsigned I = 0; I < 10; ++I)
      if (Test & Order[I])
        Mask |= 1u << I;
    SDValue Hit = DAG.getNode(ISD::AND, DL, MVT::i64, DAG.getNode(DGISD::FCLASS, DL, MVT::i64, Value), DAG.getConstant(Mask, DL, MVT::i64));
    return DAG.getSetCC(DL, ResultVT, Hit, Zero, ISD::SETNE);
  }

  // f16 and bf16: each class is a range of the 16 bits, sign above. `Bits` without the sign: 0 | subnormals | normals | inf | sNaN | qNaN.
  unsigned Mantissa = VT == MVT::f16 ? 10 : 7;
  int64_t Infinity = 0x8000 - (int64_t(1) << Mantissa), Quiet = Infinity | int64_t(1) << (Mantissa - 1);
  SDValue All = DAG.getNode(DGISD::FP_BITS, DL, MVT::i64, Value);
  SDValue Bits = DAG.getNode(ISD::AND, DL, MVT::i64, All, DAG.getConstant(0x7fff, DL, MVT::i64));
  SDValue Sign = DAG.getNode(ISD::AND, DL, MVT::i64, DAG.getNode(ISD::SRL, DL, MVT::i64, All, DAG.getConstant(15, DL, MVT::i64)),
                             DAG.getConstant(1, DL, MVT::i64));
  struct Range {
    int64_t First, Last; // of Bits
    unsigned Positive, Negative;
  } Ranges[] = {{0, 0, fcPosZero, fcNegZero},
                {1, (int64_t(1) << Mantissa) - 1, fcPosSubnormal, fcNegSubnormal},
                {int64_t(1) << Mantissa, Infinity - 1, fcPosNormal, fcNegNormal},
                {Infinity, Infinity, fcPosInf, fcNegInf},
                {Infinity + 1, Quiet - 1, fcSNan, fcSNan},
                {Quiet, 0x7fff, fcQNan, fcQNan}};
  SDValue Result = Zero;
  for (const Range &R : Ranges) {
    bool Positive = Test & R.Positive, Negative = Test & R.Negative;
    if (!Positive && !Negative)
      continue;
    SDValue Distance = DAG.getNode(ISD::SUB, DL, MVT::i64, Bits, DAG.getConstant(R.First, DL, MVT::i64));
    SDValue Hit = DAG.getSetCC(DL, MVT::i64, Distance, DAG.getConstant(R.Last - R.First + 1, DL, MVT::i64), ISD::SETULT);
    if (Positive != Negative)
      Hit = DAG.getNode(ISD::AND, DL, MVT::i64, Hit,
                        Negative ? Sign : DAG.getNode(ISD::XOR, DL, MVT::i64, Sign, DAG.getConstant(1, DL, MVT::i64)));
    Result = DAG.getNode(ISD::OR, DL, MVT::i64, Result, Hit);
  }
  return DAG.getZExtOrTrunc(Result, DL, ResultVT);
}

// minimum(x, y): a NaN wins. fmin prefers the number, so each operand that is NaN is first put in the other's place too.
SDValue DougongTargetLowering::lowerMinMax(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  EVT VT = Op.getValueType();
  SDValue X = Op.getOperand(0), Y = Op.getOperand(1);
  SDValue XNumber = DAG.getSetCC(DL, MVT::i64, X, X, ISD::SETOEQ), YNumber = DAG.getSetCC(DL, MVT::i64, Y, Y, ISD::SETOEQ);
  SDValue NewY = DAG.getSelect(DL, VT, XNumber, Y, X), NewX = DAG.getSelect(DL, VT, YNumber, X, Y);
  return DAG.getNode(Op.getOpcode() == ISD::FMINIMUM ? ISD::FMINNUM : ISD::FMAXNUM, DL, VT, NewX, NewY);
}

// Rounding to an integer, in the integer: x where it has no fraction bits (or is no number), else the converted value with x's sign, for
// -0.
SDValue DougongTargetLowering::lowerRounding(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  EVT VT = Op.getValueType();
  unsigned Mode = 7; // rint and nearbyint: the program's
  switch (Op.getOpcode()) {
  case ISD::FROUNDEVEN:
    Mode = 0;
    break;
  case ISD::FTRUNC:
    Mode = 1;
    break;
  case ISD::FFLOOR:
    Mode = 2;
    break;
  case ISD::FCEIL:
    Mode = 3;
    break;
  case ISD::FROUND:
    Mode = 4;
    break;
  }
  SDValue X = Op.getOperand(0);
  SDValue Integer = DAG.getNode(DGISD::TO_INT, DL, MVT::i64, X, DAG.getTargetConstant(Mode, DL, MVT::i64));
  SDValue Rounded = DAG.getNode(ISD::FCOPYSIGN, DL, VT, DAG.getNode(ISD::SINT_TO_FP, DL, VT, Integer), X);
  SDValue Limit = DAG.getConstantFP(VT == MVT::f32 ? 8388608.0 : 4503599627370496.0, DL, VT);
  SDValue Fraction = DAG.getSetCC(DL, MVT::i64, DAG.getNode(ISD::FABS, DL, VT, X), Limit, ISD::SETOLT);
  return DAG.getSelect(DL, VT, Fraction, Rounded, X);
}

// f32 <-> i32 and f16, bf16 <-> i16: the register as it is. The integer is not legal, so the other half is in ReplaceNodeResults.
SDValue DougongTargetLowering::lowerBitcast(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  SDValue From = Op.getOperand(0);
  if (From.getValueType().isInteger())
    return DAG.getNode(DGISD::BITS_FP, DL, Op.getValueType(), DAG.getNode(ISD::ANY_EXTEND, DL, MVT::i64, From));
  SDValue Bits = DAG.getNode(DGISD::FP_BITS, DL, MVT::i64, From);
  return DAG.getNode(DGISD::BITS_FP, DL, Op.getValueType(), Bits);
}

// The rounding mode: LLVM counts towards zero, to nearest even, up, down, to nearest away; frm even, zero, down, up, away. What leads from
// one to the other leads back: four bits for each mode.
static SDValue otherRounding(SDValue Mode, const SDLoc &DL, SelectionDAG &DAG) {
  SDValue Shift = DAG.getNode(ISD::SHL, DL, MVT::i64, Mode, DAG.getConstant(2, DL, MVT::i64));
  SDValue Entry = DAG.getNode(ISD::SRL, DL, MVT::i64, DAG.getConstant(0x42301, DL, MVT::i64), Shift);
  return DAG.getNode(ISD::AND, DL, MVT::i64, Entry, DAG.getConstant(7, DL, MVT::i64));
}

static constexpr unsigned FRM = 2; // isa/Csr.td

SDValue DougongTargetLowering::lowerGetRounding(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  SDNode *Read = DAG.getMachineNode(Dougong::CSRRS, DL, DAG.getVTList(MVT::i64, MVT::Other),
                                    {DAG.getTargetConstant(FRM, DL, MVT::i64), DAG.getRegister(Dougong::X0, MVT::i64), Op.getOperand(0)});
  return DAG.getMergeValues({otherRounding(SDValue(Read, 0), DL, DAG), SDValue(Read, 1)}, DL);
}

SDValue DougongTargetLowering::lowerSetRounding(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  SDValue Mode = otherRounding(DAG.getAnyExtOrTrunc(Op.getOperand(1), DL, MVT::i64), DL, DAG);
  SDNode *Write = DAG.getMachineNode(Dougong::CSRRW, DL, DAG.getVTList(MVT::i64, MVT::Other),
                                     {DAG.getTargetConstant(FRM, DL, MVT::i64), Mode, Op.getOperand(0)});
  return SDValue(Write, 1);
}
