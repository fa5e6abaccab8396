// Reduce*, ArgMax and ArgMin, Softmax and its relatives, CumSum.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "models/convolution.h"
#include "models/op_table.h"
#include <cmath>
#include <numeric>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;

Scalar add(Scalars s) { return s[0] + s[1]; }

struct Reduction {
  double start;
  Scalar (*before)(Scalar); // null: nothing
  Scalar (*combine)(Scalars);
  Scalar (*after)(Scalar);
};

std::vector<int64_t> reduced_axes(Node &n, Value *x) {
  std::vector<int64_t> axes = n.integers_or_input("axes", 1).value_or(std::vector<int64_t>());
  if (axes.empty() && !n.integer("noop_with_empty_axes", 0)) {
    axes.resize(x->rank());
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t &axis : axes)
    axis = n.axis(axis, x->rank());
  return axes;
}

Value *reduce(Node &n, const Reduction &r) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> axes = reduced_axes(n, x);
  bool keep = n.integer("keepdims", 1);
  ElementType accumulator = accumulator_for(x->type);
  Value *term = x;
  if (r.before)
    term = e.elementwise({x}, accumulator, [&](Scalars s) { return r.before(s[0]); });
  Value *sum = axes.empty() ? term : e.reduce(term, axes, keep, accumulator, r.start, r.combine);
  return e.elementwise({sum}, x->type, [&](Scalars s) { return r.after ? r.after(s[0]) : s[0]; });
}

Scalar square(Scalar x) { return x * x; }
Scalar absolute(Scalar x) { return abs(x); }
Scalar root(Scalar x) { return is_float(x.type) ? sqrt(x) : convert(sqrt(convert(x, ElementType::F64)), x.type); }
Scalar logarithm(Scalar x) { return is_float(x.type) ? log(x) : convert(log(convert(x, ElementType::F64)), x.type); }
Scalar larger(Scalars s) { return maximum(s[0], s[1]); }
Scalar smaller(Scalars s) { return minimum(s[0], s[1]); }
Scalar multiply(Scalars s) { return s[0] * s[1]; }

void import_reduce_sum(Node &n) { n.set(0, reduce(n, {0, nullptr, add, nullptr})); }
void import_reduce_max(Node &n) { n.set(0, reduce(n, {-INFINITY, nullptr, larger, nullptr})); }
void import_reduce_min(Node &n) { n.set(0, reduce(n, {INFINITY, nullptr, smaller, nullptr})); }
void import_reduce_prod(Node &n) { n.set(0, reduce(n, {1, nullptr, multiply, nullptr})); }
void import_reduce_l1(Node &n) { n.set(0, reduce(n, {0, absolute, add, nullptr})); }
void import_reduce_l2(Node &n) { n.set(0, reduce(n, {0, square, add, root})); }
void import_reduce_sum_square(Node &n) { n.set(0, reduce(n, {0, square, add, nullptr})); }
void import_reduce_log_sum(Node &n) { n.set(0, reduce(n, {0, nullptr, add, logarithm})); }

void import_reduce_mean(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> axes = reduced_axes(n, x);
  if (axes.empty())
    return n.set(0, x);
  Value *sum = e.reduce(x, axes, n.integer("keepdims", 1), accumulator_for(x->type), 0, add);
  double count = double(x->elements()) / double(sum->elements());
  n.set(0, e.elementwise({sum}, x->type, [&](Scalars s) { return is_float(s[0].type) ? s[0] * (1 / count) : s[0] / count; }));
}

// log Σ exp x = m + log Σ exp(x - m), which does not overflow.
void import_reduce_log_sum_exp(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> axes = reduced_axes(n, x);
  ElementType type = accumulator_for(x->type);
  Value *top = e.reduce(x, axes, true, type, -INFINITY, larger);
  Value *powers = e.elementwise({x, top}, type, [](Scalars s) { return exp(s[0] - s[1]); });
  bool keep = n.integer("keepdims", 1);
  Value *sum = e.reduce(powers, axes, keep, type, 0, add);
  n.set(0, e.elementwise({sum, keep ? top : e.reshape(top, sum->shape)}, x->type, [](Scalars s) { return log(s[0]) + s[1]; }));
}

// Index of the extreme along an axis, the first or the last that has it. Extreme and index in one pass: comparing with the
// extreme afterwards would fail where the extreme has been rounded to 16 bits in between.
Value *place_of_extreme(Emitter &e, Value *x, int64_t axis, bool max, bool last) {
  int64_t rank = x->rank();
  Shape shape;
  llvm::SmallVector<mlir::AffineExpr> kept;
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis) {
      shape.push_back(x->shape[d]);
      kept.push_back(e.b.getAffineDimExpr(d));
    }
  mlir::AffineMap all = e.b.getMultiDimIdentityMap(rank), result = mlir::AffineMap::get(rank, 0, kept, e.b.getContext());
  llvm::SmallVector<mlir::utils::IteratorType> iterators(rank, mlir::utils::IteratorType::parallel);
  iterators[axis] = mlir::utils::IteratorType::reduction;
  mlir::Value value = e.filled(shape, x->type, max ? -INFINITY : INFINITY), index = e.filled(shape, ElementType::I64, 0);
  auto build = [&](mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange v) {
    mlir::ImplicitLocOpBuilder inner(location, builder);
    Scalar in{&inner, v[0], x->type}, best{&inner, v[1], x->type}, where{&inner, v[2], ElementType::I64};
    Scalar here = convert_from_index({&inner, mlir::linalg::IndexOp::create(inner, axis), ElementType::I64, true}, ElementType::I64);
    Scalar better = last ? (max ? in >= best : in <= best) : (max ? in > best : in < best);
    mlir::linalg::YieldOp::create(inner, mlir::ValueRange{select(better, in, best).value, select(better, here, where).value});
  };
  auto op = mlir::linalg::GenericOp::create(e.b, mlir::TypeRange{value.getType(), index.getType()}, mlir::ValueRange(e.get(x)),
                                            mlir::ValueRange{value, index}, llvm::ArrayRef{all, result, result}, iterators, build);
  return e.computed(op.getResult(1), ElementType::I64, shape);
}

