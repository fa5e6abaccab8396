// What one program of a tiled kernel does, worked out but not written yet: which box of which value it needs, from its results
// backwards to the kernel's arguments.
//
// Making a plan costs microseconds, so dozens of tile sizes are tried on plans (Search.cpp) and only the best one is
// written as IR (Emit.cpp).
#pragma once
#include "compiler/tile/Box.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <string>
#include <vector>

namespace dougong {

// What an argument's memory looks like through the pads, slices, transpositions and reshapes between it and its reader. Index
// i of the view is element offset + Σ i_d·strides[d]; outside low_d ≤ i_d < high_d there is nothing but `fill`.
struct View {
  unsigned argument = 0;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides, low, high;
  mlir::TypedAttr fill; // null: zero
  bool rowMajor = true; // all of the argument, in order: it may be reshaped
};

// A value that a program computes or loads. Operands stand before their readers.
struct Node {
  enum class Kind { Load, Compute, Empty, Constant, Mask, Reshape } kind;
  mlir::Operation *op = nullptr;                        // Compute, Constant, Mask (the pad), Reshape
  Box box;                                              // Compute: of its loops; else of the value
  View view;                                            // Load
  mlir::RankedTensorType type;                          // of the tile; Compute: of its first result
  llvm::SmallVector<std::pair<int, unsigned>> operands; // node and its result number; node -1: a scalar, copied as it is
  llvm::SmallVector<mlir::AffineMap> maps;              // Compute: the indexing maps of the tile
  bool reduced = false;                                 // Compute: runs in the reduction loop; others: inside of it
};

// A piece of a result: the tile `node` goes to box + shift, clipped to the piece's extent. Its dimensions need not lie in the
// order of the result's: element i is at offset Σ (box + shift + i)_d · strides_d.
struct Store {
  unsigned result;
  std::pair<int, unsigned> node;
  Box box;
  llvm::SmallVector<int64_t> shift, extent, strides;
};

// What the search chooses.
struct Choice {
  llvm::SmallVector<int64_t> tile;      // of each dimension of the domain
  llvm::SmallVector<int> axis;          // the program axis that walks the dimension; -1: one tile spans it
  mlir::Operation *reducedOp = nullptr; // tiled along a reduction, in a loop inside the program
  unsigned reducedLoop = 0;
  int64_t reducedChunk = 0;
};

struct Plan {
  Choice choice;
  std::array<int64_t, programAxes> grid{1, 1, 1};
  std::array<double, programAxes> filled{1, 1, 1}; // of the tiles along an axis together, the part that is not beyond the edge
  int64_t trips = 1;                               // of the reduction loop
  std::vector<Node> nodes;
  std::vector<Store> stores;
  mlir::Operation *refused = nullptr; // the operation that does not tile this way, and why
  std::string reason;

  // Ranges of d0 … d3.
  llvm::SmallVector<Interval> ranges() const;
};

// The index space that programs divide: the leading dimensions that all results have in common. 0 in `tileable` where
// a dimension is put together from pieces (concatenation) and stays whole.
struct Domain {
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<bool> tileable;
};
Domain domainOf(mlir::func::FuncOp kernel);

// False, with reason and refused set, if the kernel does not tile by this choice.
bool makePlan(mlir::func::FuncOp kernel, const Choice &choice, Plan &plan);

// Of a reduction that the tensor engine performs: a contraction or convolution on 8- or 16-bit operands.
bool isTensorWork(mlir::Operation *op);

} // namespace dougong
