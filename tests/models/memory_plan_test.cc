// Memory planning: values that live together never overlap, and those that do not share.
#include "models/compile.h"
#include <gtest/gtest.h>
#include <random>

using namespace dougong::models;

TEST(MemoryPlan, ChainTakesTwoPlaces) { // a → b → c: a and c share
  uint64_t total = 0;
  std::vector<uint64_t> offsets = place_in_arena({{256, 0, 1}, {256, 1, 2}, {256, 2, 3}}, total);
  EXPECT_EQ(total, 512u);
  EXPECT_EQ(offsets[0], offsets[2]);
  EXPECT_NE(offsets[0], offsets[1]);
}

TEST(MemoryPlan, SmallValueFillsGap) {
  uint64_t total = 0; // 1024 bytes live from 0 to 1, then two halves fit where it was
  std::vector<uint64_t> offsets = place_in_arena({{1024, 0, 1}, {512, 2, 3}, {512, 2, 3}}, total);
  EXPECT_EQ(total, 1024u);
  EXPECT_EQ(offsets[1] + offsets[2], 512u);
}

TEST(MemoryPlan, RandomLifetimesNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> values;
    uint64_t sum = 0;
    for (int i = 0; i < 30; ++i) {
      size_t first = random() % 20;
      values.push_back({random() % 5000, first, first + random() % 6});
      sum += (values.back().bytes + 127) / 128 * 128;
    }
    uint64_t total = 0;
    std::vector<uint64_t> offsets = place_in_arena(values, total);
    EXPECT_LE(total, sum);
    for (size_t a = 0; a < values.size(); ++a) {
      EXPECT_EQ(offsets[a] % 128, 0u);
      EXPECT_LE(offsets[a] + values[a].bytes, total);
      for (size_t b = 0; b < a; ++b) {
        bool together = values[a].first <= values[b].last && values[b].first <= values[a].last;
        bool apart = offsets[a] + values[a].bytes <= offsets[b] || offsets[b] + values[b].bytes <= offsets[a];
        EXPECT_TRUE(!together || apart || !values[a].bytes || !values[b].bytes) << round << ": " << a << " and " << b;
      }
    }
  }
}
