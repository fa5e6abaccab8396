// Finds the drain's arithmetic in the body of a linalg operation (see Epilogue.h).
#include "compiler/npu/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dougong::npu {
namespace {

class Matcher {
public:
  Matcher(linalg::LinalgOp op, llvm::function_ref<bool(Value)> accumulates) : op(op), accumulates(accumulates) {}

  std::optional<Epilogue> match() {
    if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
      return std::nullopt;
    Type out = getElementTypeOrSelf(op->getResult(0).getType());
    if (!out.isF32() && !out.isF16() && !out.isBF16())
      return std::nullopt;
    Value value = op.getBlock()->getTerminator()->getOperand(0);
    if (auto truncate = value.getDefiningOp<arith::TruncFOp>())
      value = truncate.getIn();
    if (!value.getType().isF32() || !sum(clamp(value)) || !sameLayout())
      return std::nullopt;
    return found;
  }

private:
  // The number of the operand whose element `value` is, -1 where it is something else.
  int operandOf(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == op.getBlock() ? int(argument.getArgNumber()) : -1;
  }

  std::optional<float> constantOf(Value value) {
    FloatAttr attribute;
    if (!matchPattern(value, m_Constant(&attribute)))
      return std::nullopt;
    return attribute.getValue().convertToFloat();
  }

  // min(max(x, low), high), or one of them. The other way round it is the same where low <= high.
  Value clamp(Value value) {
    for (;;) {
      Operation *inner = value.getDefiningOp();
      bool isMinimum = inner && isa<arith::MinimumFOp>(inner);
      if (!inner || !(isMinimum || isa<arith::MaximumFOp>(inner)))
        return value;
      float &limit = isMinimum ? found.high : found.low;
      auto constant = constantOf(inner->getOperand(1));
      if (!constant || __builtin_isfinite(limit))
        return value;
      limit = *constant;
      if (found.low > found.high)
        return Value();
      value = inner->getOperand(0);
    }
  }

  bool sum(Value value) {
    if (!value)
      return false;
    if (accumulator(value))
      return true;
    auto add = value.getDefiningOp<arith::AddFOp>();
    if (!add)
      return product(value);
    for (int side = 0; side < 2; ++side) {
      Value addend = add->getOperand(side), rest = add->getOperand(1 - side);
      Epilogue saved = found;
      if (addOperand(addend) && (found.bias >= 0 && found.residual < 0 ? product(rest) : sum(rest)))
        return true;
      found = saved;
    }
    return false;
  }

  bool product(Value value) {
    if (accumulator(value))
      return true;
    auto multiply = value.getDefiningOp<arith::MulFOp>();
    if (!multiply)
      return false;
    for (int side = 0; side < 2; ++side) {
      int operand = operandOf(multiply->getOperand(side));
      if (operand >= 0 && isChannelVector(operand) && accumulator(multiply->getOperand(1 - side))) {
        found.scale = operand;
        return true;
      }
    }
    return false;
  }

  // The outermost addend is the residual if there is one, the one inside it the bias.
  bool addOperand(Value addend) {
    int operand = operandOf(addend);
    if (operand >= 0 && isChannelVector(operand) && found.bias < 0) {
      found.bias = operand;
      return true;
    }
    if (auto extend = addend.getDefiningOp<arith::ExtFOp>())
      operand = operandOf(extend.getIn());
    if (operand < 0 || accumulates(op->getOperand(operand)) || found.bias >= 0 || found.residual >= 0 || !isTile(operand))
      return false;
    found.residual = operand;
    return true;
  }

  bool accumulator(Value value) {
    if (auto convert = value.getDefiningOp<arith::SIToFPOp>())
      value = convert.getIn();
    int operand = operandOf(value);
    if (operand < 0 || !accumulates(op->getOperand(operand)))
      return false;
    found.accumulator = operand;
    return true;
  }

  bool isChannelVector(int operand) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
    if (!type || type.getRank() == 0 || !type.getElementType().isF32() || type.getNumElements() != type.getDimSize(type.getRank() - 1))
      return false;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(map.getNumResults() - 1));
    return dim && dim.getPosition() + 1 == op.getNumLoops();
  }

  bool isTile(int operand) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(operand).getType());
    Type element = type ? type.getElementType() : Type();
    return type && (element.isF32() || element.isF16() || element.isBF16()) && walksAsResult(operand);
  }

  // The operand's elements come in the order of the result's: its map differs at most by constants in dimensions of one.
  bool walksAsResult(int operand) {
    auto type = cast<RankedTensorType>(op->getOperand(operand).getType());
    auto out = cast<RankedTensorType>(op->getResult(0).getType());
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
    AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (type.getShape() != out.getShape())
      return false;
    for (auto [expr, outExpr, size] : llvm::zip(map.getResults(), outMap.getResults(), type.getShape()))
      if (size != 1 && expr != outExpr)
        return false;
    return true;
  }

  bool sameLayout() {
    AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    return found.accumulator >= 0 && outMap.isIdentity() && walksAsResult(found.accumulator);
  }

  linalg::LinalgOp op;
  llvm::function_ref<bool(Value)> accumulates;
  Epilogue found;
};

} // namespace

std::optional<Epilogue> matchEpilogue(linalg::LinalgOp op, llvm::function_ref<bool(Value)> accumulates) {
  return Matcher(op, accumulates).match();
}

} // namespace dougong::npu
