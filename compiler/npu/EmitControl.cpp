// Scalars, and the control flow around tiles: scf.for, scf.if, scf.while.
//
// A tile that a loop carries or a branch yields has a home buffer; what is yielded moves there. Accumulators carried by a
// loop stay where they are: the contraction in it adds to them.
#include "compiler/npu/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace dougong::npu {

llvm::Value *KernelEmitter::scalar(Value value) { return scalars.lookup(value); }

LogicalResult KernelEmitter::emitBlock(Block &block) {
  bool top = hasAhead && block.getParentOp() == source;
  for (Operation &op : block.without_terminator()) {
    current = &op;
    bool free = isFree(&op);
    if (top && !free && aheadOps.contains(&op) != inAhead)
      continue;
    if (top && free && inAhead && !dependsOnAhead(&op))
      continue;
    if (failed(emitOperation(&op)))
      return failure();
  }
  current = block.getTerminator();
  return success();
}

LogicalResult KernelEmitter::emitOperation(Operation *op) {
  if (auto id = dyn_cast<dg::ProgramIdOp>(op))
    return scalars[id.getResult()] = programIds[id.getAxis()], success();
  if (auto count = dyn_cast<dg::NumProgramsOp>(op))
    return scalars[count.getResult()] = grid[count.getAxis()], success();
  if (auto load = dyn_cast<dg::LoadOp>(op))
    return emitLoad(load);
  if (auto store = dyn_cast<dg::StoreOp>(op))
    return emitStore(store);
  if (auto gather = dyn_cast<dg::GatherOp>(op))
    return emitGather(gather);
  if (auto scatter = dyn_cast<dg::ScatterOp>(op))
    return emitScatter(scatter);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return scalars[fill.getResult(0)] = scalar(fill.getInputs()[0]), success();
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return scalars[splat.getResult()] = scalar(splat.getInput()), success();
  if (isa<tensor::EmptyOp>(op))
    return success();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return emitExtractSlice(slice);
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return emitInsertSlice(slice);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    return emitReshape(op);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return emitPad(pad);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (llvm::Value *value = scalar(extract.getTensor()))
      return scalars[extract.getResult()] = value, success();
    std::optional<Tile> tile = tileOf(extract.getTensor(), op);
    if (!tile)
      return failure();
    SmallVector<llvm::Value *> indices;
    for (Value index : extract.getIndices())
      indices.push_back(scalar(index));
    beforeAccess(core, tile->buffer, Read);
    scalars[extract.getResult()] = loadElement(elementAddress(*tile, indices), tile->element);
    return success();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Attribute value = constant.getValue();
    if (auto elements = dyn_cast<DenseElementsAttr>(value)) {
      if (!elements.isSplat())
        return emitConstantTile(op, elements);
      value = elements.getSplatValue<Attribute>();
    }
    llvm::Constant *element = emitConstant(value, context);
    if (!element)
      return op->emitError("a constant of type ") << constant.getType() << " has no form on the NPU";
    return scalars[constant.getResult()] = element, success();
  }
  if (isa<ub::PoisonOp>(op)) {
    llvm::Type *type = elementType(getElementTypeOrSelf(op->getResult(0).getType()), context);
    return scalars[op->getResult(0)] = llvm::Constant::getNullValue(type), success();
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (std::optional<Contraction> contraction = matchContraction(linalgOp))
      return emitContraction(linalgOp, *contraction);
    if (std::optional<Epilogue> epilogue = matchEpilogue(linalgOp, [&](Value v) { return isHeldInAccumulators(v); }))
      return emitDrain(linalgOp, *epilogue);
    if (isCopy(linalgOp))
      return emitCopy(linalgOp);
    return emitVectorCode(linalgOp);
  }
  SmallVector<llvm::Value *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(scalar(operand));
    if (!operands.back())
      return op->emitOpError("is not supported on the NPU: it takes a tile and is neither a linalg nor a tensor operation it knows");
  }
  llvm::Value *value = emitElementwise(builder, op, operands);
  if (!value)
    return op->emitOpError("is not supported on the NPU for ") << (op->getNumResults() ? op->getResult(0).getType() : Type());
  scalars[op->getResult(0)] = value;
  return success();
}

