// What the importer does to tensors whose data it knows (weights, shapes): reading elements whatever their type, and moving them.
#pragma once
#include "runtime/executor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dougong::models {

using Shape = std::vector<int64_t>;

inline bool is_float(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::F16 || type == ElementType::BF16;
}
inline bool is_half(ElementType type) { return type == ElementType::F16 || type == ElementType::BF16; }
inline bool is_unsigned(ElementType type) { return type >= ElementType::U8 && type <= ElementType::Bool; }
inline bool is_integer(ElementType type) { return !is_float(type) && type != ElementType::Bool; }

int64_t truncated(double value); // the nearest i64 where it is out of range, 0 of a NaN
// Element `i` in row-major order. An integer of a float is truncated.
double real_at(const Tensor &tensor, int64_t i);
int64_t integer_at(const Tensor &tensor, int64_t i);
void set_real(Tensor &tensor, int64_t i, double value);
void set_integer(Tensor &tensor, int64_t i, int64_t value);

std::vector<int64_t> integers_of(const Tensor &tensor);
std::vector<double> reals_of(const Tensor &tensor);
Tensor tensor_of(ElementType type, Shape shape, llvm::ArrayRef<double> values);
// Throws a ModelError unless every dimension is at least 0 and all elements together take at most so many bytes.
void check_size(ElementType type, const Shape &shape, int64_t most_bytes = int64_t(1) << 42);
// Zeros, at most 2 GiB unless told: what is made of constants at import may be far larger than they are.
Tensor zeros(ElementType type, const Shape &shape, int64_t most_bytes = int64_t(1) << 31);
Tensor counting(const Shape &shape);                       // 0, 1, 2, … in row-major order, i64
Tensor tensor_of_integers(llvm::ArrayRef<int64_t> values); // rank 1, i64

bool all_equal(const Tensor &tensor); // and not empty

// A tensor of `shape` whose element at each index is `source`'s at the row-major position that `from` gives.
Tensor rearranged(const Tensor &source, const Shape &shape, llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)> from);
Tensor transposed(const Tensor &source, llvm::ArrayRef<int64_t> permutation);
Tensor with_shape(Tensor tensor, Shape shape);
Tensor converted(const Tensor &source, ElementType type);

// A contraction's weights [… , output] to a 16-bit type, so that in the sum over all but the last dimension the rounding errors
// cancel: each element is one of its two neighbours, and what it lacks is carried to the next. What the weights see is often
// nearly constant (a white page), and errors that add up over it are what 16-bit weights do most harm with: on PP-OCRv4
// detection, emulated on a drawn page, 199 pixels of 29565 flip with weights rounded to nearest, 79 so.
Tensor rounded_for_sums(const Tensor &source, ElementType type);

std::vector<int64_t> row_major_strides(llvm::ArrayRef<int64_t> shape);
// Steps `index` to the next one in row-major order; false after the last.
bool next_index(std::vector<int64_t> &index, llvm::ArrayRef<int64_t> shape);

} // namespace dougong::models
