// One generic operation for each chain of elementwise ones (see Elementwise.h).
#include "compiler/graph/Elementwise.h"
#include "compiler/graph/Conversions.h"

using namespace mlir;

namespace dougong {

bool isMovement(linalg::GenericOp op) {
  if (op.getNumLoops() != op.getNumParallelLoops() || op.getNumResults() != 1)
    return false;
  Operation &yield = op.getBody()->back();
  if (&op.getBody()->front() != &yield)
    return false;
  auto value = dyn_cast<BlockArgument>(yield.getOperand(0));
  return value && value.getOwner() == op.getBody() && value.getArgNumber() < op.getNumDpsInputs() &&
         isa<RankedTensorType>(op.getDpsInputs()[value.getArgNumber()].getType());
}

bool isElementwiseGeneric(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumLoops() != generic.getNumParallelLoops())
    return false;
  return llvm::all_of(generic.getDpsInitsMutable(), [&](OpOperand &init) { return generic.getMatchingIndexingMap(&init).isIdentity(); });
}

// Loop iterations of an operation of static shape.
static int64_t iterations(linalg::LinalgOp op) {
  int64_t n = 1;
  for (int64_t range : op.getStaticLoopRanges())
    n *= range;
  return n;
}

// Movement costs nothing inside its consumer, which reads where it would have written. Computation may not be repeated: all
// its uses are in the consumer, which runs over no more elements.
static bool mayFuse(linalg::GenericOp producer, linalg::GenericOp consumer) {
  // What an operation computed is narrowed where it was computed, not by its reader, to which it travels.
  if (isNarrowing(producer) && producer.getDpsInputs()[0].getDefiningOp())
    return false;
  bool contraction = linalg::isaContractionOpInterface(consumer) || linalg::isaConvolutionOpInterface(consumer);
  if (isMovement(producer))
    return !contraction || producer.getMatchingIndexingMap(producer.getDpsInputOperand(0)).isProjectedPermutation();
  return !contraction && llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; }) &&
         iterations(producer) == iterations(consumer);
}

// The same as a control of upstream's fusion, which goes ahead when it is told yes and keeps the consumer's location only.
static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || !mayFuse(producer, consumer))
    return false;
  consumer->setLoc(FusedLoc::get(consumer.getContext(), {producer.getLoc(), consumer.getLoc()}));
  return true;
}

namespace {

// The source of a reshape that only adds or drops dimensions of extent 1 is read directly:
//   %1 = tensor.expand_shape %r [[0, 1]] : tensor<8xf32> into tensor<8x1xf32> ; generic (%1) map (d0, d1) -> (d0, 0)
//   →  generic (%r) map (d0, d1) -> (d0)
struct FoldUnitReshape : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  // The map onto the reshape's source, where it is that simple.
  static std::optional<AffineMap> throughReshape(Operation *reshape, AffineMap map) {
    SmallVector<ReassociationIndices> groups;
    RankedTensorType wide;
    bool expands = false;
    if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(reshape)) {
      groups = expand.getReassociationIndices(), wide = expand.getResultType(), expands = true;
    } else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(reshape)) {
      groups = collapse.getReassociationIndices(), wide = collapse.getSrcType();
    } else {
      return std::nullopt;
    }
    if (groups.empty() || !wide.hasStaticShape())
      return std::nullopt;
    AffineExpr zero = getAffineConstantExpr(0, map.getContext());
    SmallVector<AffineExpr> results;
    for (auto [i, group] : llvm::enumerate(groups)) {
      std::optional<int64_t> kept;
      for (int64_t dim : group) {
        if (wide.getDimSize(dim) == 1)
          continue;
        if (kept)
          return std::nullopt;
        kept = dim;
      }
      if (expands) {
        results.push_back(kept ? map.getResult(*kept) : map.getResult(group.front()));
      } else {
        for (int64_t dim : group)
          results.push_back(kept == dim || (!kept && dim == group.front()) ? map.getResult(i) : zero);
      }
    }
    return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
  }

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    for (OpOperand *input : op.getDpsInputOperands()) {
      Operation *reshape = input->get().getDefiningOp();
      std::optional<AffineMap> map = throughReshape(reshape, op.getMatchingIndexingMap(input));
      if (!map)
        continue;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[input->getOperandNumber()] = *map;
      if (!inversePermutation(concatAffineMaps(maps, op.getContext())))
        continue; // a loop's extent would be lost
      rewriter.modifyOpInPlace(op, [&] {
        input->set(reshape->getOperand(0));
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }
};

// A dimension of extent one that a loop of extent one walks is walked by it: of two ways to say it, the one that is an identity.
//   generic (%x : tensor<1x8xf32>) map (d0, d1) -> (0, d1), d0 of extent 1   →   map (d0, d1) -> (d0, d1)
struct WalkUnits : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!isElementwiseGeneric(op))
      return failure();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    bool changed = false;
    for (AffineMap &map : maps) {
      if (map.getNumResults() != ranges.size())
        continue;
      SmallVector<AffineExpr> results(map.getResults());
      for (auto [i, expr] : llvm::enumerate(results))
        if (ranges[i] == 1 && isa<AffineConstantExpr>(expr))
          expr = rewriter.getAffineDimExpr(i), changed = true;
      map = AffineMap::get(map.getNumDims(), 0, results, rewriter.getContext());
    }
    if (!changed)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps)); });
    return success();
  }
};

} // namespace

static bool isHeavyNamed(linalg::LinalgOp op) { return linalg::isaContractionOpInterface(op) || linalg::isaConvolutionOpInterface(op); }

LogicalResult decomposeSoftmax(Operation *root) {
  IRRewriter rewriter(root->getContext());
  SmallVector<linalg::SoftmaxOp> softmaxes;
  root->walk([&](linalg::SoftmaxOp op) { softmaxes.push_back(op); });
  for (linalg::SoftmaxOp op : softmaxes) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return failure();
    rewriter.replaceOp(op, *parts);
  }
  return success();
}

LogicalResult fuseElementwise(func::FuncOp function) {
  if (failed(decomposeSoftmax(function)))
    return failure();
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) && op.hasPureTensorSemantics() && !isHeavyNamed(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op); // what cannot become generic stays as it is
  }

  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, [](OpOperand *operand) {
    auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
    auto producer = expand ? expand.getSrc().getDefiningOp<linalg::LinalgOp>() : nullptr;
    return producer && isHeavyNamed(producer) && expand->hasOneUse() && isElementwiseGeneric(operand->getOwner());
  });
  // Elementwise code whose result is reshaped, as the permutation in a transposed convolution, joins that behind the reshape.
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
    auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
    auto producer = collapse ? collapse.getSrc().getDefiningOp<linalg::GenericOp>() : nullptr;
    return producer && isElementwiseGeneric(producer) && producer->hasOneUse() && collapse->hasOneUse() &&
           isElementwiseGeneric(operand->getOwner());
  });
  patterns.add<FoldUnitReshape, WalkUnits>(function.getContext());
  linalg::GenericOp::getCanonicalizationPatterns(patterns, function.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, function.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, function.getContext());
  (void)applyPatternsGreedily(function, std::move(patterns)); // not to have reached a fixpoint in ten rounds is no error
  return success();
}

} // namespace dougong
