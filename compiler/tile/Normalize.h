// Kernels with as few dimensions as they can have.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dougong {

// Drops dimensions of extent one, and makes one dimension of neighbours that every operation walks together. Memory is row-major,
// so the types of arguments and results change freely. A 1×1 convolution becomes the matmul that it is:
//
//   conv_2d_nhwc_hwcf (1x80x80x64, 1x1x64x32) ; generic {bias; relu} 1x80x80x32   →   matmul (6400x64, 64x32) ; generic 6400x32
//
// Kernels with windows, pads, slices or reshapes stay as they are: they need their dimensions.
void normalize(mlir::func::FuncOp kernel);

} // namespace dougong
