// Which packed instruction an operation of LLVM IR is, and the selection of the calls that stand for one. See DougongPackedLanes.h.
#include "DougongPackedLanes.h"
#include "DougongSubtarget.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace llvm::packed;

std::optional<Shape> packed::shapeOf(const Type *T) {
  auto *Vector = dyn_cast<FixedVectorType>(T);
  if (!Vector)
    return std::nullopt;
  Type *Element = Vector->getElementType();
  unsigned Width = Element->isIntegerTy(8) ? 8 : Element->isIntegerTy(16) || Element->isHalfTy() || Element->isBFloatTy() ? 16 : 0;
  if (!Width || !isPowerOf2_32(Vector->getNumElements()) || Vector->getNumElements() < 1024 / Width)
    return std::nullopt;
  return Shape{Width, Vector->getNumElements() * Width / 1024};
}

namespace {

// An operation, and its records by the element's type: 0 where there is none.
struct Row {
  unsigned Operation, I16, I8, F16, BF16;
};
#define INTEGERS(R) Dougong::R##_I16, Dougong::R##_I8, 0, 0
#define UNSIGNED(R) Dougong::R##_U16, Dougong::R##_U8, 0, 0
#define FLOATS(R) 0, 0, Dougong::R##_F16, Dougong::R##_BF16
#define BITS(R) 0, 0, Dougong::R##_16, Dougong::R##_16

const Row Instructions[] = {
    {Instruction::Add, INTEGERS(VADD)}, {Instruction::Sub, INTEGERS(VSUB)},  {Instruction::Mul, INTEGERS(VMUL)},
    {Instruction::Shl, INTEGERS(VSLL)}, {Instruction::LShr, INTEGERS(VSRL)}, {Instruction::AShr, INTEGERS(VSRA)},
    {Instruction::FAdd, FLOATS(VADD)},  {Instruction::FSub, FLOATS(VSUB)},   {Instruction::FMul, FLOATS(VMUL)},
    {Instruction::FDiv, FLOATS(VDIV)},  {Instruction::FNeg, BITS(VNEG)},
};

const Row Intrinsics[] = {
    {Intrinsic::smin, INTEGERS(VMIN)},      {Intrinsic::smax, INTEGERS(VMAX)},      {Intrinsic::umin, UNSIGNED(VMIN)},
    {Intrinsic::umax, UNSIGNED(VMAX)},      {Intrinsic::sadd_sat, INTEGERS(VSADD)}, {Intrinsic::uadd_sat, UNSIGNED(VSADD)},
    {Intrinsic::ssub_sat, INTEGERS(VSSUB)}, {Intrinsic::usub_sat, UNSIGNED(VSSUB)}, {Intrinsic::abs, INTEGERS(VABS)},
    {Intrinsic::fabs, BITS(VABS)},          {Intrinsic::copysign, BITS(VCOPYSIGN)}, {Intrinsic::sqrt, FLOATS(VSQRT)},
    {Intrinsic::minnum, FLOATS(VMIN)},      {Intrinsic::maxnum, FLOATS(VMAX)},      {Intrinsic::minimumnum, FLOATS(VMIN)},
    {Intrinsic::maximumnum, FLOATS(VMAX)},  {Intrinsic::minimum, FLOATS(VMINIMUM)}, {Intrinsic::maximum, FLOATS(VMAXIMUM)},
    {Intrinsic::fma, FLOATS(VFMA)},         {Intrinsic::fmuladd, FLOATS(VFMA)},
};
#undef INTEGERS
#undef UNSIGNED
#undef FLOATS
#undef BITS

} // namespace

unsigned packed::recordOf(const Instruction &I) {
  if (!shapeOf(I.getType()))
    return 0;
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (isa<CallBase>(I) && !Call)
    return 0;
  unsigned Operation = Call ? unsigned(Call->getIntrinsicID()) : I.getOpcode();
  const Type *Element = I.getType()->getScalarType();
  for (const Row &R : Call ? ArrayRef(Intrinsics) : ArrayRef(Instructions))
    if (R.Operation == Operation)
      return Element->isIntegerTy(16) ? R.I16 : Element->isIntegerTy(8) ? R.I8 : Element->isHalfTy() ? R.F16 : R.BF16;
  return 0;
}

