// Cheaper arithmetic where results are rounded to 16 bits anyway.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dougong {

// In the bodies of elementwise operations, in f32: division by a constant becomes multiplication, constant factors of a product one,
// multiply and add one fused step. Each changes a result by a rounding of f32 at most.
//   %d = divf %x, 6.0 ; %m = mulf %d, 0.5 ; %a = addf %m, %b   →   %a = math.fma %x, 0.08333…, %b
void simplifyArithmetic(mlir::func::FuncOp function);

} // namespace dougong
