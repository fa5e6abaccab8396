// Which linalg operations the tensor engine computes, and how their loops fall on its counters.
//
//   O[batch…, m…, n] += A[batch…, m…, k…] * B[batch…, k…, n]      (A may swap with B)
//
// A convolution is one too: its A walks the window, h*2+kh giving the strides of both h and kh.
#pragma once
#include "compiler/npu/Nest.h"

namespace dougong::npu {

struct Contraction {
  int a = 0, b = 1;                         // operand numbers; A supplies the rows, B the columns
  uint8_t types[2] = {};                    // enum dg_type, of operand 0 and 1
  uint8_t accumulator = 0;                  // DG_F32 or DG_I32
  llvm::SmallVector<int> rows;              // at most two loops, m0 and m1
  int columns = -1;                         // the loop of n; -1: one column
  llvm::SmallVector<int> steps;             // at most three loops, k0..k2
  llvm::SmallVector<int> outer, outerSteps; // loops around the command; those over k accumulate
};

// The multiply-add and the types alone: true for every contraction, on whatever unit it runs.
bool isMultiplyAdd(mlir::linalg::LinalgOp op);

// How the tensor engine runs `op`, or nothing where it cannot (f32 operands, depthwise, an address that is not affine).
// `nest` must hold the accumulator's strides (4 bytes an element, dense) for the result.
std::optional<Contraction> matchContraction(mlir::linalg::LinalgOp op, const Nest &nest);
std::optional<Contraction> matchContraction(mlir::linalg::LinalgOp op); // for dense tiles

} // namespace dougong::npu
