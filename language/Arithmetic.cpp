// Types and their promotion, elementwise operations, and the arithmetic of tiles that are still affine or a box.
#include "language/Emitter.h"

using namespace mlir;
using namespace dougong::language;

void Emitter::move(Position where) {
  if (where.line == 0 || module == &library) // what happens in the library is reported at its call
    return;
  position = where;
  loc = FileLineColLoc::get(builder.getContext(), source.name, where.line, where.column);
}

mlir::Type Emitter::typeOf(DType type) {
  switch (type.kind) {
  case DType::Int:
  case DType::UInt:
    return builder.getIntegerType(type.bits);
  case DType::Float:
    return type.bits == 16 ? mlir::Type(builder.getF16Type()) : type.bits == 32 ? mlir::Type(builder.getF32Type()) : builder.getF64Type();
  case DType::BFloat:
    return builder.getBF16Type();
  default:
    fail(fmt::format("the type {} is not supported yet", type.name()));
  }
}

mlir::Type Emitter::typeOf(DType type, const Shape &shape) {
  mlir::Type element = typeOf(type);
  return shape.empty() ? element : RankedTensorType::get(shape, element);
}

// --- index arithmetic; a null value is 0

mlir::Value Emitter::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

mlir::Value Emitter::add(mlir::Value a, mlir::Value b) { return !a ? b : !b ? a : make<arith::AddIOp>(a, b); }

mlir::Value Emitter::multiply(mlir::Value a, mlir::Value b) { return !a || !b ? mlir::Value() : make<arith::MulIOp>(a, b); }

mlir::Value Emitter::subtract(mlir::Value a, mlir::Value b) { return !b ? a : make<arith::SubIOp>(a ? a : index(0), b); }

mlir::Value Emitter::asIndex(const Term &value) {
  if (value.kind == Term::Int || value.kind == Term::Bool)
    return index(value.integer);
  if (value.kind != Term::Tiled || !value.tile.shape.empty() || !value.tile.type.isInt())
    fail(fmt::format("an integer is needed here, not {}", value.describe()));
  if (value.tile.type.kind == DType::UInt)
    return make<arith::IndexCastUIOp>(builder.getIndexType(), value.tile.value);
  return make<arith::IndexCastOp>(builder.getIndexType(), value.tile.value);
}

// --- from compile time to tiles

Tile Emitter::constantTile(const Term &number, DType type, const Shape &shape) {
  mlir::Type element = typeOf(type);
  TypedAttr attr;
  if (type.isFloat())
    attr = builder.getFloatAttr(element, number.asReal());
  else
    attr = builder.getIntegerAttr(
        element, APInt(type.bits, uint64_t(number.kind == Term::Real ? int64_t(number.real) : number.integer), false, true));
  mlir::Value scalar = arith::ConstantOp::create(builder, loc, attr);
  if (shape.empty())
    return {type, shape, scalar, {}, {}};
  auto splat = DenseElementsAttr::get(RankedTensorType::get(shape, element), Attribute(attr));
  return {type, shape, arith::ConstantOp::create(builder, loc, splat), {}, {}};
}

Tile Emitter::toTile(const Term &value, std::optional<DType> like) {
  if (value.kind == Term::Tiled)
    return value.tile;
  if (!value.isConstant())
    fail(fmt::format("a number or a tile is needed here, not {}", value.describe()));
  DType type{DType::Int, 32};
  if (value.kind == Term::Bool)
    type = {DType::Int, 1};
  else if (value.kind == Term::Real)
    type = {DType::Float, 32};
  else if (value.integer != int32_t(value.integer))
    type = value.integer == int64_t(uint32_t(value.integer)) ? DType{DType::UInt, 32} : DType{DType::Int, 64};
  // A literal is weak: it takes the other side's type, unless it would lose its kind (a float beside integers).
  if (like && (like->isFloat() || value.kind != Term::Real) && !(like->isBool() && value.kind == Term::Int && value.integer > 1))
    type = *like;
  return constantTile(value, type);
}

