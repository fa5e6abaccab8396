// The bounds that isa/lane.h states, against double arithmetic of the host's C library: every 509th float, all 2^32 with DOUGONG_LONG.
#include "isa/lane.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

namespace {

// The distance of `got` from `want` in units of the last place of an f32 as large as `want`.
double ulps(float got, double want) {
  double magnitude = std::fabs(want);
  double ulp = magnitude < 0x1p-126 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(magnitude) - 23);
  return std::fabs(double(got) - want) / ulp;
}

template <typename Check> void for_many_floats(Check check) {
  uint64_t step = std::getenv("DOUGONG_LONG") ? 1 : 509;
  for (uint64_t b = 0; b < uint64_t(1) << 32; b += step)
    if (float a = lane::from_bits(uint32_t(b)); a == a)
      check(a);
}

bool same_bits(float a, float b) { return lane::bits(a) == lane::bits(b); }
const float inf = lane::infinity();
const float nan_with_payload = lane::from_bits(0xff812345u);

TEST(Lane, exp2_is_within_its_bound) {
  double worst = 0;
  for_many_floats([&](float a) {
    if (a > -151 && a < 128)
      worst = std::max(worst, ulps(lane::exp2(a), std::exp2(double(a))));
  });
  EXPECT_LT(worst, 0.9);
  EXPECT_GT(worst, 0.5); // an approximation: if it were exact, the measure would be wrong
}

TEST(Lane, exp2_of_integers_is_exact) {
  for (int n = -149; n < 128; ++n)
    EXPECT_EQ(lane::exp2(float(n)), std::ldexp(1.0f, n)) << n;
}

TEST(Lane, exp2_at_the_ends) {
  EXPECT_EQ(lane::exp2(128), inf);
  EXPECT_EQ(lane::exp2(inf), inf);
  EXPECT_EQ(lane::exp2(-inf), 0.0f);
  EXPECT_EQ(lane::exp2(-150), 0.0f); // a tie: to even
  EXPECT_TRUE(same_bits(lane::exp2(nan_with_payload), lane::nan()));
}

TEST(Lane, log2_is_within_its_bound) {
  double worst = 0;
  for_many_floats([&](float a) {
    if (a > 0 && a < inf && a != 1)
      worst = std::max(worst, ulps(lane::log2(a), std::log2(double(a))));
  });
  EXPECT_LT(worst, 1.7);
  EXPECT_GT(worst, 0.5);
}

TEST(Lane, log2_of_powers_of_two_is_exact) {
  for (int n = -149; n < 128; ++n)
    EXPECT_EQ(lane::log2(std::ldexp(1.0f, n)), float(n)) << n;
}

TEST(Lane, log2_at_the_ends) {
  EXPECT_EQ(lane::log2(0.0f), -inf);
  EXPECT_EQ(lane::log2(-0.0f), -inf);
  EXPECT_EQ(lane::log2(inf), inf);
  EXPECT_TRUE(same_bits(lane::log2(-1.0f), lane::nan()));
  EXPECT_TRUE(same_bits(lane::log2(-inf), lane::nan()));
  EXPECT_TRUE(same_bits(lane::log2(nan_with_payload), lane::nan()));
}

TEST(Lane, tanh_is_within_its_bound) {
  double worst = 0;
  for_many_floats([&](float a) { worst = std::max(worst, ulps(lane::tanh(a), std::tanh(double(a)))); });
  EXPECT_LT(worst, 1.4);
  EXPECT_GT(worst, 0.5);
}

TEST(Lane, tanh_at_the_ends) {
  EXPECT_EQ(lane::tanh(inf), 1.0f);
  EXPECT_EQ(lane::tanh(-inf), -1.0f);
  EXPECT_TRUE(same_bits(lane::tanh(-0.0f), -0.0f));
  EXPECT_TRUE(same_bits(lane::tanh(nan_with_payload), lane::nan()));
}

TEST(Lane, round_even_is_the_hosts) {
  for_many_floats([&](float a) {
    if (!same_bits(lane::round_even(a), std::nearbyint(a)))
      FAIL() << a;
  });
}

TEST(Lane, conversions_saturate) {
  EXPECT_EQ(lane::to_i32(2147483648.0f), INT32_MAX);
  EXPECT_EQ(lane::to_i32(-2147483648.0f), INT32_MIN);
  EXPECT_EQ(lane::to_i32(-3e9f), INT32_MIN);
  EXPECT_EQ(lane::to_i32(-1.9f), -1);
  EXPECT_EQ(lane::to_i32(nan_with_payload), 0);
  EXPECT_EQ(lane::to_u32(-1.0f), 0u);
  EXPECT_EQ(lane::to_u32(4294967040.0f), 4294967040u);
  EXPECT_EQ(lane::to_u32(inf), UINT32_MAX);
  EXPECT_EQ(lane::to_u32(nan_with_payload), 0u);
}

