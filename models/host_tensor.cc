// Reading, writing and moving elements of tensors in host memory, for all element types.
#include "models/host_tensor.h"
#include "models/model_error.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace dougong::models {
namespace {

float from_bfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

uint16_t to_bfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return 0x7fc0;
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Of a float truncated, and from 2^63 to 2^64 the bits of an unsigned number.
template <typename From> int64_t whole(From value) {
  if constexpr (!std::is_floating_point_v<From>)
    return int64_t(value);
  else
    return value >= 0x1p63 && value < 0x1p64 ? int64_t(uint64_t(value)) : truncated(value);
}

template <typename T> T get(const Tensor &tensor, int64_t i) { return tensor.as<T>()[i]; }

// Calls `use` with the element as the C++ type that has its values.
template <typename Result, typename Use> Result read(const Tensor &tensor, int64_t i, Use use) {
  switch (tensor.type) {
  case ElementType::F16:
    return use(float(get<_Float16>(tensor, i)));
  case ElementType::BF16:
    return use(from_bfloat(get<uint16_t>(tensor, i)));
  case ElementType::F32:
    return use(get<float>(tensor, i));
  case ElementType::F64:
    return use(get<double>(tensor, i));
  case ElementType::I8:
    return use(get<int8_t>(tensor, i));
  case ElementType::I16:
    return use(get<int16_t>(tensor, i));
  case ElementType::I32:
    return use(get<int32_t>(tensor, i));
  case ElementType::I64:
    return use(get<int64_t>(tensor, i));
  case ElementType::U8:
    return use(get<uint8_t>(tensor, i));
  case ElementType::U16:
    return use(get<uint16_t>(tensor, i));
  case ElementType::U32:
    return use(get<uint32_t>(tensor, i));
  case ElementType::U64:
    return use(get<uint64_t>(tensor, i));
  case ElementType::Bool:
    return use(get<uint8_t>(tensor, i) != 0);
  }
  __builtin_unreachable();
}

template <typename From> void write(Tensor &tensor, int64_t i, From value) {
  switch (tensor.type) {
  case ElementType::F16:
    tensor.as<_Float16>()[i] = _Float16(value);
    return;
  case ElementType::BF16:
    tensor.as<uint16_t>()[i] = to_bfloat(float(value));
    return;
  case ElementType::F32:
    tensor.as<float>()[i] = float(value);
    return;
  case ElementType::F64:
    tensor.as<double>()[i] = double(value);
    return;
  case ElementType::I8:
    tensor.as<int8_t>()[i] = int8_t(whole(value));
    return;
  case ElementType::I16:
    tensor.as<int16_t>()[i] = int16_t(whole(value));
    return;
  case ElementType::I32:
    tensor.as<int32_t>()[i] = int32_t(whole(value));
    return;
  case ElementType::I64:
    tensor.as<int64_t>()[i] = std::is_floating_point_v<From> ? truncated(double(value)) : int64_t(value);
    return;
  case ElementType::U8:
    tensor.as<uint8_t>()[i] = uint8_t(whole(value));
    return;
  case ElementType::U16:
    tensor.as<uint16_t>()[i] = uint16_t(whole(value));
    return;
  case ElementType::U32:
    tensor.as<uint32_t>()[i] = uint32_t(whole(value));
    return;
  case ElementType::U64:
    tensor.as<uint64_t>()[i] = uint64_t(whole(value));
    return;
  case ElementType::Bool:
    tensor.as<uint8_t>()[i] = value != 0;
    return;
  }
}

} // namespace

int64_t truncated(double value) {
  if (std::isnan(value))
    return 0;
  return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : int64_t(value);
}

static void check_index(const Tensor &tensor, int64_t i) {
  if (uint64_t(i) >= tensor.bytes.size() / size_in_bytes(tensor.type))
    invalid("element {} of a tensor of shape {}", i, shape_text(tensor.shape));
}

double real_at(const Tensor &tensor, int64_t i) {
  check_index(tensor, i);
  return read<double>(tensor, i, [](auto value) { return double(value); });
}
int64_t integer_at(const Tensor &tensor, int64_t i) {
  check_index(tensor, i);
  return read<int64_t>(tensor, i, [](auto value) { return whole(value); });
}
void set_real(Tensor &tensor, int64_t i, double value) { write(tensor, i, value); }
void set_integer(Tensor &tensor, int64_t i, int64_t value) { write(tensor, i, value); }

