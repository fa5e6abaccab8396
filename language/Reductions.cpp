// Contractions, reductions, and operations that move elements within a tile.
#include "language/Emitter.h"

using namespace mlir;
using namespace dougong::language;

mlir::Value Emitter::filled(mlir::Type element, const Shape &shape, mlir::Value value) {
  mlir::Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
  return linalg::FillOp::create(builder, loc, value, empty).getResult(0);
}

Tile Emitter::permute(const Tile &tile, llvm::ArrayRef<int64_t> order) {
  Tile out = tile;
  for (size_t d = 0; d < order.size(); ++d)
    out.shape[d] = tile.shape[size_t(order[d])];
  auto permuted = [&](SmallVector<mlir::Value, 3> &to, const SmallVector<mlir::Value, 3> &from) {
    for (size_t d = 0; d < order.size(); ++d)
      to[d] = from[size_t(order[d])];
  };
  if (tile.affine) {
    permuted(out.affine->strides, tile.affine->strides);
    permuted(out.affine->starts, tile.affine->starts);
    permuted(out.affine->moduli, tile.affine->moduli);
    return out;
  }
  if (tile.box) {
    permuted(out.box->lower, tile.box->lower);
    permuted(out.box->upper, tile.box->upper);
    return out;
  }
  mlir::Value empty = tensor::EmptyOp::create(builder, loc, out.shape, typeOf(tile.type));
  out.value = linalg::TransposeOp::create(builder, loc, tile.value, empty, order)->getResult(0);
  return out;
}

// The groups of dimensions that two shapes of equal size share, for collapse and expand; none where they do not nest.
static SmallVector<ReassociationIndices> through(size_t rank) {
  ReassociationIndices all;
  for (size_t d = 0; d < rank; ++d)
    all.push_back(int64_t(d));
  return rank ? SmallVector<ReassociationIndices>{all} : SmallVector<ReassociationIndices>{};
}

Tile Emitter::reshape(const Tile &tile, const Shape &shape) {
  if (tile.shape == shape)
    return tile;
  mlir::Value value = tensor(tile);
  mlir::Type element = typeOf(tile.type);
  int64_t size = ShapedType::getNumElements(tile.shape);
  if (tile.shape.empty())
    return {tile.type, shape, filled(element, shape, value), {}, {}};
  if (shape.empty()) {
    SmallVector<mlir::Value> first(tile.shape.size(), index(0));
    return {tile.type, shape, tensor::ExtractOp::create(builder, loc, value, first), {}, {}};
  }
  auto flat = RankedTensorType::get({size}, element), to = RankedTensorType::get(shape, element);
  if (auto groups = getReassociationIndicesForReshape(cast<RankedTensorType>(value.getType()), to)) {
    if (tile.shape.size() > shape.size())
      return {tile.type, shape, tensor::CollapseShapeOp::create(builder, loc, to, value, *groups), {}, {}};
    return {tile.type, shape, tensor::ExpandShapeOp::create(builder, loc, to, value, *groups), {}, {}};
  }
  if (tile.shape.size() > 1)
    value = tensor::CollapseShapeOp::create(builder, loc, flat, value, through(tile.shape.size()));
  if (shape.size() > 1)
    value = tensor::ExpandShapeOp::create(builder, loc, to, value, through(shape.size()));
  return {tile.type, shape, value, {}, {}};
}

// The value that leaves a reduction as it is.
static TypedAttr neutral(OpBuilder &b, const std::string &kind, DType type, mlir::Type element) {
  if (type.isFloat()) {
    const auto &semantics = cast<FloatType>(element).getFloatSemantics();
    return kind == "sum" ? b.getFloatAttr(element, 0.0) : b.getFloatAttr(element, APFloat::getInf(semantics, kind == "max"));
  }
  unsigned bits = unsigned(type.bits);
  if (kind == "sum" || kind == "xor_sum" || kind == "reduce_or")
    return b.getIntegerAttr(element, 0);
  bool isUnsigned = type.kind == DType::UInt || type.isBool();
  return b.getIntegerAttr(element, kind == "max" ? (isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits))
                                                 : (isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits)));
}

