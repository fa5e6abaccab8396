// The tensor engine and the drain against loops written as isa/commands.h reads, at every level of the host's instruction set.
#include "tests/sim/bench_core.h"
#include <bit>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

namespace dougong::sim {
namespace {

float as_float(const uint8_t *at, int type) {
  uint16_t half;
  switch (type) {
  case DG_F16:
    std::memcpy(&half, at, 2);
    return float(std::bit_cast<_Float16>(half));
  case DG_BF16:
    std::memcpy(&half, at, 2);
    return std::bit_cast<float>(uint32_t(half) << 16);
  case DG_F8E5M2:
    return float(std::bit_cast<_Float16>(uint16_t(*at << 8)));
  default: { // E4M3, by its definition
    int exponent = *at >> 3 & 15, fraction = *at & 7;
    if (exponent == 15 && fraction == 7)
      return NAN;
    double value = exponent ? std::ldexp(1 + fraction / 8.0, exponent - 7) : std::ldexp(fraction / 8.0, -6);
    return float(*at & 128 ? -value : value);
  }
  }
}

// To the nearer of the two bf16 neighbours, in f64; a tie to the even one.
uint16_t as_bf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), down = bits & 0xffff0000u, up = down + 0x10000u;
  if (std::isinf(value))
    return uint16_t(bits >> 16);
  // Beyond the greatest finite number the next one up counts as 2^128.
  double above = (up & 0x7f800000u) == 0x7f800000u ? std::copysign(0x1p128, double(value)) : double(std::bit_cast<float>(up));
  double to_down = std::fabs(double(value) - double(std::bit_cast<float>(down))), to_up = std::fabs(above - double(value));
  return uint16_t((to_down < to_up || (to_down == to_up && !(down & 0x10000u)) ? down : up) >> 16);
}

int bytes_of(int type) { return type == DG_F16 || type == DG_BF16 ? 2 : 1; }

// One output, exactly as the header says.
uint32_t reference(const dg_tensor_command &c, BenchCore &bench, uint32_t m0, uint32_t m1, uint32_t n, uint32_t before) {
  bool floats = c.a_type != DG_I8 && c.a_type != DG_U8;
  float sum = c.accumulate ? std::bit_cast<float>(before) : 0.0f;
  uint32_t total = c.accumulate ? before : 0;
  for (uint32_t k0 = 0; k0 < c.k[0]; ++k0)
    for (uint32_t k1 = 0; k1 < c.k[1]; ++k1)
      for (uint32_t k2 = 0; k2 < c.k[2]; ++k2) {
        const uint8_t *a =
            bench.lm(uint64_t(int64_t(c.a) + int64_t(m0) * c.a_m_stride[0] + int64_t(m1) * c.a_m_stride[1] + int64_t(k0) * c.a_k_stride[0] +
                              int64_t(k1) * c.a_k_stride[1] + int64_t(k2) * c.a_k_stride[2]));
        const uint8_t *b = bench.lm(uint64_t(int64_t(c.b) + int64_t(k0) * c.b_k_stride[0] + int64_t(k1) * c.b_k_stride[1] +
                                             int64_t(k2) * c.b_k_stride[2] + int64_t(n) * c.b_n_stride));
        if (floats)
          sum = std::fma(as_float(a, c.a_type), as_float(b, c.b_type), sum);
        else
          total += uint32_t((c.a_type == DG_I8 ? int(int8_t(*a)) : int(*a)) * (c.b_type == DG_I8 ? int(int8_t(*b)) : int(*b)));
      }
  return floats ? (std::isnan(sum) ? 0x7fc00000u : std::bit_cast<uint32_t>(sum)) : total;
}

