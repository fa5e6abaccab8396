// Long reductions to few results, in two steps (see Reductions.h).
#include "compiler/graph/Reductions.h"

using namespace mlir;

namespace dougong {

static constexpr int64_t longReduction = 16 * 1024; // iterations that pay for a second kernel
static constexpr int64_t fewResults = 512;          // vectors of 32 that a dozen programs share
static constexpr int64_t mostParts = 32;

// The one operation of a reduction's body that takes in the accumulator, if it is all that does, and has a neutral element.
static Operation *combinerOf(linalg::GenericOp op) {
  BlockArgument accumulator = op.getRegionOutputArgs()[0];
  if (!accumulator.hasOneUse())
    return nullptr;
  Operation *combiner = *accumulator.getUsers().begin();
  if (combiner->getNumOperands() != 2 || op.getBody()->getTerminator()->getOperand(0) != combiner->getResult(0) ||
      !isa<arith::AddFOp, arith::AddIOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp>(combiner))
    return nullptr;
  return combiner;
}

// Rows that fit local memory stay whole: softmax and the like read them again.
static bool reducesRows(linalg::GenericOp op) {
  int64_t row = 1;
  for (auto [kind, range] : llvm::zip(op.getIteratorTypesArray(), op.getStaticLoopRanges())) {
    if (linalg::isReductionIterator(kind))
      row *= range;
    else if (row > 1)
      return false;
  }
  return row <= 16384 && op.getNumParallelLoops() > 0;
}

static bool isPlain(linalg::GenericOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(/*allowZeroInResults=*/true); }) &&
         !op.hasIndexSemantics();
}

static LogicalResult split(linalg::GenericOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  if (!op.getNumReductionLoops() || op.getNumResults() != 1 || !isPlain(op) || linalg::isaContractionOpInterface(op) ||
      linalg::isaConvolutionOpInterface(op))
    return failure();
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  Operation *combiner = combinerOf(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t iterations = 1;
  for (int64_t range : ranges)
    iterations *= range;
  if (!result || !combiner || iterations < longReduction || result.getNumElements() > fewResults || reducesRows(op))
    return failure();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  unsigned loop = llvm::find(kinds, utils::IteratorType::reduction) - kinds.begin();
  int64_t parts = std::min(mostParts, ranges[loop]);
  while (ranges[loop] % parts != 0)
    --parts;
  if (parts < 4)
    return failure();

  Location loc = op.getLoc();
  // Loop `loop` becomes two: the part, in its place, and what is in it behind.
  auto shifted = [&](AffineExpr expr) -> AffineExpr {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && dim.getPosition() > loop ? rewriter.getAffineDimExpr(dim.getPosition() + 1) : expr;
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    SmallVector<AffineExpr> indices;
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    bool split = false;
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(input).getResults())) {
      auto &group = groups.emplace_back();
      auto add = [&](AffineExpr index, int64_t extent) {
        group.push_back(shape.size());
        shape.push_back(extent);
        indices.push_back(index);
      };
      if (expr == rewriter.getAffineDimExpr(loop)) {
        split = true;
        add(rewriter.getAffineDimExpr(loop), parts);
        add(rewriter.getAffineDimExpr(loop + 1), ranges[loop] / parts);
      } else {
        add(shifted(expr), type.getDimSize(dim));
      }
    }
    inputs.push_back(split ? Value(tensor::ExpandShapeOp::create(rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
                                                                 input->get(), groups))
                           : input->get());
    maps.push_back(AffineMap::get(ranges.size() + 1, 0, indices, rewriter.getContext()));
  }
  SmallVector<AffineExpr> indices{rewriter.getAffineDimExpr(loop)};
  for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
    indices.push_back(shifted(expr));
  maps.push_back(AffineMap::get(ranges.size() + 1, 0, indices, rewriter.getContext()));
  kinds.insert(kinds.begin() + loop, utils::IteratorType::parallel);

  SmallVector<int64_t> shape{parts};
  llvm::append_range(shape, result.getShape());
  Value neutral = arith::ConstantOp::create(rewriter, loc, *arith::getNeutralElement(combiner));
  Value empty = tensor::EmptyOp::create(rewriter, loc, shape, result.getElementType());
  Value filled = linalg::FillOp::create(rewriter, loc, neutral, empty).getResult(0);
  auto partial = linalg::GenericOp::create(rewriter, loc, filled.getType(), inputs, filled, maps, kinds);
  rewriter.cloneRegionBefore(op.getRegion(), partial.getRegion(), partial.getRegion().begin());

  unsigned rank = shape.size();
  AffineMap all = rewriter.getMultiDimIdentityMap(rank), rest = all.getMinorSubMap(rank - 1);
  SmallVector<utils::IteratorType> outer(rank, utils::IteratorType::parallel);
  outer[0] = utils::IteratorType::reduction;
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(op, result, partial.getResult(0), op.getOutputs()[0], ArrayRef{all, rest}, outer,
                                                 [&](OpBuilder &at, Location loc, ValueRange args) {
                                                   Operation *sum = at.clone(*combiner);
                                                   sum->setOperands(args);
                                                   linalg::YieldOp::create(at, loc, sum->getResults());
                                                 });
  return success();
}

void splitReductions(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::GenericOp> operations(function.getOps<linalg::GenericOp>());
  for (linalg::GenericOp op : operations)
    (void)split(op, rewriter);
}

} // namespace dougong