void arg(Node &n, bool max) {
  Value *x = n[0];
  int64_t axis = n.axis(n.integer("axis", 0), x->rank());
  Value *where = place_of_extreme(n.e, x, axis, max, n.integer("select_last_index", 0));
  Shape kept = x->shape;
  kept[axis] = 1;
  n.set(0, n.integer("keepdims", 1) ? n.e.reshape(where, kept) : where);
}
void import_arg_max(Node &n) { arg(n, true); }
void import_arg_min(Node &n) { arg(n, false); }

// Before opset 13 the input is taken as a matrix, rows ending at `axis`.
std::vector<int64_t> softmax_axes(Node &n, Value *x) {
  int64_t axis = n.axis(n.integer("axis", n.opset < 13 ? 1 : -1), x->rank());
  std::vector<int64_t> axes{axis};
  for (int64_t d = axis + 1; n.opset < 13 && d < x->rank(); ++d)
    axes.push_back(d);
  return axes;
}

void softmax(Node &n, bool logarithmic) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> axes = softmax_axes(n, x);
  ElementType type = accumulator_for(x->type);
  Value *top = e.reduce(x, axes, true, type, -INFINITY, larger);
  if (logarithmic) {
    Value *shifted = e.elementwise({x, top}, type, [](Scalars s) { return s[0] - s[1]; });
    Value *sum = e.reduce(e.elementwise({shifted}, type, [](Scalars s) { return exp(s[0]); }), axes, true, type, 0, add);
    return n.set(0, e.elementwise({shifted, sum}, x->type, [](Scalars s) { return s[0] - log(s[1]); }));
  }
  Value *powers = e.elementwise({x, top}, type, [](Scalars s) { return exp(s[0] - s[1]); });
  Value *sum = e.reduce(powers, axes, true, type, 0, add);
  n.set(0, e.elementwise({powers, sum}, x->type, [](Scalars s) { return s[0] / s[1]; }));
}
void import_softmax(Node &n) { softmax(n, false); }
void import_log_softmax(Node &n) { softmax(n, true); }

// 1 at the first maximum, 0 elsewhere.
void import_hardmax(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> axes = softmax_axes(n, x);
  Shape flat(x->shape.begin(), x->shape.begin() + axes[0]), one; // several axes are the last ones, and count as one
  int64_t extent = 1;
  for (int64_t axis : axes)
    extent *= x->shape[axis];
  flat.push_back(extent);
  flat.insert(flat.end(), x->shape.begin() + axes.back() + 1, x->shape.end());
  one = flat;
  one[axes[0]] = 1;
  Shape along(flat.size(), 1);
  along[axes[0]] = extent;
  Value *places = e.known(counting(along)), *first = e.reshape(place_of_extreme(e, e.reshape(x, flat), axes[0], true, false), one);
  ElementType type = x->type;
  Value *hard = e.elementwise({places, first}, type, [&](Scalars s) { return convert(s[0] == s[1], type); });
  n.set(0, e.reshape(hard, x->shape));
}

// Each sum from its own inputs: a triangle of ones picks them. Quadratic in the axis, and parallel.
void import_cum_sum(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  int64_t axis = n.axis(integer_at(n.known(1), 0), x->rank()), extent = x->shape[axis];
  bool exclusive = n.integer("exclusive", 0), reverse = n.integer("reverse", 0);
  Tensor triangle(ElementType::Bool, {extent, extent});
  for (int64_t to = 0; to < extent; ++to)
    for (int64_t from = 0; from < extent; ++from)
      triangle.bytes[to * extent + from] = (reverse ? from > to : from < to) || (from == to && !exclusive);
  Shape wide = x->shape, mask(x->rank() + 1, 1);
  wide.insert(wide.begin() + axis, 1);  // [… , 1, from, …]
  mask[axis] = mask[axis + 1] = extent; // [… , to, from, …]
  Value *picked = e.elementwise({e.reshape(x, wide), e.known(with_shape(std::move(triangle), mask))}, x->type,
                                [](Scalars s) { return select(s[1], s[0], s[0].like(0)); });
  n.set(0, e.convert(e.reduce(picked, {axis + 1}, false, accumulator_for(x->type), 0, add), x->type));
}

} // namespace

OpFamily reduction_ops() {
  static constexpr OpImporter list[] = {
      {"ReduceSum", import_reduce_sum},
      {"ReduceMax", import_reduce_max},
      {"ReduceMin", import_reduce_min},
      {"ReduceProd", import_reduce_prod},
      {"ReduceMean", import_reduce_mean},
      {"ReduceL1", import_reduce_l1},
      {"ReduceL2", import_reduce_l2},
      {"ReduceSumSquare", import_reduce_sum_square},
      {"ReduceLogSum", import_reduce_log_sum},
      {"ReduceLogSumExp", import_reduce_log_sum_exp},
      {"ArgMax", import_arg_max},
      {"ArgMin", import_arg_min},
      {"Softmax", import_softmax},
      {"LogSoftmax", import_log_softmax},
      {"Hardmax", import_hardmax},
      {"CumSum", import_cum_sum},
  };
  return list;
}

} // namespace dougong::models
