// Conv and ConvTranspose, channels last: padding, then linalg's named convolutions, then the bias.
#include "models/convolution.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
using namespace mlir;
using utils::IteratorType;

std::vector<int64_t> kernel_of(const Node &n, const Value *weights) {
  if (weights->rank() < 3)
    n.invalid("weights of shape {}, rank 3 or more is wanted", shape_text(weights->shape));
  return {weights->shape.begin() + 2, weights->shape.end()};
}

Window window_of(const Node &n, const Shape &input, std::vector<int64_t> kernel) {
  size_t rank = kernel.size();
  if (input.size() != rank + 2)
    n.invalid("a window of {} dimensions over an input of shape {}", rank, shape_text(input));
  Window w{std::move(kernel), n.integers("strides"), n.integers("dilations"), {}, {}, {}};
  w.strides.resize(rank, 1);
  w.dilations.resize(rank, 1);
  std::vector<int64_t> pads = n.integers("pads");
  pads.resize(2 * rank, 0);
  w.before.assign(pads.begin(), pads.begin() + rank);
  w.after.assign(pads.begin() + rank, pads.end());
  std::string automatic = n.text("auto_pad", "NOTSET");
  bool ceil = n.integer("ceil_mode", 0);
  for (size_t d = 0; d < rank; ++d) {
    int64_t extent = input[d + 2], reach = (w.kernel[d] - 1) * w.dilations[d] + 1, stride = w.strides[d];
    if (stride < 1 || w.dilations[d] < 1 || w.kernel[d] < 1)
      n.invalid("stride {} and dilation {} of {} taps", stride, w.dilations[d], w.kernel[d]);
    for (int64_t number : {w.kernel[d], stride, w.dilations[d], w.before[d], w.after[d]})
      if (number < 0 || number > INT32_MAX)
        n.invalid("a window with the number {}", number);
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      int64_t output = (extent + stride - 1) / stride, total = std::max<int64_t>((output - 1) * stride + reach - extent, 0);
      w.before[d] = automatic == "SAME_UPPER" ? total / 2 : (total + 1) / 2;
      w.after[d] = total - w.before[d];
    } else if (automatic == "VALID") {
      w.before[d] = w.after[d] = 0;
    }
    int64_t span = extent + w.before[d] + w.after[d] - reach;
    if (span < 0)
      n.invalid("the window of {} is larger than the padded input of {}", reach, extent + w.before[d] + w.after[d]);
    int64_t output = (ceil ? (span + stride - 1) / stride : span / stride) + 1;
    if (ceil && (output - 1) * stride >= extent + w.before[d]) // a window may not start behind the input
      --output;
    w.output.push_back(output);
  }
  return w;
}

Value *per_channel(Emitter &e, Value *vector, int64_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = vector->elements();
  return e.reshape(vector, shape);
}

namespace {

DenseIntElementsAttr attribute(Emitter &e, ArrayRef<int64_t> values) { return e.b.getI64TensorAttr(values); }

Shape stored(Emitter &e, const Shape &shape) { return Emitter::stored_shape(Layout::channels_last, shape); }

// Groups that are neither one nor one a channel: a contraction with the group as a further parallel dimension.
mlir::Value grouped(Emitter &e, mlir::Value x, mlir::Value w, ElementType type, const Shape &output, const Window &window, int64_t groups,
                    ElementType accumulator) {
  auto in = llvm::cast<RankedTensorType>(x.getType()).getShape();     // [N, H, W, C]
  auto kernel = llvm::cast<RankedTensorType>(w.getType()).getShape(); // [kh, kw, C/g, M]
  int64_t channels = in[3] / groups, features = output[3] / groups;
  x = e.reshape(x, {in[0], in[1], in[2], groups, channels});
  w = e.reshape(w, {kernel[0], kernel[1], channels, groups, features});
  auto d = [&](int i) { return e.b.getAffineDimExpr(i); }; // n, oh, ow, g, f | kh, kw, c
  MLIRContext *context = e.b.getContext();
  AffineMap input = AffineMap::get(
      8, 0,
      {d(0), d(1) * window.strides[0] + d(5) * window.dilations[0], d(2) * window.strides[1] + d(6) * window.dilations[1], d(3), d(7)},
      context);
  AffineMap weight = AffineMap::get(8, 0, {d(5), d(6), d(7), d(3), d(4)}, context);
  AffineMap result = AffineMap::get(8, 0, {d(0), d(1), d(2), d(3), d(4)}, context);
  SmallVector<IteratorType> iterators(8, IteratorType::parallel);
  iterators[5] = iterators[6] = iterators[7] = IteratorType::reduction;
  mlir::Value sum = e.generic({x, w}, {type, type}, {input, weight, result},
                              e.filled({output[0], output[1], output[2], groups, features}, accumulator, 0), accumulator, iterators,
                              [&](ArrayRef<Scalar> s) { return s[2] + convert(s[0], accumulator) * convert(s[1], accumulator); });
  return e.reshape(sum, output);
}

} // namespace

