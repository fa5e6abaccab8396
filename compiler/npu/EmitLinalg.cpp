// linalg operations as vector code on LM, and as copies where they only move data.
//
// Loops, from the outside: parallel ones, the last of them several iterations at once (`together`); then the vector loop, 32
// lanes at a time, if it is parallel; then the reductions, in registers; innermost the vector loop if it is a reduction.
//
//   sum over k of a[m,k]*b[k,n]:  for m by 8 { for n by 32 { acc[8] = init; for k { acc[u] += splat(a[m+u,k]) * b[k,n..n+31] } store acc[8]
//   } } row sums of x[m,n]:           for m by 4 { acc[4] = 0; for n by 32 { acc[u] += x[m+u,n..n+31] } store reduce(acc[u]) }
//
// What is done together is emitted operation by operation, so that latencies overlap, and an operand that several
// iterations share is loaded once. Windows of a few elements (3x3, 5x5) are unrolled for the same reason.
//
// A narrow last dimension (16 channels) joins the one before it; an operand that does not move in that one, such as a bias,
// then repeats within the vector. Where all results are 16-bit floats, what happens on the way in f32 may round otherwise than
// written, by far less than the result itself: products and sums are fused, divisors are inverted.
// A ragged last vector reads on beyond its row (buffers have room for that); it also
// writes on, where the rows that follow are written later, and else writes back what lay there.
#include "compiler/npu/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/IR/MDBuilder.h"

using namespace mlir;

namespace dougong::npu {

class VectorCode {
public:
  VectorCode(KernelEmitter &emitter, linalg::LinalgOp op) : e(emitter), b(emitter.builder), op(op) {}
  LogicalResult emit();

private:
  struct Operand {
    std::optional<Tile> tile; // none: a splat or unused
    llvm::Value *splat = nullptr, *base = nullptr;
    Type element;
  };
  using Indices = SmallVector<llvm::Value *>;

  LogicalResult findOperands();
  bool fitsVectors();
  void chooseVectorLoop();
  int misfits(int loop);
  Operation *combiner(unsigned result);
  bool isCombined() const { return vectorLoop >= 0 && nest.loops[vectorLoop].reduction; }
  llvm::Value *dimension(unsigned dim, const Indices &at);
  llvm::Value *pointer(int operand, const Indices &at);
  llvm::Value *load(int operand, const Indices &at, int lanes);
  void store(int result, llvm::Value *value, const Indices &at, int lanes, llvm::Value *mask);
  using Values = SmallVector<llvm::Value *>;
  FailureOr<SmallVector<Values>> bodies(ArrayRef<Indices> places, int lanes, ArrayRef<Values> carried);
  llvm::Value *relaxed(Operation &inner, llvm::DenseMap<Value, llvm::Value *> &values);
  FailureOr<llvm::Value *> one(Operation &inner, llvm::DenseMap<Value, llvm::Value *> &values, const Indices &at, int lanes);
  llvm::Value *neutral(Operation *combine, llvm::Type *type);
  llvm::Value *reduce(Operation *combine, llvm::Value *vector);
  llvm::Value *combineTwo(Operation *combine, llvm::Value *x, llvm::Value *y);
  void joinNarrowLoops();
  bool mayOverrun();
  llvm::Value *start(unsigned result, const Indices &at, int lanes);
  void outerLoops(size_t depth, Indices &at);
  void group(ArrayRef<Indices> rows);
  void compute(ArrayRef<Indices> places, int lanes, llvm::Value *mask);
  void reductions(size_t depth, MutableArrayRef<Indices> places, llvm::function_ref<void()> innermost);
  void eachVectors(ArrayRef<Indices> rows, int64_t most, llvm::function_ref<void(ArrayRef<Indices>, llvm::Value *)> body);
  void separateMemory();

