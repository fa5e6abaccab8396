// Rounding modes of the scalar floating point against exact arithmetic: operands with few bits, so that every exact result fits binary128,
// and the nearest floats of each mode are found by comparing distances.
#include "sim/fp.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <utility>

namespace dougong::sim {
namespace {

using Wide = __float128;

// The f32 that `mode` rounds `exact` to; by searching the neighbours of a first guess.
float rounded(Wide exact, int mode) {
  float guess = float(double(exact));
  float below = guess, above = guess;
  while (Wide(below) > exact)
    below = std::nextafter(below, -INFINITY);
  while (below != INFINITY && Wide(std::nextafter(below, INFINITY)) <= exact)
    below = std::nextafter(below, INFINITY);
  above = Wide(below) == exact ? below : std::nextafter(below, INFINITY);
  if (below == above)
    return below;
  Wide to_below = exact - Wide(below), to_above = Wide(above) - exact;
  switch (mode) {
  case fp::rtz:
    return exact > 0 ? below : above;
  case fp::rdn:
    return below;
  case fp::rup:
    return above;
  default:
    break;
  }
  if (to_below != to_above)
    return to_below < to_above ? below : above;
  if (mode == fp::rmm)
    return exact > 0 ? above : below;
  return std::bit_cast<uint32_t>(below) & 1 ? above : below;
}

std::string shown(float f) { return std::to_string(f) + " (" + std::to_string(std::bit_cast<uint32_t>(f)) + ")"; }

TEST(Rounding, EveryModeOfF32) {
  std::mt19937 random(1);
  auto number = [&] {
    // 24 or few bits, exponents near each other: ties happen.
    float value = float(int32_t(random()) >> (random() % 31)) * std::ldexp(1.0f, int(random() % 6) - 3);
    return value == 0 ? 1.0f : value;
  };
  int ties = 0;
  for (int i = 0; i < 60000; ++i) {
    float a = number(), b = number(), c = number() * 0.5f;
    for (int mode = 0; mode < 5; ++mode) {
      uint64_t flags = 0;
      struct {
        Wide exact;
        float got;
        const char *what;
      } cases[] = {
          {Wide(a) + Wide(b), fp::add32(a, b, mode, flags), "add"},
          {Wide(a) - Wide(b), fp::sub32(a, b, mode, flags), "sub"},
          {Wide(a) * Wide(b), fp::mul32(a, b, mode, flags), "mul"},
          {Wide(a) * Wide(b) + Wide(c), fp::fma32(a, b, c, mode, flags), "fma"},
          {Wide(double(a) + double(c) * 0x1p-20), fp::narrow(double(a) + double(c) * 0x1p-20, mode, flags), "narrow"},
      };
      for (auto &test : cases) {
        if (test.exact == 0)
          continue;
        ASSERT_EQ(std::bit_cast<uint32_t>(rounded(test.exact, mode)), std::bit_cast<uint32_t>(test.got))
            << test.what << " mode " << mode << " of " << shown(a) << ", " << shown(b) << ", " << shown(c) << ": " << shown(test.got);
        ties += mode == fp::rmm && rounded(test.exact, fp::rmm) != rounded(test.exact, fp::rne);
      }
    }
  }
  EXPECT_GT(ties, 1000);
}

TEST(Rounding, ToIntegers) {
  struct {
    double value;
    int64_t rne, rtz, rdn, rup, rmm;
  } cases[] = {
      {2.5, 2, 2, 2, 3, 3},
      {3.5, 4, 3, 3, 4, 4},
      {-2.5, -2, -2, -3, -2, -3},
      {0.5, 0, 0, 0, 1, 1},
      {-0.4, 0, 0, -1, 0, 0},
      {1e9 + 0.75, 1000000001, 1000000000, 1000000000, 1000000001, 1000000001},
      {2251799813685249.5, 2251799813685250, 2251799813685249, 2251799813685249, 2251799813685250, 2251799813685250},
  };
  for (auto &test : cases) {
    int64_t expected[] = {test.rne, test.rtz, test.rdn, test.rup, test.rmm};
    for (int mode = 0; mode < 5; ++mode) {
      uint64_t flags = 0;
      EXPECT_EQ(expected[mode], fp::to_int<int64_t>(test.value, mode, flags)) << test.value << " mode " << mode;
      EXPECT_EQ(1u, flags);
    }
  }
  uint64_t flags = 0;
  EXPECT_EQ(INT32_MAX, fp::to_int<int32_t>(NAN, 0, flags));
  EXPECT_EQ(INT32_MIN, fp::to_int<int32_t>(-3e9f, 0, flags));
  EXPECT_EQ(UINT64_MAX, fp::to_int<uint64_t>(INFINITY, 0, flags));
  EXPECT_EQ(0u, fp::to_int<uint32_t>(-1.0f, 0, flags));
  EXPECT_EQ(16u, flags);
  flags = 0;
  EXPECT_EQ(0u, fp::to_int<uint32_t>(-0.5f, fp::rne, flags));
  EXPECT_EQ(1u, flags);
}

TEST(Rounding, FromIntegers) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random() >> (random() % 64);
    for (int mode = 0; mode < 5; ++mode) {
      uint64_t flags = 0;
      ASSERT_EQ(rounded(Wide(bits), mode), (fp::from_int<float, uint64_t>(bits, mode, flags))) << bits << " mode " << mode;
      ASSERT_EQ(rounded(Wide(int64_t(bits)), mode), (fp::from_int<float, int64_t>(int64_t(bits), mode, flags))) << bits << " mode " << mode;
    }
  }
  uint64_t flags = 0;
  EXPECT_EQ(0x1p64f, (fp::from_int<float, uint64_t>(~0ull, fp::rne, flags)));
  EXPECT_EQ(0x1p64, (fp::from_int<double, uint64_t>(~0ull, fp::rup, flags)));
  EXPECT_EQ(1u, flags);
}

TEST(Flags, AreRaisedAsIeeeSays) {
  uint64_t flags = 0;
  auto raised = [&] { return std::exchange(flags, 0); };
  float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  fp::add32(1, 2, 0, flags);
  EXPECT_EQ(0u, raised());
  fp::add32(1, tiny, 0, flags);
  EXPECT_EQ(1u, raised());
  fp::mul32(huge, 2, 0, flags);
  EXPECT_EQ(5u, raised());
  fp::mul32(tiny, 0.5f, 0, flags);
  EXPECT_EQ(3u, raised());
  fp::div32(1, 0, 0, flags);
  EXPECT_EQ(8u, raised());
  EXPECT_EQ(0x7fc00000u, std::bit_cast<uint32_t>(fp::div32(0, 0, 0, flags)));
  EXPECT_EQ(16u, raised());
  fp::sqrt32(-1, 0, flags);
  EXPECT_EQ(16u, raised());
  EXPECT_EQ(0x7fc00000u, std::bit_cast<uint32_t>(fp::fma32(INFINITY, 0, std::bit_cast<float>(0x7fc01234u), 0, flags)));
  EXPECT_EQ(16u, raised());
  EXPECT_EQ(3.0f, fp::min32(NAN, 3, flags));
  EXPECT_EQ(0u, raised());
  EXPECT_TRUE(std::signbit(fp::min32(0.0f, -0.0f, flags)));
  EXPECT_FALSE(std::signbit(fp::max32(-0.0f, 0.0f, flags)));
  EXPECT_FALSE(fp::eq32(NAN, 1, flags));
  EXPECT_EQ(0u, raised());
  EXPECT_FALSE(fp::lt32(NAN, 1, flags));
  EXPECT_EQ(16u, raised());
}

} // namespace
} // namespace dougong::sim
