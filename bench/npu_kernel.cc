// npu_kernel FILE.mlir [MACHINE [ELEMENTS…]]: compiles the file's first kernel for the NPU and runs it in timing mode on random data;
// prints cycles, what each engine did, and how that compares with the machine's peaks. ELEMENTS: the size of each memory
// argument of a kernel in tile form.
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

int main(int argc, char **argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: npu_kernel FILE.mlir [MACHINE [ELEMENTS...]]\n"), 2;
  Machine machine = Machine::load(argc > 2 ? argv[2] : "phone");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  registerKernelDialects(context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 2;
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  std::vector<std::pair<size_t, mlir::Type>> buffers;
  int given = 3;
  llvm::SmallVector<mlir::Type> types(function.getArgumentTypes());
  types.append(function.getResultTypes().begin(), function.getResultTypes().end());
  for (mlir::Type type : types)
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type))
      buffers.push_back({size_t(tensor.getNumElements()), tensor.getElementType()});
    else if (auto memory = mlir::dyn_cast<mlir::MemRefType>(type))
      buffers.push_back({given < argc ? size_t(std::atoll(argv[given++])) : size_t(1) << 20, memory.getElementType()});
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  auto compiled = compileForNpu(*module, machine);
  if (!compiled)
    return std::fprintf(stderr, "%s\n", llvm::toString(compiled.takeError()).c_str()), 1;
  const CompiledKernel &kernel = compiled->kernels.front();
  std::printf("compiled in %.0f ms, grid %ldx%ldx%ld\n", 1e3 * seconds(), long(kernel.grid[0]), long(kernel.grid[1]), long(kernel.grid[2]));
  for (const LocalBuffer &buffer : kernel.localBuffers)
    std::printf("  %8ld bytes: %s\n", long(buffer.bytes), buffer.what.c_str());

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
  sim::Result result = device.launch(image.symbols.find(kernel.name)->second, at, kernel.grid[0] * kernel.grid[1] * kernel.grid[2]);
  if (!result.ok())
    return std::fprintf(stderr, "%s\n", result.message.c_str()), 1;
  const sim::Statistics &s = result.statistics;
  std::printf("%lu cycles, %.1f us on '%s' (simulated in %.2f s), %lu instructions, %lu vector\n", s.cycles, 1e6 * s.seconds, machine.name.c_str(), seconds(),
              s.instructions(), s.vector_instructions());
  double macs = double(machine.tensor.rows) * machine.tensor.columns * machine.tensor.f16_rate * machine.device.cores * s.cycles;
  double dram = machine.dram_bytes_per_cycle() * s.cycles;
  std::printf("tensor: %.1f%% of the f16 peak; DRAM: %lu bytes read, %lu written, %.1f%% of its bandwidth; DMA asked for %lu + %lu\n", 100 * s.tensor_macs() / macs,
              s.dram_read, s.dram_written, 100 * (s.dram_read + s.dram_written) / dram, s.dma_read, s.dma_written);
  for (size_t c = 0; c < s.cores.size() && c < 2; ++c) {
    const sim::CoreStatistics &core = s.cores[c];
    std::printf("core %zu: busy %.1f%%", c, 100.0 * core.busy / core.cycles);
    for (int cause = 0; cause < int(sim::Stall::count); ++cause)
      std::printf(", %s %.1f%%", std::string(name(sim::Stall(cause))).c_str(), 100.0 * core.stalls[cause] / core.cycles);
    std::printf("\n");
    for (int q = 0; q < DG_QUEUES; ++q)
      std::printf("  %-8s %6lu commands, busy %.1f%%, stalled %.1f%%\n", std::string(sim::engine_name(q)).c_str(), core.engines[q].commands,
                  100.0 * core.engines[q].busy / core.cycles, 100.0 * core.engines[q].stalled / core.cycles);
  }
  return 0;
}