Value *convolve(Node &n, Value *x, Value *w, const Window &window, int64_t groups, ElementType accumulator) {
  Emitter &e = n.e;
  int64_t rank = window.kernel.size(), channels = x->shape[1], features = w->shape[0];
  if (rank < 1 || rank > 3)
    n.unsupported("a convolution of {} spatial dimensions", rank);
  if (groups < 1 || groups > channels || w->shape[1] * groups != channels || features % groups)
    n.invalid("weights {} do not fit {} channels in {} groups", shape_text(w->shape), channels, groups);
  Shape result{x->shape[0], features};
  result.insert(result.end(), window.output.begin(), window.output.end());

  // Kernel to [kernel …, C/groups, M], and one spatial dimension becomes two.
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d)
    order.push_back(d + 2);
  order.insert(order.end(), {1, 0});
  Value *filter = e.transpose(w, order);
  Window flat = window;
  Shape in = stored(e, x->shape), out = stored(e, result);
  std::vector<int64_t> before = window.before, after = window.after;
  before.insert(before.begin(), 0), before.push_back(0);
  after.insert(after.begin(), 0), after.push_back(0);
  mlir::Value image = e.pad(e.get(x, Layout::channels_last), x->type, before, after, 0);
  if (rank == 1) {
    Shape kernel = filter->shape, padded = Shape(llvm::cast<RankedTensorType>(image.getType()).getShape());
    kernel.insert(kernel.begin(), 1);
    filter = e.reshape(filter, kernel);
    padded.insert(padded.begin() + 1, 1);
    image = e.reshape(image, padded);
    out.insert(out.begin() + 1, 1);
    flat.strides.insert(flat.strides.begin(), 1);
    flat.dilations.insert(flat.dilations.begin(), 1);
    rank = 2;
  }
  auto strides = attribute(e, flat.strides), dilations = attribute(e, flat.dilations);
  mlir::Value output;
  if (groups == 1) {
    mlir::Value start = e.filled(out, accumulator, 0);
    ValueRange none;
    SmallVector<mlir::Value> inputs{image, e.get(filter)};
    if (rank == 2)
      output =
          linalg::Conv2DNhwcHwcfOp::create(e.b, TypeRange(start.getType()), inputs, ValueRange(start), strides, dilations).getResult(0);
    else
      output =
          linalg::Conv3DNdhwcDhwcfOp::create(e.b, TypeRange(start.getType()), inputs, ValueRange(start), strides, dilations).getResult(0);
  } else if (rank == 2 && groups == channels && features == channels) {
    Value *depthwise = e.reshape(filter, {filter->shape[0], filter->shape[1], channels});
    mlir::Value start = e.filled(out, accumulator, 0);
    SmallVector<mlir::Value> inputs{image, e.get(depthwise)};
    output = linalg::DepthwiseConv2DNhwcHwcOp::create(e.b, TypeRange(start.getType()), inputs, ValueRange(start), strides, dilations)
                 .getResult(0);
  } else if (rank == 2) {
    output = grouped(e, image, e.get(filter), x->type, out, flat, groups, accumulator);
  } else {
    n.unsupported("a convolution of 3 spatial dimensions in {} groups", groups);
  }
  return e.computed(e.reshape(output, stored(e, result)), accumulator, result, Layout::channels_last);
}

