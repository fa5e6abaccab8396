// What a copy that adds does to a run of elements (isa/commands.h). Built once per host level (host_level.h).
#include "sim/half_float.h"
#include "sim/host_level.h"
#include <cstring>

namespace dougong::sim::DOUGONG_LEVEL {
namespace {

template <typename T, typename F> DG_INLINE void add_each(uint8_t *out, const uint8_t *in, uint64_t count, F sum) {
  for (uint64_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, out + i * sizeof(T), sizeof(T));
    std::memcpy(&b, in + i * sizeof(T), sizeof(T));
    a = sum(a, b);
    std::memcpy(out + i * sizeof(T), &a, sizeof(T));
  }
}

} // namespace

// A sum of two 16-bit floats in f32 has more than twice their bits, so rounding it once more is rounding the exact sum once.
void dma_add(uint8_t type, uint8_t *out, const uint8_t *in, uint64_t count) {
  switch (type) {
  case DG_I8:
  case DG_U8:
    return add_each<uint8_t>(out, in, count, [](uint8_t a, uint8_t b) { return uint8_t(a + b); });
  case DG_I16:
    return add_each<uint16_t>(out, in, count, [](uint16_t a, uint16_t b) { return uint16_t(a + b); });
  case DG_I32:
    return add_each<uint32_t>(out, in, count, [](uint32_t a, uint32_t b) { return a + b; });
  case DG_F16:
    return add_each<uint16_t>(out, in, count, [](uint16_t a, uint16_t b) { return f16_of_f32(f32_of_f16(a) + f32_of_f16(b)); });
  case DG_BF16:
    return add_each<uint16_t>(out, in, count, [](uint16_t a, uint16_t b) { return bf16_of_f32(f32_of_bf16(a) + f32_of_bf16(b)); });
  default:
    return add_each<float>(out, in, count, [](float a, float b) { return canonical32(a + b); });
  }
}

} // namespace dougong::sim::DOUGONG_LEVEL
