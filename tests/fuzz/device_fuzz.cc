// The device model under hostile code: damaged program files, random and half-right instructions as kernels and as programs, wild
// pointers, random commands and waits.
//
//   fuzz_device [--seed N] [--first N] [--count N] KERNELS.elf INSTRUCTIONS PROGRAM.elf...
//
// KERNELS.elf is inputs/kernels.s, position-independent; INSTRUCTIONS has a 32-bit mask and value for each instruction record.
// Whatever runs, the outcome is a sim::Result or a LoadError with a text; memory that is not mapped keeps its bytes; and the device
// goes on working.
#include "isa/commands.h"
#include "sim/device.h"
#include "tests/fuzz/inputs.h"
#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <memory>

using namespace dougong;
using namespace dougong::fuzz;
using sim::DeviceModel, sim::Result;

namespace {

constexpr uint64_t mib = 1 << 20, dram_bytes = 64 * mib;
constexpr uint64_t block = DG_DRAM_BASE + 16 * mib, data = DG_DRAM_BASE + 32 * mib, data_bytes = 2 * mib;
// Mapped for nobody: just before and behind what is.
constexpr uint64_t watched[] = {block - 4096, block + 8192, data - 65536, data + data_bytes};
constexpr uint64_t watched_bytes = 4096;

std::string kernels;
std::vector<std::pair<uint32_t, uint32_t>> records; // mask, value
std::vector<std::string> programs;

uint64_t wild_pointer(Random &random) {
  static const uint64_t bases[] = {0,
                                   DG_LM_BASE,
                                   DG_LM_BASE + 256 * 1024,
                                   DG_LM_BASE + mib,
                                   DG_REMOTE_LM_BASE,
                                   DG_REMOTE_LM_BASE + DG_REMOTE_LM_STRIDE,
                                   DG_DRAM_BASE,
                                   DG_DRAM_BASE + dram_bytes,
                                   block,
                                   data,
                                   data + data_bytes,
                                   data + mib,
                                   ~0ull};
  uint64_t base = bases[below(random, std::size(bases))];
  switch (below(random, 5)) {
  case 0:
    return base + number(random);
  case 1:
    return base + below(random, 4096) * 4;
  case 2:
    return base - below(random, 256);
  case 3:
    return base + below(random, 256 * 1024) / 64 * 64;
  default:
    return base;
  }
}

// A random instruction: mostly one that exists, else any word.
uint32_t instruction(Random &random) {
  uint32_t word = uint32_t(random());
  if (one_in(random, 50))
    return word;
  auto [mask, value] = records[below(random, records.size())];
  word = (word & ~mask) | value;
  // Branches and jumps: often close by.
  if (((word & 0x7f) == 0x63 || (word & 0x7f) == 0x6f) && !one_in(random, 4))
    word = (word & 0x7f) == 0x63 ? word & ~0xfe000000u : (word & 0xfff) | (word & 0x01e00000);
  return word;
}

template <typename T> T type(Random &random) { return T(one_in(random, 20) ? random() : below(random, 9)); }

// A count of a descriptor's dimension. Mostly small: what a command costs the host is bounded, but the bound is far.
uint32_t count(Random &random) {
  return one_in(random, 30) ? uint32_t(number(random)) : one_in(random, 8) ? 1 + below(random, 200) : below(random, 10);
}
int32_t stride(Random &random) {
  return one_in(random, 20) ? int32_t(number(random)) : one_in(random, 5) ? -int32_t(below(random, 256)) : int32_t(below(random, 256));
}
uint32_t lm_address(Random &random) {
  return one_in(random, 20) ? uint32_t(wild_pointer(random)) : uint32_t(DG_LM_BASE + 4096 + below(random, 8192) * 4);
}

dg_tensor_command tensor_command(Random &random) {
  dg_tensor_command c{};
  c.a = lm_address(random), c.b = lm_address(random), c.acc = one_in(random, 10) ? uint32_t(number(random)) : 4 * below(random, 4096);
  c.a_type = type<uint8_t>(random), c.b_type = one_in(random, 8) ? type<uint8_t>(random) : c.a_type,
  c.accumulate = one_in(random, 30) ? random() : below(random, 2);
  for (uint32_t &m : c.m)
    m = count(random);
  for (uint32_t &k : c.k)
    k = count(random);
  if (one_in(random, 60)) // products of counts that do not fit a word
    for (uint32_t &k : c.k)
      k = 1u << (20 + below(random, 12));
  c.n = count(random);
  for (int32_t *s : {&c.a_m_stride[0], &c.a_m_stride[1], &c.a_k_stride[0], &c.a_k_stride[1], &c.a_k_stride[2], &c.b_k_stride[0],
                     &c.b_k_stride[1], &c.b_k_stride[2], &c.b_n_stride})
    *s = stride(random);
  c.acc_m_stride = one_in(random, 8) ? stride(random) : int32_t(4 * c.n);
  return c;
}

dg_drain_command drain_command(Random &random) {
  dg_drain_command c{};
  c.acc = one_in(random, 10) ? uint32_t(number(random)) : 4 * below(random, 4096), c.out = lm_address(random);
  for (uint32_t *address : {&c.scale, &c.bias, &c.residual})
    *address = one_in(random, 2) ? 0 : lm_address(random);
  c.acc_type = one_in(random, 10) ? type<uint8_t>(random) : one_in(random, 2) ? DG_F32 : DG_I32;
  c.out_type = type<uint8_t>(random), c.residual_type = type<uint8_t>(random);
  for (uint32_t &m : c.m)
    m = count(random);
  c.n = count(random);
  c.acc_m_stride = one_in(random, 8) ? stride(random) : int32_t(4 * c.n);
  for (int i = 0; i < 2; ++i)
    c.out_m_stride[i] = stride(random), c.residual_m_stride[i] = stride(random);
  uint32_t low = uint32_t(random()), high = uint32_t(random());
  std::memcpy(&c.low, &low, 4), std::memcpy(&c.high, &high, 4);
  return c;
}

dg_dma_command dma_command(Random &random, bool load) {
  dg_dma_command c{};
  uint64_t global = one_in(random, 6) ? wild_pointer(random) : data + below(random, data_bytes),
           local = one_in(random, 6) ? wild_pointer(random) : lm_address(random);
  c.src = load ? global : local, c.dst = load ? local : global;
  if (one_in(random, 20))
    c.src = lm_address(random), c.dst = DG_REMOTE_LM_BASE + below(random, 8) * DG_REMOTE_LM_STRIDE + below(random, 65536);
  c.element_bytes = one_in(random, 20) ? uint32_t(number(random)) : 1u << below(random, 4);
  c.fill_outside = uint8_t(one_in(random, 20) ? number(random) : below(random, 2)), c.fill = random();
  if (one_in(random, 4)) {
    c.listed = one_in(random, 10) ? uint8_t(number(random)) : load ? DG_LIST_SRC : DG_LIST_DST;
    c.list = uint32_t(one_in(random, 6) ? wild_pointer(random) : lm_address(random) & ~3ull);
    if (c.listed == DG_LIST_DST && !one_in(random, 10))
      c.fill_outside = 0;
  }
  if (one_in(random, 4)) {
    c.add = one_in(random, 20) ? uint8_t(number(random)) : 1, c.add_type = type<uint8_t>(random);
    if (c.add_type <= DG_F32 && !one_in(random, 10))
      c.element_bytes = c.add_type <= DG_U8 ? 1 : c.add_type == DG_I32 || c.add_type == DG_F32 ? 4 : 2;
  }
  if (one_in(random, 6))
    c.cores = one_in(random, 6) ? number(random) : below(random, 8);
  for (int d = 0; d < 5; ++d) {
    c.count[d] = one_in(random, 2) ? 1 : count(random);
    c.low[d] = one_in(random, 10) ? int32_t(number(random)) : 0;
    c.high[d] = one_in(random, 10) ? int32_t(number(random)) : int32_t(c.count[d]);
    c.src_stride[d] = one_in(random, 12) ? int64_t(number(random)) : stride(random);
    c.dst_stride[d] = one_in(random, 12) ? int64_t(number(random)) : stride(random);
  }
  if (one_in(random, 60)) // products of counts that do not fit two words
    for (uint32_t &n : c.count)
      n = 1u << (20 + below(random, 12));
  return c;
}

// A device that is kept for many inputs, and what must stay true of it.
class Bench {
public:
  Bench(const char *machine, bool timing, bool races, int cores)
      : device(Machine::load(machine), options_of(timing, races, cores)), image(&device.load(kernels)) {
    device.map(block, 8192, "launch block");
    device.map(data, data_bytes, "data");
    for (uint64_t at : watched)
      std::memset(host(at), 0xa5, watched_bytes);
  }
  uint8_t *host(uint64_t address) { return device.dram() + (address - DG_DRAM_BASE); }

