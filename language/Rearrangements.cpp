// Operations that put elements elsewhere: joined and split tiles, elements by index, sorted ones; and histograms.
#include "language/Emitter.h"

using namespace mlir;
using namespace dougong::language;

int64_t Emitter::constantAxis(const Term &value, const Tile &tile, const std::string &name) {
  int64_t axis = constantInt(value, "an axis"), rank = int64_t(tile.shape.size());
  if (axis < -rank || axis >= rank)
    fail(fmt::format("{}: axis {} is outside a tile of rank {}", name, axis, rank));
  return axis < 0 ? axis + rank : axis;
}

// join: a new last axis of two. interleave: the two alternate along the last axis. cat: one behind the other along an axis.
Term Emitter::joinBuiltin(const std::string &name, Arguments &a) {
  auto [x, y] = alike(a[0], a[1]);
  if (name == "cat") {
    if (x.shape.empty())
      fail("cat takes tiles, not scalars");
    int64_t axis = constantAxis(a[3], x, name), size = x.shape[size_t(axis)];
    Shape shape = x.shape;
    shape[size_t(axis)] = 2 * size;
    Tile out{x.type, shape, tensor::EmptyOp::create(builder, loc, shape, typeOf(x.type)), {}, {}};
    return Term::of(withSlice(withSlice(out, x, axis, 0), y, axis, size));
  }
  size_t last = x.shape.size();
  Shape shape = x.shape;
  shape.push_back(2);
  Tile out{x.type, shape, tensor::EmptyOp::create(builder, loc, shape, typeOf(x.type)), {}, {}};
  for (auto [k, part] : {std::pair(0, x), std::pair(1, y)})
    out = withSlice(out, part.shape.empty() ? broadcast(part, {1}) : expandDims(part, last), int64_t(last), k);
  if (name == "join")
    return Term::of(out);
  shape.pop_back();
  if (shape.empty())
    shape.push_back(1);
  shape.back() *= 2;
  return Term::of(reshape(out, shape));
}

// The last axis, of two, apart.
Term Emitter::splitBuiltin(const std::string &name, Arguments &a) {
  Tile tile = toTile(a[0]);
  if (tile.shape.empty() || tile.shape.back() != 2)
    fail(fmt::format("{} takes a tile whose last axis has two elements, not {}; reshape it first", name, a[0].describe()));
  int64_t last = int64_t(tile.shape.size()) - 1;
  Shape shape(tile.shape.begin(), tile.shape.end() - 1);
  std::vector<Term> halves;
  for (int64_t k : {0, 1})
    halves.push_back(Term::of(reshape(slice(tile, last, k, 1), shape)));
  return Term::tuple(std::move(halves));
}

// out[i…] = source[i…] with the index along one axis taken from a tile.
Term Emitter::gatherBuiltin(const std::string &name, Arguments &a) {
  Tile source = toTile(a[0]), where = toTile(a[1]);
  if (source.shape.empty() || source.shape.size() != where.shape.size() || !where.type.isInt())
    fail(fmt::format("gather takes a tile and integer indices of the same rank, not {} and {}", a[0].describe(), a[1].describe()));
  int64_t axis = constantAxis(a[2], source, name);
  mlir::Value elements = tensor(source);
  mlir::Value value = elementwise(tensor(where), typeOf(source.type), [&](OpBuilder &b, Location l, ValueRange args) -> mlir::Value {
    SmallVector<mlir::Value> indices;
    for (size_t d = 0; d < source.shape.size(); ++d)
      indices.push_back(int64_t(d) == axis ? mlir::Value(arith::IndexCastOp::create(b, l, b.getIndexType(), args[0]))
                                           : linalg::IndexOp::create(b, l, d));
    return tensor::ExtractOp::create(b, l, elements, indices);
  });
  return Term::of(Tile{source.type, where.shape, value, {}, {}});
}

