// The table of elementwise operations. f16 and bf16 are computed in f32 and rounded once after each operation, which for
// + - * / and sqrt is the correctly rounded 16-bit result.
#include "compiler/npu/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;
using llvm::Intrinsic::ID;
using Values = llvm::ArrayRef<llvm::Value *>;
namespace In = llvm::Intrinsic;

namespace dougong::npu {
namespace {

bool isNarrowFloat(llvm::Type *type) { return type->getScalarType()->isHalfTy() || type->getScalarType()->isBFloatTy(); }

llvm::Type *withElement(llvm::Type *like, llvm::Type *element) {
  if (auto vector = dyn_cast<llvm::FixedVectorType>(like))
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  return element;
}

class Emitter {
public:
  Emitter(llvm::IRBuilderBase &b, Operation *op) : b(b), op(op) {}

  llvm::Value *emit(Values operands) {
    llvm::Type *result = elementType(op->getResult(0).getType(), b.getContext());
    if (!result)
      return nullptr;
    if (llvm::Value *value = conversion(operands, result))
      return value;
    if (!llvm::any_of(operands, [](llvm::Value *v) { return isNarrowFloat(v->getType()); }))
      return compute(operands);
    SmallVector<llvm::Value *> wide;
    for (llvm::Value *operand : operands)
      wide.push_back(widen(operand));
    llvm::Value *value = compute(wide);
    if (!value || !isNarrowFloat(result))
      return value;
    return b.CreateFPTrunc(value, withElement(value->getType(), result));
  }

private:
  llvm::Value *widen(llvm::Value *value) {
    return isNarrowFloat(value->getType()) ? b.CreateFPExt(value, withElement(value->getType(), b.getFloatTy())) : value;
  }

  llvm::Value *call(ID id, Values operands) { return b.CreateIntrinsic(operands[0]->getType(), id, operands); }

