// The dg dialect: registration, and what the declarations of DgOps.td cannot check by themselves.
#include "compiler/dialect/Dg.h"

using namespace mlir;
using namespace dougong::dg;

#include "compiler/dialect/DgDialect.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/DgOps.cpp.inc"

void DgDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/DgOps.cpp.inc"
      >();
}

// What a load and a store have in common: one stride a dimension, bounds for all dimensions or none, one element type.
template <typename Access> static LogicalResult verifyAccess(Access op) {
  RankedTensorType tile = op.getTileType();
  size_t rank = tile.getRank();
  if (op.getStrides().size() != rank)
    return op.emitOpError("has ") << op.getStrides().size() << " strides for a tile of rank " << rank;
  if (op.getLower().size() != op.getUpper().size() || (op.isBounded() && op.getLower().size() != rank))
    return op.emitOpError("needs lower and upper bounds for all ") << rank << " dimensions, or none";
  if (cast<MemRefType>(op.getBase().getType()).getElementType() != tile.getElementType())
    return op.emitOpError("has a tile whose element type is not the memory's");
  return success();
}

LogicalResult LoadOp::verify() {
  if (getFill() && getFill().getType() != getTileType().getElementType())
    return emitOpError("has a fill value whose type is not the tile's");
  if (getStarts().size() != getModuli().size() || (isWrapped() && getModuli().size() != getStrides().size()))
    return emitOpError("needs starts and moduli for all dimensions, or none");
  return verifyAccess(*this);
}

LogicalResult StoreOp::verify() { return verifyAccess(*this); }

// Of offsets, mask and the like: one for each element.
static LogicalResult verifyElements(Operation *op, ShapedType tile) {
  for (Value operand : op->getOperands())
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()); tensor && tensor.getShape() != tile.getShape())
      return op->emitOpError("has operands of different shapes");
  return success();
}

LogicalResult AtomicOp::verify() {
  auto type = cast<ShapedType>(getOld().getType());
  Type element = cast<MemRefType>(getBase().getType()).getElementType();
  if (type.getElementType() != element || getElementTypeOrSelf(getValues().getType()) != element)
    return emitOpError("has values whose element type is not the memory's");
  if (getExpected() && getKind() != arith::AtomicRMWKind::assign)
    return emitOpError("compares, so it must be of kind assign");
  return verifyElements(*this, type);
}

Value dougong::dg::writtenMemory(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<StoreOp, ScatterOp, AtomicOp>([](auto access) { return access.getBase(); })
      .Default(Value());
}

Value dougong::dg::readMemory(Operation *op) {
  return TypeSwitch<Operation *, Value>(op).Case<LoadOp, GatherOp, AtomicOp>([](auto access) { return access.getBase(); }).Default(Value());
}
