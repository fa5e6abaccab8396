// Quantised ops: between floats and 8-bit integers, and integer products.
#include "models/contraction.h"
#include "models/convolution.h"
#include "models/op_table.h"

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;

// A scale or zero point: one for all, or one an index of `axis`.
Value *along_axis(Node &n, Value *v, Value *x, int64_t axis) {
  if (v->elements() == 1)
    return n.e.reshape(v, {});
  Shape shape(x->rank(), 1);
  if (v->rank() != 1 || axis < 0 || axis >= x->rank() || v->elements() != x->shape[axis])
    n.unsupported("a scale of shape {} for an input of shape {}", shape_text(v->shape), shape_text(x->shape));
  shape[axis] = v->elements();
  return n.e.reshape(v, shape);
}

std::pair<double, double> limits(Node &n, ElementType type) {
  switch (type) {
  case ElementType::U8:
    return {0, 255};
  case ElementType::I8:
    return {-128, 127};
  case ElementType::U16:
    return {0, 65535};
  case ElementType::I16:
    return {-32768, 32767};
  default:
    n.unsupported("quantising to type {}", dougong::name(type));
  }
}

Value *quantize(Node &n, Value *x, Value *scale, Value *zero, ElementType type, int64_t axis) {
  auto [low, high] = limits(n, type);
  std::vector<Value *> inputs{x, along_axis(n, scale, x, axis)};
  if (zero)
    inputs.push_back(along_axis(n, zero, x, axis));
  return n.e.elementwise(inputs, type, [&, low = low, high = high](Scalars s) {
    Scalar q = round_even(convert(s[0], ElementType::F32) / convert(s[1], ElementType::F32));
    if (s.size() > 2)
      q = q + convert(s[2], ElementType::F32);
    return convert(clamp(q, low, high), ElementType::I32);
  });
}

void import_quantize(Node &n) {
  Value *x = n[0], *zero = n.optional(2);
  ElementType type = zero ? zero->type : n.type_attribute("output_dtype", ElementType::U8);
  n.set(0,
        quantize(n, x, n[1], zero, type, x->rank() ? n.axis(n.integer("axis", 1) < x->rank() ? n.integer("axis", 1) : 0, x->rank()) : 0));
}

void import_dequantize(Node &n) {
  Value *x = n[0], *scale = n[1];
  int64_t axis = n.integer("axis", 1);
  axis = x->rank() && axis < x->rank() ? n.axis(axis, x->rank()) : 0;
  std::vector<Value *> inputs{x, along_axis(n, scale, x, axis)};
  if (n.has(2))
    inputs.push_back(along_axis(n, n[2], x, axis));
  n.set(0, n.e.elementwise(inputs, scale->type, [&](Scalars s) {
    Scalar q = convert(s[0], ElementType::I32);
    if (s.size() > 2)
      q = q - convert(s[2], ElementType::I32);
    return convert(q, s[1].type) * s[1];
  }));
}

// x - zero as i32; `axis` is where a zero point of several elements runs.
Value *centred(Node &n, Value *x, Value *zero, int64_t axis) {
  if (!zero)
    return n.e.convert(x, ElementType::I32);
  return n.e.elementwise({x, along_axis(n, zero, x, axis)}, ElementType::I32,
                         [](Scalars s) { return convert(s[0], ElementType::I32) - convert(s[1], ElementType::I32); });
}

void import_matmul_integer(Node &n) {
  Value *a = centred(n, n[0], n.optional(2), n[0]->rank() - 2), *b = centred(n, n[1], n.optional(3), n[1]->rank() - 1);
  n.set(0, matrix_product(n, a, b, ElementType::I32));
}

Value *integer_convolution(Node &n, Value *x, Value *x_zero, Value *w, Value *w_zero) {
  Value *image = centred(n, x, x_zero, 1), *filter = centred(n, w, w_zero, 0);
  Window window = window_of(n, x->shape, kernel_of(n, w));
  return convolve(n, image, filter, window, n.integer("group", 1), ElementType::I32);
}

void import_conv_integer(Node &n) { n.set(0, integer_convolution(n, n[0], n.optional(2), n[1], n.optional(3))); }

// i32 sum · (scale_a · scale_b / scale_y), rounded, + zero_y
Value *requantized(Node &n, Value *sum, Value *scale_a, Value *scale_b, Value *scale_y, Value *zero_y, int64_t axis) {
  auto [low, high] = limits(n, zero_y->type);
  return n.e.elementwise({sum, along_axis(n, scale_a, sum, axis), along_axis(n, scale_b, sum, axis), along_axis(n, scale_y, sum, axis),
                          along_axis(n, zero_y, sum, axis)},
                         zero_y->type, [&, low = low, high = high](Scalars s) {
                           Scalar factor = s[1] * s[2] / s[3];
                           Scalar q = round_even(convert(s[0], ElementType::F32) * factor) + convert(s[4], ElementType::F32);
                           return convert(clamp(q, low, high), ElementType::I32);
                         });
}

void import_qlinear_matmul(Node &n) {
  Value *a = centred(n, n[0], n[2], n[0]->rank() - 2), *b = centred(n, n[3], n[5], n[3]->rank() - 1);
  Value *sum = matrix_product(n, a, b, ElementType::I32);
  n.set(0, requantized(n, sum, n[1], n[4], n[6], n[7], sum->rank() - 1));
}

void import_qlinear_conv(Node &n) {
  Emitter &e = n.e;
  Value *sum = integer_convolution(n, n[0], n[2], n[3], n[5]);
  if (n.has(8))
    sum = e.elementwise({sum, per_channel(e, n[8], sum->rank())}, ElementType::I32, [](Scalars s) { return s[0] + s[1]; });
  n.set(0, requantized(n, sum, n[1], n[4], n[6], n[7], 1));
}

} // namespace

OpFamily quantization_ops() {
  static constexpr OpImporter list[] = {
      {"QuantizeLinear", import_quantize},  {"DequantizeLinear", import_dequantize},  {"MatMulInteger", import_matmul_integer},
      {"ConvInteger", import_conv_integer}, {"QLinearMatMul", import_qlinear_matmul}, {"QLinearConv", import_qlinear_conv},
  };
  return list;
}

} // namespace dougong::models
