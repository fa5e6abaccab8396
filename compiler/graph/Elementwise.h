// One generic operation for each chain of elementwise ones: what both precision and kernel forming start from.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dougong {

// Copies, permutes, broadcasts or repeats elements of one operand, and computes nothing: transpose, expand, nearest resize.
bool isMovement(mlir::linalg::GenericOp op);
// A generic operation without reductions, whose results are indexed by the loops themselves.
bool isElementwiseGeneric(mlir::Operation *op);

// Named elementwise operations become generic ones, softmax its parts, and producers with one consumer join it:
//   %1 = generic {add} (%x, %b) ; %2 = generic {max 0} (%1)   →   %2 = generic {add; max 0} (%x, %b)
// Reshapes that only add or drop dimensions of extent one fold into the indexing maps of their consumers; those behind a
// contraction move behind its elementwise consumers. Contractions, convolutions and pooling stay the named operations they are.
mlir::LogicalResult fuseElementwise(mlir::func::FuncOp function);

} // namespace dougong
