// Scalars: legal types and operations, and the lowering of the rest. See DougongISelLowering.h.
//
// i64 is the only legal integer; f64, f32, f16 and bf16 live in the same registers (Zfinx, Zdinx), f16 and bf16 compute in f32.
#include "DougongISelLowering.h"
#include "DougongFunctionInfo.h"
#include "DougongSubtarget.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

static constexpr MVT Floats[] = {MVT::f64, MVT::f32, MVT::f16, MVT::bf16};

DougongTargetLowering::DougongTargetLowering(const TargetMachine &TM, const DougongSubtarget &STI)
    : TargetLowering(TM, STI), Subtarget(STI) {
  for (MVT VT : {MVT::i64, MVT::f64, MVT::f32, MVT::f16, MVT::bf16})
    addRegisterClass(VT, &Dougong::GPRRegClass);
  for (MVT VT : {MVT::v32f32, MVT::v32i32, MVT::v32f16, MVT::v32bf16})
    addRegisterClass(VT, &Dougong::VRRegClass);
  addRegisterClass(MVT::v32i1, &Dougong::MRRegClass);
  setVectorActions();
  setScalarActions();
  computeRegisterProperties(STI.getRegisterInfo());

  setStackPointerRegisterToSaveRestore(Dougong::X2);
  setBooleanContents(ZeroOrOneBooleanContent);
  setBooleanVectorContents(ZeroOrOneBooleanContent);
  setMinFunctionAlignment(Align(4));
  setPrefFunctionAlignment(Align(16));
  setMinCmpXchgSizeInBits(32);
  setMaxAtomicSizeInBitsSupported(64);
  setMinStackArgumentAlignment(Align(16));
  setMinimumJumpTableEntries(6);
  MaxStoresPerMemset = 16;
  MaxStoresPerMemsetOptSize = 8;
  MaxStoresPerMemcpy = 16;
  MaxStoresPerMemcpyOptSize = 8;
  MaxStoresPerMemmove = 16;
  MaxStoresPerMemmoveOptSize = 8;
  EnableExtLdPromotion = true;
  setTargetDAGCombine({ISD::ADD, ISD::MUL});
}