  llvm::Value *number(llvm::Value *like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

  // exp2, log2 and tanh exist on vectors only; one element goes through a vector's first lane.
  llvm::Value *vectorOnly(ID id, llvm::Value *value) {
    if (value->getType()->isVectorTy())
      return call(id, {value});
    if (!value->getType()->isFloatTy())
      return nullptr;
    auto *type = llvm::FixedVectorType::get(b.getFloatTy(), vectorLanes);
    llvm::Value *vector = b.CreateVectorSplat(vectorLanes, value);
    return b.CreateExtractElement(b.CreateIntrinsic(type, id, {vector}), uint64_t(0));
  }

  // Between element types: through f32 where a 16-bit float takes part, through i32 where a small integer meets a float.
  llvm::Value *conversion(Values operands, llvm::Type *result) {
    if (operands.empty())
      return nullptr;
    llvm::Value *in = operands[0];
    llvm::Type *to = withElement(in->getType(), result);
    llvm::Type *i32 = withElement(in->getType(), b.getInt32Ty());
    unsigned inBits = in->getType()->getScalarSizeInBits(), outBits = result->getScalarSizeInBits();
    return TypeSwitch<Operation *, llvm::Value *>(op)
        .Case([&](arith::ExtFOp) { return b.CreateFPExt(in, to); })
        .Case([&](arith::TruncFOp) { return b.CreateFPTrunc(in, to); })
        .Case([&](arith::ExtSIOp) { return b.CreateSExt(in, to); })
        .Case([&](arith::ExtUIOp) { return b.CreateZExt(in, to); })
        .Case([&](arith::TruncIOp) { return b.CreateTrunc(in, to); })
        .Case([&](arith::IndexCastOp) { return b.CreateSExtOrTrunc(in, to); })
        .Case([&](arith::IndexCastUIOp) { return b.CreateZExtOrTrunc(in, to); })
        .Case([&](arith::BitcastOp) { return b.CreateBitCast(in, to); })
        .Case([&](arith::SIToFPOp) { return fromInteger(inBits < 32 ? b.CreateSExt(in, i32) : in, to, true); })
        .Case([&](arith::UIToFPOp) { return fromInteger(inBits < 32 ? b.CreateZExt(in, i32) : in, to, inBits < 32); })
        .Case([&](arith::FPToSIOp) {
          return outBits < 32 ? b.CreateTrunc(b.CreateFPToSI(widen(in), i32), to) : b.CreateFPToSI(widen(in), to);
        })
        .Case([&](arith::FPToUIOp) {
          return outBits < 32 ? b.CreateTrunc(b.CreateFPToSI(widen(in), i32), to) : b.CreateFPToUI(widen(in), to);
        })
        .Default([](Operation *) { return nullptr; });
  }

  llvm::Value *fromInteger(llvm::Value *in, llvm::Type *to, bool isSigned) {
    llvm::Type *wide = isNarrowFloat(to) ? withElement(to, b.getFloatTy()) : to;
    llvm::Value *value = isSigned ? b.CreateSIToFP(in, wide) : b.CreateUIToFP(in, wide);
    return wide == to ? value : b.CreateFPTrunc(value, to);
  }

  llvm::Value *compare(arith::CmpFOp compare, Values in) {
    static const llvm::CmpInst::Predicate table[] = {
        llvm::CmpInst::FCMP_FALSE, llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::FCMP_OGT, llvm::CmpInst::FCMP_OGE,
        llvm::CmpInst::FCMP_OLT,   llvm::CmpInst::FCMP_OLE, llvm::CmpInst::FCMP_ONE, llvm::CmpInst::FCMP_ORD,
        llvm::CmpInst::FCMP_UEQ,   llvm::CmpInst::FCMP_UGT, llvm::CmpInst::FCMP_UGE, llvm::CmpInst::FCMP_ULT,
        llvm::CmpInst::FCMP_ULE,   llvm::CmpInst::FCMP_UNE, llvm::CmpInst::FCMP_UNO, llvm::CmpInst::FCMP_TRUE};
    return b.CreateFCmp(table[int(compare.getPredicate())], in[0], in[1]);
  }

  llvm::Value *compare(arith::CmpIOp compare, Values in) {
    static const llvm::CmpInst::Predicate table[] = {
        llvm::CmpInst::ICMP_EQ,  llvm::CmpInst::ICMP_NE,  llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_SLE, llvm::CmpInst::ICMP_SGT,
        llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULE, llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGE};
    return b.CreateICmp(table[int(compare.getPredicate())], in[0], in[1]);
  }

  // exp(x) = exp2(t) * (1 + e ln 2), where t = round(x log2 e) and e = x log2 e - t is what rounding lost, by a fused
  // multiply-add and the low part of log2 e. The clamp keeps infinities away from e; beyond it exp is 0 or infinite anyway.
  llvm::Value *exp(llvm::Value *x) {
    x = call(In::maximum, {call(In::minimum, {x, number(x, 89.0)}), number(x, -104.0)});
    const float log2e = 1.44269504088896340736f;
    llvm::Value *t = b.CreateFMul(x, number(x, log2e));
    llvm::Value *lost = call(In::fma, {x, number(x, log2e), b.CreateFNeg(t)});
    lost = call(In::fma, {x, number(x, 1.44269504088896340736 - double(log2e)), lost});
    llvm::Value *power = vectorOnly(In::exp2, t);
    return power ? b.CreateFMul(power, call(In::fma, {lost, number(x, 0.693147180559945309), number(x, 1.0)})) : nullptr;
  }

  llvm::Value *logarithm(llvm::Value *x, double base) {
    llvm::Value *log2 = vectorOnly(In::log2, x);
    return log2 ? b.CreateFMul(log2, number(x, base)) : nullptr;
  }

  // x^y for the two cases there are: x > 0 by exp2(y log2 x), and x <= 0, where y must be whole and its parity is the sign.
  llvm::Value *power(llvm::Value *x, llvm::Value *y) {
    llvm::Value *log2 = vectorOnly(In::log2, call(In::fabs, {x}));
    if (!log2)
      return nullptr;
    llvm::Value *magnitude = vectorOnly(In::exp2, b.CreateFMul(y, log2));
    llvm::Value *zero = number(x, 0), *one = number(x, 1);
    llvm::Value *half = b.CreateFMul(y, number(x, 0.5));
    llvm::Value *odd = b.CreateFCmpUNE(call(In::floor, {half}), half);
    llvm::Value *whole = b.CreateFCmpOEQ(call(In::floor, {y}), y);
    llvm::Value *negative = b.CreateSelect(odd, b.CreateFNeg(magnitude), magnitude);
    negative = b.CreateSelect(whole, negative, number(x, std::numeric_limits<double>::quiet_NaN()));
    llvm::Value *result = b.CreateSelect(b.CreateFCmpOLT(x, zero), negative, magnitude);
    return b.CreateSelect(b.CreateFCmpOEQ(y, zero), one, result);
  }

  // x multiplied by itself, by squaring; a constant exponent unrolls.
  llvm::Value *wholePower(llvm::Value *x, llvm::Value *exponent) {
    auto *constant = dyn_cast<llvm::Constant>(exponent);
    if (constant && constant->getType()->isVectorTy())
      constant = constant->getSplatValue();
    auto *number = dyn_cast_or_null<llvm::ConstantInt>(constant);
    if (!number || number->getSExtValue() < 0 || number->getSExtValue() > 64)
      return nullptr;
    bool isFloat = x->getType()->isFPOrFPVectorTy();
    llvm::Value *result = nullptr;
    for (int64_t n = number->getSExtValue(); n; n >>= 1) {
      if (n & 1)
        result = !result ? x : isFloat ? b.CreateFMul(result, x) : b.CreateMul(result, x);
      x = isFloat ? b.CreateFMul(x, x) : b.CreateMul(x, x);
    }
    return result ? result : isFloat ? this->number(x, 1) : llvm::ConstantInt::get(x->getType(), 1);
  }

  llvm::Value *ceilDivide(Values in) { // toward +inf, signed
    llvm::Value *quotient = b.CreateSDiv(in[0], in[1]), *rest = b.CreateSRem(in[0], in[1]);
    llvm::Value *zero = llvm::Constant::getNullValue(rest->getType());
    llvm::Value *up = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSGE(b.CreateXor(rest, in[1]), zero));
    return b.CreateAdd(quotient, b.CreateZExt(up, quotient->getType()));
  }

