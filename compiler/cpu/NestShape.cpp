// Which loops, strides and register tile a linalg operation on buffers has. See NestShape.h.
#include "compiler/cpu/NestShape.h"
#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace dougong;
using namespace dougong::cpu;

namespace {
constexpr int64_t panelBytes = 96 << 10; // of the vector operand: with a row tile of the other, well within L2
constexpr int64_t packedUses = 6;        // row tiles that must read a panel for its copy to pay

// Which loops of the nest an operation's loop d is: one, or, where a map has `d floordiv n`, an outer one and an inner one of n
// iterations, so that d = n · outer + inner.
struct LoopOf {
  unsigned outer;
  int64_t divisor = 1;
};
using LoopsOf = SmallVector<LoopOf>;

// expr = Σ coefficients[loop] · loop + constant, if it is linear in the nest's loops.
bool linear(AffineExpr expr, int64_t factor, const LoopsOf &loops, SmallVectorImpl<int64_t> &coefficients, int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    const LoopOf &loop = loops[dim.getPosition()];
    coefficients[loop.outer] += factor * loop.divisor;
    if (loop.divisor > 1)
      coefficients[loop.outer + 1] += factor;
    return true;
  }
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant += factor * number.getValue(), true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return linear(binary.getLHS(), factor, loops, coefficients, constant) && linear(binary.getRHS(), factor, loops, coefficients, constant);
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!number)
    return false;
  if (expr.getKind() == AffineExprKind::Mul)
    return linear(binary.getLHS(), factor * number.getValue(), loops, coefficients, constant);
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  if (!dim || loops[dim.getPosition()].divisor != number.getValue())
    return false;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return coefficients[loops[dim.getPosition()].outer] += factor, true;
  if (expr.getKind() == AffineExprKind::Mod)
    return coefficients[loops[dim.getPosition()].outer + 1] += factor, true;
  return false;
}

// The divisor n of `d floordiv n` or `d mod n`, for each loop d that has one and divides by it.
SmallVector<int64_t> divisorsOf(linalg::LinalgOp op, ArrayRef<int64_t> extents) {
  SmallVector<int64_t> divisors(extents.size(), 1);
  for (AffineMap map : op.getIndexingMapsArray())
    map.walkExprs([&](AffineExpr expr) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
      if (!binary || (expr.getKind() != AffineExprKind::FloorDiv && expr.getKind() != AffineExprKind::Mod))
        return;
      auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
      auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (dim && number && number.getValue() > 1 && extents[dim.getPosition()] % number.getValue() == 0)
        divisors[dim.getPosition()] = number.getValue();
    });
  return divisors;
}

// Bits of a type that vectors can be made of and that lies in memory as it is in vectors (an i1 does not).
int64_t bitsOf(Type type) {
  if (type.isIndex())
    return 64;
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return type.getIntOrFloatBitWidth();
  if (auto integer = dyn_cast<IntegerType>(type))
    if (llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()))
      return integer.getWidth();
  return 0;
}

std::optional<NestOperand> operandOf(OpOperand &operand, linalg::LinalgOp op, const LoopsOf &loops, size_t count) {
  NestOperand result;
  result.value = operand.get();
  result.output = op.isDpsInit(&operand);
  result.element = getElementTypeOrSelf(operand.get().getType());
  result.strides.assign(count, 0);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return isa<ShapedType>(operand.get().getType()) ? std::nullopt : std::optional(result);
  result.memory = true;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || !bitsOf(result.element))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides)) {
    SmallVector<int64_t> coefficients(count, 0);
    int64_t constant = 0;
    if (!linear(expr, 1, loops, coefficients, constant))
      return std::nullopt;
    if (ShapedType::isDynamic(stride)) {
      if (constant || llvm::any_of(coefficients, [](int64_t c) { return c != 0; }))
        return std::nullopt;
      continue;
    }
    result.constant += constant * stride;
    for (auto [sum, c] : llvm::zip_equal(result.strides, coefficients))
      sum += c * stride;
  }
  return result;
}

// The body works element by element; notes what it needs.
bool bodyFits(NestShape &shape, int64_t &widest) {
  Block &body = shape.op->getRegion(0).front();
  auto note = [&](Type type) {
    if (type.isInteger(1))
      return true;
    widest = std::max(widest, bitsOf(type));
    return bitsOf(type) != 0;
  };
  for (BlockArgument argument : body.getArguments())
    if (!note(argument.getType()))
      return false;
  for (Operation &op : body.without_terminator()) {
    if (isa<linalg::IndexOp>(op))
      shape.indexed = true;
    else if (!isa<arith::ConstantOp>(op) &&
             !(OpTrait::hasElementwiseMappableTraits(&op) && isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect())))
      return false;
    shape.exactLanes |= isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
                            arith::FloorDivSIOp, math::IPowIOp>(op);
    for (Type type : op.getResultTypes())
      if (!note(type))
        return false;
  }
  return widest != 0;
}

