// Elementwise operations on a contraction's result that the drain does on the way out of the accumulators:
//
//   out[m, n] = convert(clamp(acc[m, n] * scale[n] + bias[n] + residual[m, n], low, high))
//
// each part optional, in this order (another order rounds differently, and is left to the vector unit).
#pragma once
#include "compiler/npu/Nest.h"

namespace dougong::npu {

struct Epilogue {
  int accumulator = -1; // operand numbers
  int scale = -1, bias = -1, residual = -1;
  float low = -__builtin_inff(), high = __builtin_inff();
};

// `accumulates` says of an operand whether it is held in accumulators.
std::optional<Epilogue> matchEpilogue(mlir::linalg::LinalgOp op, llvm::function_ref<bool(mlir::Value)> accumulates);

} // namespace dougong::npu