static mlir::Value combine(OpBuilder &b, Location l, const std::string &kind, DType type, mlir::Value x, mlir::Value y) {
  bool isUnsigned = type.kind == DType::UInt || type.isBool();
  if (kind == "sum")
    return type.isFloat() ? mlir::Value(arith::AddFOp::create(b, l, x, y)) : arith::AddIOp::create(b, l, x, y);
  if (kind == "xor_sum")
    return arith::XOrIOp::create(b, l, x, y);
  if (kind == "reduce_or")
    return arith::OrIOp::create(b, l, x, y);
  if (type.isFloat()) // NaN is ignored
    return kind == "max" ? mlir::Value(arith::MaxNumFOp::create(b, l, x, y)) : arith::MinNumFOp::create(b, l, x, y);
  if (isUnsigned)
    return kind == "max" ? mlir::Value(arith::MaxUIOp::create(b, l, x, y)) : arith::MinUIOp::create(b, l, x, y);
  return kind == "max" ? mlir::Value(arith::MaxSIOp::create(b, l, x, y)) : arith::MinSIOp::create(b, l, x, y);
}

Tile Emitter::reduce(const std::string &kind, const Tile &given, std::optional<int64_t> axis, bool keepDims) {
  Tile tile = given;
  if (tile.type.isInt() && tile.type.bits < 32) // small integers are widened, as Triton does
    tile = cast(tile, {tile.type.kind, 32});
  DType type = tile.type;
  // 16-bit floats are added in fp32 and rounded once, at the end
  DType inner = kind == "sum" && type.isFloat() && type.bits == 16 ? DType{DType::Float, 32} : type;
  mlir::Value input = tensor(cast(tile, inner));
  mlir::Type element = typeOf(inner);
  Shape kept;
  SmallVector<int64_t> axes;
  for (size_t d = 0; d < tile.shape.size(); ++d)
    if (axis && int64_t(d) != *axis)
      kept.push_back(tile.shape[d]);
    else
      axes.push_back(int64_t(d));
  mlir::Value start = arith::ConstantOp::create(builder, loc, neutral(builder, kind, inner, element));
  mlir::Value init = filled(element, kept, start);
  auto op =
      linalg::ReduceOp::create(builder, loc, ValueRange{input}, ValueRange{init}, axes, [&](OpBuilder &b, Location l, ValueRange args) {
        linalg::YieldOp::create(b, l, combine(b, l, kind, inner, args[0], args[1]));
      });
  mlir::Value result = op->getResult(0);
  if (kept.empty())
    result = tensor::ExtractOp::create(builder, loc, result, ValueRange());
  Tile out = cast(Tile{inner, kept, result, {}, {}}, type);
  if (keepDims) {
    Shape shape = tile.shape;
    for (int64_t d : axes)
      shape[size_t(d)] = 1;
    return reshape(out, shape);
  }
  return out;
}

