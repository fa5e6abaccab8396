// DMA against an index walk, and what queues, flags and wrong descriptors do.
#include "tests/sim/bench_core.h"
#include <gtest/gtest.h>

namespace dougong::sim {
namespace {

dg_dma_command copy(uint64_t src, uint64_t dst, uint32_t rows, uint32_t columns, int64_t src_row, int64_t dst_row, uint32_t element = 1) {
  dg_dma_command c{};
  c.src = src, c.dst = dst, c.element_bytes = element;
  for (int d = 0; d < 5; ++d)
    c.count[d] = 1, c.high[d] = 1;
  c.count[3] = rows, c.high[3] = int(rows), c.count[4] = columns, c.high[4] = int(columns);
  c.src_stride[3] = src_row, c.src_stride[4] = element, c.dst_stride[3] = dst_row, c.dst_stride[4] = element;
  return c;
}

uint8_t *host(BenchCore &bench, uint64_t address) {
  return address >= DG_DRAM_BASE ? bench.shared.memory.host(address) : bench.lm(address);
}

// By the header's words: element after element, in any order.
void walk(BenchCore &bench, const dg_dma_command &c, std::map<uint64_t, uint8_t> &written) {
  uint32_t i[5];
  for (i[0] = 0; i[0] < c.count[0]; ++i[0])
    for (i[1] = 0; i[1] < c.count[1]; ++i[1])
      for (i[2] = 0; i[2] < c.count[2]; ++i[2])
        for (i[3] = 0; i[3] < c.count[3]; ++i[3])
          for (i[4] = 0; i[4] < c.count[4]; ++i[4]) {
            uint64_t src = c.src, dst = c.dst;
            bool inside = true;
            for (int d = 0; d < 5; ++d) {
              src += uint64_t(i[d] * c.src_stride[d]), dst += uint64_t(i[d] * c.dst_stride[d]);
              inside &= int64_t(i[d]) >= c.low[d] && int64_t(i[d]) < c.high[d];
            }
            if (!inside && !c.fill_outside)
              continue;
            for (uint32_t b = 0; b < c.element_bytes; ++b)
              written[dst + b] = inside ? *host(bench, src + b) : uint8_t(c.fill >> (8 * b));
          }
}

constexpr uint64_t dram = DG_DRAM_BASE + 0x10000, lm = DG_LM_BASE;

TEST(Dma, RandomDescriptorsMatchAnIndexWalk) {
  BenchCore bench(phone());
  bench.shared.memory.map(dram, 1 << 20, "data");
  std::mt19937 random(3);
  for (int i = 0; i < 1 << 20; ++i)
    *bench.shared.memory.host(dram + i) = uint8_t(random());
  for (uint64_t i = 0; i < bench.core().lm_bytes; ++i)
    bench.core().lm[i] = uint8_t(random());
  for (int round = 0; round < 400; ++round) {
    bool load = random() % 2;
    dg_dma_command c{};
    c.element_bytes = 1u << random() % 4;
    c.fill_outside = random() % 2;
    c.fill = random() | uint64_t(random()) << 32;
    // Destinations that do not overlap: each dimension strides past what is inside it.
    int64_t dst_extent = c.element_bytes, src_extent = c.element_bytes;
    for (int d = 4; d >= 0; --d) {
      c.count[d] = random() % 6;
      if (random() % 3)
        c.count[d] = std::max(1u, c.count[d]);
      c.low[d] = random() % 2 ? 0 : int(random() % 7) - 2;
      c.high[d] = random() % 2 ? int(c.count[d]) : int(random() % 8) - 1;
      c.dst_stride[d] = dst_extent + (random() % 3 ? 0 : c.element_bytes * (random() % 3));
      c.src_stride[d] = random() % 3 ? src_extent : int64_t(random() % 200) - 100;
      dst_extent = std::max<int64_t>(c.element_bytes, c.dst_stride[d] * c.count[d]);
      src_extent = std::max<int64_t>(c.element_bytes, c.src_stride[d] * c.count[d]);
    }
    c.src = load ? dram + 500000 : lm + 500000;
    c.dst = load ? lm + 8 : dram + 8;
    std::map<uint64_t, uint8_t> expected;
    walk(bench, c, expected);
    uint64_t low = load ? lm : dram, size = 400000;
    std::vector<uint8_t> before(host(bench, low), host(bench, low) + size);
    bench.engines().dma(load ? DG_LOAD0 : DG_STORE0, c, bench.now);
    for (auto [address, value] : expected)
      before[address - low] = value;
    ASSERT_EQ(0, std::memcmp(before.data(), host(bench, low), size)) << "round " << round;
  }
}

// Rows of a table by a list of indexes, some outside [low, high): against the header's words, element by element.
TEST(Dma, ListsGatherAndScatter) {
  BenchCore bench(phone());
  bench.shared.memory.map(dram, 1 << 16, "table");
  std::mt19937 random(5);
  constexpr int entries = 40, rows = 16, size = 1 << 16;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < size; ++i)
      *host(bench, dram + i) = uint8_t(random()), *host(bench, lm + i) = uint8_t(random());
    bool load = random() % 2;
    uint32_t columns = 1 + random() % 9, element = 1u << random() % 4;
    dg_dma_command c = copy(load ? dram + 1024 : lm + 1024, load ? lm + 1024 : dram + 1024, columns, 4, 64, 64, element);
    c.count[0] = entries, c.low[0] = 2, c.high[0] = rows, c.low[4] = random() % 2, c.high[3] = int(columns) - int(random() % 2);
    c.src_stride[0] = c.dst_stride[0] = 640;
    if (random() % 2) // rows that are one run
      c.src_stride[3] = c.dst_stride[3] = 4 * element;
    c.listed = load ? DG_LIST_SRC : DG_LIST_DST, c.list = lm + 60000;
    c.fill_outside = load && random() % 2, c.fill = 0x0102030405060708;
    int32_t list[entries];
    for (int &row : list)
      row = random() % 8 ? int(random() % 20) : int32_t(random());
    std::memcpy(bench.lm(c.list), list, sizeof list);
    uint64_t low = load ? lm : dram;
    std::vector<uint8_t> expected(host(bench, low), host(bench, low) + size);
    for (int i = 0; i < entries; ++i)
      for (int y = 0; y < int(columns); ++y)
        for (int x = 0; x < 4; ++x) {
          bool inside = list[i] >= 2 && list[i] < rows && y < c.high[3] && x >= c.low[4];
          if (!inside && !c.fill_outside)
            continue;
          int64_t within_src = y * c.src_stride[3] + x * int(element), within_dst = y * c.dst_stride[3] + x * int(element);
          uint64_t dst = c.dst + 640 * int64_t(load ? i : list[i]) + within_dst - low;
          for (uint32_t b = 0; b < element; ++b)
            expected[dst + b] =
                inside ? *host(bench, c.src + 640 * int64_t(load ? list[i] : i) + within_src + b) : uint8_t(c.fill >> (8 * b));
        }
    bench.engines().dma(load ? DG_LOAD0 : DG_STORE0, c, bench.now);
    ASSERT_EQ(0, std::memcmp(expected.data(), host(bench, low), size)) << "round " << round;
  }
}

