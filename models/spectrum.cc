// Fourier transforms as products with a known matrix: exact to the type's rounding, and what matrix engines do best at the lengths that
// audio models have (a few hundred).
//
//   DFT, STFT: [rows, n · c] · M [n · c, k · 2] → [rows, k, 2],  c = 1 for real numbers, 2 for pairs of real and imaginary part
//   M: (a + ib) · e^-iθ = (a cos θ + b sin θ) + i (b cos θ - a sin θ),  θ = 2π · n · k / length
#include "models/contraction.h"
#include "models/convolution.h"
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;
constexpr int64_t most_weights = int64_t(1) << 26;

struct Transform {
  int64_t length, parts; // parts: c above
  bool onesided, inverse;
  int64_t results() const { return onesided ? length / 2 + 1 : length; }
};

// `points` of the length's are there, the others are zero; `window`, if given, weights them.
Value *matrix_of(Node &n, const Transform &t, int64_t points, ElementType type, const Tensor *window) {
  if (points * t.parts > most_weights / (t.results() * 2))
    n.unsupported("a transform of length {}", t.length);
  Tensor matrix(type, {points * t.parts, t.results() * 2});
  int64_t to = 0;
  for (int64_t i = 0; i < points; ++i) {
    double weight = (window ? real_at(*window, i) : 1) / (t.inverse ? double(t.length) : 1);
    for (int64_t c = 0; c < t.parts; ++c)
      for (int64_t k = 0; k < t.results(); ++k) {
        double angle = 2 * M_PI * double(i * k % t.length) / double(t.length) * (t.inverse ? -1 : 1);
        set_real(matrix, to++, weight * (c ? std::sin(angle) : std::cos(angle)));
        set_real(matrix, to++, weight * (c ? std::cos(angle) : -std::sin(angle)));
      }
  }
  return n.e.known(std::move(matrix));
}

int64_t number_at(Node &n, size_t i) {
  const Tensor &tensor = n.known(i);
  if (tensor.bytes.empty())
    n.invalid("input {} is empty, a number is wanted", i);
  return integer_at(tensor, 0);
}

void import_dft(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0];
  int64_t rank = x->rank();
  if (rank < 2 || (x->shape.back() != 1 && x->shape.back() != 2))
    n.invalid("its input has shape {}; the last dimension is 1 (real) or 2 (complex)", shape_text(x->shape));
  int64_t axis = n.axis(n.opset < 20 ? n.integer("axis", 1) : n.has(2) ? number_at(n, 2) : -2, rank);
  if (axis == rank - 1)
    n.invalid("axis {} is the one of real and imaginary part", axis);
  int64_t extent = x->shape[axis], length = n.has(1) ? number_at(n, 1) : extent, points = std::min(extent, length);
  if (length < 1)
    n.invalid("a transform of length {}", length);
  Transform t{length, x->shape.back(), n.integer("onesided", 0) != 0, n.integer("inverse", 0) != 0};
  if (t.onesided && t.inverse)
    n.unsupported("onesided and inverse together are not supported");
  std::vector<int64_t> order, back(rank), zeros(rank, 0), ones(rank, 1);
  Shape outer, kept = x->shape;
  for (int64_t d = 0; d < rank - 1; ++d)
    if (d != axis)
      order.push_back(d), outer.push_back(x->shape[d]);
  order.push_back(axis), order.push_back(rank - 1);
  for (int64_t d = 0; d < rank; ++d)
    back[order[d]] = d;
  kept[axis] = points;
  Value *rows = e.reshape(e.transpose(e.slice(x, zeros, ones, kept), order), {element_count(outer), points * t.parts});
  Value *result = matrix_product(n, rows, matrix_of(n, t, points, x->type, nullptr), accumulator_for(x->type));
  outer.push_back(t.results()), outer.push_back(2);
  n.set(0, e.convert(e.transpose(e.reshape(result, outer), back), x->type));
}

