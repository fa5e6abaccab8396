// RNN, GRU and LSTM, their steps unrolled. What the inputs contribute to all steps is one matrix product before them:
//
//   X [t·b, in] · Wᵀ [in, gates·h]      then, for each t:   H [b, h] · Rᵀ [h, gates·h],  activations,  H (and C) for t + 1
#include "models/contraction.h"
#include "models/convolution.h"
#include "models/onnx_proto.h"
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;
constexpr int64_t most_steps = 1024; // each is code of its own

struct Activation {
  std::string name;
  double alpha = 0, beta = 0, clip = 0; // clip: of what goes in; 0: none

  Scalar operator()(Scalar x) const {
    if (clip > 0)
      x = clamp(x, -clip, clip);
    if (name == "Sigmoid")
      return 1.0 / (exp(-x) + 1.0);
    if (name == "Tanh")
      return tanh(x);
    if (name == "Relu")
      return maximum(x, x.like(0));
    if (name == "Affine")
      return x * alpha + beta;
    if (name == "LeakyRelu")
      return select(x < 0, x * alpha, x);
    if (name == "ThresholdedRelu")
      return select(x >= alpha, x, x.like(0));
    if (name == "ScaledTanh")
      return alpha * tanh(x * beta);
    if (name == "HardSigmoid")
      return clamp(x * alpha + beta, 0, 1);
    if (name == "Elu")
      return select(x < 0, alpha * (exp(x) - 1.0), x);
    if (name == "Softsign")
      return x / (abs(x) + 1.0);
    return maximum(x, x.like(0)) + log1p(exp(-abs(x))); // Softplus
  }
};

