// Reductions and scans by a function of the user's: in log2(n) steps, each on whole tiles, so that the function's code is elementwise code.
//
//   reduce:  n elements → f(first half, second half) → … → 1
//   scan:    x[i] := f(x[i - s], x[i]) for every i ≥ s, with s = 1, 2, 4, …
#include "language/Emitter.h"

using namespace mlir;
using namespace dougong::language;

using Tiles = std::vector<Tile>;

static Tiles tilesOf(const Term &value) {
  Tiles tiles;
  for (const Term &item : value.kind == Term::Tuple ? value.items : std::vector<Term>{value})
    if (item.kind == Term::Tiled)
      tiles.push_back(item.tile);
  return tiles;
}

static Term termOf(const Tiles &tiles) {
  if (tiles.size() == 1)
    return Term::of(tiles[0]);
  std::vector<Term> items;
  for (const Tile &tile : tiles)
    items.push_back(Term::of(tile));
  return Term::tuple(std::move(items));
}

// `size` elements along one axis, from `offset` on.
Tile Emitter::slice(const Tile &tile, int64_t axis, int64_t offset, int64_t size) {
  SmallVector<OpFoldResult> offsets, sizes, strides(tile.shape.size(), builder.getIndexAttr(1));
  Tile out{tile.type, tile.shape, {}, {}, {}};
  out.shape[size_t(axis)] = size;
  for (size_t d = 0; d < tile.shape.size(); ++d) {
    offsets.push_back(builder.getIndexAttr(int64_t(d) == axis ? offset : 0));
    sizes.push_back(builder.getIndexAttr(out.shape[d]));
  }
  out.value = tensor::ExtractSliceOp::create(builder, loc, tensor(tile), offsets, sizes, strides);
  return out;
}

// `whole` with `part` at `offset` along one axis.
Tile Emitter::withSlice(const Tile &whole, const Tile &part, int64_t axis, int64_t offset) {
  SmallVector<OpFoldResult> offsets, sizes, strides(whole.shape.size(), builder.getIndexAttr(1));
  for (size_t d = 0; d < whole.shape.size(); ++d) {
    offsets.push_back(builder.getIndexAttr(int64_t(d) == axis ? offset : 0));
    sizes.push_back(builder.getIndexAttr(part.shape[d]));
  }
  mlir::Value value = tensor::InsertSliceOp::create(builder, loc, tensor(part), tensor(whole), offsets, sizes, strides);
  return {whole.type, whole.shape, value, {}, {}};
}

// f(left…, right…) → as many tiles, of the same types and shapes.
std::vector<Tile> Emitter::combined(const Term &function, const Tiles &left, const Tiles &right) {
  std::vector<Term> arguments;
  for (const Tiles *side : {&left, &right})
    for (const Tile &tile : *side)
      arguments.push_back(Term::of(tile));
  Term result = function.kind == Term::Callee ? call(*function.callee, std::move(arguments), {})
                                              : callBuiltin(function.text, std::move(arguments), {});
  Tiles tiles;
  for (const Term &item : result.kind == Term::Tuple ? result.items : std::vector<Term>{result})
    tiles.push_back(toTile(item, left[std::min(tiles.size(), left.size() - 1)].type));
  if (tiles.size() != left.size())
    fail(fmt::format("{} takes {} and {} values, so it must return {}, not {}", function.describe(), left.size(), left.size(), left.size(),
                     tiles.size()));
  for (size_t k = 0; k < tiles.size(); ++k)
    tiles[k] = broadcast(cast(tiles[k], left[k].type), left[k].shape);
  return tiles;
}

// What the function does to two numbers, if that is one of the reductions that targets know: "sum", "max", …; else "".
std::string Emitter::knownReduction(const Term &function, DType type) {
  std::string kind;
  if (function.kind == Term::Builtin)
    return function.text == "maximum" ? "max" : function.text == "minimum" ? "min" : "";
  trial([&] {
    auto unknown = [&] {
      return Tile{type, {}, UnrealizedConversionCastOp::create(builder, loc, typeOf(type), ValueRange()).getResult(0), {}, {}};
    };
    Tile a = unknown(), b = unknown();
    Tile result = combined(function, {a}, {b})[0];
    Operation *op = result.value.getDefiningOp();
    if (!op || op->getNumOperands() != 2 || op->getOperand(0) == op->getOperand(1) ||
        !llvm::all_of(op->getOperands(), [&](mlir::Value v) { return v == a.value || v == b.value; }))
      return;
    kind = isa<arith::AddFOp, arith::AddIOp>(op)                       ? "sum"
           : isa<arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp>(op) ? "max"
           : isa<arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp>(op) ? "min"
           : isa<arith::XOrIOp>(op)                                    ? "xor_sum"
           : isa<arith::OrIOp>(op)                                     ? "reduce_or"
                                                                       : "";
  });
  return kind;
}