// The elements along an axis (None: all axes) in the opposite order.
Term Emitter::flipBuiltin(const std::string &name, Arguments &a) {
  Tile tile = toTile(a[0]);
  std::optional<int64_t> axis;
  if (a[1].kind != Term::None)
    axis = constantAxis(a[1], tile, name);
  size_t rank = tile.shape.size();
  SmallVector<AffineExpr> from;
  for (size_t d = 0; d < rank; ++d) {
    AffineExpr at = builder.getAffineDimExpr(unsigned(d));
    from.push_back(!axis || *axis == int64_t(d) ? builder.getAffineConstantExpr(tile.shape[d] - 1) - at : at);
  }
  mlir::Value empty = tensor::EmptyOp::create(builder, loc, tile.shape, typeOf(tile.type));
  SmallVector<AffineMap> maps{AffineMap::get(unsigned(rank), 0, from, builder.getContext()),
                              builder.getMultiDimIdentityMap(unsigned(rank))};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(builder, loc, empty.getType(), tensor(tile), empty, maps, loops,
                                        [](OpBuilder &b, Location l, ValueRange args) { linalg::YieldOp::create(b, l, args[0]); });
  return Term::of(Tile{tile.type, tile.shape, copy.getResult(0), {}, {}});
}

// result[outer…, i] = the sum, or the bitwise or, over j of body(values…, i, j), in integers: values of `byI` at [outer…, i], then of `byJ`
// at [outer…, j]. i has the extent of the result's last axis.
mlir::Value Emitter::overPairs(ArrayRef<mlir::Value> byI, ArrayRef<mlir::Value> byJ, const Shape &shape, mlir::Type element, bool sum,
                               function_ref<mlir::Value(OpBuilder &, Location, ValueRange values, mlir::Value i, mlir::Value j)> body) {
  unsigned outer = unsigned(shape.size()) - 1;
  auto map = [&](unsigned last) {
    SmallVector<AffineExpr> at;
    for (unsigned d = 0; d < outer; ++d)
      at.push_back(builder.getAffineDimExpr(d));
    at.push_back(builder.getAffineDimExpr(last));
    return AffineMap::get(outer + 2, 0, at, builder.getContext());
  };
  SmallVector<mlir::Value> inputs(byI);
  llvm::append_range(inputs, byJ);
  SmallVector<AffineMap> maps(byI.size(), map(outer));
  maps.append(byJ.size(), map(outer + 1));
  maps.push_back(map(outer));
  SmallVector<utils::IteratorType> loops(outer + 1, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  mlir::Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  auto op = linalg::GenericOp::create(builder, loc, RankedTensorType::get(shape, element), inputs, filled(element, shape, zero), maps,
                                      loops, [&](OpBuilder &b, Location l, ValueRange args) {
                                        auto number = [&](unsigned loop) -> mlir::Value {
                                          return arith::IndexCastOp::create(b, l, b.getI32Type(), linalg::IndexOp::create(b, l, loop));
                                        };
                                        mlir::Value value = body(b, l, args.drop_back(), number(outer), number(outer + 1));
                                        linalg::YieldOp::create(b, l,
                                                                sum ? mlir::Value(arith::AddIOp::create(b, l, args.back(), value))
                                                                    : mlir::Value(arith::OrIOp::create(b, l, args.back(), value)));
                                      });
  return op.getResult(0);
}

static mlir::Value same(OpBuilder &b, Location l, mlir::Value x, mlir::Value y) {
  return arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq, x, y);
}

// Numbers as signed integers of the same order, NaN above all.
Tile Emitter::sortKey(const Tile &tile) {
  DType holder{DType::Int, tile.type.bits == 64 ? 64 : 32};
  auto number = [](uint64_t value) { return Term::of(int64_t(value)); };
  if (!tile.type.isFloat()) {
    Term key = Term::of(cast(tile, holder));
    bool wraps = tile.type.kind == DType::UInt && tile.type.bits == holder.bits;
    return wraps ? binary("^", key, Term::of(holder.bits == 64 ? INT64_MIN : int64_t(INT32_MIN))).tile : key.tile;
  }
  // Of negative floats the larger magnitude is the smaller number.
  Term bits = Term::of(cast(bitcast(tile, {DType::Int, tile.type.bits}), holder));
  Term flipped = binary("&", binary(">>", bits, number(uint64_t(holder.bits) - 1)), number((uint64_t(1) << (tile.type.bits - 1)) - 1));
  Arguments choice{compare("==", Term::of(tile), Term::of(tile)), binary("^", bits, flipped),
                   Term::of(holder.bits == 64 ? INT64_MAX : int64_t(INT32_MAX))};
  return whereBuiltin("where", choice).tile;
}