mlir::Value Emitter::elementwise(ArrayRef<mlir::Value> inputs, mlir::Type element,
                                 function_ref<mlir::Value(OpBuilder &, Location, ValueRange)> body) {
  auto type = cast<RankedTensorType>(inputs.front().getType());
  mlir::Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), element);
  SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), inputs, empty, maps, loops,
             [&](OpBuilder &b, Location l, ValueRange args) { linalg::YieldOp::create(b, l, body(b, l, args.drop_back())); })
      .getResult(0);
}

// --- tiles that are described, not computed

std::optional<Affine> Emitter::affineOf(const Tile &tile) {
  if (!tile.type.isInt() || tile.type.isBool())
    return std::nullopt;
  if (tile.affine)
    return tile.affine;
  if (tile.shape.empty())
    return Affine{asIndex(Term::of(tile)), {}, {}, {}};
  return std::nullopt;
}

// The numbers of an affine tile or a box, as one linalg.generic over the indices.
mlir::Value Emitter::tensor(const Tile &tile) {
  if (tile.value)
    return tile.value;
  mlir::Type element = typeOf(tile.type);
  mlir::Value empty = tensor::EmptyOp::create(builder, loc, tile.shape, element);
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(tile.shape.size())};
  SmallVector<utils::IteratorType> loops(tile.shape.size(), utils::IteratorType::parallel);
  auto affineBody = [&](OpBuilder &b, Location l) -> mlir::Value {
    mlir::Value sum = tile.affine->base;
    for (size_t d = 0; d < tile.shape.size(); ++d) {
      if (!tile.affine->strides[d])
        continue;
      mlir::Value i = linalg::IndexOp::create(b, l, d);
      if (tile.affine->moduli[d])
        i = b.createOrFold<arith::RemUIOp>(l, b.createOrFold<arith::AddIOp>(l, i, tile.affine->starts[d]), tile.affine->moduli[d]);
      sum = b.createOrFold<arith::AddIOp>(l, sum, b.createOrFold<arith::MulIOp>(l, i, tile.affine->strides[d]));
    }
    return b.createOrFold<arith::IndexCastOp>(l, element, sum);
  };
  auto boxBody = [&](OpBuilder &b, Location l) {
    mlir::Value all = arith::ConstantOp::create(b, l, b.getBoolAttr(true));
    for (size_t d = 0; d < tile.shape.size(); ++d) {
      mlir::Value i = linalg::IndexOp::create(b, l, d);
      if (mlir::Value lower = tile.box->lower[d])
        all = b.createOrFold<arith::AndIOp>(l, all, b.createOrFold<arith::CmpIOp>(l, arith::CmpIPredicate::sge, i, lower));
      if (mlir::Value upper = tile.box->upper[d])
        all = b.createOrFold<arith::AndIOp>(l, all, b.createOrFold<arith::CmpIOp>(l, arith::CmpIPredicate::slt, i, upper));
    }
    return all;
  };
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), ValueRange(), empty, maps, loops,
             [&](OpBuilder &b, Location l, ValueRange) { linalg::YieldOp::create(b, l, tile.affine ? affineBody(b, l) : boxBody(b, l)); })
      .getResult(0);
}

// --- shape

Shape Emitter::commonShape(const Shape &a, const Shape &b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t x = d + a.size() < shape.size() ? 1 : a[d + a.size() - shape.size()];
    int64_t y = d + b.size() < shape.size() ? 1 : b[d + b.size() - shape.size()];
    if (x != y && x != 1 && y != 1)
      fail(fmt::format("the shapes {} and {} do not broadcast: {} against {}", fmt::join(a, "x"), fmt::join(b, "x"), x, y));
    shape[d] = std::max(x, y);
  }
  return shape;
}

Tile Emitter::expandDims(const Tile &tile, size_t axis) {
  Tile out = tile;
  out.shape.insert(out.shape.begin() + axis, 1);
  auto open = [&](SmallVector<mlir::Value, 3> &part) { part.insert(part.begin() + axis, mlir::Value()); };
  if (tile.affine) {
    open(out.affine->strides);
    open(out.affine->starts);
    open(out.affine->moduli);
  } else if (tile.box) {
    open(out.box->lower);
    open(out.box->upper);
  } else {
    return reshape(tile, out.shape);
  }
  return out;
}