std::optional<Comparison> packed::comparisonOf(const CmpInst &I) {
  const Type *Element = I.getOperand(0)->getType()->getScalarType();
  auto Of = [&](unsigned I16, unsigned I8, unsigned F16, unsigned BF16) {
    return Element->isIntegerTy(16) ? I16 : Element->isIntegerTy(8) ? I8 : Element->isHalfTy() ? F16 : BF16;
  };
  unsigned Equal = Of(Dougong::VCMPEQ_I16, Dougong::VCMPEQ_I8, Dougong::VCMPEQ_F16, Dougong::VCMPEQ_BF16);
  unsigned Less = Of(Dougong::VCMPLT_I16, Dougong::VCMPLT_I8, Dougong::VCMPLT_F16, Dougong::VCMPLT_BF16);
  unsigned LessEqual = Of(Dougong::VCMPLE_I16, Dougong::VCMPLE_I8, Dougong::VCMPLE_F16, Dougong::VCMPLE_BF16);
  unsigned Below = Of(Dougong::VCMPLT_U16, Dougong::VCMPLT_U8, 0, 0), BelowEqual = Of(Dougong::VCMPLE_U16, Dougong::VCMPLE_U8, 0, 0);
  unsigned Unordered = Of(0, 0, Dougong::VCMPUN_F16, Dougong::VCMPUN_BF16);
  constexpr bool Swap = true, Either = true, Negate = true;
  switch (I.getPredicate()) {
  case CmpInst::ICMP_EQ:
  case CmpInst::FCMP_OEQ:
    return Comparison{Equal, !Swap, !Either, !Negate};
  case CmpInst::ICMP_NE:
    return Comparison{Of(Dougong::VCMPNE_I16, Dougong::VCMPNE_I8, 0, 0), !Swap, !Either, !Negate};
  case CmpInst::FCMP_UNE:
    return Comparison{Equal, !Swap, !Either, Negate};
  case CmpInst::ICMP_SLT:
  case CmpInst::FCMP_OLT:
    return Comparison{Less, !Swap, !Either, !Negate};
  case CmpInst::ICMP_SGT:
  case CmpInst::FCMP_OGT:
    return Comparison{Less, Swap, !Either, !Negate};
  case CmpInst::ICMP_SLE:
  case CmpInst::FCMP_OLE:
    return Comparison{LessEqual, !Swap, !Either, !Negate};
  case CmpInst::ICMP_SGE:
  case CmpInst::FCMP_OGE:
    return Comparison{LessEqual, Swap, !Either, !Negate};
  case CmpInst::ICMP_ULT:
    return Comparison{Below, !Swap, !Either, !Negate};
  case CmpInst::ICMP_UGT:
    return Comparison{Below, Swap, !Either, !Negate};
  case CmpInst::ICMP_ULE:
    return Comparison{BelowEqual, !Swap, !Either, !Negate};
  case CmpInst::ICMP_UGE:
    return Comparison{BelowEqual, Swap, !Either, !Negate};
  // Or unordered: not the opposite.
  case CmpInst::FCMP_UGE:
    return Comparison{Less, !Swap, !Either, Negate};
  case CmpInst::FCMP_ULE:
    return Comparison{Less, Swap, !Either, Negate};
  case CmpInst::FCMP_UGT:
    return Comparison{LessEqual, !Swap, !Either, Negate};
  case CmpInst::FCMP_ULT:
    return Comparison{LessEqual, Swap, !Either, Negate};
  case CmpInst::FCMP_ONE:
    return Comparison{Less, !Swap, Either, !Negate};
  case CmpInst::FCMP_UEQ:
    return Comparison{Less, !Swap, Either, Negate};
  case CmpInst::FCMP_UNO:
    return Comparison{Unordered, !Swap, !Either, !Negate};
  case CmpInst::FCMP_ORD:
    return Comparison{Unordered, !Swap, !Either, Negate};
  default: // always, never
    return std::nullopt;
  }
}

