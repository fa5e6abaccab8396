// Cheaper arithmetic where results are rounded to 16 bits anyway (see Arithmetic.h).
#include "compiler/graph/Arithmetic.h"
#include "compiler/graph/Elementwise.h"

using namespace mlir;

namespace dougong {
namespace {

std::optional<APFloat> constantOf(Value value) {
  FloatAttr attribute;
  if (!value.getType().isF32() || !matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  return attribute.getValue();
}

Value constant(PatternRewriter &rewriter, Location loc, const APFloat &value) {
  return arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(rewriter.getF32Type(), value));
}

// Only in bodies of elementwise operations: a contraction's multiply and add are what the tensor engine is known by. Not where the
// result is integers, which are quantised exactly, or a single number, which stays in f32.
bool isInElementwise(Operation *op) {
  Operation *parent = op->getParentOp();
  return isElementwiseGeneric(parent) && llvm::all_of(parent->getResultTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && isa<FloatType>(tensor.getElementType()) && tensor.getNumElements() > 1;
         });
}

// x / c → x · (1/c)
struct DivideByConstant : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    std::optional<APFloat> divisor = constantOf(op.getRhs());
    if (!divisor || !divisor->isFiniteNonZero() || !isInElementwise(op))
      return failure();
    APFloat reciprocal(1.0f);
    reciprocal.divide(*divisor, APFloat::rmNearestTiesToEven);
    if (!reciprocal.isNormal())
      return failure();
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), constant(rewriter, op.getLoc(), reciprocal));
    return success();
  }
};

// (x · a) · b → x · (a·b)
struct JoinFactors : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getLhs().getDefiningOp<arith::MulFOp>();
    if (!inner || !inner->hasOneUse() || !isInElementwise(op))
      return failure();
    std::optional<APFloat> a = constantOf(inner.getRhs()), b = constantOf(op.getRhs());
    if (!a || !b)
      return failure();
    a->multiply(*b, APFloat::rmNearestTiesToEven);
    if (!a->isNormal())
      return failure();
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, inner.getLhs(), constant(rewriter, op.getLoc(), *a));
    return success();
  }
};

// x · y + z → fma(x, y, z); not a product of two operands, which may be the scale that a drain applies on the way.
struct FuseMultiplyAdd : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() || !isInElementwise(op))
      return failure();
    for (int side = 0; side < 2; ++side) {
      auto product = op->getOperand(side).getDefiningOp<arith::MulFOp>();
      if (!product || !product->hasOneUse() || (isa<BlockArgument>(product.getLhs()) && isa<BlockArgument>(product.getRhs())))
        continue;
      rewriter.replaceOpWithNewOp<math::FmaOp>(op, product.getLhs(), product.getRhs(), op->getOperand(1 - side));
      return success();
    }
    return failure();
  }
};

} // namespace

void simplifyArithmetic(func::FuncOp function) {
  RewritePatternSet factors(function.getContext()), sums(function.getContext());
  factors.add<DivideByConstant, JoinFactors>(function.getContext());
  sums.add<FuseMultiplyAdd>(function.getContext()); // afterwards: it takes products apart from their factors
  (void)applyPatternsGreedily(function, std::move(factors));
  (void)applyPatternsGreedily(function, std::move(sums));
}

} // namespace dougong