Tile Emitter::broadcast(const Tile &from, const Shape &shape) {
  if (from.shape == shape)
    return from;
  if (from.shape.empty()) {
    if (std::optional<Affine> a = affineOf(from)) {
      a->strides.assign(shape.size(), {});
      a->starts.assign(shape.size(), {});
      a->moduli.assign(shape.size(), {});
      return {from.type, shape, {}, a, {}};
    }
    return {from.type, shape, filled(typeOf(from.type), shape, from.value), {}, {}};
  }
  Tile tile = from;
  while (tile.shape.size() < shape.size())
    tile = expandDims(tile, 0);
  if (commonShape(tile.shape, shape) != shape)
    fail(fmt::format("a tile of shape {} does not broadcast to {}", fmt::join(from.shape, "x"), fmt::join(shape, "x")));
  bool widensBound = false;
  if (tile.box)
    for (size_t d = 0; d < shape.size(); ++d)
      widensBound |= tile.shape[d] != shape[d] && (tile.box->lower[d] || tile.box->upper[d]);
  if (tile.affine || (tile.box && !widensBound)) {
    if (tile.affine)
      for (size_t d = 0; d < shape.size(); ++d)
        if (tile.shape[d] != shape[d]) // index 0 of a dimension of extent 1 stands for all
          tile.affine->strides[d] = {};
    tile.shape = shape;
    return tile;
  }
  mlir::Value value = tensor(tile), empty = tensor::EmptyOp::create(builder, loc, shape, typeOf(tile.type));
  SmallVector<AffineExpr> source;
  for (size_t d = 0; d < shape.size(); ++d)
    source.push_back(tile.shape[d] == shape[d] ? builder.getAffineDimExpr(d) : builder.getAffineConstantExpr(0));
  SmallVector<AffineMap> maps{AffineMap::get(shape.size(), 0, source, builder.getContext()), builder.getMultiDimIdentityMap(shape.size())};
  SmallVector<utils::IteratorType> loops(shape.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(builder, loc, empty.getType(), value, empty, maps, loops,
                                           [](OpBuilder &b, Location l, ValueRange args) { linalg::YieldOp::create(b, l, args[0]); });
  return {tile.type, shape, generic.getResult(0), {}, {}};
}

// --- conversion

Tile Emitter::cast(const Tile &tile, DType type) {
  if (tile.type == type)
    return tile;
  if (tile.affine && type.isInt() && type.bits >= 32) { // offsets do not overflow
    Tile same = tile;
    same.type = type;
    return same;
  }
  mlir::Value from = tensor(tile);
  mlir::Type to = typeOf(type, tile.shape);
  auto done = [&](mlir::Value v) { return Tile{type, tile.shape, v, {}, {}}; };
  if (tile.type.isInt() && type.isInt()) {
    if (type.isBool()) {
      Tile zero = constantTile(Term::of(int64_t(0)), tile.type, tile.shape);
      return done(make<arith::CmpIOp>(arith::CmpIPredicate::ne, from, zero.value));
    }
    if (type.bits == tile.type.bits)
      return done(from);
    if (type.bits < tile.type.bits)
      return done(make<arith::TruncIOp>(to, from));
    if (tile.type.kind == DType::UInt || tile.type.isBool())
      return done(make<arith::ExtUIOp>(to, from));
    return done(make<arith::ExtSIOp>(to, from));
  }
  if (tile.type.isInt())
    return done(tile.type.kind == DType::UInt || tile.type.isBool() ? make<arith::UIToFPOp>(to, from) : make<arith::SIToFPOp>(to, from));
  if (type.isBool()) {
    Tile zero = constantTile(Term::of(0.0), tile.type, tile.shape);
    return done(make<arith::CmpFOp>(arith::CmpFPredicate::UNE, from, zero.value));
  }
  if (type.isInt())
    return done(type.kind == DType::UInt ? make<arith::FPToUIOp>(to, from) : make<arith::FPToSIOp>(to, from));
  if (type.bits > tile.type.bits)
    return done(make<arith::ExtFOp>(to, from));
  if (type.bits == tile.type.bits) // fp16 and bf16: through fp32
    return cast(cast(tile, {DType::Float, 32}), type);
  return done(arith::TruncFOp::create(builder, loc, to, from));
}

Tile Emitter::bitcast(const Tile &tile, DType type) {
  if (type.bits != tile.type.bits)
    fail(fmt::format("a bitcast keeps the size, but {} has {} bits and {} has {}", tile.type.name(), tile.type.bits, type.name(),
                     type.bits));
  mlir::Value from = tensor(tile);
  bool same = typeOf(type) == typeOf(tile.type);
  return {type, tile.shape, same ? from : make<arith::BitcastOp>(typeOf(type, tile.shape), from), {}, {}};
}

// Triton's rules: fp64 > fp32 > fp16; fp16 with bf16 is fp16; a float wins over integers; integers as in C.
static DType promoted(DType a, DType b, bool division) {
  const DType fp32{DType::Float, 32}, fp16{DType::Float, 16};
  if (a.isFloat() || b.isFloat()) {
    if (a.bits == 64 && a.isFloat())
      return a;
    if (b.bits == 64 && b.isFloat())
      return b;
    if (a == fp32 || b == fp32)
      return fp32;
    if (division)
      return fp32;
    if (a == fp16 || b == fp16)
      return fp16;
    if (a.isFloat() && b.isFloat())
      return a == b ? a : fp16;
    return fp32; // bf16 with an integer
  }
  if (a.bits != b.bits)
    return a.bits > b.bits ? a : b;
  return a.kind == DType::UInt ? a : b;
}

std::pair<Tile, Tile> Emitter::alike(Term left, Term right, bool division) {
  std::optional<DType> l, r;
  if (left.kind == Term::Tiled)
    l = left.tile.type;
  if (right.kind == Term::Tiled)
    r = right.tile.type;
  Tile a = toTile(left, r), b = toTile(right, l);
  DType type = promoted(a.type, b.type, division);
  if (division && type.isInt())
    type = {DType::Float, 32};
  Shape shape = commonShape(a.shape, b.shape);
  return {broadcast(cast(a, type), shape), broadcast(cast(b, type), shape)};
}

// --- operators

// Sums, differences and products with a scalar of affine tiles; a wrapped dimension where `% extent` is taken.
std::optional<Tile> Emitter::affineArithmetic(const std::string &op, const Term &left, const Term &right) {
  auto integer = [](const Term &v) {
    return v.kind == Term::Int || (v.kind == Term::Tiled && v.tile.type.isInt() && !v.tile.type.isBool());
  };
  if (!integer(left) || !integer(right))
    return std::nullopt;
  Tile l = toTile(left, DType{DType::Int, 32}), r = toTile(right, DType{DType::Int, 32});
  if (l.shape.empty() && r.shape.empty())
    return std::nullopt; // scalars stay machine integers
  std::optional<Affine> a = affineOf(l), b = affineOf(r);
  if (!a || !b)
    return std::nullopt;
  Shape shape = commonShape(l.shape, r.shape);
  DType type = promoted(l.type, r.type, false);
  l = broadcast(l, shape), r = broadcast(r, shape);
  a = affineOf(l), b = affineOf(r);
  bool scalarLeft = toTile(left).shape.empty(), scalarRight = toTile(right).shape.empty();
  Affine out = *a;
  if (op == "+" || op == "-") {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!b->strides[d])
        continue;
      if (a->moduli[d] || b->moduli[d]) { // one wrapped part a dimension can be expressed
        if (a->strides[d])
          return std::nullopt;
        out.starts[d] = b->starts[d];
        out.moduli[d] = b->moduli[d];
      }
      out.strides[d] = op == "+" ? add(a->strides[d], b->strides[d]) : subtract(a->strides[d], b->strides[d]);
    }
    out.base = op == "+" ? add(a->base, b->base) : subtract(a->base, b->base);
  } else if (op == "*" && (scalarLeft || scalarRight)) {
    const Affine &tile = scalarRight ? *a : *b;
    mlir::Value factor = scalarRight ? b->base : a->base;
    out = tile;
    out.base = multiply(tile.base, factor);
    for (mlir::Value &stride : out.strides)
      stride = multiply(stride, factor);
  } else if (op == "%" && scalarRight) {
    std::optional<size_t> moving;
    for (size_t d = 0; d < shape.size(); ++d)
      if (a->strides[d]) {
        if (moving || a->moduli[d] || !isOneInteger(a->strides[d]))
          return std::nullopt;
        moving = d;
      }
    if (!moving)
      return std::nullopt;
    out.base = index(0);
    out.starts[*moving] = a->base;
    out.moduli[*moving] = b->base;
  } else {
    return std::nullopt;
  }
  return Tile{type, shape, {}, out, {}};
}