TEST(Dma, SaysWhatIsWrongWithAList) {
  BenchCore bench(phone());
  bench.shared.memory.map(dram, 4096, "table");
  auto text = [&](int queue, auto spoil) {
    bool load = queue == DG_LOAD0;
    dg_dma_command c = copy(load ? dram : lm, load ? lm : dram, 1, 64, 0, 0);
    c.count[0] = 4, c.high[0] = 64, c.src_stride[0] = c.dst_stride[0] = 64;
    c.listed = load ? DG_LIST_SRC : DG_LIST_DST, c.list = lm + 8192;
    spoil(c);
    return bench.trapped([&] { bench.engines().dma(queue, c, bench.now); });
  };
  auto faults = [&](int queue, auto spoil, const char *expected) {
    std::string found = text(queue, spoil);
    EXPECT_NE(found.find(expected), found.npos) << found;
  };
  EXPECT_EQ("", text(DG_LOAD0, [](auto &) {}));
  EXPECT_EQ("", text(DG_STORE0, [](auto &) {}));
  EXPECT_EQ("", text(DG_LOAD0, [](auto &c) { c.count[0] = 0, c.list = 0; })); // no list to read
  faults(DG_LOAD0, [](auto &c) { c.listed = 3; }, "listed is 3");
  faults(DG_LOAD0, [](auto &c) { c.listed = DG_LIST_DST; }, "a load gathers");
  faults(DG_STORE0, [](auto &c) { c.listed = DG_LIST_SRC; }, "a store scatters");
  faults(DG_STORE0, [](auto &c) { c.fill_outside = 1; }, "no place that could be filled");
  faults(DG_LOAD0, [](auto &c) { c.list += 2; }, "must be a multiple of 4");
  faults(DG_LOAD0, [](auto &c) { c.list = lm + (1 << 20) - 12; }, "list of 4 indexes reaches");
  faults(DG_LOAD0, [](auto &c) { c.list = 0; }, "outside local memory");
  faults(DG_LOAD0, [](auto &c) { c.high[0] = 65; }, "the end of table"); // whatever the list holds
}

