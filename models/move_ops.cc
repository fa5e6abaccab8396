// Ops that move elements and change none: by static places.
#include "models/op_table.h"
#include <numeric>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;

void import_transpose(Node &n) {
  Value *x = n[0];
  std::vector<int64_t> permutation = n.integers("perm");
  if (!n.has_attribute("perm"))
    for (int64_t d = x->rank(); d-- > 0;)
      permutation.push_back(d);
  std::vector<int64_t> sorted = permutation, all(x->rank());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    n.invalid("perm is no permutation of {} dimensions", x->rank());
  n.set(0, n.e.transpose(x, permutation));
}

void import_concat(Node &n) {
  std::vector<Value *> parts = n.inputs();
  if (parts.empty())
    n.invalid("it has no inputs");
  int64_t axis = n.axis(n.integer("axis", 1), parts[0]->rank());
  for (Value *part : parts) {
    Shape expected = parts[0]->shape;
    if (part->rank() == parts[0]->rank())
      expected[axis] = part->shape[axis];
    if (part->shape != expected)
      n.invalid("shapes {} and {} do not join along axis {}", shape_text(parts[0]->shape), shape_text(part->shape), axis);
  }
  n.set(0, n.e.concat(parts, axis));
}

void import_split(Node &n) {
  Value *x = n[0];
  int64_t axis = n.axis(n.integer("axis", 0), x->rank()), extent = x->shape[axis], count = n.output_count();
  std::vector<int64_t> sizes = n.integers_or_input("split", 1).value_or(std::vector<int64_t>());
  if (sizes.empty()) {
    int64_t each = (extent + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(std::max<int64_t>(std::min(each, extent - i * each), 0));
  }
  if (int64_t(sizes.size()) < count || std::accumulate(sizes.begin(), sizes.end(), int64_t(0)) != extent)
    n.invalid("its parts do not add up to {}", extent);
  std::vector<int64_t> starts(x->rank(), 0), steps(x->rank(), 1);
  for (int64_t i = 0; i < count; ++i) {
    Shape shape = x->shape;
    shape[axis] = sizes[i];
    if (n.wants(i))
      n.set(i, n.e.slice(x, starts, steps, shape));
    starts[axis] += sizes[i];
  }
}

void import_slice(Node &n) {
  Value *x = n[0];
  std::vector<int64_t> starts, ends, axes, steps;
  if (n.opset < 10) {
    starts = n.integers("starts"), ends = n.integers("ends"), axes = n.integers("axes");
  } else {
    starts = integers_of(n.known(1)), ends = integers_of(n.known(2));
    if (n.has(3))
      axes = integers_of(n.known(3));
    if (n.has(4))
      steps = integers_of(n.known(4));
  }
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  steps.resize(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size())
    n.invalid("{} starts, {} ends, {} axes", starts.size(), ends.size(), axes.size());
  std::vector<int64_t> from(x->rank(), 0), by(x->rank(), 1);
  Shape shape = x->shape;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t d = n.axis(axes[i], x->rank()), extent = x->shape[d], step = steps[i];
    if (step == 0)
      n.invalid("a step of 0");
    int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? extent : extent - 1;
    auto place = [&](int64_t at) { return std::clamp(at < 0 ? std::max<int64_t>(at, -extent - 1) + extent : at, lowest, highest); };
    int64_t start = step > 0 ? place(starts[i]) : std::clamp<int64_t>(starts[i] < 0 ? starts[i] + extent : starts[i], 0, extent - 1);
    int64_t end = place(ends[i]);
    from[d] = start, by[d] = step;
    shape[d] = std::max<int64_t>(step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step, 0);
  }
  if (element_count(shape) == 0)
    return n.set(0, n.e.known(Tensor(x->type, shape)));
  n.set(0, n.e.slice(x, from, by, shape));
}

// Index into the input for each index of the padded output, where `mode` fills with what is there.
int64_t reflected(int64_t i, int64_t extent) {
  if (extent == 1)
    return 0;
  int64_t period = 2 * (extent - 1);
  i = ((i % period) + period) % period;
  return i < extent ? i : period - i;
}