void DougongTargetLowering::setScalarActions() {
  // Integers.
  for (auto Extension : {ISD::EXTLOAD, ISD::SEXTLOAD, ISD::ZEXTLOAD})
    setLoadExtAction(Extension, MVT::i64, MVT::i1, Promote);
  setOperationAction({ISD::BR_CC,           ISD::SELECT_CC,    ISD::SMUL_LOHI, ISD::UMUL_LOHI, ISD::SDIVREM,
                      ISD::UDIVREM,         ISD::SHL_PARTS,    ISD::SRL_PARTS, ISD::SRA_PARTS, ISD::DYNAMIC_STACKALLOC,
                      ISD::STACKSAVE,       ISD::STACKRESTORE, ISD::VAARG,     ISD::VACOPY,    ISD::VAEND,
                      ISD::BITREVERSE,      ISD::UADDO,        ISD::USUBO,     ISD::UMULO,     ISD::SMULO,
                      ISD::ATOMIC_LOAD_SUB, ISD::FSHL,         ISD::FSHR},
                     MVT::i64, Expand);
  setOperationAction({ISD::STACKSAVE, ISD::STACKRESTORE, ISD::VAARG, ISD::VACOPY, ISD::VAEND, ISD::BR_JT}, MVT::Other, Expand);
  setOperationAction(ISD::DYNAMIC_STACKALLOC, MVT::i64, Expand);
  setOperationAction(ISD::SIGN_EXTEND_INREG, MVT::i1, Expand);
  setOperationAction({ISD::CTPOP, ISD::CTLZ, ISD::CTTZ, ISD::BSWAP, ISD::ROTL, ISD::ROTR, ISD::SMIN, ISD::SMAX, ISD::UMIN, ISD::UMAX},
                     MVT::i64, Legal);
  setOperationAction({ISD::CTLZ_ZERO_UNDEF, ISD::CTTZ_ZERO_UNDEF}, MVT::i64, Expand);
  setOperationAction({ISD::SELECT, ISD::GlobalAddress, ISD::BlockAddress, ISD::ConstantPool, ISD::JumpTable, ISD::GlobalTLSAddress,
                      ISD::IS_FPCLASS, ISD::FRAMEADDR, ISD::RETURNADDR},
                     MVT::i64, Custom);
  setOperationAction(ISD::VASTART, MVT::Other, Custom);
  setOperationAction({ISD::TRAP, ISD::DEBUGTRAP}, MVT::Other, Legal);
  setOperationAction(ISD::READCYCLECOUNTER, MVT::i64, Legal);
  setOperationAction(ISD::ATOMIC_FENCE, MVT::Other, Legal);
  setOperationAction({ISD::SINT_TO_FP, ISD::UINT_TO_FP, ISD::FP_TO_SINT, ISD::FP_TO_UINT}, MVT::i64, Legal);
  setOperationAction(ISD::PREFETCH, MVT::Other, Expand);

  for (unsigned Op : {ISD::SHL, ISD::SRL, ISD::SRA, ISD::ROTL, ISD::ROTR, ISD::SDIV, ISD::UDIV, ISD::SREM, ISD::UREM, ISD::CTLZ, ISD::CTTZ,
                      ISD::CTPOP, ISD::CTLZ_ZERO_UNDEF, ISD::ABS, ISD::ADD, ISD::SUB, ISD::MUL})
    setOperationAction(Op, MVT::i32, Custom);

  // Floats.
  setOperationAction(ISD::BITCAST, {MVT::i16, MVT::i32}, Custom);
  for (MVT VT : Floats) {
    for (auto CC : {ISD::SETOGT, ISD::SETOGE, ISD::SETONE, ISD::SETUEQ, ISD::SETUGT, ISD::SETUGE, ISD::SETULT, ISD::SETULE, ISD::SETUNE,
                    ISD::SETGT, ISD::SETGE, ISD::SETNE, ISD::SETO, ISD::SETUO})
      setCondCodeAction(CC, VT, Expand);
    setOperationAction({ISD::SELECT_CC, ISD::BR_CC}, VT, Expand);
    setOperationAction(ISD::SELECT, VT, Custom);
    setOperationAction(ISD::ConstantFP, VT, Legal);
    setOperationAction(ISD::BITCAST, VT, VT == MVT::f64 ? Legal : Custom);
    setOperationAction({ISD::FSIN,       ISD::FCOS,          ISD::FSINCOS, ISD::FTAN,   ISD::FASIN,  ISD::FACOS,      ISD::FATAN,
                        ISD::FATAN2,     ISD::FSINH,         ISD::FCOSH,   ISD::FTANH,  ISD::FPOW,   ISD::FPOWI,      ISD::FLDEXP,
                        ISD::FFREXP,     ISD::FMODF,         ISD::FEXP,    ISD::FEXP2,  ISD::FEXP10, ISD::FLOG,       ISD::FLOG2,
                        ISD::FLOG10,     ISD::FCEIL,         ISD::FFLOOR,  ISD::FTRUNC, ISD::FRINT,  ISD::FNEARBYINT, ISD::FROUND,
                        ISD::FROUNDEVEN, ISD::FCANONICALIZE, ISD::FMAD},
                       VT, Expand);
    setOperationAction(ISD::FREM, VT, LibCall); // Expand would lay out 90 instructions and calls of frexp
    for (MVT Memory : Floats)
      if (Memory != VT) {
        setLoadExtAction(ISD::EXTLOAD, VT, Memory, Expand);
        setTruncStoreAction(VT, Memory, Expand);
      }
  }
  for (MVT VT : {MVT::f32, MVT::f64}) {
    setOperationAction({ISD::FADD, ISD::FSUB, ISD::FMUL, ISD::FDIV, ISD::FMA, ISD::FSQRT, ISD::FNEG, ISD::FABS, ISD::FCOPYSIGN,
                        ISD::FMINNUM, ISD::FMAXNUM, ISD::FMINIMUMNUM, ISD::FMAXIMUMNUM, ISD::LRINT, ISD::LLRINT, ISD::LROUND, ISD::LLROUND},
                       VT, Legal);
    setOperationAction({ISD::FMINIMUM, ISD::FMAXIMUM, ISD::IS_FPCLASS}, VT, Custom);
    setOperationAction({ISD::FFLOOR, ISD::FCEIL, ISD::FTRUNC, ISD::FRINT, ISD::FNEARBYINT, ISD::FROUND, ISD::FROUNDEVEN}, VT, Custom);
    setOperationAction({ISD::FMINNUM_IEEE, ISD::FMAXNUM_IEEE}, VT, Expand);
  }
  setOperationAction({ISD::FEXP, ISD::FEXP2, ISD::FEXP10, ISD::FLOG, ISD::FLOG2, ISD::FLOG10, ISD::FTANH}, MVT::f32, Custom);
  for (MVT VT : {MVT::f16, MVT::bf16}) {
    setOperationAction({ISD::FADD,    ISD::FSUB,     ISD::FMUL,       ISD::FDIV,         ISD::FMA,         ISD::FSQRT, ISD::FMINNUM,
                        ISD::FMAXNUM, ISD::FMINIMUM, ISD::FMAXIMUM,   ISD::FMINIMUMNUM,  ISD::FMAXIMUMNUM, ISD::FREM,  ISD::FPOW,
                        ISD::FPOWI,   ISD::FLDEXP,   ISD::FSIN,       ISD::FCOS,         ISD::FTAN,        ISD::FTANH, ISD::FEXP,
                        ISD::FEXP2,   ISD::FEXP10,   ISD::FLOG,       ISD::FLOG2,        ISD::FLOG10,      ISD::FCEIL, ISD::FFLOOR,
                        ISD::FTRUNC,  ISD::FRINT,    ISD::FNEARBYINT, ISD::FROUND,       ISD::FROUNDEVEN,  ISD::SETCC, ISD::LRINT,
                        ISD::LLRINT,  ISD::LROUND,   ISD::LLROUND,    ISD::FCANONICALIZE},
                       VT, Promote);
    for (unsigned Op : {ISD::FADD, ISD::FSUB, ISD::FMUL, ISD::FDIV, ISD::FMA, ISD::FSQRT, ISD::FMINNUM, ISD::FMAXNUM, ISD::FMINIMUM,
                        ISD::FMAXIMUM, ISD::FMINIMUMNUM, ISD::FMAXIMUMNUM, ISD::SETCC})
      AddPromotedToType(Op, VT, MVT::f32);
    setOperationAction(ISD::IS_FPCLASS, VT, Custom);
    setOperationAction({ISD::FNEG, ISD::FABS, ISD::FCOPYSIGN}, VT, Legal);
  }
}

