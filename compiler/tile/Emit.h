// A plan, written as a function in tile form.
#pragma once
#include "compiler/tile/Plan.h"

namespace dougong {

// Replaces `kernel` by its tile form, and returns that.
mlir::func::FuncOp emit(mlir::func::FuncOp kernel, const Plan &plan);

} // namespace dougong
