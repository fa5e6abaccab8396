// linalg operations as vector code on LM, and as copies where they only move data.
//
// Loops, from the outside: parallel ones, the last of them several iterations at once (`together`, so that independent
// accumulators hide latencies and operands are loaded once for all); then the vector loop, 32 lanes at a time, if it is
// parallel; then the reductions, in registers; innermost the vector loop if it is a reduction.
//
//   sum over k of a[m,k]*b[k,n]:  for m by 4 { for n by 32 { acc[4] = init; for k { acc[u] += splat(a[m+u,k]) * b[k,n..n+31] } store acc[4] } }
//   row sums of x[m,n]:           for m by 4 { acc[4] = 0; for n by 32 { acc[u] += x[m+u,n..n+31] } store reduce(acc[u]) }
//
// A ragged last vector reads on beyond its row (buffers have room for that) and writes back what lay there.
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
    std::optional<Tile> tile;  // none: a splat or unused
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
  FailureOr<SmallVector<llvm::Value *>> body(const Indices &at, int lanes, ArrayRef<llvm::Value *> carried);
  FailureOr<llvm::Value *> one(Operation &inner, llvm::DenseMap<Value, llvm::Value *> &values, const Indices &at, int lanes);
  llvm::Value *neutral(Operation *combine, llvm::Type *type);
  llvm::Value *reduce(Operation *combine, llvm::Value *vector);
  llvm::Value *combineTwo(Operation *combine, llvm::Value *x, llvm::Value *y);
  void outerLoops(size_t depth, Indices &at);
  void group(Indices &at, int count);
  void lanesOf(Indices &at, int count, int lanes, llvm::Value *mask);
  void reductions(size_t depth, Indices &at, llvm::function_ref<void()> innermost);
  void eachVector(Indices &at, llvm::function_ref<void(llvm::Value *)> body, int unroll);
  void separateMemory();

  KernelEmitter &e;
  llvm::IRBuilder<> &b;
  linalg::LinalgOp op;
  Nest nest;
  SmallVector<Operand> operands;
  SmallVector<Tile> results;
  SmallVector<llvm::Value *> resultBase;
  SmallVector<Nest::Operand> resultNest;
  SmallVector<int> parallel, reduced;  // loops without the vector loop
  int vectorLoop = -1, togetherLoop = -1, together = 1;
  int inputs = 0;
  bool failedInside = false;
  llvm::DenseMap<Operation *, llvm::Value *> unused;
  SmallVector<std::pair<llvm::Instruction *, Buffer *>> accesses;
};

//===-- Operands ----------------------------------------------------------===//

LogicalResult VectorCode::findOperands() {
  inputs = op.getNumDpsInputs();
  SmallVector<std::optional<SmallVector<int64_t>>> strides;
  for (OpOperand &use : op->getOpOperands()) {
    Operand operand;
    operand.element = getElementTypeOrSelf(use.get().getType());
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
    Tile tile = e.newTile(op, index, op.getLoc(), type, "computed tile", filled);
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
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MulIOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(combine)
             ? combine
             : nullptr;
}

// Elements of 32 bits and less only, and nothing that has to be looked up by index.
bool VectorCode::fitsVectors() {
  auto fits = [](Type type) {
    return type.isIntOrFloat() && !type.isIndex() && type.getIntOrFloatBitWidth() <= 32 && (type.getIntOrFloatBitWidth() != 8 || !isa<FloatType>(type));
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
        worth *= size >= 4 * vectorLanes ? 0.6 : 0.3;  // what the final reduction costs
      if (worth > best) {
        best = worth;
        vectorLoop = l;
      }
    }
  for (auto [l, loop] : llvm::enumerate(nest.loops))
    if (int(l) != vectorLoop)
      (loop.reduction ? reduced : parallel).push_back(l);
  bool accumulates = !reduced.empty() || isCombined();
  if (accumulates && !parallel.empty()) {
    togetherLoop = parallel.back();
    together = std::min<int64_t>(vectorLoop < 0 ? 2 : isMultiplyAdd(op) ? 8 : 4, nest.loops[togetherLoop].size);
  }
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
    if (stride && at[l])
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
        case AffineExprKind::Add: return b.CreateAdd(left, right);
        case AffineExprKind::Mul: return b.CreateMul(left, right);
        case AffineExprKind::Mod: return b.CreateSRem(left, right);  // what is indexed is never negative
        case AffineExprKind::CeilDiv: return b.CreateSDiv(b.CreateAdd(left, b.CreateSub(right, e.i64(1))), right);
        default: return b.CreateSDiv(left, right);
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
  return operand.element.isInteger(1) ? b.CreateICmpNE(value, llvm::Constant::getNullValue(type)) : value;
}

void VectorCode::store(int index, llvm::Value *value, const Indices &at, int lanes, llvm::Value *mask) {
  Type element = results[index].element;
  if (element.isInteger(1))
    value = b.CreateZExt(value, llvm::isa<llvm::VectorType>(value->getType()) ? (llvm::Type *)llvm::FixedVectorType::get(b.getInt8Ty(), lanes) : b.getInt8Ty());
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
      inner.emitError("is not supported on the NPU inside ") << op->getName() << ": an operand has no scalar value";
      return failure();
    }
  }
  llvm::Value *value = emitElementwise(b, &inner, in);
  if (!value) {
    inner.emitError("is not supported on the NPU") << (inner.getNumResults() ? " for " : "");
    return failure();
  }
  return value;
}

