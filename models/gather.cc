// Ops that read or write at places given by a tensor of indices. A negative index counts from the end.
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;

Scalar wrapped(Scalar index, int64_t extent) {
  Scalar i = convert_to_index(index);
  return select(i < 0, i + i.like_integer(extent), i);
}

void import_gather(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0], *indices = n[1];
  int64_t axis = n.axis(n.integer("axis", 0), x->rank()), rank = indices->rank();
  Shape shape(x->shape.begin(), x->shape.begin() + axis);
  shape.insert(shape.end(), indices->shape.begin(), indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + axis + 1, x->shape.end());
  if (indices->known) {
    std::vector<int64_t> at = integers_of(*indices->known);
    for (int64_t &i : at) {
      if (i < -x->shape[axis] || i >= x->shape[axis])
        n.invalid("index {} in a dimension of {}", i, x->shape[axis]);
      i = i < 0 ? i + x->shape[axis] : i;
    }
    if (x->known) {
      std::vector<int64_t> strides = row_major_strides(x->shape), steps = row_major_strides(indices->shape);
      return n.set(0, e.known(rearranged(*x->known, shape, [&](llvm::ArrayRef<int64_t> index) {
        int64_t from = 0, which = 0;
        for (int64_t d = 0; d < int64_t(index.size()); ++d)
          if (d < axis)
            from += index[d] * strides[d];
          else if (d < axis + rank)
            which += index[d] * steps[d - axis];
          else
            from += index[d] * strides[d - rank + 1];
        return from + at[which] * strides[axis];
      })));
    }
    if (at.size() == 1) { // one index is a slice
      std::vector<int64_t> starts(x->rank(), 0);
      Shape one = x->shape;
      starts[axis] = at[0];
      one[axis] = 1;
      return n.set(0, e.reshape(e.slice(x, starts, std::vector<int64_t>(x->rank(), 1), one), shape));
    }
  }
  n.set(0, e.indexed(shape, x->type, {x, indices}, [&](Scalars index) {
    std::vector<Scalar> which(index.begin() + axis, index.begin() + axis + rank), from(index.begin(), index.begin() + axis);
    if (which.empty())
      which.push_back(index[0]); // a scalar index reads no dimension
    from.push_back(wrapped(e.element(indices, which), x->shape[axis]));
    for (int64_t d = axis + 1; d < x->rank(); ++d)
      from.push_back(index[d + rank - 1]);
    return e.element(x, from);
  }));
}

void import_gather_elements(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0], *indices = n.ranked(1, x->rank(), x->rank());
  int64_t axis = n.axis(n.integer("axis", 0), x->rank());
  n.set(0, e.indexed(indices->shape, x->type, {x, indices}, [&](Scalars index) {
    std::vector<Scalar> from(index.begin(), index.end());
    from[axis] = wrapped(e.element(indices, index), x->shape[axis]);
    return e.element(x, from);
  }));
}

void import_gather_nd(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0], *indices = n.ranked(1, 1);
  int64_t batch = n.integer("batch_dims", 0), outer = indices->rank() - 1, depth = indices->shape.back();
  if (batch < 0 || batch > outer || batch + depth > x->rank())
    n.invalid("indices of shape {} into shape {}, of which {} are batch dimensions", shape_text(indices->shape), shape_text(x->shape),
              batch);
  Shape shape(indices->shape.begin(), indices->shape.end() - 1);
  shape.insert(shape.end(), x->shape.begin() + batch + depth, x->shape.end());
  n.set(0, e.indexed(shape, x->type, {x, indices}, [&](Scalars index) {
    std::vector<Scalar> from(index.begin(), index.begin() + batch), at(index.begin(), index.begin() + outer);
    at.push_back(index[0]);
    for (int64_t k = 0; k < depth; ++k) {
      at[outer] = index[0].like_integer(k);
      from.push_back(wrapped(e.element(indices, at), x->shape[batch + k]));
    }
    from.insert(from.end(), index.begin() + outer, index.begin() + int64_t(shape.size()));
    return e.element(x, from);
  }));
}

// Scatter without scattered writes: each output element asks every update whether it is meant. The updates run in order, so
// of duplicates the last one counts. Cost: outputs × updates, which is right for the few updates that models make.
Scalar applied(const std::string &reduction, Scalar old, Scalar update) {
  if (reduction == "add")
    return old + update;
  if (reduction == "mul")
    return old * update;
  if (reduction == "max")
    return maximum(old, update);
  if (reduction == "min")
    return minimum(old, update);
  return update;
}

constexpr int64_t scatter_limit = int64_t(1) << 28;

