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
  Operation *loop = block.getParentOp();
  Section section = sections.lookup(loop == source ? nullptr : loop);
  for (Operation &op : block.without_terminator()) {
    current = &op;
    if (section != Whole && (isFree(&op) ? section == Ahead && !dependsOnAhead(&op, block) : aheadOps.contains(&op) != (section == Ahead)))
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
  if (auto atomic = dyn_cast<dg::AtomicOp>(op))
    return emitAtomic(atomic);
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
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    return emitFromElements(elements);
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
    if (matchContraction(linalgOp))
      return emitContraction(linalgOp);
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
void KernelEmitter::countedLoop(llvm::Value *from, llvm::Value *to, llvm::Value *step, llvm::function_ref<void(llvm::Value *)> body,
                                bool mayUnroll) {
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
  if (!mayUnroll) {
    auto *hint = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")});
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
  auto finish = [&] {
    current = loop;
    for (auto [index, result] : llvm::enumerate(loop.getResults())) {
      if (inAcc[index])
        drainPlainly(result, loop);
      else if (homes[index])
        tiles[result] = *homes[index];
    }
    return success();
  };
  for (auto [index, home] : llvm::enumerate(homes))
    if (home && canOverwrite(loop, index))
      wanted[loop.getYieldedValues()[index]] = *home;
  bool insideAhead = llvm::any_of(sections, [](auto &entry) { return entry.second == Ahead; });
  if (!insideAhead && split(*loop.getBody())) {
    if (failed(emitForAhead(loop, homes)))
      return failure();
    return finish();
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
  return finish();
}

// A loop in two sections, as the loop over programs: what engines do alone for the next iteration, then the rest of this one.
//
//   ai = from, t = 0
//   head:  next slots;  if (ai < to) ahead(ai);  if (t > 0) behind(bi);  leave if ai >= to;  bi = ai, ai += step, ++t
//
// Each section has the loop's number and its carried scalars for itself; the one ahead only those that it can follow.
LogicalResult KernelEmitter::emitForAhead(scf::ForOp loop, ArrayRef<std::optional<Tile>> homes) {
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock *before = builder.GetInsertBlock(), *head = block("for"), *aheadBlock = block("ahead"), *issued = block("issued"),
                   *behindBlock = block("behind"), *latch = block("latch"), *exit = block("done");
  llvm::Value *from = scalar(loop.getLowerBound()), *to = scalar(loop.getUpperBound()), *step = scalar(loop.getStep());
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  auto phi = [&](llvm::Value *initial) {
    llvm::PHINode *node = builder.CreatePHI(initial->getType(), 2);
    node->addIncoming(initial, before);
    return node;
  };
  llvm::PHINode *count = phi(i64(0)), *aheadNumber = phi(from), *behindNumber = phi(from);
  SmallVector<llvm::PHINode *> aheadCarried, behindCarried;
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    bool number = !isa<RankedTensorType>(argument.getType());
    behindCarried.push_back(number ? phi(scalar(loop.getInitArgs()[index])) : nullptr);
    aheadCarried.push_back(number && evolvesFreely(argument) ? phi(scalar(loop.getInitArgs()[index])) : nullptr);
  }
  auto enter = [&](Section section, llvm::Value *number, ArrayRef<llvm::PHINode *> carried) {
    sections[loop] = section;
    scalars[loop.getInductionVar()] = number;
    for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
      if (value)
        scalars[argument] = value;
    forgetWaits();
  };
  // What the section yields for each carried scalar, or what it was where the section is skipped.
  auto leave = [&](ArrayRef<llvm::PHINode *> carried, llvm::BasicBlock *skipped, llvm::BasicBlock *join) {
    llvm::BasicBlock *end = builder.GetInsertBlock();
    SmallVector<llvm::Value *> yielded;
    for (auto [value, next] : llvm::zip(carried, loop.getYieldedValues()))
      yielded.push_back(value ? scalar(next) : nullptr);
    builder.CreateBr(join);
    builder.SetInsertPoint(join);
    forgetWaits();
    SmallVector<llvm::Value *> merged;
    for (auto [value, next] : llvm::zip(carried, yielded)) {
      if (!value) {
        merged.push_back(nullptr);
        continue;
      }
      llvm::PHINode *node = builder.CreatePHI(value->getType(), 2);
      node->addIncoming(next, end);
      node->addIncoming(value, skipped);
      merged.push_back(node);
    }
    return merged;
  };

  loops.push_back(loop);
  nextSlots(loop);
  llvm::Value *more = loop.getUnsignedCmp() ? builder.CreateICmpULT(aheadNumber, to) : builder.CreateICmpSLT(aheadNumber, to);
  llvm::BasicBlock *headEnd = builder.GetInsertBlock();
  builder.CreateCondBr(more, aheadBlock, issued);
  builder.SetInsertPoint(aheadBlock);
  enter(Ahead, aheadNumber, aheadCarried);
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  SmallVector<llvm::Value *> aheadNext = leave(aheadCarried, headEnd, issued);
  builder.CreateCondBr(builder.CreateICmpNE(count, i64(0)), behindBlock, latch);
  builder.SetInsertPoint(behindBlock);
  enter(Behind, behindNumber, behindCarried);
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  Operation *yield = loop.getBody()->getTerminator();
  if (failed(emitYield(yield->getOperands(), homes, yield)))
    return failure();
  SmallVector<llvm::Value *> behindNext = leave(behindCarried, issued, latch);
  loops.pop_back();
  sections[loop] = Whole;

  count->addIncoming(builder.CreateAdd(count, i64(1)), latch);
  aheadNumber->addIncoming(builder.CreateAdd(aheadNumber, step), latch);
  behindNumber->addIncoming(aheadNumber, latch);
  for (auto [carried, next] : {std::pair(&aheadCarried, &aheadNext), std::pair(&behindCarried, &behindNext)})
    for (auto [node, value] : llvm::zip(*carried, *next))
      if (node)
        node->addIncoming(value, latch);
  builder.CreateCondBr(more, head, exit);
  builder.SetInsertPoint(exit);
  for (auto [result, value] : llvm::zip(loop.getResults(), behindNext))
    if (value)
      scalars[result] = value;
  return success();
}

// May the value a loop yields be computed right in its home? Whoever reads the carried tile does so before, or is the
// operation itself, element by element.
bool KernelEmitter::canOverwrite(scf::ForOp loop, unsigned index) {
  Value carried = loop.getRegionIterArgs()[index], yielded = loop.getYieldedValues()[index];
  auto op = yielded.getDefiningOp<linalg::LinalgOp>();
  if (!op || op->getBlock() != loop.getBody() || op->getNumResults() != 1 || llvm::count(loop.getYieldedValues(), yielded) != 1)
    return false;
  bool contraction = matchContraction(op).has_value();
  if (contraction ? isHeldInAccumulators(yielded) : (matchEpilogue(op, [&](Value v) { return isHeldInAccumulators(v); }) || isCopy(op)))
    return false;
  for (OpOperand &use : carried.getUses()) {
    Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
    if (user == op.getOperation()) {
      AffineMap map = op.getMatchingIndexingMap(&use), out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
      if (use.getOwner() != op || contraction || map != out || !(op.isDpsInit(&use) || op.getNumReductionLoops() == 0))
        return false;
      continue;
    }
    // A part of it, or the whole yielded again, would see the new value.
    if (!user || !user->isBeforeInBlock(op) || isFree(user) || user->hasTrait<OpTrait::IsTerminator>())
      return false;
  }
  return true;
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

} // namespace dougong::npu