  // Launches a kernel of inputs/kernels.s.
  Result launch(const char *kernel, const std::vector<uint64_t> &slots, uint64_t programs = 1) {
    return launch_at(image->symbols.find(kernel)->second, slots, programs);
  }
  Result launch_at(uint64_t entry, const std::vector<uint64_t> &slots, uint64_t programs) {
    std::memset(host(block), 0, 24);
    std::memcpy(host(block) + 24, slots.data(), slots.size() * 8);
    Result result = device.launch(entry, block, programs);
    check(result);
    return result;
  }

  void check(const Result &result) {
    if (result.status != Result::Status::done && result.status != Result::Status::exited && result.message.size() < 10)
      wrong("a result without a message");
    for (uint64_t at : watched)
      for (uint64_t i = 0; i < watched_bytes; ++i)
        if (host(at)[i] != 0xa5)
          wrong("unmapped memory was written");
    // The device goes on working: the kernel that adds its two arguments.
    uint64_t sum = 0, slots[] = {data + data_bytes - 8, 40, 2};
    std::memset(host(block), 0, 24);
    std::memcpy(host(block) + 24, slots, sizeof slots);
    Result after = device.launch(image->symbols.find("adds")->second, block, 1);
    std::memcpy(&sum, host(data + data_bytes - 8), 8);
    if (!after.ok() || sum != 42)
      wrong("the device is not usable afterwards: " + after.message);
  }

