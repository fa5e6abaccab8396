// The race check: orders that waits give are accepted, and what they do not order is found, whatever order the model happens to execute.
#include "tests/sim/bench_core.h"
#include <functional>
#include <gtest/gtest.h>

namespace dougong::sim {
namespace {

constexpr uint64_t dram = DG_DRAM_BASE + 0x10000, lm = DG_LM_BASE;

struct Races : testing::Test {
  static Options checked() {
    Options options;
    options.check_races = true;
    return options;
  }
  Races() { bench.shared.memory.map(dram, 1 << 20, "data"); }
  Engines &e() { return bench.engines(); }
  void core_reads(uint64_t address) { bench.core().access(bench.core().at, address, 4, false); }
  void core_writes(uint64_t address) { bench.core().access(bench.core().at, address, 4, true); }
  void clean(std::function<void()> program) { EXPECT_EQ("", bench.trapped(program)); }
  void race(std::function<void()> program, const char *text) {
    std::string found = bench.trapped(program);
    EXPECT_NE(found.find(text), found.npos) << found;
  }
  BenchCore bench{phone(), checked()};
};

TEST_F(Races, GlobalMemoryBetweenQueues) {
  race(
      [&] {
        e().dma(DG_STORE0, copy(lm, dram, 64), bench.now);
        e().dma(DG_LOAD0, copy(dram + 60, lm + 128, 64), bench.now);
      },
      "dg.dma reads global memory, and no wait orders it with another access at 0x8001003c: command 1 of the store 0 queue of core 0 "
      "writes it");
}

TEST_F(Races, GlobalMemoryBetweenQueuesThatWait) {
  clean([&] {
    uint64_t stored = e().dma(DG_STORE0, copy(lm, dram, 64), bench.now);
    e().wait(DG_LOAD0, DG_STORE0, stored, 0);
    uint64_t loaded = e().dma(DG_LOAD0, copy(dram, lm + 128, 64), bench.now);
    e().wait(DG_STORE0, DG_LOAD0, loaded, 0);
    e().dma(DG_STORE0, copy(lm, dram, 64), bench.now);
  });
  race(
      [&] {
        e().dma(DG_LOAD0, copy(dram + 512, lm + 256, 64), bench.now);
        e().dma(DG_STORE0, copy(lm, dram + 575, 1), bench.now);
      },
      "at 0x8001023f: command 2 of the load 0 queue of core 0 reads it");
}

// A list belongs to the accesses of its command, unlike the descriptor.
TEST_F(Races, AnIndexListIsReadUntilItsCommandIsDone) {
  dg_dma_command gather = copy(dram, lm, 64);
  gather.count[0] = 2, gather.high[0] = 4, gather.src_stride[0] = gather.dst_stride[0] = 64;
  gather.listed = DG_LIST_SRC, gather.list = lm + 4096;
  clean([&] {
    core_writes(lm + 4100);
    uint64_t gathered = e().dma(DG_LOAD0, gather, bench.now);
    e().wait(DG_LOAD1, DG_LOAD0, gathered, 0);
    e().dma(DG_LOAD1, copy(dram, lm + 4096, 8), bench.now);
  });
  race(
      [&] {
        e().dma(DG_LOAD0, gather, bench.now);
        core_writes(lm + 4100);
      },
      "command");
}

struct CoresRace : testing::Test {
  static Options checked() {
    Options options = Races::checked();
    options.cores = 3;
    return options;
  }
  CoresRace() { bench.shared.memory.map(dram, 1 << 20, "data"); }
  std::string store(int core, uint64_t address, uint32_t bytes) {
    return bench.trapped([&] { bench.core(core).engines.dma(DG_STORE0, copy(lm, address, bytes), bench.now); });
  }
  std::string load(int core, uint64_t address, uint32_t bytes) {
    return bench.trapped([&] { bench.core(core).engines.dma(DG_LOAD0, copy(address, lm + 4096, bytes), bench.now); });
  }
  BenchCore bench{phone(), checked()};
};

TEST_F(CoresRace, NeighboursDoNot) {
  EXPECT_EQ("", store(0, dram + 4000, 133)); // over a page, to an odd byte
  EXPECT_EQ("", store(1, dram + 4133, 133));
  for (int core : {0, 1, 2})
    EXPECT_EQ("", load(core, dram + 8192, 4096));
}

TEST_F(CoresRace, TheSameByteDoes) {
  EXPECT_EQ("", store(0, dram + 4000, 133));
  EXPECT_NE(
      store(1, dram + 4132, 10).find("at 0x80011024: command 1 of the store 0 queue of core 0 writes it, and nothing orders two cores"),
      std::string::npos);
  EXPECT_NE(load(2, dram + 4000, 1).find("core 0 writes it"), std::string::npos);
  EXPECT_EQ("", load(1, dram + 9000, 8));
  EXPECT_NE(store(2, dram + 9007, 8).find("core 1 reads it"), std::string::npos);
  EXPECT_EQ("", load(2, dram + 9000, 8));
  EXPECT_NE(store(2, dram + 9003, 1).find("several cores read it"), std::string::npos);
}

TEST_F(Races, ACoreThatReadsWhatItAwaited) {
  clean([&] {
    uint64_t t = e().dma(DG_LOAD0, copy(dram, lm, 64), bench.now);
    bench.core().await(DG_LOAD0, t);
    core_reads(lm);
  });
}

TEST_F(Races, ACoreThatReadsWithoutWaiting) {
  race(
      [&] {
        e().dma(DG_LOAD0, copy(dram, lm, 64), bench.now);
        core_reads(lm + 60);
      },
      "reads local memory [0x1000003c, 0x10000040), and no wait orders it with another access at 0x1000003c: command 1 of the load 0 "
      "queue, issued at 0x80000000, writes it");
}

TEST_F(Races, BytesBesideEachOtherDoNotRace) {
  clean([&] {
    e().dma(DG_LOAD0, copy(dram, lm, 61), bench.now);
    e().dma(DG_LOAD1, copy(dram, lm + 61, 3), bench.now);
    core_reads(lm + 64);
  });
}

TEST_F(Races, TwoQueuesWriteTheSame) {
  race(
      [&] {
        e().dma(DG_LOAD0, copy(dram, lm, 64), bench.now);
        e().dma(DG_LOAD1, copy(dram, lm + 32, 64), bench.now);
      },
      "dg.dma writes local memory at 0x10000020");
}

TEST_F(Races, AQueueIsInOrderWithItself) {
  clean([&] {
    e().dma(DG_LOAD0, copy(dram, lm, 64), bench.now);
    e().dma(DG_LOAD0, copy(dram, lm, 64), bench.now);
  });
}

TEST_F(Races, ACommandFollowsWhatTheCoreDidBefore) {
  clean([&] {
    core_writes(lm);
    e().dma(DG_STORE0, copy(lm, dram, 64), bench.now);
  });
  race([&] { core_writes(lm); }, "command 1 of the store 0 queue");
}

TEST_F(Races, APipelineThatWaitsBothWays) { // loads into two slots, a product of each
  clean([&] {
    uint64_t product[2] = {0, 0};
    for (int i = 0; i < 6; ++i) {
      uint64_t slot = lm + 64 * (i % 2);
      e().wait(DG_LOAD0, DG_TENSOR, product[i % 2], 0);
      uint64_t loaded = e().dma(DG_LOAD0, copy(dram + 64 * i, slot, 64), bench.now);
      e().wait(DG_TENSOR, DG_LOAD0, loaded, 0);
      product[i % 2] = e().tensor(multiply(uint32_t(slot), uint32_t(slot) + 16, 0), bench.now);
    }
  });
}

TEST_F(Races, APipelineThatForgetsToWaitForTheReader) {
  race(
      [&] {
        for (int i = 0; i < 6; ++i) {
          uint64_t loaded = e().dma(DG_LOAD0, copy(dram + 64 * i, lm, 64), bench.now);
          e().wait(DG_TENSOR, DG_LOAD0, loaded, 0);
          e().tensor(multiply(uint32_t(lm), uint32_t(lm) + 16, 0), bench.now);
        }
      },
      "command 1 of the tensor queue, issued at 0x80000000, reads it");
}

TEST_F(Races, ADrainThatDoesNotWaitForItsProduct) {
  dg_drain_command drain{};
  drain.out = lm + 512, drain.acc_type = DG_I32, drain.out_type = DG_I32, drain.m[0] = 1, drain.m[1] = 4, drain.n = 4,
  drain.acc_m_stride = 16, drain.out_m_stride[1] = 16;
  race(
      [&] {
        e().tensor(multiply(uint32_t(lm), uint32_t(lm) + 16, 0), bench.now);
        e().drain(drain, bench.now);
      },
      "dg.drain reads accumulator memory at 0x0");
}

TEST_F(Races, OrderIsTransitive) { // load → (awaited by the core) → raises flag 9 → the store's queue waits for that
  clean([&] {
    e().wait(DG_STORE0, 9, 1, 0);
    e().dma(DG_STORE0, copy(lm, dram, 64), bench.now);
    uint64_t t = e().dma(DG_LOAD0, copy(dram + 4096, lm, 64), bench.now);
    bench.core().await(DG_LOAD0, t);
    core_writes(lm);
    e().add(9, 1, 0);
  });
}

TEST_F(Races, AFlagRaisedTooEarlyOrdersNothing) {
  race(
      [&] {
        e().add(9, 1, 0);
        e().dma(DG_LOAD0, copy(dram + 4096, lm, 64), bench.now);
        e().wait(DG_STORE0, 9, 1, 0);
        e().dma(DG_STORE0, copy(lm, dram, 64), bench.now);
      },
      "dg.dma reads local memory");
}

TEST_F(Races, ANewLaunchStartsClean) {
  clean([&] {
    e().dma(DG_LOAD0, copy(dram, lm, 64), bench.now);
    bench.core().reset();
    bench.core().at = bench.core().enter(nullptr, DG_DRAM_BASE, 0, 0);
    core_reads(lm);
  });
}

} // namespace
} // namespace dougong::sim
