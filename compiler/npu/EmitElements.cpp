// Elements one by one through the core: gathered from global memory, or scattered to it.
#include "compiler/npu/KernelEmitter.h"
#include "isa/machine_layout.h"

using namespace mlir;

namespace dougong::npu {

llvm::Value *KernelEmitter::loadElement(llvm::Value *pointer, Type element) {
  if (element.isInteger(1))
    return builder.CreateICmpNE(builder.CreateLoad(builder.getInt8Ty(), pointer), builder.getInt8(0));
  return builder.CreateAlignedLoad(elementType(element, context), pointer, llvm::Align(elementBytes(element)));
}

void KernelEmitter::storeElement(llvm::Value *pointer, llvm::Value *value, Type element) {
  if (element.isInteger(1))
    value = builder.CreateZExt(value, builder.getInt8Ty());
  builder.CreateAlignedStore(value, pointer, llvm::Align(elementBytes(element)));
}

llvm::Value *KernelEmitter::elementAddress(const Tile &tile, ArrayRef<llvm::Value *> indices) {
  llvm::Value *at = address(tile);
  for (auto [index, stride] : llvm::zip(indices, tile.strides))
    at = builder.CreateAdd(at, builder.CreateMul(index, i64(stride)));
  return builder.CreateIntToPtr(at, builder.getPtrTy());
}

void KernelEmitter::forEachElement(const Tile &like, llvm::function_ref<void(ArrayRef<llvm::Value *>)> body) {
  SmallVector<llvm::Value *> indices;
  std::function<void(size_t)> nest = [&](size_t d) {
    if (d == like.shape.size())
      return body(indices);
    countedLoop(i64(0), i64(like.shape[d]), i64(1), [&](llvm::Value *i) {
      indices.push_back(i);
      nest(d + 1);
      indices.pop_back();
    });
  };
  nest(0);
}

namespace {

// Runs `body` where the mask is set (or always), and leaves the builder behind it.
void emitIfSet(llvm::IRBuilder<> &builder, llvm::Value *mask, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise) {
  if (!mask)
    return body();
  llvm::Function *function = builder.GetInsertBlock()->getParent();
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(builder.getContext(), name, function); };
  llvm::BasicBlock *set = block("set"), *clear = block("clear"), *join = block("join");
  builder.CreateCondBr(mask, set, clear);
  builder.SetInsertPoint(set);
  body();
  builder.CreateBr(join);
  builder.SetInsertPoint(clear);
  otherwise();
  builder.CreateBr(join);
  builder.SetInsertPoint(join);
}

} // namespace

// The operands of a gather or scatter: a splat is one element; a tile is waited for, once.
LogicalResult KernelEmitter::prepare(ElementOperand &operand, Operation *user) {
  if (!operand.value || scalar(operand.value))
    return success();
  operand.tile = tileOf(operand.value, user);
  if (!operand.tile)
    return failure();
  beforeAccess(core, operand.tile->buffer, Read);
  return success();
}

llvm::Value *KernelEmitter::element(const ElementOperand &operand, ArrayRef<llvm::Value *> at) {
  llvm::Value *splat = scalar(operand.value);
  return splat ? splat : loadElement(elementAddress(*operand.tile, at), operand.tile->element);
}

// base[offset] in global memory.
llvm::Value *KernelEmitter::globalElement(Value base, llvm::Value *offset, Type element) {
  llvm::Value *bytes = builder.CreateMul(builder.CreateSExtOrTrunc(offset, builder.getInt64Ty()), i64(elementBytes(element)));
  return builder.CreateIntToPtr(builder.CreateAdd(scalar(base), bytes), builder.getPtrTy());
}

LogicalResult KernelEmitter::emitGather(dg::GatherOp op) {
  auto type = cast<RankedTensorType>(op.getTile().getType());
  Tile out = newTile(op, 0, op.getLoc(), type, "gathered tile", isStored(op.getTile()) ? Filled::ToBeStored : Filled::InPlace);
  ElementOperand offsets{op.getOffsets()}, mask{op.getMask()}, other{op.getOther()};
  for (ElementOperand *operand : {&offsets, &mask, &other})
    if (failed(prepare(*operand, op)))
      return failure();
  waitForStores(core, op.getBase(), false);
  beforeAccess(core, out.buffer, Write);
  forEachElement(out, [&](ArrayRef<llvm::Value *> at) {
    llvm::Value *place = elementAddress(out, at);
    emitIfSet(
        builder, mask.value ? element(mask, at) : nullptr,
        [&] {
          llvm::Value *from = globalElement(op.getBase(), element(offsets, at), out.element);
          storeElement(place, loadElement(from, out.element), out.element);
        },
        [&] {
          llvm::Value *instead = other.value ? element(other, at) : llvm::Constant::getNullValue(elementType(out.element, context));
          storeElement(place, instead, out.element);
        });
  });
  tiles[op.getTile()] = out;
  return success();
}

