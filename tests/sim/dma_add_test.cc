// Copies that add, and copies to several cores: against sums done here, and what they cost.
#include "tests/sim/bench_core.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace dougong::sim {
namespace {

constexpr uint64_t dram = DG_DRAM_BASE + 0x10000, lm = DG_LM_BASE;

double of_bf16(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
// The neighbour that is nearer, or even. (Beyond the greatest number the next one would be 2^128.)
uint64_t to_bf16(double value) {
  if (std::isnan(value))
    return 0x7fc0;
  uint64_t sign = std::signbit(value) ? 0x8000 : 0, low = 0, high = 0x7f80;
  auto magnitude = [](uint64_t bits) { return bits == 0x7f80 ? std::ldexp(1.0, 128) : of_bf16(bits); };
  double size = std::fabs(value);
  if (size >= magnitude(high))
    return sign | high;
  while (high - low > 1)
    (size >= magnitude((low + high) / 2) ? low : high) = (low + high) / 2;
  double below = size - magnitude(low), above = magnitude(high) - size;
  return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}
double of_f16(uint64_t bits) { return double(std::bit_cast<_Float16>(uint16_t(bits))); }
uint64_t to_f16(double value) { return std::isnan(value) ? 0x7e00 : std::bit_cast<uint16_t>(_Float16(value)); }
double of_f32(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
uint64_t to_f32(double value) { return std::isnan(value) ? 0x7fc00000 : std::bit_cast<uint32_t>(float(value)); }

// Sums of floats are exact in double, or have more than twice their bits.
struct Type {
  dg_type type;
  uint32_t bytes;
  std::function<uint64_t(uint64_t, uint64_t)> sum;
};
const Type types[] = {
    {DG_I8, 1, std::plus<uint64_t>()},
    {DG_U8, 1, std::plus<uint64_t>()},
    {DG_I16, 2, std::plus<uint64_t>()},
    {DG_I32, 4, std::plus<uint64_t>()},
    {DG_F16, 2, [](uint64_t a, uint64_t b) { return to_f16(of_f16(a) + of_f16(b)); }},
    {DG_BF16, 2, [](uint64_t a, uint64_t b) { return to_bf16(of_bf16(a) + of_bf16(b)); }},
    {DG_F32, 4, [](uint64_t a, uint64_t b) { return to_f32(of_f32(a) + of_f32(b)); }},
};

uint64_t read(const uint8_t *at, uint32_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

uint8_t *host(BenchCore &bench, uint64_t address) {
  return address >= DG_DRAM_BASE ? bench.shared.memory.host(address) : bench.lm(address);
}

// All pairs of edge values and 100,000 others.
TEST(DmaAdd, SumsOfEachTypeAreRoundedOnce) {
  BenchCore bench(phone());
  bench.shared.memory.map(dram, 1 << 22, "sums");
  std::mt19937_64 random(2);
  for (const Type &type : types) {
    std::vector<uint64_t> edges{0, 1, 2, ~0ull, ~0ull >> 1};
    for (uint32_t bits = 0; bits < 8 * type.bytes; ++bits) // powers of two, infinities, the greatest and the least of all kinds
      for (uint64_t edge : {(1ull << bits), (1ull << bits) - 1, ~0ull << bits, (~0ull << bits) - 1})
        edges.push_back(edge), edges.push_back(edge ^ 1ull << (8 * type.bytes - 1));
    std::vector<std::pair<uint64_t, uint64_t>> pairs;
    for (uint64_t a : edges)
      for (uint64_t b : edges)
        pairs.push_back({a, b});
    for (int i = 0; i < 100000; ++i) // close exponents too, which is where rounding is hard
      pairs.push_back({random(), random()}), pairs.push_back({pairs.back().first, pairs.back().first ^ random() >> (random() % 64)});
    for (size_t first = 0; first < pairs.size(); first += 32768) {
      uint32_t count = uint32_t(std::min<size_t>(32768, pairs.size() - first));
      for (uint32_t i = 0; i < count; ++i) {
        std::memcpy(bench.lm(lm + i * type.bytes), &pairs[first + i].first, type.bytes);
        std::memcpy(host(bench, dram + i * type.bytes), &pairs[first + i].second, type.bytes);
      }
      dg_dma_command c = copy(lm, dram, count);
      c.element_bytes = type.bytes, c.src_stride[4] = c.dst_stride[4] = type.bytes, c.add = 1, c.add_type = uint8_t(type.type);
      bench.engines().dma(DG_STORE0, c, bench.now);
      for (uint32_t i = 0; i < count; ++i) {
        uint64_t mask = ~0ull >> (64 - 8 * type.bytes), a = pairs[first + i].first & mask, b = pairs[first + i].second & mask;
        ASSERT_EQ(type.sum(a, b) & mask, read(host(bench, dram + i * type.bytes), type.bytes)) << type.type << ": " << a << " + " << b;
      }
    }
  }
}

// Any shape, any clipping, repeated places and lists: element by element in the order of the header.
TEST(DmaAdd, EveryElementIsAddedInOrder) {
  BenchCore bench(phone());
  bench.shared.memory.map(dram, 1 << 16, "data");
  std::mt19937_64 random(7);
  for (int round = 0; round < 600; ++round) {
    const Type &type = types[random() % std::size(types)];
    for (int i = 0; i < 1 << 16; i += 4) { // small floats in all types: no sum is NaN
      uint32_t value = uint32_t(random()) & 0xbfffbfff;
      std::memcpy(host(bench, dram + i), &value, 4), std::memcpy(host(bench, lm + i), &value, 4);
    }
    bool load = random() % 2;
    dg_dma_command c{};
    c.src = (load ? dram : lm) + 0x4000, c.dst = (load ? lm : dram) + 0x8000;
    c.element_bytes = type.bytes, c.add = 1, c.add_type = uint8_t(type.type);
    c.fill_outside = random() % 2, c.fill = 0x3c003c003c003c00;
    for (int d = 0; d < 5; ++d) {
      c.count[d] = 1 + random() % 4, c.low[d] = random() % 4 ? 0 : 1, c.high[d] = int(c.count[d]) - (random() % 4 ? 0 : 1);
      c.src_stride[d] = int64_t(random() % 200) - 100;
      c.dst_stride[d] = random() % 3 ? int64_t(type.bytes * (random() % 64)) : 0;
    }
    if (random() % 2)
      c.src_stride[4] = c.dst_stride[4] = type.bytes;
    int32_t list[4] = {int32_t(random() % 5), 1, int32_t(random() % 5), 1};
    if (random() % 2) {
      c.listed = load ? DG_LIST_SRC : DG_LIST_DST, c.list = lm + 512, c.fill_outside &= load, c.low[0] = 0, c.high[0] = 4;
      std::memcpy(bench.lm(c.list), list, sizeof list);
    }
    uint64_t low = load ? lm : dram;
    std::vector<uint8_t> expected(host(bench, low), host(bench, low) + (1 << 16));
    uint32_t i[5];
    for (i[0] = 0; i[0] < c.count[0]; ++i[0])
      for (i[1] = 0; i[1] < c.count[1]; ++i[1])
        for (i[2] = 0; i[2] < c.count[2]; ++i[2])
          for (i[3] = 0; i[3] < c.count[3]; ++i[3])
            for (i[4] = 0; i[4] < c.count[4]; ++i[4]) {
              int64_t row = c.listed ? list[i[0]] : i[0], src = 0, dst = 0;
              bool inside = row >= c.low[0] && row < c.high[0];
              for (int d = 0; d < 5; ++d) {
                inside &= d == 0 || (int64_t(i[d]) >= c.low[d] && int64_t(i[d]) < c.high[d]);
                src += (d == 0 && c.listed == DG_LIST_SRC ? row : i[d]) * c.src_stride[d];
                dst += (d == 0 && c.listed == DG_LIST_DST ? row : i[d]) * c.dst_stride[d];
              }
              if (!inside && !c.fill_outside)
                continue;
              uint8_t *at = &expected[c.dst - low + dst];
              uint64_t sum = type.sum(read(at, type.bytes),
                                      inside ? read(host(bench, c.src + src), type.bytes) : c.fill & ~0ull >> (64 - 8 * type.bytes));
              std::memcpy(at, &sum, type.bytes);
            }
    bench.engines().dma(load ? DG_LOAD0 : DG_STORE0, c, bench.now);
    ASSERT_EQ(0, std::memcmp(expected.data(), host(bench, low), 1 << 16)) << "round " << round;
  }
}

TEST(DmaAdd, SaysWhatIsWrong) {
  Options options;
  options.cores = 3;
  BenchCore bench(phone(), options);
  bench.shared.memory.map(dram, 4096, "table");
  auto text = [&](int queue, auto spoil) {
    dg_dma_command c = queue == DG_LOAD0 ? copy(dram, lm, 64) : copy(lm, dram, 64);
    spoil(c);
    return bench.trapped([&] { bench.engines().dma(queue, c, bench.now); });
  };
  auto faults = [&](int queue, auto spoil, const char *expected) {
    std::string found = text(queue, spoil);
    EXPECT_NE(found.find(expected), found.npos) << found;
  };
  EXPECT_EQ("", text(DG_LOAD0, [](auto &c) { c.add = 1; }));
  EXPECT_EQ("", text(DG_LOAD0, [](auto &c) { c.add_type = 77; })); // says nothing
  faults(DG_LOAD0, [](auto &c) { c.add = 2; }, "add is 2; it must be 0 or 1");
  faults(DG_LOAD0, [](auto &c) { c.add = 1, c.add_type = DG_F8E4M3; }, "add_type is 7 (F8E4M3); it must be");
  faults(DG_LOAD0, [](auto &c) { c.add = 1, c.add_type = 9; }, "add_type is 9 (unknown); it must be");
  faults(DG_LOAD0, [](auto &c) { c.add = 1, c.add_type = DG_F32; }, "add_type is F32, of 4 bytes; element_bytes is 1");
  EXPECT_EQ("", text(DG_LOAD0, [](auto &c) { c.cores = 7; }));
  faults(DG_LOAD0, [](auto &c) { c.cores = 12; }, "cores 0xc names core 3; 3 run, from 0 on");
  faults(DG_STORE0, [](auto &c) { c.cores = 1; }, "a multicast goes to an address of local memory");
  faults(
      DG_LOAD0, [](auto &c) { c.cores = 1, c.dst = DG_REMOTE_LM_BASE + DG_REMOTE_LM_STRIDE; },
      "a multicast goes to an address of local memory");
}

TEST(Multicast, ReachesEachCoreOfTheSetAndNoOther) {
  Options options;
  options.cores = 5;
  std::mt19937_64 random(9);
  for (int round = 0; round < 60; ++round) {
    BenchCore bench(phone(), options);
    bench.shared.memory.map(dram, 8192, "data");
    std::vector<std::vector<uint8_t>> expected;
    for (int i = 0; i < 5; ++i) {
      for (int k = 0; k < 8192; ++k)
        bench.core(i).lm[k] = uint8_t(random()), *host(bench, dram + k) = uint8_t(random());
      expected.emplace_back(bench.core(i).lm, bench.core(i).lm + 8192);
    }
    bool load = random() % 2, add = random() % 2, fill = random() % 2;
    dg_dma_command c = copy((load ? dram : lm) + 4096, lm + 128, 1024);
    c.cores = 1 + random() % 31, c.add = add, c.add_type = DG_I8, c.low[4] = 100, c.fill_outside = fill, c.fill = 3;
    for (int i = 0; i < 5; ++i)
      for (int k = fill ? 0 : 100; k < 1024 && c.cores >> i & 1; ++k) {
        uint8_t value = k < 100 ? 3 : *host(bench, c.src + k);
        expected[i][128 + k] = add ? expected[i][128 + k] + value : value;
      }
    bench.engines().dma(load ? DG_LOAD0 : DG_STORE0, c, bench.now);
    for (int i = 0; i < 5; ++i)
      ASSERT_EQ(0, std::memcmp(expected[i].data(), bench.core(i).lm, 8192)) << "core " << i << ", round " << round;
  }
}

// ---- What they cost -----------------------------------------------------------------------------------------------------

Options timed(int cores) {
  Options options;
  options.timing = true, options.cores = cores;
  return options;
}

// Eight cores' worth of data passes L2 and DRAM once; the bytes written to local memory are all counted.
TEST(Multicast, ReadsItsSourceOnce) {
  BenchCore bench(phone(), timed(6));
  bench.shared.memory.map(dram, 1 << 20, "weights");
  dg_dma_command c = copy(dram, lm, 65536);
  c.cores = 63;
  bench.engines().dma(DG_LOAD0, c, 0);
  uint64_t all = bench.when(DG_LOAD0, 1);
  EXPECT_EQ(65536u, bench.shared.timing.total.dram_read);
  EXPECT_EQ(65536u, bench.shared.timing.total.l2_read);
  EXPECT_EQ(6u * 65536, bench.core().count.lm_written);
  BenchCore alone(phone(), timed(6));
  alone.shared.memory.map(dram, 1 << 20, "weights");
  alone.engines().dma(DG_LOAD0, copy(dram, lm, 65536), 0);
  EXPECT_EQ(alone.when(DG_LOAD0, 1), all); // the ports of the others were free
}

// A receiver whose port is taken by its own load holds the copy up for as long as that takes.
TEST(Multicast, TakesTheReceiversPort) {
  Machine machine = phone();
  uint64_t bytes = 1 << 17, through = uint64_t(double(bytes) / machine.dma.bytes_per_cycle);
  auto arrives = [&](bool busy) {
    BenchCore bench(machine, timed(2));
    if (busy) // from core 0's own memory to its own: nothing but its port; of two that start together, core 0's is first
      bench.core(0).engines.dma(DG_LOAD0, copy(lm, lm + bytes, uint32_t(bytes)), 0);
    dg_dma_command c = copy(lm, lm + bytes, uint32_t(bytes));
    c.cores = 3;
    bench.core(1).engines.dma(DG_STORE0, c, 0);
    return bench.when(DG_STORE0, 1, 1);
  };
  EXPECT_GE(arrives(true), arrives(false) + through / 2);
}

// Memory is read and written: what is added to comes from DRAM first, whole lines too, and a second time from L2.
TEST(DmaAdd, ReadsWhatItAddsTo) {
  for (const char *name : {"phone", "tiny"}) {
    Machine machine = Machine::load(name);
    BenchCore bench(machine, timed(1));
    bench.shared.memory.map(dram, 1 << 20, "sums");
    dg_dma_command c = copy(lm, dram, 32768);
    bench.engines().dma(DG_STORE0, c, 0);
    uint64_t stored = bench.when(DG_STORE0, 1), read = bench.shared.timing.total.dram_read;
    EXPECT_EQ(0u, read) << name;
    c.add = 1, c.dst = dram + 65536;
    bench.engines().dma(DG_STORE0, c, stored);
    uint64_t added = bench.when(DG_STORE0, 2);
    EXPECT_EQ(32768u, bench.shared.timing.total.dram_read) << name;
    EXPECT_GT(added - stored, stored) << name;
    EXPECT_EQ(32768u, bench.shared.dma_read) << name;
    EXPECT_EQ(2u * 32768, bench.shared.dma_written) << name;
    bench.engines().dma(DG_STORE0, c, added);
    bench.when(DG_STORE0, 3);
    EXPECT_EQ(bench.shared.timing.total.l2_written ? 32768u : 65536u, bench.shared.timing.total.dram_read) << name;
  }
}

// ---- Races --------------------------------------------------------------------------------------------------------------

std::string race(std::function<void(BenchCore &, std::function<void(int core, int queue, dg_dma_command)>)> program) {
  Options options;
  options.check_races = true, options.cores = 3;
  BenchCore bench(phone(), options);
  bench.shared.memory.map(dram, 4096, "sums");
  return bench.trapped([&] {
    program(bench, [&](int core, int queue, dg_dma_command c) {
      bench.core(core).at = bench.core(core).enter(nullptr, DG_DRAM_BASE, 0, 0);
      bench.core(core).engines.dma(queue, c, 0);
    });
  });
}

dg_dma_command adding(dg_type type, uint32_t bytes) {
  dg_dma_command c = copy(lm, dram, 64);
  c.element_bytes = bytes, c.src_stride[4] = c.dst_stride[4] = bytes, c.add = 1, c.add_type = uint8_t(type);
  return c;
}

TEST(DmaAdd, IntegersOfSeveralCoresCommuteAndNothingElseDoes) {
  dg_dma_command integers = adding(DG_I32, 4), floats = adding(DG_F32, 4), shorts = adding(DG_I16, 2), store = copy(lm, dram, 64),
                 load = copy(dram, lm + 4096, 64);
  EXPECT_EQ("", race([&](auto &, auto issue) {
              issue(0, DG_STORE0, integers), issue(1, DG_STORE0, integers), issue(2, DG_STORE0, integers), issue(0, DG_STORE0, integers);
            }));
  auto expect = [](std::string found, const char *expected) { EXPECT_NE(found.find(expected), found.npos) << found; };
  expect(race([&](auto &, auto issue) { issue(0, DG_STORE0, floats), issue(1, DG_STORE0, floats); }), "dg.dma adds to global memory");
  expect(race([&](auto &, auto issue) { issue(0, DG_STORE0, integers), issue(1, DG_STORE0, shorts); }), "of core 0 adds to it");
  expect(race([&](auto &, auto issue) { issue(0, DG_STORE0, store), issue(1, DG_STORE0, integers); }), "of core 0 writes it");
  expect(race([&](auto &, auto issue) { issue(0, DG_STORE0, integers), issue(1, DG_STORE0, store); }), "of core 0 adds to it");
  expect(race([&](auto &, auto issue) { issue(0, DG_LOAD0, load), issue(1, DG_STORE0, integers); }), "of core 0 reads it");
  // Its own sum is complete, that of the other perhaps not.
  expect(race([&](auto &bench, auto issue) {
           issue(0, DG_STORE0, integers), issue(1, DG_STORE0, integers), issue(0, DG_STORE0, integers);
           bench.core().check->core_waits(DG_STORE0, 2);
           issue(0, DG_LOAD0, load);
         }),
         "several cores add to it");
  // Alone, and awaited: what it added to is read.
  EXPECT_EQ("", race([&](auto &bench, auto issue) {
              issue(0, DG_STORE0, integers);
              bench.core().check->core_waits(DG_STORE0, 1);
              issue(0, DG_LOAD0, load);
            }));
}

TEST(Multicast, RacesWithWhatTheCoreItselfDoes) {
  dg_dma_command c = copy(dram, lm, 64), other = copy(lm, lm + 4096, 64);
  auto with = [&](uint64_t cores) {
    c.cores = cores;
    return race([&](auto &, auto issue) { issue(0, DG_STORE0, other), issue(0, DG_LOAD0, c); });
  };
  EXPECT_NE(with(5).find("dg.dma writes local memory"), std::string::npos) << with(5);
  EXPECT_EQ("", with(6)); // not its own
}

} // namespace
} // namespace dougong::sim