  KernelEmitter &e;
  llvm::IRBuilder<> &b;
  linalg::LinalgOp op;
  Nest nest;
  SmallVector<Operand> operands;
  SmallVector<Tile> results;
  SmallVector<llvm::Value *> resultBase;
  SmallVector<Nest::Operand> resultNest;
  SmallVector<int> parallel, reduced; // loops without the vector loop
  SmallVector<int64_t> periods;       // of operands that repeat within a vector
  int vectorLoop = -1, togetherLoop = -1, joinedLoop = -1;
  int64_t together = 1, unrolled = 1;
  int inputs = 0;
  bool failedInside = false, overrun = false, overrunHere = false;
  SmallVector<std::pair<llvm::Instruction *, Buffer *>> accesses;
};

//===-- Operands ----------------------------------------------------------===//

LogicalResult VectorCode::findOperands() {
  inputs = op.getNumDpsInputs();
  SmallVector<std::optional<SmallVector<int64_t>>> strides;
  for (OpOperand &use : op->getOpOperands()) {
    Operand operand;
    operand.element = getElementTypeOrSelf(use.get().getType());
    if (!elementType(operand.element, e.context))
      return op.emitOpError("computes with elements of type ")
             << operand.element << ", which the NPU can only load, store and multiply in contractions";
    bool read = op.payloadUsesValueFromOperand(&use);
    if (read) {
      operand.splat = e.scalar(use.get());
      bool undefined = !operand.splat && use.get().getDefiningOp<tensor::EmptyOp>();
      if (undefined)
        operand.splat = llvm::Constant::getNullValue(elementType(operand.element, e.context));
      if (!operand.splat) {
        operand.tile = e.tileOf(use.get(), op);
        if (!operand.tile)
          return failure();
      }
    }
    strides.push_back(operand.tile ? std::optional(operand.tile->strides) : std::nullopt);
    operands.push_back(operand);
  }
  for (Operand &operand : operands)
    if (operand.tile)
      e.beforeAccess(KernelEmitter::core, operand.tile->buffer, KernelEmitter::Read);
  // The results take part in the nest in place of the initial values, which are read where they lie.
  SmallVector<std::optional<SmallVector<int64_t>>> withResults = strides;
  for (auto [index, value] : llvm::enumerate(op->getResults())) {
    auto type = cast<RankedTensorType>(value.getType());
    auto filled = e.isStored(value) ? KernelEmitter::Filled::ToBeStored : KernelEmitter::Filled::InPlace;
    auto home = e.wanted.find(value);
    Tile tile = home != e.wanted.end() ? home->second : e.newTile(op, index, op.getLoc(), type, "computed tile", filled);
    e.beforeAccess(KernelEmitter::core, tile.buffer, KernelEmitter::Write);
    withResults[inputs + index] = tile.strides;
    e.tiles[value] = tile;
    results.push_back(tile);
  }
  // Initial values that are tiles and results must agree on which loops are neighbours: both are dense, or nothing merges.
  bool merge = true;
  for (auto [index, tile] : llvm::enumerate(results))
    merge &= !strides[inputs + index] || *strides[inputs + index] == tile.strides;
  nest = buildNest(op, withResults, merge);
  for (size_t index = 0; index < results.size(); ++index) {
    resultNest.push_back(nest.operands[inputs + index]);
    if (!merge && strides[inputs + index]) {
      SmallVector<std::optional<SmallVector<int64_t>>> withInitial = withResults;
      withInitial[inputs + index] = strides[inputs + index];
      nest.operands[inputs + index] = buildNest(op, withInitial, false).operands[inputs + index];
    }
  }
  for (Operand &operand : operands)
    if (operand.tile)
      operand.base = b.CreateIntToPtr(e.address(*operand.tile), b.getPtrTy());
  for (Tile &tile : results)
    resultBase.push_back(b.CreateIntToPtr(e.address(tile), b.getPtrTy()));
  return success();
}

// The operation that folds one more element into the result, where the body is just that: acc + f(inputs).
Operation *VectorCode::combiner(unsigned result) {
  Block *block = op.getBlock();
  BlockArgument carried = block->getArgument(inputs + result);
  Operation *combine = block->getTerminator()->getOperand(result).getDefiningOp();
  if (!combine || !carried.hasOneUse() || *carried.getUsers().begin() != combine || combine->getNumOperands() != 2)
    return nullptr;
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp,
             arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(
             combine)
             ? combine
             : nullptr;
}

// Elements of 32 bits and less only, and nothing that has to be looked up by index.
bool VectorCode::fitsVectors() {
  auto fits = [](Type type) {
    return type.isIntOrFloat() && !type.isIndex() && type.getIntOrFloatBitWidth() <= 32 &&
           (type.getIntOrFloatBitWidth() != 8 || !isa<FloatType>(type));
  };
  for (Operand &operand : operands)
    if (!fits(operand.element))
      return false;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (isa<tensor::ExtractOp>(inner))
      return false;
    if (isa<linalg::IndexOp>(inner)) {
      if (!llvm::all_of(inner.getUsers(), [&](Operation *user) {
            return isa<arith::IndexCastOp, arith::IndexCastUIOp>(user) && user->getResult(0).getType().getIntOrFloatBitWidth() <= 32;
          }))
        return false;
      continue;
    }
    if (!llvm::all_of(inner.getResultTypes(), fits) && !isa<arith::ConstantOp>(inner))
      return false;
  }
  return true;
}

// How many operands a vector along `loop` cannot load at once; 1000 where a result could not be stored.
int VectorCode::misfits(int loop) {
  int count = 0;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (!operand.tile)
      continue;
    const Nest::Operand &walk = nest.operands[index];
    if (!walk.linear) {
      for (unsigned d = 0; d < op.getNumLoops(); ++d)
        if (walk.map.isFunctionOfDim(d))
          for (auto [part, factor] : nest.dimensions[d])
            count += part == loop ? 1 : 0;
    } else if (walk.strides[loop] != 0 && walk.strides[loop] != elementBytes(operand.element)) {
      ++count;
    }
  }
  bool reduction = nest.loops[loop].reduction;
  for (auto [index, walk] : llvm::enumerate(resultNest)) {
    int64_t wanted = reduction ? 0 : elementBytes(results[index].element);
    if (!walk.linear || walk.strides[loop] != wanted || (reduction && !combiner(index)))
      return 1000;
  }
  return count;
}

