// The element types of tensors at the runtime's boundary, by name: "f32", "i64", … , as artifacts and tools spell them.
//
// Kernels know signless integers (MLIR's i8); here signedness counts, since a user's array has it.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dougong {

enum class ElementType : uint8_t { F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool };

struct ElementTypeInfo {
  ElementType type;
  std::string_view name;
  unsigned bytes;
  std::string_view numpy; // the kind and size that a .npy header gives; bfloat16 has none
};

inline constexpr std::array<ElementTypeInfo, 13> element_types{{
    {ElementType::F16, "f16", 2, "f2"},
    {ElementType::BF16, "bf16", 2, ""},
    {ElementType::F32, "f32", 4, "f4"},
    {ElementType::F64, "f64", 8, "f8"},
    {ElementType::I8, "i8", 1, "i1"},
    {ElementType::I16, "i16", 2, "i2"},
    {ElementType::I32, "i32", 4, "i4"},
    {ElementType::I64, "i64", 8, "i8"},
    {ElementType::U8, "u8", 1, "u1"},
    {ElementType::U16, "u16", 2, "u2"},
    {ElementType::U32, "u32", 4, "u4"},
    {ElementType::U64, "u64", 8, "u8"},
    {ElementType::Bool, "bool", 1, "b1"},
}};

constexpr std::string_view name(ElementType type) { return element_types[unsigned(type)].name; }
constexpr unsigned size_in_bytes(ElementType type) { return element_types[unsigned(type)].bytes; }

constexpr std::optional<ElementType> element_type(std::string_view name) {
  for (const ElementTypeInfo &info : element_types)
    if (info.name == name)
      return info.type;
  return std::nullopt;
}

inline int64_t element_count(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

// "1x3x640x640"; "scalar" for rank 0.
std::string shape_text(const std::vector<int64_t> &shape);

} // namespace dougong
