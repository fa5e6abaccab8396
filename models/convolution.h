// Sliding windows, as convolutions and pools have them.
#pragma once
#include "models/node.h"

namespace dougong::models {

// One entry a spatial dimension.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, before, after; // padding before and after
  std::vector<int64_t> output;                                    // spatial extents of the result
};

std::vector<int64_t> kernel_of(const Node &node, const Value *weights); // their spatial extents

// From the attributes strides, dilations, pads, auto_pad (and ceil_mode). `input` is the shape [N, C, spatial …].
Window window_of(const Node &node, const Shape &input, std::vector<int64_t> kernel);

// x [N, C, spatial …], w [M, C/groups, kernel …] → [N, M, spatial …] of `accumulator`, channels last.
Value *convolve(Node &node, Value *x, Value *w, const Window &window, int64_t groups, ElementType accumulator);

// One value a channel, ready to broadcast over [N, C, spatial …].
Value *per_channel(Emitter &e, Value *vector, int64_t rank);

inline ElementType accumulator_for(ElementType type) { return is_half(type) ? ElementType::F32 : type; }

} // namespace dougong::models
