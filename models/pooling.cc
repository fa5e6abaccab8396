// Pools: linalg's named pooling operations, channels last; global ones are reductions.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "models/convolution.h"
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
using namespace mlir;
namespace {

// How far the last window reaches behind the padded input (ceil_mode lets it).
std::vector<int64_t> overhang(const Window &w, const Shape &input) {
  std::vector<int64_t> result;
  for (size_t d = 0; d < w.kernel.size(); ++d)
    result.push_back(std::max<int64_t>(
        (w.output[d] - 1) * w.strides[d] + (w.kernel[d] - 1) * w.dilations[d] + 1 - (input[d + 2] + w.before[d] + w.after[d]), 0));
  return result;
}

std::vector<int64_t> framed(std::vector<int64_t> values) { // for the dimensions [N, spatial …, C]
  values.insert(values.begin(), 0);
  values.push_back(0);
  return values;
}

template <typename Op> mlir::Value pooling_op(Emitter &e, mlir::Value image, mlir::Value window, mlir::Value start, const Window &w) {
  SmallVector<mlir::Value> inputs{image, window};
  return Op::create(e.b, TypeRange(start.getType()), inputs, ValueRange(start), e.b.getI64TensorAttr(w.strides),
                    e.b.getI64TensorAttr(w.dilations))
      .getResult(0);
}

Value *pool(Node &n, Value *x, Window w, bool maximum, ElementType accumulator) {
  Emitter &e = n.e;
  int64_t rank = w.kernel.size();
  if (rank < 1 || rank > 3)
    n.unsupported("a pool of {} spatial dimensions", rank);
  if (x->type == ElementType::Bool)
    n.unsupported("a pool of type {}", dougong::name(x->type));
  Shape result{x->shape[0], x->shape[1]};
  result.insert(result.end(), w.output.begin(), w.output.end());
  std::vector<int64_t> over = overhang(w, x->shape), after = w.after;
  for (int64_t d = 0; d < rank; ++d)
    after[d] += over[d];
  double neutral = maximum ? -INFINITY : 0;
  mlir::Value image = e.pad(e.get(x, Layout::channels_last), x->type, framed(w.before), framed(after), neutral);
  Shape out = Emitter::stored_shape(Layout::channels_last, result);
  if (rank == 1) {
    Shape wide(llvm::cast<RankedTensorType>(image.getType()).getShape());
    wide.insert(wide.begin() + 1, 1);
    image = e.reshape(image, wide);
    out.insert(out.begin() + 1, 1);
    for (auto *list : {&w.kernel, &w.strides, &w.dilations})
      list->insert(list->begin(), 1);
  }
  mlir::Value start = e.filled(out, accumulator, neutral), window = e.empty(w.kernel, accumulator), output;
  bool flat = rank < 3;
  if (maximum && is_unsigned(x->type)) {
    if (!flat)
      n.unsupported("a pool of type {} over 3 spatial dimensions", dougong::name(x->type));
    output = pooling_op<linalg::PoolingNhwcMaxUnsignedOp>(e, image, window, start, w);
  } else if (maximum) {
    output = flat ? pooling_op<linalg::PoolingNhwcMaxOp>(e, image, window, start, w)
                  : pooling_op<linalg::PoolingNdhwcMaxOp>(e, image, window, start, w);
  } else {
    output = flat ? pooling_op<linalg::PoolingNhwcSumOp>(e, image, window, start, w)
                  : pooling_op<linalg::PoolingNdhwcSumOp>(e, image, window, start, w);
  }
  return e.computed(e.reshape(output, Emitter::stored_shape(Layout::channels_last, result)), accumulator, result, Layout::channels_last);
}

// Where each maximum lies in the input, as a position in the whole tensor: the window's taps one after the other.
Value *maximum_positions(Node &n, Value *x, const Window &w) {
  Emitter &e = n.e;
  size_t rank = w.kernel.size();
  bool column_major = n.integer("storage_order", 0);
  std::vector<int64_t> over = overhang(w, x->shape), before{0, 0}, after{0, 0};
  before.insert(before.end(), w.before.begin(), w.before.end());
  for (size_t d = 0; d < rank; ++d)
    after.push_back(w.after[d] + over[d]);
  Value *padded = e.pad(x, before, after, -INFINITY);
  Shape result{x->shape[0], x->shape[1]};
  result.insert(result.end(), w.output.begin(), w.output.end());
  std::vector<int64_t> strides = row_major_strides(x->shape);
  if (column_major) {
    int64_t stride = 1;
    for (size_t d = 2; d < rank + 2; ++d) {
      strides[d] = stride;
      stride *= x->shape[d];
    }
  }
  Value *best = nullptr, *where = nullptr;
  std::vector<int64_t> tap(rank, 0);
  do {
    std::vector<int64_t> starts{0, 0}, steps{1, 1};
    for (size_t d = 0; d < rank; ++d) {
      starts.push_back(tap[d] * w.dilations[d]);
      steps.push_back(w.strides[d]);
    }
    Value *here = e.slice(padded, starts, steps, result);
    Value *at = e.indexed(result, ElementType::I64, {}, [&](ArrayRef<Scalar> index) {
      Scalar position = index[0] * index[0].like_integer(strides[0]) + index[1] * index[0].like_integer(strides[1]);
      for (size_t d = 0; d < rank; ++d)
        position = position + (index[d + 2] * index[0].like_integer(w.strides[d]) + index[0].like_integer(starts[d + 2] - w.before[d])) *
                                  index[0].like_integer(strides[d + 2]);
      return position;
    });
    if (best) {
      where = e.elementwise({best, here, where, at}, ElementType::I64, [](ArrayRef<Scalar> s) { return select(s[1] > s[0], s[3], s[2]); });
      best = e.elementwise({best, here}, x->type, [](ArrayRef<Scalar> s) { return maximum(s[0], s[1]); });
    } else {
      best = here, where = at;
    }
  } while (next_index(tap, w.kernel));
  return where;
}

void import_max_pool(Node &n) {
  Value *x = n[0];
  Window w = window_of(n, x->shape, n.integers("kernel_shape"));
  if (n.wants(0))
    n.set(0, pool(n, x, w, true, x->type));
  if (n.wants(1))
    n.set(1, maximum_positions(n, x, w));
}

void import_average_pool(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  Window w = window_of(n, x->shape, n.integers("kernel_shape"));
  bool count_padding = n.integer("count_include_pad", 0);
  ElementType accumulator = accumulator_for(x->type);
  Value *sum = pool(n, x, w, false, accumulator);
  // How many elements each window holds; padding counts if asked for, what lies behind it never does.
  Shape shape{1, 1};
  shape.insert(shape.end(), w.output.begin(), w.output.end());
  check_size(ElementType::F64, shape, int64_t(1) << 31);
  check_size(ElementType::F64, w.kernel, int64_t(1) << 31);
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<double> counts;
  do {
    double count = 1;
    for (size_t d = 0; d < w.kernel.size(); ++d) {
      int64_t inside = 0, low = count_padding ? 0 : w.before[d], high = x->shape[d + 2] + w.before[d] + (count_padding ? w.after[d] : 0);
      for (int64_t k = 0; k < w.kernel[d]; ++k) {
        int64_t at = index[d + 2] * w.strides[d] + k * w.dilations[d];
        inside += at >= low && at < high;
      }
      count *= double(inside);
    }
    counts.push_back(1 / count);
  } while (next_index(index, shape));
  n.set(0, e.elementwise({sum, e.known(tensor_of(accumulator, shape, counts))}, x->type, [](ArrayRef<Scalar> s) { return s[0] * s[1]; }));
}

std::vector<int64_t> spatial_axes(Node &n, Value *x) {
  if (x->rank() < 3)
    n.invalid("its input has shape {}, rank 3 or more is wanted", shape_text(x->shape));
  std::vector<int64_t> axes;
  for (int64_t d = 2; d < x->rank(); ++d)
    axes.push_back(d);
  return axes;
}

void import_global_average_pool(Node &n) {
  Value *x = n[0];
  std::vector<int64_t> axes = spatial_axes(n, x);
  Value *sum = n.e.reduce(x, axes, true, accumulator_for(x->type), 0, [](ArrayRef<Scalar> s) { return s[0] + s[1]; });
  double scale = double(sum->elements()) / double(x->elements());
  n.set(0, n.e.elementwise({sum}, x->type, [&](ArrayRef<Scalar> s) { return s[0] * scale; }));
}

void import_global_max_pool(Node &n) {
  Value *x = n[0];
  n.set(0, n.e.reduce(x, spatial_axes(n, x), true, x->type, -INFINITY, [](ArrayRef<Scalar> s) { return maximum(s[0], s[1]); }));
}

} // namespace

OpFamily pooling_ops() {
  static constexpr OpImporter list[] = {
      {"MaxPool", import_max_pool},
      {"AveragePool", import_average_pool},
      {"GlobalAveragePool", import_global_average_pool},
      {"GlobalMaxPool", import_global_max_pool},
  };
  return list;
}

} // namespace dougong::models
