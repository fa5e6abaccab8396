// Boxes of index space, whose offsets depend on the program, and how an indexing map carries them over.
//
// Offsets are affine expressions in dimensions that stand for what varies between tiles: d0, d1, d2 the program ids, d3 the
// iteration of the reduction loop. Sizes are constants: a tile has a static shape.
#pragma once
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include <optional>

namespace dougong {

inline constexpr unsigned programAxes = 3;
inline constexpr unsigned reductionAxis = 3;

struct Interval {
  int64_t low, high; // both inclusive
};

struct Box {
  llvm::SmallVector<mlir::AffineExpr> offsets;
  llvm::SmallVector<int64_t> sizes;

  size_t rank() const { return sizes.size(); }
  bool operator==(const Box &other) const { return offsets == other.offsets && sizes == other.sizes; }
  bool dependsOn(unsigned axis) const;
  int64_t elements() const;
};

// The values an expression takes when dimension i runs over dims[i] and symbol i over symbols[i]; none for what is not
// affine enough (a product or quotient of two variables).
std::optional<Interval> rangeOf(mlir::AffineExpr expr, llvm::ArrayRef<Interval> dims, llvm::ArrayRef<Interval> symbols = {});

// One result of an indexing map over a box of loops: which box of that operand dimension the tile touches, and how the tile's own
// loops index it.  (d1 * 2 + d4) over d1 at 8*p of size 8, d4 at 0 of size 3  →  offset 16*p, size 17, index d1 * 2 + d4.
struct Touched {
  mlir::AffineExpr offset;
  int64_t size;
  mlir::AffineExpr index; // in the loops of the tile
};

// None where the program ids and the loops do not separate: (3*p + d0) floordiv 2.
std::optional<Touched> touched(mlir::AffineExpr index, const Box &loops);

} // namespace dougong