// `tile < scalar` and its kind, where the tile counts one dimension in steps of 1: a bound on that dimension's index.
std::optional<Tile> Emitter::boxComparison(const std::string &op, const Term &left, const Term &right) {
  static const std::map<std::string, std::string> mirrored = {{"<", ">"}, {">", "<"}, {"<=", ">="}, {">=", "<="}};
  if (!mirrored.count(op))
    return std::nullopt;
  auto scalarInt = [](const Term &v) {
    return v.kind == Term::Int || (v.kind == Term::Tiled && v.tile.shape.empty() && v.tile.type.isInt());
  };
  if (!scalarInt(right))
    return scalarInt(left) && right.kind == Term::Tiled ? boxComparison(mirrored.at(op), right, left) : std::nullopt;
  if (left.kind != Term::Tiled || !left.tile.affine)
    return std::nullopt;
  const Affine &a = *left.tile.affine;
  std::optional<size_t> moving;
  for (size_t d = 0; d < a.strides.size(); ++d)
    if (a.strides[d]) {
      if (moving || a.moduli[d] || !isOneInteger(a.strides[d]))
        return std::nullopt;
      moving = d;
    }
  if (!moving)
    return std::nullopt;
  mlir::Value limit = subtract(asIndex(right), a.base);
  if (op == "<=" || op == ">")
    limit = add(limit, index(1));
  Box box{SmallVector<mlir::Value, 3>(left.tile.shape.size()), SmallVector<mlir::Value, 3>(left.tile.shape.size())};
  (op[0] == '<' ? box.upper : box.lower)[*moving] = limit;
  return Tile{DType{DType::Int, 1}, left.tile.shape, {}, {}, box};
}