LogicalResult KernelEmitter::emitScatter(dg::ScatterOp op) {
  ElementOperand offsets{op.getOffsets()}, mask{op.getMask()}, values{op.getTile()};
  for (ElementOperand *operand : {&offsets, &mask, &values})
    if (failed(prepare(*operand, op)))
      return failure();
  waitForStores(core, op.getBase(), true);
  auto type = cast<RankedTensorType>(op.getTile().getType());
  Tile shape;
  shape.shape.assign(type.getShape().begin(), type.getShape().end());
  forEachElement(shape, [&](ArrayRef<llvm::Value *> at) {
    emitIfSet(
        builder, mask.value ? element(mask, at) : nullptr,
        [&] {
          llvm::Value *to = globalElement(op.getBase(), element(offsets, at), type.getElementType());
          storeElement(to, element(values, at), type.getElementType());
        },
        [] {});
  });
  return success();
}

static llvm::AtomicRMWInst::BinOp operationOf(arith::AtomicRMWKind kind) {
  using A = llvm::AtomicRMWInst;
  switch (kind) {
  case arith::AtomicRMWKind::addf:
    return A::FAdd;
  case arith::AtomicRMWKind::addi:
    return A::Add;
  case arith::AtomicRMWKind::andi:
    return A::And;
  case arith::AtomicRMWKind::assign:
    return A::Xchg;
  case arith::AtomicRMWKind::maxnumf:
    return A::FMax;
  case arith::AtomicRMWKind::minnumf:
    return A::FMin;
  case arith::AtomicRMWKind::maxs:
    return A::Max;
  case arith::AtomicRMWKind::mins:
    return A::Min;
  case arith::AtomicRMWKind::maxu:
    return A::UMax;
  case arith::AtomicRMWKind::minu:
    return A::UMin;
  case arith::AtomicRMWKind::ori:
    return A::Or;
  case arith::AtomicRMWKind::xori:
    return A::Xor;
  default:
    return A::BAD_BINOP;
  }
}

// One element's atomic change, in the machine's instructions; the old value.
llvm::Value *KernelEmitter::changeElement(dg::AtomicOp op, llvm::Value *at, llvm::Value *value, llvm::Value *expected) {
  constexpr auto order = llvm::AtomicOrdering::AcquireRelease;
  llvm::MaybeAlign align(elementBytes(getElementTypeOrSelf(op.getOld().getType())));
  if (!expected)
    return builder.CreateAtomicRMW(operationOf(op.getKind()), at, value, align, order);
  llvm::Type *type = value->getType();
  llvm::Type *bits = builder.getIntNTy(type->getPrimitiveSizeInBits());
  llvm::Value *both = builder.CreateAtomicCmpXchg(at, builder.CreateBitCast(expected, bits), builder.CreateBitCast(value, bits), align,
                                                  order, llvm::AtomicOrdering::Acquire);
  return builder.CreateBitCast(builder.CreateExtractValue(both, 0), type);
}

LogicalResult KernelEmitter::emitAtomic(dg::AtomicOp op) {
  auto type = cast<RankedTensorType>(op.getOld().getType());
  if (operationOf(op.getKind()) == llvm::AtomicRMWInst::BAD_BINOP || elementBytes(type.getElementType()) < 4)
    return op.emitOpError(
               "is not supported on the NPU: atomics are additions, extremes, bit operations and exchanges of elements of 32 or 64 "
               "bits, not ")
           << stringifyAtomicRMWKind(op.getKind()) << " of " << type.getElementType();
  ElementOperand offsets{op.getOffsets()}, mask{op.getMask()}, values{op.getValues()}, expected{op.getExpected()};
  for (ElementOperand *operand : {&offsets, &mask, &values, &expected})
    if (failed(prepare(*operand, op)))
      return failure();
  for (int queue : {DG_LOAD0, DG_STORE0, DG_LOAD1, DG_STORE1}) // what came before is done before
    waitFor(core, queue, lastTicket[queue]);
  std::optional<Tile> old;
  if (!op.getOld().use_empty()) {
    old = newTile(op, 0, op.getLoc(), type, "tile of old values", isStored(op.getOld()) ? Filled::ToBeStored : Filled::InPlace);
    beforeAccess(core, old->buffer, Write);
    tiles[op.getOld()] = *old;
  }
  Tile shape;
  shape.shape.assign(type.getShape().begin(), type.getShape().end());
  forEachElement(shape, [&](ArrayRef<llvm::Value *> at) {
    auto keep = [&](llvm::Value *value) {
      if (old)
        storeElement(elementAddress(*old, at), value, type.getElementType());
    };
    emitIfSet(
        builder, mask.value ? element(mask, at) : nullptr,
        [&] {
          llvm::Value *to = globalElement(op.getBase(), element(offsets, at), type.getElementType());
          keep(changeElement(op, to, element(values, at), expected.value ? element(expected, at) : nullptr));
        },
        [&] { keep(llvm::Constant::getNullValue(elementType(type.getElementType(), context))); });
  });
  return success();
}

} // namespace dougong::npu
