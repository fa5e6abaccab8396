// Elementwise functions: of one number, of two, choices, fused multiply-adds, conversions.
#include "language/Emitter.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace dougong::language;

using FunctionOfOne = mlir::Value (*)(OpBuilder &, Location, mlir::Value);

template <typename Op> static mlir::Value apply(OpBuilder &b, Location l, mlir::Value x) { return b.createOrFold<Op>(l, x); }

static const llvm::StringMap<FunctionOfOne> &functionsOfOne() {
  static const llvm::StringMap<FunctionOfOne> table = {
      {"exp", apply<math::ExpOp>},     {"exp2", apply<math::Exp2Op>},      {"log", apply<math::LogOp>},
      {"log2", apply<math::Log2Op>},   {"sqrt", apply<math::SqrtOp>},      {"sqrt_rn", apply<math::SqrtOp>},
      {"rsqrt", apply<math::RsqrtOp>}, {"sin", apply<math::SinOp>},        {"cos", apply<math::CosOp>},
      {"tan", apply<math::TanOp>},     {"tanh", apply<math::TanhOp>},      {"erf", apply<math::ErfOp>},
      {"floor", apply<math::FloorOp>}, {"ceil", apply<math::CeilOp>},      {"log10", apply<math::Log10Op>},
      {"round", apply<math::RoundOp>}, {"rint", apply<math::RoundEvenOp>}, {"trunc", apply<math::TruncOp>},
      {"log1p", apply<math::Log1pOp>}, {"expm1", apply<math::ExpM1Op>},    {"atan", apply<math::AtanOp>},
      {"asin", apply<math::AsinOp>},   {"acos", apply<math::AcosOp>},      {"sinh", apply<math::SinhOp>},
      {"cosh", apply<math::CoshOp>},
  };
  return table;
}

Term Emitter::mathBuiltin(const std::string &name, Arguments &a) {
  Tile x = toTile(a[0], DType{DType::Float, 32});
  if (!x.type.isFloat())
    x = cast(x, {DType::Float, 32});
  return Term::of(Tile{x.type, x.shape, functionsOfOne().at(name)(builder, loc, tensor(x)), {}, {}});
}

Term Emitter::binaryMathBuiltin(const std::string &name, Arguments &a) {
  if (name == "cdiv") {
    if (a[0].isConstant() && a[1].isConstant())
      return Term::of((a[0].integer + a[1].integer - 1) / a[1].integer);
    return binary("//", binary("-", binary("+", a[0], a[1]), Term::of(int64_t(1))), a[1]);
  }
  if (name == "fdiv" || name == "div_rn")
    return binary("/", a[0], a[1]);
  auto [x, y] = alike(a[0], a[1]);
  if ((name == "pow" || name == "atan2" || name == "fmod" || name == "copysign") && !x.type.isFloat()) {
    x = cast(x, {DType::Float, 32});
    y = cast(y, {DType::Float, 32});
  }
  mlir::Value l = tensor(x), r = tensor(y);
  auto done = [&](mlir::Value v) { return Term::of(Tile{x.type, x.shape, v, {}, {}}); };
  if (name == "pow")
    return done(make<math::PowFOp>(l, r));
  if (name == "atan2")
    return done(make<math::Atan2Op>(l, r));
  if (name == "copysign")
    return done(make<math::CopySignOp>(l, r));
  if (name == "fmod")
    return done(make<arith::RemFOp>(l, r));
  bool max = name == "maximum", isUnsigned = x.type.kind == DType::UInt;
  if (x.type.isFloat()) { // NaN is ignored unless it is to be propagated
    bool propagate = a[2].kind != Term::None && known(a[2]).value_or(false);
    if (propagate)
      return done(max ? make<arith::MaximumFOp>(l, r) : make<arith::MinimumFOp>(l, r));
    return done(max ? make<arith::MaxNumFOp>(l, r) : make<arith::MinNumFOp>(l, r));
  }
  if (isUnsigned)
    return done(max ? make<arith::MaxUIOp>(l, r) : make<arith::MinUIOp>(l, r));
  return done(max ? make<arith::MaxSIOp>(l, r) : make<arith::MinSIOp>(l, r));
}

Term Emitter::whereBuiltin(const std::string &, Arguments &a) {
  auto [x, y] = alike(a[1], a[2]);
  Tile condition = cast(toTile(a[0]), {DType::Int, 1});
  Shape shape = commonShape(condition.shape, x.shape);
  mlir::Value c = condition.shape.empty() ? condition.value : tensor(broadcast(condition, shape));
  mlir::Value value = make<arith::SelectOp>(c, tensor(broadcast(x, shape)), tensor(broadcast(y, shape)));
  return Term::of(Tile{x.type, shape, value, {}, {}});
}

Term Emitter::clampBuiltin(const std::string &, Arguments &a) {
  Arguments low{a[0], a[1], a[3]};
  Arguments high{binaryMathBuiltin("maximum", low), a[2], a[3]};
  return binaryMathBuiltin("minimum", high);
}

Term Emitter::fmaBuiltin(const std::string &, Arguments &a) {
  auto [x, y] = alike(a[0], a[1]);
  auto [p, z] = alike(Term::of(x), a[2]);
  y = broadcast(cast(y, p.type), p.shape);
  if (!p.type.isFloat())
    return binary("+", binary("*", Term::of(p), Term::of(y)), Term::of(z));
  return Term::of(Tile{p.type, p.shape, make<math::FmaOp>(tensor(p), tensor(y), tensor(z)), {}, {}});
}

// The upper half of a product of unsigned numbers, in 32-bit steps of vector code: by 16-bit halves.
//   (a·2^16 + b)(c·2^16 + d) = ac·2^32 + (ad + bc)·2^16 + bd
Term Emitter::umulhiBuiltin(const std::string &name, Arguments &args) {
  auto [x, y] = alike(args[0], args[1]);
  if (!x.type.isInt() || x.type.bits != 32)
    fail(fmt::format("{} takes integers of 32 bits, not {}", name, x.type.name()));
  DType u32{DType::UInt, 32};
  Term X = Term::of(cast(x, u32)), Y = Term::of(cast(y, u32)), half = Term::of(int64_t(16)), low = Term::of(int64_t(0xffff));
  Term a = binary(">>", X, half), b = binary("&", X, low), c = binary(">>", Y, half), d = binary("&", Y, low);
  Term ad = binary("*", a, d), bc = binary("*", b, c);
  Term carry = binary("+", binary(">>", binary("*", b, d), half), binary("+", binary("&", ad, low), binary("&", bc, low)));
  Term sum = binary("+", binary(">>", ad, half), binary(">>", bc, half));
  Term high = binary("+", binary("*", a, c), binary("+", sum, binary(">>", carry, half)));
  return Term::of(cast(high.tile, x.type));
}

Term Emitter::castBuiltin(const std::string &, Arguments &a) {
  if (a[1].kind == Term::Type && a[1].pointerType)
    fail("casts to a pointer type are not supported yet; pass the pointer as an argument");
  DType type = dtypeOf(a[1], "the type to convert to");
  if (a[0].isConstant())
    return Term::of(constantTile(a[0], type));
  if (known(a[3]).value_or(false))
    return Term::of(bitcast(toTile(a[0]), type));
  return Term::of(cast(toTile(a[0]), type));
}
