// Ops of two and more inputs that work element by element with broadcasting: arithmetic, comparison, logic, choice, type.
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;

// Opset < 7 aligned the second input at `axis` when `broadcast` was set.
Value *aligned_second(Node &n) {
  Value *a = n[0], *b = n[1];
  if (n.opset >= 7 || !n.integer("broadcast", 0) || b->rank() == 0)
    return b;
  int64_t axis = n.axis(n.integer("axis", a->rank() - b->rank()), a->rank());
  Shape shape = b->shape;
  while (int64_t(shape.size()) < a->rank() - axis)
    shape.push_back(1);
  return n.e.reshape(b, shape);
}

template <typename Function> void binary(Node &n, Function function) {
  Value *a = n[0], *b = aligned_second(n);
  if (a->type != b->type)
    n.invalid("its inputs have types {} and {}", name(a->type), name(b->type));
  n.set(0, n.e.elementwise({a, b}, a->type, [&](Scalars s) { return function(s[0], s[1]); }));
}

template <typename Function> void comparison(Node &n, Function function) {
  Value *a = n[0], *b = aligned_second(n);
  n.set(0, n.e.elementwise({a, b}, ElementType::Bool, [&](Scalars s) { return function(s[0], s[1]); }));
}

// Max, Min, Sum, Mean: any number of inputs, one after the other.
template <typename Function> Value *chain(Node &n, Function function) {
  std::vector<Value *> inputs = n.inputs();
  if (inputs.empty())
    n.invalid("it has no inputs");
  return n.e.elementwise(inputs, inputs[0]->type, [&](Scalars s) {
    Scalar result = s[0];
    for (Scalar x : s.drop_front())
      result = function(result, x);
    return result;
  });
}

Scalar add(Scalar a, Scalar b) { return a + b; }
Scalar subtract(Scalar a, Scalar b) { return a - b; }
Scalar multiply(Scalar a, Scalar b) { return a * b; }
Scalar divide(Scalar a, Scalar b) { return a / b; }
Scalar both(Scalar a, Scalar b) { return a & b; }
Scalar either(Scalar a, Scalar b) { return a | b; }
Scalar differ(Scalar a, Scalar b) { return a ^ b; }
Scalar equal(Scalar a, Scalar b) { return a == b; }
Scalar less(Scalar a, Scalar b) { return a < b; }
Scalar at_most(Scalar a, Scalar b) { return a <= b; }
Scalar greater(Scalar a, Scalar b) { return a > b; }
Scalar at_least(Scalar a, Scalar b) { return a >= b; }

template <Scalar (*function)(Scalar, Scalar)> void import_binary(Node &n) { binary(n, function); }
template <Scalar (*function)(Scalar, Scalar)> void import_comparison(Node &n) { comparison(n, function); }
template <Scalar (*function)(Scalar, Scalar)> void import_chain(Node &n) { n.set(0, chain(n, function)); }

void import_mean(Node &n) {
  Value *sum = chain(n, [](Scalar a, Scalar b) { return a + b; });
  double count = double(n.inputs().size());
  n.set(0, n.e.elementwise({sum}, sum->type, [&](Scalars s) { return s[0] / count; }));
}

void import_bit_shift(Node &n) {
  bool left = n.text("direction", "") == "LEFT";
  binary(n, [&](Scalar a, Scalar b) { return left ? shift_left(a, b) : shift_right(a, b); });
}

void import_mod(Node &n) {
  bool c_sign = n.integer("fmod", 0);
  binary(n, [&](Scalar a, Scalar b) { return c_sign ? remainder(a, b) : floor_modulo(a, b); });
}