TEST(Dma, ReachesTheLocalMemoryOfAnotherCore) {
  Options options;
  options.cores = 3;
  BenchCore bench(phone(), options);
  for (int i = 0; i < 256; ++i)
    bench.core(0).lm[i] = uint8_t(i);
  bench.engines().dma(DG_STORE0, copy(lm, DG_REMOTE_LM_BASE + 2 * DG_REMOTE_LM_STRIDE + 512, 1, 256, 0, 0), bench.now);
  EXPECT_EQ(0, std::memcmp(bench.core(0).lm, bench.core(2).lm + 512, 256));
  EXPECT_NE("", bench.trapped([&] {
    bench.engines().dma(DG_STORE0, copy(lm, DG_REMOTE_LM_BASE + 3 * DG_REMOTE_LM_STRIDE, 1, 256, 0, 0), bench.now);
  }));
}

struct BadCopy {
  const char *name;
  void (*spoil)(dg_dma_command &c);
  const char *expected;
};
TEST(Dma, SaysWhatIsWrongWithADescriptor) {
  BenchCore bench(phone());
  bench.shared.memory.map(dram, 4096, "buffer A");
  bench.shared.memory.map(dram + 8192, 4096, "buffer B");
  const BadCopy bad[] = {
      {"element", [](dg_dma_command &c) { c.element_bytes = 3; }, "element_bytes is 3"},
      {"fill flag", [](dg_dma_command &c) { c.fill_outside = 7; }, "fill_outside is 7"},
      {"past the end", [](dg_dma_command &c) { c.src = dram + 4000; }, "the end of buffer A"},
      {"hole", [](dg_dma_command &c) { c.src = dram + 5000; }, "904 bytes past the end of buffer A"},
      {"across", [](dg_dma_command &c) { c.src_stride[3] = 4096; }, "buffer A"},
      {"null", [](dg_dma_command &c) { c.src = 0; }, "a null pointer"},
      {"lm", [](dg_dma_command &c) { c.dst = lm + (1 << 20) - 100; }, "outside local memory"},
      {"wrong way", [](dg_dma_command &c) { c.dst = dram; }, "wrong kind of queue"},
      {"far", [](dg_dma_command &c) { c.src = ~0ull - 100; }, "beyond the address space"},
      {"large", [](dg_dma_command &c) { c.count[0] = 1u << 28; }, "more than 1073741824 elements"},
      // 2^160 elements, and 2^128 of them: no word holds the product
      {"huge", [](dg_dma_command &c) { std::fill(c.count, c.count + 5, ~0u); }, "more than 1073741824 elements"},
      {"around", [](dg_dma_command &c) { c.count[0] = c.count[1] = c.count[2] = c.count[3] = 1u << 31, c.count[4] = 16; },
       "more than 1073741824 elements"},
  };
  for (const BadCopy &test : bad) {
    dg_dma_command c = copy(dram, lm, 3, 256, 256, 256);
    test.spoil(c);
    std::string text = bench.trapped([&] { bench.engines().dma(DG_LOAD0, c, bench.now); });
    EXPECT_NE(text.find(test.expected), text.npos) << test.name << ": " << text;
  }
  // Rows in two buffers with a hole between: each row is inside one, so the copy is right.
  EXPECT_EQ("", bench.trapped([&] { bench.engines().dma(DG_LOAD0, copy(dram, lm, 2, 256, 8192, 256), bench.now); }));
  // The tiny machine has one load queue.
  BenchCore tiny(Machine::load("tiny"));
  EXPECT_NE(tiny.trapped([&] { tiny.engines().dma(DG_LOAD1, copy(lm, lm + 512, 1, 8, 0, 0), tiny.now); }).find("queue 4 is not"),
            std::string::npos);
}