  llvm::Value *floorDivide(Values in) {
    llvm::Value *quotient = b.CreateSDiv(in[0], in[1]), *rest = b.CreateSRem(in[0], in[1]);
    llvm::Value *zero = llvm::Constant::getNullValue(rest->getType());
    llvm::Value *down = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(rest, in[1]), zero));
    return b.CreateSub(quotient, b.CreateZExt(down, quotient->getType()));
  }

  // a - b * trunc(a / b), right for quotients that f32 holds.
  llvm::Value *remainder(Values in) {
    if (!in[0]->getType()->getScalarType()->isFloatTy())
      return nullptr;
    llvm::Value *quotient = call(In::trunc, {b.CreateFDiv(in[0], in[1])});
    return call(In::fma, {b.CreateFNeg(quotient), in[1], in[0]});
  }

  llvm::Value *compute(Values in) {
    auto is = [&](auto create) { return [create](auto) -> llvm::Value * { return create(); }; };
    return TypeSwitch<Operation *, llvm::Value *>(op)
        .Case<arith::AddFOp>(is([&] { return b.CreateFAdd(in[0], in[1]); }))
        .Case<arith::SubFOp>(is([&] { return b.CreateFSub(in[0], in[1]); }))
        .Case<arith::MulFOp>(is([&] { return b.CreateFMul(in[0], in[1]); }))
        .Case<arith::DivFOp>(is([&] { return b.CreateFDiv(in[0], in[1]); }))
        .Case<arith::RemFOp>(is([&] { return remainder(in); }))
        .Case<arith::NegFOp>(is([&] { return b.CreateFNeg(in[0]); }))
        .Case<arith::MaximumFOp>(is([&] { return call(In::maximum, in); }))
        .Case<arith::MinimumFOp>(is([&] { return call(In::minimum, in); }))
        .Case<arith::MaxNumFOp>(is([&] { return call(In::maxnum, in); }))
        .Case<arith::MinNumFOp>(is([&] { return call(In::minnum, in); }))
        .Case<arith::AddIOp>(is([&] { return b.CreateAdd(in[0], in[1]); }))
        .Case<arith::SubIOp>(is([&] { return b.CreateSub(in[0], in[1]); }))
        .Case<arith::MulIOp>(is([&] { return b.CreateMul(in[0], in[1]); }))
        .Case<arith::DivSIOp>(is([&] { return b.CreateSDiv(in[0], in[1]); }))
        .Case<arith::DivUIOp>(is([&] { return b.CreateUDiv(in[0], in[1]); }))
        .Case<arith::RemSIOp>(is([&] { return b.CreateSRem(in[0], in[1]); }))
        .Case<arith::RemUIOp>(is([&] { return b.CreateURem(in[0], in[1]); }))
        .Case<arith::CeilDivSIOp>(is([&] { return ceilDivide(in); }))
        .Case<arith::FloorDivSIOp>(is([&] { return floorDivide(in); }))
        .Case<arith::CeilDivUIOp>(is([&] {
          llvm::Value *rest = b.CreateICmpNE(b.CreateURem(in[0], in[1]), llvm::Constant::getNullValue(in[0]->getType()));
          return b.CreateAdd(b.CreateUDiv(in[0], in[1]), b.CreateZExt(rest, in[0]->getType()));
        }))
        .Case<arith::AndIOp>(is([&] { return b.CreateAnd(in[0], in[1]); }))
        .Case<arith::OrIOp>(is([&] { return b.CreateOr(in[0], in[1]); }))
        .Case<arith::XOrIOp>(is([&] { return b.CreateXor(in[0], in[1]); }))
        .Case<arith::ShLIOp>(is([&] { return b.CreateShl(in[0], in[1]); }))
        .Case<arith::ShRSIOp>(is([&] { return b.CreateAShr(in[0], in[1]); }))
        .Case<arith::ShRUIOp>(is([&] { return b.CreateLShr(in[0], in[1]); }))
        .Case<arith::MaxSIOp>(is([&] { return call(In::smax, in); }))
        .Case<arith::MinSIOp>(is([&] { return call(In::smin, in); }))
        .Case<arith::MaxUIOp>(is([&] { return call(In::umax, in); }))
        .Case<arith::MinUIOp>(is([&] { return call(In::umin, in); }))
        .Case<arith::CmpFOp, arith::CmpIOp>([&](auto op) { return compare(op, in); })
        .Case<arith::SelectOp>(is([&] { return b.CreateSelect(in[0], in[1], in[2]); }))
        .Case<math::AbsFOp>(is([&] { return call(In::fabs, in); }))
        .Case<math::AbsIOp>(is([&] { return b.CreateIntrinsic(in[0]->getType(), In::abs, {in[0], b.getFalse()}); }))
        .Case<math::SqrtOp>(is([&] { return call(In::sqrt, in); }))
        .Case<math::RsqrtOp>(is([&] { return b.CreateFDiv(number(in[0], 1), call(In::sqrt, in)); }))
        .Case<math::FmaOp>(is([&] { return call(In::fma, in); }))
        .Case<math::FloorOp>(is([&] { return call(In::floor, in); }))
        .Case<math::CeilOp>(is([&] { return call(In::ceil, in); }))
        .Case<math::TruncOp>(is([&] { return call(In::trunc, in); }))
        .Case<math::RoundEvenOp>(is([&] { return call(In::roundeven, in); }))
        .Case<math::RoundOp>(is([&] { // halves away from zero
          llvm::Value *magnitude = call(In::fabs, in);
          llvm::Value *down = call(In::floor, {magnitude});
          llvm::Value *up = b.CreateFCmpOGE(b.CreateFSub(magnitude, down), number(magnitude, 0.5));
          llvm::Value *rounded = b.CreateSelect(up, b.CreateFAdd(down, number(down, 1)), down);
          return b.CreateSelect(b.CreateFCmpOLT(in[0], number(in[0], 0)), b.CreateFNeg(rounded), rounded);
        }))
        .Case<math::CopySignOp>(is([&] { return copySign(in); }))
        .Case<math::ExpOp>(is([&]() -> llvm::Value * { return in[0]->getType()->getScalarType()->isFloatTy() ? exp(in[0]) : nullptr; }))
        .Case<math::Exp2Op>(is([&] { return vectorOnly(In::exp2, in[0]); }))
        .Case<math::LogOp>(is([&] { return logarithm(in[0], 0.693147180559945309); }))
        .Case<math::Log2Op>(is([&] { return vectorOnly(In::log2, in[0]); }))
        .Case<math::Log10Op>(is([&] { return logarithm(in[0], 0.301029995663981195); }))
        .Case<math::TanhOp>(is([&] { return vectorOnly(In::tanh, in[0]); }))
        .Case<math::PowFOp>(is([&] { return power(in[0], in[1]); }))
        .Case<math::FPowIOp, math::IPowIOp>(is([&] { return wholePower(in[0], in[1]); }))
        .Case<math::IsNaNOp>(is([&] { return b.CreateFCmpUNO(in[0], in[0]); }))
        .Case<math::IsInfOp>(
            is([&] { return b.CreateFCmpOEQ(call(In::fabs, in), number(in[0], std::numeric_limits<double>::infinity())); }))
        .Case<math::IsFiniteOp>(
            is([&] { return b.CreateFCmpONE(call(In::fabs, in), number(in[0], std::numeric_limits<double>::infinity())); }))
        .Case<math::CtPopOp>(is([&] { return call(In::ctpop, in); }))
        .Case<math::CountLeadingZerosOp>(is([&] { return b.CreateIntrinsic(in[0]->getType(), In::ctlz, {in[0], b.getFalse()}); }))
        .Case<math::CountTrailingZerosOp>(is([&] { return b.CreateIntrinsic(in[0]->getType(), In::cttz, {in[0], b.getFalse()}); }))
        .Default([](Operation *) { return nullptr; });
  }