// The exponent may have another type. Small whole exponents, which real models have, are multiplications.
void import_pow(Node &n) {
  Value *x = n[0], *exponent = n[1];
  ElementType compute = x->type == ElementType::F64 ? ElementType::F64 : is_float(x->type) ? ElementType::F32 : ElementType::F64;
  if (exponent->known && all_equal(*exponent->known) && exponent->elements() == 1) {
    double p = real_at(*exponent->known, 0);
    Value *shaped = n.e.broadcast(x, broadcast_shapes(x->shape, exponent->shape));
    if (p == 2 || p == 3 || p == 1)
      return n.set(0, n.e.elementwise({shaped}, x->type, [&](Scalars s) {
        return p == 1 ? s[0] : p == 2 ? s[0] * s[0] : s[0] * s[0] * s[0];
      }));
    if (p == 0.5 && is_float(x->type))
      return n.set(0, n.e.elementwise({shaped}, x->type, [&](Scalars s) { return sqrt(s[0]); }));
  }
  n.set(0, n.e.elementwise({x, exponent}, x->type, [&](Scalars s) { return pow(convert(s[0], compute), convert(s[1], compute)); }));
}

void import_prelu(Node &n) {
  Value *x = n[0], *slope = n[1];
  if (x->rank() > slope->rank() && slope->rank() == 1 && slope->shape[0] == x->shape[1] && slope->shape[0] != x->shape.back()) {
    Shape shape(x->rank() - 1, 1); // one a channel, as exporters before opset 9 wrote it
    shape[0] = slope->shape[0];
    slope = n.e.reshape(slope, shape);
  }
  n.set(0, n.e.elementwise({x, slope}, x->type, [](Scalars s) { return select(s[0] < 0, s[0] * s[1], s[0]); }));
}

void import_where(Node &n) {
  n.set(0, n.e.elementwise({n[0], n[1], n[2]}, n[1]->type, [](Scalars s) { return select(s[0], s[1], s[2]); }));
}

void import_clip(Node &n) {
  Value *x = n[0];
  if (n.opset < 11) {
    double low = n.real("min", -INFINITY), high = n.real("max", INFINITY);
    return n.set(0, n.e.elementwise({x}, x->type, [&](Scalars s) { return clamp(s[0], low, high); }));
  }
  std::vector<Value *> inputs{x};
  bool low = n.has(1), high = n.has(2);
  if (low)
    inputs.push_back(n[1]);
  if (high)
    inputs.push_back(n[2]);
  n.set(0, n.e.elementwise(inputs, x->type, [&](Scalars s) {
    Scalar result = s[0];
    if (low)
      result = maximum(result, s[1]);
    return high ? minimum(result, s.back()) : result;
  }));
}

void import_cast(Node &n) { n.set(0, n.e.convert(n[0], n.type_attribute("to", n[0]->type))); }
void import_cast_like(Node &n) { n.set(0, n.e.convert(n[0], n[1]->type)); }

} // namespace

OpFamily elementwise_ops() {
  static constexpr OpImporter list[] = {
      {"Add", import_binary<add>},
      {"Sub", import_binary<subtract>},
      {"Mul", import_binary<multiply>},
      {"Div", import_binary<divide>},
      {"Mod", import_mod},
      {"Pow", import_pow},
      {"And", import_comparison<both>},
      {"Or", import_comparison<either>},
      {"Xor", import_comparison<differ>},
      {"Equal", import_comparison<equal>},
      {"Less", import_comparison<less>},
      {"LessOrEqual", import_comparison<at_most>},
      {"Greater", import_comparison<greater>},
      {"GreaterOrEqual", import_comparison<at_least>},
      {"Max", import_chain<maximum>},
      {"Min", import_chain<minimum>},
      {"Sum", import_chain<add>},
      {"Mean", import_mean},
      {"BitShift", import_bit_shift},
      {"BitwiseAnd", import_binary<both>},
      {"BitwiseOr", import_binary<either>},
      {"BitwiseXor", import_binary<differ>},
      {"PRelu", import_prelu},
      {"Where", import_where},
      {"Clip", import_clip},
      {"Cast", import_cast},
      {"CastLike", import_cast_like},
  };
  return list;
}

} // namespace dougong::models