TEST(Tensor, SaysWhatIsWrongWithADescriptor) {
  BenchCore bench(phone());
  dg_tensor_command good{};
  good.a = lm, good.b = lm + 4096, good.a_type = good.b_type = DG_F16;
  good.m[0] = good.k[0] = good.k[1] = 1, good.m[1] = 8, good.k[2] = 8, good.n = 8;
  good.a_m_stride[1] = 16, good.a_k_stride[2] = 2, good.b_k_stride[2] = 16, good.b_n_stride = 2, good.acc_m_stride = 32;
  auto text = [&](auto spoil) {
    dg_tensor_command c = good;
    spoil(c);
    return bench.trapped([&] { bench.engines().tensor(c, bench.now); });
  };
  EXPECT_EQ("", text([](auto &) {}));
  EXPECT_NE(text([](auto &c) { c.b_type = DG_BF16; }).find("a_type 4 (F16) with b_type 5 (BF16)"), std::string::npos);
  EXPECT_NE(text([](auto &c) { c.a_type = DG_F32; }).find("a_type 6 (F32)"), std::string::npos);
  EXPECT_NE(text([](auto &c) { c.a = 0; }).find("operand a reaches [0x0"), std::string::npos);
  EXPECT_NE(text([](auto &c) { c.b_k_stride[2] = 1 << 20; }).find("operand b reaches"), std::string::npos);
  EXPECT_NE(text([](auto &c) { c.acc = 256 * 1024; }).find("acc reaches"), std::string::npos);
  EXPECT_NE(text([](auto &c) { c.acc_m_stride = -32; }).find("acc reaches"), std::string::npos);
  EXPECT_NE(text([](auto &c) { c.acc = 2; }).find("multiples of 4"), std::string::npos);
  EXPECT_NE(text([](auto &c) { c.accumulate = 2; }).find("accumulate is 2"), std::string::npos);
  EXPECT_EQ("", text([](auto &c) { c.k[2] = 0, c.a = 0; }));                        // no k: operands are not touched
  EXPECT_EQ("", text([](auto &c) { c.k[0] = c.k[1] = ~0u, c.k[2] = 0, c.a = 0; })); // and nothing counts to the other ones
  // 2^64 steps: no word holds the product
  EXPECT_NE(text([](auto &c) { c.k[0] = c.k[1] = 1u << 31, c.k[2] = 4; }).find("each product must be below 2^24"), std::string::npos);
  EXPECT_NE(text([](auto &c) {
              c.k[2] = c.m[1] = 1 << 20, c.a_m_stride[1] = c.a_k_stride[2] = c.b_k_stride[2] = c.acc_m_stride = 0;
            }).find("at most 134217728 elements"),
            std::string::npos);

  dg_drain_command drain{};
  drain.out = lm, drain.acc_type = DG_F32, drain.out_type = DG_F16, drain.m[0] = 1, drain.m[1] = 4, drain.n = 8, drain.acc_m_stride = 32,
  drain.out_m_stride[1] = 16;
  auto drained = [&](auto spoil) {
    dg_drain_command c = drain;
    spoil(c);
    return bench.trapped([&] { bench.engines().drain(c, bench.now); });
  };
  EXPECT_EQ("", drained([](auto &) {}));
  EXPECT_NE(drained([](auto &c) { c.acc_type = DG_F16; }).find("acc_type is 4"), std::string::npos);
  EXPECT_NE(drained([](auto &c) { c.out_type = DG_I16; }).find("out_type is 2"), std::string::npos);
  EXPECT_NE(drained([](auto &c) { c.residual = lm, c.residual_type = DG_I8; }).find("residual_type is 0"), std::string::npos);
  EXPECT_NE(drained([](auto &c) { c.scale = 64; }).find("scale reaches"), std::string::npos);
  EXPECT_NE(drained([](auto &c) { c.out = DG_LM_BASE + (1 << 20) - 8; }).find("out reaches"), std::string::npos);
}

// Where a C compiler puts the structures of commands.h is good enough.
TEST(Commands, DescriptorsWantTheAlignmentOfTheirType) {
  BenchCore bench(phone());
  Core &core = bench.core();
  std::memset(bench.lm(lm), 0, 512);
  bench.lm_as<dg_tensor_command>(lm + 4) = dg_tensor_command{};
  EXPECT_EQ("", bench.trapped([&] { core.issue_tensor(lm + 4); }));
  EXPECT_NE(bench.trapped([&] { core.issue_tensor(lm + 2); }).find("not aligned to 4 bytes"), std::string::npos);
  EXPECT_NE(bench.trapped([&] { core.issue_dma(DG_LOAD0, lm + 4); }).find("not aligned to 8 bytes"), std::string::npos);
}

