// Reads of local and accumulator memory that nothing has written since the launch began: who, where, and what is no such read.
#include "tests/sim/bench_core.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace dougong::sim {
namespace {

constexpr uint64_t dram = DG_DRAM_BASE + 0x10000, lm = DG_LM_BASE;

dg_drain_command drain(uint32_t acc, uint32_t out) { // 4x4, i32
  dg_drain_command c{};
  c.acc = acc, c.out = out, c.acc_type = c.out_type = DG_I32;
  c.m[0] = 1, c.m[1] = c.n = 4, c.acc_m_stride = c.out_m_stride[1] = 16;
  return c;
}

struct WrittenMemory : testing::Test {
  static Options checked() {
    Options options;
    options.check_memory = true;
    options.cores = 2;
    return options;
  }
  WrittenMemory() { bench.shared.memory.map(dram, 1 << 20, "data"); }
  Engines &e() { return bench.engines(); }
  template <typename F> void finds(F program, const char *text) {
    std::string found = bench.trapped(program);
    EXPECT_NE(found.find(text), found.npos) << found;
  }
  BenchCore bench{phone(), checked()};
};

TEST_F(WrittenMemory, OfACopy) {
  e().dma(DG_LOAD0, copy(dram, lm + 64, 100), 0);
  EXPECT_EQ("", bench.trapped([&] { e().dma(DG_STORE0, copy(lm + 64, dram + 512, 100), 0); }));
  finds([&] { e().dma(DG_STORE0, copy(lm + 64, dram + 512, 101), 0); },
        "dg.dma reads local memory [0x10000040, 0x100000a5), and nothing has written 0x100000a4 since the launch began");
}

TEST_F(WrittenMemory, OfProductsAndDrains) {
  e().dma(DG_LOAD0, copy(dram, lm, 16), 0);
  finds([&] { e().tensor(multiply(lm, lm + 64, 0), 0); }, "dg.tensor reads local memory [0x10000040, 0x10000044)");
  finds([&] { e().drain(drain(0, lm + 128), 0); }, "dg.drain reads accumulator memory [0x0, 0x10), and nothing has written 0x0");
  dg_tensor_command onto = multiply(lm, lm, 0);
  onto.accumulate = 1;
  finds([&] { e().tensor(onto, 0); }, "dg.tensor reads accumulator memory");
  EXPECT_EQ("", bench.trapped([&] {
    e().tensor(multiply(lm, lm, 0), 0);
    e().tensor(onto, 0);
    e().drain(drain(0, lm + 128), 0);
    e().dma(DG_STORE0, copy(lm + 128, dram, 64), 0);
  }));
}

TEST_F(WrittenMemory, OfTheCore) {
  Core &core = bench.core();
  core.access(core.at, lm + 8, 4, true);
  EXPECT_EQ("", bench.trapped([&] { core.access(core.at, lm + 8, 4, false); }));
  finds([&] { core.access(core.at, lm + 8, 8, false); },
        "the core reads local memory [0x10000008, 0x10000010), and nothing has written 0x1000000c");
  core.reset(); // a new launch
  finds([&] { core.access(core.at, lm + 8, 4, false); }, "nothing has written 0x10000008");
}

TEST_F(WrittenMemory, AnotherCoreMayHaveWrittenIt) {
  e().dma(DG_LOAD0, copy(dram, lm, 64), 0);
  e().dma(DG_STORE0, copy(lm, DG_REMOTE_LM_BASE + DG_REMOTE_LM_STRIDE + 256, 64), 0);
  Core &other = bench.core(1);
  EXPECT_EQ("", bench.trapped([&] { other.access(other.at, lm + 256, 8, false); }));
  finds([&] { other.access(other.at, lm + 320, 8, false); }, "nothing has written 0x10000140");
  finds([&] { e().dma(DG_STORE0, copy(DG_REMOTE_LM_BASE + DG_REMOTE_LM_STRIDE, lm, 64), 0); }, "reads local memory of core 1 [0x10000000");
}

TEST_F(WrittenMemory, OfAnIndexList) {
  dg_dma_command gather = copy(dram, lm, 64);
  gather.count[0] = 2, gather.high[0] = 4, gather.src_stride[0] = gather.dst_stride[0] = 64;
  gather.listed = DG_LIST_SRC, gather.list = lm + 4096;
  finds([&] { e().dma(DG_LOAD0, gather, 0); }, "[0x10001000");
  e().dma(DG_LOAD0, copy(dram, lm + 4096, 8), 0);
  EXPECT_EQ("", bench.trapped([&] { e().dma(DG_LOAD0, gather, 0); }));
}

// The reserved fields of a descriptor mean nothing.
TEST_F(WrittenMemory, OfADescriptorWhatMeansSomething) {
  Core &core = bench.core();
  dg_dma_command c = copy(dram, lm, 64);
  for (uint64_t at : {lm + 1024, lm + core.lm_bytes - sizeof c}) {
    std::memcpy(bench.lm(at), &c, sizeof c);
    core.access(core.at, at, offsetof(dg_dma_command, list), true);
    size_t rest = offsetof(dg_dma_command, list) + 4;
    finds([&] { core.issue_dma(DG_LOAD0, at); }, fmt::format("nothing has written {:#x}", at + rest).c_str());
    core.access(core.at, at + rest, sizeof c - rest, true);
    EXPECT_EQ("", bench.trapped([&] { core.issue_dma(DG_LOAD0, at); }));
  }
}

} // namespace
} // namespace dougong::sim
