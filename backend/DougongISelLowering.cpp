// Scalars: legal types and operations, who lowers the rest, and addresses. See DougongISelLowering.h.
//
// i64 is the only legal integer; f64, f32, f16 and bf16 live in the same registers (Zfinx, Zdinx), f16 and bf16 compute in f32.
#include "DougongISelLowering.h"
#include "DougongFunctionInfo.h"
#include "DougongSubtarget.h"

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
  setOperationAction(ISD::GET_ROUNDING, MVT::i64, Custom);
  setOperationAction(ISD::SET_ROUNDING, MVT::Other, Custom);
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
    setOperationAction({ISD::FMINIMUM, ISD::FMAXIMUM, ISD::IS_FPCLASS, ISD::STRICT_FSETCC, ISD::STRICT_FSETCCS}, VT, Custom);
    setOperationAction({ISD::FFLOOR, ISD::FCEIL, ISD::FTRUNC, ISD::FRINT, ISD::FNEARBYINT, ISD::FROUND, ISD::FROUNDEVEN}, VT, Custom);
    setOperationAction({ISD::FMINNUM_IEEE, ISD::FMAXNUM_IEEE}, VT, Expand);
  }
  setOperationAction({ISD::FEXP, ISD::FEXP2, ISD::FEXP10, ISD::FLOG, ISD::FLOG2, ISD::FLOG10, ISD::FTANH}, MVT::f32, Custom);
  for (MVT VT : {MVT::f16, MVT::bf16}) {
    setOperationAction({ISD::FADD,    ISD::FSUB,     ISD::FMUL,       ISD::FDIV,          ISD::FMA,         ISD::FSQRT,  ISD::FMINNUM,
                        ISD::FMAXNUM, ISD::FMINIMUM, ISD::FMAXIMUM,   ISD::FMINIMUMNUM,   ISD::FMAXIMUMNUM, ISD::FREM,   ISD::FPOW,
                        ISD::FPOWI,   ISD::FLDEXP,   ISD::FSIN,       ISD::FCOS,          ISD::FTAN,        ISD::FTANH,  ISD::FEXP,
                        ISD::FEXP2,   ISD::FEXP10,   ISD::FLOG,       ISD::FLOG2,         ISD::FLOG10,      ISD::FCEIL,  ISD::FFLOOR,
                        ISD::FTRUNC,  ISD::FRINT,    ISD::FNEARBYINT, ISD::FROUND,        ISD::FROUNDEVEN,  ISD::SETCC,  ISD::LRINT,
                        ISD::LLRINT,  ISD::LROUND,   ISD::LLROUND,    ISD::FCANONICALIZE, ISD::FMODF,       ISD::FFREXP, ISD::FSINCOS,
                        ISD::FASIN,   ISD::FACOS,    ISD::FATAN,      ISD::FATAN2,        ISD::FSINH,       ISD::FCOSH},
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
  case ISD::STRICT_FSETCC: // LLVM makes ordinary operations of the other strict ones
  case ISD::STRICT_FSETCCS:
    return DAG.getMergeValues(
        {DAG.getNode(ISD::SETCC, SDLoc(Op), Op.getValueType(), Op.getOperand(1), Op.getOperand(2), Op.getOperand(3)), Op.getOperand(0)},
        SDLoc(Op));
  case ISD::GET_ROUNDING:
    return lowerGetRounding(Op, DAG);
  case ISD::SET_ROUNDING:
    return lowerSetRounding(Op, DAG);
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

//===-- Properties -------------------------------------------------------------------------------------------------===//

EVT DougongTargetLowering::getSetCCResultType(const DataLayout &, LLVMContext &Context, EVT VT) const {
  return VT.isVector() ? EVT::getVectorVT(Context, MVT::i1, VT.getVectorElementCount()) : EVT(MVT::i64);
}

bool DougongTargetLowering::isLegalAddressingMode(const DataLayout &, const AddrMode &AM, Type *Ty, unsigned, Instruction *) const {
  if (AM.BaseGV || AM.ScalableOffset)
    return false;
  bool Vector = Ty && Ty->isVectorTy();
  if (!isInt<12>(AM.BaseOffs) && !(Vector && AM.BaseOffs % 16 == 0 && isInt<16>(AM.BaseOffs)))
    return false;
  return AM.Scale == 0 || (AM.Scale == 1 && !AM.HasBaseReg);
}

// The scalar unit's accesses must be aligned; vectors want the alignment of an element, which may be a packed one of 8 or 16 bits
// (DougongPackedLanes.cpp).
bool DougongTargetLowering::allowsMisalignedMemoryAccesses(EVT VT, unsigned, Align Alignment, MachineMemOperand::Flags,
                                                           unsigned *Fast) const {
  if (!VT.isVector() || VT.getScalarSizeInBits() < 8 || (VT != MVT::v32i32 && Alignment.value() * 8 < VT.getScalarSizeInBits()))
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

Register DougongTargetLowering::getExceptionPointerRegister(const Constant *) const { return Dougong::X10; }
Register DougongTargetLowering::getExceptionSelectorRegister(const Constant *) const { return Dougong::X11; }
unsigned DougongTargetLowering::getJumpTableEncoding() const { return MachineJumpTableInfo::EK_BlockAddress; }