// signal [b, n, c] → frames [b, f, length, c], which overlap → their spectra [b, f, k, 2]
void import_stft(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0], *window = n.optional(2);
  if (x->rank() != 3 || (x->shape[2] != 1 && x->shape[2] != 2))
    n.invalid("its signal has shape {}; wanted is [batch, length, 1 or 2]", shape_text(x->shape));
  int64_t step = number_at(n, 1), length = n.has(3) ? number_at(n, 3) : window ? window->elements() : x->shape[1];
  if (step < 1 || length < 1 || length > x->shape[1] || (window && window->elements() != length))
    n.invalid("frames of {} every {} in a signal of {}, with a window of {}", length, step, x->shape[1],
              window ? window->elements() : length);
  Transform t{length, x->shape[2], n.integer("onesided", 1) != 0, false};
  Shape frames{x->shape[0], (x->shape[1] - length) / step + 1, length, t.parts};
  auto d = [&](unsigned i) { return e.b.getAffineDimExpr(i); };
  mlir::Value memory =
      e.generic({e.get(x)}, {x->type},
                {mlir::AffineMap::get(4, 0, {d(0), d(1) * step + d(2), d(3)}, e.b.getContext()), e.b.getMultiDimIdentityMap(4)},
                e.empty(frames, x->type), x->type, llvm::SmallVector<mlir::utils::IteratorType>(4, mlir::utils::IteratorType::parallel),
                [](Scalars s) { return s[0]; });
  Value *framed = e.computed(memory, x->type, frames);
  if (window && !window->known)
    framed = e.elementwise({framed, e.reshape(window, {length, 1})}, x->type, [](Scalars s) { return s[0] * convert(s[1], s[0].type); });
  Value *rows = e.reshape(framed, {frames[0] * frames[1], length * t.parts});
  Value *result = matrix_product(n, rows, matrix_of(n, t, length, x->type, window && window->known ? window->known.get() : nullptr),
                                 accumulator_for(x->type));
  n.set(0, e.convert(e.reshape(result, {frames[0], frames[1], t.results(), 2}), x->type));
}

// Triangles from bin to bin, evenly apart on the mel scale, mel(f) = 2595 · log10(1 + f / 700).
void import_mel_weight_matrix(Node &n) {
  int64_t bins = number_at(n, 0), length = number_at(n, 1), rate = number_at(n, 2), rows = length / 2 + 1;
  double low = real_at(n.known(3), 0), high = real_at(n.known(4), 0);
  if (bins < 1 || length < 1 || rate < 1 || bins > most_weights / rows || !(low >= 0 && high >= low && high <= double(rate)))
    n.invalid("{} mel bins of a spectrum of length {} at {} Hz, from {} to {} Hz", bins, length, rate, low, high);
  auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double at = mel(low) + double(i) * (mel(high) - mel(low)) / double(bins + 2);
    edges.push_back(std::min(int64_t(std::floor(double(length + 1) * (700 * (std::pow(10, at / 2595) - 1)) / double(rate))), rows - 1));
  }
  Tensor result(n.type_attribute("output_datatype", ElementType::F32), {rows, bins});
  for (int64_t i = 0; i < bins; ++i) {
    int64_t from = edges[i], top = edges[i + 1], to = edges[i + 2];
    if (from == top)
      set_real(result, top * bins + i, 1);
    for (int64_t j = from; j <= top && from < top; ++j)
      set_real(result, j * bins + i, double(j - from) / double(top - from));
    for (int64_t j = top; j < to; ++j)
      set_real(result, j * bins + i, double(to - j) / double(to - top));
  }
  n.set(0, n.e.known(std::move(result)));
}

} // namespace

OpFamily spectrum_ops() {
  static constexpr OpImporter list[] = {{"DFT", import_dft}, {"STFT", import_stft}, {"MelWeightMatrix", import_mel_weight_matrix}};
  return list;
}

} // namespace dougong::models
