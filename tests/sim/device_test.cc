// Whole launches: the kernels of inputs/kernels.s on devices of one and of many cores, in both modes; and what goes wrong.
#include "isa/commands.h"
#include "sim/device.h"
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>

namespace dougong::sim {
namespace {

std::string build(const std::string &source, const std::string &flags) {
  std::string base = testing::TempDir() + "dougong_sim_kernels" + std::to_string(std::hash<std::string>{}(flags));
  std::string command = DOUGONG_BUILD_DIR "/bin/dougong-mc -filetype=obj " DOUGONG_SOURCE_DIR "/tests/sim/inputs/" + source + " -o " +
                        base + ".o && /usr/lib/llvm-22/bin/ld.lld -e 0 " + flags + " " + base + ".o -o " + base + ".elf";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error("failed: " + command);
  std::ifstream file(base + ".elf", std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}
const std::string &fixed() {
  static const std::string elf = build("kernels.s", "--image-base=0x80000000");
  return elf;
}
const std::string &movable() {
  static const std::string elf = build("kernels.s", "-pie --no-dynamic-linker --image-base=0x80000000");
  return elf;
}

struct Bench {
  explicit Bench(Options options = {}, const Machine &machine = Machine::load("phone"), const std::string &elf = fixed())
      : device(machine, options), image(device.load(elf)) {
    device.map(block, 4096, "launch block");
    device.map(data, bytes, "data");
  }
  static constexpr uint64_t block = DG_DRAM_BASE + (16 << 20), data = DG_DRAM_BASE + (32 << 20), bytes = 4 << 20;

  Result launch(const std::string &kernel, std::vector<uint64_t> slots, uint64_t programs = 1) {
    uint64_t grid[3] = {programs, 1, 1};
    std::memcpy(at(block), grid, 24);
    std::memcpy(at(block) + 24, slots.data(), slots.size() * 8);
    return device.launch(image.symbols.at(kernel), block, programs);
  }
  uint8_t *at(uint64_t address) { return device.dram() + (address - DG_DRAM_BASE); }

  // Programs of 128 floats from data, doubled, to data + 1 MiB.
  Result double_rows(uint64_t programs) {
    auto *in = reinterpret_cast<float *>(at(data));
    for (uint64_t i = 0; i < 128 * programs; ++i)
      in[i] = float(i % 1000) - 3;
    dg_dma_command load{};
    load.element_bytes = 4;
    for (int d = 0; d < 5; ++d)
      load.count[d] = 1, load.high[d] = 1;
    load.count[4] = 128, load.high[4] = 128, load.src_stride[4] = load.dst_stride[4] = 4;
    dg_dma_command store = load;
    load.dst = store.src = DG_LM_BASE;
    std::memcpy(at(data) + bytes - 512, &load, sizeof(load));
    std::memcpy(at(data) + bytes - 256, &store, sizeof(store));
    return launch("double_rows", {data, data + (1 << 20), data + bytes - 512, data + bytes - 256}, programs);
  }

  DeviceModel device;
  const Image &image;
};

Options with(bool timing, int cores) {
  Options options;
  options.timing = timing, options.cores = cores;
  return options;
}

TEST(Launch, GivesTheSameBitsInBothModesOnAnyNumberOfCores) {
  for (bool timing : {false, true})
    for (int cores : {1, 2, 6}) {
      Bench bench(with(timing, cores));
      Result result = bench.double_rows(1001);
      ASSERT_EQ(Result::Status::done, result.status) << result.message;
      auto *out = reinterpret_cast<float *>(bench.at(Bench::data + (1 << 20)));
      for (int i = 0; i < 128 * 1001; ++i)
        ASSERT_EQ(2 * (float(i % 1000) - 3), out[i]) << i;
      EXPECT_EQ(0.0f, out[128 * 1001]);
      EXPECT_EQ(128u * 1001 * 4, result.statistics.dma_read);
      EXPECT_EQ(128u * 1001 * 4, result.statistics.dma_written);
    }
}

TEST(Launch, SharesProgramsInContiguousParts) {
  Bench bench(with(false, 6));
  ASSERT_TRUE(bench.launch("who", {Bench::data}, 20).ok());
  auto *words = reinterpret_cast<uint64_t *>(bench.at(Bench::data));
  uint64_t next = 0;
  for (uint64_t c = 0; c < 6; ++c) {
    EXPECT_EQ(c, words[8 * c]);
    EXPECT_EQ(6u, words[8 * c + 1]);
    EXPECT_EQ(next, words[8 * c + 2]);
    next = words[8 * c + 3];
    EXPECT_GE(next - words[8 * c + 2], 3u);
    EXPECT_LE(next - words[8 * c + 2], 4u);
  }
  EXPECT_EQ(20u, next);
}

TEST(Launch, TimesAreConsistent) {
  for (const char *name : {"tiny", "phone", "server"}) {
    Machine machine = Machine::load(name);
    Bench bench(with(true, 0), machine);
    Statistics before = bench.device.statistics();
    Result result = bench.double_rows(1000);
    ASSERT_TRUE(result.ok()) << result.message;
    const Statistics &s = result.statistics;
    EXPECT_GE(double(s.cycles), machine.device.launch_cycles + double(s.dram_read + s.dram_written) / machine.dram_bytes_per_cycle())
        << name;
    EXPECT_GE(s.dram_read + s.dram_written + s.l2_written, 2u * 512 * 1000) << name;
    EXPECT_NEAR(s.seconds, double(s.cycles) / (machine.device.clock_ghz * 1e9), 1e-12);
    ASSERT_EQ(size_t(bench.device.cores()), s.cores.size());
    uint64_t vector = 0, scalar = 0, lm = 0;
    for (const CoreStatistics &core : s.cores) {
      EXPECT_EQ(s.cycles, core.cycles);
      EXPECT_EQ(core.cycles, core.busy + core.idle + std::accumulate(core.stalls.begin(), core.stalls.end(), uint64_t(0)));
      EXPECT_GE(core.idle, uint64_t(machine.device.launch_cycles));
      EXPECT_LE(core.idle, core.cycles);
      EXPECT_GE(core.busy * machine.core.issue_width, core.instructions);
      for (const EngineStatistics &engine : core.engines) {
        EXPECT_EQ(core.cycles, engine.busy + engine.stalled + engine.idle);
        EXPECT_LE(engine.idle, core.cycles);
      }
      vector += core.vector_instructions, scalar += core.instructions - core.vector_instructions, lm += core.lm_read + core.lm_written;
    }
    EXPECT_EQ(vector, 3u * 4 * 1000);
    const auto &e = s.energy;
    EXPECT_NEAR(e.vector, double(vector) * machine.energy.vector_instruction_pj * 1e-12, 1e-15);
    EXPECT_NEAR(e.scalar, double(scalar) * machine.energy.scalar_instruction_pj * 1e-12, 1e-15);
    EXPECT_NEAR(e.lm, double(lm) * machine.energy.lm_pj_per_byte * 1e-12, 1e-15);
    EXPECT_NEAR(e.dram, double(s.dram_read + s.dram_written) * machine.energy.dram_pj_per_byte * 1e-12, 1e-15);
    EXPECT_NEAR(e.standing, s.seconds * machine.energy.static_w, 1e-12);
    EXPECT_NEAR(e.total(), e.tensor + e.scalar + e.vector + e.lm + e.acc + e.l2 + e.dram + e.standing, 1e-15);
    EXPECT_EQ(1u, s.launches);
    EXPECT_EQ(bench.device.statistics().cycles, before.cycles + s.cycles);
  }
}

TEST(Launch, ATraceShowsKernelsAndCommands) {
  Options options = with(true, 2);
  options.trace_file = testing::TempDir() + "dougong_trace.json";
  uint64_t cycles;
  {
    Bench bench(options);
    bench.double_rows(4);
    cycles = bench.double_rows(4).statistics.cycles + bench.device.statistics().cycles;
  }
  nlohmann::json trace = nlohmann::json::parse(std::ifstream(options.trace_file));
  int kernels = 0, loads = 0, stores = 0;
  for (const auto &event : trace["traceEvents"]) {
    if (event["ph"] != "X")
      continue;
    EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(), double(cycles) / 900.0); // microseconds at 0.9 GHz
    kernels += event["name"] == "double_rows";
    if (event["name"] != "copy")
      continue;
    EXPECT_EQ(512, event["args"]["bytes"]);
    (event["tid"] == DG_LOAD0 ? loads : stores) += 1;
  }
  EXPECT_EQ(4, kernels); // two launches on two cores
  EXPECT_EQ(8, loads);
  EXPECT_EQ(8, stores);
  options.trace_file = "/nowhere/trace.json";
  EXPECT_THROW(Bench{options}, std::runtime_error);
}

TEST(Launch, TimesAreReproducible) {
  uint64_t cycles[2];
  for (uint64_t &c : cycles)
    c = Bench(with(true, 6)).double_rows(500).statistics.cycles;
  EXPECT_EQ(cycles[0], cycles[1]);
}

TEST(Launch, MoreDramBandwidthNeverCostsTime) {
  Machine machine = Machine::load("phone");
  uint64_t last = ~0ull;
  for (double factor : {0.125, 0.25, 0.5, 1.0, 2.0}) {
    Machine faster = machine;
    faster.dram.gb_per_s *= factor;
    uint64_t cycles = Bench(with(true, 6), faster).double_rows(1000).statistics.cycles;
    EXPECT_LE(cycles, last) << factor;
    last = cycles;
  }
}

TEST(Launch, ImagesMoveAndUnload) {
  Bench bench(with(false, 1));
  EXPECT_THROW(bench.device.load(fixed()), LoadError);                            // its place is taken
  EXPECT_THROW(bench.device.load(fixed(), DG_DRAM_BASE + (48 << 20)), LoadError); // and it cannot move
  for (uint64_t place : {48, 49}) {
    const Image &moved = bench.device.load(movable(), DG_DRAM_BASE + (place << 20));
    EXPECT_EQ(DG_DRAM_BASE + (place << 20), moved.begin);
    uint64_t block[] = {1, 1, 1, Bench::data};
    std::memcpy(bench.at(Bench::block), block, sizeof(block));
    std::memset(bench.at(Bench::data), 0, 4);
    Result result = bench.device.launch(moved.symbols.at("pointer_in_data"), Bench::block, 1);
    ASSERT_TRUE(result.ok()) << result.message;
    EXPECT_EQ(4711, *reinterpret_cast<int32_t *>(bench.at(Bench::data)));
    uint64_t entry = moved.symbols.at("who");
    bench.device.unload(moved);
    EXPECT_NE(bench.device.launch(entry, Bench::block, 1).message.find("is not code"), std::string::npos);
  }
}

struct Wrong {
  const char *kernel;
  uint64_t slot;
  Result::Status status;
  std::vector<const char *> message;
};

TEST(Faults, NameTheAccessTheCoreAndTheSymbol) {
  const Wrong wrong[] = {
      {"read_slot", 0, Result::Status::fault, {"device fault: core 0 at ", "(read_slot+4)", "read of 4 bytes at 0x0: a null pointer"}},
      {"read_slot", Bench::data + Bench::bytes - 2, Result::Status::fault, {"runs over its end", "data"}},
      {"read_slot", Bench::data + Bench::bytes + 8, Result::Status::fault, {"8 bytes past the end of data"}},
      {"read_slot", DG_REMOTE_LM_BASE, Result::Status::fault, {"for DMA only"}},
      {"write_slot",
       DG_LM_BASE + (1 << 20),
       Result::Status::fault,
       {"write of 1 byte at 0x10100000", "local memory is [0x10000000, 0x10100000)"}},
      {"vector_load_of_slot", Bench::data, Result::Status::fault, {"vector access of 128 bytes", "DMA brings data there"}},
      {"vector_load_of_slot", DG_LM_BASE + (1 << 20) - 127, Result::Status::fault, {"outside local memory"}},
      {"stuck", 0, Result::Status::deadlock, {"deadlock: core 0 at ", "(stuck+4)", "flag 8 >= 1, which is at 0"}},
      {"leaves_a_command", 0, Result::Status::deadlock, {"commands are left", "queue 0 (tensor) holds 0 commands", "flag 9 >= 1"}},
      {"illegal", 0, Result::Status::fault, {"illegal instruction 0x0000", "(illegal+0)"}},
      {"jumps_away", 0, Result::Status::fault, {"jumps to 0x1234000, which is not code", "(jumps_away+"}},
      {"stops_itself", 0, Result::Status::fault, {"ebreak"}},
      {"calls_the_system", 0, Result::Status::fault, {"ecall: there is no operating system"}},
      {"unknown_register", 0, Result::Status::fault, {"control register 0x123 does not exist"}},
  };
  for (bool timing : {false, true})
    for (const Wrong &w : wrong) {
      Bench bench(with(timing, 1));
      Result result = bench.launch(w.kernel, {w.slot});
      EXPECT_EQ(w.status, result.status) << w.kernel;
      for (const char *part : w.message)
        EXPECT_NE(result.message.find(part), std::string::npos) << w.kernel << ": " << result.message;
      EXPECT_TRUE(bench.double_rows(3).ok()) << "the device is usable afterwards";
    }
}

TEST(Faults, ALimitOfInstructionsEndsAnEndlessLoop) {
  for (bool timing : {false, true}) {
    Options options = with(timing, 2);
    options.max_instructions = 100000;
    Result result = Bench(options).launch("spin", {0});
    EXPECT_EQ(Result::Status::limit, result.status);
    EXPECT_NE(result.message.find("100000 instructions"), std::string::npos) << result.message;
    EXPECT_NE(result.message.find("(spin+0)"), std::string::npos) << result.message;
  }
}

TEST(Elf, EveryTruncationAndManyMutationsAreRefusedOrLoaded) {
  DeviceModel device(Machine::load("tiny"), with(false, 1));
  auto try_load = [&](const std::string &bytes) {
    try {
      device.unload(device.load(bytes));
      return true;
    } catch (const LoadError &error) {
      EXPECT_GT(std::strlen(error.what()), 10u);
      return false;
    }
  };
  ASSERT_TRUE(try_load(fixed()));
  int refused = 0;
  for (size_t length = 0; length < fixed().size(); length += length < 600 ? 1 : 97)
    refused += !try_load(fixed().substr(0, length));
  EXPECT_GT(refused, 600);
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = movable();
    for (int j = random() % 4; j >= 0; --j)
      bytes[random() % (random() % 2 ? 512 : bytes.size())] = char(random());
    try_load(bytes);
  }
}

TEST(Elf, SaysWhatIsWrong) {
  DeviceModel device(Machine::load("tiny"), with(false, 1));
  auto message = [&](std::string bytes) -> std::string {
    try {
      device.load(bytes);
      return "";
    } catch (const LoadError &error) {
      return error.what();
    }
  };
  EXPECT_NE(message("hello").find("not an ELF file"), std::string::npos);
  EXPECT_NE(message("\x7f"
                    "ELF")
                .find("truncated ELF file"),
            std::string::npos);
  std::string other = fixed();
  other[18] = 62; // x86-64
  EXPECT_NE(message(other).find("for another machine (64-bit, machine 62)"), std::string::npos);
  other = fixed();
  other[16] = 1;
  EXPECT_NE(message(other).find("an object file, not a program"), std::string::npos);
}

TEST(Memory, RegionsDoNotOverlapAndLieInDram) {
  DeviceModel device(Machine::load("tiny"), with(false, 1));
  device.map(DG_DRAM_BASE + 100, 100, "a");
  EXPECT_THROW(device.map(DG_DRAM_BASE + 199, 1, "b"), std::invalid_argument);
  EXPECT_THROW(device.map(DG_DRAM_BASE, 101, "b"), std::invalid_argument);
  EXPECT_THROW(device.map(DG_DRAM_BASE - 1, 1, "b"), std::invalid_argument);
  EXPECT_THROW(device.map(DG_DRAM_BASE + 200, ~0ull - DG_DRAM_BASE, "b"), std::invalid_argument);
  device.map(DG_DRAM_BASE + 200, 100, "b");
  device.unmap(DG_DRAM_BASE + 100);
  device.map(DG_DRAM_BASE, 200, "c");
}

TEST(Cores, AreAsManyAsTheMachineHas) {
  EXPECT_THROW(DeviceModel(Machine::load("phone"), with(false, 7)), std::invalid_argument);
  EXPECT_EQ(6, DeviceModel(Machine::load("phone"), with(false, 0)).cores());
}

} // namespace
} // namespace dougong::sim
