// Indexing maps and tile strides → loops and byte strides (see Nest.h).
#include "compiler/npu/Nest.h"

using namespace mlir;

namespace dougong::npu {
namespace {

// constant + Σ coefficient_l * loop_l
struct Linear {
  int64_t constant = 0;
  SmallVector<int64_t> coefficients;
};

// Which dimensions to split, by the divisors they are taken apart with: `(h + 4) floordiv 2` and `h mod 2` split h by 2.
void collectDivisors(AffineExpr expr, MutableArrayRef<int64_t> divisors) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return;
  if (binary.getKind() == AffineExprKind::FloorDiv || binary.getKind() == AffineExprKind::Mod)
    if (auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      binary.getLHS().walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part)) {
          int64_t &known = divisors[dim.getPosition()];
          known = known == 1 || known == divisor.getValue() ? divisor.getValue() : 0;
        }
      });
  collectDivisors(binary.getLHS(), divisors);
  collectDivisors(binary.getRHS(), divisors);
}

class Linearizer {
public:
  Linearizer(ArrayRef<Nest::Loop> loops, ArrayRef<Nest::Dimension> dimensions) : loops(loops), dimensions(dimensions) {}

  std::optional<Linear> operator()(AffineExpr expr) const {
    Linear result;
    result.coefficients.assign(loops.size(), 0);
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      result.constant = constant.getValue();
      return result;
    }
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      for (auto [loop, factor] : dimensions[dim.getPosition()])
        result.coefficients[loop] += factor;
      return result;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return std::nullopt;
    std::optional<Linear> left = (*this)(binary.getLHS());
    std::optional<Linear> right = (*this)(binary.getRHS());
    if (!left || !right)
      return std::nullopt;
    bool constantRight = llvm::all_of(right->coefficients, [](int64_t c) { return c == 0; });
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      left->constant += right->constant;
      for (auto [l, r] : llvm::zip(left->coefficients, right->coefficients))
        l += r;
      return left;
    case AffineExprKind::Mul:
      if (!constantRight)
        return std::nullopt;
      left->constant *= right->constant;
      for (int64_t &l : left->coefficients)
        l *= right->constant;
      return left;
    case AffineExprKind::FloorDiv:
    case AffineExprKind::Mod:
      if (!constantRight || right->constant <= 0)
        return std::nullopt;
      return divide(*left, right->constant, binary.getKind() == AffineExprKind::Mod);
    default:
      return std::nullopt;
    }
  }

private:
  // floor((Σ multiples of c + rest) / c) = Σ multiples / c where 0 ≤ rest < c whatever the loops do.
  std::optional<Linear> divide(const Linear &value, int64_t divisor, bool modulo) const {
    Linear quotient, rest;
    quotient.coefficients.assign(loops.size(), 0);
    rest.coefficients.assign(loops.size(), 0);
    rest.constant = llvm::mod(value.constant, divisor);
    quotient.constant = (value.constant - rest.constant) / divisor;
    int64_t low = rest.constant, high = rest.constant;
    for (auto [l, coefficient] : llvm::enumerate(value.coefficients)) {
      if (coefficient % divisor == 0) {
        quotient.coefficients[l] = coefficient / divisor;
        continue;
      }
      rest.coefficients[l] = coefficient;
      (coefficient > 0 ? high : low) += coefficient * (loops[l].size - 1);
    }
    if (low < 0 || high >= divisor)
      return std::nullopt;
    return modulo ? rest : quotient;
  }

  ArrayRef<Nest::Loop> loops;
  ArrayRef<Nest::Dimension> dimensions;
};

// Removes the loops that `drop` names, and renumbers what refers to them.
void removeLoops(Nest &nest, ArrayRef<bool> drop) {
  SmallVector<int> place(nest.loops.size(), -1);
  int kept = 0;
  for (size_t l = 0; l < drop.size(); ++l)
    if (!drop[l]) {
      nest.loops[kept] = nest.loops[l];
      for (Nest::Operand &operand : nest.operands)
        operand.strides[kept] = operand.strides[l];
      place[l] = kept++;
    }
  nest.loops.resize(kept);
  for (Nest::Operand &operand : nest.operands)
    operand.strides.resize(kept);
  for (Nest::Dimension &dimension : nest.dimensions) {
    Nest::Dimension parts;
    for (auto [loop, factor] : dimension)
      if (place[loop] >= 0)
        parts.push_back({place[loop], factor});
    dimension = parts;
  }
}