// for (i = from; i < to; i += step), signed. A loop known to run is entered without a test.
void KernelEmitter::countedLoop(llvm::Value *from, llvm::Value *to, llvm::Value *step, llvm::function_ref<void(llvm::Value *)> body, int unroll) {
  auto *low = dyn_cast<llvm::ConstantInt>(from), *high = dyn_cast<llvm::ConstantInt>(to), *by = dyn_cast<llvm::ConstantInt>(step);
  bool fixed = low && high && by;
  if (fixed && low->getSExtValue() + by->getSExtValue() >= high->getSExtValue()) {
    if (low->getSExtValue() < high->getSExtValue())
      body(from);
    return;
  }
  auto *head = llvm::BasicBlock::Create(context, "loop", function);
  auto *exit = llvm::BasicBlock::Create(context, "done", function);
  llvm::BasicBlock *before = builder.GetInsertBlock();
  if (fixed)
    builder.CreateBr(head);
  else
    builder.CreateCondBr(builder.CreateICmpSLT(from, to), head, exit);
  builder.SetInsertPoint(head);
  llvm::PHINode *i = builder.CreatePHI(from->getType(), 2, "i");
  i->addIncoming(from, before);
  forgetWaits();
  body(i);
  forgetWaits();
  llvm::Value *next = builder.CreateAdd(i, step, "", /*NUW=*/fixed, /*NSW=*/true);
  i->addIncoming(next, builder.GetInsertBlock());
  llvm::BranchInst *back = builder.CreateCondBr(builder.CreateICmpSLT(next, to), head, exit);
  if (unroll) {
    auto *count = llvm::ConstantAsMetadata::get(builder.getInt32(unroll));
    auto *hint = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.count"), count});
    auto *self = llvm::MDNode::getDistinct(context, {nullptr, hint});
    self->replaceOperandWith(0, self);
    back->setMetadata(llvm::LLVMContext::MD_loop, self);
  }
  builder.SetInsertPoint(exit);
}

//===-- Homes -------------------------------------------------------------===//

LogicalResult KernelEmitter::moveTo(const Tile &home, Value value, Operation *user) {
  if (llvm::Value *element = scalar(value)) {
    fillTile(home, element);
    return success();
  }
  if (value.getDefiningOp<tensor::EmptyOp>())
    return success();
  std::optional<Tile> tile = tileOf(value, user);
  if (!tile)
    return failure();
  if (tile->buffer != home.buffer)
    copyTile(home, *tile);
  return success();
}

// Homes for the tiles among `inside`, filled with the initial values; scalars get none.
LogicalResult KernelEmitter::emitHomes(Operation *op, ValueRange initial, ValueRange inside, SmallVectorImpl<std::optional<Tile>> &homes) {
  for (auto [index, value] : llvm::enumerate(inside)) {
    homes.emplace_back();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    homes.back() = newTile(op, index, op->getLoc(), type, "tile carried by a loop or branch", Filled::InPlace);
    if (index < initial.size() && failed(moveTo(*homes.back(), initial[index], op)))
      return failure();
  }
  return success();
}

// What is yielded moves to the homes, all at once: a value that lies in another's home is set aside first.
LogicalResult KernelEmitter::emitYield(ValueRange yielded, ArrayRef<std::optional<Tile>> homes, Operation *user) {
  SmallVector<std::optional<Tile>> aside(homes.size());
  for (auto [i, value] : llvm::enumerate(yielded)) {
    if (!homes[i] || scalar(value) || value.getDefiningOp<tensor::EmptyOp>())
      continue;
    std::optional<Tile> tile = tileOf(value, user);
    if (!tile)
      return failure();
    for (auto [j, home] : llvm::enumerate(homes))
      if (home && i != j && tile->buffer == home->buffer) {
        aside[i] = newTile(user, i, user->getLoc(), cast<RankedTensorType>(value.getType()), "tile set aside", Filled::InPlace);
        copyTile(*aside[i], *tile);
        break;
      }
  }
  for (auto [i, value] : llvm::enumerate(yielded)) {
    if (!homes[i])
      continue;
    if (aside[i])
      copyTile(*homes[i], *aside[i]);
    else if (failed(moveTo(*homes[i], value, user)))
      return failure();
  }
  return success();
}

