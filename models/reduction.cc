// Reduce*, ArgMax and ArgMin, Softmax and its relatives, CumSum.
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
  Scalar (*before)(Scalar);  // null: nothing
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

// Index of the extreme along an axis: the extreme first, then the first (or last) index that has it.
void arg(Node &n, bool max) {
  Emitter &e = n.e;
  Value *x = n[0];
  int64_t axis = n.axis(n.integer("axis", 0), x->rank());
  bool last = n.integer("select_last_index", 0), keep = n.integer("keepdims", 1);
  Value *extreme = e.reduce(x, {axis}, true, x->type, max ? -INFINITY : INFINITY, max ? larger : smaller);
  Shape along(x->rank(), 1);
  along[axis] = x->shape[axis];
  std::vector<double> count(x->shape[axis]);
  std::iota(count.begin(), count.end(), 0);
  Value *places = e.known(tensor_of(ElementType::I64, along, count));
  double miss = last ? -1 : double(x->shape[axis]);
  Value *where = e.elementwise({x, extreme, places}, ElementType::I64, [&](Scalars s) { return select(s[0] == s[1], s[2], s[2].like(miss)); });
  n.set(0, e.reduce(where, {axis}, keep, ElementType::I64, last ? -INFINITY : INFINITY, last ? larger : smaller));
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
  Value *top = e.reduce(x, axes, true, x->type, -INFINITY, larger);
  Shape along(x->rank(), 1);
  int64_t extent = 1;
  for (int64_t axis : axes)
    extent *= along[axis] = x->shape[axis];
  std::vector<double> count(extent);
  std::iota(count.begin(), count.end(), 0);
  Value *places = e.known(tensor_of(ElementType::I64, along, count));
  Value *where = e.elementwise({x, top, places}, ElementType::I64, [&](Scalars s) { return select(s[0] == s[1], s[2], s[2].like(double(extent))); });
  Value *first = e.reduce(where, axes, true, ElementType::I64, INFINITY, smaller);
  n.set(0, e.elementwise({places, first, x}, x->type, [&](Scalars s) { return select(s[0] == s[1], s[2].like(1), s[2].like(0)); }));
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
  wide.insert(wide.begin() + axis, 1);       // [… , 1, from, …]
  mask[axis] = mask[axis + 1] = extent;      // [… , to, from, …]
  Value *picked = e.elementwise({e.reshape(x, wide), e.known(with_shape(std::move(triangle), mask))}, x->type, [](Scalars s) { return select(s[1], s[0], s[0].like(0)); });
  n.set(0, e.convert(e.reduce(picked, {axis + 1}, false, accumulator_for(x->type), 0, add), x->type));
}

}  // namespace

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

}  // namespace dougong::models