TEST(Flags, ACommandWaitsInItsQueueUntilTheFlagRises) {
  BenchCore bench(phone());
  Engines &e = bench.engines();
  bench.lm_as<uint32_t>(lm) = 1;
  bench.lm_as<uint32_t>(lm + 64) = 2;
  e.wait(DG_STORE0, 9, 3, 0);
  EXPECT_EQ(1u, e.dma(DG_STORE0, copy(lm, lm + 128, 1, 4, 0, 0), bench.now));
  e.wait(DG_LOAD0, DG_STORE0, 1, 0);
  e.dma(DG_LOAD0, copy(lm + 128, lm + 256, 1, 4, 0, 0), bench.now);
  EXPECT_TRUE(e.blocked());
  EXPECT_EQ(0u, e.value(DG_STORE0));
  e.add(9, 2, 0);
  EXPECT_TRUE(e.blocked());
  bench.lm_as<uint32_t>(lm) = 77; // read when the command starts, not when it is issued
  e.add(9, 1, 0);
  EXPECT_FALSE(e.blocked());
  EXPECT_EQ(1u, e.value(DG_STORE0));
  EXPECT_EQ(1u, e.value(DG_LOAD0));
  EXPECT_EQ(77u, bench.lm_as<uint32_t>(lm + 256));
}

TEST(Flags, WaitingForWhatCannotComeIsADeadlock) {
  BenchCore bench(phone());
  bench.engines().wait(DG_TENSOR, 12, 5, 0);
  dg_tensor_command nothing{};
  nothing.a_type = nothing.b_type = DG_I8;
  bench.engines().tensor(nothing, bench.now);
  std::string text = bench.trapped([&] { bench.core().await(DG_TENSOR, 1); });
  EXPECT_NE(text.find("waits for flag 0 >= 1, which is at 0"), text.npos) << text;
  EXPECT_NE(text.find("queue 0 (tensor) holds 1 command behind `dg.qwait` at 0x80000000: flag 12 >= 5, and it is 0"), text.npos) << text;
  for (int i = 1; i < bench.shared.machine.tensor.queue_depth; ++i)
    bench.engines().tensor(nothing, bench.now);
  text = bench.trapped([&] { bench.engines().tensor(nothing, bench.now); });
  EXPECT_NE(text.find("queue is full"), text.npos) << text;
}

TEST(Flags, OnlyTheProgramsOwnCanBeRaised) {
  BenchCore bench(phone());
  EXPECT_NE(bench.trapped([&] { bench.engines().add(7, 1, 0); }).find("8 to 31"), std::string::npos);
  EXPECT_NE(bench.trapped([&] { bench.engines().wait(6, 1, 1, 0); }).find("does not exist"), std::string::npos);
}

// ---- Timing ----

Options timed() {
  Options options;
  options.timing = true;
  return options;
}

TEST(Timing, ATensorCommandTakesItsStepsAndStartup) {
  Machine machine = phone();
  BenchCore bench(machine, timed());
  dg_tensor_command c{};
  c.a = lm, c.b = lm + 4096, c.a_type = c.b_type = DG_F16, c.m[0] = c.k[0] = c.k[1] = 1, c.m[1] = 65, c.n = 64, c.k[2] = 100;
  c.a_m_stride[1] = 2, c.a_k_stride[2] = 2, c.b_n_stride = 2, c.acc_m_stride = 256;
  bench.engines().tensor(c, bench.now);
  // Two tiles of 64 rows, one of 64 columns, 100 steps at half a step a cycle.
  EXPECT_EQ(uint64_t(machine.tensor.startup_cycles + 2 * 100 * 2), bench.engines().done());
  EXPECT_EQ(bench.when(DG_TENSOR, 1), bench.engines().done());
}

TEST(Timing, EnginesShareTheBanksOfLocalMemory) {
  auto cycles = [](int banks, bool copies) {
    Machine machine = phone();
    machine.core.lm_banks = banks; // of 32 bytes; the tensor engine wants 128 bytes a cycle, a copy within LM 64
    BenchCore bench(machine, timed());
    dg_tensor_command c{};
    c.a = lm, c.b = lm + 4096, c.a_type = c.b_type = DG_I8, c.m[0] = c.k[0] = c.k[1] = 1, c.m[1] = c.n = 64, c.k[2] = 6400,
    c.acc_m_stride = 256;
    bench.engines().tensor(c, bench.now);
    if (copies)
      bench.engines().dma(DG_LOAD0, copy(lm, lm + (1 << 19), 1, 6400 * 32, 0, 0), bench.now);
    return bench.engines().done();
  };
  uint64_t alone = cycles(16, false);
  EXPECT_EQ(uint64_t(16 + 6400), alone);
  EXPECT_NEAR(double(cycles(16, true)), double(alone), 64.0); // 512 bytes a cycle: room for both
  EXPECT_NEAR(double(cycles(4, false)), double(alone), 64.0); // 128: just enough for one
  EXPECT_GE(cycles(4, true), 6400u * 192 / 128);              // not for both
  EXPECT_GE(cycles(2, false), 2u * 6400);
}

