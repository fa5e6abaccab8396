// Normalisations: over a batch's statistics that are given, or over the input's own.
#include "models/convolution.h"
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;

Scalar add(Scalars s) { return s[0] + s[1]; }

// Mean and 1/sqrt(variance + ε) over `axes`, both with those axes kept as 1.
std::pair<Value *, Value *> moments(Emitter &e, Value *x, const std::vector<int64_t> &axes, double epsilon) {
  ElementType type = accumulator_for(x->type);
  Value *sum = e.reduce(x, axes, true, type, 0, add);
  double scale = double(sum->elements()) / double(x->elements());
  Value *mean = e.elementwise({sum}, type, [&](Scalars s) { return s[0] * scale; });
  Value *squares = e.elementwise({x, mean}, type, [&](Scalars s) {
    Scalar d = convert(s[0], type) - s[1];
    return d * d;
  });
  Value *spread = e.reduce(squares, axes, true, type, 0, add);
  return {mean, e.elementwise({spread}, type, [&](Scalars s) { return 1.0 / sqrt(s[0] * scale + epsilon); })};
}

// Known statistics make one multiply-add a channel.
void import_batch_normalization(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  if (n.integer("training_mode", 0) || (n.opset < 14 && n.wants(1)))
    n.unsupported("training_mode is not supported");
  if (n.opset < 9 && !n.integer("spatial", 1))
    n.unsupported("spatial = 0 is not supported");
  double epsilon = n.real("epsilon", 1e-5f);
  std::vector<Value *> parameters;
  bool known = is_float(x->type);
  for (size_t i = 1; i < 5; ++i) {
    if (x->rank() < 2 || n[i]->elements() != x->shape[1])
      n.invalid("input {} has shape {}, {} has shape {}", i, shape_text(n[i]->shape), "input 0", shape_text(x->shape));
    known &= bool(n[i]->known);
    parameters.push_back(per_channel(e, n[i], x->rank()));
  }
  if (known) {
    Tensor scale(accumulator_for(x->type), {x->shape[1]}), shift = scale;
    for (int64_t c = 0; c < x->shape[1]; ++c) {
      double a = real_at(*n[1]->known, c) / std::sqrt(real_at(*n[4]->known, c) + epsilon);
      set_real(scale, c, a);
      set_real(shift, c, real_at(*n[2]->known, c) - real_at(*n[3]->known, c) * a);
    }
    Value *a = per_channel(e, e.known(std::move(scale)), x->rank()), *b = per_channel(e, e.known(std::move(shift)), x->rank());
    return n.set(0, e.elementwise({x, a, b}, x->type, [](Scalars s) { return s[0] * s[1] + s[2]; }));
  }
  n.set(0, e.elementwise({x, parameters[0], parameters[1], parameters[2], parameters[3]}, x->type, [&](Scalars s) {
    ElementType t = s[0].type;
    return (s[0] - convert(s[3], t)) / sqrt(convert(s[4], t) + epsilon) * convert(s[1], t) + convert(s[2], t);
  }));
}

void import_instance_normalization(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> axes;
  for (int64_t d = 2; d < x->rank(); ++d)
    axes.push_back(d);
  auto [mean, scale] = moments(e, x, axes, n.real("epsilon", 1e-5f));
  n.set(0, e.elementwise({x, mean, scale, per_channel(e, n[1], x->rank()), per_channel(e, n[2], x->rank())}, x->type,
                         [](Scalars s) { return (s[0] - s[1]) * s[2] * s[3] + s[4]; }));
}

void import_layer_normalization(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  std::vector<int64_t> axes;
  for (int64_t d = n.axis(n.integer("axis", -1), x->rank()); d < x->rank(); ++d)
    axes.push_back(d);
  auto [mean, scale] = moments(e, x, axes, n.real("epsilon", 1e-5f));
  std::vector<Value *> inputs{x, mean, scale, n[1]};
  if (n.has(2))
    inputs.push_back(n[2]);
  n.set(0, e.elementwise(inputs, x->type, [&](Scalars s) {
    Scalar y = (s[0] - s[1]) * s[2] * s[3];
    return s.size() > 4 ? y + s[4] : y;
  }));
  n.set(1, mean);
  n.set(2, scale);
}

void import_group_normalization(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  int64_t groups = n.required_integer("num_groups"), channels = x->shape[1];
  if (groups < 1 || channels % groups)
    n.invalid("{} channels in {} groups", channels, groups);
  Shape split{x->shape[0], groups, x->elements() / x->shape[0] / groups};
  Value *rows = e.reshape(x, split);
  auto [mean, scale] = moments(e, rows, {2}, n.real("epsilon", 1e-5f));
  Value *normal = e.reshape(e.elementwise({rows, mean, scale}, x->type, [](Scalars s) { return (s[0] - s[1]) * s[2]; }), x->shape);
  auto spread = [&](Value *v) { // opset 18 gives one a group, later ones one a channel
    if (v->elements() == groups && groups != channels)
      v = e.reshape(e.broadcast(e.reshape(v, {groups, 1}), {groups, channels / groups}), {channels});
    return per_channel(e, v, x->rank());
  };
  n.set(0, e.elementwise({normal, spread(n[1]), spread(n[2])}, x->type, [](Scalars s) { return s[0] * s[1] + s[2]; }));
}

// y = x / (bias + alpha/size · Σ x² over `size` neighbouring channels) ^ beta
void import_lrn(Node &n) {
  Emitter &e = n.e;
  Value *x = n.ranked(0, 2);
  int64_t size = n.required_integer("size");
  if (size < 1 || size > 4096)
    n.invalid("a sum over {} channels", size);
  double alpha = n.real("alpha", 1e-4f), beta = n.real("beta", 0.75f), bias = n.real("bias", 1);
  Value *squares = e.elementwise({x}, x->type, [](Scalars s) { return s[0] * s[0]; });
  std::vector<int64_t> before(x->rank(), 0), after(x->rank(), 0), steps(x->rank(), 1);
  before[1] = (size - 1) / 2;
  after[1] = size / 2;
  Value *padded = e.pad(squares, before, after, 0);
  std::vector<Value *> parts{x};
  for (int64_t i = 0; i < size; ++i) {
    std::vector<int64_t> starts(x->rank(), 0);
    starts[1] = i;
    parts.push_back(e.slice(padded, starts, steps, x->shape));
  }
  n.set(0, e.elementwise(parts, x->type, [&](Scalars s) {
    Scalar sum = s[1];
    for (size_t i = 2; i < s.size(); ++i)
      sum = sum + s[i];
    return s[0] / pow(sum * (alpha / double(size)) + bias, s[0].like(beta));
  }));
}

void import_lp_normalization(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  int64_t axis = n.axis(n.integer("axis", -1), x->rank()), p = n.integer("p", 2);
  Value *terms = e.elementwise({x}, x->type, [&](Scalars s) { return p == 1 ? abs(s[0]) : s[0] * s[0]; });
  Value *sum = e.reduce(terms, {axis}, true, accumulator_for(x->type), 0, add);
  n.set(0, e.elementwise({x, sum}, x->type, [&](Scalars s) { return s[0] / (p == 1 ? s[1] : sqrt(s[1])); }));
}

} // namespace

OpFamily normalization_ops() {
  static constexpr OpImporter list[] = {
      {"BatchNormalization", import_batch_normalization},
      {"InstanceNormalization", import_instance_normalization},
      {"LayerNormalization", import_layer_normalization},
      {"GroupNormalization", import_group_normalization},
      {"LRN", import_lrn},
      {"LpNormalization", import_lp_normalization},
  };
  return list;
}

} // namespace dougong::models
