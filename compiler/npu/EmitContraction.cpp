// Commands for the tensor engine and the drain: contractions, and the way of accumulators back to local memory.
#include "compiler/npu/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/IR/Constants.h"

using namespace mlir;

namespace dougong::npu {

// A tile as the engines see it: its last axis, and all others as one.
static std::pair<int64_t, int64_t> rowsAndColumns(const Tile &tile) {
  int64_t columns = tile.shape.empty() ? 1 : tile.shape.back(), rows = 1;
  for (int64_t size : ArrayRef(tile.shape).drop_back(tile.shape.empty() ? 0 : 1))
    rows *= size;
  return {rows, columns};
}

// Zeros: a command over no steps.
void KernelEmitter::zeroAccumulators(const Tile &tile) {
  using Command = dg_tensor_command;
  auto [rows, columns] = rowsAndColumns(tile);
  beforeAccess(DG_TENSOR, tile.buffer, Write);
  Descriptor command = descriptor(sizeof(Command));
  for (size_t word = 0; word < sizeof(Command); word += 4)
    if (word != offsetof(Command, acc))
      set(command, word, 0, 32);
  set(command, offsetof(Command, acc), builder.CreateTrunc(address(tile), builder.getInt32Ty()));
  bool integer = tile.element.isInteger(32);
  set(command, offsetof(Command, a_type), integer ? DG_I8 : DG_F16, 8);
  set(command, offsetof(Command, b_type), integer ? DG_I8 : DG_F16, 8);
  set(command, offsetof(Command, m), 1, 32);
  set(command, offsetof(Command, m) + 4, rows, 32);
  for (int k = 0; k < 3; ++k)
    set(command, offsetof(Command, k) + 4 * k, k == 2 ? 0 : 1, 32);
  set(command, offsetof(Command, n), columns, 32);
  set(command, offsetof(Command, acc_m_stride), columns * 4, 32);
  afterCommand(DG_TENSOR, builder.CreateCall(tensorCommand, {command.memory}), {}, {tile.buffer});
}

LogicalResult KernelEmitter::emitContraction(linalg::LinalgOp op) {
  using Command = dg_tensor_command;
  std::optional<Tile> operands[2];
  for (int side = 0; side < 2; ++side)
    if (!(operands[side] = tileOf(op.getDpsInputOperand(side)->get(), op)))
      return failure();
  Value init = op.getDpsInitOperand(0)->get(), result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  auto held = accumulators.find(init);
  bool accumulate = held != accumulators.end() && init.hasOneUse();
  llvm::Value *start = scalar(init);
  auto *startConstant = dyn_cast_or_null<llvm::Constant>(start);
  bool fromZero = startConstant && startConstant->isNullValue();
  Tile acc;
  if (accumulate)
    acc = held->second;
  else
    acc = newTile(op, 0, op.getLoc(), type, "accumulators", Filled::ByCommand, true);

  Nest nest = buildNest(op, {operands[0]->strides, operands[1]->strides, acc.strides});
  std::optional<Contraction> found = matchContraction(op, nest);
  if (!found)
    return op.emitError("internal: a contraction's loops changed with its tiles' strides");
  const Contraction &c = *found;
  const Nest::Operand &a = nest.operands[c.a], &b = nest.operands[c.b], &o = nest.operands[2];

  for (auto &operand : operands)
    beforeAccess(DG_TENSOR, operand->buffer, Read);
  beforeAccess(DG_TENSOR, acc.buffer, Write);
  llvm::Value *aBase = builder.CreateAdd(address(*operands[c.a]), i64(a.offset));
  llvm::Value *bBase = builder.CreateAdd(address(*operands[c.b]), i64(b.offset));
  llvm::Value *accBase = builder.CreateAdd(address(acc), i64(o.offset));

  Descriptor command = descriptor(sizeof(Command));
  auto constant = [&](size_t offset, int64_t value) { set(command, offset, uint32_t(value), 32); };
  set(command, offsetof(Command, a_type), c.types[c.a], 8);
  set(command, offsetof(Command, b_type), c.types[c.b], 8);
  set(command, offsetof(Command, reserved0), 0, 8);
  constant(offsetof(Command, reserved1), 0);
  for (int i = 0; i < 2; ++i) {
    int at = i - (2 - int(c.rows.size()));
    constant(offsetof(Command, m) + 4 * i, at < 0 ? 1 : nest.loops[c.rows[at]].size);
    constant(offsetof(Command, a_m_stride) + 4 * i, at < 0 ? 0 : a.strides[c.rows[at]]);
  }
  for (int i = 0; i < 3; ++i) {
    int at = i - (3 - int(c.steps.size()));
    constant(offsetof(Command, k) + 4 * i, at < 0 ? 1 : nest.loops[c.steps[at]].size);
    constant(offsetof(Command, a_k_stride) + 4 * i, at < 0 ? 0 : a.strides[c.steps[at]]);
    constant(offsetof(Command, b_k_stride) + 4 * i, at < 0 ? 0 : b.strides[c.steps[at]]);
  }
  constant(offsetof(Command, n), c.columns < 0 ? 1 : nest.loops[c.columns].size);
  constant(offsetof(Command, b_n_stride), c.columns < 0 ? 0 : b.strides[c.columns]);
  constant(offsetof(Command, acc_m_stride), c.rows.empty() ? 0 : o.strides[c.rows.back()]);

  llvm::AllocaInst *issued = variable(builder.getInt64Ty(), i64(0));
  SmallVector<int> outer = c.outer;
  outer.append(c.outerSteps);
  llvm::Value *firstStep = builder.getTrue();
  std::function<void(size_t, llvm::Value *, llvm::Value *, llvm::Value *)> nestLoops = [&](size_t depth, llvm::Value *aAt, llvm::Value *bAt,
                                                                                           llvm::Value *accAt) {
    if (depth == outer.size()) {
      auto low = [&](llvm::Value *v) { return builder.CreateTrunc(v, builder.getInt32Ty()); };
      set(command, offsetof(Command, a), low(aAt));
      set(command, offsetof(Command, b), low(bAt));
      set(command, offsetof(Command, acc), low(accAt));
      llvm::Value *adds = accumulate ? builder.getTrue() : builder.CreateNot(firstStep);
      set(command, offsetof(Command, accumulate), builder.CreateZExt(adds, builder.getInt8Ty()));
      builder.CreateStore(builder.CreateCall(tensorCommand, {command.memory}), issued);
      return;
    }
    int loop = outer[depth];
    countedLoop(i64(0), i64(nest.loops[loop].size), i64(1), [&](llvm::Value *i) {
      auto step = [&](llvm::Value *base, const Nest::Operand &operand) {
        return builder.CreateAdd(base, builder.CreateMul(i, i64(operand.strides[loop])));
      };
      llvm::Value *saved = firstStep;
      if (nest.loops[loop].reduction)
        firstStep = builder.CreateAnd(firstStep, builder.CreateICmpEQ(i, i64(0)));
      nestLoops(depth + 1, step(aAt, a), step(bAt, b), step(accAt, o));
      firstStep = saved;
    });
  };
  nestLoops(0, aBase, bBase, accBase);
  afterCommand(DG_TENSOR, builder.CreateLoad(builder.getInt64Ty(), issued), {operands[0]->buffer, operands[1]->buffer}, {acc.buffer});

  if (accumulate || fromZero) {
    accumulators[result] = acc;
    drainPlainly(result, op);
    return success();
  }
  // Another start value is added on the way out.
  std::optional<Tile> residual = denseTileOf(init, op);
  if (!residual)
    return failure();
  auto home = wanted.find(result);
  Tile out = home != wanted.end() ? home->second : newTile(op, 1, op.getLoc(), type, "contraction's result", Filled::ByCommand);
  Type element = type.getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return op.emitOpError("adds integers to a tile that its loop changes otherwise, too; add them to zeros, and the sum afterwards");
  drain(acc, out, Epilogue(), nullptr, nullptr, &*residual);
  tiles[result] = out;
  return success();
}

//===-- Draining ----------------------------------------------------------===//

bool KernelEmitter::isHeldInAccumulators(Value value) {
  if (accumulators.contains(value))
    return true;
  if (auto loop = value.getDefiningOp<scf::ForOp>())
    return carriesAccumulators(loop, cast<OpResult>(value).getResultNumber());
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !matchContraction(op))
    return false;
  Value init = op.getDpsInitOperand(0)->get();
  if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    FloatAttr real;
    IntegerAttr integer;
    return (matchPattern(fill.getInputs()[0], m_Constant(&real)) && real.getValue().isPosZero()) ||
           (matchPattern(fill.getInputs()[0], m_Constant(&integer)) && integer.getValue().isZero());
  }
  return init.hasOneUse() && isHeldInAccumulators(init);
}