TEST(Timing, EnginesOverlapUnlessACommandWaits) {
  BenchCore bench(phone(), timed());
  bench.shared.memory.map(dram, 1 << 20, "data");
  Engines &e = bench.engines();
  dg_dma_command load = copy(dram, lm, 1, 32768, 0, 0);
  uint64_t first = e.dma(DG_LOAD0, load, bench.now);
  load.dst = lm + 65536, load.src = dram + 65536;
  e.dma(DG_LOAD1, load, bench.now);
  uint64_t one = bench.when(DG_LOAD0, first), both = e.done();
  EXPECT_LT(both, 2 * one);
  dg_dma_command store = copy(lm, dram + 0x40000, 1, 32768, 0, 0);
  e.wait(DG_STORE0, DG_LOAD0, first, 0);
  e.dma(DG_STORE0, store, bench.now);
  EXPECT_GT(bench.when(DG_STORE0, 1), one);
}

TEST(Timing, CopiesKeepTheRooflines) {
  Machine machine = phone();
  BenchCore bench(machine, timed());
  bench.shared.memory.map(dram, 64 << 20, "data");
  Engines &e = bench.engines();
  uint64_t bytes = 0;
  for (int i = 0; i < 200; ++i) {
    e.dma(i % 2 ? DG_LOAD1 : DG_LOAD0, copy(dram + i * 65536, lm + i % 2 * 65536, 1, 65536, 0, 0), bench.now);
    bytes += 65536;
  }
  double cycles = double(e.done());
  EXPECT_GE(cycles, double(bytes) / machine.dram_bytes_per_cycle());
  // Two queues of one core share its port, 32 bytes a cycle; DRAM has 85.
  EXPECT_GE(cycles, double(bytes) / machine.dma.bytes_per_cycle);
  EXPECT_LE(cycles, 1.01 * double(bytes) / machine.dma.bytes_per_cycle);
  EXPECT_EQ(bytes, bench.shared.timing.total.dram_read);
  // Again: L2 has the last 4 MiB, not what came before.
  uint64_t before = bench.shared.timing.total.dram_read;
  for (int i = 180; i < 200; ++i)
    e.dma(DG_LOAD0, copy(dram + i * 65536, lm, 1, 65536, 0, 0), bench.now);
  e.done();
  EXPECT_EQ(before, bench.shared.timing.total.dram_read);
}

// A port has a width for each direction: loads and stores pass each other.
TEST(Timing, LoadsAndStoresDoNotShareAPort) {
  Machine machine = phone();
  machine.dram.gb_per_s = 1000; // so that only the port is narrow
  auto cycles = [&](int second) {
    BenchCore bench(machine, timed());
    bench.shared.memory.map(dram, 8 << 20, "data");
    for (int i = 0; i < 16; ++i) {
      bench.engines().dma(DG_LOAD0, copy(dram + i * 65536, lm, 1, 65536, 0, 0), bench.now);
      bool store = second == DG_STORE0;
      uint64_t other = dram + (4 << 20) + i * 65536, mine = lm + 65536;
      bench.engines().dma(second, copy(store ? mine : other, store ? other : mine, 1, 65536, 0, 0), bench.now);
    }
    return bench.engines().done();
  };
  EXPECT_GE(cycles(DG_LOAD1), 32u * 65536 / 32);
  EXPECT_LE(cycles(DG_STORE0), 1.05 * 16 * 65536 / 32);
}

// Two loads of a line: the second one, of another core, finds it on its way and has it when it comes, not before.
TEST(Timing, ALineUnderWayIsNotThereYet) {
  Options options = timed();
  options.cores = 2;
  Machine machine = phone();
  BenchCore bench(machine, options);
  bench.shared.memory.map(dram, 1 << 20, "data");
  for (int core : {0, 1})
    bench.core(core).engines.dma(DG_LOAD0, copy(dram, lm, 1, 4096, 0, 0), bench.now);
  uint64_t first = bench.core(0).engines.done(), second = bench.core(1).engines.done();
  EXPECT_EQ(4096u, bench.shared.timing.total.dram_read);
  EXPECT_GE(first, uint64_t(machine.dma.startup_cycles + machine.l2.latency_cycles + machine.dram.latency_ns * machine.device.clock_ghz));
  EXPECT_NEAR(double(second), double(first), 2);
  bench.core(1).engines.dma(DG_LOAD0, copy(dram, lm, 1, 4096, 0, 0), second); // now it is there
  EXPECT_LE(bench.core(1).engines.done() - second, uint64_t(machine.dma.startup_cycles + 4096 / 32 + machine.l2.latency_cycles));
}