// The extreme value along an axis, and the least index that has it.
Term Emitter::argReduce(const std::string &kind, const Tile &tile, int64_t axis, bool keepDims) {
  mlir::Value input = tensor(tile);
  mlir::Type element = typeOf(tile.type), counter = builder.getI32Type();
  Shape kept = tile.shape;
  kept.erase(kept.begin() + axis);
  Tile indices = broadcast(Tile{{DType::Int, 32}, {tile.shape[size_t(axis)]}, {}, Affine{index(0), {index(1)}, {{}}, {{}}}, {}},
                           {tile.shape[size_t(axis)]});
  for (size_t d = size_t(axis) + 1; d < tile.shape.size(); ++d)
    indices = expandDims(indices, indices.shape.size());
  mlir::Value positions = tensor(broadcast(indices, tile.shape));
  mlir::Value start = filled(element, kept, arith::ConstantOp::create(builder, loc, neutral(builder, kind, tile.type, element)));
  mlir::Value none = filled(counter, kept, arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(INT32_MAX)));
  auto op = linalg::ReduceOp::create(
      builder, loc, ValueRange{input, positions}, ValueRange{start, none}, axis, [&](OpBuilder &b, Location l, ValueRange args) {
        mlir::Value x = args[0], i = args[1], best = args[2], at = args[3], better, equal;
        if (tile.type.isFloat()) {
          better = arith::CmpFOp::create(b, l, kind == "max" ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, best);
          equal = arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, x, best);
        } else {
          bool u = tile.type.kind == DType::UInt;
          better = arith::CmpIOp::create(b, l,
                                         kind == "max" ? (u ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt)
                                                       : (u ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt),
                                         x, best);
          equal = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq, x, best);
        }
        mlir::Value earlier = arith::AndIOp::create(b, l, equal, arith::CmpIOp::create(b, l, arith::CmpIPredicate::slt, i, at));
        mlir::Value take = arith::OrIOp::create(b, l, better, earlier);
        linalg::YieldOp::create(b, l, ValueRange{arith::SelectOp::create(b, l, take, x, best), arith::SelectOp::create(b, l, take, i, at)});
      });
  std::vector<Term> both;
  for (int k : {0, 1}) {
    mlir::Value result = op->getResult(k);
    if (kept.empty())
      result = tensor::ExtractOp::create(builder, loc, result, ValueRange());
    Tile out{k == 0 ? tile.type : DType{DType::Int, 32}, kept, result, {}, {}};
    if (keepDims) {
      Shape shape = tile.shape;
      shape[size_t(axis)] = 1;
      out = reshape(out, shape);
    }
    both.push_back(Term::of(out));
  }
  return Term::tuple(both);
}

// a · b + accumulator, on the tensor engine where the target has one: f32 (i32) accumulators, whatever the type of the result.
Tile Emitter::dot(const Tile &a, const Tile &b, const Term &accumulator, DType outType) {
  DType inner = a.type.isInt() ? DType{DType::Int, 32} : DType{DType::Float, 32};
  if (a.type.isFloat() && a.type.bits == 64)
    inner = a.type;
  Shape shape = a.shape;
  shape.back() = b.shape.back();
  mlir::Value init;
  if (accumulator.kind != Term::None) {
    Tile acc = toTile(accumulator, inner);
    outType = acc.type;
    init = tensor(broadcast(cast(acc, inner), shape));
  } else {
    init = filled(typeOf(inner), shape, constantTile(Term::of(int64_t(0)), inner).value);
  }
  mlir::Value result;
  if (shape.size() == 2)
    result = linalg::MatmulOp::create(builder, loc, ValueRange{tensor(a), tensor(b)}, ValueRange{init}).getResult(0);
  else
    result = linalg::BatchMatmulOp::create(builder, loc, ValueRange{tensor(a), tensor(b)}, ValueRange{init}).getResult(0);
  return cast(Tile{inner, shape, result, {}, {}}, outType);
}

// --- the functions of the table

Term Emitter::shapeBuiltin(const std::string &name, Arguments &a) {
  bool pointer = a[0].kind == Term::Pointing;
  Tile tile = pointer ? a[0].pointer.offset : toTile(a[0]);
  Tile out;
  if (name == "expand_dims" || name == "unsqueeze") {
    int64_t axis = constantInt(a[1], "the axis of expand_dims"), rank = int64_t(tile.shape.size());
    if (axis < -rank - 1 || axis > rank)
      fail(fmt::format("{}: axis {} is outside the {} places of a new axis", name, axis, rank + 1));
    out = expandDims(tile, size_t(axis < 0 ? axis + rank + 1 : axis));
  } else if (name == "squeeze") {
    int64_t axis = constantAxis(a[1], tile, name);
    if (tile.shape[size_t(axis)] != 1)
      fail(fmt::format("squeeze takes away an axis of one element; axis {} has {}", axis, tile.shape[size_t(axis)]));
    Shape shape = tile.shape;
    shape.erase(shape.begin() + axis);
    out = reshape(tile, shape);
  } else if (name == "broadcast_to") {
    out = broadcast(tile, constantShape(a[1], "an extent of a shape"));
  } else {
    Shape shape = name == "ravel" ? Shape{ShapedType::getNumElements(tile.shape)} : constantShape(a[1], "an extent of a shape");
    if (ShapedType::getNumElements(shape) != ShapedType::getNumElements(tile.shape))
      fail(fmt::format("a tile of shape {} cannot become {}", fmt::join(tile.shape, "x"), fmt::join(shape, "x")));
    out = reshape(tile, shape);
  }
  if (!pointer)
    return Term::of(out);
  a[0].pointer.offset = out;
  return a[0];
}

