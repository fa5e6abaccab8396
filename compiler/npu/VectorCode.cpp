// Vector code: the operands of an operation, and the choice of the loop that becomes vectors and of what is done together.
#include "compiler/npu/VectorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/IR/MDBuilder.h"

using namespace mlir;

namespace dougong::npu {

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

//===-- The whole ---------------------------------------------------------===//

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

} // namespace dougong::npu
