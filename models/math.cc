// Ops of one input, element by element: mathematical functions and activations.
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;

template <typename Function> void unary(Node &n, Function function) {
  Value *x = n[0];
  n.set(0, n.e.elementwise({x}, x->type, [&](Scalars s) { return function(s[0]); }));
}

Scalar sigmoid(Scalar x) { return 1.0 / (exp(-x) + 1.0); }
Scalar softplus(Scalar x) { return maximum(x, x.like(0)) + log1p(exp(-abs(x))); } // does not overflow

template <Scalar (*function)(Scalar)> void import_function(Node &n) {
  unary(n, [](Scalar x) { return function(x); });
}
void import_neg(Node &n) {
  unary(n, [](Scalar x) { return -x; });
}
void import_not(Node &n) {
  unary(n, [](Scalar x) { return ~x; });
}
void import_identity(Node &n) { n.set(0, n[0]); }
void import_reciprocal(Node &n) {
  unary(n, [](Scalar x) { return 1.0 / x; });
}
void import_relu(Node &n) {
  unary(n, [](Scalar x) { return maximum(x, x.like(0)); });
}
void import_softsign(Node &n) {
  unary(n, [](Scalar x) { return x / (abs(x) + 1.0); });
}
void import_hard_swish(Node &n) {
  unary(n, [](Scalar x) { return x * clamp(x * (1.0 / 6) + 0.5, 0, 1); });
}
void import_mish(Node &n) {
  unary(n, [](Scalar x) { return x * tanh(softplus(x)); });
}

void import_sign(Node &n) {
  unary(n, [](Scalar x) {
    if (is_unsigned(x.type))
      return select(x > 0, x.like(1), x.like(0));
    return select(x > 0, x.like(1), select(x < 0, x.like(-1), x.like(0)));
  });
}

void import_leaky_relu(Node &n) {
  double alpha = n.real("alpha", 0.01f);
  unary(n, [&](Scalar x) { return select(x < 0, x * alpha, x); });
}

void import_elu(Node &n) {
  double alpha = n.real("alpha", 1);
  unary(n, [&](Scalar x) { return select(x < 0, alpha * (exp(x) - 1.0), x); });
}

void import_celu(Node &n) {
  double alpha = n.real("alpha", 1);
  unary(n, [&](Scalar x) { return maximum(x, x.like(0)) + minimum(alpha * (exp(x / alpha) - 1.0), x.like(0)); });
}

void import_selu(Node &n) {
  double alpha = n.real("alpha", 1.67326319217681884765625f), gamma = n.real("gamma", 1.05070102214813232421875f);
  unary(n, [&](Scalar x) { return select(x > 0, gamma * x, gamma * (alpha * (exp(x) - 1.0))); });
}

void import_hard_sigmoid(Node &n) {
  double alpha = n.real("alpha", 0.2f), beta = n.real("beta", 0.5f);
  unary(n, [&](Scalar x) { return clamp(x * alpha + beta, 0, 1); });
}

void import_thresholded_relu(Node &n) {
  double alpha = n.real("alpha", 1);
  unary(n, [&](Scalar x) { return select(x > alpha, x, x.like(0)); });
}

void import_shrink(Node &n) {
  double bias = n.real("bias", 0), lambda = n.real("lambd", 0.5f);
  unary(n, [&](Scalar x) { return select(x < -lambda, x + bias, select(x > lambda, x - bias, x.like(0))); });
}

void import_gelu(Node &n) {
  bool by_tanh = n.text("approximate", "none") == "tanh";
  unary(n, [&](Scalar x) {
    if (by_tanh)
      return 0.5 * x * (tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)) + 1.0);
    return 0.5 * x * (erf(x * M_SQRT1_2) + 1.0);
  });
}

void import_is_nan(Node &n) {
  Value *x = n[0];
  n.set(0, n.e.elementwise({x}, ElementType::Bool, [](Scalars s) { return s[0] != s[0]; }));
}

void import_is_inf(Node &n) {
  bool negative = n.integer("detect_negative", 1), positive = n.integer("detect_positive", 1);
  Value *x = n[0];
  n.set(0, n.e.elementwise({x}, ElementType::Bool, [&](Scalars s) {
    Scalar up = s[0] == INFINITY, down = s[0] == -INFINITY;
    if (positive && negative)
      return up | down;
    return positive ? up : negative ? down : up & down;
  }));
}

void import_dropout(Node &n) { // inference: nothing is dropped
  if (n.has(2) && integer_at(n.known(2), 0))
    n.unsupported("training_mode is not supported");
  n.set(0, n[0]);
  if (n.wants(1)) {
    Tensor ones(ElementType::Bool, n[0]->shape);
    std::fill(ones.bytes.begin(), ones.bytes.end(), 1);
    n.set(1, n.e.known(std::move(ones)));
  }
}

} // namespace

OpFamily math_ops() {
  static constexpr OpImporter list[] = {
      {"Abs", import_function<abs>},
      {"Exp", import_function<exp>},
      {"Log", import_function<log>},
      {"Sqrt", import_function<sqrt>},
      {"Tanh", import_function<tanh>},
      {"Erf", import_function<erf>},
      {"Sin", import_function<sin>},
      {"Cos", import_function<cos>},
      {"Tan", import_function<tan>},
      {"Asin", import_function<asin>},
      {"Acos", import_function<acos>},
      {"Atan", import_function<atan>},
      {"Sinh", import_function<sinh>},
      {"Cosh", import_function<cosh>},
      {"Asinh", import_function<asinh>},
      {"Acosh", import_function<acosh>},
      {"Atanh", import_function<atanh>},
      {"Floor", import_function<floor>},
      {"Ceil", import_function<ceil>},
      {"Round", import_function<round_even>},
      {"Sigmoid", import_function<sigmoid>},
      {"Softplus", import_function<softplus>},
      {"Neg", import_neg},
      {"Not", import_not},
      {"BitwiseNot", import_not},
      {"Identity", import_identity},
      {"Reciprocal", import_reciprocal},
      {"Relu", import_relu},
      {"Softsign", import_softsign},
      {"HardSwish", import_hard_swish},
      {"Mish", import_mish},
      {"Sign", import_sign},
      {"LeakyRelu", import_leaky_relu},
      {"Elu", import_elu},
      {"Celu", import_celu},
      {"Selu", import_selu},
      {"HardSigmoid", import_hard_sigmoid},
      {"ThresholdedRelu", import_thresholded_relu},
      {"Shrink", import_shrink},
      {"Gelu", import_gelu},
      {"IsNaN", import_is_nan},
      {"IsInf", import_is_inf},
      {"Dropout", import_dropout},
  };
  return list;
}

} // namespace dougong::models
