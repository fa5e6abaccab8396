// The tensor engine's view of a linalg operation (see Contraction.h).
#include "compiler/npu/Contraction.h"
#include "isa/commands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dougong::npu {
namespace {

// The operand whose (possibly extended) element `value` is, and whether the extension was unsigned.
std::optional<std::pair<unsigned, bool>> operandOf(Value value, Block *body) {
  bool isUnsigned = false;
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      return std::nullopt;
    isUnsigned |= isa<arith::ExtUIOp>(op);
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != body)
    return std::nullopt;
  return std::make_pair(argument.getArgNumber(), isUnsigned);
}

struct MultiplyAdd {
  bool isUnsigned[2] = {};
};

std::optional<MultiplyAdd> matchMultiplyAdd(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  Block *body = op.getBlock();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  for (int side = 0; side < 2; ++side) {
    Operation *multiply = add->getOperand(1 - side).getDefiningOp();
    if (add->getOperand(side) != body->getArgument(2) || !multiply || !isa<arith::MulFOp, arith::MulIOp>(multiply))
      continue;
    auto left = operandOf(multiply->getOperand(0), body), right = operandOf(multiply->getOperand(1), body);
    if (!left || !right || left->first + right->first != 1)
      return std::nullopt;
    MultiplyAdd match;
    match.isUnsigned[left->first] = left->second;
    match.isUnsigned[right->first] = right->second;
    return match;
  }
  return std::nullopt;
}

std::optional<uint8_t> engineType(Type type, bool isUnsigned) {
  if (type.isF16())
    return DG_F16;
  if (type.isBF16())
    return DG_BF16;
  if (isa<Float8E4M3FNType>(type))
    return DG_F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DG_F8E5M2;
  if (type.isInteger(8))
    return isUnsigned ? DG_U8 : DG_I8;
  return std::nullopt;
}

} // namespace

bool isMultiplyAdd(linalg::LinalgOp op) { return matchMultiplyAdd(op).has_value(); }

std::optional<Contraction> matchContraction(linalg::LinalgOp op, const Nest &nest) {
  std::optional<MultiplyAdd> body = matchMultiplyAdd(op);
  if (!body)
    return std::nullopt;
  Contraction result;
  for (int side = 0; side < 2; ++side) {
    auto type = engineType(getElementTypeOrSelf(op.getDpsInputOperand(side)->get().getType()), body->isUnsigned[side]);
    if (!type || !nest.operands[side].linear)
      return std::nullopt;
    result.types[side] = *type;
  }
  bool integer = result.types[0] <= DG_U8;
  if (integer != (result.types[1] <= DG_U8) || (!integer && result.types[0] != result.types[1]) || !nest.operands[2].linear)
    return std::nullopt;
  Type out = getElementTypeOrSelf(op->getResult(0).getType());
  if (integer ? !out.isInteger(32) : !(out.isF32() || out == getElementTypeOrSelf(op->getOperand(0).getType())))
    return std::nullopt;
  result.accumulator = integer ? DG_I32 : DG_F32;

  // The columns are the loop that walks the accumulators one by one; the operand that moves with it is B.
  SmallVector<int> rows;
  ArrayRef<int64_t> out4 = nest.operands[2].strides;
  for (auto [l, loop] : llvm::enumerate(nest.loops))
    if (!loop.reduction && out4[l] == 4)
      result.columns = l;
  if (result.columns >= 0) {
    bool first = nest.operands[0].strides[result.columns], second = nest.operands[1].strides[result.columns];
    if (first == second) // depthwise: every column has operands of its own
      return std::nullopt;
    if (first)
      std::swap(result.a, result.b);
  }
  ArrayRef<int64_t> bStrides = nest.operands[result.b].strides;
  for (auto [l, loop] : llvm::enumerate(nest.loops)) {
    if (loop.reduction)
      result.outerSteps.push_back(l);
    else if (int(l) != result.columns)
      (bStrides[l] == 0 && out4[l] ? rows : result.outer).push_back(l);
  }
  // The innermost loops become counters; two row counters want accumulators that go on without a gap.
  while (!rows.empty() && (result.rows.empty() ||
                           (result.rows.size() == 1 && out4[rows.back()] == out4[result.rows[0]] * nest.loops[result.rows[0]].size))) {
    result.rows.insert(result.rows.begin(), rows.back());
    rows.pop_back();
  }
  result.outer.append(rows);
  llvm::sort(result.outer);
  while (!result.outerSteps.empty() && result.steps.size() < 3) {
    result.steps.insert(result.steps.begin(), result.outerSteps.back());
    result.outerSteps.pop_back();
  }
  return result;
}

std::optional<Contraction> matchContraction(linalg::LinalgOp op) {
  if (!isMultiplyAdd(op))
    return std::nullopt;
  SmallVector<std::optional<SmallVector<int64_t>>> strides;
  for (OpOperand &use : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(use.get().getType());
    if (!type)
      return std::nullopt;
    Type element = type.getElementType();
    int64_t bytes = op.isDpsInit(&use) || !element.isIntOrFloat() ? 4 : std::max(1u, element.getIntOrFloatBitWidth() / 8);
    strides.push_back(denseStrides(type.getShape(), bytes));
  }
  return matchContraction(op, buildNest(op, strides));
}

} // namespace dougong::npu