// What the instruction tells of the lanes of its result, which selection would not know.
static SDValue extended(unsigned Opcode, SDValue Result, SelectionDAG &DAG, const SDLoc &DL) {
  if (Result.getValueType() != MVT::v32i32)
    return Result;
  bool Bytes = Opcode == Dougong::VWIDEN_U8 || Opcode == Dougong::VWIDEN_I8;
  SDValue Type = DAG.getValueType(Bytes ? MVT::i8 : MVT::i16);
  switch (Opcode) {
  case Dougong::VWIDEN_U8:
  case Dougong::VWIDEN_U16:
    return DAG.getNode(ISD::AssertZext, DL, MVT::v32i32, Result, Type);
  case Dougong::VWIDEN_I8:
  case Dougong::VWIDEN_I16:
    return DAG.getNode(ISD::AssertSext, DL, MVT::v32i32, Result, Type);
  }
  return Result;
}

Value *packed::callInstruction(IRBuilderBase &B, StringRef Record, ArrayRef<Value *> Operands, Type *Result) {
  SmallVector<Type *, 4> Types;
  for (Value *Operand : Operands)
    Types.push_back(Operand->getType());
  std::string Name = (CallPrefix + Record).str();
  auto *Signature = FunctionType::get(Result, Types, false);
  Module *M = B.GetInsertBlock()->getModule();
  for (unsigned Other = 1; M->getFunction(Name) && M->getFunction(Name)->getFunctionType() != Signature; ++Other)
    Name = (CallPrefix + Record + "." + Twine(Other)).str();
  auto *Callee = cast<Function>(M->getOrInsertFunction(Name, Signature).getCallee());
  Callee->setDoesNotAccessMemory();
  Callee->setDoesNotThrow();
  Callee->setWillReturn();
  Callee->addFnAttr(Attribute::Speculatable);
  Callee->addFnAttr(Attribute::NoCallback);
  Callee->addFnAttr(Attribute::NoFree);
  Callee->addFnAttr(Attribute::NoSync);
  return B.CreateCall(Callee, Operands);
}

SDValue packed::lowerCall(StringRef Name, TargetLowering::CallLoweringInfo &CLI, std::string &Why) {
  SelectionDAG &DAG = CLI.DAG;
  const TargetInstrInfo &TII = *DAG.getSubtarget().getInstrInfo();
  const TargetRegisterInfo &TRI = *DAG.getSubtarget().getRegisterInfo();
  StringRef Record = Name.drop_front(CallPrefix.size()).split('.').first;
  unsigned Opcode = 0;
  while (Opcode < TII.getNumOpcodes() && TII.getName(Opcode) != Record)
    ++Opcode;
  if (Opcode == TII.getNumOpcodes()) {
    Why = "there is no such instruction";
    return SDValue();
  }
  const MCInstrDesc &Desc = TII.get(Opcode);
  if (Desc.mayLoad() || Desc.mayStore() || Desc.hasUnmodeledSideEffects() || Desc.isBranch() || Desc.isPseudo() || Desc.getNumDefs() != 1) {
    Why = "an instruction that does more than compute one register cannot be called";
    return SDValue();
  }
  auto Fits = [&](unsigned Operand, EVT VT) {
    int Class = Desc.operands()[Operand].RegClass;
    return Class >= 0 && VT.isSimple() && TRI.isTypeLegalForClass(*TRI.getRegClass(Class), VT.getSimpleVT());
  };
  if (CLI.Ins.size() != 1 || CLI.OutVals.size() + 1 != Desc.getNumOperands()) {
    Why = ("takes " + Twine(Desc.getNumOperands() - 1) + " arguments and returns a register").str();
    return SDValue();
  }
  EVT Result = CLI.Ins[0].VT;
  if (!Fits(0, Result))
    Why = "the result has another type";
  SmallVector<SDValue, 4> Operands;
  for (SDValue Value : CLI.OutVals) {
    unsigned Operand = Operands.size() + 1;
    if (Desc.operands()[Operand].RegClass < 0) {
      if (auto *Number = dyn_cast<ConstantSDNode>(Value))
        Value = DAG.getTargetConstant(Number->getZExtValue() & 0xffffffff, CLI.DL, MVT::i64);
      else
        Why = ("argument " + Twine(Operand) + " must be a constant").str();
    } else if (!Fits(Operand, Value.getValueType())) {
      Why = ("argument " + Twine(Operand) + " has another type").str();
    }
    Operands.push_back(Value);
  }
  if (!Why.empty())
    return SDValue();
  return extended(Opcode, SDValue(DAG.getMachineNode(Opcode, CLI.DL, Result, Operands), 0), DAG, CLI.DL);
}
