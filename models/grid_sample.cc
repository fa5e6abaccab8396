// GridSample of pictures: each output reads the input at a place that a second tensor gives, between pixels.
//
//   X [n, c, h, w], grid [n, h', w', 2] of (x, y) in -1 … 1   →   Y [n, c, h', w']
#include "models/op_table.h"
#include <cmath>

namespace dougong::models {
namespace {

using Scalars = llvm::ArrayRef<Scalar>;
enum class Beyond { zeros, border, reflection }; // what lies outside of the picture

struct Axis {
  int64_t extent;
  bool corners; // -1 and 1 are the centres of the outermost pixels, not their edges

  Scalar pixel(Scalar place) const {
    return corners ? (place + 1.0) * (double(extent - 1) / 2) : ((place + 1.0) * double(extent) - 1.0) * 0.5;
  }
  // A whole number (in a float) folded back into the picture at its edges: period 2 · range.
  Scalar reflected(Scalar at) const {
    double low = corners ? 0 : -0.5, range = corners ? double(extent - 1) : double(extent);
    if (range == 0)
      return at.like(0);
    Scalar far = abs(at - low), turns = floor(far / range), rest = far - turns * range;
    Scalar odd = turns - floor(turns * 0.5) * 2.0;
    return select(odd == 0, rest + low, range + low - rest);
  }
  Scalar inside(Scalar at, Beyond beyond) const { return clamp(beyond == Beyond::reflection ? reflected(at) : at, 0, double(extent - 1)); }
};

// The weights of the pixels -1, 0, 1, 2 around a place that is `t` behind pixel 0; a = -0.75.
Scalar cubic_weight(int64_t pixel, Scalar t) {
  constexpr double a = -0.75;
  auto near = [&](Scalar d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
  auto far = [&](Scalar d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return pixel == -1 ? far(t + 1.0) : pixel == 0 ? near(t) : pixel == 1 ? near(1.0 - t) : far(2.0 - t);
}

void import_grid_sample(Node &n) {
  Emitter &e = n.e;
  Value *x = n[0], *grid = n[1];
  if (x->rank() != 4)
    n.unsupported("an input of shape {}; pictures, of rank 4, are supported", shape_text(x->shape));
  if (grid->rank() != 4 || grid->shape[0] != x->shape[0] || grid->shape[3] != 2)
    n.invalid("a grid of shape {} for an input of shape {}", shape_text(grid->shape), shape_text(x->shape));
  std::string mode = n.text("mode", "linear"), padding = n.text("padding_mode", "zeros");
  bool nearest = mode == "nearest", cubic = mode == "bicubic" || mode == "cubic";
  if (!nearest && !cubic && mode != "bilinear" && mode != "linear")
    n.invalid("mode is '{}'; linear, nearest and cubic are", mode);
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    n.invalid("padding_mode is '{}'; zeros, border and reflection are", padding);
  Beyond beyond = padding == "zeros" ? Beyond::zeros : padding == "border" ? Beyond::border : Beyond::reflection;
  bool corners = n.integer("align_corners", 0);
  Axis across{x->shape[3], corners}, down{x->shape[2], corners};
  ElementType compute = x->type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  Shape shape{x->shape[0], x->shape[1], grid->shape[1], grid->shape[2]};
  n.set(0, e.indexed(shape, x->type, {x, grid}, [&](Scalars index) {
    auto place = [&](int64_t which) {
      return convert(e.element(grid, {index[0], index[2], index[3], index[0].like_integer(which)}), compute);
    };
    Scalar px = across.pixel(place(0)), py = down.pixel(place(1));
    auto pixel = [&](Scalar column, Scalar row) { // whole numbers, as floats
      Scalar at_column = across.inside(column, beyond), at_row = down.inside(row, beyond);
      auto whole = [](Scalar v) { return convert_to_index(convert(v, ElementType::I64)); };
      Scalar value = convert(e.element(x, {index[0], index[1], whole(at_row), whole(at_column)}), compute);
      if (beyond != Beyond::zeros)
        return value;
      return select((at_column == column) & (at_row == row), value, value.like(0));
    };
    if (nearest)
      return pixel(round_even(px), round_even(py));
    Scalar left = floor(px), top = floor(py), tx = px - left, ty = py - top, sum = px.like(0);
    for (int64_t j = cubic ? -1 : 0; j <= (cubic ? 2 : 1); ++j) {
      Scalar line = px.like(0);
      for (int64_t i = cubic ? -1 : 0; i <= (cubic ? 2 : 1); ++i)
        line = line + pixel(left + double(i), top + double(j)) * (cubic ? cubic_weight(i, tx) : i ? tx : 1.0 - tx);
      sum = sum + line * (cubic ? cubic_weight(j, ty) : j ? ty : 1.0 - ty);
    }
    return sum;
  }));
}

} // namespace

OpFamily grid_sample_ops() {
  static constexpr OpImporter list[] = {{"GridSample", import_grid_sample}};
  return list;
}

} // namespace dougong::models
