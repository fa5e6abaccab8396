// Resize and Upsample: one dimension after the other. Nearest by a whole factor is a division of the index; all else reads
// a few taps with weights that are known at import.
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;

struct Sampling {
  std::string mode, transform, nearest;
  double cubic = -0.75, roi_start = 0, roi_end = 1, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
  bool whole_length = true; // align_corners: before opset 18 the standard took the length before it is rounded
};

// Output index → place in the input, as the standard's coordinate transformations say.
double place(const Sampling &s, double out, double scale, int64_t from, int64_t to) {
  if (s.transform == "asymmetric")
    return out / scale;
  if (s.transform == "align_corners") {
    double length = s.whole_length ? double(to) : double(from) * scale;
    return to == 1 ? 0 : out * double(from - 1) / (length - 1);
  }
  if (s.transform == "pytorch_half_pixel")
    return to > 1 ? (out + 0.5) / scale - 0.5 : 0;
  if (s.transform == "tf_half_pixel_for_nn")
    return (out + 0.5) / scale;
  if (s.transform == "tf_crop_and_resize")
    return to > 1 ? s.roi_start * double(from - 1) + out * (s.roi_end - s.roi_start) * double(from - 1) / double(to - 1)
                  : 0.5 * (s.roi_start + s.roi_end) * double(from - 1);
  if (s.transform == "half_pixel_symmetric") {
    double adjustment = double(to) / (scale * double(from)), center = double(from) / 2;
    return center * (1 - adjustment) + (out + 0.5) / scale - 0.5;
  }
  return (out + 0.5) / scale - 0.5; // half_pixel
}

int64_t nearest(const Sampling &s, double at) {
  if (s.nearest == "floor")
    return truncated(std::floor(at));
  if (s.nearest == "ceil")
    return truncated(std::ceil(at));
  if (s.nearest == "round_prefer_ceil")
    return truncated(std::floor(at + 0.5));
  return truncated(std::ceil(at - 0.5)); // round_prefer_floor
}

