// A linalg operation on buffers as a loop nest over linear addresses, and the register tile chosen for it.
//
// Every operand of linalg.conv_2d_nhwc_hwcf, of a matmul, a pooling or an elementwise generic is at `start + Σ stride[l] · i_l`
// over the loops l; two neighbouring loops that run through all operands like one are merged. So a pointwise convolution is a
// matmul here, and an elementwise operation on dense tensors has one loop.
#pragma once
#include "compiler/cpu/cpu.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <optional>

namespace dougong::cpu {

struct NestLoop {
  int64_t extent;
  bool reduction;
  int64_t original; // the operation's loop, where it is one loop
};

struct NestOperand {
  mlir::Value value; // a memref, or a scalar
  mlir::Type element;
  bool memory = false, output = false;
  llvm::SmallVector<int64_t> strides; // in elements, by loop
  int64_t constant = 0;               // what index maps add, in elements
};

struct NestShape {
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<NestLoop> loops;
  llvm::SmallVector<NestOperand> operands; // inputs, then outputs
  int vectorLoop = -1;                     // stride 1, or 0, in every operand, unless `strided`
  bool strided = false;    // some operands of an elementwise operation are gathered or scattered lane by lane: a transposition
  bool horizontal = false; // it is a reduction: lanes are combined at the end
  bool indexed = false;    // the body reads loop indices
  bool exactLanes = false; // no computing on lanes that do not exist (integer division)
  int64_t lanes = 0;
  std::optional<mlir::vector::CombiningKind> combining;

  // The register tile: how many iterations of each loop one tile covers (1 for a plain loop), and in which order the loops
  // around it stand. Reduction loops here are cut in blocks whose panel of the vector operand stays in cache.
  struct Step {
    unsigned loop;
    int64_t tile;
  };
  llvm::SmallVector<Step> steps;
  size_t packAfter = 0; // after this many steps the panel is copied to a dense buffer; 0: it is not
  int64_t vectors = 1;  // of the vector loop in a tile

  bool reduces() const {
    return llvm::any_of(loops, [](const NestLoop &loop) { return loop.reduction; });
  }
};

// Nothing, if the operation is not of this kind.
std::optional<NestShape> shapeOf(mlir::linalg::LinalgOp op, const Registers &registers);

} // namespace dougong::cpu