void VectorCode::chooseVectorLoop() {
  double best = 0;
  if (fitsVectors())
    for (size_t l = 0; l < nest.loops.size(); ++l) {
      if (misfits(l))
        continue;
      int64_t size = nest.loops[l].size;
      double worth = double(size) / llvm::alignTo(size, vectorLanes);
      if (nest.loops[l].reduction)
        worth *= size >= 4 * vectorLanes ? 0.6 : 0.3; // what the final reduction costs
      if (worth > best) {
        best = worth;
        vectorLoop = l;
      }
    }
  if (llvm::any_of(periods, [](int64_t period) { return period != 0; }))
    vectorLoop = joinedLoop; // what repeats does so in this one
  for (auto [l, loop] : llvm::enumerate(nest.loops))
    if (int(l) != vectorLoop)
      (loop.reduction ? reduced : parallel).push_back(l);
  // Vectors of elementwise code done together: of 4, 6, 8 and 12, eight is where more gains little (hard swish, 32 channels:
  // 179, 149, 127, 117 thousand cycles). Long bodies fill the pipes by themselves, and the registers even more.
  int64_t length = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    length += isa<math::ExpOp, math::PowFOp>(inner) ? 8 : 1;
  unrolled = std::clamp<int64_t>(256 / std::max<int64_t>(length, 1), 1, e.layout.together);
  bool accumulates = !reduced.empty() || isCombined();
  int64_t most = vectorLoop < 0 ? 2 : accumulates && isMultiplyAdd(op) ? e.layout.together : std::min<int64_t>(4, unrolled);
  if (!accumulates && vectorLoop >= 0)
    most = llvm::divideCeil(unrolled * vectorLanes, std::max<int64_t>(vectorLanes, nest.loops[vectorLoop].size));
  if (!parallel.empty() && most > 1) {
    togetherLoop = parallel.back();
    together = std::min<int64_t>(most, nest.loops[togetherLoop].size);
  }
  overrun = mayOverrun();
}

// (w, c) with 16 channels → one loop of w * 16 elements, where every tile goes on without a gap or, in 32-bit elements and
// 16-bit floats that are extended at once, repeats.
void VectorCode::joinNarrowLoops() {
  periods.assign(operands.size(), 0);
  if (!fitsVectors())
    return;
  for (;;) {
    int last = nest.loops.size() - 1, narrow = -1;
    for (int l = last; l > 0; --l)
      if (!nest.loops[l].reduction && !nest.loops[l - 1].reduction) {
        narrow = l;
        break;
      }
    bool fixed = narrow < 0 || (nest.loops[narrow].size >= vectorLanes && llvm::all_of(periods, [](int64_t p) { return p == 0; }));
    if (fixed || op.hasIndexSemantics())
      return;
    int64_t size = nest.loops[narrow].size;
    SmallVector<int64_t> next = periods;
    auto joins = [&](const Nest::Operand &walk, int64_t bytes, int64_t *period) {
      int64_t outer = walk.strides[narrow - 1], inner = walk.strides[narrow];
      if (!walk.linear)
        return false;
      if (period && *period)
        return outer == 0;
      if (outer == inner * size)
        return outer == 0 || inner == bytes;
      if (!period || outer != 0 || inner != bytes || vectorLanes % size)
        return false;
      *period = size;
      return true;
    };
    for (auto [index, operand] : llvm::enumerate(operands)) {
      if (!operand.tile)
        continue;
      int64_t bytes = elementBytes(operand.element), *period = bytes >= 2 && int(index) < inputs ? &next[index] : nullptr;
      if (!joins(nest.operands[index], bytes, period))
        return;
      if (next[index] && bytes == 2 && !llvm::all_of(op.getBlock()->getArgument(index).getUsers(), llvm::IsaPred<arith::ExtFOp>))
        return;
    }
    for (auto [index, walk] : llvm::enumerate(resultNest))
      if (!joins(walk, elementBytes(results[index].element), nullptr))
        return;
    periods = next;
    joinedLoop = narrow - 1;
    nest.loops[narrow].size *= nest.loops[narrow - 1].size;
    nest.loops.erase(nest.loops.begin() + narrow - 1);
    for (Nest::Operand &walk : nest.operands)
      walk.strides.erase(walk.strides.begin() + narrow - 1);
    for (Nest::Operand &walk : resultNest)
      walk.strides.erase(walk.strides.begin() + narrow - 1);
    for (Nest::Dimension &dimension : nest.dimensions)
      dimension.clear();
  }
}

// Rows are written in the order they lie in, so that what a ragged vector writes beyond its row is overwritten, or lies
// beyond the buffer's end.
bool VectorCode::mayOverrun() {
  if (vectorLoop < 0 || isCombined())
    return false;
  for (const Operand &operand : operands)
    for (const Tile &result : results)
      if (operand.tile && operand.tile->buffer == result.buffer)
        return false;
  for (auto [index, walk] : llvm::enumerate(resultNest)) {
    int64_t within = nest.loops[vectorLoop].size * walk.strides[vectorLoop];
    for (int loop : llvm::reverse(parallel)) {
      if (walk.strides[loop] < within)
        return false;
      within = nest.loops[loop].size * walk.strides[loop];
    }
  }
  return true;
}

//===-- Elements ----------------------------------------------------------===//

llvm::Value *VectorCode::dimension(unsigned dim, const Indices &at) {
  llvm::Value *sum = e.i64(0);
  for (auto [loop, factor] : nest.dimensions[dim])
    sum = b.CreateAdd(sum, b.CreateMul(at[loop], e.i64(factor)));
  return sum;
}