Tile Emitter::arithmetic(const std::string &op, Tile left, Tile right) {
  DType type = left.type;
  mlir::Value a = tensor(left), b = tensor(right);
  bool isUnsigned = type.kind == DType::UInt;
  auto done = [&](mlir::Value v) { return Tile{type, left.shape, v, {}, {}}; };
  if (type.isFloat()) {
    if (op == "+")
      return done(make<arith::AddFOp>(a, b));
    if (op == "-")
      return done(make<arith::SubFOp>(a, b));
    if (op == "*")
      return done(make<arith::MulFOp>(a, b));
    if (op == "/")
      return done(make<arith::DivFOp>(a, b));
    if (op == "%")
      return done(make<arith::RemFOp>(a, b));
    fail(fmt::format("'{}' takes integers, not {}", op, type.name()));
  }
  if (type.isBool() && (op == "+" || op == "-" || op == "*"))
    return arithmetic(op, cast(left, {DType::Int, 32}), cast(right, {DType::Int, 32}));
  if (op == "+")
    return done(make<arith::AddIOp>(a, b));
  if (op == "-")
    return done(make<arith::SubIOp>(a, b));
  if (op == "*")
    return done(make<arith::MulIOp>(a, b));
  if (op == "//")
    return done(isUnsigned ? make<arith::DivUIOp>(a, b) : make<arith::DivSIOp>(a, b)); // truncates, as Triton does on tiles
  if (op == "%")
    return done(isUnsigned ? make<arith::RemUIOp>(a, b) : make<arith::RemSIOp>(a, b));
  if (op == "&")
    return done(make<arith::AndIOp>(a, b));
  if (op == "|")
    return done(make<arith::OrIOp>(a, b));
  if (op == "^")
    return done(make<arith::XOrIOp>(a, b));
  if (op == "<<")
    return done(make<arith::ShLIOp>(a, b));
  if (op == ">>")
    return done(isUnsigned ? make<arith::ShRUIOp>(a, b) : make<arith::ShRSIOp>(a, b));
  fail(fmt::format("'{}' is not an operator on {}", op, type.name()));
}