// Both, each of its own type, in the shape they have together.
Term Emitter::broadcastBuiltin(const std::string &, Arguments &a) {
  Tile x = toTile(a[0]), y = toTile(a[1]);
  Shape shape = commonShape(x.shape, y.shape);
  return Term::tuple({Term::of(broadcast(x, shape)), Term::of(broadcast(y, shape))});
}

Term Emitter::transposeBuiltin(const std::string &, Arguments &a) {
  Tile tile = toTile(a[0]);
  SmallVector<int64_t> order;
  if (a[1].kind == Term::Tuple && !a[1].items.empty()) {
    for (const Term &axis : a[1].items)
      order.push_back(constantInt(axis, "an axis of the order"));
  } else {
    for (size_t d = 0; d < tile.shape.size(); ++d)
      order.push_back(int64_t(d));
    if (order.size() >= 2)
      std::swap(order[order.size() - 1], order[order.size() - 2]);
  }
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  for (size_t d = 0; d < sorted.size(); ++d)
    if (sorted.size() != tile.shape.size() || sorted[d] != int64_t(d))
      fail(fmt::format("({}) is no order of the {} axes", fmt::join(order, ", "), tile.shape.size()));
  return Term::of(permute(tile, order));
}

Term Emitter::reduceBuiltin(const std::string &name, Arguments &a) {
  Tile tile = toTile(a[0]);
  if (tile.shape.empty())
    fail(fmt::format("{} reduces a tile, not a scalar", name));
  std::optional<int64_t> axis;
  if (a[1].kind != Term::None) {
    axis = constantInt(a[1], "the axis of a reduction");
    int64_t rank = int64_t(tile.shape.size());
    if (*axis < -rank || *axis >= rank)
      fail(fmt::format("axis {} is outside a tile of rank {}", *axis, rank));
    if (*axis < 0)
      *axis += rank;
  }
  bool keep = known(a[4]).value_or(false);
  if (name.starts_with("arg") || known(a[2]).value_or(false)) {
    if (!axis)
      fail(fmt::format("{} needs an axis", name));
    Term both = argReduce(name.starts_with("arg") ? name.substr(3) : name, tile, *axis, keep);
    return name.starts_with("arg") ? both.items[1] : both;
  }
  if (a[5].kind != Term::None)
    tile = cast(tile, dtypeOf(a[5], "the dtype of the sum"));
  return Term::of(reduce(name, tile, axis, keep));
}

Term Emitter::dotBuiltin(const std::string &, Arguments &a) {
  Tile x = toTile(a[0]), y = toTile(a[1]);
  if (!(x.type == y.type) && !(x.type.isInt() && y.type.isInt()))
    fail(fmt::format("tl.dot takes two tiles of one type, not {} and {}", x.type.name(), y.type.name()));
  if (x.shape.size() != y.shape.size() || (x.shape.size() != 2 && x.shape.size() != 3))
    fail(fmt::format("tl.dot takes two matrices (or batches of them), not {} and {}", a[0].describe(), a[1].describe()));
  if (x.shape.back() != y.shape[y.shape.size() - 2])
    fail(fmt::format("tl.dot: {} columns against {} rows", x.shape.back(), y.shape[y.shape.size() - 2]));
  DType out = x.type.isInt() ? DType{DType::Int, 32} : DType{DType::Float, 32};
  if (a[6].kind != Term::None)
    out = dtypeOf(a[6], "out_dtype");
  return Term::of(dot(x, y, a[2], out));
}