const char *DougongTargetLowering::getTargetNodeName(unsigned Opcode) const {
  // clang-format off
#define NODE(N) case DGISD::N: return "DGISD::" #N;
  switch (Opcode) {
    NODE(CALL) NODE(TAIL) NODE(RET) NODE(ADDRESS) NODE(GOT) NODE(TPREL) NODE(SELECT_CC) NODE(FP_BITS) NODE(BITS_FP) NODE(FCLASS) NODE(TO_INT)
    NODE(SLLW) NODE(SRLW) NODE(SRAW) NODE(ROLW) NODE(RORW) NODE(DIVW) NODE(DIVUW) NODE(REMW) NODE(REMUW) NODE(CLZW) NODE(CTZW) NODE(CPOPW)
    NODE(MASK_IN) NODE(MASK_OUT) NODE(MASK_FIRST) NODE(PERMUTE) NODE(PERMUTE2) NODE(BROADCAST_LANE) NODE(ALIGN) NODE(IOTA) NODE(VCLASS)
  }
// clang-format on
#undef NODE
  return nullptr;
}

SDValue DougongTargetLowering::LowerOperation(SDValue Op, SelectionDAG &DAG) const {
  if (Op.getValueType().isVector() || llvm::any_of(Op->op_values(), [](SDValue V) { return V.getValueType().isVector(); }))
    return lowerVectorOperation(Op, DAG);
  switch (Op.getOpcode()) {
  case ISD::GlobalAddress:
  case ISD::BlockAddress:
  case ISD::ConstantPool:
  case ISD::JumpTable:
    return lowerAddress(Op, DAG);
  case ISD::GlobalTLSAddress:
    return lowerThreadLocal(Op, DAG);
  case ISD::SELECT:
    return lowerSelect(Op, DAG);
  case ISD::VASTART:
    return lowerVASTART(Op, DAG);
  case ISD::FRAMEADDR:
    return lowerFrameAddress(Op, DAG);
  case ISD::RETURNADDR:
    return lowerReturnAddress(Op, DAG);
  case ISD::IS_FPCLASS:
    return lowerClassTest(Op, DAG);
  case ISD::FMINIMUM:
  case ISD::FMAXIMUM:
    return lowerMinMax(Op, DAG);
  case ISD::BITCAST:
    return lowerBitcast(Op, DAG);
  case ISD::FFLOOR:
  case ISD::FCEIL:
  case ISD::FTRUNC:
  case ISD::FRINT:
  case ISD::FNEARBYINT:
  case ISD::FROUND:
  case ISD::FROUNDEVEN:
    return lowerRounding(Op, DAG);
  case ISD::FEXP:
  case ISD::FEXP2:
  case ISD::FEXP10:
  case ISD::FLOG:
  case ISD::FLOG2:
  case ISD::FLOG10:
  case ISD::FTANH: { // the vector unit's, on one lane
    SDLoc DL(Op);
    SDValue Lanes = DAG.getNode(ISD::SPLAT_VECTOR, DL, MVT::v32f32, Op.getOperand(0));
    return DAG.getNode(ISD::EXTRACT_VECTOR_ELT, DL, MVT::f32, DAG.getNode(Op.getOpcode(), DL, MVT::v32f32, Lanes),
                       DAG.getConstant(0, DL, MVT::i64));
  }
  }
  report_fatal_error(Twine("dougong: no lowering for ") + Op->getOperationName(&DAG));
}