float drained(const dg_drain_command &c, BenchCore &bench, uint32_t m0, uint32_t m1, uint32_t n) {
  const uint8_t *acc = bench.core().acc.get() + c.acc + int64_t(m0 * c.m[1] + m1) * c.acc_m_stride + 4 * n;
  float value;
  int32_t integer;
  std::memcpy(&value, acc, 4);
  std::memcpy(&integer, acc, 4);
  if (c.acc_type == DG_I32)
    value = float(integer);
  float scale = 1, bias = 0;
  if (c.scale)
    std::memcpy(&scale, bench.lm(c.scale + 4 * n), 4);
  if (c.bias)
    std::memcpy(&bias, bench.lm(c.bias + 4 * n), 4);
  value = std::fma(value, scale, bias);
  if (c.residual) {
    int e = c.residual_type == DG_F32 ? 4 : 2;
    const uint8_t *at =
        bench.lm(uint64_t(int64_t(c.residual) + int64_t(m0) * c.residual_m_stride[0] + int64_t(m1) * c.residual_m_stride[1] + n * e));
    float added;
    if (e == 4)
      std::memcpy(&added, at, 4);
    else
      added = as_float(at, c.residual_type);
    value += added;
  }
  if (std::isnan(value))
    return NAN;
  return std::fmin(std::fmax(value, c.low), c.high);
}

class Tensor : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    level = host_level(GetParam());
    if (!level)
      GTEST_SKIP() << "this host does not run level " << GetParam();
    std::mt19937 random(7);
    any_bits(7);
    for (int64_t i = 0; i < bench.shared.machine.acc_bytes(); ++i)
      bench.core().acc[i] = uint8_t(random());
  }
  void any_bits(unsigned seed) {
    std::mt19937 random(seed);
    for (uint64_t i = 0; i < 512 * 1024; ++i)
      bench.core().lm[i] = uint8_t(random());
  }
  // Finite numbers of everyday size, in the 16-bit float type.
  void fill_halves(uint64_t address, int count, int type) {
    std::mt19937 random(11);
    for (int i = 0; i < count; ++i) {
      float value = float(int(random() % 2001) - 1000) / 256.0f;
      bench.lm_as<uint16_t>(address + 2 * i) =
          type == DG_F16 ? std::bit_cast<uint16_t>(_Float16(value)) : uint16_t(std::bit_cast<uint32_t>(value) >> 16);
    }
  }
  void check(const dg_tensor_command &c) {
    std::vector<uint8_t> before(bench.core().acc.get(), bench.core().acc.get() + bench.shared.machine.acc_bytes());
    level->tensor(c, bench.core().lm, bench.core().acc.get());
    std::vector<uint8_t> expected = before;
    for (uint32_t m0 = 0; m0 < c.m[0]; ++m0)
      for (uint32_t m1 = 0; m1 < c.m[1]; ++m1)
        for (uint32_t n = 0; n < c.n; ++n) {
          int64_t at = c.acc + int64_t(m0 * c.m[1] + m1) * c.acc_m_stride + 4 * n;
          uint32_t old;
          std::memcpy(&old, &before[at], 4);
          uint32_t value = reference(c, bench, m0, m1, n, old);
          std::memcpy(&expected[at], &value, 4);
        }
    ASSERT_EQ(0, std::memcmp(expected.data(), bench.core().acc.get(), expected.size()))
        << "m " << c.m[0] << "x" << c.m[1] << " k " << c.k[0] << "x" << c.k[1] << "x" << c.k[2] << " n " << c.n;
  }
  void check_drain(const dg_drain_command &c, const std::string &what) {
    int e = c.out_type == DG_F32 || c.out_type == DG_I32 ? 4 : c.out_type == DG_I8 || c.out_type == DG_U8 ? 1 : 2;
    level->drain(c, bench.core().lm, bench.core().acc.get());
    for (uint32_t m0 = 0; m0 < c.m[0]; ++m0)
      for (uint32_t m1 = 0; m1 < c.m[1]; ++m1)
        for (uint32_t n = 0; n < c.n; ++n) {
          const uint8_t *out = bench.lm(c.out + m0 * c.out_m_stride[0] + m1 * c.out_m_stride[1] + n * e);
          float value = drained(c, bench, m0, m1, n);
          int64_t got = 0, expected = 0;
          if (c.acc_type == DG_I32 && c.out_type == DG_I32) {
            std::memcpy(&got, out, 4);
            std::memcpy(&expected, bench.core().acc.get() + c.acc + int64_t(m0 * c.m[1] + m1) * c.acc_m_stride + 4 * n, 4);
          } else if (c.out_type == DG_I8 || c.out_type == DG_U8 || c.out_type == DG_I32) {
            double low = c.out_type == DG_I8   ? -128
                         : c.out_type == DG_U8 ? 0
                                               : -2147483648.0,
                   high = c.out_type == DG_I8   ? 127
                          : c.out_type == DG_U8 ? 255
                                                : 2147483647.0;
            double whole = std::isnan(value) ? 0 : std::fmin(std::fmax(std::nearbyint(double(value)), low), high);
            expected = int64_t(whole);
            got = c.out_type == DG_I8 ? int8_t(*out) : c.out_type == DG_U8 ? *out : *reinterpret_cast<const int32_t *>(out);
          } else if (c.out_type == DG_F32) {
            expected = std::isnan(value) ? 0x7fc00000u : std::bit_cast<uint32_t>(value);
            got = *reinterpret_cast<const uint32_t *>(out);
          } else {
            got = *reinterpret_cast<const uint16_t *>(out);
            expected = std::isnan(value)      ? (c.out_type == DG_F16 ? 0x7e00 : 0x7fc0)
                       : c.out_type == DG_F16 ? std::bit_cast<uint16_t>(_Float16(value))
                                              : as_bf16(value);
          }
          ASSERT_EQ(got, expected) << what << ": acc " << int(c.acc_type) << " out " << int(c.out_type) << " at " << m0 << "," << m1 << ","
                                   << n << " of " << value;
        }
  }

  BenchCore bench{phone()};
  const HostLevel *level = nullptr;
};