llvm::Value *VectorCode::pointer(int operand, const Indices &at) {
  bool isResult = operand >= int(operands.size());
  const Nest::Operand &walk = isResult ? resultNest[operand - operands.size()] : nest.operands[operand];
  llvm::Value *offset = e.i64(walk.offset);
  for (auto [l, stride] : llvm::enumerate(walk.strides))
    if (stride && !(!isResult && int(l) == vectorLoop && periods[operand]))
      offset = b.CreateAdd(offset, b.CreateMul(at[l], e.i64(stride)));
  if (!walk.linear)
    for (auto [expr, stride] : llvm::zip(walk.map.getResults(), walk.tileStrides)) {
      std::function<llvm::Value *(AffineExpr)> value = [&](AffineExpr part) -> llvm::Value * {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          return dimension(dim.getPosition(), at);
        if (auto constant = dyn_cast<AffineConstantExpr>(part))
          return e.i64(constant.getValue());
        auto binary = cast<AffineBinaryOpExpr>(part);
        llvm::Value *left = value(binary.getLHS()), *right = value(binary.getRHS());
        switch (binary.getKind()) {
        case AffineExprKind::Add:
          return b.CreateAdd(left, right);
        case AffineExprKind::Mul:
          return b.CreateMul(left, right);
        case AffineExprKind::Mod:
          return b.CreateSRem(left, right); // what is indexed is never negative
        case AffineExprKind::CeilDiv:
          return b.CreateSDiv(b.CreateAdd(left, b.CreateSub(right, e.i64(1))), right);
        default:
          return b.CreateSDiv(left, right);
        }
      };
      offset = b.CreateAdd(offset, b.CreateMul(value(expr), e.i64(stride)));
    }
  return b.CreateGEP(b.getInt8Ty(), isResult ? resultBase[operand - operands.size()] : operands[operand].base, offset);
}

llvm::Value *VectorCode::load(int index, const Indices &at, int lanes) {
  Operand &operand = operands[index];
  if (operand.splat)
    return operand.splat;
  const Nest::Operand &walk = nest.operands[index];
  bool vector = lanes > 1 && walk.strides[vectorLoop] != 0;
  llvm::Type *type = operand.element.isInteger(1) ? b.getInt8Ty() : elementType(operand.element, e.context);
  if (vector)
    type = llvm::FixedVectorType::get(type, lanes);
  auto *value = b.CreateAlignedLoad(type, pointer(index, at), llvm::Align(elementBytes(operand.element)));
  accesses.push_back({value, operand.tile->buffer});
  if (vector && periods[index]) {
    SmallVector<int> lanesOfPeriod;
    for (int lane = 0; lane < lanes; ++lane)
      lanesOfPeriod.push_back(lane % periods[index]);
    llvm::Value *wide = operand.element.isFloat() && elementBytes(operand.element) == 2
                            ? b.CreateFPExt(value, llvm::FixedVectorType::get(b.getFloatTy(), lanes))
                            : value;
    return b.CreateShuffleVector(wide, lanesOfPeriod);
  }
  return operand.element.isInteger(1) ? b.CreateICmpNE(value, llvm::Constant::getNullValue(type)) : value;
}

void VectorCode::store(int index, llvm::Value *value, const Indices &at, int lanes, llvm::Value *mask) {
  Type element = results[index].element;
  if (element.isInteger(1))
    value =
        b.CreateZExt(value, llvm::isa<llvm::VectorType>(value->getType()) ? (llvm::Type *)llvm::FixedVectorType::get(b.getInt8Ty(), lanes)
                                                                          : b.getInt8Ty());
  value = splat(b, value, lanes);
  llvm::Value *to = pointer(operands.size() + index, at);
  llvm::Align align(elementBytes(element));
  if (mask) {
    auto *old = b.CreateAlignedLoad(value->getType(), to, align);
    accesses.push_back({old, results[index].buffer});
    value = b.CreateSelect(mask, value, old);
  }
  accesses.push_back({b.CreateAlignedStore(value, to, align), results[index].buffer});
}

// The cheaper forms of an operation in f32 whose result is rounded to 16 bits later; null where there is none.
//   x*y + z → fma        x / y → x * (1/y): reciprocals are four times as fast as quotients
llvm::Value *VectorCode::relaxed(Operation &inner, llvm::DenseMap<Value, llvm::Value *> &values) {
  if (inner.getNumResults() != 1 || !inner.getResult(0).getType().isF32() ||
      !llvm::all_of(results, [](const Tile &tile) { return elementBytes(tile.element) == 2 && isa<FloatType>(tile.element); }))
    return nullptr;
  auto lookup = [&](Value value) {
    llvm::Value *found = values.lookup(value);
    return found ? found : e.scalar(value);
  };
  if (auto divide = dyn_cast<arith::DivFOp>(inner)) {
    llvm::Value *divisor = lookup(divide.getRhs());
    llvm::Value *dividend = lookup(divide.getLhs());
    if (!divisor || !dividend)
      return nullptr;
    llvm::Value *inverse = b.CreateFDiv(llvm::ConstantFP::get(divisor->getType(), 1), divisor);
    bool vector = dividend->getType()->isVectorTy() || divisor->getType()->isVectorTy();
    return b.CreateFMul(splat(b, dividend, vector ? vectorLanes : 1), splat(b, inverse, vector ? vectorLanes : 1));
  }
  if (!isa<arith::AddFOp, arith::SubFOp>(inner))
    return nullptr;
  for (int side = 0; side < 2; ++side) {
    auto product = inner.getOperand(side).getDefiningOp<arith::MulFOp>();
    if (!product || !product->hasOneUse() || product->getBlock() != inner.getBlock())
      continue;
    llvm::Value *x = lookup(product.getLhs()), *y = lookup(product.getRhs()), *z = lookup(inner.getOperand(1 - side));
    if (isa<arith::SubFOp>(inner))
      (side == 0 ? z : x) = b.CreateFNeg(side == 0 ? z : x);
    bool vector = llvm::any_of(std::array{x, y, z}, [](llvm::Value *v) { return v->getType()->isVectorTy(); });
    Values in;
    for (llvm::Value *value : {x, y, z})
      in.push_back(splat(b, value, vector ? vectorLanes : 1));
    return b.CreateIntrinsic(in[0]->getType(), llvm::Intrinsic::fma, in);
  }
  return nullptr;
}

