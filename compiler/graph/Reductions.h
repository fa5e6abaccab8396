// Long reductions to few results, in two steps.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dougong {

// Sums of parts first, which many cores make at once, then their sum:
//   %s = generic {addf} (%x : 1x160x160x24) -> 1x24
//   →  %p = generic {addf} (expand_shape %x : 1x20x8x160x24) -> 20x1x24 ; %s = generic {addf} (%p) -> 1x24
// where the result alone would keep no more than a few cores busy.
void splitReductions(mlir::func::FuncOp function);

} // namespace dougong