namespace {

// What a convolution's result goes through before anything else reads it, as long as it is linear and known: y = c · scale + shift.
//   batch normalisation: scale = s / sqrt(var + ε), shift = b - mean · scale          Add of a constant a channel: shift
struct Affine {
  std::vector<double> scale, shift; // one a channel
  std::vector<Node> absorbed;
};

// One value a channel: a scalar, or [C, 1, 1] and the like.
bool is_per_channel(const Value &v, int64_t channels, int64_t rank) {
  if (!v.known || v.rank() > rank)
    return false;
  for (int64_t d = 0; d < v.rank(); ++d)
    if (v.shape[d] != 1 && (d != v.rank() - (rank - 1) || v.shape[d] != channels))
      return false;
  return true;
}

bool absorb_one(Affine &affine, Node &next, int64_t channels, int64_t rank) {
  if (next.op == "BatchNormalization" && !next.integer("training_mode", 0)) {
    for (size_t i = 1; i < 5; ++i)
      if (!next.has(i) || !next[i]->known || next[i]->elements() != channels)
        return false;
    double epsilon = next.real("epsilon", 1e-5f);
    for (int64_t c = 0; c < channels; ++c) {
      double a = real_at(*next[1]->known, c) / std::sqrt(real_at(*next[4]->known, c) + epsilon);
      affine.scale[c] *= a;
      affine.shift[c] = (affine.shift[c] - real_at(*next[3]->known, c)) * a + real_at(*next[2]->known, c);
    }
    return true;
  }
  if ((next.op != "Add" && next.op != "Mul") || next.opset < 7)
    return false;
  for (Value *other : next.inputs())
    if (other->known && is_per_channel(*other, channels, rank)) {
      for (int64_t c = 0; c < channels; ++c) {
        double v = real_at(*other->known, other->elements() == 1 ? 0 : c);
        if (next.op == "Mul")
          affine.scale[c] *= v, affine.shift[c] *= v;
        else
          affine.shift[c] += v;
      }
      return true;
    }
  return false;
}

Affine absorb_affine(Node &n, Value *bias, int64_t channels, int64_t rank) {
  Affine affine{std::vector<double>(channels, 1), std::vector<double>(channels, 0), {}};
  for (int64_t c = 0; bias && c < channels; ++c)
    affine.shift[c] = real_at(*bias->known, c);
  for (;;) {
    Node &last = affine.absorbed.empty() ? n : affine.absorbed.back();
    std::optional<Node> next = last.sole_consumer();
    if (!next)
      break;
    // Its input is not computed yet; whoever asks for it here gets a stand-in.
    last.set(0, n.e.computed(mlir::Value(), n[0]->type, Shape(rank, 1)));
    if (!absorb_one(affine, *next, channels, rank))
      break;
    affine.absorbed.push_back(*next);
  }
  return affine;
}

// Weights [M, …] or [C, M, …] scaled by channel m. Where that makes a channel so small that 16-bit weights would be subnormal, a power
// of two stays outside and is given back in `rest`, which is empty if none is: w · a = (w · a · 2^k) · 2^-k.
Value *scaled(Emitter &e, Value *w, int64_t axis, const std::vector<double> &scale, std::vector<double> &rest) {
  int64_t inner = row_major_strides(w->shape)[axis], channels = w->shape[axis];
  Tensor result = *w->known;
  std::vector<double> largest(channels, 0), factor = scale;
  for (int64_t i = 0, count = w->elements(); i < count; ++i)
    largest[i / inner % channels] = std::max(largest[i / inner % channels], std::fabs(real_at(result, i) * scale[i / inner % channels]));
  rest.assign(channels, 1);
  for (int64_t c = 0; c < channels; ++c)
    if (largest[c] > 0 && largest[c] < std::ldexp(1.0, -10)) {
      rest[c] = std::ldexp(1.0, std::ilogb(largest[c]));
      factor[c] /= rest[c];
    }
  if (llvm::all_of(rest, [](double r) { return r == 1; }))
    rest.clear();
  if (llvm::all_of(factor, [](double a) { return a == 1; }))
    return w;
  for (int64_t i = 0, count = w->elements(); i < count; ++i)
    set_real(result, i, real_at(result, i) * factor[i / inner % channels]);
  return e.known(std::move(result));
}

// sum · rest + bias, as `type`; both per channel, and either may be absent.
Value *with_bias(Emitter &e, Value *sum, Value *rest, Value *bias, ElementType type) {
  std::vector<Value *> inputs{sum};
  if (rest)
    inputs.push_back(rest);
  if (bias)
    inputs.push_back(bias);
  if (inputs.size() == 1)
    return e.convert(sum, type);
  return e.elementwise(inputs, type, [&](ArrayRef<Scalar> s) {
    Scalar y = rest ? s[0] * s[1] : s[0];
    return bias ? y + s.back() : y;
  });
}

// Sets the output of the last absorbed node, or n's own.
void finish(Node &n, Affine &affine, Value *result) {
  n.set(0, result); // with absorbed nodes nobody else reads it
  for (Node &node : affine.absorbed) {
    node.set(0, result);
    n.absorb(node);
  }
}

void import_conv(Node &n) {
  Value *x = n[0], *w = n[1], *bias = n.optional(2);
  if (w->rank() != x->rank() || x->rank() < 3)
    n.invalid("input {} and weights {} must have the same rank of 3 or more", shape_text(x->shape), shape_text(w->shape));
  int64_t channels = w->shape[0];
  Window window = window_of(n, x->shape, kernel_of(n, w));
  Affine affine;
  std::vector<double> rest;
  ElementType accumulator = accumulator_for(x->type);
  if (w->known && (!bias || bias->known) && is_float(w->type)) {
    affine = absorb_affine(n, bias, channels, x->rank());
    w = scaled(n.e, w, 0, affine.scale, rest);
    if (bias || !affine.absorbed.empty())
      bias = n.e.known(tensor_of(accumulator, {channels}, affine.shift));
  }
  Value *sum = convolve(n, x, w, window, n.integer("group", 1), accumulator);
  Value *outside = rest.empty() ? nullptr : per_channel(n.e, n.e.known(tensor_of(accumulator, {channels}, rest)), x->rank());
  finish(n, affine, with_bias(n.e, sum, outside, bias ? per_channel(n.e, bias, x->rank()) : nullptr, x->type));
}

// The window's place: what each pad takes off the full result of (in-1)·stride + reach.
Window transposed_window(Node &n, const Shape &x, const Shape &w, std::vector<int64_t> &extra) {
  size_t rank = x.size() - 2;
  Window window{
      std::vector<int64_t>(w.begin() + 2, w.end()), n.integers("strides"), n.integers("dilations"), {}, {}, n.integers("output_shape")};
  window.strides.resize(rank, 1);
  window.dilations.resize(rank, 1);
  extra = n.integers("output_padding");
  extra.resize(rank, 0);
  std::vector<int64_t> pads = n.integers("pads");
  pads.resize(2 * rank, 0);
  std::string automatic = n.text("auto_pad", "NOTSET");
  bool shaped = !window.output.empty(), same = automatic.rfind("SAME", 0) == 0;
  if (shaped && window.output.size() == rank + 2)
    window.output.erase(window.output.begin(), window.output.begin() + 2);
  window.output.resize(rank);
  for (size_t d = 0; d < rank; ++d) {
    for (int64_t number : {window.kernel[d], window.strides[d], window.dilations[d], extra[d] + 1, pads[d] + 1, pads[d + rank] + 1})
      if (number < 1 || number > INT32_MAX)
        n.invalid("a window with the number {}", number);
    int64_t full = (x[d + 2] - 1) * window.strides[d] + extra[d] + (window.kernel[d] - 1) * window.dilations[d] + 1;
    if (shaped || same) {
      if (!shaped)
        window.output[d] = x[d + 2] * window.strides[d];
      int64_t total = std::max<int64_t>(full - window.output[d], 0);
      pads[d] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      pads[d + rank] = total - pads[d];
      extra[d] += window.output[d] - (full - total);
    } else {
      window.output[d] = full - pads[d] - pads[d + rank];
    }
  }
  window.before.assign(pads.begin(), pads.begin() + rank);
  window.after.assign(pads.begin() + rank, pads.end());
  return window;
}

// Windows that touch and do not overlap: each input pixel makes its own block of the output. What follows element by element is
// done before the blocks are put in place, where it is part of the product's kernel.
//   [N,H,W,C] × [C, kh·kw·M] + bias, activation  →  [N,H,W,kh,kw,M]  →  [N, H·kh, W·kw, M]
void import_blocks(Node &n, Value *x, Value *w, Value *bias, const Shape &result) {
  Emitter &e = n.e;
  Shape in = stored(e, x->shape);
  int64_t batch = in[0], h = in[1], width = in[2], c = in[3], m = result[1], kh = w->shape[2], kw = w->shape[3];
  ElementType accumulator = accumulator_for(x->type);
  Affine affine;
  std::vector<double> rest;
  if (w->known && (!bias || bias->known) && is_float(w->type)) {
    affine = absorb_affine(n, bias, m, 4);
    w = scaled(e, w, 1, affine.scale, rest);
    if (bias || !affine.absorbed.empty())
      bias = e.known(tensor_of(accumulator, {m}, affine.shift));
  }
  mlir::Value rows = e.reshape(e.get(x, Layout::channels_last), {batch * h * width, c});
  Value *filter = e.reshape(e.transpose(w, {0, 2, 3, 1}), {c, kh * kw * m});
  Shape flat{batch * h * width, kh * kw * m};
  mlir::Value start = e.filled(flat, accumulator, 0);
  SmallVector<mlir::Value> inputs{rows, e.get(filter)};
  mlir::Value product = linalg::MatmulOp::create(e.b, TypeRange(start.getType()), inputs, ValueRange(start)).getResult(0);
  auto tiled = [&](Value *vector) { return e.reshape(e.broadcast(e.reshape(vector, {1, m}), {kh * kw, m}), {kh * kw * m}); };
  Value *outside = rest.empty() ? nullptr : tiled(e.known(tensor_of(accumulator, {m}, rest)));
  Value *sum = with_bias(e, e.computed(product, accumulator, flat), outside, bias ? tiled(bias) : nullptr, x->type);
  for (;;) {
    Node &last = affine.absorbed.empty() ? n : affine.absorbed.back();
    std::optional<Node> next = last.sole_consumer();
    bool unary =
        next && next->input_count() == 1 && llvm::any_of(math_ops(), [&](const OpImporter &entry) { return entry.op == next->op; });
    if (!unary)
      break;
    last.set(0, sum);
    find_importer(next->op)(*next);
    sum = next->output(0);
    affine.absorbed.push_back(*next);
  }
  mlir::Value blocks = e.transpose(e.reshape(e.get(sum), {batch, h, width, kh, kw, m}), {0, 1, 3, 2, 4, 5});
  finish(n, affine, e.computed(e.reshape(blocks, {batch, h * kh, width * kw, m}), x->type, result, Layout::channels_last));
}

// x with `stride - 1` zeros between neighbours.
mlir::Value spread(Emitter &e, mlir::Value x, ElementType type, ArrayRef<int64_t> strides) {
  if (llvm::all_of(strides, [](int64_t s) { return s == 1; }))
    return x;
  auto shape = llvm::cast<RankedTensorType>(x.getType()).getShape();
  Shape wide(shape.begin(), shape.end());
  SmallVector<OpFoldResult> offsets(shape.size(), e.b.getIndexAttr(0)), sizes, steps(shape.size(), e.b.getIndexAttr(1));
  for (size_t d = 0; d < shape.size(); ++d)
    sizes.push_back(e.b.getIndexAttr(shape[d]));
  for (size_t d = 0; d < strides.size(); ++d) {
    wide[d + 1] = (shape[d + 1] - 1) * strides[d] + 1;
    steps[d + 1] = e.b.getIndexAttr(strides[d]);
  }
  return tensor::InsertSliceOp::create(e.b, x, e.filled(wide, type, 0), offsets, sizes, steps);
}

void import_conv_transpose(Node &n) {
  Emitter &e = n.e;
  Value *x = n.ranked(0, 3), *w = n.ranked(1, x->rank(), x->rank()), *bias = n.optional(2);
  int64_t rank = x->rank() - 2, groups = n.integer("group", 1);
  if (groups < 1 || w->shape[0] != x->shape[1] || w->shape[0] % groups)
    n.invalid("weights {} do not fit an input {} in {} groups", shape_text(w->shape), shape_text(x->shape), groups);
  std::vector<int64_t> extra;
  Window window = transposed_window(n, x->shape, w->shape, extra);
  Shape result{x->shape[0], w->shape[1] * groups};
  result.insert(result.end(), window.output.begin(), window.output.end());
  bool touching = rank == 2 && groups == 1;
  for (int64_t d = 0; d < rank; ++d)
    touching &= window.kernel[d] == window.strides[d] && window.dilations[d] == 1 && !window.before[d] && !window.after[d] && !extra[d];
  if (touching)
    return import_blocks(n, x, w, bias, result);

  // A convolution of stride 1 over the spread input, with the kernel turned round: [C, M/g, k] → [M, C/g, k].
  Shape split = w->shape;
  split.insert(split.begin(), groups);
  split[1] /= groups;
  std::vector<int64_t> order{0, 2, 1};
  for (int64_t d = 0; d < rank; ++d)
    order.push_back(d + 3);
  Shape merged{w->shape[1] * groups, w->shape[0] / groups};
  merged.insert(merged.end(), w->shape.begin() + 2, w->shape.end());
  Value *turned = e.reshape(e.transpose(e.reshape(w, split), order), merged);
  std::vector<int64_t> starts(merged.size(), 0), steps(merged.size(), 1);
  for (int64_t d = 0; d < rank; ++d) {
    starts[d + 2] = merged[d + 2] - 1;
    steps[d + 2] = -1;
  }
  turned = e.slice(turned, starts, steps, merged);

  Shape wide = x->shape;
  for (int64_t d = 0; d < rank; ++d)
    wide[d + 2] = (x->shape[d + 2] - 1) * window.strides[d] + 1;
  Value *spread_x = e.computed(spread(e, e.get(x, Layout::channels_last), x->type, window.strides), x->type, wide, Layout::channels_last);
  Window plain{window.kernel, std::vector<int64_t>(rank, 1), window.dilations, {}, {}, window.output};
  std::vector<int64_t> cut_start(x->rank(), 0);
  for (int64_t d = 0; d < rank; ++d) { // a pad larger than the kernel's reach cuts
    int64_t reach = (window.kernel[d] - 1) * window.dilations[d], low = reach - window.before[d], high = reach - window.after[d] + extra[d];
    cut_start[d + 2] = std::max<int64_t>(-low, 0);
    wide[d + 2] -= std::max<int64_t>(-low, 0) + std::max<int64_t>(-high, 0);
    plain.before.push_back(std::max<int64_t>(low, 0));
    plain.after.push_back(std::max<int64_t>(high, 0));
  }
  spread_x = e.slice(spread_x, cut_start, std::vector<int64_t>(x->rank(), 1), wide);
  Value *sum = convolve(n, spread_x, turned, plain, groups, accumulator_for(x->type));
  n.set(0, with_bias(e, sum, nullptr, bias ? per_channel(e, bias, x->rank()) : nullptr, x->type));
}

} // namespace

OpFamily convolution_ops() {
  static constexpr OpImporter list[] = {
      {"Conv", import_conv},
      {"ConvTranspose", import_conv_transpose},
  };
  return list;
}

} // namespace dougong::models
