// Commands for the engines: their descriptors, and what has to be done before each is issued.
//
// Every command in the code has a descriptor of its own on the stack. Its constant fields are stored once, in the
// kernel's entry; only the others are stored before each issue.
#include "compiler/npu/KernelEmitter.h"
#include "isa/machine_layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/IR/Constants.h"

using namespace mlir;

namespace dougong::npu {

KernelEmitter::Descriptor KernelEmitter::descriptor(size_t bytes) {
  llvm::AllocaInst *memory = entry.CreateAlloca(llvm::ArrayType::get(builder.getInt64Ty(), (bytes + 7) / 8));
  return {memory};
}

void KernelEmitter::set(const Descriptor &descriptor, size_t offset, llvm::Value *value) {
  llvm::IRBuilder<> &where = isa<llvm::Constant>(value) ? entry : builder;
  where.CreateStore(value, where.CreateConstGEP1_64(where.getInt8Ty(), descriptor.memory, offset));
}

void KernelEmitter::set(const Descriptor &descriptor, size_t offset, uint64_t value, int bits) {
  set(descriptor, offset, builder.getIntN(bits, value));
}

//===-- Copies ------------------------------------------------------------===//

// Issues copies until all dimensions are done: five in a command, further ones outside, one command an index.
llvm::Value *KernelEmitter::issueDma(int queue, llvm::Value *source, llvm::Value *target, ArrayRef<CopyDimension> dimensions, int64_t bytes,
                                     llvm::Value *fill) {
  if (dimensions.size() > 5) {
    const CopyDimension &outer = dimensions.front();
    llvm::AllocaInst *issued = variable(builder.getInt64Ty(), nullptr);
    countedLoop(i64(0), builder.CreateZExt(outer.count, builder.getInt64Ty()), i64(1), [&](llvm::Value *i) {
      SmallVector<CopyDimension> inner(dimensions.drop_front());
      if (outer.low) {
        // Outside the outer bounds nothing of the inner part is in bounds.
        llvm::Value *index = builder.CreateTrunc(i, builder.getInt32Ty());
        llvm::Value *inside = builder.CreateAnd(builder.CreateICmpSGE(index, outer.low), builder.CreateICmpSLT(index, outer.high));
        inner[0].high = builder.CreateSelect(inside, inner[0].high ? inner[0].high : inner[0].count, i32(0));
        inner[0].low = inner[0].low ? inner[0].low : i32(0);
      }
      llvm::Value *from = builder.CreateAdd(source, builder.CreateMul(i, outer.sourceStride));
      llvm::Value *to = builder.CreateAdd(target, builder.CreateMul(i, outer.targetStride));
      builder.CreateStore(issueDma(queue, from, to, inner, bytes, fill), issued);
    });
    return builder.CreateLoad(builder.getInt64Ty(), issued);
  }
  using Command = dg_dma_command;
  Descriptor command = descriptor(sizeof(Command));
  set(command, offsetof(Command, src), source);
  set(command, offsetof(Command, dst), target);
  set(command, offsetof(Command, element_bytes), bytes, 32);
  set(command, offsetof(Command, fill_outside), fill ? 1 : 0, 32); // and listed, add, add_type
  set(command, offsetof(Command, fill), fill ? fill : i64(0));
  size_t unused = 5 - dimensions.size();
  for (size_t d = 0; d < 5; ++d) {
    CopyDimension dimension = d < unused ? CopyDimension{i32(1), i64(0), i64(0)} : dimensions[d - unused];
    set(command, offsetof(Command, count) + 4 * d, dimension.count);
    set(command, offsetof(Command, low) + 4 * d, dimension.low ? dimension.low : i32(0));
    set(command, offsetof(Command, high) + 4 * d, dimension.high ? dimension.high : dimension.count);
    set(command, offsetof(Command, src_stride) + 8 * d, dimension.sourceStride);
    set(command, offsetof(Command, dst_stride) + 8 * d, dimension.targetStride);
  }
  set(command, offsetof(Command, cores), i64(0));
  return builder.CreateCall(dmaCommand, {i32(queue), command.memory});
}

// Loads alternate between the load queues of a machine that has two, by their place in the kernel.
int KernelEmitter::loadQueue(Operation *op) const {
  if (machine.dma.queues < 4)
    return DG_LOAD0;
  int before = 0;
  for (auto &[other, place] : position)
    before += isa<dg::LoadOp>(other) && place < position.lookup(op);
  return before % 2 ? DG_LOAD1 : DG_LOAD0;
}

int KernelEmitter::storeQueue(Operation *op) const { return DG_STORE0; }

llvm::Value *KernelEmitter::fillBits(llvm::Value *fill, int64_t bytes) {
  if (!fill)
    return i64(0);
  if (fill->getType()->isIntegerTy(1))
    return builder.CreateZExt(fill, builder.getInt64Ty());
  return builder.CreateZExtOrTrunc(builder.CreateBitCast(fill, builder.getIntNTy(bytes * 8)), builder.getInt64Ty());
}

namespace {

// A tile's dimensions for a copy of tile `shape`, neighbours merged where both sides go on without a gap and `mayMerge`.
struct Span {
  int64_t count, source, target;
};

SmallVector<Span> mergedSpans(ArrayRef<int64_t> shape, ArrayRef<int64_t> source, ArrayRef<int64_t> target) {
  SmallVector<Span> spans;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1)
      continue;
    if (!spans.empty() && source[d] == spans.back().source * spans.back().count && target[d] == spans.back().target * spans.back().count)
      spans.back().count *= shape[d];
    else
      spans.push_back({shape[d], source[d], target[d]});
  }
  std::reverse(spans.begin(), spans.end());
  return spans;
}

} // namespace

