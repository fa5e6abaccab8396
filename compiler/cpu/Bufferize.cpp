// Tensors → memrefs, by upstream's one-shot bufferization, after one preparation: a tile that a loop carries is written
// back into the buffer it came in, so that no buffer made inside of a loop outlives its iteration.
//
//   scf.for … iter_args(%acc = %init) { … scf.yield %next }
// → scf.for … iter_args(%acc = %init) { … %kept = bufferization.materialize_in_destination %next in %acc ; scf.yield %kept }
//
// Where %next is computed in place of %acc (a contraction's accumulator) this is a copy of a buffer onto itself, and folds away.
// makeEntry relies on it: every temporary can have one place for the whole kernel.
#include "compiler/cpu/cpu.h"

using namespace mlir;
using namespace dougong;

namespace {
void keepInPlace(OpBuilder &b, Operation *terminator, MutableOperandRange operands, ValueRange places) {
  b.setInsertionPoint(terminator);
  for (auto [operand, place] : llvm::zip_equal(operands, places))
    if (isa<TensorType>(place.getType()) && operand.get() != place)
      operand.set(bufferization::MaterializeInDestinationOp::create(b, terminator->getLoc(), operand.get(), place).getResult());
}

void keepCarriedTilesInPlace(func::FuncOp kernel) {
  OpBuilder b(kernel.getContext());
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
      keepInPlace(b, yield, yield.getResultsMutable(), loop.getRegionIterArgs());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      scf::ConditionOp condition = loop.getConditionOp();
      // What the condition passes on need not be the arguments of its own region, position by position.
      if (llvm::equal(TypeRange(condition.getArgs()), TypeRange(loop.getBeforeArguments())))
        keepInPlace(b, condition, condition.getArgsMutable(), loop.getBeforeArguments());
      scf::YieldOp yield = loop.getYieldOp();
      if (llvm::equal(TypeRange(yield.getResults()), TypeRange(loop.getAfterArguments())))
        keepInPlace(b, yield, yield.getResultsMutable(), loop.getAfterArguments());
    }
  });
}

bufferization::OneShotBufferizationOptions options() {
  bufferization::OneShotBufferizationOptions options;
  options.memCpyFn = [](OpBuilder &b, Location loc, Value from, Value to) {
    linalg::CopyOp::create(b, loc, from, to);
    return success();
  };
  options.unknownTypeConverterFn = [](TensorType type, Attribute space, const bufferization::BufferizationOptions &) {
    return bufferization::getMemRefTypeWithStaticIdentityLayout(type, space);
  };
  return options;
}
} // namespace

LogicalResult cpu::bufferizeKernel(func::FuncOp kernel) {
  keepCarriedTilesInPlace(kernel);
  IRRewriter rewriter(kernel.getContext());
  if (failed(bufferization::eliminateEmptyTensors(rewriter, kernel)))
    return failure();
  {
    RewritePatternSet patterns(kernel.getContext());
    bufferization::populateEmptyTensorToAllocTensorPattern(patterns);
    if (failed(applyPatternsGreedily(kernel, std::move(patterns))))
      return failure();
  }
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(kernel, options(), state)))
    return failure();
  // A copy that bufferization left of a buffer onto itself.
  kernel.walk([](linalg::CopyOp copy) {
    if (copy.getInputs()[0] == copy.getOutputs()[0])
      copy.erase();
  });
  WalkResult left = kernel.walk([](memref::CopyOp copy) {
    OpBuilder b(copy);
    linalg::CopyOp::create(b, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
    return WalkResult::advance();
  });
  return success(!left.wasInterrupted());
}