void mergeLoops(NestShape &shape) {
  auto erase = [&](size_t i) {
    shape.loops.erase(shape.loops.begin() + i);
    for (NestOperand &operand : shape.operands)
      operand.strides.erase(operand.strides.begin() + i);
  };
  for (size_t i = shape.loops.size(); i-- > 0;)
    if (shape.loops[i].extent == 1 && shape.loops.size() > 1)
      erase(i);
  for (size_t i = shape.loops.size(); i-- > 1;) {
    NestLoop &outer = shape.loops[i - 1], &inner = shape.loops[i];
    if (outer.reduction != inner.reduction || !llvm::all_of(shape.operands, [&](const NestOperand &operand) {
          return operand.strides[i - 1] == operand.strides[i] * inner.extent;
        }))
      continue;
    inner.extent *= outer.extent;
    inner.original = -1;
    erase(i - 1);
  }
}

bool chooseVectorLoop(NestShape &shape) {
  auto fits = [&](size_t loop, bool reduction) {
    bool somewhere = false;
    for (const NestOperand &operand : shape.operands) {
      int64_t stride = operand.strides[loop];
      if (operand.output ? stride != (reduction ? 0 : 1) : stride != 0 && stride != 1)
        return false;
      somewhere |= stride == 1;
    }
    return somewhere;
  };
  for (size_t i = shape.loops.size(); i-- > 0;)
    if (!shape.loops[i].reduction && fits(i, false))
      return shape.vectorLoop = i, true;
  for (size_t i = shape.loops.size(); i-- > 0;)
    if (shape.loops[i].reduction && fits(i, true))
      return shape.vectorLoop = i, shape.horizontal = true, true;
  if (shape.reduces())
    return false;
  // A transposition: along the longest loop that is dense for somebody.
  for (size_t i = 0; i < shape.loops.size(); ++i)
    if (llvm::any_of(shape.operands, [&](const NestOperand &operand) { return operand.strides[i] == 1; }) &&
        (shape.vectorLoop < 0 || shape.loops[i].extent > shape.loops[shape.vectorLoop].extent))
      shape.vectorLoop = i, shape.strided = true;
  return shape.strided;
}

// For lanes to be combined, the body must be `result = combine(accumulator, f(inputs))`, with one known operation.
bool findCombiner(NestShape &shape) {
  if (shape.op.getNumDpsInits() != 1)
    return false;
  SmallVector<Operation *> combiners;
  if (!matchReduction(shape.op.getRegionOutputArgs(), 0, combiners) || combiners.size() != 1)
    return false;
  shape.combining = linalg::getCombinerOpKind(combiners[0]);
  return shape.combining && arith::getNeutralElement(combiners[0]);
}

struct Tile {
  int64_t rows, vectors;
};

// The register tile that takes the fewest cycles for all of rows × vectors, remainders included: a step of k issues
// two multiply-adds and two loads a cycle and waits four cycles for the accumulators of the step before.
Tile contractionTile(int64_t rows, int64_t vectors, const Registers &registers) {
  Tile best{1, 1};
  double least = 1e300;
  int64_t accumulators = registers.count >= 32 ? 26 : 12;
  for (int64_t v = 1; v <= std::min<int64_t>(vectors, 8); ++v)
    for (int64_t r = 1; r <= rows && r * v <= accumulators && r * v + v + 1 < registers.count; ++r) {
      auto cost = [](int64_t a, int64_t b) { return a * b == 0 ? 0 : std::max({a * b / 2.0, (a + b) / 2.0, 4.0}); };
      double fullRows = double(rows / r), fullVectors = double(vectors / v);
      double cycles = fullRows * fullVectors * cost(r, v) + fullRows * cost(r, vectors % v) + fullVectors * cost(rows % r, v) +
                      cost(rows % r, vectors % v);
      if (cycles < least * 0.999 || (cycles < least * 1.001 && r * v > best.rows * best.vectors))
        least = cycles, best = {r, v};
    }
  return best;
}

