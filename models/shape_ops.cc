// Ops about shapes, and those that only rename memory: none of them computes on elements.
#include "models/op_table.h"
#include <cmath>
#include <numeric>

namespace dougong::models {
namespace {

void import_constant(Node &n) {
  if (n.has_attribute("value"))
    return n.set(0, n.e.known(n.tensor("value")));
  if (n.has_attribute("value_float"))
    return n.set(0, n.e.known(tensor_of(ElementType::F32, {}, {n.real("value_float", 0)})));
  if (n.has_attribute("value_int"))
    return n.set(0, n.e.known(with_shape(tensor_of_integers({n.integer("value_int", 0)}), {})));
  if (n.has_attribute("value_ints"))
    return n.set(0, n.e.known(tensor_of_integers(n.integers("value_ints"))));
  if (n.has_attribute("value_floats")) {
    std::vector<double> values = n.reals("value_floats");
    return n.set(0, n.e.known(tensor_of(ElementType::F32, {int64_t(values.size())}, values)));
  }
  if (n.has_attribute("sparse_value"))
    n.unsupported("a sparse value");
  n.unsupported("type string is not supported");
}

void import_constant_of_shape(Node &n) {
  Tensor value = n.has_attribute("value") ? n.tensor("value") : Tensor(ElementType::F32, {1});
  Shape shape = integers_of(n.known(0));
  n.set(0, n.e.known(rearranged(value, shape, [](llvm::ArrayRef<int64_t>) { return 0; })));
}

void import_shape(Node &n) {
  const Shape &shape = n[0]->shape;
  int64_t rank = shape.size();
  auto clipped = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  int64_t start = clipped(n.integer("start", 0)), end = std::max(clipped(n.integer("end", rank)), start);
  n.set(0, n.e.known(tensor_of_integers(llvm::ArrayRef(shape).slice(start, end - start))));
}

void import_size(Node &n) { n.set(0, n.e.known(with_shape(tensor_of_integers({n[0]->elements()}), {}))); }

void import_reshape(Node &n) {
  Value *x = n[0];
  Shape shape = n.integers_or_input("shape", 1).value_or(Shape());
  bool zero_is_zero = n.integer("allowzero", 0);
  int64_t open = -1, rest = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !zero_is_zero) {
      if (int64_t(d) >= x->rank())
        n.invalid("dimension {} is to be copied from an input of shape {}", d, shape_text(x->shape));
      shape[d] = x->shape[d];
    }
    if (shape[d] == -1 && open < 0)
      open = d;
    else
      rest *= shape[d];
  }
  if (open >= 0)
    shape[open] = rest ? x->elements() / rest : 0;
  if (element_count(shape) != x->elements() || llvm::any_of(shape, [](int64_t extent) { return extent < 0; }))
    n.invalid("{} elements ({}) do not fit the shape {}", x->elements(), shape_text(x->shape), shape_text(shape));
  n.set(0, n.e.reshape(x, shape));
}

void import_flatten(Node &n) {
  Value *x = n[0];
  int64_t axis = n.integer("axis", 1), rows = 1;
  if (axis < -x->rank() || axis > x->rank())
    n.invalid("axis {} of a tensor of rank {}", axis, x->rank());
  axis = axis < 0 ? axis + x->rank() : axis;
  for (int64_t d = 0; d < axis; ++d)
    rows *= x->shape[d];
  n.set(0, n.e.reshape(x, {rows, rows ? x->elements() / rows : 0}));
}

void import_squeeze(Node &n) {
  Value *x = n[0];
  std::optional<std::vector<int64_t>> axes = n.integers_or_input("axes", 1);
  std::set<int64_t> removed;
  for (int64_t axis : axes.value_or(std::vector<int64_t>()))
    removed.insert(n.axis(axis, x->rank()));
  Shape shape;
  for (int64_t d = 0; d < x->rank(); ++d) {
    if (removed.count(d) && x->shape[d] != 1)
      n.invalid("dimension {} of {} is not 1", d, shape_text(x->shape));
    if (axes ? !removed.count(d) : x->shape[d] != 1)
      shape.push_back(x->shape[d]);
  }
  n.set(0, n.e.reshape(x, shape));
}

void import_unsqueeze(Node &n) {
  Value *x = n[0];
  std::vector<int64_t> axes = n.integers_or_input("axes", 1).value_or(std::vector<int64_t>());
  int64_t rank = x->rank() + int64_t(axes.size());
  std::set<int64_t> added;
  for (int64_t axis : axes)
    added.insert(n.axis(axis, rank));
  if (added.size() != axes.size())
    n.invalid("an axis is given twice");
  Shape shape;
  for (int64_t d = 0, from = 0; d < rank; ++d)
    shape.push_back(added.count(d) ? 1 : x->shape[from++]);
  n.set(0, n.e.reshape(x, shape));
}

void import_expand(Node &n) {
  Value *x = n[0];
  n.set(0, n.e.broadcast(x, broadcast_shapes(x->shape, integers_of(n.known(1)))));
}

void import_range(Node &n) {
  const Tensor &start = n.known(0), &limit = n.known(1), &step = n.known(2);
  for (const Tensor *tensor : {&start, &limit, &step})
    if (tensor->bytes.empty())
      n.invalid("an input without elements, a number is wanted");
  std::vector<double> values;
  double from = real_at(start, 0), by = real_at(step, 0), steps = std::ceil((real_at(limit, 0) - from) / by);
  if (by == 0 || !(steps < 0x1p31))
    n.invalid("from {} to {} in steps of {}", from, real_at(limit, 0), by);
  int64_t count = steps > 0 ? int64_t(steps) : 0;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(from + double(i) * by);
  n.set(0, n.e.known(tensor_of(start.type, {count}, values)));
}

void import_eye_like(Node &n) {
  Value *x = n[0];
  if (x->rank() != 2)
    n.invalid("its input has shape {}, a matrix is wanted", shape_text(x->shape));
  int64_t diagonal = n.integer("k", 0);
  Tensor eye = zeros(n.type_attribute("dtype", x->type), x->shape);
  for (int64_t row = 0; row < x->shape[0]; ++row)
    if (row + diagonal >= 0 && row + diagonal < x->shape[1])
      set_real(eye, row * x->shape[1] + row + diagonal, 1);
  n.set(0, n.e.known(std::move(eye)));
}

} // namespace

OpFamily shape_ops() {
  static constexpr OpImporter list[] = {
      {"Constant", import_constant}, {"ConstantOfShape", import_constant_of_shape},
      {"Shape", import_shape},       {"Size", import_size},
      {"Reshape", import_reshape},   {"Flatten", import_flatten},
      {"Squeeze", import_squeeze},   {"Unsqueeze", import_unsqueeze},
      {"Expand", import_expand},     {"Range", import_range},
      {"EyeLike", import_eye_like},
  };
  return list;
}

} // namespace dougong::models
