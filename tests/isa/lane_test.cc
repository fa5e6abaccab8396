// The bounds that isa/lane.h states, against double arithmetic of the host's C library: every 509th float, all 2^32 with DOUGONG_LONG.
#include "isa/lane.h"
#include <cstdlib>
#include <gtest/gtest.h>

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

} // namespace