double cubic_weight(double a, double x) {
  x = std::abs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Which elements an output element is made of, with their weights.
struct Taps {
  std::vector<std::vector<int64_t>> index; // [tap][output]
  std::vector<std::vector<double>> weight;
  std::vector<bool> outside; // of the input altogether: extrapolation
};

Taps taps_of(const Sampling &s, double scale, int64_t from, int64_t to) {
  Taps taps;
  double shrink = s.antialias && scale < 1 ? scale : 1; // a filter as wide as the distance between outputs
  int64_t reach = s.mode == "nearest" ? 0 : s.mode == "linear" ? 1 : 2;
  if (!(scale > 0) || double(reach) / shrink * double(to) > 0x1p28)
    invalid("a dimension of {} resized to {} by {}", from, to, scale);
  int64_t half = reach ? truncated(std::ceil(double(reach) / shrink)) : 0, count = reach ? 2 * half : 1;
  taps.index.assign(count, std::vector<int64_t>(to));
  taps.weight.assign(count, std::vector<double>(to, 1));
  for (int64_t o = 0; o < to; ++o) {
    double at = place(s, double(o), scale, from, to);
    taps.outside.push_back(s.transform == "tf_crop_and_resize" && (at < 0 || at > double(from - 1)));
    if (!reach) {
      taps.index[0][o] = std::clamp<int64_t>(nearest(s, at), 0, from - 1);
      continue;
    }
    if (!(std::abs(at) < 0x1p40))
      invalid("a place {} in a dimension of {}", at, from);
    int64_t first = int64_t(std::floor(at)) - half + 1;
    double sum = 0;
    for (int64_t t = 0; t < count; ++t) {
      double distance = (double(first + t) - at) * shrink;
      double weight = reach == 1 ? std::max(1 - std::abs(distance), 0.0) : cubic_weight(s.cubic, distance);
      if (s.exclude_outside && (first + t < 0 || first + t >= from))
        weight = 0;
      taps.weight[t][o] = weight;
      taps.index[t][o] = std::clamp<int64_t>(first + t, 0, from - 1);
      sum += weight;
    }
    if (s.exclude_outside || s.antialias)
      for (int64_t t = 0; t < count; ++t)
        taps.weight[t][o] /= sum;
  }
  return taps;
}

// out[…, o, …] = Σ_t weight[t][o] · x[…, index[t][o], …], in x's layout.
Value *resample(Emitter &e, Value *x, int64_t axis, int64_t to, const Taps &taps, const Sampling &s) {
  Layout layout = e.preferred({x});
  Shape shape = x->shape;
  shape[axis] = to;
  int64_t position = Emitter::positions(layout, x->rank())[axis], from = x->shape[axis];
  bool single = taps.index.size() == 1 && std::none_of(taps.outside.begin(), taps.outside.end(), [](bool o) { return o; });
  if (single && to % from == 0) {
    int64_t factor = to / from;
    bool even = true;
    for (int64_t o = 0; o < to; ++o)
      even &= taps.index[0][o] == o / factor;
    if (even) {
      std::vector<mlir::AffineExpr> exprs;
      for (int64_t d = 0; d < x->rank(); ++d)
        exprs.push_back(d == position ? e.b.getAffineDimExpr(d).floorDiv(factor) : e.b.getAffineDimExpr(d));
      mlir::Value result =
          e.generic({e.get(x, layout)}, {x->type},
                    {mlir::AffineMap::get(x->rank(), 0, exprs, e.b.getContext()), e.b.getMultiDimIdentityMap(x->rank())},
                    e.empty(Emitter::stored_shape(layout, shape), x->type), x->type,
                    std::vector<mlir::utils::IteratorType>(x->rank(), mlir::utils::IteratorType::parallel), [](Scalars v) { return v[0]; });
      return e.computed(result, x->type, shape, layout);
    }
  }
  ElementType compute = is_half(x->type) || !is_float(x->type) ? ElementType::F32 : x->type;
  std::vector<Value *> index, weight;
  for (size_t t = 0; t < taps.index.size(); ++t) {
    index.push_back(e.known(tensor_of_integers(taps.index[t])));
    weight.push_back(e.known(tensor_of(compute, {to}, taps.weight[t])));
  }
  std::vector<double> outside(taps.outside.begin(), taps.outside.end());
  bool any_outside = std::find(outside.begin(), outside.end(), 1) != outside.end();
  Value *beyond = e.known(tensor_of(ElementType::Bool, {to}, outside));
  // The tensor as it lies in memory, so that nothing is transposed for this.
  Value *memory = e.computed(e.get(x, layout), x->type, Emitter::stored_shape(layout, x->shape));
  std::vector<Value *> read{memory};
  read.insert(read.end(), index.begin(), index.end());
  read.insert(read.end(), weight.begin(), weight.end());
  if (any_outside)
    read.push_back(beyond);
  Value *result = e.indexed(Emitter::stored_shape(layout, shape), x->type, read, [&](Scalars at) {
    std::vector<Scalar> source(at.begin(), at.end());
    Scalar sum{};
    for (size_t t = 0; t < index.size(); ++t) {
      source[position] = convert_to_index(e.element(index[t], {at[position]}));
      Scalar term = e.element(memory, source);
      if (single)
        return term;
      term = convert(term, compute) * e.element(weight[t], {at[position]});
      sum = t ? sum + term : term;
    }
    return any_outside ? select(e.element(beyond, {at[position]}), sum.like(s.extrapolation), sum) : sum;
  });
  return e.computed(e.get(result), x->type, shape, layout);
}

void resize(Node &n, Value *x, std::vector<double> scales, std::vector<int64_t> sizes, Sampling sampling, const std::vector<double> &roi) {
  std::vector<int64_t> axes = n.integers("axes");
  if (axes.empty())
    for (int64_t d = 0; d < x->rank(); ++d)
      axes.push_back(d);
  bool sized = !sizes.empty();
  if ((sized ? sizes.size() : scales.size()) != axes.size())
    n.invalid("{} scales or sizes for {} axes", sized ? sizes.size() : scales.size(), axes.size());
  std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (sized && policy != "stretch") {
    double scale = policy == "not_larger" ? INFINITY : 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      double own = double(sizes[i]) / double(x->shape[n.axis(axes[i], x->rank())]);
      scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
    }
    for (size_t i = 0; i < axes.size(); ++i)
      sizes[i] = truncated(std::floor(scale * double(x->shape[n.axis(axes[i], x->rank())]) + 0.5));
  }
  ElementType type = x->type;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = n.axis(axes[i], x->rank()), from = x->shape[axis];
    int64_t to = sized ? sizes[i] : truncated(std::floor(double(from) * scales[i]));
    double scale = sized ? double(to) / double(from) : scales[i];
    if (to < 1 || to > INT32_MAX)
      n.invalid("dimension {} of {} becomes {}", axis, from, to);
    Sampling own = sampling;
    if (roi.size() == 2 * axes.size())
      own.roi_start = roi[i], own.roi_end = roi[i + axes.size()];
    Taps taps = taps_of(own, scale, from, to);
    bool same = to == from;
    for (size_t t = 0; same && t < taps.index.size(); ++t)
      for (int64_t o = 0; same && o < to; ++o)
        same = !taps.outside[o] && (taps.weight[t][o] == 0 || (taps.weight[t][o] == 1 && taps.index[t][o] == o));
    if (!same)
      x = resample(n.e, x, axis, to, taps, own);
  }
  n.set(0, n.e.convert(x, type));
}

void import_resize(Node &n) {
  Value *x = n[0];
  Sampling sampling;
  sampling.mode = n.text("mode", "nearest");
  sampling.cubic = n.real("cubic_coeff_a", -0.75);
  sampling.extrapolation = n.real("extrapolation_value", 0);
  sampling.exclude_outside = n.integer("exclude_outside", 0);
  sampling.antialias = n.integer("antialias", 0);
  sampling.whole_length = n.opset >= 18;
  sampling.transform = n.text("coordinate_transformation_mode", n.opset < 11 ? "asymmetric" : "half_pixel");
  sampling.nearest = n.text("nearest_mode", n.opset < 11 ? "floor" : "round_prefer_floor");
  if (n.opset < 11)
    return resize(n, x, reals_of(n.known(1)), {}, sampling, {});
  std::vector<double> roi = sampling.transform == "tf_crop_and_resize" && n.has(1) ? reals_of(n.known(1)) : std::vector<double>();
  std::vector<double> scales = n.has(2) ? reals_of(n.known(2)) : std::vector<double>();
  resize(n, x, scales, n.has(3) && scales.empty() ? integers_of(n.known(3)) : std::vector<int64_t>(), sampling, roi);
}

void import_upsample(Node &n) {
  Sampling sampling;
  sampling.mode = n.text("mode", "nearest");
  sampling.transform = "asymmetric", sampling.nearest = "floor";
  resize(n, n[0], n.opset < 9 ? n.reals("scales") : reals_of(n.known(1)), {}, sampling, {});
}

} // namespace

OpFamily resize_ops() {
  static constexpr OpImporter list[] = {
      {"Resize", import_resize},
      {"Upsample", import_upsample},
  };
  return list;
}

} // namespace dougong::models
