// The conversion of a model's inputs, moved into the convolutions that read them.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dougong {

// An elementwise operation that only converts its operand to fewer bits, in whatever order.
bool isNarrowing(mlir::linalg::GenericOp op);

// An elementwise operation that only converts its operand's type, element by element.
bool isConversion(mlir::linalg::GenericOp op);

// A convolution reads its input in the order and the type in which it lies in memory, and converts the tile it needs:
//   %t = generic {truncf} (%x : 1x3x640x640xf32) -> 1x640x640x3xf16 ; %p = pad %t ; %c = conv_2d_nhwc_hwcf (%p, %w)
//   →  %p = pad %x ; %t = generic {truncf} (%p) -> 1x3x642x642xf16 ; %c = generic {convolution} (%t, %w)
// A permutation of a picture's three planes into pixels is what a vector unit does worst.
void convertInConvolutions(mlir::func::FuncOp function);

} // namespace dougong