dg_tensor_command matmul(uint8_t type, uint32_t m, uint32_t n, uint32_t k) {
  dg_tensor_command c{};
  int e = bytes_of(type);
  c.a = DG_LM_BASE, c.b = DG_LM_BASE + 256 * 1024;
  c.a_type = c.b_type = type;
  c.m[0] = 1, c.m[1] = m, c.k[0] = c.k[1] = 1, c.k[2] = k, c.n = n;
  c.a_m_stride[1] = int(k) * e, c.a_k_stride[2] = e, c.b_k_stride[2] = int(n) * e, c.b_n_stride = e, c.acc_m_stride = int(n) * 4;
  return c;
}

TEST_P(Tensor, MatmulsOfEveryTypeAndRaggedSizes) {
  for (int type : {DG_F16, DG_BF16})
    for (auto [m, n, k] : {std::array{8u, 32u, 16u}, {1u, 1u, 1u}, {13u, 37u, 19u}, {64u, 64u, 64u}, {9u, 65u, 7u}, {7u, 31u, 1u}}) {
      dg_tensor_command c = matmul(type, m, n, k);
      fill_halves(c.a, m * k, type);
      fill_halves(c.b, n * k, type);
      for (uint8_t accumulate : {0, 1}) {
        c.accumulate = accumulate;
        check(c);
      }
    }
}

// Subnormals, infinities, NaN; 100,000 sums a type with DOUGONG_LONG, most of one step, since longer ones of any bits end as NaN.
TEST_P(Tensor, AnyBitsOfFloats) {
  for (int type : {DG_F16, DG_BF16, DG_F8E4M3, DG_F8E5M2}) {
    check(matmul(type, 17, 33, 5));
    check(matmul(type, 129, 131, 1));
    for (int round = 0; std::getenv("DOUGONG_LONG") && round < 6; ++round) {
      any_bits(round);
      check(matmul(type, 129, 131, uint32_t(1 + round % 2)));
    }
  }
}