void import_pad(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> pads = n.opset < 11 ? n.integers("pads") : integers_of(n.known(1)), axes(x->rank());
  double fill = n.opset < 11 ? n.real("value", 0) : n.has(2) ? real_at(n.known(2), 0) : 0;
  std::iota(axes.begin(), axes.end(), 0);
  if (n.has(3))
    axes = integers_of(n.known(3));
  if (pads.size() != 2 * axes.size())
    n.invalid("{} pads for {} axes", pads.size(), axes.size());
  std::vector<int64_t> before(x->rank(), 0), after(x->rank(), 0), starts(x->rank(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t d = n.axis(axes[i], x->rank());
    before[d] = pads[i], after[d] = pads[i + axes.size()];
  }
  Shape cut = x->shape, shape = x->shape;
  for (int64_t d = 0; d < x->rank(); ++d) { // a negative pad cuts
    starts[d] = std::max<int64_t>(-before[d], 0);
    cut[d] -= starts[d] + std::max<int64_t>(-after[d], 0);
    before[d] = std::max<int64_t>(before[d], 0), after[d] = std::max<int64_t>(after[d], 0);
    shape[d] = cut[d] + before[d] + after[d];
  }
  x = e.slice(x, starts, std::vector<int64_t>(x->rank(), 1), cut);
  std::string mode = n.text("mode", "constant");
  if (mode == "constant")
    return n.set(0, e.pad(x, before, after, fill));
  // By known index tables, one a padded dimension.
  std::vector<Value *> tables(x->rank());
  std::vector<Value *> read{x};
  for (int64_t d = 0; d < x->rank(); ++d) {
    if (!before[d] && !after[d])
      continue;
    std::vector<int64_t> table;
    for (int64_t i = -before[d]; i < cut[d] + after[d]; ++i)
      table.push_back(mode == "reflect" ? reflected(i, cut[d])
                      : mode == "wrap"  ? ((i % cut[d]) + cut[d]) % cut[d]
                                        : std::clamp<int64_t>(i, 0, cut[d] - 1));
    read.push_back(tables[d] = e.known(tensor_of_integers(table)));
  }
  n.set(0, e.indexed(shape, x->type, read, [&](Scalars index) {
    std::vector<Scalar> from;
    for (int64_t d = 0; d < x->rank(); ++d)
      from.push_back(tables[d] ? e.element(tables[d], {index[d]}) : index[d]);
    return e.element(x, from);
  }));
}

// Each dimension repeated: [a, b] → [r, a, s, b] → [r·a, s·b].
void import_tile(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> repeats = integers_of(n.known(1));
  if (int64_t(repeats.size()) != x->rank())
    n.invalid("{} repeats for a tensor of rank {}", repeats.size(), x->rank());
  Shape split, wide, shape;
  for (int64_t d = 0; d < x->rank(); ++d) {
    split.insert(split.end(), {1, x->shape[d]});
    wide.insert(wide.end(), {repeats[d], x->shape[d]});
    shape.push_back(repeats[d] * x->shape[d]);
  }
  n.set(0, e.reshape(e.broadcast(e.reshape(x, split), wide), shape));
}

int64_t block_size(Node &n) {
  int64_t block = n.required_integer("blocksize");
  if (block < 1 || block > 65536)
    n.invalid("blocks of {}", block);
  return block;
}

void import_depth_to_space(Node &n) {
  Emitter &e = n.e;
  Value *x = n.ranked(0, 4, 4);
  int64_t block = block_size(n), batch = x->shape[0], c = x->shape[1] / (block * block), h = x->shape[2], w = x->shape[3];
  bool columns_first = n.text("mode", "DCR") == "CRD";
  Value *split = columns_first ? e.reshape(x, {batch, c, block, block, h, w}) : e.reshape(x, {batch, block, block, c, h, w});
  Value *moved = columns_first ? e.transpose(split, {0, 1, 4, 2, 5, 3}) : e.transpose(split, {0, 3, 4, 1, 5, 2});
  n.set(0, e.reshape(moved, {batch, c, h * block, w * block}));
}

void import_space_to_depth(Node &n) {
  Emitter &e = n.e;
  Value *x = n.ranked(0, 4, 4);
  int64_t block = block_size(n), batch = x->shape[0], c = x->shape[1], h = x->shape[2] / block, w = x->shape[3] / block;
  n.set(0, e.reshape(e.transpose(e.reshape(x, {batch, c, h, block, w, block}), {0, 3, 5, 1, 2, 4}), {batch, c * block * block, h, w}));
}

void import_trilu(Node &n) {
  Emitter &e = n.e;
  Value *x = n.ranked(0, 2);
  int64_t k = n.has(1) ? integer_at(n.known(1), 0) : 0, rows = x->shape[x->rank() - 2], columns = x->shape.back();
  bool upper = n.integer("upper", 1);
  if (x->elements() == 0)
    return n.set(0, x);
  Tensor mask(ElementType::Bool, {rows, columns});
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      mask.bytes[r * columns + c] = upper ? c - r >= k : c - r <= k;
  n.set(0, e.elementwise({x, e.known(std::move(mask))}, x->type, [](Scalars s) { return select(s[1], s[0], s[0].like(0)); }));
}

// Along the time axis, the first `length` elements of each batch entry turned round.
void import_reverse_sequence(Node &n) {
  Emitter &e = n.e;
  Value *x = n.ranked(0, 2), *lengths = n.ranked(1, 1, 1);
  int64_t batch = n.axis(n.integer("batch_axis", 1), x->rank()), time = n.axis(n.integer("time_axis", 0), x->rank());
  n.set(0, e.indexed(x->shape, x->type, {x, lengths}, [&](Scalars index) {
    Scalar length = convert_to_index(e.element(lengths, {index[batch]}));
    std::vector<Scalar> from(index.begin(), index.end());
    from[time] = select(index[time] < length, length - index[time] - 1, index[time]);
    return e.element(x, from);
  }));
}

} // namespace

OpFamily move_ops() {
  static constexpr OpImporter list[] = {
      {"Transpose", import_transpose},
      {"Concat", import_concat},
      {"Split", import_split},
      {"Slice", import_slice},
      {"Pad", import_pad},
      {"Tile", import_tile},
      {"DepthToSpace", import_depth_to_space},
      {"SpaceToDepth", import_space_to_depth},
      {"Trilu", import_trilu},
      {"ReverseSequence", import_reverse_sequence},
  };
  return list;
}

} // namespace dougong::models