// Whoever is not a contraction adding on, nor a drain with an epilogue, finds the accumulators' values in LM.
void KernelEmitter::drainPlainly(Value value, Operation *definition) {
  bool wanted = llvm::any_of(value.getUses(), [&](OpOperand &use) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (isa<scf::YieldOp>(use.getOwner())) {
      auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
      return !loop || !carriesAccumulators(loop, use.getOperandNumber());
    }
    if (!user)
      return true;
    if (user.isDpsInit(&use))
      return !(matchContraction(user) && value.hasOneUse());
    auto epilogue = matchEpilogue(user, [&](Value v) { return isHeldInAccumulators(v); });
    return !epilogue || epilogue->accumulator != int(use.getOperandNumber());
  });
  if (!wanted)
    return;
  auto type = cast<RankedTensorType>(value.getType());
  Tile out = newTile(definition, 100 + cast<OpResult>(value).getResultNumber(), definition->getLoc(), type, "contraction's result",
                     Filled::ByCommand);
  drain(accumulators[value], out, Epilogue(), nullptr, nullptr, nullptr);
  tiles[value] = out;
}

LogicalResult KernelEmitter::emitDrain(linalg::LinalgOp op, const Epilogue &epilogue) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<Tile> extras[3];
  for (auto [slot, operand] : {std::pair(0, epilogue.scale), std::pair(1, epilogue.bias), std::pair(2, epilogue.residual)})
    if (operand >= 0 && !(extras[slot] = denseTileOf(op->getOperand(operand), op)))
      return failure();
  Tile out = newTile(op, 0, op.getLoc(), type, "drained tile", Filled::ByCommand);
  auto pointer = [&](int slot) { return extras[slot] ? &*extras[slot] : nullptr; };
  drain(accumulators.lookup(op->getOperand(epilogue.accumulator)), out, epilogue, pointer(0), pointer(1), pointer(2));
  tiles[op->getResult(0)] = out;
  return success();
}