void KernelEmitter::copyTile(const Tile &target, const Tile &source) {
  SmallVector<CopyDimension> dimensions;
  for (Span span : mergedSpans(target.shape, source.strides, target.strides))
    dimensions.push_back({i32(span.count), i64(span.source), i64(span.target)});
  int queue = machine.dma.queues < 4 ? DG_LOAD0 : DG_LOAD1;
  beforeAccess(queue, source.buffer, Read);
  beforeAccess(queue, target.buffer, Write);
  llvm::Value *issued = issueDma(queue, address(source), address(target), dimensions, elementBytes(target.element), nullptr);
  afterCommand(queue, issued, {source.buffer}, {target.buffer});
}

// A copy clipped to nothing: every element is the fill value.
void KernelEmitter::fillTile(const Tile &tile, llvm::Value *value) {
  SmallVector<int64_t> nowhere(tile.shape.size(), 0);
  SmallVector<CopyDimension> dimensions;
  for (Span span : mergedSpans(tile.shape, tile.strides, tile.strides))
    dimensions.push_back({i32(span.count), i64(0), i64(span.target)});
  if (dimensions.empty())
    dimensions.push_back({i32(1), i64(0), i64(0)});
  dimensions.back().low = dimensions.back().high = i32(0);
  int queue = machine.dma.queues < 4 ? DG_LOAD0 : DG_LOAD1;
  beforeAccess(queue, tile.buffer, Write);
  llvm::Value *target = address(tile);
  int64_t bytes = elementBytes(tile.element);
  llvm::Value *issued = issueDma(queue, target, target, dimensions, bytes, fillBits(value, bytes));
  afterCommand(queue, issued, {}, {tile.buffer});
}

//===-- Loads and stores --------------------------------------------------===//

namespace {

llvm::Value *clampTo(llvm::IRBuilder<> &b, llvm::Value *value, int64_t count) {
  value = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, b.getInt64(0));
  value = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, b.getInt64(count));
  return b.CreateTrunc(value, b.getInt32Ty());
}

} // namespace