// A carried tile that starts as zero and is only ever added to by contractions of the tensor engine.
bool KernelEmitter::carriesAccumulators(scf::ForOp loop, unsigned index) {
  auto fill = loop.getInitArgs()[index].getDefiningOp<linalg::FillOp>();
  Attribute zero;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&zero)))
    return false;
  if (auto real = dyn_cast<FloatAttr>(zero); real && !real.getValue().isPosZero())
    return false;
  if (auto integer = dyn_cast<IntegerAttr>(zero); integer && !integer.getValue().isZero())
    return false;
  Type element = getElementTypeOrSelf(fill.getResult(0).getType());
  if (!element.isF32() && !element.isInteger(32))
    return false;
  Value value = loop.getRegionIterArgs()[index];
  for (;;) {
    if (!value.hasOneUse())
      return false;
    OpOperand &use = *value.getUses().begin();
    if (use.getOwner() == loop.getBody()->getTerminator())
      return use.getOperandNumber() == index && !isa<BlockArgument>(value);
    auto contraction = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!contraction || contraction->getBlock() != loop.getBody() || !contraction.isDpsInit(&use) || !matchContraction(contraction))
      return false;
    value = contraction->getResult(0);
  }
}

//===-- scf ---------------------------------------------------------------===//

LogicalResult KernelEmitter::emitFor(scf::ForOp loop) {
  SmallVector<std::optional<Tile>> homes;
  SmallVector<bool> inAcc;
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    inAcc.push_back(carriesAccumulators(loop, index));
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    homes.emplace_back();
    if (inAcc.back()) {
      Tile tile = newTile(loop, index, loop.getLoc(), type, "accumulators", Filled::ByCommand, true);
      zeroAccumulators(tile);
      accumulators[argument] = accumulators[loop.getResult(index)] = tile;
    } else if (type) {
      homes.back() = newTile(loop, index, loop.getLoc(), type, "tile carried by a loop", Filled::InPlace);
      if (failed(moveTo(*homes.back(), loop.getInitArgs()[index], loop)))
        return failure();
      tiles[argument] = tiles[loop.getResult(index)] = *homes.back();
    }
  }
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock *before = builder.GetInsertBlock(), *head = block("for"), *body = block("body"), *exit = block("done");
  llvm::Value *from = scalar(loop.getLowerBound()), *to = scalar(loop.getUpperBound()), *step = scalar(loop.getStep());
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  llvm::PHINode *i = builder.CreatePHI(from->getType(), 2);
  i->addIncoming(from, before);
  SmallVector<llvm::PHINode *> carried(homes.size(), nullptr);
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (isa<RankedTensorType>(argument.getType()))
      continue;
    llvm::Value *initial = scalar(loop.getInitArgs()[index]);
    carried[index] = builder.CreatePHI(initial->getType(), 2);
    carried[index]->addIncoming(initial, before);
    scalars[argument] = scalars[loop.getResult(index)] = carried[index];
  }
  builder.CreateCondBr(loop.getUnsignedCmp() ? builder.CreateICmpULT(i, to) : builder.CreateICmpSLT(i, to), body, exit);
  builder.SetInsertPoint(body);
  scalars[loop.getInductionVar()] = i;
  loops.push_back(loop);
  nextSlots(loop);
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  auto yield = loop.getBody()->getTerminator();
  if (failed(emitYield(yield->getOperands(), homes, yield)))
    return failure();
  loops.pop_back();
  forgetWaits();
  for (auto [index, phi] : llvm::enumerate(carried))
    if (phi)
      phi->addIncoming(scalar(yield->getOperand(index)), builder.GetInsertBlock());
  i->addIncoming(builder.CreateAdd(i, step), builder.GetInsertBlock());
  builder.CreateBr(head);
  builder.SetInsertPoint(exit);
  current = loop;
  for (auto [index, result] : llvm::enumerate(loop.getResults()))
    if (inAcc[index])
      drainPlainly(result, loop);
  return success();
}