//===-- Addresses --------------------------------------------------------------------------------------------------===//

SDValue DougongTargetLowering::lowerAddress(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  EVT VT = Op.getValueType();
  if (auto *N = dyn_cast<BlockAddressSDNode>(Op))
    return DAG.getNode(DGISD::ADDRESS, DL, VT, DAG.getTargetBlockAddress(N->getBlockAddress(), VT, N->getOffset()));
  if (auto *N = dyn_cast<ConstantPoolSDNode>(Op))
    return DAG.getNode(DGISD::ADDRESS, DL, VT, DAG.getTargetConstantPool(N->getConstVal(), VT, N->getAlign(), N->getOffset()));
  if (auto *N = dyn_cast<JumpTableSDNode>(Op))
    return DAG.getNode(DGISD::ADDRESS, DL, VT, DAG.getTargetJumpTable(N->getIndex(), VT));

  auto *N = cast<GlobalAddressSDNode>(Op);
  int64_t Offset = N->getOffset();
  if (N->getGlobal()->hasExternalWeakLinkage()) {
    SDValue Base = DAG.getNode(DGISD::GOT, DL, VT, DAG.getTargetGlobalAddress(N->getGlobal(), DL, VT));
    return Offset ? DAG.getNode(ISD::ADD, DL, VT, Base, DAG.getConstant(Offset, DL, VT)) : Base;
  }
  // The linker checks that symbol + offset is in reach; an offset that leaves the object by far is added apart.
  if (isInt<20>(Offset))
    return DAG.getNode(DGISD::ADDRESS, DL, VT, DAG.getTargetGlobalAddress(N->getGlobal(), DL, VT, Offset));
  SDValue Base = DAG.getNode(DGISD::ADDRESS, DL, VT, DAG.getTargetGlobalAddress(N->getGlobal(), DL, VT));
  return DAG.getNode(ISD::ADD, DL, VT, Base, DAG.getConstant(Offset, DL, VT));
}

// Programs are linked statically, so that every thread-local symbol's offset from tp is known to the linker.
SDValue DougongTargetLowering::lowerThreadLocal(SDValue Op, SelectionDAG &DAG) const {
  auto *N = cast<GlobalAddressSDNode>(Op);
  SDLoc DL(Op);
  return DAG.getNode(DGISD::TPREL, DL, MVT::i64, DAG.getTargetGlobalAddress(N->getGlobal(), DL, MVT::i64, N->getOffset()));
}

SDValue DougongTargetLowering::lowerVASTART(SDValue Op, SelectionDAG &DAG) const {
  SDLoc DL(Op);
  int FI = DAG.getMachineFunction().getInfo<DougongFunctionInfo>()->VarArgsFrameIndex;
  const Value *List = cast<SrcValueSDNode>(Op.getOperand(2))->getValue();
  return DAG.getStore(Op.getOperand(0), DL, DAG.getFrameIndex(FI, MVT::i64), Op.getOperand(1), MachinePointerInfo(List));
}