// 100,000 sums a pair of types with DOUGONG_LONG, of any bits.
TEST_P(Tensor, IntegersOfEitherSign) {
  auto check_all = [&](uint32_t m, uint32_t n, uint32_t k) {
    for (int a : {DG_I8, DG_U8})
      for (int b : {DG_I8, DG_U8}) {
        dg_tensor_command c = matmul(DG_I8, m, n, k);
        c.a_type = a, c.b_type = b, c.accumulate = 1;
        check(c);
      }
  };
  for (auto [m, n, k] : {std::array{8u, 32u, 16u}, {5u, 3u, 1u}, {33u, 70u, 129u}})
    check_all(m, n, k);
  for (int round = 0; std::getenv("DOUGONG_LONG") && round < 6; ++round) {
    any_bits(round);
    check_all(129, 131, uint32_t(1 + round * 3));
  }
}

TEST_P(Tensor, WalksTheWindowOfAConvolution) { // 3x3, stride 2, 5 channels out of rows of 24
  dg_tensor_command c{};
  c.a = DG_LM_BASE + 64, c.b = DG_LM_BASE + 256 * 1024, c.acc = 4096;
  c.a_type = c.b_type = DG_F16;
  c.m[0] = 4, c.m[1] = 6, c.k[0] = 3, c.k[1] = 3, c.k[2] = 5, c.n = 20;
  int pixel = 24 * 2, row = 15 * pixel;
  c.a_m_stride[0] = 2 * row, c.a_m_stride[1] = 2 * pixel;
  c.a_k_stride[0] = row, c.a_k_stride[1] = pixel, c.a_k_stride[2] = 2;
  c.b_k_stride[0] = 3 * 5 * 40, c.b_k_stride[1] = 5 * 40, c.b_k_stride[2] = 40, c.b_n_stride = 2;
  c.acc_m_stride = 256;
  fill_halves(DG_LM_BASE, 8000, DG_F16);
  fill_halves(c.b, 2000, DG_F16);
  check(c);
}

TEST_P(Tensor, TransposedAndBackwards) {
  dg_tensor_command c = matmul(DG_F16, 12, 34, 6);
  fill_halves(c.a, 4096, DG_F16);
  fill_halves(c.b, 4096, DG_F16);
  c.b_n_stride = 12, c.b_k_stride[2] = 2; // B stored [n][k]
  c.a = DG_LM_BASE + 4000, c.a_m_stride[1] = -14, c.a_k_stride[2] = 28;
  check(c);
}

TEST_P(Tensor, NoKWritesZerosOrNothing) {
  dg_tensor_command c = matmul(DG_F16, 4, 40, 0);
  c.acc_m_stride = 160;
  check(c);
  c = matmul(DG_I8, 0, 40, 3);
  check(c);
}