  DeviceModel device;
  const sim::Image *image;

private:
  static sim::Options options_of(bool timing, bool races, int cores) {
    sim::Options options;
    options.timing = timing, options.check_races = races, options.cores = cores;
    options.max_instructions = 20000, options.dram_bytes = dram_bytes;
    return options;
  }
};

// ---- The kinds of input -------------------------------------------------------------------------------------------------------------

// Registers full of wild pointers, then instructions at random. Code lies where the kernel `hostile` has room for it.
void random_kernel(Bench &bench, Random &random) {
  uint64_t place = DG_DRAM_BASE + 8 * mib;
  std::string elf = kernels;
  size_t at = elf.find("room for hostile instructions");
  for (int i = 0; i < 64; ++i) {
    uint32_t word = instruction(random);
    std::memcpy(&elf[at + 4 * i], &word, 4);
  }
  const sim::Image &moved = bench.device.load(elf, place);
  std::vector<uint64_t> slots(32);
  for (uint64_t &slot : slots)
    slot = one_in(random, 4) ? number(random) : wild_pointer(random);
  bench.launch_at(moved.symbols.find("hostile")->second, slots, below(random, 10));
  bench.device.unload(moved);
}

// A list of commands and waits that the kernel `commands` goes through: operation, value, descriptor's address.
void random_commands(Bench &bench, Random &random) {
  uint64_t length = 1 + below(random, 12), descriptors = data + 64 * 1024;
  std::vector<uint64_t> list;
  for (uint64_t i = 0; i < length; ++i) {
    uint64_t operation = below(random, 12), at = descriptors + i * 512;
    if (operation == 0) {
      dg_tensor_command c = tensor_command(random);
      std::memcpy(bench.host(at), &c, sizeof c);
    } else if (operation == 1) {
      dg_drain_command c = drain_command(random);
      std::memcpy(bench.host(at), &c, sizeof c);
    } else if (operation < 6) {
      dg_dma_command c = dma_command(random, operation % 2 == 0);
      std::memcpy(bench.host(at), &c, sizeof c);
    }
    list.insert(list.end(),
                {operation, one_in(random, 8) ? number(random) : below(random, 4), one_in(random, 40) ? wild_pointer(random) : at});
  }
  std::memcpy(bench.host(data + 128), list.data(), list.size() * 8);
  bench.launch("commands", {data + 128, length}, 1 + below(random, 3));
}

void damaged_kernels(Bench &bench, Random &random) {
  try {
    const sim::Image &moved = bench.device.load(mutated(kernels, random), DG_DRAM_BASE + 8 * mib);
    std::vector<uint64_t> slots(32);
    for (uint64_t &slot : slots)
      slot = wild_pointer(random);
    for (auto &[name, address] : std::map(moved.symbols.begin(), moved.symbols.end()))
      bench.launch_at(address, slots, 2);
    bench.launch_at(moved.entry, slots, 2);
    bench.device.unload(moved);
  } catch (const sim::LoadError &error) {
    if (std::strlen(error.what()) < 10)
      wrong("a LoadError without a message");
  }
}

// A C program with a damaged file, or with instructions changed.
void damaged_program(Random &random) {
  sim::Options options;
  options.timing = one_in(random, 2), options.check_races = one_in(random, 4), options.cores = 1;
  options.max_instructions = 50000, options.dram_bytes = 2048 * mib;
  DeviceModel device(Machine::load("tiny"), options);
  std::string elf = programs[below(random, programs.size())];
  if (one_in(random, 2)) {
    elf = mutated(elf, random);
  } else {
    for (uint64_t changes = 1 + below(random, 20); changes > 0; --changes) {
      uint32_t word = instruction(random);
      std::memcpy(&elf[4096 + below(random, (elf.size() - 4096) / 4) * 4 % (elf.size() - 4100)], &word, 4);
    }
  }
  try {
    const sim::Image &image = device.load(elf);
    Result result = device.run_program(image, {"program", "one", "two"}, ".");
    if (result.status != Result::Status::done && result.status != Result::Status::exited && result.message.size() < 10)
      wrong("a result without a message");
  } catch (const sim::LoadError &error) {
    if (std::strlen(error.what()) < 10)
      wrong("a LoadError without a message");
  } catch (const std::invalid_argument &) { // no room for the heap
  }
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments(argc, argv);
  if (arguments.others.size() < 3) {
    std::fprintf(stderr, "usage: fuzz_device [--seed N] [--first N] [--count N] KERNELS.elf INSTRUCTIONS PROGRAM.elf...\n");
    return 2;
  }
  kernels = read_file(arguments.others[0]);
  std::string words = read_file(arguments.others[1]);
  for (size_t at = 0; at + 8 <= words.size(); at += 8) {
    uint32_t mask, value;
    std::memcpy(&mask, &words[at], 4), std::memcpy(&value, &words[at + 4], 4);
    records.push_back({mask, value});
  }
  for (size_t i = 2; i < arguments.others.size(); ++i)
    programs.push_back(read_file(arguments.others[i]));
  // Programs write, read and name files: into an empty folder, and to nobody's terminal.
  char folder[] = "/tmp/dougong-fuzz-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder) != 0)
    return 2;
  int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, 0), dup2(nothing, 1);

