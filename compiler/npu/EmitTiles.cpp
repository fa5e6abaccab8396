// Operations that only move data: parts and reshapes are names for memory where strides can say it; the rest are copies.
#include "compiler/npu/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace dougong::npu {

// A roles' number for copies made for one operand of an operation.
static int operandRole(Operation *user, Value value) {
  for (OpOperand &use : user->getOpOperands())
    if (use.get() == value)
      return 1000 + use.getOperandNumber();
  return 999;
}

// Where the tile lies in LM. A splat that something wants as memory is filled in here, for this user alone.
std::optional<Tile> KernelEmitter::tileOf(Value value, Operation *user) {
  if (auto found = tiles.find(value); found != tiles.end())
    return found->second;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  llvm::Value *element = scalar(value);
  if (type && (element || value.getDefiningOp<tensor::EmptyOp>())) {
    Tile tile = newTile(user, operandRole(user, value), value.getLoc(), type, "constant tile", Filled::ByCommand);
    if (element)
      fillTile(tile, element);
    return tile;
  }
  user->emitError("internal: this operand has no place in local memory: ") << value;
  return std::nullopt;
}

std::optional<Tile> KernelEmitter::denseTileOf(Value value, Operation *user) {
  std::optional<Tile> tile = tileOf(value, user);
  if (!tile || tile->isDense())
    return tile;
  Tile dense =
      newTile(user, operandRole(user, value), value.getLoc(), cast<RankedTensorType>(value.getType()), "dense copy", Filled::ByCommand);
  copyTile(dense, *tile);
  return dense;
}

//===-- Parts and shapes --------------------------------------------------===//

Tile KernelEmitter::part(const Tile &whole, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes, ArrayRef<OpFoldResult> strides) {
  Tile result = whole;
  result.shape.assign(sizes.begin(), sizes.end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::optional<int64_t> offset = getConstantIntValue(offsets[d]);
    llvm::Value *index = offset ? i64(*offset) : scalar(cast<Value>(offsets[d]));
    result.offset = builder.CreateAdd(result.offset, builder.CreateMul(index, i64(whole.strides[d])));
    result.strides[d] = whole.strides[d] * *getConstantIntValue(strides[d]);
  }
  return result;
}

// The dimensions of `part` that a rank-reducing slice drops are of size one; what is left must be `shape`.
static Tile dropUnits(Tile part, ArrayRef<int64_t> shape) {
  Tile result = part;
  result.shape.assign(shape.begin(), shape.end());
  result.strides.clear();
  size_t d = 0;
  for (int64_t size : shape) {
    while (d < part.shape.size() && part.shape[d] != size)
      ++d;
    result.strides.push_back(d < part.shape.size() ? part.strides[d++] : 0);
  }
  return result;
}

LogicalResult KernelEmitter::emitExtractSlice(tensor::ExtractSliceOp op) {
  if (llvm::Value *element = scalar(op.getSource()))
    return scalars[op.getResult()] = element, success();
  if (op.getSource().getDefiningOp<tensor::EmptyOp>())
    return scalars[op.getResult()] = llvm::Constant::getNullValue(elementType(op.getType().getElementType(), context)), success();
  std::optional<Tile> source = tileOf(op.getSource(), op);
  if (!source)
    return failure();
  for (OpFoldResult stride : op.getMixedStrides())
    if (!getConstantIntValue(stride))
      return op.emitOpError("is not supported on the NPU: a slice's strides must be constants");
  tiles[op.getResult()] =
      dropUnits(part(*source, op.getMixedOffsets(), op.getStaticSizes(), op.getMixedStrides()), op.getType().getShape());
  return success();
}

// In place where nobody reads the destination afterwards.
LogicalResult KernelEmitter::emitInsertSlice(tensor::InsertSliceOp op) {
  Value target = op.getDest();
  auto type = cast<RankedTensorType>(op.getType());
  std::optional<Tile> home;
  auto found = tiles.find(target);
  auto earlier = target.getDefiningOp<tensor::InsertSliceOp>();
  if (found != tiles.end() && earlier && earlier->getBlock() == op->getBlock() && target.hasOneUse()) {
    home = found->second;
  } else {
    home = newTile(op, 0, op.getLoc(), type, "assembled tile", Filled::ByCommand);
    if (failed(moveTo(*home, target, op)))
      return failure();
  }
  for (OpFoldResult stride : op.getMixedStrides())
    if (!getConstantIntValue(stride))
      return op.emitOpError("is not supported on the NPU: a slice's strides must be constants");
  Tile place = dropUnits(part(*home, op.getMixedOffsets(), op.getStaticSizes(), op.getMixedStrides()), op.getSourceType().getShape());
  if (llvm::Value *element = scalar(op.getSource())) {
    fillTile(place, element);
  } else {
    std::optional<Tile> source = tileOf(op.getSource(), op);
    if (!source)
      return failure();
    copyTile(place, *source);
  }
  tiles[op.getResult()] = *home;
  return success();
}