FailureOr<llvm::Value *> VectorCode::one(Operation &inner, llvm::DenseMap<Value, llvm::Value *> &values, const Indices &at, int lanes) {
  auto lookup = [&](Value value) {
    llvm::Value *found = values.lookup(value);
    return found ? found : e.scalar(value);
  };
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    return dimension(index.getDim(), at);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(inner) && lanes > 1)
    if (auto index = inner.getOperand(0).getDefiningOp<linalg::IndexOp>()) {
      // The vector loop's number differs from lane to lane.
      llvm::Type *type = elementType(inner.getResult(0).getType(), e.context);
      llvm::Value *first = b.CreateTrunc(dimension(index.getDim(), at), b.getInt32Ty());
      for (auto [loop, factor] : nest.dimensions[index.getDim()])
        if (loop == vectorLoop) {
          auto *vector = llvm::FixedVectorType::get(b.getInt32Ty(), lanes);
          llvm::Value *step = b.CreateMul(b.CreateStepVector(vector), llvm::ConstantInt::get(vector, factor));
          first = b.CreateAdd(splat(b, first, lanes), step);
          type = llvm::FixedVectorType::get(type, lanes);
        }
      return b.CreateTrunc(first, type);
    }
  if (auto constant = dyn_cast<arith::ConstantOp>(inner))
    if (llvm::Constant *value = emitConstant(constant.getValue(), e.context))
      return (llvm::Value *)value;
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
    if (llvm::Value *element = e.scalar(extract.getTensor()))
      return element;
    std::optional<Tile> tile = e.tileOf(extract.getTensor(), op);
    if (!tile)
      return failure();
    SmallVector<llvm::Value *> indices;
    for (Value index : extract.getIndices())
      indices.push_back(lookup(index));
    return e.loadElement(e.elementAddress(*tile, indices), tile->element);
  }
  SmallVector<llvm::Value *> in;
  for (Value operand : inner.getOperands()) {
    in.push_back(lookup(operand));
    if (!in.back()) {
      inner.emitOpError("is not supported on the NPU inside ") << op->getName() << ": an operand has no scalar value";
      return failure();
    }
  }
  llvm::Value *value = emitElementwise(b, &inner, in);
  if (!value) {
    inner.emitOpError("is not supported on the NPU") << " for " << (inner.getNumResults() ? inner.getResult(0).getType() : Type());
    return failure();
  }
  return value;
}

// The body for several places at once, one operation after the other. `carried` holds each place's accumulators.
FailureOr<SmallVector<VectorCode::Values>> VectorCode::bodies(ArrayRef<Indices> places, int lanes, ArrayRef<Values> carried) {
  Block *block = op.getBlock();
  SmallVector<llvm::DenseMap<Value, llvm::Value *>> values(places.size());
  for (int index = 0; index < int(operands.size()); ++index)
    for (auto [place, at] : llvm::enumerate(places)) {
      BlockArgument argument = block->getArgument(index);
      if (index >= inputs && !carried.empty()) {
        values[place][argument] = carried[place][index - inputs];
      } else if (operands[index].tile || operands[index].splat) {
        llvm::Value *value = load(index, at, lanes);
        values[place][argument] = value;
        if (periods[index] && elementBytes(operands[index].element) == 2) // extended already
          for (Operation *user : argument.getUsers())
            values[place][user->getResult(0)] = value;
      }
    }
  bool fused = !carried.empty() && isMultiplyAdd(op);
  for (Operation &inner : block->without_terminator())
    for (auto [place, at] : llvm::enumerate(places)) {
      llvm::DenseMap<Value, llvm::Value *> &known = values[place];
      if (known.contains(inner.getResult(0)))
        continue;
      // Sums of products in f32 are fused, as in the tensor engine.
      auto add = dyn_cast<arith::AddFOp>(inner);
      if (add && fused && add.getType().isF32()) {
        bool left = isa<BlockArgument>(add.getLhs());
        auto multiply = (left ? add.getRhs() : add.getLhs()).getDefiningOp<arith::MulFOp>();
        Values in;
        for (Value operand : {multiply.getLhs(), multiply.getRhs(), left ? add.getLhs() : add.getRhs()})
          in.push_back(splat(b, known.lookup(operand), lanes));
        known[add.getResult()] = b.CreateIntrinsic(in[0]->getType(), llvm::Intrinsic::fma, in);
        continue;
      }
      if (llvm::Value *value = relaxed(inner, known)) {
        known[inner.getResult(0)] = value;
        continue;
      }
      FailureOr<llvm::Value *> value = one(inner, known, at, lanes);
      if (failed(value))
        return failure();
      known[inner.getResult(0)] = *value;
    }
  SmallVector<Values> yielded(places.size());
  for (Value value : block->getTerminator()->getOperands())
    for (auto [place, known] : llvm::enumerate(values)) {
      llvm::Value *found = known.lookup(value);
      yielded[place].push_back(found ? found : e.scalar(value));
    }
  return yielded;
}

