// A linalg operation as vector code on LM.
//
// Loops, from the outside: parallel ones, the last of them several iterations at once (`together`); then the vector loop, 32
// lanes at a time, if it is parallel; then the reductions, in registers; innermost the vector loop if it is a reduction.
//
//   sum over k of a[m,k]*b[k,n]:   for m by 8
//                                    for n by 32
//                                      acc[u] = init;  for k: acc[u] += splat(a[m+u,k]) * b[k,n..n+31];  store acc[u]
//   row sums of x[m,n]:            for m by 4
//                                    acc[u] = 0;  for n by 32: acc[u] += x[m+u,n..n+31];  store reduce(acc[u])
//
// What is done together is emitted operation by operation, so that latencies overlap, and an operand that several
// iterations share is loaded once. Windows of a few elements (3x3, 5x5) are unrolled for the same reason.
//
// A narrow last dimension (16 channels) joins the one before it; an operand that does not move in that one, such as a bias,
// then repeats within the vector. Where all results are 16-bit floats, what happens on the way in f32 may round otherwise than
// written, by far less than the result itself: products and sums are fused, divisors are inverted.
// A ragged last vector reads on beyond its row (buffers have room for that); it also
// writes on, where the rows that follow are written later, and else writes back what lay there.
//
// VectorCode.cpp: what the operands are, and which loop becomes vectors.  VectorElements.cpp: the body for some lanes.
// VectorLoops.cpp: the loops around it.
#pragma once
#include "compiler/npu/KernelEmitter.h"

namespace dougong::npu {

class VectorCode {
public:
  VectorCode(KernelEmitter &emitter, mlir::linalg::LinalgOp op) : e(emitter), b(emitter.builder), op(op) {}
  mlir::LogicalResult emit();

private:
  struct Operand {
    std::optional<Tile> tile; // none: a splat or unused
    llvm::Value *splat = nullptr, *base = nullptr;
    mlir::Type element;
  };
  using Indices = llvm::SmallVector<llvm::Value *>;

  mlir::LogicalResult findOperands();
  bool fitsVectors();
  void chooseVectorLoop();
  int misfits(int loop);
  mlir::Operation *combiner(unsigned result);
  bool isCombined() const { return vectorLoop >= 0 && nest.loops[vectorLoop].reduction; }
  llvm::Value *dimension(unsigned dim, const Indices &at);
  llvm::Value *pointer(int operand, const Indices &at, unsigned space = 0); // space 1: see DougongTargetMachine.h
  llvm::Value *load(int operand, const Indices &at, int lanes);
  void store(int result, llvm::Value *value, const Indices &at, int lanes, llvm::Value *mask);
  using Values = llvm::SmallVector<llvm::Value *>;
  mlir::FailureOr<llvm::SmallVector<Values>> bodies(llvm::ArrayRef<Indices> places, int lanes, llvm::ArrayRef<Values> carried);
  llvm::Value *relaxed(mlir::Operation &inner, llvm::DenseMap<mlir::Value, llvm::Value *> &values);
  mlir::FailureOr<llvm::Value *> one(mlir::Operation &inner, llvm::DenseMap<mlir::Value, llvm::Value *> &values, const Indices &at,
                                     int lanes);
  llvm::Value *neutral(mlir::Operation *combine, llvm::Type *type);
  llvm::Value *reduce(mlir::Operation *combine, llvm::Value *vector);
  llvm::Value *combineTwo(mlir::Operation *combine, llvm::Value *x, llvm::Value *y);
  void joinNarrowLoops();
  bool mayOverrun();
  llvm::Value *start(unsigned result, const Indices &at, int lanes);
  void outerLoops(size_t depth, Indices &at);
  void group(llvm::ArrayRef<Indices> rows);
  void compute(llvm::ArrayRef<Indices> places, int lanes, llvm::Value *mask);
  void reductions(size_t depth, llvm::MutableArrayRef<Indices> places, llvm::function_ref<void()> innermost);
  void eachVectors(llvm::ArrayRef<Indices> rows, int64_t most, llvm::function_ref<void(llvm::ArrayRef<Indices>, llvm::Value *)> body);
  void separateMemory();

  KernelEmitter &e;
  llvm::IRBuilder<> &b;
  mlir::linalg::LinalgOp op;
  Nest nest;
  llvm::SmallVector<Operand> operands;
  llvm::SmallVector<Tile> results;
  llvm::SmallVector<llvm::Value *> resultBase;
  llvm::SmallVector<Nest::Operand> resultNest;
  llvm::SmallVector<int> parallel, reduced; // loops without the vector loop
  llvm::SmallVector<int64_t> periods;       // of operands that repeat within a vector
  int vectorLoop = -1, togetherLoop = -1, joinedLoop = -1;
  int64_t together = 1, unrolled = 1;
  int inputs = 0;
  bool failedInside = false, overrun = false, overrunHere = false;
  llvm::SmallVector<std::pair<llvm::Instruction *, Buffer *>> accesses;
};

} // namespace dougong::npu