// Groups of dimensions on one side against one dimension on the other: dimensions split freely, and join where the inner one's
// end is the outer one's next element.
LogicalResult KernelEmitter::emitReshape(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  if (llvm::Value *element = scalar(source))
    return scalars[result] = element, success();
  auto type = cast<RankedTensorType>(result.getType());
  if (source.getDefiningOp<tensor::EmptyOp>())
    return scalars[result] = llvm::Constant::getNullValue(elementType(type.getElementType(), context)), success();
  std::optional<Tile> tile = tileOf(source, op);
  if (!tile)
    return failure();
  Tile view = *tile;
  view.shape.assign(type.getShape().begin(), type.getShape().end());
  bool possible = true;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    view.strides.assign(view.shape.size(), 0);
    for (auto [d, group] : llvm::enumerate(expand.getReassociationIndices())) {
      int64_t stride = tile->strides[d];
      for (int64_t inner : llvm::reverse(group)) {
        view.strides[inner] = stride;
        stride *= view.shape[inner];
      }
    }
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    view.strides.clear();
    for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
      int64_t stride = elementBytes(view.element), next = -1;
      for (int64_t d : llvm::reverse(group)) {
        if (tile->shape[d] == 1)
          continue;
        if (next < 0)
          stride = next = tile->strides[d];
        possible &= tile->strides[d] == next;
        next *= tile->shape[d];
      }
      view.strides.push_back(stride);
    }
  }
  if (possible) {
    tiles[result] = view;
    return success();
  }
  std::optional<Tile> dense = denseTileOf(source, op);
  dense->shape.assign(type.getShape().begin(), type.getShape().end());
  dense->strides = denseStrides(dense->shape, elementBytes(dense->element));
  tiles[result] = *dense;
  return success();
}

// One copy whose source is clipped to what is not padding.
LogicalResult KernelEmitter::emitPad(tensor::PadOp op) {
  Value value = op.getConstantPaddingValue();
  if (!value)
    return op.emitOpError("is not supported on the NPU: padding must be one value");
  llvm::Value *element = scalar(value);
  if (!element) {
    Attribute constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return op.emitOpError("is not supported on the NPU: padding with a value computed inside the operation");
    element = emitConstant(constant, context);
  }
  std::optional<Tile> source = tileOf(op.getSource(), op);
  if (!source)
    return failure();
  auto type = op.getResultType();
  Tile out = newTile(op, 0, op.getLoc(), type, "padded tile", Filled::ByCommand);
  llvm::Value *from = address(*source);
  SmallVector<CopyDimension> dimensions;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    std::optional<int64_t> before = getConstantIntValue(op.getMixedLowPad()[d]);
    if (!before)
      return op.emitOpError("is not supported on the NPU: padding must be constant");
    int64_t inside = source->shape[d], size = type.getDimSize(d);
    from = builder.CreateSub(from, i64(*before * source->strides[d]));
    if (size == 1 && inside == 1)
      continue;
    auto clamp = [&](int64_t bound) { return i32(std::clamp<int64_t>(bound, 0, size)); };
    dimensions.push_back({i32(size), i64(source->strides[d]), i64(out.strides[d]), clamp(*before), clamp(*before + inside)});
  }
  int queue = machine.dma.queues < 4 ? DG_LOAD0 : DG_LOAD1;
  beforeAccess(queue, source->buffer, Read);
  beforeAccess(queue, out.buffer, Write);
  int64_t bytes = elementBytes(out.element);
  llvm::Value *issued = issueDma(queue, from, address(out), dimensions, bytes, fillBits(element, bytes));
  afterCommand(queue, issued, {source->buffer}, {out.buffer});
  tiles[op.getResult()] = out;
  return success();
}

// Numbers of the core's side by side; a single one is a splat.
LogicalResult KernelEmitter::emitFromElements(tensor::FromElementsOp op) {
  if (op.getElements().size() == 1)
    return scalars[op.getResult()] = scalar(op.getElements()[0]), success();
  Tile out = newTile(op, 0, op.getLoc(), op.getType(), "assembled tile", isStored(op.getResult()) ? Filled::ToBeStored : Filled::InPlace);
  beforeAccess(core, out.buffer, Write);
  llvm::Value *first = address(out);
  for (auto [index, element] : llvm::enumerate(op.getElements())) {
    llvm::Value *at = builder.CreateAdd(first, i64(int64_t(index) * elementBytes(out.element)));
    storeElement(builder.CreateIntToPtr(at, builder.getPtrTy()), scalar(element), out.element);
  }
  tiles[op.getResult()] = out;
  return success();
}

// A constant array lies in DRAM beside the code, and is fetched once.
LogicalResult KernelEmitter::emitConstantTile(Operation *op, DenseElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  SmallVector<llvm::Constant *> values;
  for (Attribute value : elements.getValues<Attribute>()) {
    llvm::Constant *element = emitConstant(value, context);
    if (!element)
      return op->emitError("a constant of type ") << type << " has no form on the NPU";
    if (element->getType()->isIntegerTy(1))
      element = llvm::ConstantInt::get(builder.getInt8Ty(), element->isNullValue() ? 0 : 1);
    values.push_back(element);
  }
  auto *array = llvm::ConstantArray::get(llvm::ArrayType::get(values[0]->getType(), values.size()), values);
  auto *global = new llvm::GlobalVariable(module, array->getType(), true, llvm::GlobalValue::InternalLinkage, array, "constants");
  int64_t bytes = elementBytes(type.getElementType());
  global->setAlignment(llvm::Align(8));
  Tile tile = newTile(op, 0, op->getLoc(), type, "constant array", Filled::ByCommand);
  beforeAccess(DG_LOAD0, tile.buffer, Write);
  CopyDimension whole{i32(values.size()), i64(bytes), i64(bytes)};
  llvm::Value *issued = issueDma(DG_LOAD0, builder.CreatePtrToInt(global, builder.getInt64Ty()), address(tile), {whole}, bytes, nullptr);
  afterCommand(DG_LOAD0, issued, {}, {tile.buffer});
  tiles[op->getResult(0)] = tile;
  return success();
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