std::vector<int64_t> integers_of(const Tensor &tensor) {
  std::vector<int64_t> values(element_count(tensor.shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = integer_at(tensor, i);
  return values;
}

std::vector<double> reals_of(const Tensor &tensor) {
  std::vector<double> values(element_count(tensor.shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = real_at(tensor, i);
  return values;
}

Tensor tensor_of(ElementType type, Shape shape, llvm::ArrayRef<double> values) {
  Tensor tensor(type, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i)
    set_real(tensor, i, values[i]);
  return tensor;
}

void check_size(ElementType type, const Shape &shape, int64_t most_bytes) {
  int64_t bytes = size_in_bytes(type);
  bool empty = llvm::is_contained(shape, 0);
  for (int64_t extent : shape)
    if (extent < 0 || (!empty && __builtin_mul_overflow(bytes, extent, &bytes)) || bytes > most_bytes)
      invalid("a tensor of shape {} and type {}, larger than {} GiB or of no size", shape_text(shape), name(type), most_bytes >> 30);
}

Tensor zeros(ElementType type, const Shape &shape, int64_t most_bytes) {
  check_size(type, shape, most_bytes);
  return Tensor(type, shape);
}

Tensor counting(const Shape &shape) {
  Tensor tensor = zeros(ElementType::I64, shape);
  std::iota(tensor.as<int64_t>(), tensor.as<int64_t>() + element_count(shape), 0);
  return tensor;
}

Tensor tensor_of_integers(llvm::ArrayRef<int64_t> values) {
  Tensor tensor(ElementType::I64, {int64_t(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<int64_t>());
  return tensor;
}

bool all_equal(const Tensor &tensor) {
  size_t width = size_in_bytes(tensor.type);
  return tensor.bytes.size() >= width && std::memcmp(tensor.bytes.data(), tensor.bytes.data() + width, tensor.bytes.size() - width) == 0;
}

Tensor rearranged(const Tensor &source, const Shape &shape, llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)> from) {
  Tensor result = zeros(source.type, shape, std::max(int64_t(source.bytes.size()), int64_t(1) << 31));
  size_t width = size_in_bytes(source.type), position = 0;
  if (result.bytes.empty())
    return result;
  std::vector<int64_t> index(shape.size());
  do {
    std::memcpy(result.bytes.data() + position, source.bytes.data() + from(index) * width, width);
    position += width;
  } while (next_index(index, shape));
  return result;
}

Tensor transposed(const Tensor &source, llvm::ArrayRef<int64_t> permutation) {
  std::vector<int64_t> strides = row_major_strides(source.shape);
  Shape shape, step;
  for (int64_t axis : permutation) {
    shape.push_back(source.shape[axis]);
    step.push_back(strides[axis]);
  }
  return rearranged(source, shape, [&](llvm::ArrayRef<int64_t> index) {
    int64_t position = 0;
    for (size_t d = 0; d < index.size(); ++d)
      position += index[d] * step[d];
    return position;
  });
}

Tensor with_shape(Tensor tensor, Shape shape) {
  tensor.shape = std::move(shape);
  return tensor;
}

Tensor converted(const Tensor &source, ElementType type) {
  if (source.type == type)
    return source;
  Tensor result(type, source.shape);
  for (int64_t i = 0, n = element_count(source.shape); i < n; ++i)
    read<int>(source, i, [&](auto value) { return write(result, i, value), 0; });
  return result;
}

// The next 16-bit float in direction `sign`, by its bits: sign and magnitude.
static uint16_t neighbour(uint16_t bits, bool up) {
  if ((bits & 0x7fff) == 0)
    return up ? 1 : 0x8001;
  bool negative = bits & 0x8000;
  return uint16_t(negative == up ? bits - 1 : bits + 1);
}

Tensor rounded_for_sums(const Tensor &source, ElementType type) {
  Tensor result = converted(source, type), other(type, {1});
  int64_t columns = source.shape.empty() ? 1 : source.shape.back();
  std::vector<double> carried(columns, 0);
  for (int64_t i = 0, n = element_count(source.shape); i < n; ++i) {
    double exact = real_at(source, i), nearest = real_at(result, i), wanted = exact + carried[i % columns];
    if (nearest != exact && std::isfinite(nearest)) {
      other.as<uint16_t>()[0] = neighbour(result.as<uint16_t>()[i], nearest < exact);
      double second = real_at(other, 0);
      if (std::isfinite(second) && std::fabs(second - wanted) < std::fabs(nearest - wanted)) {
        result.as<uint16_t>()[i] = other.as<uint16_t>()[0];
        nearest = second;
      }
    }
    if (std::isfinite(nearest))
      carried[i % columns] = wanted - nearest;
  }
  return result;
}

std::vector<int64_t> row_major_strides(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

bool next_index(std::vector<int64_t> &index, llvm::ArrayRef<int64_t> shape) {
  for (size_t d = index.size(); d-- > 0;) {
    if (++index[d] < shape[d])
      return true;
    index[d] = 0;
  }
  return false;
}

} // namespace dougong::models