// The node's activations, `names` for each direction where it names none, and their parameters: in order, for those that have one.
std::vector<Activation> activations_of(Node &n, size_t directions, std::vector<std::string> names) {
  struct Known {
    const char *name;
    bool has_alpha, has_beta;
    double alpha, beta;
  };
  static constexpr Known known[] = {
      {"Sigmoid", false, false, 0, 0},  {"Tanh", false, false, 0, 0},          {"Relu", false, false, 0, 0},
      {"Affine", true, true, 1, 0},     {"LeakyRelu", true, false, 0.01, 0},   {"ThresholdedRelu", true, false, 1, 0},
      {"ScaledTanh", true, true, 1, 1}, {"HardSigmoid", true, true, 0.2, 0.5}, {"Elu", true, false, 1, 0},
      {"Softsign", false, false, 0, 0}, {"Softplus", false, false, 0, 0}};
  size_t count = names.size();
  for (size_t i = count; i < count * directions; ++i)
    names.push_back(std::string(names[i - count]));
  for (const auto &attribute : n.proto().attribute())
    if (attribute.name() == "activations")
      names.assign(attribute.strings().begin(), attribute.strings().end());
  if (names.size() != count * directions)
    n.invalid("{} activations for {} direction(s) of {}", names.size(), directions, count);
  std::vector<double> alphas = n.reals("activation_alpha"), betas = n.reals("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Activation> result;
  for (const std::string &name : names) {
    auto found = std::find_if(std::begin(known), std::end(known), [&](const Known &k) { return name == k.name; });
    if (found == std::end(known))
      n.unsupported("activation {}", name);
    Activation &made = result.emplace_back(Activation{name, found->alpha, found->beta, n.real("clip", 0)});
    if (found->has_alpha && alpha < alphas.size())
      made.alpha = alphas[alpha++];
    if (found->has_beta && beta < betas.size())
      made.beta = betas[beta++];
  }
  return result;
}

// One direction of one node.
class Recurrence {
public:
  Recurrence(Node &n, Value *x, int64_t direction, int64_t gates, std::vector<Activation> f)
      : n(n), e(n.e), type(x->type), f(std::move(f)), gates(gates), steps(x->shape[0]), batch(x->shape[1]), hidden(n[2]->shape[2]) {
    int64_t inputs = x->shape[2];
    Value *w = matrix(n[1], direction, inputs), *input_bias = nullptr;
    r = matrix(n[2], direction, hidden);
    if (n.has(3)) {
      expect(n[3], {n[1]->shape[0], 2 * gates * hidden}, "the bias");
      input_bias = part(n[3], direction, 0, gates * hidden);
      state_bias = part(n[3], direction, gates * hidden, gates * hidden);
    }
    if (n.has(4) && !all_full(n[4])) {
      expect(n[4], {batch}, "the sequences' lengths");
      lengths = e.reshape(n[4], {batch, 1});
    }
    h = state(5, direction);
    Value *sums = matrix_product(n, e.reshape(x, {steps * batch, inputs}), w, accumulator_for(type));
    projected = e.reshape(e.convert(input_bias ? added(sums, input_bias) : sums, type), {steps, batch, gates * hidden});
  }

  // `next(what the inputs give to the gates)` computes the next value of what is `kept`, the first of which is H. Returns Y [t, 1, b, h].
  template <typename Next> Value *run(bool reverse, std::vector<Value **> kept, Next next) {
    std::vector<Value *> outputs(steps);
    for (int64_t i = 0; i < steps; ++i) {
      int64_t t = reverse ? steps - 1 - i : i;
      std::vector<Value *> before;
      for (Value **value : kept)
        before.push_back(*value);
      next(e.reshape(e.slice(projected, {t, 0, 0}, {1, 1, 1}, {1, batch, gates * hidden}), {batch, gates * hidden}));
      outputs[t] = lengths ? running(t, h, nullptr) : h;
      for (size_t k = 0; lengths && k < kept.size(); ++k)
        *kept[k] = running(t, *kept[k], before[k]);
      outputs[t] = e.reshape(outputs[t], {1, 1, batch, hidden});
    }
    return e.concat(outputs, 0);
  }

  Value *gate(Value *of, int64_t k) { return e.slice(of, {0, k * hidden}, {1, 1}, {batch, hidden}); }
  // H · Rᵀ for `count` gates from `from` on, and the bias that belongs there.
  Value *recurrent(Value *state, int64_t from, int64_t count) {
    Value *columns = e.slice(r, {0, from * hidden}, {1, 1}, {hidden, count * hidden});
    Value *sums = matrix_product(n, state, columns, accumulator_for(type));
    if (state_bias)
      sums = added(sums, e.slice(state_bias, {from * hidden}, {1}, {count * hidden}));
    return e.convert(sums, type);
  }
  Value *state(size_t input, int64_t direction) {
    if (!n.has(input))
      return e.known(Tensor(type, {batch, hidden}));
    expect(n[input], {n[1]->shape[0], batch, hidden}, "a state");
    return e.reshape(e.slice(n[input], {direction, 0, 0}, {1, 1, 1}, {1, batch, hidden}), {batch, hidden});
  }
  Value *part(Value *of, int64_t direction, int64_t from, int64_t count) {
    return e.reshape(e.slice(of, {direction, from}, {1, 1}, {1, count}), {count});
  }
  Value *combined(llvm::ArrayRef<Value *> values, const Emitter::Body &body) { return e.elementwise(values, type, body); }

  void expect(Value *value, const Shape &shape, const char *what) {
    if (value->shape != shape)
      n.invalid("{} has shape {}, wanted is {}", what, shape_text(value->shape), shape_text(shape));
  }

  Node &n;
  Emitter &e;
  const ElementType type;
  const std::vector<Activation> f;
  Value *h = nullptr;

private:
  Value *matrix(Value *of, int64_t direction, int64_t columns) {
    expect(of, {n[1]->shape[0], gates * hidden, columns}, "a matrix of weights");
    Value *one = e.slice(of, {direction, 0, 0}, {1, 1, 1}, {1, gates * hidden, columns});
    return e.transpose(e.reshape(one, {gates * hidden, columns}), {1, 0});
  }
  Value *added(Value *sums, Value *bias) {
    return e.elementwise({sums, bias}, sums->type, [](Scalars s) { return s[0] + convert(s[1], s[0].type); });
  }
  bool all_full(Value *given) {
    if (!given->known)
      return false;
    std::vector<int64_t> all = integers_of(*given->known);
    return std::all_of(all.begin(), all.end(), [&](int64_t length) { return length == steps; });
  }
  // A sequence that has ended keeps its state, and puts out zeros.
  Value *running(int64_t t, Value *now, Value *before) {
    std::vector<Value *> values{lengths, now};
    if (before)
      values.push_back(before);
    return e.elementwise(values, type,
                         [&](Scalars s) { return select(s[0] > s[0].like_integer(t), s[1], s.size() > 2 ? s[2] : s[1].like(0)); });
  }

  const int64_t gates, steps, batch, hidden;
  Value *r = nullptr, *state_bias = nullptr, *lengths = nullptr, *projected = nullptr;
};

Value *rnn(Recurrence &g, bool reverse) {
  return g.run(reverse, {&g.h},
               [&](Value *now) { g.h = g.combined({now, g.recurrent(g.h, 0, 1)}, [&](Scalars s) { return g.f[0](s[0] + s[1]); }); });
}

// Gates z, r, h. The reset gate acts on what the state's product gives (`late`), or on the state before it.
Value *gru(Recurrence &g, bool reverse) {
  bool late = g.n.integer("linear_before_reset", 0);
  return g.run(reverse, {&g.h}, [&](Value *now) {
    Value *zr = g.recurrent(g.h, 0, 2), *candidate;
    if (late) {
      candidate = g.combined({g.gate(now, 2), g.recurrent(g.h, 2, 1), g.gate(now, 1), g.gate(zr, 1)},
                             [&](Scalars s) { return g.f[1](s[0] + g.f[0](s[2] + s[3]) * s[1]); });
    } else {
      Value *kept = g.combined({g.gate(now, 1), g.gate(zr, 1), g.h}, [&](Scalars s) { return g.f[0](s[0] + s[1]) * s[2]; });
      candidate = g.combined({g.gate(now, 2), g.recurrent(kept, 2, 1)}, [&](Scalars s) { return g.f[1](s[0] + s[1]); });
    }
    g.h = g.combined({g.gate(now, 0), g.gate(zr, 0), candidate, g.h}, [&](Scalars s) {
      Scalar z = g.f[0](s[0] + s[1]);
      return (1.0 - z) * s[2] + z * s[3];
    });
  });
}

// Gates i, o, f, c; the peepholes look at C.
Value *lstm(Recurrence &g, bool reverse, int64_t direction, Value *&c) {
  bool coupled = g.n.integer("input_forget", 0);
  Value *looks[3] = {};
  int64_t hidden = g.h->shape[1];
  if (g.n.has(7))
    g.expect(g.n[7], {g.n[1]->shape[0], 3 * hidden}, "the peepholes' weights");
  for (int64_t k = 0; g.n.has(7) && k < 3; ++k)
    looks[k] = g.part(g.n[7], direction, k * hidden, hidden);
  Activation last = g.f[2];
  last.clip = 0;
  return g.run(reverse, {&g.h, &c}, [&](Value *now) {
    Value *sums = g.recurrent(g.h, 0, 4);
    std::vector<Value *> inputs{g.gate(now, 0), g.gate(sums, 0), g.gate(now, 2), g.gate(sums, 2), g.gate(now, 3), g.gate(sums, 3), c};
    if (looks[0])
      inputs.insert(inputs.end(), {looks[0], looks[2]});
    c = g.combined(inputs, [&](Scalars s) {
      bool sees = s.size() > 7;
      Scalar i = g.f[0](sees ? s[0] + s[1] + s[7] * s[6] : s[0] + s[1]);
      Scalar forget = coupled ? 1.0 - i : g.f[0](sees ? s[2] + s[3] + s[8] * s[6] : s[2] + s[3]);
      return forget * s[6] + i * g.f[1](s[4] + s[5]);
    });
    inputs = {g.gate(now, 1), g.gate(sums, 1), c};
    if (looks[1])
      inputs.push_back(looks[1]);
    g.h = g.combined(inputs, [&](Scalars s) { return g.f[0](s.size() > 3 ? s[0] + s[1] + s[3] * s[2] : s[0] + s[1]) * last(s[2]); });
  });
}

void import_recurrent(Node &n, int64_t gates, const std::vector<std::string> &activations) {
  Emitter &e = n.e;
  bool batch_first = n.integer("layout", 0);
  Value *x = n[0];
  if (x->rank() != 3 || n[1]->rank() != 3 || n[2]->rank() != 3)
    n.invalid("inputs of shapes {}, {} and {}, wanted is rank 3", shape_text(x->shape), shape_text(n[1]->shape), shape_text(n[2]->shape));
  if (batch_first && (n.has(5) || n.has(6)))
    n.unsupported("initial states with layout = 1 are not supported");
  if (batch_first)
    x = e.transpose(x, {1, 0, 2});
  if (x->shape[0] > most_steps)
    n.unsupported("{} steps; up to {} are unrolled", x->shape[0], most_steps);
  std::string way = n.text("direction", "forward");
  size_t directions = way == "bidirectional" ? 2 : 1, count = activations.size();
  if (n[1]->shape[0] != int64_t(directions))
    n.invalid("direction '{}' with weights of {} direction(s)", way, n[1]->shape[0]);
  std::vector<Activation> all = activations_of(n, directions, activations);
  std::vector<Value *> y, last, cells;
  for (size_t d = 0; d < directions; ++d) {
    Recurrence g(n, x, int64_t(d), gates, {all.begin() + ptrdiff_t(d * count), all.begin() + ptrdiff_t((d + 1) * count)});
    bool reverse = way == "reverse" || d == 1;
    Value *c = gates == 4 ? g.state(6, int64_t(d)) : nullptr;
    y.push_back(gates == 4 ? lstm(g, reverse, int64_t(d), c) : gates == 3 ? gru(g, reverse) : rnn(g, reverse));
    Shape one{1, g.h->shape[0], g.h->shape[1]};
    last.push_back(e.reshape(g.h, one));
    if (c)
      cells.push_back(e.reshape(c, one));
  }
  auto put = [&](size_t i, Value *value, llvm::ArrayRef<int64_t> order) { n.set(i, batch_first ? e.transpose(value, order) : value); };
  put(0, e.concat(y, 1), {2, 0, 1, 3});
  put(1, e.concat(last, 0), {1, 0, 2});
  if (!cells.empty())
    put(2, e.concat(cells, 0), {1, 0, 2});
}

void import_rnn(Node &n) { import_recurrent(n, 1, {"Tanh"}); }
void import_gru(Node &n) { import_recurrent(n, 3, {"Sigmoid", "Tanh"}); }
void import_lstm(Node &n) { import_recurrent(n, 4, {"Sigmoid", "Tanh", "Tanh"}); }

} // namespace

OpFamily recurrent_ops() {
  static constexpr OpImporter list[] = {{"RNN", import_rnn}, {"GRU", import_gru}, {"LSTM", import_lstm}};
  return list;
}

} // namespace dougong::models