// The tiles of an argument, of one shape, and the axis, from 0.
std::vector<Tile> Emitter::alongAxis(const std::string &name, const Term &input, const Term &function, std::optional<int64_t> &axis) {
  Tiles tiles = tilesOf(input);
  if (tiles.empty() || (input.kind == Term::Tuple && tiles.size() != input.items.size()))
    fail(fmt::format("{} takes a tile, or a tuple of tiles, not {}", name, input.describe()));
  if (function.kind != Term::Callee && function.kind != Term::Builtin)
    fail(fmt::format("{} takes a function with a jit decorator as combine_fn, not {}", name, function.describe()));
  for (const Tile &tile : tiles)
    if (tile.shape.empty() || tile.shape != tiles[0].shape)
      fail(fmt::format("{} takes tiles of one shape, not {}", name, Term::of(tile).describe()));
  int64_t rank = int64_t(tiles[0].shape.size());
  if (axis && (*axis < -rank || *axis >= rank))
    fail(fmt::format("axis {} is outside a tile of rank {}", *axis, rank));
  if (axis && *axis < 0)
    *axis += rank;
  return tiles;
}

Term Emitter::reduceByBuiltin(const std::string &name, Arguments &a) {
  std::optional<int64_t> axis;
  if (a[1].kind != Term::None)
    axis = constantInt(a[1], "the axis of a reduction");
  Tiles tiles = alongAxis(name, a[0], a[2], axis);
  bool keepDims = known(a[3]).value_or(false);
  if (tiles.size() == 1)
    if (std::string kind = knownReduction(a[2], tiles[0].type); !kind.empty()) {
      DType type = tiles[0].type; // `reduce` keeps it, where `sum` widens
      return Term::of(cast(reduce(kind, tiles[0], axis, keepDims), type));
    }
  Shape shape = tiles[0].shape, kept = shape;
  int64_t along = axis.value_or(0);
  if (!axis) {
    for (Tile &tile : tiles)
      tile = reshape(tile, {ShapedType::getNumElements(shape)});
    kept.assign(shape.size(), 1);
  }
  for (int64_t half = tiles[0].shape[size_t(along)] / 2; half >= 1; half /= 2) {
    Tiles low, high;
    for (const Tile &tile : tiles) {
      low.push_back(slice(tile, along, 0, half));
      high.push_back(slice(tile, along, half, half));
    }
    tiles = combined(a[2], low, high);
  }
  if (axis && keepDims)
    kept[size_t(along)] = 1;
  else if (axis)
    kept.erase(kept.begin() + along);
  else if (!keepDims)
    kept.clear();
  for (Tile &tile : tiles)
    tile = reshape(tile, kept);
  return termOf(tiles);
}

Term Emitter::scanBuiltin(const std::string &name, Arguments &a) {
  std::optional<int64_t> axis = constantInt(a[1], "the axis of a scan");
  Tiles tiles = alongAxis(name, a[0], a[2], axis);
  bool reverse = known(a[3]).value_or(false);
  int64_t size = tiles[0].shape[size_t(*axis)];
  for (int64_t step = 1; step < size; step *= 2) {
    Tiles before, here;
    for (const Tile &tile : tiles) {
      before.push_back(slice(tile, *axis, reverse ? step : 0, size - step));
      here.push_back(slice(tile, *axis, reverse ? 0 : step, size - step));
    }
    Tiles next = combined(a[2], before, here);
    for (size_t k = 0; k < tiles.size(); ++k)
      tiles[k] = withSlice(tiles[k], next[k], *axis, reverse ? 0 : step);
  }
  return termOf(tiles);
}