TEST_P(Tensor, DrainConvertsEveryType) {
  for (int acc_type : {DG_F32, DG_I32})
    for (int out_type : {DG_F32, DG_F16, DG_BF16, DG_I8, DG_U8, DG_I32})
      for (int variant = 0; variant < 4; ++variant) {
        dg_drain_command c{};
        c.acc = 512, c.out = DG_LM_BASE + 300000, c.acc_type = acc_type, c.out_type = out_type;
        c.m[0] = 3, c.m[1] = 4, c.n = 300, c.acc_m_stride = 1216;
        int e = out_type == DG_F32 || out_type == DG_I32 ? 4 : out_type == DG_I8 || out_type == DG_U8 ? 1 : 2;
        c.out_m_stride[0] = 5000, c.out_m_stride[1] = 300 * e;
        c.low = variant & 1 ? -3.0f : -INFINITY, c.high = variant & 1 ? 6.0f : INFINITY;
        if (variant & 1)
          c.scale = DG_LM_BASE + 1000, c.bias = DG_LM_BASE + 4000;
        if (variant & 2)
          c.residual = DG_LM_BASE + 8000, c.residual_type = variant == 2 ? DG_F16 : DG_F32, c.residual_m_stride[0] = 4800,
          c.residual_m_stride[1] = 1200;
        std::mt19937 random(variant);
        for (int i = 0; i < 3 * 4 * 304; ++i) {
          float value = float(int(random() % 60001) - 30000) / 100.0f;
          int32_t integer = int32_t(random()) >> (random() % 28);
          std::memcpy(bench.core().acc.get() + 512 + 4 * i, acc_type == DG_F32 ? (void *)&value : (void *)&integer, 4);
        }
        for (int i = 0; i < 300; ++i)
          bench.lm_as<float>(DG_LM_BASE + 1000 + 4 * i) = 0.01f * i, bench.lm_as<float>(DG_LM_BASE + 4000 + 4 * i) = float(i % 7) - 3;
        for (int i = 0; i < 3600; ++i)
          bench.lm_as<float>(DG_LM_BASE + 8000 + 4 * i) = float(i % 100) * 0.5f - 20;
        check_drain(c, "variant " + std::to_string(variant));
      }
}

// NaN, infinities, subnormals, overflow and ties: any bits in ACC, scale, bias and residual; a third of them everyday numbers, so that sums
// are not all NaN.
TEST_P(Tensor, DrainOfAnyBits) {
  std::mt19937 random(3);
  auto word = [&]() -> uint32_t {
    switch (random() % 3) {
    case 0:
      return std::bit_cast<uint32_t>(float(int(random() % 4001) - 2000) / 8); // ties of integers among them
    case 1:
      return random();
    default:
      return std::array{0u,          0x80000000u, 1u,          0x807fffffu, 0x00800000u, 0x7f7fffffu, 0x7f800000u,
                        0xff800000u, 0x7fc00000u, 0x7f800001u, 0x477fefffu, 0x477ff000u, 0x33000000u, 0x33000001u,
                        0x38800000u, 0x4effffffu, 0x4f000000u, 0xcf000000u, 0x43000000u, 0x437f8000u}[random() % 20];
    }
  };
  for (int round = 0; round < (std::getenv("DOUGONG_LONG") ? 32 : 1); ++round)
    for (int acc_type : {DG_F32, DG_I32})
      for (int out_type : {DG_F32, DG_F16, DG_BF16, DG_I8, DG_U8, DG_I32})
        for (int variant = 0; variant < 6; ++variant) {
          dg_drain_command c{};
          c.acc = 512, c.out = DG_LM_BASE + 300000, c.acc_type = acc_type, c.out_type = out_type;
          c.m[0] = 3, c.m[1] = 4, c.n = 301, c.acc_m_stride = 1216;
          c.out_m_stride[0] = 5000, c.out_m_stride[1] = 1208;
          c.low = variant & 1 ? -300.5f : -INFINITY, c.high = variant & 1 ? 250.25f : INFINITY;
          if (variant & 1)
            c.scale = DG_LM_BASE + 1000, c.bias = DG_LM_BASE + 4000;
          if (variant >= 2)
            c.residual = DG_LM_BASE + 8000, c.residual_type = std::array{DG_F32, DG_F16, DG_BF16}[size_t(variant) % 3],
            c.residual_m_stride[0] = 4832, c.residual_m_stride[1] = 1208;
          for (int i = 0; i < 3 * 4 * 304; ++i) {
            uint32_t bits = word();
            std::memcpy(bench.core().acc.get() + 512 + 4 * i, &bits, 4);
          }
          for (int i = 0; i < 6000; ++i)
            bench.lm_as<uint32_t>(DG_LM_BASE + 1000 + 4 * i) = word();
          check_drain(c, "any bits, variant " + std::to_string(variant));
        }
}

INSTANTIATE_TEST_SUITE_P(Levels, Tensor, testing::Values("base", "v3", "v4"));

} // namespace
} // namespace dougong::sim