// With a frame pointer, s0 is the caller's sp and the saved s0 and ra stand where the CFI says; only frame 0 is offered.
SDValue DougongTargetLowering::lowerFrameAddress(SDValue Op, SelectionDAG &DAG) const {
  DAG.getMachineFunction().getFrameInfo().setFrameAddressIsTaken(true);
  if (Op.getConstantOperandVal(0) != 0)
    return DAG.getConstant(0, SDLoc(Op), MVT::i64);
  return DAG.getCopyFromReg(DAG.getEntryNode(), SDLoc(Op), Dougong::X8, MVT::i64);
}

SDValue DougongTargetLowering::lowerReturnAddress(SDValue Op, SelectionDAG &DAG) const {
  MachineFunction &MF = DAG.getMachineFunction();
  MF.getFrameInfo().setReturnAddressIsTaken(true);
  if (Op.getConstantOperandVal(0) != 0)
    return DAG.getConstant(0, SDLoc(Op), MVT::i64);
  Register RA = MF.addLiveIn(Dougong::X1, &Dougong::GPRRegClass);
  return DAG.getCopyFromReg(DAG.getEntryNode(), SDLoc(Op), RA, MVT::i64);
}

//===-- Selects and floats -----------------------------------------------------------------------------------------===//

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

//===-- Custom insertion -------------------------------------------------------------------------------------------===//

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

//===-- Properties -------------------------------------------------------------------------------------------------===//

EVT DougongTargetLowering::getSetCCResultType(const DataLayout &, LLVMContext &Context, EVT VT) const {
  return VT.isVector() ? EVT::getVectorVT(Context, MVT::i1, VT.getVectorElementCount()) : EVT(MVT::i64);
}

// A float constant is an integer constant in a register; what takes more than three instructions is loaded.
bool DougongTargetLowering::isFPImmLegal(const APFloat &Imm, EVT VT, bool) const {
  if (VT == MVT::f32 || VT == MVT::f16 || VT == MVT::bf16)
    return true;
  return VT == MVT::f64 && DougongConstant::steps(Imm.bitcastToAPInt().getSExtValue()).size() <= 3;
}

bool DougongTargetLowering::isLegalAddressingMode(const DataLayout &, const AddrMode &AM, Type *Ty, unsigned, Instruction *) const {
  if (AM.BaseGV || AM.ScalableOffset)
    return false;
  bool Vector = Ty && Ty->isVectorTy();
  if (!isInt<12>(AM.BaseOffs) && !(Vector && AM.BaseOffs % 16 == 0 && isInt<16>(AM.BaseOffs)))
    return false;
  return AM.Scale == 0 || (AM.Scale == 1 && !AM.HasBaseReg);
}

// The scalar unit's accesses must be aligned; vectors want the alignment of an element.
bool DougongTargetLowering::allowsMisalignedMemoryAccesses(EVT VT, unsigned, Align Alignment, MachineMemOperand::Flags,
                                                           unsigned *Fast) const {
  if (!VT.isVector() || VT.getScalarSizeInBits() < 8 || Alignment.value() * 8 < VT.getScalarSizeInBits())
    return false;
  if (Fast)
    *Fast = 1;
  return true;
}

bool DougongTargetLowering::isTruncateFree(Type *From, Type *To) const {
  return From->isIntegerTy() && To->isIntegerTy() && From->getPrimitiveSizeInBits() > To->getPrimitiveSizeInBits();
}
bool DougongTargetLowering::isTruncateFree(EVT From, EVT To) const {
  return From.isScalarInteger() && To.isScalarInteger() && From.getSizeInBits() > To.getSizeInBits();
}

bool DougongTargetLowering::isZExtFree(SDValue Value, EVT To) const {
  if (auto *Load = dyn_cast<LoadSDNode>(Value)) {
    EVT Memory = Load->getMemoryVT();
    if ((Memory == MVT::i8 || Memory == MVT::i16) && Load->getExtensionType() != ISD::SEXTLOAD)
      return true;
  }
  return TargetLowering::isZExtFree(Value, To);
}