// (i, i+1) → one loop, where every operand goes on without a gap. Loops whose number is needed by itself stay.
void mergeLoops(Nest &nest, SmallVector<bool> needed) {
  for (int i = int(nest.loops.size()) - 2; i >= 0; --i) {
    Nest::Loop &outer = nest.loops[i], &inner = nest.loops[i + 1];
    bool contiguous = outer.reduction == inner.reduction && !needed[i] && !needed[i + 1];
    for (const Nest::Operand &operand : nest.operands)
      contiguous &= operand.strides[i] == operand.strides[i + 1] * inner.size;
    if (!contiguous)
      continue;
    inner.size *= outer.size;
    SmallVector<bool> drop(nest.loops.size(), false);
    drop[i] = true;
    removeLoops(nest, drop);
    needed.erase(needed.begin() + i);
  }
}

} // namespace

int64_t Nest::iterations() const {
  int64_t count = 1;
  for (const Loop &loop : loops)
    count *= loop.size;
  return count;
}

SmallVector<int64_t> denseStrides(ArrayRef<int64_t> shape, int64_t elementBytes) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = elementBytes;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Nest buildNest(linalg::LinalgOp op, ArrayRef<std::optional<SmallVector<int64_t>>> tileStrides, bool merge) {
  Nest nest;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> divisors(sizes.size(), 1);
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      collectDivisors(expr, divisors);

  for (size_t d = 0; d < sizes.size(); ++d) {
    bool reduction = iterators[d] == utils::IteratorType::reduction;
    Nest::Dimension dimension;
    if (divisors[d] > 1 && sizes[d] % divisors[d] == 0) {
      dimension.push_back({int(nest.loops.size()), divisors[d]});
      nest.loops.push_back({sizes[d] / divisors[d], reduction});
      dimension.push_back({int(nest.loops.size()), 1});
      nest.loops.push_back({divisors[d], reduction});
    } else {
      dimension.push_back({int(nest.loops.size()), 1});
      nest.loops.push_back({sizes[d], reduction});
    }
    nest.dimensions.push_back(dimension);
  }

  SmallVector<bool> needed(nest.loops.size(), false);
  auto need = [&](unsigned dim) {
    for (auto [loop, factor] : nest.dimensions[dim])
      needed[loop] = true;
  };
  Linearizer linearize(nest.loops, nest.dimensions);
  for (OpOperand &use : op->getOpOperands()) {
    Nest::Operand operand;
    operand.strides.assign(nest.loops.size(), 0);
    operand.map = op.getMatchingIndexingMap(&use);
    const auto &strides = tileStrides[use.getOperandNumber()];
    operand.used = strides.has_value();
    if (strides) {
      operand.tileStrides = *strides;
      for (auto [expr, stride] : llvm::zip(operand.map.getResults(), *strides)) {
        std::optional<Linear> linear = linearize(expr);
        if (!linear) {
          operand.linear = false;
          break;
        }
        operand.offset += linear->constant * stride;
        for (auto [l, coefficient] : llvm::enumerate(linear->coefficients))
          operand.strides[l] += coefficient * stride;
      }
      if (!operand.linear) {
        operand.offset = 0;
        operand.strides.assign(nest.loops.size(), 0);
        for (unsigned d = 0; d < sizes.size(); ++d)
          if (operand.map.isFunctionOfDim(d))
            need(d);
      }
    }
    nest.operands.push_back(std::move(operand));
  }
  op.getBlock()->walk([&](linalg::IndexOp index) { need(index.getDim()); });

  SmallVector<bool> single;
  SmallVector<bool> stillNeeded;
  for (auto [loop, need] : llvm::zip(nest.loops, needed)) {
    single.push_back(loop.size == 1);
    if (loop.size != 1)
      stillNeeded.push_back(need);
  }
  removeLoops(nest, single);
  if (merge)
    mergeLoops(nest, stillNeeded);
  return nest;
}

} // namespace dougong::npu