  // Devices are kept for a while; which one an input gets depends on its number alone.
  std::map<int, std::unique_ptr<Bench>> benches;
  uint64_t statuses[4] = {};
  run_inputs(arguments, 60, [&](Random &random) {
    uint64_t kind = below(random, 8), bench = below(random, 4);
    ++statuses[kind == 7 ? 0 : kind == 6 ? 1 : kind >= 3 ? 2 : 3];
    if (kind == 7)
      return damaged_program(random);
    auto &device = benches[int(bench)];
    if (!device)
      device = std::make_unique<Bench>(bench == 0 ? "tiny" : "phone", bench == 1 || bench == 3, bench == 2, bench == 0 ? 1 : 2);
    if (kind == 6)
      damaged_kernels(*device, random);
    else if (kind >= 3)
      random_commands(*device, random);
    else
      random_kernel(*device, random);
  });
  std::fprintf(stderr, "%llu inputs: %llu damaged programs, %llu damaged images, %llu lists of commands, %llu random kernels\n",
               static_cast<unsigned long long>(arguments.count), static_cast<unsigned long long>(statuses[0]),
               static_cast<unsigned long long>(statuses[1]), static_cast<unsigned long long>(statuses[2]),
               static_cast<unsigned long long>(statuses[3]));
  benches.clear();
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
  return 0;
}