// A block of 64 columns of a matrix whose rows are 4 KiB apart: 1 MiB in all, of 4 MiB that L2 has, whatever the distance of the rows.
TEST(Timing, RowsAPowerOfTwoApartDoNotCrowdL2) {
  BenchCore bench(phone(), timed());
  bench.shared.memory.map(dram, 32 << 20, "data");
  for (int pass = 0; pass < 2; ++pass)
    for (int64_t row = 0; row < 4096; row += 1024)
      bench.engines().dma(DG_LOAD0, copy(dram + row * 4096, lm, 1024, 256, 4096, 256), bench.now);
  bench.engines().done();
  EXPECT_EQ(4096u * 256, bench.shared.timing.total.dram_read);
}

TEST(Timing, ShortRowsCostWholeBursts) {
  Machine machine = Machine::load("tiny");
  BenchCore bench(machine, timed());
  bench.shared.memory.map(dram, 1 << 20, "data");
  bench.engines().dma(DG_LOAD0, copy(dram, lm, 512, 8, 128, 8), bench.now);
  bench.engines().done();
  EXPECT_EQ(512u * machine.dram.burst_bytes, bench.shared.timing.total.dram_read);
  EXPECT_EQ(512u * 8, bench.shared.dma_read);
}

TEST(Timing, StoresComeBackFromL2AndAreWrittenOnce) {
  BenchCore bench(phone(), timed());
  bench.shared.memory.map(dram, 8 << 20, "data");
  for (int i = 0; i < 4; ++i)
    bench.engines().dma(DG_STORE0, copy(lm, dram, 1, 65536, 0, 0), bench.now);
  bench.engines().wait(DG_LOAD0, DG_STORE0, 4, 0);
  bench.engines().dma(DG_LOAD0, copy(dram, lm, 1, 65536, 0, 0), bench.now);
  bench.engines().done();
  EXPECT_EQ(0u, bench.shared.timing.total.dram_read + bench.shared.timing.total.dram_written);
  EXPECT_EQ(65536u, bench.shared.timing.dirty_bytes()); // DRAM does not have them yet
  for (int i = 0; i < 80; ++i)                          // 5 MiB of others: they are evicted
    bench.engines().dma(DG_LOAD0, copy(dram + 65536 * (i + 1), lm, 1, 65536, 0, 0), bench.now);
  bench.engines().done();
  EXPECT_EQ(65536u, bench.shared.timing.total.dram_written);
  EXPECT_EQ(0u, bench.shared.timing.dirty_bytes());
}

TEST(Timing, AFullQueueHoldsUpItsCore) {
  Machine machine = phone();
  BenchCore bench(machine, timed());
  dg_tensor_command c{};
  c.a = lm, c.b = lm, c.a_type = c.b_type = DG_I8, c.m[0] = c.k[0] = c.k[1] = 1, c.m[1] = 64, c.n = 64, c.k[2] = 1000, c.acc_m_stride = 256;
  bench.lm_as<dg_tensor_command>(lm + 4096) = c;
  for (int i = 0; i <= machine.tensor.queue_depth; ++i) {
    EXPECT_EQ(0u, bench.core().time) << i;
    bench.core().issue_tensor(lm + 4096);
  }
  bench.core().issue_tensor(lm + 4096); // a place is free when the second one starts
  EXPECT_EQ(uint64_t(machine.tensor.startup_cycles + 1000) * cycle, bench.core().time);
  EXPECT_EQ(uint64_t(machine.tensor.startup_cycles + 1000), bench.core().count.stalls[int(Stall::queue)]);
}

