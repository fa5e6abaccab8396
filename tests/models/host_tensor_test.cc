// Elements of host tensors: 16-bit floats bit by bit, and moving.
#include "models/host_tensor.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace dougong;
using namespace dougong::models;

TEST(HostTensor, BfloatRoundsToNearestEven) {
  Tensor t(ElementType::BF16, {4});
  const double values[] = {1.0, 1.00390625, 1.01171875, NAN}; // 1 + 2^-8: halfway, to even, down; 1 + 3·2^-8: halfway, up
  for (int i = 0; i < 4; ++i)
    set_real(t, i, values[i]);
  EXPECT_EQ(t.as<uint16_t>()[0], 0x3f80);
  EXPECT_EQ(t.as<uint16_t>()[1], 0x3f80);
  EXPECT_EQ(t.as<uint16_t>()[2], 0x3f82);
  EXPECT_EQ(t.as<uint16_t>()[3], 0x7fc0);
  EXPECT_EQ(real_at(t, 2), 1.015625);
}

TEST(HostTensor, HalfKeepsSubnormalsAndOverflows) {
  Tensor t(ElementType::F16, {2});
  set_real(t, 0, std::ldexp(1.0, -24));
  set_real(t, 1, 1e6);
  EXPECT_EQ(t.as<uint16_t>()[0], 1);
  EXPECT_EQ(t.as<uint16_t>()[1], 0x7c00);
}

TEST(HostTensor, IntegersKeepAllTheirBits) {
  Tensor t(ElementType::I64, {1});
  set_integer(t, 0, 9007199254740993); // 2^53 + 1, which no double has
  EXPECT_EQ(integer_at(t, 0), 9007199254740993);
  EXPECT_EQ(integer_at(converted(t, ElementType::I32), 0), 1);
}

TEST(HostTensor, Transposes) {
  Tensor t(ElementType::I32, {2, 3});
  for (int i = 0; i < 6; ++i)
    t.as<int32_t>()[i] = i; // 0 1 2 / 3 4 5
  Tensor turned = transposed(t, {1, 0});
  EXPECT_EQ(turned.shape, (Shape{3, 2}));
  EXPECT_EQ(integers_of(turned), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(HostTensor, RoundingForSumsKeepsColumnSums) {
  const double third = 1.0 / 3; // f16 rounds it down by 2^-14 / 3, every time
  Tensor w = tensor_of(ElementType::F64, {64, 2}, std::vector<double>(128, third));
  Tensor rounded = rounded_for_sums(w, ElementType::F16);
  double sums[2] = {0, 0};
  for (int i = 0; i < 128; ++i) {
    sums[i % 2] += real_at(rounded, i);
    EXPECT_LT(std::fabs(real_at(rounded, i) - third), std::ldexp(1.0, -12)); // a neighbour, never further
  }
  for (double sum : sums)
    EXPECT_LT(std::fabs(sum - 64 * third), std::ldexp(1.0, -12));
  EXPECT_GT(std::fabs(64 * real_at(converted(w, ElementType::F16), 0) - 64 * third), std::ldexp(1.0, -9)); // which nearest does not
}