//===-- Reductions --------------------------------------------------------===//

llvm::Value *VectorCode::neutral(Operation *combine, llvm::Type *type) {
  llvm::Type *element = type->getScalarType();
  auto real = [&](double value) { return llvm::ConstantFP::get(type, value); };
  auto whole = [&](const llvm::APInt &value) { return llvm::ConstantInt::get(type, value); };
  unsigned bits = element->isIntegerTy() ? element->getIntegerBitWidth() : 0;
  double infinity = std::numeric_limits<double>::infinity();
  if (isa<arith::AddFOp>(combine))
    return real(-0.0);
  if (isa<arith::MulFOp>(combine))
    return real(1);
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combine))
    return real(-infinity);
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(combine))
    return real(infinity);
  if (isa<arith::MulIOp>(combine))
    return whole(llvm::APInt(bits, 1));
  if (isa<arith::AndIOp, arith::MinUIOp>(combine))
    return whole(llvm::APInt::getAllOnes(bits));
  if (isa<arith::MaxSIOp>(combine))
    return whole(llvm::APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(combine))
    return whole(llvm::APInt::getSignedMaxValue(bits));
  return llvm::Constant::getNullValue(type); // add, or, xor, unsigned max
}

llvm::Value *VectorCode::reduce(Operation *combine, llvm::Value *vector) {
  llvm::Type *element = vector->getType()->getScalarType();
  bool narrow = element->isHalfTy() || element->isBFloatTy();
  if (narrow)
    vector = b.CreateFPExt(vector, llvm::FixedVectorType::get(b.getFloatTy(), vectorLanes));
  bool small = element->isIntegerTy() && element->getIntegerBitWidth() < 32;
  if (small) {
    bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(combine) || element->isIntegerTy(1);
    auto *wide = llvm::FixedVectorType::get(b.getInt32Ty(), vectorLanes);
    vector = isUnsigned ? b.CreateZExt(vector, wide) : b.CreateSExt(vector, wide);
  }
  llvm::FastMathFlags tree;
  tree.setAllowReassoc();
  auto sum = [&](llvm::CallInst *call) {
    call->setFastMathFlags(tree);
    return call;
  };
  llvm::Value *result =
      llvm::TypeSwitch<Operation *, llvm::Value *>(combine)
          .Case<arith::AddFOp>([&](auto) { return sum(b.CreateFAddReduce(llvm::ConstantFP::get(b.getFloatTy(), -0.0), vector)); })
          .Case<arith::MulFOp>([&](auto) { return sum(b.CreateFMulReduce(llvm::ConstantFP::get(b.getFloatTy(), 1.0), vector)); })
          .Case<arith::MaximumFOp>([&](auto) { return b.CreateFPMaximumReduce(vector); })
          .Case<arith::MinimumFOp>([&](auto) { return b.CreateFPMinimumReduce(vector); })
          .Case<arith::MaxNumFOp>([&](auto) { return b.CreateFPMaxReduce(vector); })
          .Case<arith::MinNumFOp>([&](auto) { return b.CreateFPMinReduce(vector); })
          .Case<arith::AddIOp>([&](auto) { return b.CreateAddReduce(vector); })
          .Case<arith::MulIOp>([&](auto) { return b.CreateMulReduce(vector); })
          .Case<arith::AndIOp>([&](auto) { return b.CreateAndReduce(vector); })
          .Case<arith::OrIOp>([&](auto) { return b.CreateOrReduce(vector); })
          .Case<arith::XOrIOp>([&](auto) { return b.CreateXorReduce(vector); })
          .Case<arith::MaxSIOp>([&](auto) { return b.CreateIntMaxReduce(vector, true); })
          .Case<arith::MinSIOp>([&](auto) { return b.CreateIntMinReduce(vector, true); })
          .Case<arith::MaxUIOp>([&](auto) { return b.CreateIntMaxReduce(vector, false); })
          .Default([&](auto) { return b.CreateIntMinReduce(vector, false); });
  if (narrow)
    return b.CreateFPTrunc(result, element);
  return small ? b.CreateTrunc(result, element) : result;
}

llvm::Value *VectorCode::combineTwo(Operation *combine, llvm::Value *x, llvm::Value *y) { return emitElementwise(b, combine, {x, y}); }

//===-- Loops -------------------------------------------------------------===//

void VectorCode::reductions(size_t depth, MutableArrayRef<Indices> places, llvm::function_ref<void()> innermost) {
  if (depth == reduced.size())
    return innermost();
  int loop = reduced[depth];
  auto iteration = [&](llvm::Value *i) {
    for (Indices &at : places)
      at[loop] = i;
    reductions(depth + 1, places, innermost);
  };
  // A window of up to nine elements, or the inner part of a larger one, stands there unrolled. More would keep more weights
  // in registers than there are.
  auto elements = [&](size_t first) {
    int64_t product = 1;
    for (size_t d = first; d < reduced.size(); ++d)
      product *= nest.loops[reduced[d]].size;
    return product;
  };
  bool inVectors = vectorLoop >= 0 && !isCombined();
  int64_t size = nest.loops[loop].size;
  if (inVectors && elements(depth) <= 9) {
    for (int64_t i = 0; i < size; ++i)
      iteration(e.i64(i));
    return;
  }
  bool unrolledInside = inVectors && depth + 1 < reduced.size() && elements(depth + 1) <= 9;
  e.countedLoop(e.i64(0), e.i64(size), e.i64(1), iteration, !unrolledInside);
}

