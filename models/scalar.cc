// How each operator of `scalar.h` is written in arith and math.
#include "models/scalar.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "models/model_error.h"

namespace dougong::models {
using namespace mlir;

Type mlir_type(MLIRContext *context, ElementType type) {
  switch (type) {
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::Bool:
    return IntegerType::get(context, 1);
  default:
    return IntegerType::get(context, size_in_bytes(type) * 8);
  }
}

static TypedAttr number(Type type, double real, int64_t integer) {
  if (auto f = dyn_cast<FloatType>(type))
    return FloatAttr::get(f, real);
  if (type.isInteger(1))
    return BoolAttr::get(type.getContext(), integer != 0);
  return IntegerAttr::get(type, isa<IndexType>(type) ? APInt(64, integer, true) : APInt(type.getIntOrFloatBitWidth(), integer, true, true));
}

static Scalar literal(ImplicitLocOpBuilder &builder, Type type, ElementType element, double real, int64_t integer) {
  return {&builder, arith::ConstantOp::create(builder, number(type, real, integer)), element, isa<IndexType>(type)};
}

Scalar Scalar::like(double number) const { return literal(*builder, value.getType(), type, number, truncated(number)); }
Scalar Scalar::like_integer(int64_t number) const { return literal(*builder, value.getType(), type, double(number), number); }

Scalar constant(ImplicitLocOpBuilder &builder, ElementType type, double value) {
  bool negative_infinity = value == -std::numeric_limits<double>::infinity(), infinity = value == std::numeric_limits<double>::infinity();
  int64_t integer = negative_infinity || infinity ? 0 : truncated(value);
  if (!is_float(type) && (infinity || negative_infinity)) { // the type's own lowest and highest
    unsigned bits = type == ElementType::Bool ? 1 : size_in_bytes(type) * 8;
    APInt limit = is_unsigned(type) ? (infinity ? APInt::getMaxValue(bits) : APInt::getMinValue(bits))
                                    : (infinity ? APInt::getSignedMaxValue(bits) : APInt::getSignedMinValue(bits));
    integer = is_unsigned(type) ? int64_t(limit.getZExtValue()) : limit.getSExtValue();
  }
  return literal(builder, mlir_type(builder.getContext(), type), type, value, integer);
}

Scalar constant_element(ImplicitLocOpBuilder &builder, const Tensor &tensor, int64_t i) {
  return literal(builder, mlir_type(builder.getContext(), tensor.type), tensor.type, is_float(tensor.type) ? real_at(tensor, i) : 0,
                 is_float(tensor.type) ? 0 : integer_at(tensor, i));
}

template <typename Float, typename Signed, typename Unsigned = Signed> static Scalar arithmetic(Scalar a, Scalar b) {
  if (is_float(a.type))
    return a.with(Float::create(*a.builder, a.value, b.value));
  if (is_unsigned(a.type))
    return a.with(Unsigned::create(*a.builder, a.value, b.value));
  return a.with(Signed::create(*a.builder, a.value, b.value));
}

Scalar operator+(Scalar a, Scalar b) { return arithmetic<arith::AddFOp, arith::AddIOp>(a, b); }
Scalar operator-(Scalar a, Scalar b) { return arithmetic<arith::SubFOp, arith::SubIOp>(a, b); }
Scalar operator*(Scalar a, Scalar b) { return arithmetic<arith::MulFOp, arith::MulIOp>(a, b); }
Scalar operator/(Scalar a, Scalar b) { return arithmetic<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(a, b); }
Scalar remainder(Scalar a, Scalar b) { return arithmetic<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(a, b); }
Scalar minimum(Scalar a, Scalar b) { return arithmetic<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(a, b); }
Scalar maximum(Scalar a, Scalar b) { return arithmetic<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(a, b); }

Scalar operator-(Scalar a) {
  if (is_float(a.type))
    return a.with(arith::NegFOp::create(*a.builder, a.value));
  return a.like(0) - a;
}

Scalar floor_modulo(Scalar a, Scalar b) {
  Scalar r = remainder(a, b);
  if (is_unsigned(a.type))
    return r;
  Scalar zero = r.like(0);
  return select((r != zero) & ((r < zero) ^ (b < zero)), r + b, r);
}

static Scalar compare(Scalar a, Scalar b, arith::CmpFPredicate ordered, arith::CmpIPredicate sign, arith::CmpIPredicate no_sign) {
  Value result;
  if (is_float(a.type))
    result = arith::CmpFOp::create(*a.builder, ordered, a.value, b.value);
  else
    result = arith::CmpIOp::create(*a.builder, is_unsigned(a.type) ? no_sign : sign, a.value, b.value);
  return {a.builder, result, ElementType::Bool};
}

using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
Scalar operator<(Scalar a, Scalar b) { return compare(a, b, F::OLT, I::slt, I::ult); }
Scalar operator<=(Scalar a, Scalar b) { return compare(a, b, F::OLE, I::sle, I::ule); }
Scalar operator>(Scalar a, Scalar b) { return compare(a, b, F::OGT, I::sgt, I::ugt); }
Scalar operator>=(Scalar a, Scalar b) { return compare(a, b, F::OGE, I::sge, I::uge); }
Scalar operator==(Scalar a, Scalar b) { return compare(a, b, F::OEQ, I::eq, I::eq); }
Scalar operator!=(Scalar a, Scalar b) { return compare(a, b, F::UNE, I::ne, I::ne); }

Scalar operator&(Scalar a, Scalar b) { return a.with(arith::AndIOp::create(*a.builder, a.value, b.value)); }
Scalar operator|(Scalar a, Scalar b) { return a.with(arith::OrIOp::create(*a.builder, a.value, b.value)); }
Scalar operator^(Scalar a, Scalar b) { return a.with(arith::XOrIOp::create(*a.builder, a.value, b.value)); }
Scalar operator~(Scalar a) { return a ^ a.like_integer(-1); }

Scalar shift_left(Scalar a, Scalar b) { // by the width or more: 0, which LLVM leaves undefined
  Scalar width = a.like_integer(a.value.getType().getIntOrFloatBitWidth());
  return select(b < width, a.with(arith::ShLIOp::create(*a.builder, a.value, b.value)), a.like(0));
}
Scalar shift_right(Scalar a, Scalar b) {
  Scalar width = a.like_integer(a.value.getType().getIntOrFloatBitWidth());
  return select(b < width, a.with(arith::ShRUIOp::create(*a.builder, a.value, b.value)), a.like(0));
}

Scalar select(Scalar condition, Scalar a, Scalar b) {
  return a.with(arith::SelectOp::create(*a.builder, condition.value, a.value, b.value));
}

Scalar abs(Scalar a) {
  if (is_float(a.type))
    return a.with(math::AbsFOp::create(*a.builder, a.value));
  return is_unsigned(a.type) ? a : a.with(math::AbsIOp::create(*a.builder, a.value));
}

template <typename Op> static Scalar function(Scalar a) { return a.with(Op::create(*a.builder, a.value)); }
Scalar exp(Scalar a) { return function<math::ExpOp>(a); }
Scalar log(Scalar a) { return function<math::LogOp>(a); }
Scalar log1p(Scalar a) { return function<math::Log1pOp>(a); }
Scalar sqrt(Scalar a) { return function<math::SqrtOp>(a); }
Scalar tanh(Scalar a) { return function<math::TanhOp>(a); }
Scalar erf(Scalar a) { return function<math::ErfOp>(a); }
Scalar sin(Scalar a) { return function<math::SinOp>(a); }
Scalar cos(Scalar a) { return function<math::CosOp>(a); }
Scalar tan(Scalar a) { return function<math::TanOp>(a); }
Scalar asin(Scalar a) { return function<math::AsinOp>(a); }
Scalar acos(Scalar a) { return function<math::AcosOp>(a); }
Scalar atan(Scalar a) { return function<math::AtanOp>(a); }
Scalar sinh(Scalar a) { return function<math::SinhOp>(a); }
Scalar cosh(Scalar a) { return function<math::CoshOp>(a); }
Scalar asinh(Scalar a) { return function<math::AsinhOp>(a); }
Scalar acosh(Scalar a) { return function<math::AcoshOp>(a); }
Scalar atanh(Scalar a) { return function<math::AtanhOp>(a); }
Scalar floor(Scalar a) { return is_float(a.type) ? function<math::FloorOp>(a) : a; }
Scalar ceil(Scalar a) { return is_float(a.type) ? function<math::CeilOp>(a) : a; }
Scalar round_even(Scalar a) { return is_float(a.type) ? function<math::RoundEvenOp>(a) : a; }
Scalar pow(Scalar a, Scalar b) { return a.with(math::PowFOp::create(*a.builder, a.value, b.value)); }

Scalar convert(Scalar a, ElementType type) {
  if (a.index)
    return convert_from_index(a, type);
  if (a.type == type)
    return a;
  ImplicitLocOpBuilder &b = *a.builder;
  Type to = mlir_type(b.getContext(), type);
  unsigned from_bits = a.value.getType().getIntOrFloatBitWidth(), to_bits = to.getIntOrFloatBitWidth();
  auto made = [&](Value value) { return Scalar{a.builder, value, type}; };
  if (type == ElementType::Bool)
    return a != a.like(0);
  if (is_float(a.type) && is_float(type)) {
    if (from_bits == to_bits) // f16 and bf16 meet in f32
      return convert(convert(a, ElementType::F32), type);
    return made(from_bits < to_bits ? Value(arith::ExtFOp::create(b, to, a.value)) : Value(arith::TruncFOp::create(b, to, a.value)));
  }
  if (is_float(a.type)) {
    if (to_bits < 32) // a narrow integer keeps the low bits, as C and numpy do it
      return convert(convert(a, ElementType::I32), type);
    if (is_unsigned(type) && to_bits == 32)
      return convert(convert(a, ElementType::I64), type);
    return made(is_unsigned(type) ? Value(arith::FPToUIOp::create(b, to, a.value)) : Value(arith::FPToSIOp::create(b, to, a.value)));
  }
  bool no_sign = is_unsigned(a.type);
  if (is_float(type))
    return made(no_sign ? Value(arith::UIToFPOp::create(b, to, a.value)) : Value(arith::SIToFPOp::create(b, to, a.value)));
  if (from_bits == to_bits)
    return made(a.value);
  if (from_bits > to_bits)
    return made(arith::TruncIOp::create(b, to, a.value));
  return made(no_sign ? Value(arith::ExtUIOp::create(b, to, a.value)) : Value(arith::ExtSIOp::create(b, to, a.value)));
}

Scalar convert_to_index(Scalar a) {
  if (a.index)
    return a;
  if (is_float(a.type))
    invalid("indices of type {}, integers are wanted", name(a.type));
  Type index = IndexType::get(a.builder->getContext());
  Value value = is_unsigned(a.type) ? Value(arith::IndexCastUIOp::create(*a.builder, index, a.value))
                                    : Value(arith::IndexCastOp::create(*a.builder, index, a.value));
  return {a.builder, value, ElementType::I64, true};
}

Scalar convert_from_index(Scalar a, ElementType type) {
  Scalar integer{a.builder, arith::IndexCastOp::create(*a.builder, IntegerType::get(a.builder->getContext(), 64), a.value),
                 ElementType::I64};
  return convert(integer, type);
}

} // namespace dougong::models