LogicalResult KernelEmitter::emitIf(scf::IfOp branch) {
  SmallVector<std::optional<Tile>> homes;
  if (failed(emitHomes(branch, {}, branch.getResults(), homes)))
    return failure();
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock *thenBlock = block("then"), *elseBlock = block("else"), *join = block("join");
  builder.CreateCondBr(scalar(branch.getCondition()), thenBlock, elseBlock);
  SmallVector<SmallVector<llvm::Value *>> values;
  SmallVector<llvm::BasicBlock *> ends;
  for (auto [region, start] : {std::pair(&branch.getThenRegion(), thenBlock), std::pair(&branch.getElseRegion(), elseBlock)}) {
    builder.SetInsertPoint(start);
    forgetWaits();
    values.emplace_back();
    if (!region->empty()) {
      if (failed(emitBlock(region->front())))
        return failure();
      Operation *yield = region->front().getTerminator();
      if (failed(emitYield(yield->getOperands(), homes, yield)))
        return failure();
      for (auto [index, operand] : llvm::enumerate(yield->getOperands()))
        values.back().push_back(homes[index] ? nullptr : scalar(operand));
    }
    ends.push_back(builder.GetInsertBlock());
    builder.CreateBr(join);
  }
  builder.SetInsertPoint(join);
  forgetWaits();
  current = branch;
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    if (homes[index]) {
      tiles[result] = *homes[index];
      continue;
    }
    llvm::PHINode *phi = builder.CreatePHI(values[0][index]->getType(), 2);
    for (int side = 0; side < 2; ++side)
      phi->addIncoming(values[side][index], ends[side]);
    scalars[result] = phi;
  }
  return success();
}

LogicalResult KernelEmitter::emitWhile(scf::WhileOp loop) {
  SmallVector<std::optional<Tile>> homes;
  if (failed(emitHomes(loop, loop.getInits(), loop.getBeforeArguments(), homes)))
    return failure();
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock *before = builder.GetInsertBlock(), *head = block("while"), *body = block("body"), *exit = block("done");
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  SmallVector<llvm::PHINode *> carried(homes.size(), nullptr);
  for (auto [index, argument] : llvm::enumerate(loop.getBeforeArguments())) {
    if (homes[index]) {
      tiles[argument] = *homes[index];
      continue;
    }
    llvm::Value *initial = scalar(loop.getInits()[index]);
    carried[index] = builder.CreatePHI(initial->getType(), 2);
    carried[index]->addIncoming(initial, before);
    scalars[argument] = carried[index];
  }
  loops.push_back(loop);
  nextSlots(loop);
  if (failed(emitBlock(*loop.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  for (auto [index, value] : llvm::enumerate(condition.getArgs()))
    for (Value seen : {Value(loop.getAfterArguments()[index]), Value(loop.getResult(index))}) {
      if (llvm::Value *element = scalar(value)) {
        scalars[seen] = element;
        continue;
      }
      std::optional<Tile> tile = tileOf(value, condition);
      if (!tile)
        return failure();
      tiles[seen] = *tile;
    }
  builder.CreateCondBr(scalar(condition.getCondition()), body, exit);
  builder.SetInsertPoint(body);
  forgetWaits();
  if (failed(emitBlock(*loop.getAfterBody())))
    return failure();
  Operation *yield = loop.getYieldOp();
  if (failed(emitYield(yield->getOperands(), homes, yield)))
    return failure();
  loops.pop_back();
  for (auto [index, phi] : llvm::enumerate(carried))
    if (phi)
      phi->addIncoming(scalar(yield->getOperand(index)), builder.GetInsertBlock());
  builder.CreateBr(head);
  builder.SetInsertPoint(exit);
  forgetWaits();
  current = loop;
  return success();
}

}  // namespace dougong::npu