// A load outside loops is left out where all that it depends on is as it was for the program before: weights stay in LM.
LogicalResult KernelEmitter::emitLoad(dg::LoadOp load) {
  RankedTensorType type = load.getTileType();
  int64_t bytes = elementBytes(type.getElementType());
  int queue = loadQueue(load);
  Tile tile = newTile(load, 0, load.getLoc(), type, "loaded tile", Filled::ByCommand);
  tiles[load.getTile()] = tile;
  Buffer *buffer = tile.buffer;

  SmallVector<llvm::Value *> key{scalar(load.getOffset())};
  for (ValueRange values : {load.getStrides(), load.getLower(), load.getUpper(), load.getStarts(), load.getModuli()})
    for (Value value : values)
      key.push_back(scalar(value));
  llvm::erase_if(key, [](llvm::Value *v) { return isa<llvm::Constant>(v); });
  buffer->kept = loops.empty() && !storedBases.contains(load.getBase());
  llvm::BasicBlock *skip = nullptr;
  if (buffer->kept) {
    llvm::AllocaInst *valid = variable(builder.getInt1Ty(), builder.getFalse());
    llvm::Value *same = builder.CreateLoad(builder.getInt1Ty(), valid);
    SmallVector<std::pair<llvm::AllocaInst *, llvm::Value *>> memory;
    for (llvm::Value *value : key) {
      llvm::AllocaInst *last = variable(value->getType(), llvm::Constant::getNullValue(value->getType()));
      same = builder.CreateAnd(same, builder.CreateICmpEQ(builder.CreateLoad(value->getType(), last), value));
      memory.push_back({last, value});
    }
    auto *fetch = llvm::BasicBlock::Create(context, "fetch", function);
    skip = llvm::BasicBlock::Create(context, "held", function);
    builder.CreateCondBr(same, skip, fetch);
    builder.SetInsertPoint(fetch);
    forgetWaits();
    builder.CreateStore(builder.getTrue(), valid);
    for (auto [last, value] : memory)
      builder.CreateStore(value, last);
    if (buffer->slots > 1) {
      llvm::Value *slot = builder.CreateLoad(builder.getInt64Ty(), keptSlot(buffer, 0));
      builder.CreateStore(builder.CreateXor(slot, i64(1)), keptSlot(buffer, 0));
    }
  }

  SmallVector<CopyDimension> dimensions;
  SmallVector<llvm::Value *> starts, moduli;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    int64_t count = type.getDimSize(d);
    bool wraps = load.isWrapped() &&
                 !(isa<llvm::ConstantInt>(scalar(load.getModuli()[d])) && cast<llvm::ConstantInt>(scalar(load.getModuli()[d]))->isZero());
    llvm::Value *low = nullptr, *high = nullptr;
    if (load.isBounded()) {
      low = clampTo(builder, scalar(load.getLower()[d]), count);
      high = clampTo(builder, scalar(load.getUpper()[d]), count);
      bool all = isa<llvm::ConstantInt>(low) && isa<llvm::ConstantInt>(high) && cast<llvm::ConstantInt>(low)->isZero() &&
                 cast<llvm::ConstantInt>(high)->getSExtValue() == count;
      if (all)
        low = high = nullptr;
    }
    if (count == 1 && !low && !wraps)
      continue;
    llvm::Value *stride = builder.CreateMul(scalar(load.getStrides()[d]), i64(bytes));
    dimensions.push_back({i32(count), stride, i64(tile.strides[d]), low, high});
    starts.push_back(wraps ? scalar(load.getStarts()[d]) : nullptr);
    moduli.push_back(wraps ? scalar(load.getModuli()[d]) : nullptr);
  }
  // Neighbours without bounds whose strides are known to go on become one dimension.
  for (size_t d = dimensions.size(); d-- > 1;) {
    CopyDimension &outer = dimensions[d - 1], &inner = dimensions[d];
    auto *outerStride = dyn_cast<llvm::ConstantInt>(outer.sourceStride), *innerStride = dyn_cast<llvm::ConstantInt>(inner.sourceStride);
    if (outer.low || inner.low || moduli[d - 1] || moduli[d] || !outerStride || !innerStride)
      continue;
    int64_t count = cast<llvm::ConstantInt>(inner.count)->getSExtValue();
    if (outerStride->getSExtValue() != innerStride->getSExtValue() * count)
      continue;
    inner.count = i32(count * cast<llvm::ConstantInt>(outer.count)->getSExtValue());
    dimensions.erase(dimensions.begin() + d - 1);
    starts.erase(starts.begin() + d - 1);
    moduli.erase(moduli.begin() + d - 1);
  }

  waitForStores(queue, load.getBase(), false);
  beforeAccess(queue, buffer, Write);
  llvm::Value *from = builder.CreateAdd(scalar(load.getBase()), builder.CreateMul(scalar(load.getOffset()), i64(bytes)));
  llvm::Value *fill = nullptr;
  if (llvm::any_of(dimensions, [](const CopyDimension &d) { return d.low != nullptr; }))
    fill = fillBits(load.getFill() ? scalar(load.getFill()) : nullptr, bytes);
  llvm::AllocaInst *issued = variable(builder.getInt64Ty(), i64(0));
  std::function<void(unsigned, llvm::Value *, llvm::Value *)> issue = [&](unsigned from_, llvm::Value *source, llvm::Value *target) {
    unsigned d = from_;
    while (d < moduli.size() && !moduli[d])
      ++d;
    if (d == moduli.size()) {
      builder.CreateStore(issueDma(queue, source, target, dimensions, bytes, fill), issued);
      return;
    }
    // A wrapping dimension is copied run by run: from (starts + done) mod modulus on, up to the modulus.
    CopyDimension whole = dimensions[d];
    llvm::Value *total = builder.CreateZExt(whole.count, builder.getInt64Ty());
    llvm::AllocaInst *done = variable(builder.getInt64Ty(), nullptr);
    builder.CreateStore(i64(0), done);
    auto *head = llvm::BasicBlock::Create(context, "run", function), *exit = llvm::BasicBlock::Create(context, "wrapped", function);
    builder.CreateBr(head);
    builder.SetInsertPoint(head);
    forgetWaits();
    llvm::Value *at = builder.CreateLoad(builder.getInt64Ty(), done);
    llvm::Value *place = builder.CreateSRem(builder.CreateAdd(starts[d], at), moduli[d]);
    place = builder.CreateSelect(builder.CreateICmpSLT(place, i64(0)), builder.CreateAdd(place, moduli[d]), place);
    llvm::Value *length =
        builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, builder.CreateSub(total, at), builder.CreateSub(moduli[d], place));
    llvm::Value *length32 = builder.CreateTrunc(length, builder.getInt32Ty()), *at32 = builder.CreateTrunc(at, builder.getInt32Ty());
    auto shifted = [&](llvm::Value *bound) {
      llvm::Value *value = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, builder.CreateSub(bound, at32), i32(0));
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, length32);
    };
    dimensions[d] = {length32, whole.sourceStride, whole.targetStride, whole.low ? shifted(whole.low) : nullptr,
                     whole.low ? shifted(whole.high) : nullptr};
    issue(d + 1, builder.CreateAdd(source, builder.CreateMul(place, whole.sourceStride)),
          builder.CreateAdd(target, builder.CreateMul(at, whole.targetStride)));
    dimensions[d] = whole;
    llvm::Value *next = builder.CreateAdd(at, length);
    builder.CreateStore(next, done);
    builder.CreateCondBr(builder.CreateICmpSLT(next, total), head, exit);
    builder.SetInsertPoint(exit);
    forgetWaits();
  };
  issue(0, from, address(tile));
  afterCommand(queue, builder.CreateLoad(builder.getInt64Ty(), issued), {}, {buffer});
  if (skip) {
    builder.CreateBr(skip);
    builder.SetInsertPoint(skip);
    forgetWaits();
  }
  return success();
}