  llvm::Value *copySign(Values in) {
    llvm::Type *bits = withElement(in[0]->getType(), b.getIntNTy(in[0]->getType()->getScalarSizeInBits()));
    llvm::APInt sign = llvm::APInt::getSignMask(bits->getScalarSizeInBits());
    llvm::Value *magnitude = b.CreateAnd(b.CreateBitCast(in[0], bits), llvm::ConstantInt::get(bits, ~sign));
    llvm::Value *signOf = b.CreateAnd(b.CreateBitCast(in[1], bits), llvm::ConstantInt::get(bits, sign));
    return b.CreateBitCast(b.CreateOr(magnitude, signOf), in[0]->getType());
  }

  llvm::IRBuilderBase &b;
  Operation *op;
};

} // namespace

llvm::Type *elementType(mlir::Type type, llvm::LLVMContext &context, int lanes) {
  llvm::Type *element = nullptr;
  if (type.isIndex())
    element = llvm::Type::getInt64Ty(context);
  else if (auto integer = dyn_cast<IntegerType>(type))
    element = llvm::Type::getIntNTy(context, integer.getWidth());
  else if (type.isF16())
    element = llvm::Type::getHalfTy(context);
  else if (type.isBF16())
    element = llvm::Type::getBFloatTy(context);
  else if (type.isF32())
    element = llvm::Type::getFloatTy(context);
  else if (type.isF64())
    element = llvm::Type::getDoubleTy(context);
  if (!element || lanes == 1)
    return element;
  return llvm::FixedVectorType::get(element, lanes);
}

llvm::Value *splat(llvm::IRBuilderBase &builder, llvm::Value *value, int lanes) {
  return lanes == 1 || value->getType()->isVectorTy() ? value : builder.CreateVectorSplat(lanes, value);
}

llvm::Value *emitElementwise(llvm::IRBuilderBase &builder, Operation *op, Values operands) {
  if (op->getNumResults() != 1)
    return nullptr;
  SmallVector<llvm::Value *> same;
  bool vector = llvm::any_of(operands, [](llvm::Value *v) { return v->getType()->isVectorTy(); });
  for (llvm::Value *operand : operands)
    same.push_back(splat(builder, operand, vector ? vectorLanes : 1));
  return Emitter(builder, op).emit(same);
}

llvm::Constant *emitConstant(Attribute attribute, llvm::LLVMContext &context) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    llvm::Type *type = elementType(integer.getType(), context);
    return type ? llvm::ConstantInt::get(type, integer.getValue().sextOrTrunc(type->getIntegerBitWidth())) : nullptr;
  }
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    llvm::Type *type = elementType(real.getType(), context);
    return type ? llvm::ConstantFP::get(type, real.getValue()) : nullptr;
  }
  return nullptr;
}

} // namespace dougong::npu