bool DougongTargetLowering::isFMAFasterThanFMulAndFAdd(const MachineFunction &, EVT VT) const {
  return VT == MVT::f32 || VT == MVT::f64 || VT == MVT::v32f32;
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

Register DougongTargetLowering::getExceptionPointerRegister(const Constant *) const { return Dougong::X10; }
Register DougongTargetLowering::getExceptionSelectorRegister(const Constant *) const { return Dougong::X11; }
unsigned DougongTargetLowering::getJumpTableEncoding() const { return MachineJumpTableInfo::EK_BlockAddress; }

//===-- Atomics ----------------------------------------------------------------------------------------------------===//

Instruction *DougongTargetLowering::emitLeadingFence(IRBuilderBase &Builder, Instruction *Inst, AtomicOrdering Order) const {
  if (isa<LoadInst>(Inst) && Order == AtomicOrdering::SequentiallyConsistent)
    return Builder.CreateFence(Order);
  return !isa<LoadInst>(Inst) && isReleaseOrStronger(Order) ? Builder.CreateFence(AtomicOrdering::Release) : nullptr;
}

Instruction *DougongTargetLowering::emitTrailingFence(IRBuilderBase &Builder, Instruction *Inst, AtomicOrdering Order) const {
  if (isa<StoreInst>(Inst))
    return Order == AtomicOrdering::SequentiallyConsistent ? Builder.CreateFence(Order) : nullptr;
  return isAcquireOrStronger(Order) ? Builder.CreateFence(AtomicOrdering::Acquire) : nullptr;
}

TargetLowering::AtomicExpansionKind DougongTargetLowering::shouldExpandAtomicRMWInIR(AtomicRMWInst *RMW) const {
  unsigned Bits = RMW->getType()->getPrimitiveSizeInBits();
  if (RMW->getType()->isPointerTy())
    Bits = 64;
  switch (RMW->getOperation()) {
  case AtomicRMWInst::Xchg:
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
  case AtomicRMWInst::And:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin:
    return Bits >= 32 && !RMW->getType()->isFloatingPointTy() ? AtomicExpansionKind::None : AtomicExpansionKind::CmpXChg;
  default:
    return AtomicExpansionKind::CmpXChg;
  }
}

//===-- Inline assembly --------------------------------------------------------------------------------------------===//

TargetLowering::ConstraintType DougongTargetLowering::getConstraintType(StringRef Constraint) const {
  if (Constraint.size() == 1) {
    switch (Constraint[0]) {
    case 'I':
    case 'J':
    case 'K':
      return C_Immediate;
    case 'A':
      return C_Memory;
    }
  }
  if (Constraint == "vr" || Constraint == "vm")
    return C_RegisterClass;
  return TargetLowering::getConstraintType(Constraint);
}

std::pair<unsigned, const TargetRegisterClass *> DougongTargetLowering::getRegForInlineAsmConstraint(const TargetRegisterInfo *TRI,
                                                                                                     StringRef Constraint, MVT VT) const {
  if (Constraint == "r" && !VT.isVector())
    return {0u, &Dougong::GPRRegClass};
  if (Constraint == "vr")
    return {0u, &Dougong::VRRegClass};
  if (Constraint == "vm")
    return {0u, &Dougong::MRRegClass};
  // {a0} and {x10} alike: LLVM knows a register by its record's name.
  if (Constraint.starts_with("{") && Constraint.ends_with("}")) {
    StringRef Name = Constraint.drop_front().drop_back();
    if (Name == "fp")
      return {Dougong::X8, &Dougong::GPRRegClass};
    for (MCPhysReg Reg : Dougong::GPRRegClass)
      if (Name == StringRef(TRI->getRegAsmName(Reg)) || Name.equals_insensitive(TRI->getName(Reg)))
        return {Reg, &Dougong::GPRRegClass};
  }
  return TargetLowering::getRegForInlineAsmConstraint(TRI, Constraint, VT);
}

InlineAsm::ConstraintCode DougongTargetLowering::getInlineAsmMemConstraint(StringRef Constraint) const {
  return Constraint == "A" ? InlineAsm::ConstraintCode::A : TargetLowering::getInlineAsmMemConstraint(Constraint);
}

void DougongTargetLowering::LowerAsmOperandForConstraint(SDValue Op, StringRef Constraint, std::vector<SDValue> &Ops,
                                                         SelectionDAG &DAG) const {
  if (Constraint == "I" || Constraint == "J" || Constraint == "K") {
    auto *C = dyn_cast<ConstantSDNode>(Op);
    int64_t Value = C ? C->getSExtValue() : 0;
    bool Fits = Constraint == "I" ? isInt<12>(Value) : Constraint == "J" ? Value == 0 : isUInt<5>(Value);
    if (C && Fits)
      Ops.push_back(DAG.getTargetConstant(Value, SDLoc(Op), MVT::i64));
    return;
  }
  TargetLowering::LowerAsmOperandForConstraint(Op, Constraint, Ops, DAG);
}
