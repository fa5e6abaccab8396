// TopK by counting, without a sort: an element's place is the number of those before it, found for all of a row at once. And the ops
// whose results are as large as their inputs' values say, which must be known: NonZero, Compress, Unique.
#include "mlir/IR/AffineMap.h"
#include "models/op_table.h"
#include <numeric>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;
using mlir::utils::IteratorType;
constexpr int64_t most_comparisons = int64_t(1) << 32;

Value *counted(Emitter &e, int64_t extent) {
  std::vector<int64_t> numbers(extent);
  std::iota(numbers.begin(), numbers.end(), 0);
  return e.known(tensor_of_integers(numbers));
}

//   place[r, i] = |{ j : x[r, j] before x[r, i] }|        out[r, k] = Σ_i (place[r, i] = k ? x[r, i] : 0)
void import_top_k(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  int64_t axis = n.axis(n.integer("axis", -1), x->rank()), extent = x->shape[axis], k = 0;
  if (n.opset < 10)
    k = n.required_integer("k");
  else if (!n.known(1).bytes.empty())
    k = integer_at(n.known(1), 0);
  bool largest = n.integer("largest", 1);
  if (k < 1 || k > extent)
    n.invalid("k is {}, the axis has {} elements", k, extent);
  int64_t rows = x->elements() / extent;
  if (extent > most_comparisons / extent / rows)
    n.unsupported("{} rows of {} elements are too many to compare each with each", rows, extent);
  std::vector<int64_t> order, back(x->rank());
  for (int64_t d = 0; d < x->rank(); ++d)
    if (d != axis)
      order.push_back(d);
  order.push_back(axis);
  for (size_t d = 0; d < order.size(); ++d)
    back[order[d]] = int64_t(d);
  mlir::Value table = e.get(e.reshape(e.transpose(x, order), {rows, extent})), numbers = e.get(counted(e, extent));

  auto map = [&](std::initializer_list<unsigned> dimensions) {
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (unsigned d : dimensions)
      exprs.push_back(e.b.getAffineDimExpr(d));
    return mlir::AffineMap::get(3, 0, exprs, e.b.getContext());
  };
  llvm::SmallVector<IteratorType> iterators{IteratorType::parallel, IteratorType::parallel, IteratorType::reduction};
  ElementType index = ElementType::I64;
  mlir::Value place = e.generic({table, table, numbers, numbers}, {x->type, x->type, index, index},
                                {map({0, 1}), map({0, 2}), map({1}), map({2}), map({0, 1})}, e.filled({rows, extent}, index, 0), index,
                                iterators, [&](Scalars s) {
                                  Scalar before = largest ? s[1] > s[0] : s[1] < s[0];
                                  return s[4] + convert(before | ((s[1] == s[0]) & (s[3] < s[2])), index);
                                });
  auto picked = [&](mlir::Value from, ElementType type, mlir::AffineMap where) {
    mlir::Value sum = e.generic({place, from, e.get(counted(e, k))}, {index, type, index}, {map({0, 2}), where, map({1}), map({0, 1})},
                                e.filled({rows, k}, type, 0), type, iterators, [](Scalars s) { return select(s[0] == s[2], s[1], s[3]); });
    Shape shape;
    for (int64_t d : order)
      shape.push_back(d == axis ? k : x->shape[d]);
    return e.transpose(e.reshape(e.computed(sum, type, {rows, k}), shape), back);
  };
  n.set(0, picked(table, x->type, map({0, 2})));
  n.set(1, picked(numbers, index, map({2})));
}

void import_non_zero(Node &n) {
  const Tensor &x = n.known(0);
  std::vector<int64_t> strides = row_major_strides(x.shape), places;
  for (int64_t i = 0; i < element_count(x.shape); ++i)
    if (is_float(x.type) ? real_at(x, i) != 0 : integer_at(x, i) != 0)
      places.push_back(i);
  Tensor result(ElementType::I64, {int64_t(x.shape.size()), int64_t(places.size())});
  int64_t *to = result.as<int64_t>();
  for (size_t d = 0; d < x.shape.size(); ++d)
    for (int64_t place : places)
      *to++ = place / strides[d] % x.shape[d];
  n.set(0, n.e.known(std::move(result)));
}

void import_compress(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  const Tensor &condition = n.known(1);
  int64_t axis = 0;
  if (n.has_attribute("axis"))
    axis = n.axis(n.integer("axis", 0), x->rank());
  else
    x = e.reshape(x, {x->elements()});
  std::vector<Value *> parts;
  std::vector<int64_t> starts(x->rank(), 0), steps(x->rank(), 1);
  Shape one = x->shape;
  one[axis] = 1;
  for (int64_t i = 0; i < std::min(element_count(condition.shape), x->shape[axis]); ++i)
    if (integer_at(condition, i)) {
      starts[axis] = i;
      parts.push_back(e.slice(x, starts, steps, one));
    }
  if (parts.empty())
    n.unsupported("a result without elements");
  n.set(0, e.concat(parts, axis));
}

// The values, where each is first, which of them each element is, and how many there are of each.
void import_unique(Node &n) {
  const Tensor &x = n.known(0);
  if (n.has_attribute("axis") && x.shape.size() != 1)
    n.unsupported("an axis of a tensor of rank {}", x.shape.size());
  int64_t count = element_count(x.shape);
  auto number = [&](int64_t i) { return is_float(x.type) ? real_at(x, i) : double(integer_at(x, i)); };
  std::map<double, int64_t> known;
  std::vector<int64_t> first, which(count), counts;
  for (int64_t i = 0; i < count; ++i) {
    auto [entry, fresh] = known.emplace(number(i), int64_t(first.size()));
    if (fresh)
      first.push_back(i), counts.push_back(0);
    which[i] = entry->second;
    ++counts[which[i]];
  }
  std::vector<int64_t> order(first.size()), place(first.size()), starts, sizes;
  std::iota(order.begin(), order.end(), 0);
  if (n.integer("sorted", 1))
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return number(first[a]) < number(first[b]); });
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = int64_t(i);
    starts.push_back(first[order[i]]), sizes.push_back(counts[order[i]]);
  }
  for (int64_t &i : which)
    i = place[i];
  n.set(0, n.e.known(rearranged(x, {int64_t(order.size())}, [&](llvm::ArrayRef<int64_t> index) { return starts[index[0]]; })));
  n.set(1, n.e.known(tensor_of_integers(starts)));
  n.set(2, n.e.known(tensor_of_integers(which)));
  n.set(3, n.e.known(tensor_of_integers(sizes)));
}

} // namespace

OpFamily sorting_ops() {
  static constexpr OpImporter list[] = {
      {"TopK", import_top_k}, {"NonZero", import_non_zero}, {"Compress", import_compress}, {"Unique", import_unique}};
  return list;
}

} // namespace dougong::models
