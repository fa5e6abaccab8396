// npu_kernel FILE.mlir [MACHINE [ELEMENTS…]]: compiles the file's kernels for the NPU and runs each in timing mode on random data.
// For a single kernel it prints cycles, what each engine did, and how that compares with the machine's peaks; for several a
// line each, slowest first. ELEMENTS: the size of each memory argument of a kernel in tile form.
#include "compiler/kernel.h"
#include "machines/machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "sim/device.h"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

using namespace dougong;

namespace {

struct Measured {
  std::string name;
  double milliseconds = 0;
  uint64_t cycles = 0;
  std::string line;
};

double percent(double part, double whole) { return whole ? 100 * part / whole : 0; }

// Places the arguments' random data, runs the kernel, and says what it took.
Measured measure(mlir::ModuleOp module, const Machine &machine, std::vector<size_t> elements, bool details) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  std::vector<std::pair<size_t, mlir::Type>> buffers;
  size_t given = 0;
  llvm::SmallVector<mlir::Type> types(function.getArgumentTypes());
  types.append(function.getResultTypes().begin(), function.getResultTypes().end());
  for (mlir::Type type : types)
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type))
      buffers.push_back({size_t(tensor.getNumElements()), tensor.getElementType()});
    else if (auto memory = mlir::dyn_cast<mlir::MemRefType>(type))
      buffers.push_back({given < elements.size() ? elements[given++] : size_t(1) << 20, memory.getElementType()});
  Measured result;
  result.name = function.getName().str();
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  auto compiled = compileForNpu(module, machine);
  if (!compiled) {
    result.line = llvm::toString(compiled.takeError());
    return result;
  }
  const CompiledKernel &kernel = compiled->kernels.front();
  result.milliseconds = 1e3 * seconds();
  if (details) {
    std::printf("compiled in %.0f ms, grid %ldx%ldx%ld\n", result.milliseconds, long(kernel.grid[0]), long(kernel.grid[1]),
                long(kernel.grid[2]));
    for (const LocalBuffer &buffer : kernel.localBuffers)
      std::printf("  %8ld bytes: %s\n", long(buffer.bytes), buffer.what.c_str());
  }
  sim::DeviceModel device(machine, {.timing = true});
  const sim::Image &image = device.load(compiled->image);
  uint64_t at = (image.end + 0xffff) / 0x10000 * 0x10000;
  device.map(at, 1ull << 32, "arguments");
  std::vector<uint64_t> launch(kernel.grid.begin(), kernel.grid.end());
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (auto [count, type] : buffers) {
    uint8_t *memory = device.dram() + (at - DG_DRAM_BASE);
    size_t bytes = std::max(1u, type.getIntOrFloatBitWidth() / 8);
    for (size_t i = 0; i < count; ++i) {
      float value = uniform(random);
      auto half = _Float16(value);
      if (type.isF32())
        std::memcpy(memory + 4 * i, &value, 4);
      else if (type.isF16())
        std::memcpy(memory + 2 * i, &half, 2);
    }
    launch.push_back(at);
    at += (count * bytes + 0xffff) / 0x10000 * 0x10000;
  }
  std::memcpy(device.dram() + (at - DG_DRAM_BASE), launch.data(), launch.size() * 8);
  start = std::chrono::steady_clock::now();
  sim::Result launched = device.launch(image.symbols.find(kernel.name)->second, at, kernel.grid[0] * kernel.grid[1] * kernel.grid[2]);
  if (!launched.ok()) {
    result.line = launched.message;
    return result;
  }
  const sim::Statistics &s = launched.statistics;
  result.cycles = s.cycles;
  double macs = double(machine.tensor.rows) * machine.tensor.columns * machine.tensor.f16_rate * machine.device.cores * s.cycles;
  double tensor = percent(s.tensor_macs(), macs), dram = percent(s.dram_read + s.dram_written, machine.dram_bytes_per_cycle() * s.cycles);
  const sim::CoreStatistics &core = s.cores[0];
  auto ofCore = [&](uint64_t cycles) { return percent(cycles, core.cycles); };
  char line[400];
  std::snprintf(line, sizeof line,
                "%8lu cycles  grid %4ldx%ldx%ld  tensor %5.1f%%  DRAM %5.1f%%  core busy %5.1f%% vector %5.1f%% memory %5.1f%% scalar "
                "%5.1f%% await %5.1f%%  load %5.1f%% %5.1f%% store %5.1f%%",
                s.cycles, long(kernel.grid[0]), long(kernel.grid[1]), long(kernel.grid[2]), tensor, dram, ofCore(core.busy),
                ofCore(core.stalls[int(sim::Stall::vector)]), ofCore(core.stalls[int(sim::Stall::memory)]),
                ofCore(core.stalls[int(sim::Stall::scalar)]), ofCore(core.stalls[int(sim::Stall::await)]),
                ofCore(core.engines[DG_LOAD0].busy), ofCore(core.engines[DG_LOAD1].busy), ofCore(core.engines[DG_STORE0].busy));
  result.line = line;
  if (!details)
    return result;
  std::printf("%lu cycles, %.1f us on '%s' (simulated in %.2f s), %lu instructions, %lu vector\n", s.cycles, 1e6 * s.seconds,
              machine.name.c_str(), seconds(), s.instructions(), s.vector_instructions());
  std::printf("tensor: %.1f%% of the f16 peak; DRAM: %lu bytes read, %lu written, %.1f%% of its bandwidth; DMA asked for %lu + %lu\n",
              tensor, s.dram_read, s.dram_written, dram, s.dma_read, s.dma_written);
  std::printf("core 0: busy %.1f%%", ofCore(core.busy));
  for (int cause = 0; cause < int(sim::Stall::count); ++cause)
    std::printf(", %s %.1f%%", std::string(name(sim::Stall(cause))).c_str(), ofCore(core.stalls[cause]));
  std::printf("\n");
  for (int q = 0; q < DG_QUEUES; ++q)
    std::printf("  %-8s %6lu commands, busy %.1f%%, stalled %.1f%%\n", std::string(sim::engine_name(q)).c_str(), core.engines[q].commands,
                ofCore(core.engines[q].busy), ofCore(core.engines[q].stalled));
  return result;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: npu_kernel FILE.mlir [MACHINE [ELEMENTS...]]\n"), 2;
  Machine machine = Machine::load(argc > 2 ? argv[2] : "phone");
  std::vector<size_t> elements;
  for (int i = 3; i < argc; ++i)
    elements.push_back(std::atoll(argv[i]));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  registerKernelDialects(context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 2;
  std::vector<mlir::func::FuncOp> kernels;
  for (auto function : module->getOps<mlir::func::FuncOp>())
    if (function->hasAttr("dg.kernel"))
      kernels.push_back(function);
  std::vector<Measured> all;
  for (mlir::func::FuncOp kernel : kernels) {
    mlir::OwningOpRef<mlir::ModuleOp> single = mlir::ModuleOp::create(kernel.getLoc());
    single->push_back(kernel->clone());
    all.push_back(measure(*single, machine, elements, kernels.size() == 1));
  }
  std::stable_sort(all.begin(), all.end(), [](const Measured &a, const Measured &b) { return a.cycles > b.cycles; });
  uint64_t total = 0;
  for (const Measured &each : all) {
    total += each.cycles;
    if (kernels.size() > 1 || !each.cycles)
      std::printf("%-6s %4.0f ms  %s\n", each.name.c_str(), each.milliseconds, each.line.c_str());
  }
  if (kernels.size() > 1)
    std::printf("%lu cycles in all\n", total);
  return 0;
}
