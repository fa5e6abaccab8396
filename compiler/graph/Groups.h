// Which operations of @main share a kernel. Precision asks (what crosses from kernel to kernel is stored in 16 bits), and kernel
// forming outlines the answer.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace dougong {

// A group has a root, which opened it, and followers that read what it computed over the same elements:
//
//   heavy root    contraction, convolution, pooling, reduction over outer dimensions: elementwise followers of its output's shape
//   light root    elementwise, reduction of rows: elementwise operations and reductions that agree on the leading dimensions,
//                 `rows`; what follows in a row is short (softmax, layer norm)
//   alone         everything else (concatenation, operations with regions, …)
class Groups {
public:
  explicit Groups(mlir::func::FuncOp main);

  static constexpr int none = -1;
  // The group of an operation; none for terminators, reshapes (they stay in @main) and clones.
  int groupOf(mlir::Operation *op) const;
  int size() const { return int(groups.size()); }
  // In the order of the block.
  llvm::ArrayRef<mlir::Operation *> operations(int group) const { return groups[group].operations; }
  // Groups so ordered that each comes behind those it reads.
  llvm::SmallVector<int> ordered() const;
  // Is a result of an operation of a group read outside of its group?
  bool crosses(mlir::Value value) const;

  // Operations that every reading group has its own copy of: constants, fills, scalars, and the views that a load performs
  // on the way (pads, slices). A view that somebody reads who has no group (a return, a reshape) is a kernel of its own instead.
  bool isCloned(mlir::Operation *op) const { return cloned.contains(op); }

private:
  enum class Kind { Heavy, Light, Alone };
  struct Group {
    Kind kind;
    llvm::SmallVector<mlir::Operation *> operations;
    llvm::SmallVector<int64_t> rows; // extents of the dimensions that all operations of it share, outermost first
    llvm::BitVector ancestors;       // groups that this one reads, directly or not
  };

  void decideClones(mlir::func::FuncOp main);
  void assign(mlir::Operation *op);
  bool join(mlir::Operation *op, int group);
  // Groups that computed the operands of op, looked up through clones and reshapes.
  llvm::SmallVector<int> sources(mlir::Operation *op) const;
  llvm::SmallVector<int> sources(llvm::ArrayRef<mlir::Value> values) const;

  llvm::SmallVector<Group> groups;
  llvm::DenseMap<mlir::Operation *, int> groupIndex;
  llvm::DenseSet<mlir::Operation *> cloned;
};

} // namespace dougong