void import_scatter_elements(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0], *indices = n.ranked(1, x->rank(), x->rank()), *updates = n[2];
  int64_t rank = x->rank(), axis = n.axis(n.integer("axis", 0), rank), count = indices->shape[axis];
  std::string reduction = n.text("reduction", "none");
  if (x->elements() * count > scatter_limit)
    n.unsupported("{} updates a row of {} elements", count, x->elements());
  // Only rows that the updates cover are touched: the others stay outside the loops' reach.
  std::vector<int64_t> zero(rank, 0), grow(rank, 0), steps(rank, 1);
  Shape touched = indices->shape;
  touched[axis] = x->shape[axis];
  Value *result = e.slice(x, zero, steps, touched);
  for (int64_t k = 0; k < count; ++k) {
    std::vector<int64_t> starts(rank, 0);
    Shape row = indices->shape;
    starts[axis] = k, row[axis] = 1;
    Value *at = e.slice(indices, starts, steps, row), *update = e.slice(updates, starts, steps, row);
    Shape along(rank, 1);
    along[axis] = x->shape[axis];
    Value *place = e.known(counting(along));
    result = e.elementwise({result, at, update, place}, x->type, [&](Scalars s) {
      Scalar index = convert(s[1], ElementType::I64);
      index = select(index < 0, index + index.like_integer(x->shape[axis]), index);
      return select(index == s[3], applied(reduction, s[0], s[2]), s[0]);
    });
    if (count > 256)
      n.unsupported("{} updates a row", count);
  }
  // The rows that were not touched, back around those that were.
  for (int64_t d = 0; d < rank; ++d) {
    if (result->shape[d] == x->shape[d])
      continue;
    std::vector<int64_t> starts(rank, 0);
    Shape rest = result->shape;
    starts[d] = result->shape[d];
    rest[d] = x->shape[d] - result->shape[d];
    result = e.concat({result, e.slice(x, starts, steps, rest)}, d);
  }
  n.set(0, result);
}

void import_scatter_nd(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0], *indices = n.ranked(1, 1), *updates = n[2];
  if (indices->shape.back() < 1 || indices->shape.back() > x->rank())
    n.invalid("indices of shape {} into shape {}", shape_text(indices->shape), shape_text(x->shape));
  int64_t depth = indices->shape.back(), count = indices->elements() / depth, rank = x->rank();
  std::string reduction = n.text("reduction", "none");
  if (count > 256)
    n.unsupported("{} updates", count);
  Value *rows = e.convert(e.reshape(indices, {count, depth}), ElementType::I64);
  Shape slab{count};
  slab.insert(slab.end(), x->shape.begin() + depth, x->shape.end());
  Value *values = e.reshape(updates, slab), *result = x;
  for (int64_t k = 0; k < count; ++k) {
    Value *before = result;
    result = e.indexed(x->shape, x->type, {before, rows, values}, [&](Scalars index) {
      std::vector<Scalar> at{index[0].like_integer(k)};
      Scalar hit{};
      for (int64_t d = 0; d < depth; ++d) {
        Scalar here = wrapped(e.element(rows, {at[0], index[0].like_integer(d)}), x->shape[d]) == index[d];
        hit = d ? hit & here : here;
      }
      for (int64_t d = depth; d < rank; ++d)
        at.push_back(index[d]);
      Scalar old = e.element(before, index), update = e.element(values, at);
      return select(hit, applied(reduction, old, update), old);
    });
  }
  n.set(0, result);
}

void import_one_hot(Node &n) {
  Emitter &e = n.e;
  Value *indices = n[0], *values = n.ranked(2, 1, 1);
  int64_t depth = integer_at(n.known(1), 0), axis = n.axis(n.integer("axis", -1), indices->rank() + 1);
  Shape shape = indices->shape, along(indices->rank() + 1, 1), wide = indices->shape;
  if (depth < 1 || depth > (1 << 28))
    n.invalid("a depth of {}", depth);
  shape.insert(shape.begin() + axis, depth);
  wide.insert(wide.begin() + axis, 1);
  along[axis] = depth;
  Value *off = e.reshape(e.slice(values, {0}, {1}, {1}), {}), *on = e.reshape(e.slice(values, {1}, {1}, {1}), {});
  n.set(0, e.elementwise({e.reshape(indices, wide), e.known(counting(along)), off, on}, values->type, [&](Scalars s) {
    Scalar index = convert(s[0], ElementType::I64);
    index = select(index < 0, index + index.like_integer(depth), index);
    return select(index == s[1], s[3], s[2]);
  }));
}

} // namespace

OpFamily gather_ops() {
  static constexpr OpImporter list[] = {
      {"Gather", import_gather},
      {"GatherElements", import_gather_elements},
      {"GatherND", import_gather_nd},
      {"ScatterElements", import_scatter_elements},
      {"Scatter", import_scatter_elements},
      {"ScatterND", import_scatter_nd},
      {"OneHot", import_one_hot},
  };
  return list;
}

} // namespace dougong::models