// The vector unit does not wait; what it reads and writes is missing to the engines.
TEST(Timing, TheVectorUnitTakesBandwidthOfLocalMemory) {
  auto cycles = [](uint64_t vector_bytes) {
    Machine machine = phone();
    machine.core.lm_banks = 4; // 128 bytes a cycle: just enough for the tensor engine
    BenchCore bench(machine, timed());
    Core &core = bench.core();
    core.count.instructions += 4000; // two thousand cycles of the reference schedule
    core.count.lm_read += vector_bytes;
    dg_tensor_command c{};
    c.a = lm, c.b = lm + 4096, c.a_type = c.b_type = DG_I8, c.m[0] = c.k[0] = c.k[1] = 1, c.m[1] = c.n = 64, c.k[2] = 6400,
    c.acc_m_stride = 256;
    core.engines.tensor(c, 0);
    core.count.instructions += 4000;
    core.count.lm_read += vector_bytes;
    core.engines.tensor(c, 0);
    return core.engines.done();
  };
  EXPECT_NEAR(double(cycles(2000 * 64)), double(cycles(0) + 2000 * 64 / 128), 64.0); // an epoch
}

// Whatever core, queue and memory are in question: a faster memory makes nothing later. Random commands of three cores, with waits.
TEST(Timing, FasterMemoryIsNeverSlower) {
  auto run = [](unsigned seed, auto faster) {
    std::mt19937 random(seed);
    auto below = [&](uint32_t n) { return random() % n; };
    Machine machine = phone();
    machine.l2.kib = 256; // so that lines are evicted
    faster(machine);
    Options options = timed();
    options.cores = 3;
    BenchCore bench(machine, options);
    bench.shared.memory.map(dram, 4 << 20, "data");
    std::vector<uint64_t> times;
    uint64_t tickets[3][DG_QUEUES] = {};
    for (int step = 0; step < 400; ++step) {
      int number = below(3);
      Core &core = bench.core(number);
      core.count.instructions += below(2000);
      bench.shared.horizon = std::min(bench.core((number + 1) % 3).reference(), bench.core((number + 2) % 3).reference());
      int queue = int(below(5)) + (below(5) == 0 ? 1 : 0);
      int other = below(DG_QUEUES);
      if (below(2) && tickets[number][other])
        core.engines.wait(queue, other, 1 + below(uint32_t(tickets[number][other])), 0);
      if (queue <= DG_DRAIN) {
        dg_tensor_command c{};
        c.a = lm, c.b = lm, c.a_type = c.b_type = DG_I8, c.m[0] = c.k[0] = c.k[1] = 1, c.m[1] = c.n = 1 + below(64),
        c.k[2] = 1 + below(300);
        tickets[number][DG_TENSOR] = core.engines.tensor(c, core.time / cycle);
      } else {
        bool load = queue == DG_LOAD0 || queue == DG_LOAD1;
        uint64_t there = dram + below(3 << 20);
        uint32_t rows = 1 + below(64), bytes = 1 + below(2000);
        dg_dma_command c = copy(load ? there : lm, load ? lm : there, rows, bytes, load ? 4096 : bytes, load ? bytes : 4096);
        c.add = below(3) == 0, c.add_type = DG_U8;
        c.cores = load && below(3) == 0 ? below(8) : 0;
        tickets[number][queue] = core.engines.dma(queue, c, core.time / cycle);
      }
      core.engines.came(); // a full queue does not matter here
      if (below(8) == 0) {
        int flag = below(DG_QUEUES);
        if (!tickets[number][flag])
          continue;
        bench.shared.horizon = ~0ull;
        core.await(flag, tickets[number][flag] - below(2));
        times.push_back(core.time);
      }
    }
    for (int i = 0; i < 3; ++i)
      times.push_back(bench.core(i).engines.done());
    return times;
  };
  for (unsigned seed = 0; seed < 30; ++seed) {
    auto before = run(seed, [](Machine &) {});
    auto check = [&](const char *what, auto faster) {
      auto after = run(seed, faster);
      ASSERT_EQ(before.size(), after.size());
      for (size_t i = 0; i < before.size(); ++i)
        ASSERT_LE(after[i], before[i]) << what << ", seed " << seed << ", time " << i;
    };
    for (double factor : {1.01, 1.5, 2.0, 3.0, 16.0})
      check("DRAM", [&](Machine &m) { m.dram.gb_per_s *= factor; });
    check("L2", [](Machine &m) { m.l2.bytes_per_cycle *= 2; });
    check("L2 latency", [](Machine &m) { m.l2.latency_cycles /= 2; });
    check("DRAM latency", [](Machine &m) { m.dram.latency_ns /= 3; });
    check("rows", [](Machine &m) { m.dram.row_miss_ns /= 2; });
  }
}

} // namespace
} // namespace dougong::sim