namespace {

uint8_t drainType(Type type) { return type.isF16() ? DG_F16 : type.isBF16() ? DG_BF16 : type.isInteger(32) ? DG_I32 : DG_F32; }

} // namespace

void KernelEmitter::drain(const Tile &acc, const Tile &out, const Epilogue &epilogue, const Tile *scale, const Tile *bias,
                          const Tile *residual) {
  using Command = dg_drain_command;
  auto [rows, columns] = rowsAndColumns(out);
  beforeAccess(DG_DRAIN, acc.buffer, Read);
  beforeAccess(DG_DRAIN, out.buffer, Write);
  SmallVector<Buffer *> reads{acc.buffer};
  auto low = [&](llvm::Value *v) { return builder.CreateTrunc(v, builder.getInt32Ty()); };
  Descriptor command = descriptor(sizeof(Command));
  auto constant = [&](size_t offset, int64_t value) { set(command, offset, uint32_t(value), 32); };
  for (auto [tile, offset] : {std::pair(scale, offsetof(Command, scale)), std::pair(bias, offsetof(Command, bias)),
                              std::pair(residual, offsetof(Command, residual))}) {
    if (!tile) {
      constant(offset, 0);
      continue;
    }
    beforeAccess(DG_DRAIN, tile->buffer, Read);
    reads.push_back(tile->buffer);
    set(command, offset, low(address(*tile)));
  }
  set(command, offsetof(Command, acc), low(address(acc)));
  set(command, offsetof(Command, out), low(address(out)));
  set(command, offsetof(Command, acc_type), acc.element.isInteger(32) ? DG_I32 : DG_F32, 8);
  set(command, offsetof(Command, out_type), drainType(out.element), 8);
  set(command, offsetof(Command, residual_type), residual ? drainType(residual->element) : DG_F32, 8);
  set(command, offsetof(Command, reserved0), 0, 8);
  constant(offsetof(Command, m), 1);
  constant(offsetof(Command, m) + 4, rows);
  constant(offsetof(Command, n), columns);
  constant(offsetof(Command, acc_m_stride), columns * 4);
  constant(offsetof(Command, out_m_stride), 0);
  constant(offsetof(Command, out_m_stride) + 4, columns * elementBytes(out.element));
  constant(offsetof(Command, residual_m_stride), 0);
  constant(offsetof(Command, residual_m_stride) + 4, residual ? columns * elementBytes(residual->element) : 0);
  set(command, offsetof(Command, low), llvm::ConstantFP::get(builder.getFloatTy(), epilogue.low));
  set(command, offsetof(Command, high), llvm::ConstantFP::get(builder.getFloatTy(), epilogue.high));
  constant(offsetof(Command, reserved1), 0);
  afterCommand(DG_DRAIN, builder.CreateCall(drainCommand, {command.memory}), reads, {out.buffer});
}

} // namespace dougong::npu