// The vector loop for all rows: `most` whole vectors of each at once, then what is left of those, then a ragged one with the
// mask of its lanes.
void VectorCode::eachVectors(ArrayRef<Indices> rows, int64_t most, llvm::function_ref<void(ArrayRef<Indices>, llvm::Value *)> body) {
  int64_t size = nest.loops[vectorLoop].size, vectors = size / vectorLanes;
  auto at = [&](llvm::Value *first, int64_t count) {
    SmallVector<Indices> places;
    for (const Indices &row : rows)
      for (int64_t v = 0; v < count; ++v) {
        places.push_back(row);
        places.back()[vectorLoop] = b.CreateAdd(first, e.i64(v * vectorLanes));
      }
    return places;
  };
  int64_t grouped = vectors / most * most;
  e.countedLoop(e.i64(0), e.i64(grouped * vectorLanes), e.i64(most * vectorLanes), [&](llvm::Value *i) { body(at(i, most), nullptr); });
  if (grouped < vectors)
    body(at(e.i64(grouped * vectorLanes), vectors - grouped), nullptr);
  int64_t left = size - vectors * vectorLanes;
  if (!left)
    return;
  SmallVector<llvm::Constant *> lanes;
  for (int lane = 0; lane < vectorLanes; ++lane)
    lanes.push_back(b.getInt1(lane < left));
  body(at(e.i64(vectors * vectorLanes), 1), llvm::ConstantVector::get(lanes));
}

// A result's value before the first element of a reduction.
llvm::Value *VectorCode::start(unsigned result, const Indices &at, int lanes) {
  const Operand &initial = operands[inputs + result];
  if (initial.tile || initial.splat)
    return splat(b, load(inputs + result, at, lanes), lanes);
  return llvm::Constant::getNullValue(elementType(results[result].element, e.context, lanes));
}

// Results at several places: a vector of lanes each, or one element (lanes = 1).
void VectorCode::compute(ArrayRef<Indices> given, int lanes, llvm::Value *mask) {
  SmallVector<Indices> places(given);
  llvm::Value *writeMask = overrunHere ? nullptr : mask;
  if (reduced.empty() && !isCombined()) {
    auto values = bodies(places, lanes, {});
    if (failed(values))
      return void(failedInside = true);
    for (auto [at, results] : llvm::zip(places, *values))
      for (auto [index, value] : llvm::enumerate(results))
        store(index, value, at, lanes, writeMask);
    return;
  }
  // Accumulators live in stack slots, which become registers. A single row summed along has several, for its latency.
  int64_t ways = isCombined() && places.size() == 1 ? std::clamp<int64_t>(nest.loops[vectorLoop].size / vectorLanes, 1, 4) : 1;
  SmallVector<SmallVector<llvm::AllocaInst *>> carried(places.size() * ways);
  for (auto [index, memory] : llvm::enumerate(carried))
    for (size_t result = 0; result < results.size(); ++result) {
      llvm::Type *type = elementType(results[result].element, e.context, lanes);
      memory.push_back(e.variable(type, nullptr));
      b.CreateStore(isCombined() ? neutral(combiner(result), type) : start(result, places[index / ways], lanes), memory.back());
    }
  auto step = [&](ArrayRef<Indices> at, llvm::Value *valid) {
    SmallVector<Values> old(at.size());
    for (auto [place, values] : llvm::enumerate(old))
      for (llvm::AllocaInst *memory : carried[place])
        values.push_back(b.CreateLoad(memory->getAllocatedType(), memory));
    auto values = bodies(at, lanes, old);
    if (failed(values))
      return void(failedInside = true);
    for (size_t place = 0; place < at.size(); ++place)
      for (auto [memory, value, before] : llvm::zip(carried[place], (*values)[place], old[place])) {
        llvm::Value *next = splat(b, value, lanes);
        b.CreateStore(valid ? b.CreateSelect(valid, next, before) : next, memory);
      }
  };
  reductions(0, places, [&] {
    if (isCombined())
      eachVectors(places, ways, step);
    else
      step(places, nullptr);
  });
  for (auto [place, at] : llvm::enumerate(places))
    for (size_t result = 0; result < results.size(); ++result) {
      auto value = [&](int64_t way) {
        llvm::AllocaInst *memory = carried[place * ways + way][result];
        return (llvm::Value *)b.CreateLoad(memory->getAllocatedType(), memory);
      };
      if (!isCombined()) {
        store(result, value(0), at, lanes, writeMask);
        continue;
      }
      Operation *combine = combiner(result);
      llvm::Value *total = value(0);
      for (int64_t way = 1; way < ways; ++way)
        total = combineTwo(combine, total, value(way));
      total = reduce(combine, total);
      at[vectorLoop] = e.i64(0); // a result has one place, whatever the vector loop's number
      const Operand &initial = operands[inputs + result];
      if (initial.tile || initial.splat)
        total = combineTwo(combine, load(inputs + result, at, 1), total);
      store(result, total, at, 1, nullptr);
    }
}

void VectorCode::group(ArrayRef<Indices> rows) {
  if (vectorLoop < 0)
    return compute(rows, 1, nullptr);
  if (isCombined())
    return compute(rows, vectorLanes, nullptr);
  // Of several rows the ragged ends come last, when the next row's beginning is written already.
  overrunHere = overrun && (rows.size() == 1 || nest.loops[vectorLoop].size < vectorLanes);
  int64_t most = reduced.empty() ? std::max<int64_t>(1, unrolled / rows.size()) : std::max<int64_t>(1, together / int64_t(rows.size()));
  eachVectors(rows, most, [&](ArrayRef<Indices> places, llvm::Value *mask) { compute(places, vectorLanes, mask); });
}

