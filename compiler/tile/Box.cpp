// Boxes of index space (see Box.h).
#include "compiler/tile/Box.h"

using namespace mlir;

namespace dougong {

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

bool Box::dependsOn(unsigned axis) const {
  return llvm::any_of(offsets, [&](AffineExpr offset) { return offset.isFunctionOfDim(axis); });
}

int64_t Box::elements() const {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

std::optional<Interval> rangeOf(AffineExpr expr, ArrayRef<Interval> dims, ArrayRef<Interval> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Interval{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Interval> a = rangeOf(binary.getLHS(), dims, symbols), b = rangeOf(binary.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Interval{a->low + b->low, a->high + b->high};
  if (b->low != b->high)
    return std::nullopt;
  int64_t c = b->low;
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return c >= 0 ? Interval{a->low * c, a->high * c} : Interval{a->high * c, a->low * c};
  case AffineExprKind::FloorDiv:
    return c > 0 ? std::optional(Interval{floorDiv(a->low, c), floorDiv(a->high, c)}) : std::nullopt;
  case AffineExprKind::CeilDiv:
    return c > 0 ? std::optional(Interval{-floorDiv(-a->low, c), -floorDiv(-a->high, c)}) : std::nullopt;
  case AffineExprKind::Mod:
    if (c <= 0)
      return std::nullopt;
    if (floorDiv(a->low, c) == floorDiv(a->high, c))
      return Interval{a->low - floorDiv(a->low, c) * c, a->high - floorDiv(a->high, c) * c};
    return Interval{0, c - 1};
  default:
    return std::nullopt;
  }
}

// The summands of an expression.
static void summands(AffineExpr expr, SmallVectorImpl<AffineExpr> &terms) {
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr); sum && expr.getKind() == AffineExprKind::Add) {
    summands(sum.getLHS(), terms);
    summands(sum.getRHS(), terms);
  } else {
    terms.push_back(expr);
  }
}

std::optional<Touched> touched(AffineExpr index, const Box &loops) {
  MLIRContext *context = index.getContext();
  // Loop j of the whole is its offset plus loop j of the tile, here symbol j.
  SmallVector<AffineExpr> whole;
  SmallVector<Interval> ranges;
  for (size_t i = 0; i < loops.rank(); ++i) {
    whole.push_back(loops.offsets[i] + getAffineSymbolExpr(i, context));
    ranges.push_back({0, loops.sizes[i] - 1});
  }
  AffineExpr composed = simplifyAffineExpr(index.replaceDims(whole), programAxes + 1, loops.rank());
  SmallVector<AffineExpr> terms;
  summands(composed, terms);
  AffineExpr offset = getAffineConstantExpr(0, context), inner = offset;
  for (AffineExpr term : terms) {
    bool program = false, loop = false;
    term.walk([&](AffineExpr e) {
      program |= isa<AffineDimExpr>(e);
      loop |= isa<AffineSymbolExpr>(e);
    });
    if (program && loop)
      return std::nullopt;
    (loop ? inner : offset) = (loop ? inner : offset) + term;
  }
  std::optional<Interval> range = rangeOf(inner, {}, ranges);
  if (!range)
    return std::nullopt;
  SmallVector<AffineExpr> tileLoops;
  for (size_t i = 0; i < loops.rank(); ++i)
    tileLoops.push_back(getAffineDimExpr(i, context));
  return Touched{simplifyAffineExpr(offset + range->low, programAxes + 1, 0), range->high - range->low + 1,
                 simplifyAffineExpr((inner - range->low).replaceSymbols(tileLoops), loops.rank(), 0)};
}

} // namespace dougong