void chooseContractionTile(NestShape &shape, const Registers &registers) {
  unsigned v = shape.vectorLoop;
  auto isPanel = [&](const NestOperand &operand) { return !operand.output && operand.memory && operand.strides[v] == 1; };
  SmallVector<unsigned> batch, rows, reductions;
  for (unsigned i = 0; i < shape.loops.size(); ++i) {
    if (shape.loops[i].reduction)
      reductions.push_back(i);
    else if (i != v) {
      bool everywhere =
          llvm::all_of(shape.operands, [&](const NestOperand &operand) { return !isPanel(operand) || operand.strides[i] != 0; });
      (everywhere ? batch : rows).push_back(i);
    }
  }
  int64_t vectors = llvm::divideCeil(shape.loops[v].extent, shape.lanes);
  std::optional<unsigned> row;
  if (!rows.empty())
    row = rows.pop_back_val();
  else if (!batch.empty())
    row = batch.pop_back_val(); // depthwise, pooling: no reuse, but independent accumulators
  Tile tile = contractionTile(row ? shape.loops[*row].extent : 1, vectors, registers);
  shape.vectors = tile.vectors;
  int64_t uses = row ? llvm::divideCeil(shape.loops[*row].extent, tile.rows) : 1;
  for (unsigned loop : rows)
    uses *= shape.loops[loop].extent;

  for (unsigned loop : batch)
    shape.steps.push_back({loop, 1});
  int64_t width = tile.vectors * shape.lanes, elementBytes = 1, depth = 1;
  for (const NestOperand &operand : shape.operands)
    if (isPanel(operand))
      elementBytes = std::max(elementBytes, bitsOf(operand.element) / 8);
  for (unsigned loop : reductions)
    depth *= shape.loops[loop].extent;
  int64_t limit = std::max<int64_t>(1, panelBytes / (width * elementBytes)), inner = depth;
  if (uses > 1)
    for (unsigned loop : reductions) {
      int64_t extent = shape.loops[loop].extent;
      if (inner <= limit)
        break;
      inner /= extent;
      int64_t parts = llvm::divideCeil(extent, std::max<int64_t>(1, limit / inner));
      shape.steps.push_back({loop, int64_t(llvm::divideCeil(extent, parts))});
    }
  shape.steps.push_back({v, width});
  // A panel whose rows lie far apart is copied together: its lines would meet in a few sets of the cache, its pages in the TLB.
  bool scattered = llvm::any_of(shape.operands, [&](const NestOperand &operand) {
    return isPanel(operand) && llvm::any_of(reductions, [&](unsigned loop) { return operand.strides[loop] * elementBytes >= 512; }) &&
           llvm::all_of(rows, [&](unsigned loop) { return operand.strides[loop] == 0; }) && (!row || operand.strides[*row] == 0);
  });
  if (scattered && uses >= packedUses && depth >= 8)
    shape.packAfter = shape.steps.size();
  for (unsigned loop : rows)
    shape.steps.push_back({loop, 1});
  if (row)
    shape.steps.push_back({*row, tile.rows});
}

void chooseTile(NestShape &shape, const Registers &registers) {
  unsigned v = shape.vectorLoop;
  if (shape.reduces() && !shape.horizontal)
    return chooseContractionTile(shape, registers);
  SmallVector<unsigned> parallel;
  for (unsigned i = 0; i < shape.loops.size(); ++i)
    if (!shape.loops[i].reduction && i != v)
      parallel.push_back(i);
  for (unsigned loop : parallel)
    shape.steps.push_back({loop, 1});
  int64_t vectors = llvm::divideCeil(shape.loops[v].extent, shape.lanes);
  if (shape.strided) { // the other loops within: lines that one lane touches are touched by the next iterations
    shape.vectors = std::min<int64_t>(vectors, 2);
    shape.steps.insert(shape.steps.begin(), {v, shape.vectors * shape.lanes});
    return;
  }
  if (!shape.horizontal) {
    shape.vectors = std::min<int64_t>(vectors, 4);
    shape.steps.push_back({v, shape.vectors * shape.lanes});
    return;
  }
  // Sums along the vector: several rows and columns share what they load, as in a·bᵀ; one row alone takes several accumulators.
  int64_t shared = llvm::count_if(shape.operands, [&](const NestOperand &operand) { return operand.strides[v] == 1; });
  int64_t tile = registers.count >= 32 ? 4 : 3, points = 1;
  for (size_t i = shape.steps.size(), taken = 0; i-- > 0 && taken < 2 && shared > 1; ++taken) {
    shape.steps[i].tile = std::min(tile, shape.loops[shape.steps[i].loop].extent);
    points *= shape.steps[i].tile;
  }
  shape.vectors = std::min<int64_t>(vectors, std::max<int64_t>(1, 4 / points));
}
} // namespace

std::optional<NestShape> cpu::shapeOf(linalg::LinalgOp op, const Registers &registers) {
  if (!op.hasPureBufferSemantics() || op->getNumRegions() != 1)
    return std::nullopt;
  NestShape shape;
  shape.op = op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges(), divisors = divisorsOf(op, extents);
  LoopsOf loops;
  for (auto [i, extent, divisor, kind] : llvm::enumerate(extents, divisors, op.getIteratorTypesArray())) {
    if (ShapedType::isDynamic(extent) || extent == 0)
      return std::nullopt;
    loops.push_back({unsigned(shape.loops.size()), divisor});
    bool reduction = kind == utils::IteratorType::reduction;
    shape.loops.push_back({extent / divisor, reduction, divisor == 1 ? int64_t(i) : -1});
    if (divisor > 1)
      shape.loops.push_back({divisor, reduction, -1});
  }
  if (shape.loops.empty())
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<NestOperand> access = operandOf(operand, op, loops, shape.loops.size());
    if (!access)
      return std::nullopt;
    shape.operands.push_back(*access);
  }
  int64_t widest = 0;
  if (!bodyFits(shape, widest) || (shape.indexed && llvm::any_of(divisors, [](int64_t n) { return n > 1; })))
    return std::nullopt;
  if (!shape.indexed)
    mergeLoops(shape);
  if (!chooseVectorLoop(shape) || (shape.horizontal && !findCombiner(shape)))
    return std::nullopt;
  shape.lanes = registers.bits / widest;
  chooseTile(shape, registers);
  return shape;
}