// IEEE 754-2019, 9.6: zeros are ordered; `number` forms drop a NaN, the others keep it.
TEST(Lane, minimum_and_maximum) {
  EXPECT_TRUE(same_bits(lane::minimum(0.0f, -0.0f), -0.0f));
  EXPECT_TRUE(same_bits(lane::maximum(-0.0f, 0.0f), 0.0f));
  EXPECT_TRUE(same_bits(lane::minimum_number(-0.0f, 0.0f), -0.0f));
  EXPECT_EQ(lane::minimum_number(nan_with_payload, 1), 1.0f);
  EXPECT_EQ(lane::maximum_number(1, nan_with_payload), 1.0f);
  EXPECT_TRUE(same_bits(lane::maximum_number(nan_with_payload, nan_with_payload), lane::nan()));
  EXPECT_TRUE(same_bits(lane::minimum(nan_with_payload, 1), lane::nan()));
  EXPECT_TRUE(same_bits(lane::maximum(1, nan_with_payload), lane::nan()));
  EXPECT_EQ(lane::minimum(-inf, 3), -inf);
  EXPECT_EQ(lane::maximum_number(-7, -8), -7.0f);
}

TEST(Lane, order_of_16_bit_floats_is_that_of_their_values) {
  for (uint32_t i = 0; i < 0x10000; i += 7)
    for (uint32_t j = 0; j < 0x10000; j += 101) {
      uint16_t a = uint16_t(i), b = uint16_t(j);
      float x = lane::from_bits(i << 16), y = lane::from_bits(j << 16); // as bf16
      if (x == x && y == y && x != y)
        ASSERT_EQ(lane::least16(a, b), x < y ? a : b) << i << " " << j;
      ASSERT_EQ(lane::is_nan16<lane::bf16>(a), x != x) << i;
    }
  EXPECT_EQ(lane::minimum16<lane::f16>(0x0000, 0x8000), 0x8000);
  EXPECT_EQ(lane::maximum_number16<lane::f16>(0x8000, 0x0000), 0x0000);
  EXPECT_EQ(lane::minimum_number16<lane::f16>(0xfc00, 0x7c01), 0xfc00);
  EXPECT_EQ(lane::minimum16<lane::f16>(0xfc00, 0x7c01), 0x7e00);
  EXPECT_EQ(lane::maximum_number16<lane::bf16>(0xffff, 0x7f81), 0x7fc0);
}

TEST(Lane, saturate_keeps_what_fits) {
  for (int64_t a = INT32_MIN; a <= INT32_MAX; a += a > -70000 && a < 70000 ? 1 : 65521) {
    ASSERT_EQ(lane::saturate<int8_t>(int32_t(a)), a < -128 ? -128 : a > 127 ? 127 : a);
    ASSERT_EQ(lane::saturate<uint8_t>(int32_t(a)), a < 0 ? 0 : a > 255 ? 255 : a);
    ASSERT_EQ(lane::saturate<int16_t>(int32_t(a)), a < -32768 ? -32768 : a > 32767 ? 32767 : a);
    ASSERT_EQ(lane::saturate<uint16_t>(int32_t(a)), a < 0 ? 0 : a > 65535 ? 65535 : a);
  }
  EXPECT_EQ(lane::saturate<uint16_t>(INT32_MAX), 65535);
}

// An f16 is a whole number of 2^-24, so that products and sums are exact in 128 bits.
TEST(Lane, fma_odd_is_exact_or_odd) {
  std::mt19937 random(1);
  uint64_t odd = 0;
  for (int n = 0; n < 1000000; ++n) {
    int64_t whole[3];
    float value[3];
    for (int i = 0; i < 3; ++i) {
      whole[i] = int64_t(random() & 0x7ff) << (random() % 30);
      whole[i] = random() & 1 ? -whole[i] : whole[i];
      value[i] = float(whole[i]) * 0x1p-24f;
    }
    __int128 exact = __int128(whole[0]) * whole[1] + (__int128(whole[2]) << 24);
    float got = lane::fma_odd(value[0], value[1], value[2]);
    __int128 difference = __int128(double(got) * 0x1p48) - exact;
    if (difference == 0)
      continue;
    ++odd;
    ASSERT_TRUE(lane::bits(got) & 1) << n;
    double place = std::ldexp(0x1p48, std::ilogb(got) - 23);
    ASSERT_LT(std::fabs(double(difference)), place) << n;
  }
  EXPECT_GT(odd, 100000u); // else nothing was tested
  EXPECT_EQ(lane::fma_odd(inf, 1.0f, 2.0f), inf);
  EXPECT_TRUE(std::isnan(lane::fma_odd(inf, 0.0f, 2.0f)));
  EXPECT_TRUE(std::isnan(lane::fma_odd(inf, 1.0f, -inf)));
}

} // namespace
