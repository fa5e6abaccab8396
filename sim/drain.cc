// The drain's arithmetic, ACC → LM (isa/commands.h). Built once per host level (host_level.h).
#include "isa/machine_layout.h"
#include "sim/half_float.h"
#include "sim/host_level.h"
#include <cstring>

namespace dougong::sim::DOUGONG_LEVEL {
namespace {

constexpr uint32_t chunk = 256; // columns at a time

template <typename T> DG_INLINE void store_chunk(uint8_t *out, const float *value, uint32_t count, T convert) {
  decltype(convert(0.0f)) converted[chunk];
  for (uint32_t i = 0; i < count; ++i)
    converted[i] = convert(value[i]);
  std::memcpy(out, converted, count * sizeof(converted[0]));
}

DG_INLINE float rounded_within(float value, float low, float high) {
  float whole = __builtin_rintf(value);
  return value == value ? (whole < low ? low : whole > high ? high : whole) : 0.0f; // NaN gives 0
}

void load_residual(float *into, const uint8_t *from, uint8_t type, uint32_t count) {
  if (type == DG_F32) {
    std::memcpy(into, from, count * 4);
    return;
  }
  uint16_t bits[chunk];
  std::memcpy(bits, from, count * 2);
  if (type == DG_F16)
    for (uint32_t i = 0; i < count; ++i)
      into[i] = f32_of_f16(bits[i]);
  else
    for (uint32_t i = 0; i < count; ++i)
      into[i] = f32_of_bf16(bits[i]);
}

void drain_chunk(const dg_drain_command &c, const uint8_t *acc, const float *scale, const float *bias, const uint8_t *residual,
                 uint8_t *out, uint32_t count) {
  float value[chunk];
  if (c.acc_type == DG_I32) {
    int32_t sums[chunk];
    std::memcpy(sums, acc, count * 4);
    if (c.out_type == DG_I32) {
      std::memcpy(out, sums, count * 4);
      return;
    }
    for (uint32_t i = 0; i < count; ++i)
      value[i] = static_cast<float>(sums[i]);
  } else {
    std::memcpy(value, acc, count * 4);
  }
  for (uint32_t i = 0; i < count; ++i)
    value[i] = __builtin_fmaf(value[i], scale[i], bias[i]);
  if (residual) {
    float added[chunk];
    load_residual(added, residual, c.residual_type, count);
    for (uint32_t i = 0; i < count; ++i)
      value[i] += added[i];
  }
  float low = c.low, high = c.high;
  for (uint32_t i = 0; i < count; ++i) {
    float x = value[i];
    x = x < low ? low : x;
    value[i] = x > high ? high : x;
  }
  switch (c.out_type) {
  case DG_F32:
    return store_chunk(out, value, count, [](float x) { return canonical32(x); });
  case DG_BF16:
    return store_chunk(out, value, count, [](float x) { return bf16_of_f32(x); });
  case DG_F16:
    return store_chunk(out, value, count, [](float x) { return f16_of_f32(x); });
  case DG_I8:
    return store_chunk(out, value, count, [](float x) { return static_cast<int8_t>(rounded_within(x, -128, 127)); });
  case DG_U8:
    return store_chunk(out, value, count, [](float x) { return static_cast<uint8_t>(rounded_within(x, 0, 255)); });
  // 2^31 - 128 is the last f32 below 2^31; what is not less saturates.
  default:
    return store_chunk(out, value, count,
                       [](float x) { return x >= 0x1p31f ? INT32_MAX : static_cast<int32_t>(rounded_within(x, -0x1p31f, 0x7fffff80p0f)); });
  }
}

} // namespace

void drain(const dg_drain_command &c, uint8_t *lm_base, const uint8_t *acc) {
  uint8_t *lm = lm_base - DG_LM_BASE;
  static const int bytes[] = {1, 1, 2, 4, 2, 2, 4};
  int out_bytes = bytes[c.out_type], residual_bytes = c.residual_type < 7 ? bytes[c.residual_type] : 0;
  for (uint32_t n = 0; n < c.n; n += chunk) {
    uint32_t count = c.n - n < chunk ? c.n - n : chunk;
    float scale[chunk], bias[chunk];
    for (uint32_t i = 0; i < count; ++i)
      scale[i] = 1, bias[i] = 0;
    if (c.scale)
      std::memcpy(scale, lm + c.scale + 4 * size_t(n), count * 4);
    if (c.bias)
      std::memcpy(bias, lm + c.bias + 4 * size_t(n), count * 4);
    uint32_t m = 0;
    for (uint32_t m0 = 0; m0 < c.m[0]; ++m0)
      for (uint32_t m1 = 0; m1 < c.m[1]; ++m1, ++m) {
        const uint8_t *residual = c.residual ? lm + c.residual + int64_t(m0) * c.residual_m_stride[0] +
                                                   int64_t(m1) * c.residual_m_stride[1] + size_t(n) * residual_bytes
                                             : nullptr;
        uint8_t *out = lm + c.out + int64_t(m0) * c.out_m_stride[0] + int64_t(m1) * c.out_m_stride[1] + size_t(n) * out_bytes;
        drain_chunk(c, acc + c.acc + int64_t(m) * c.acc_m_stride + 4 * size_t(n), scale, bias, residual, out, count);
      }
  }
}

} // namespace dougong::sim::DOUGONG_LEVEL