// Sorts along the last axis by counting, for each element, those that come before it (its rank), and placing it there: n² steps that are
// vector code, instead of log² n steps that move elements about.
Tile Emitter::sorted(const Tile &given, int64_t kept, bool descending) {
  Tile key = sortKey(given);
  if (descending)
    key = binary("^", Term::of(key), Term::of(int64_t(-1))).tile;
  mlir::Type i32 = builder.getI32Type();
  mlir::Value keys = tensor(key);
  mlir::Value ranks =
      overPairs(keys, keys, given.shape, i32, true, [&](OpBuilder &b, Location l, ValueRange v, mlir::Value i, mlir::Value j) {
        mlir::Value less = arith::CmpIOp::create(b, l, arith::CmpIPredicate::slt, v[1], v[0]);
        mlir::Value earlier =
            arith::AndIOp::create(b, l, same(b, l, v[1], v[0]), arith::CmpIOp::create(b, l, arith::CmpIPredicate::slt, j, i));
        return mlir::Value(arith::ExtUIOp::create(b, l, i32, arith::OrIOp::create(b, l, less, earlier)));
      });
  // out[i] = the bits of the one of rank i; all others count as zero
  DType raw = given.type.isFloat() ? DType{DType::Int, given.type.bits} : given.type;
  Tile bits = cast(given.type.isFloat() ? bitcast(given, raw) : given, key.type);
  Shape shape = given.shape;
  shape.back() = kept;
  mlir::Type element = typeOf(key.type);
  mlir::Value out =
      overPairs({}, {ranks, tensor(bits)}, shape, element, false, [&](OpBuilder &b, Location l, ValueRange v, mlir::Value i, mlir::Value) {
        mlir::Value none = arith::ConstantOp::create(b, l, b.getZeroAttr(element));
        return mlir::Value(arith::SelectOp::create(b, l, same(b, l, v[0], i), v[1], none));
      });
  Tile result = cast(Tile{key.type, shape, out, {}, {}}, raw);
  return given.type.isFloat() ? bitcast(result, given.type) : result;
}

// sort(x, dim, descending) and topk(x, k, dim): along the last axis.
Term Emitter::sortBuiltin(const std::string &name, Arguments &a) {
  Tile tile = toTile(a[0]);
  const Term &dim = a[name == "topk" ? 2 : 1];
  if (tile.shape.empty() || (dim.kind != Term::None && constantAxis(dim, tile, name) != int64_t(tile.shape.size()) - 1))
    fail(fmt::format("{} works along the last axis of a tile; transpose it first", name));
  if (name == "sort")
    return Term::of(sorted(tile, tile.shape.back(), known(a[2]).value_or(false)));
  int64_t count = constantInt(a[1], "the number of elements that topk keeps");
  if (count < 1 || count > tile.shape.back())
    fail(fmt::format("topk keeps 1 to {} elements of {}, not {}", tile.shape.back(), a[0].describe(), count));
  return Term::of(sorted(tile, count, true));
}

// How many elements are 0, 1, …; i32.
Term Emitter::histogramBuiltin(const std::string &name, Arguments &a) {
  Tile tile = toTile(a[0]);
  if (tile.shape.size() != 1 || !tile.type.isInt())
    fail(fmt::format("{} takes a tile of integers of one axis, not {}", name, a[0].describe()));
  Shape shape{constantInt(a[1], "the number of bins")};
  tile = cast(tile, {DType::Int, 32});
  if (a[2].kind != Term::None) { // what is masked out falls into no bin
    Arguments choice{a[2], Term::of(tile), Term::of(int64_t(-1))};
    tile = whereBuiltin("where", choice).tile;
  }
  mlir::Type i32 = builder.getI32Type();
  mlir::Value counts =
      overPairs({}, tensor(tile), shape, i32, true, [&](OpBuilder &b, Location l, ValueRange v, mlir::Value i, mlir::Value) {
        return mlir::Value(arith::ExtUIOp::create(b, l, i32, same(b, l, v[0], i)));
      });
  return Term::of(Tile{{DType::Int, 32}, shape, counts, {}, {}});
}
