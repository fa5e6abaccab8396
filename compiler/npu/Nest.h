// A linalg operation on tiles as a nest of loops over bytes.
//
// What vector code, tensor commands and copies all need to know is the same: how many times each loop runs, and how far
// each operand's address moves in it. Indexing maps are folded into tile strides here, once:
//
//   #map = (n, h, w, c, kh, kw) -> (n, 2*h + kh, 2*w + kw, c)   on a tile of strides [s0, s1, s2, s3]
//   →  strides per loop  n: s0   h: 2*s1   w: 2*s2   c: s3   kh: s1   kw: s2
//
// `h floordiv 2` (nearest resize) becomes two loops, h/2 and 2, the second of stride 0. Loops of one iteration vanish,
// and neighbours that every operand walks contiguously become one.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <cstdint>
#include <optional>

namespace dougong::npu {

struct Nest {
  struct Loop {
    int64_t size;
    bool reduction;
  };
  struct Operand {
    bool used = true;   // the body reads it, or it is a result
    bool linear = true; // else its address is computed from `map` for every element
    int64_t offset = 0;
    llvm::SmallVector<int64_t> strides;     // bytes, one a loop
    mlir::AffineMap map;                    // of the original dimensions
    llvm::SmallVector<int64_t> tileStrides; // bytes, one a dimension of the tile
  };
  // An original dimension as a sum of loops: h = 2*h0 + h1.
  using Dimension = llvm::SmallVector<std::pair<int, int64_t>, 2>;

  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<Operand> operands;
  llvm::SmallVector<Dimension> dimensions;

  int64_t iterations() const;
};

// `tileStrides` gives the byte strides of every operand's tile, nothing for an operand without memory (a splat).
// `merge` = false keeps neighbouring loops apart.
Nest buildNest(mlir::linalg::LinalgOp op, llvm::ArrayRef<std::optional<llvm::SmallVector<int64_t>>> tileStrides, bool merge = true);

// Byte strides of a dense row-major tile.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

} // namespace dougong::npu