LogicalResult KernelEmitter::emitStore(dg::StoreOp store) {
  RankedTensorType type = store.getTileType();
  int64_t bytes = elementBytes(type.getElementType());
  std::optional<Tile> tile = tileOf(store.getTile(), store);
  if (!tile)
    return failure();
  SmallVector<CopyDimension> dimensions;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    int64_t count = type.getDimSize(d);
    llvm::Value *low = nullptr, *high = nullptr;
    if (store.isBounded()) {
      low = clampTo(builder, scalar(store.getLower()[d]), count);
      high = clampTo(builder, scalar(store.getUpper()[d]), count);
      if (isa<llvm::ConstantInt>(low) && isa<llvm::ConstantInt>(high) && cast<llvm::ConstantInt>(low)->isZero() &&
          cast<llvm::ConstantInt>(high)->getSExtValue() == count)
        low = high = nullptr;
    }
    if (count == 1 && !low)
      continue;
    dimensions.push_back({i32(count), i64(tile->strides[d]), builder.CreateMul(scalar(store.getStrides()[d]), i64(bytes)), low, high});
  }
  for (size_t d = dimensions.size(); d-- > 1;) {
    CopyDimension &outer = dimensions[d - 1], &inner = dimensions[d];
    auto constant = [](llvm::Value *v) { return cast<llvm::ConstantInt>(v)->getSExtValue(); };
    auto *outerStride = dyn_cast<llvm::ConstantInt>(outer.targetStride), *innerStride = dyn_cast<llvm::ConstantInt>(inner.targetStride);
    if (outer.low || inner.low || !outerStride || !innerStride || constant(outerStride) != constant(innerStride) * constant(inner.count) ||
        constant(outer.sourceStride) != constant(inner.sourceStride) * constant(inner.count))
      continue;
    inner.count = i32(constant(inner.count) * constant(outer.count));
    dimensions.erase(dimensions.begin() + d - 1);
  }
  int queue = storeQueue(store);
  waitForStores(queue, store.getBase(), true);
  beforeAccess(queue, tile->buffer, Read);
  llvm::Value *to = builder.CreateAdd(scalar(store.getBase()), builder.CreateMul(scalar(store.getOffset()), i64(bytes)));
  llvm::Value *issued = issueDma(queue, address(*tile), to, dimensions, bytes, nullptr);
  afterCommand(queue, issued, {tile->buffer}, {});
  return success();
}

// Whether a store takes this value to global memory.
bool KernelEmitter::isStored(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<dg::StoreOp>(user) || (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp, tensor::ExtractSliceOp>(user) &&
                                      isStored(user->getResult(0)));
  });
}

} // namespace dougong::npu
