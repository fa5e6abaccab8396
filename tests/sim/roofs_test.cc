// Roofs of counts made by hand, on a machine whose rates are known.
#include "sim/roofs.h"
#include <gtest/gtest.h>

using namespace dougong;
using namespace dougong::sim;

namespace {

// A step is 4 × 4 multiply-adds; LM moves 32 bytes a cycle.
Machine machine() {
  Machine m{};
  m.device.clock_ghz = 2;
  m.core = {.issue_width = 4, .lm_banks = 4, .lm_bank_bytes = 8};
  m.tensor = {.rows = 4, .columns = 4, .int8_rate = 1, .fp8_rate = 1, .f16_rate = 0.5, .bf16_rate = 0.25};
  m.l2 = {.kib = 64, .bytes_per_cycle = 128};
  m.dram.gb_per_s = 8;
  return m;
}

double cycles(const std::vector<Roof> &roofs, std::string_view name) {
  for (const Roof &roof : roofs)
    if (roof.name == name)
      return roof.cycles;
  return -1;
}

} // namespace

TEST(Roofs, AreWorkByPeakRate) {
  Statistics s;
  s.cores.resize(2);
  s.cores[0].instructions = 1000, s.cores[0].vector_instructions = 90, s.cores[0].lm_read = 3200;
  s.cores[1].instructions = 10, s.cores[1].int_macs = 160, s.cores[1].fp8_macs = 320, s.cores[1].float_macs = 1600;
  s.l2_read = 1280, s.l2_written = 128, s.dram_read = 4000;
  std::vector<Roof> found = roofs(s, machine());
  EXPECT_EQ(found.size(), 6);
  EXPECT_EQ(cycles(found, "issue"), 200);            // four slots and the end of a loop
  EXPECT_EQ(cycles(found, "vector"), 30);            // two pipes and the memory unit
  EXPECT_EQ(cycles(found, "tensor"), 10 + 20 + 200); // of one core; floats at the faster of f16 and bf16
  EXPECT_EQ(cycles(found, "lm"), 100);
  EXPECT_EQ(cycles(found, "l2"), 11);
  EXPECT_EQ(cycles(found, "dram"), 1000); // 4 bytes a cycle
}

TEST(Roofs, NoneOfAnL2ThatIsNotThere) {
  Machine m = machine();
  m.l2.kib = 0;
  EXPECT_EQ(cycles(roofs(Statistics{}, m), "l2"), -1);
}
