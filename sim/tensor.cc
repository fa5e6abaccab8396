// The tensor engine's arithmetic, bit for bit as isa/commands.h says: for every output k ascends, and each step is one fused f32
// multiply-add. Outputs are independent, so they may be computed in any order and side by side, k may not be reordered.
//
// Operands are first brought into panels of f32 (or pairs of 16-bit integers), which also walks the address generators:
//
//   A panel  [m / rows][k][rows]     B panel  [n / columns][k][columns]      a tile: rows × columns accumulators in host registers
//
// Built once per host level (host_level.h).
#include "isa/machine_layout.h"
#include "sim/half_float.h"
#include "sim/host_level.h"
#include "sim/host_vectors.h"
#include <cstdlib>
#include <cstring>

namespace dougong::sim::DOUGONG_LEVEL {
namespace {

constexpr int tile_rows = lanes == 16 ? 8 : 6; // as many as the host has registers for
constexpr int tile_columns = 2 * lanes;

// Scratch that grows and is kept; one device runs on one thread at a time.
template <typename T> struct Scratch {
  T *data = nullptr;
  size_t capacity = 0;
  T *get(size_t count) {
    if (count > capacity) {
      std::free(data);
      capacity = count + count / 2;
      data = static_cast<T *>(std::aligned_alloc(64, (capacity * sizeof(T) + 63) / 64 * 64));
    }
    return data;
  }
};

template <typename T> DG_INLINE T read(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

struct F16 {
  static constexpr int bytes = 2;
  using Out = float;
  DG_INLINE float get(const uint8_t *at) { return f32_of_f16(read<uint16_t>(at)); }
};
struct BF16 {
  static constexpr int bytes = 2;
  using Out = float;
  DG_INLINE float get(const uint8_t *at) { return f32_of_bf16(read<uint16_t>(at)); }
};
struct F8E4M3 {
  static constexpr int bytes = 1;
  using Out = float;
  DG_INLINE float get(const uint8_t *at) { return f32_of_f8e4m3(*at); }
};
struct F8E5M2 {
  static constexpr int bytes = 1;
  using Out = float;
  DG_INLINE float get(const uint8_t *at) { return f32_of_f8e5m2(*at); }
};
struct I8 {
  static constexpr int bytes = 1;
  using Out = int16_t;
  DG_INLINE int16_t get(const uint8_t *at) { return static_cast<int8_t>(*at); }
};
struct U8 {
  static constexpr int bytes = 1;
  using Out = int16_t;
  DG_INLINE int16_t get(const uint8_t *at) { return *at; }
};

// Calls per_run(k, offset, count) for each run of k along the last dimension.
template <typename F> DG_INLINE void for_k_runs(const dg_tensor_command &c, const int32_t (&stride)[3], F per_run) {
  uint32_t k = 0;
  for (uint32_t k0 = 0; k0 < c.k[0]; ++k0)
    for (uint32_t k1 = 0; k1 < c.k[1]; ++k1, k += c.k[2])
      per_run(k, int64_t(k0) * stride[0] + int64_t(k1) * stride[1]);
}

// A[m, k] → panel[(m / rows)·depth·rows + k/pair·rows·pair + (m % rows)·pair + k%pair]. `pair` is 1 for floats, 2 for integers.
template <typename E, int pair> void pack_a(const dg_tensor_command &c, const uint8_t *lm, typename E::Out *panel, size_t depth) {
  typename E::Out row[4096];
  uint32_t m = 0;
  for (uint32_t m0 = 0; m0 < c.m[0]; ++m0)
    for (uint32_t m1 = 0; m1 < c.m[1]; ++m1, ++m) {
      const uint8_t *base = lm + c.a + int64_t(m0) * c.a_m_stride[0] + int64_t(m1) * c.a_m_stride[1];
      typename E::Out *out = panel + size_t(m / tile_rows) * depth * tile_rows + size_t(m % tile_rows) * pair;
      for_k_runs(c, c.a_k_stride, [&](uint32_t k, int64_t offset) {
        const uint8_t *from = base + offset;
        for (uint32_t done = 0; done < c.k[2]; done += 4096) {
          uint32_t count = c.k[2] - done < 4096 ? c.k[2] - done : 4096;
          if (c.a_k_stride[2] == E::bytes)
            for (uint32_t i = 0; i < count; ++i)
              row[i] = E::get(from + int64_t(done + i) * E::bytes);
          else
            for (uint32_t i = 0; i < count; ++i)
              row[i] = E::get(from + int64_t(done + i) * c.a_k_stride[2]);
          for (uint32_t i = 0; i < count; ++i) {
            size_t at = k + done + i;
            out[at / pair * pair * tile_rows + at % pair] = row[i];
          }
        }
      });
    }
}

// B[k, n] → panel[(n / columns)·depth·columns + k/pair·columns·pair + (n % columns)·pair + k%pair].
template <typename E, int pair> void pack_b(const dg_tensor_command &c, const uint8_t *lm, typename E::Out *panel, size_t depth) {
  for_k_runs(c, c.b_k_stride, [&](uint32_t k_first, int64_t offset) {
    for (uint32_t k2 = 0; k2 < c.k[2]; ++k2) {
      const uint8_t *base = lm + c.b + offset + int64_t(k2) * c.b_k_stride[2];
      size_t k = k_first + k2;
      typename E::Out *out = panel + k / pair * pair * tile_columns + k % pair;
      for (uint32_t n = 0; n < c.n; n += tile_columns, out += depth * tile_columns) {
        uint32_t count = c.n - n < tile_columns ? c.n - n : tile_columns;
        if (c.b_n_stride == E::bytes)
          for (uint32_t i = 0; i < count; ++i)
            out[i * pair] = E::get(base + size_t(n + i) * E::bytes);
        else
          for (uint32_t i = 0; i < count; ++i)
            out[i * pair] = E::get(base + int64_t(n + i) * c.b_n_stride);
      }
    }
  });
}

DG_INLINE void tile(const float *a, const float *b, size_t depth, Floats (&sum)[tile_rows][2]) {
  for (size_t k = 0; k < depth; ++k, a += tile_rows, b += tile_columns) {
    Floats b0 = load_floats(b), b1 = load_floats(b + lanes);
#pragma clang loop unroll(full)
    for (int r = 0; r < tile_rows; ++r) {
      Floats value = splat(a[r]);
      sum[r][0] = __builtin_elementwise_fma(value, b0, sum[r][0]);
      sum[r][1] = __builtin_elementwise_fma(value, b1, sum[r][1]);
    }
  }
}

DG_INLINE void tile(const int16_t *a, const int16_t *b, size_t depth, Ints (&sum)[tile_rows][2]) {
  for (size_t k = 0; k < depth; k += 2, a += 2 * tile_rows, b += 2 * tile_columns) {
    Ints b0 = load_ints(b), b1 = load_ints(b + 2 * lanes);
#pragma clang loop unroll(full)
    for (int r = 0; r < tile_rows; ++r) {
      Ints value = splat(read<int32_t>(reinterpret_cast<const uint8_t *>(a + 2 * r)));
      sum[r][0] += multiply_pairs(value, b0);
      sum[r][1] += multiply_pairs(value, b1);
    }
  }
}

DG_INLINE Floats canonical(Floats value) { return value == value ? value : splat(std::bit_cast<float>(0x7fc00000u)); }
DG_INLINE Ints canonical(Ints value) { return value; }

template <typename Element, typename Lanes>
void multiply(const dg_tensor_command &c, const Element *a, const Element *b, size_t depth, uint8_t *acc) {
  uint32_t rows = c.m[0] * c.m[1];
  for (uint32_t n = 0; n < c.n; n += tile_columns, b += depth * tile_columns) {
    uint32_t columns = c.n - n < tile_columns ? c.n - n : tile_columns;
    const Element *panel = a;
    for (uint32_t m = 0; m < rows; m += tile_rows, panel += depth * tile_rows) {
      uint32_t height = rows - m < tile_rows ? rows - m : tile_rows;
      Lanes sum[tile_rows][2] = {};
      uint8_t *out = acc + c.acc + int64_t(m) * c.acc_m_stride + 4 * int64_t(n);
      if (c.accumulate)
        for (uint32_t r = 0; r < height; ++r)
          std::memcpy(sum[r], out + int64_t(r) * c.acc_m_stride, columns * 4);
      tile(panel, b, depth, sum);
      for (uint32_t r = 0; r < height; ++r) {
        Lanes result[2] = {canonical(sum[r][0]), canonical(sum[r][1])};
        std::memcpy(out + int64_t(r) * c.acc_m_stride, result, columns * 4);
      }
    }
  }
}

thread_local Scratch<float> float_a, float_b;
thread_local Scratch<int16_t> int_a, int_b;

template <typename E> void run_float(const dg_tensor_command &c, const uint8_t *lm, uint8_t *acc) {
  size_t depth = size_t(c.k[0]) * c.k[1] * c.k[2];
  size_t rows = (c.m[0] * c.m[1] + tile_rows - 1) / tile_rows * tile_rows, columns = (c.n + tile_columns - 1) / tile_columns * tile_columns;
  float *a = float_a.get(rows * depth + 1), *b = float_b.get(columns * depth + 1);
  // The panels' ragged edges are computed and thrown away; they must hold some number.
  if (rows != c.m[0] * c.m[1])
    std::memset(a + (rows - tile_rows) * depth, 0, tile_rows * depth * sizeof(float));
  if (columns != c.n)
    std::memset(b + (columns - tile_columns) * depth, 0, tile_columns * depth * sizeof(float));
  pack_a<E, 1>(c, lm, a, depth);
  pack_b<E, 1>(c, lm, b, depth);
  multiply<float, Floats>(c, a, b, depth, acc);
}

template <typename A, typename B> void run_int(const dg_tensor_command &c, const uint8_t *lm, uint8_t *acc) {
  size_t count = size_t(c.k[0]) * c.k[1] * c.k[2], depth = (count + 1) / 2 * 2;
  size_t rows = (c.m[0] * c.m[1] + tile_rows - 1) / tile_rows * tile_rows, columns = (c.n + tile_columns - 1) / tile_columns * tile_columns;
  int16_t *a = int_a.get(rows * depth + 1), *b = int_b.get(columns * depth + 1);
  if (rows != c.m[0] * c.m[1] || depth != count)
    std::memset(a, 0, rows * depth * sizeof(int16_t));
  if (columns != c.n || depth != count)
    std::memset(b, 0, columns * depth * sizeof(int16_t));
  pack_a<A, 2>(c, lm, a, depth);
  pack_b<B, 2>(c, lm, b, depth);
  multiply<int16_t, Ints>(c, a, b, depth, acc);
}

} // namespace

void tensor(const dg_tensor_command &c, const uint8_t *lm_base, uint8_t *acc) {
  const uint8_t *lm = lm_base - DG_LM_BASE;
  switch (c.a_type) {
  case DG_F16:
    return run_float<F16>(c, lm, acc);
  case DG_BF16:
    return run_float<BF16>(c, lm, acc);
  case DG_F8E4M3:
    return run_float<F8E4M3>(c, lm, acc);
  case DG_F8E5M2:
    return run_float<F8E5M2>(c, lm, acc);
  case DG_I8:
    return c.b_type == DG_I8 ? run_int<I8, I8>(c, lm, acc) : run_int<I8, U8>(c, lm, acc);
  default:
    return c.b_type == DG_I8 ? run_int<U8, I8>(c, lm, acc) : run_int<U8, U8>(c, lm, acc);
  }
}

} // namespace dougong::sim::DOUGONG_LEVEL
