// What a semantics snippet of isa/*.td can name (isa/README.md has the table). The generator wraps each snippet into a member
// function of a class derived from this one, which the optimiser takes apart again: nothing of it exists at run time.
//
// Included by sources of a host level too: everything is in a namespace of its own there.
#pragma once
#include "sim/core.h"
#include "sim/fp.h"
#include "sim/half_float.h"
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifndef DOUGONG_LEVEL
#define DOUGONG_LEVEL scalar
#endif

namespace dougong::sim::DOUGONG_LEVEL {

// Inside the level's namespace, so that each level has functions of its own.
#include "isa/lane.h"

#define DG_MEMBER __attribute__((always_inline)) inline

namespace fp {
using namespace dougong::sim::fp;
DG_INLINE float from_f16(uint16_t x) { return canonical32(f32_of_f16(x)); }
DG_INLINE float from_bf16(uint16_t x) { return canonical32(f32_of_bf16(x)); }
DG_INLINE float from_f8e4m3(uint8_t x) { return canonical32(f32_of_f8e4m3(x)); }
DG_INLINE float from_f8e5m2(uint8_t x) { return canonical32(f32_of_f8e5m2(x)); }
DG_INLINE uint8_t to_f8e4m3(float x) { return f8e4m3_of_f32(x); }
DG_INLINE uint8_t to_f8e5m2(float x) { return f8e5m2_of_f32(x); }
DG_INLINE uint16_t to_f16(float x) { return f16_of_f32(x); }
DG_INLINE uint16_t to_f16(double x) { return f16_of_f64(x); }
DG_INLINE uint16_t to_bf16(float x) { return bf16_of_f32(x); }
DG_INLINE uint16_t to_bf16(double x) { return bf16_of_f64(x); }
} // namespace fp

struct Environment {
  const Op *op;
  Core &core;
  uint64_t &flags = core.fflags;
  uint64_t address = 0;  // of the memory access, for timing
  uint64_t accessed = 0; // its bytes, of a vector access
  bool jumped = false;
  uint64_t target = 0;

  DG_MEMBER Environment(const Op *op, Core *core) : op(op), core(*core) {}

  DG_MEMBER int rounding(int64_t mode) {
    if (mode == 7)
      mode = core.frm;
    if (mode > 4) [[unlikely]]
      core.fault(op, "illegal instruction: reserved rounding mode");
    return int(mode);
  }

  DG_MEMBER void jump(uint64_t to) { jumped = true, target = to; }

  DG_MEMBER uint8_t *host(uint64_t at, uint64_t size, bool write) {
    address = at;
    if (const Core::Window &last = core.windows[0]; at - last.begin < last.limit) [[likely]]
      return last.host + (at - last.begin);
    if (at - DG_LM_BASE < core.lm_limit)
      return core.lm + (at - DG_LM_BASE);
    return core.access(op, at, size, write);
  }
  template <typename T> DG_MEMBER uint64_t aligned(uint64_t at) {
    if (at % sizeof(T)) [[unlikely]]
      core.misaligned(op, at, sizeof(T));
    return at;
  }
  template <typename T> DG_MEMBER T load(uint64_t at) {
    T value;
    std::memcpy(&value, host(at, sizeof(T), false), sizeof(T));
    return value;
  }
  template <typename T> DG_MEMBER void store(uint64_t at, T value) { std::memcpy(host(at, sizeof(T), true), &value, sizeof(T)); }

  DG_MEMBER uint8_t *lm_bytes(uint64_t at, uint64_t size, bool write) {
    address = at, accessed += size;
    if (core.checked) [[unlikely]]
      return core.access_vector_checked(op, at, size, write);
    if (at - DG_LM_BASE < core.lm_bytes && size <= core.lm_bytes - (at - DG_LM_BASE)) [[likely]]
      return core.lm + (at - DG_LM_BASE);
    return core.vector_access(op, at, size);
  }
  DG_MEMBER const uint8_t *vector_bytes(uint64_t at, uint64_t size) {
    core.count.lm_read += size;
    return lm_bytes(at, size, false);
  }
  DG_MEMBER uint8_t *vector_bytes_mut(uint64_t at, uint64_t size) {
    core.count.lm_written += size;
    return lm_bytes(at, size, true);
  }

  static DG_MEMBER float f32(uint64_t x) { return std::bit_cast<float>(uint32_t(x)); }
  static DG_MEMBER double f64(uint64_t x) { return std::bit_cast<double>(x); }
  static DG_MEMBER uint64_t bits(float f) { return uint64_t(int64_t(std::bit_cast<int32_t>(f))); }
  static DG_MEMBER uint64_t bits(double f) { return std::bit_cast<uint64_t>(f); }
  static DG_MEMBER float canonical(float f) { return f == f ? f : std::bit_cast<float>(0x7fc00000u); }
  static DG_MEMBER double canonical(double f) { return f == f ? f : std::bit_cast<double>(0x7ff8000000000000ull); }
};

} // namespace dougong::sim::DOUGONG_LEVEL
