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