FailureOr<SmallVector<llvm::Value *>> VectorCode::body(const Indices &at, int lanes, ArrayRef<llvm::Value *> carried) {
  Block *block = op.getBlock();
  llvm::DenseMap<Value, llvm::Value *> values;
  for (int index = 0; index < int(operands.size()); ++index) {
    if (index >= inputs && !carried.empty())
      values[block->getArgument(index)] = carried[index - inputs];
    else if (operands[index].tile || operands[index].splat)
      values[block->getArgument(index)] = load(index, at, lanes);
  }
  for (Operation &inner : block->without_terminator()) {
    // Sums of products in f32 are fused, as in the tensor engine.
    auto add = dyn_cast<arith::AddFOp>(inner);
    if (add && !carried.empty() && isMultiplyAdd(op) && add.getType().isF32()) {
      bool left = isa<BlockArgument>(add.getLhs());
      auto multiply = (left ? add.getRhs() : add.getLhs()).getDefiningOp<arith::MulFOp>();
      SmallVector<llvm::Value *> in;
      for (Value operand : {multiply.getLhs(), multiply.getRhs(), left ? add.getLhs() : add.getRhs()})
        in.push_back(splat(b, values.lookup(operand), lanes));
      values[add.getResult()] = b.CreateIntrinsic(in[0]->getType(), llvm::Intrinsic::fma, in);
      continue;
    }
    FailureOr<llvm::Value *> value = one(inner, values, at, lanes);
    if (failed(value))
      return failure();
    values[inner.getResult(0)] = *value;
  }
  SmallVector<llvm::Value *> yielded;
  for (Value value : block->getTerminator()->getOperands()) {
    llvm::Value *found = values.lookup(value);
    yielded.push_back(found ? found : e.scalar(value));
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
  return llvm::Constant::getNullValue(type);  // add, or, xor, unsigned max
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
  llvm::Value *result = llvm::TypeSwitch<Operation *, llvm::Value *>(combine)
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

void VectorCode::reductions(size_t depth, Indices &at, llvm::function_ref<void()> innermost) {
  if (depth == reduced.size())
    return innermost();
  int loop = reduced[depth];
  e.countedLoop(e.i64(0), e.i64(nest.loops[loop].size), e.i64(1), [&](llvm::Value *i) {
    at[loop] = i;
    reductions(depth + 1, at, innermost);
  });
}

// The vector loop: whole vectors, then a ragged one with the mask of its lanes.
void VectorCode::eachVector(Indices &at, llvm::function_ref<void(llvm::Value *)> body, int unroll) {
  int64_t size = nest.loops[vectorLoop].size, whole = size / vectorLanes * vectorLanes;
  e.countedLoop(
      e.i64(0), e.i64(whole), e.i64(vectorLanes),
      [&](llvm::Value *i) {
        at[vectorLoop] = i;
        body(nullptr);
      },
      unroll);
  if (whole == size)
    return;
  at[vectorLoop] = e.i64(whole);
  SmallVector<bool> bits(vectorLanes, false);
  std::fill(bits.begin(), bits.begin() + (size - whole), true);
  SmallVector<llvm::Constant *> lanes;
  for (bool bit : bits)
    lanes.push_back(b.getInt1(bit));
  body(llvm::ConstantVector::get(lanes));
}

// Results of `count` iterations of the together loop, for one vector of lanes (or one element).
void VectorCode::lanesOf(Indices &at, int count, int lanes, llvm::Value *mask) {
  llvm::Value *first = togetherLoop >= 0 ? at[togetherLoop] : nullptr;
  auto move = [&](int u) {
    if (togetherLoop >= 0)
      at[togetherLoop] = b.CreateAdd(first, e.i64(u));
  };
  bool accumulate = !reduced.empty() || isCombined();
  if (!accumulate) {
    auto values = body(at, lanes, {});
    if (failed(values))
      return void(failedInside = true);
    for (auto [index, value] : llvm::enumerate(*values))
      store(index, value, at, lanes, mask);
    return;
  }
  // Accumulators live in stack slots, which become registers.
  SmallVector<SmallVector<llvm::AllocaInst *>> carried(count);
  for (int u = 0; u < count; ++u) {
    move(u);
    for (size_t result = 0; result < results.size(); ++result) {
      llvm::Type *type = elementType(results[result].element, e.context, lanes);
      llvm::AllocaInst *memory = e.variable(type, nullptr);
      carried[u].push_back(memory);
      llvm::Value *start;
      if (isCombined())
        start = neutral(combiner(result), type);
      else if (operands[inputs + result].tile || operands[inputs + result].splat)
        start = splat(b, load(inputs + result, at, lanes), lanes);
      else
        start = llvm::Constant::getNullValue(type);
      b.CreateStore(start, memory);
    }
  }
  auto step = [&](llvm::Value *lanesInside) {
    for (int u = 0; u < count; ++u) {
      move(u);
      SmallVector<llvm::Value *> old;
      for (llvm::AllocaInst *memory : carried[u])
        old.push_back(b.CreateLoad(memory->getAllocatedType(), memory));
      auto values = body(at, lanes, old);
      if (failed(values))
        return void(failedInside = true);
      for (auto [memory, value, before] : llvm::zip(carried[u], *values, old)) {
        llvm::Value *next = splat(b, value, lanes);
        b.CreateStore(lanesInside ? b.CreateSelect(lanesInside, next, before) : next, memory);
      }
    }
  };
  reductions(0, at, [&] {
    if (isCombined())
      eachVector(at, step, 0);
    else
      step(nullptr);
  });
  for (int u = 0; u < count; ++u) {
    move(u);
    for (auto [result, memory] : llvm::enumerate(carried[u])) {
      llvm::Value *value = b.CreateLoad(memory->getAllocatedType(), memory);
      if (isCombined()) {
        // A result has one place, whatever the vector loop's number.
        at[vectorLoop] = e.i64(0);
        value = reduce(combiner(result), value);
        if (operands[inputs + result].tile || operands[inputs + result].splat)
          value = combineTwo(combiner(result), load(inputs + result, at, 1), value);
        store(result, value, at, 1, nullptr);
      } else {
        store(result, value, at, lanes, mask);
      }
    }
  }
  if (togetherLoop >= 0)
    at[togetherLoop] = first;
}

void VectorCode::group(Indices &at, int count) {
  if (vectorLoop < 0)
    return lanesOf(at, count, 1, nullptr);
  if (isCombined())
    return lanesOf(at, count, vectorLanes, nullptr);
  eachVector(at, [&](llvm::Value *mask) { lanesOf(at, count, vectorLanes, mask); }, reduced.empty() ? 4 : 0);
}

void VectorCode::outerLoops(size_t depth, Indices &at) {
  if (depth == parallel.size())
    return group(at, 1);
  int loop = parallel[depth];
  int64_t size = nest.loops[loop].size;
  if (loop != togetherLoop) {
    e.countedLoop(e.i64(0), e.i64(size), e.i64(1), [&](llvm::Value *i) {
      at[loop] = i;
      outerLoops(depth + 1, at);
    });
    return;
  }
  int64_t whole = size / together * together;
  e.countedLoop(e.i64(0), e.i64(whole), e.i64(together), [&](llvm::Value *i) {
    at[loop] = i;
    group(at, together);
  });
  if (whole < size) {
    at[loop] = e.i64(whole);
    group(at, size - whole);
  }
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
    return isa<dg::StoreOp>(user) || (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractSliceOp>(user) && isStored(user->getResult(0)));
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
  if (isa_and_nonnull<linalg::FillOp, tensor::SplatOp, tensor::EmptyOp, arith::ConstantOp>(input.getDefiningOp()) || isa<linalg::FillOp>(op))
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

}  // namespace dougong::npu
