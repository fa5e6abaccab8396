// The conversion of a model's inputs, moved into the convolutions that read them (see Conversions.h).
#include "compiler/graph/Conversions.h"
#include "compiler/graph/Elementwise.h"

using namespace mlir;

namespace dougong {

// { %1 = truncf %in ; yield %1 }, whatever the maps.
static bool onlyConverts(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumResults() != 1 || !isElementwiseGeneric(op))
    return false;
  Operation &first = op.getBody()->front();
  return isa<arith::TruncFOp, arith::ExtFOp>(first) && first.getOperand(0) == op.getBody()->getArgument(0) &&
         first.getNextNode() == op.getBody()->getTerminator() && op.getBody()->getTerminator()->getOperand(0) == first.getResult(0);
}

bool isNarrowing(linalg::GenericOp op) { return onlyConverts(op) && isa<arith::TruncFOp>(op.getBody()->front()); }

bool isConversion(linalg::GenericOp op) { return onlyConverts(op) && op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity(); }

namespace {

struct ConvertInConvolution : OpRewritePattern<linalg::Conv2DNhwcHwcfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::Conv2DNhwcHwcfOp conv, PatternRewriter &rewriter) const override {
    Value image = conv.getInputs()[0];
    auto pad = image.getDefiningOp<tensor::PadOp>();
    auto conversion = (pad ? pad.getSource() : image).getDefiningOp<linalg::GenericOp>();
    if (!conversion || !onlyConverts(conversion) || !conversion->hasOneUse() || !image.hasOneUse())
      return failure();
    AffineMap order = conversion.getMatchingIndexingMap(conversion.getDpsInputOperand(0));
    if (!order.isPermutation() || (pad && !matchPattern(pad.getConstantPaddingValue(), m_AnyZeroFloat())))
      return failure();

    Location loc = conversion.getLoc();
    Value source = conversion.getDpsInputs()[0];
    auto type = cast<RankedTensorType>(source.getType());
    if (pad) {
      SmallVector<OpFoldResult> low, high;
      for (unsigned dim = 0; dim < order.getNumResults(); ++dim) {
        low.push_back(rewriter.getIndexAttr(pad.getStaticLow()[order.getDimPosition(dim)]));
        high.push_back(rewriter.getIndexAttr(pad.getStaticHigh()[order.getDimPosition(dim)]));
      }
      Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
      auto padded = tensor::PadOp::create(rewriter, pad.getLoc(), Type(), source, low, high, zero);
      source = padded;
      type = padded.getResultType();
    }
    auto narrow = RankedTensorType::get(type.getShape(), getElementTypeOrSelf(image));
    Value empty = tensor::EmptyOp::create(rewriter, loc, narrow.getShape(), narrow.getElementType());
    AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
    auto tile = linalg::GenericOp::create(rewriter, loc, narrow, source, empty, ArrayRef{identity, identity}, parallel);
    rewriter.cloneRegionBefore(conversion.getRegion(), tile.getRegion(), tile.getRegion().begin());

    SmallVector<AffineMap> maps = conv.getIndexingMapsArray();
    SmallVector<AffineExpr> indices;
    for (unsigned dim = 0; dim < order.getNumResults(); ++dim)
      indices.push_back(maps[0].getResult(order.getDimPosition(dim)));
    maps[0] = AffineMap::get(maps[0].getNumDims(), 0, indices, rewriter.getContext());
    SmallVector<Value> inputs{tile.getResult(0), conv.getInputs()[1]};
    auto generic = linalg::GenericOp::create(rewriter, conv.getLoc(), conv->getResultTypes(), inputs, conv.getOutputs(), maps,
                                             conv.getIteratorTypesArray());
    rewriter.cloneRegionBefore(conv->getRegion(0), generic.getRegion(), generic.getRegion().begin());
    rewriter.replaceOp(conv, generic.getResults());
    return success();
  }
};

} // namespace

void convertInConvolutions(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<ConvertInConvolution>(function.getContext());
  (void)applyPatternsGreedily(function, std::move(patterns));
}

} // namespace dougong
