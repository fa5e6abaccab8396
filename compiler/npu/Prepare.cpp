// Tile form as it comes → the operations the emitter knows.
//
//   arith.addf on tensors, linalg.map, named elementwise ops  →  linalg.generic, chains of them fused into one
//   linalg.softmax, tensor.concat                             →  their parts
//   math.sin, erf, atan, …                                    →  polynomials in f32
#include "compiler/npu/Contraction.h"
#include "compiler/npu/npu.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace dougong::npu {
namespace {

// A producer is computed where it is used if that is once, and for each of its elements once.
bool mayFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!producer || !consumer || !operand->get().hasOneUse() || isMultiplyAdd(consumer) || isMultiplyAdd(producer))
    return false;
  return producer.getNumLoops() == consumer.getNumLoops() && consumer.getMatchingIndexingMap(operand).isPermutation();
}

LogicalResult runPatterns(ModuleOp module, llvm::function_ref<void(RewritePatternSet &)> populate) {
  RewritePatternSet patterns(module.getContext());
  populate(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

LogicalResult decompose(ModuleOp module) {
  SmallVector<linalg::AggregatedOpInterface> aggregates;
  module.walk([&](linalg::AggregatedOpInterface op) { aggregates.push_back(op); });
  IRRewriter rewriter(module.getContext());
  for (linalg::AggregatedOpInterface op : aggregates) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return op->emitOpError("cannot be taken apart for the NPU");
    rewriter.replaceOp(op, *parts);
  }
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op) && !isMultiplyAdd(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op->emitOpError("has no form as loops for the NPU");
  }
  return success();
}

// A producer of elementwise code that is read across its rows, as in NCHW → NHWC, is rearranged first, which DMA does beside
// the vector unit; the code itself then has contiguous operands:
//
//   generic {trunc} (x by (d0, d1, d2) -> (d2, d0, d1))   →   t = generic {copy} (x by …) ; generic {trunc} (t by identity)
void rearrangeOperands(ModuleOp module) {
  SmallVector<linalg::GenericOp> candidates;
  module.walk([&](linalg::GenericOp op) {
    bool copies = op.getBlock()->without_terminator().empty();
    if (!copies && op.getNumReductionLoops() == 0 && op.getNumLoops() > 0 && op.getNumDpsInits() == 1 &&
        op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      candidates.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::GenericOp op : candidates) {
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    // The last loop that runs at all is the one that vectors take.
    int last = sizes.size() - 1;
    while (last > 0 && sizes[last] == 1)
      --last;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      AffineMap map = op.getMatchingIndexingMap(operand);
      if (!type || !op.payloadUsesValueFromOperand(operand) || !map.isFunctionOfDim(last) || !map.isPermutation())
        continue;
      int innermost = type.getRank() - 1;
      while (innermost > 0 && type.getDimSize(innermost) == 1)
        --innermost;
      if (map.getDimPosition(innermost) == unsigned(last))
        continue;
      rewriter.setInsertionPoint(op);
      auto identity = rewriter.getMultiDimIdentityMap(op.getNumLoops());
      Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, type.getElementType());
      auto copy =
          linalg::GenericOp::create(rewriter, op.getLoc(), empty.getType(), operand->get(), empty, ArrayRef<AffineMap>{map, identity},
                                    SmallVector<utils::IteratorType>(sizes.size(), utils::IteratorType::parallel),
                                    [](OpBuilder &b, Location loc, ValueRange in) { linalg::YieldOp::create(b, loc, in[0]); });
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[operand->getOperandNumber()] = identity;
      rewriter.modifyOpInPlace(op, [&] {
        operand->set(copy.getResult(0));
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
    }
  }
}

bool isZero(Value value) {
  FloatAttr real;
  IntegerAttr integer;
  return (matchPattern(value, m_Constant(&real)) && real.getValue().isPosZero()) ||
         (matchPattern(value, m_Constant(&integer)) && integer.getValue().isZero());
}

// Integer accumulators start from zero and leave as they are; another start value is added afterwards.
//   matmul (a, b) outs (c)   →   m = matmul (a, b) outs (zeros) ; m + c
// Not for a tile that a loop carries from zero on: that may be one held in accumulators.
void addStartValues(ModuleOp module) {
  SmallVector<linalg::LinalgOp> candidates;
  module.walk([&](linalg::LinalgOp op) {
    if (!isMultiplyAdd(op) || !getElementTypeOrSelf(op->getResult(0).getType()).isInteger(32))
      return;
    Value init = op.getDpsInitOperand(0)->get();
    if (!matchContraction(op))
      return;
    auto argument = dyn_cast<BlockArgument>(init);
    if (auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr; loop && argument.hasOneUse())
      init = loop.getTiedLoopInit(argument)->get();
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (!fill || !isZero(fill.getInputs()[0]))
      candidates.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::LinalgOp op : candidates) {
    Location loc = op.getLoc();
    Value init = op.getDpsInitOperand(0)->get();
    auto type = cast<RankedTensorType>(init.getType());
    rewriter.setInsertionPoint(op);
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
    Value zeros = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
    rewriter.modifyOpInPlace(op, [&] { op.getDpsInitsMutable()[0].set(zeros); });
    rewriter.setInsertionPointAfter(op);
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
    auto sum = linalg::GenericOp::create(rewriter, loc, type, ValueRange{op->getResult(0), init}, empty,
                                         ArrayRef<AffineMap>(SmallVector<AffineMap>(3, identity)), parallel,
                                         [](OpBuilder &b, Location loc, ValueRange in) {
                                           linalg::YieldOp::create(b, loc, arith::AddIOp::create(b, loc, in[0], in[1]).getResult());
                                         });
    rewriter.replaceAllUsesExcept(op->getResult(0), sum.getResult(0), sum);
  }
}

// Without a vector instruction of their own: by polynomials.
bool isApproximated(StringRef name) {
  return llvm::is_contained({"math.sin", "math.cos", "math.atan", "math.atan2", "math.erf", "math.erfc", "math.asin", "math.acos",
                             "math.cbrt", "math.log1p", "math.expm1"},
                            name);
}

} // namespace

LogicalResult prepare(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createConvertElementwiseToLinalgPass());
  if (failed(manager.run(module)) || failed(decompose(module)))
    return failure();
  if (failed(runPatterns(module, [](RewritePatternSet &patterns) {
        math::populateExpansionPatterns(patterns, {"tan", "sinh", "cosh", "asinh", "acosh", "atanh", "ceilf_none"});
        populateMathF32ExpansionPatterns(patterns, isApproximated);
        populateMathPolynomialApproximationPatterns(patterns, isApproximated);
        tensor::populateDecomposeTensorConcatPatterns(patterns);
      })))
    return failure();
  if (failed(runPatterns(module, [](RewritePatternSet &patterns) { linalg::populateElementwiseOpsFusionPatterns(patterns, mayFuse); })))
    return failure();
  addStartValues(module);
  rearrangeOperands(module);
  PassManager clean(module.getContext());
  clean.addPass(createCanonicalizerPass());
  clean.addPass(createCSEPass());
  return clean.run(module);
}

} // namespace dougong::npu