void VectorCode::outerLoops(size_t depth, Indices &at) {
  if (depth == parallel.size())
    return group({at});
  int loop = parallel[depth];
  int64_t size = nest.loops[loop].size;
  if (loop != togetherLoop) {
    e.countedLoop(e.i64(0), e.i64(size), e.i64(1), [&](llvm::Value *i) {
      at[loop] = i;
      outerLoops(depth + 1, at);
    });
    return;
  }
  auto rows = [&](llvm::Value *first, int64_t count) {
    SmallVector<Indices> places(count, at);
    for (int64_t u = 0; u < count; ++u)
      places[u][loop] = b.CreateAdd(first, e.i64(u));
    group(places);
  };
  int64_t whole = size / together * together;
  e.countedLoop(e.i64(0), e.i64(whole), e.i64(together), [&](llvm::Value *i) { rows(i, together); });
  if (whole < size)
    rows(e.i64(whole), size - whole);
}

// Says which of the loads and stores of this operation cannot meet: those of different buffers. For this operation only,
// since another one may use the same memory for another buffer.
void VectorCode::separateMemory() {
  llvm::MDBuilder metadata(e.context);
  llvm::MDNode *domain = metadata.createAnonymousAliasScopeDomain();
  llvm::DenseMap<Buffer *, llvm::MDNode *> scopes;
  for (auto &[access, buffer] : accesses)
    if (!scopes.contains(buffer))
      scopes[buffer] = metadata.createAnonymousAliasScope(domain);
  for (auto &[access, buffer] : accesses) {
    SmallVector<llvm::Metadata *> others;
    for (auto &[other, scope] : scopes)
      if (other != buffer)
        others.push_back(scope);
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(e.context, {scopes[buffer]}));
    if (!others.empty())
      access->setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(e.context, others));
  }
}

LogicalResult VectorCode::emit() {
  if (failed(findOperands()))
    return failure();
  for (Operation &inner : op.getBlock()->without_terminator())
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner); extract && !e.scalar(extract.getTensor())) {
      std::optional<Tile> tile = e.tileOf(extract.getTensor(), op);
      if (!tile)
        return failure();
      e.beforeAccess(KernelEmitter::core, tile->buffer, KernelEmitter::Read);
    }
  joinNarrowLoops();
  chooseVectorLoop();
  Indices at(nest.loops.size(), nullptr);
  for (llvm::Value *&index : at)
    index = e.i64(0);
  outerLoops(0, at);
  separateMemory();
  return failure(failedInside);
}

LogicalResult KernelEmitter::emitVectorCode(linalg::LinalgOp op) { return VectorCode(*this, op).emit(); }

bool KernelEmitter::isStored(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<dg::StoreOp>(user) || (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractSliceOp>(user) &&
                                      isStored(user->getResult(0)));
  });
}

//===-- Copies ------------------------------------------------------------===//

// Transposes, broadcasts, resizes by whole factors: the body yields its input, and addresses are affine.
bool KernelEmitter::isCopy(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return false;
  auto yielded = dyn_cast<BlockArgument>(op.getBlock()->getTerminator()->getOperand(0));
  Value input = op.getDpsInputOperand(0)->get();
  if (!yielded || yielded.getOwner() != op.getBlock() || yielded.getArgNumber() != 0 || !isa<RankedTensorType>(input.getType()))
    return false;
  if (isa_and_nonnull<linalg::FillOp, tensor::SplatOp, tensor::EmptyOp, arith::ConstantOp>(input.getDefiningOp()) ||
      isa<linalg::FillOp>(op))
    return false;
  SmallVector<std::optional<SmallVector<int64_t>>> strides;
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    strides.push_back(denseStrides(type.getShape(), elementBytes(type.getElementType())));
  }
  Nest nest = buildNest(op, strides);
  return nest.operands[0].linear && nest.operands[1].linear;
}

LogicalResult KernelEmitter::emitCopy(linalg::LinalgOp op) {
  std::optional<Tile> source = tileOf(op->getOperand(0), op);
  if (!source)
    return failure();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Tile out = newTile(op, 0, op.getLoc(), type, "rearranged tile", Filled::ByCommand);
  Nest nest = buildNest(op, {source->strides, out.strides});
  SmallVector<CopyDimension> dimensions;
  for (auto [l, loop] : llvm::enumerate(nest.loops))
    dimensions.push_back({i32(loop.size), i64(nest.operands[0].strides[l]), i64(nest.operands[1].strides[l])});
  int queue = machine.dma.queues < 4 ? DG_LOAD0 : DG_LOAD1;
  beforeAccess(queue, source->buffer, Read);
  beforeAccess(queue, out.buffer, Write);
  llvm::Value *from = builder.CreateAdd(address(*source), i64(nest.operands[0].offset));
  llvm::Value *to = builder.CreateAdd(address(out), i64(nest.operands[1].offset));
  llvm::Value *issued = issueDma(queue, from, to, dimensions, elementBytes(out.element), nullptr);
  afterCommand(queue, issued, {source->buffer}, {out.buffer});
  tiles[op->getResult(0)] = out;
  return success();
}

} // namespace dougong::npu
