// Compiles a kernel for the CPU and runs it in this process, for the tests and benchmarks of compiler/cpu.
#pragma once
#include "compiler/cpu/cpu.h"
#include "isa/machine_layout.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tests/compiler/host_code.h"
#include <bit>
#include <cstring>
#include <random>
#include <thread>

namespace dougong {

// All of AVX-512: what hosts with AVX2 lack.
inline constexpr const char *withoutAvx512 =
    "avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512vnni,avx512bf16,avx512vbmi,avx512vbmi2,avx512ifma,avx512bitalg,avx512vpopcntdq,"
    "avx512vp2intersect,avx512fp16";

inline std::vector<float> randomFloats(size_t count, unsigned seed, float low = -1, float high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(generator);
  return values;
}

class CpuKernel {
public:
  using Entry = void (*)(const dg_launch *, uint64_t, uint64_t, uint64_t);

  // `without`: features of this host that the code may not use.
  explicit CpuKernel(const std::string &text, size_t index = 0, const char *without = "") {
    jit = hostCode(); // targets first: the compiler asks for the host's
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    registerKernelDialects(context);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      throw std::runtime_error("the kernel's text is not valid");
    compiled = take(cpu::compileForMachine(*module, *take(cpu::hostMachine(without))));
    check(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(compiled.image)));
    entry = take(jit->lookup(compiled.kernels.at(index).name)).toPtr<Entry>();
    grid = compiled.kernels.at(index).grid;
  }

  // Runs the whole grid, program i on thread i modulo `threads`.
  template <typename... Arguments> void operator()(Arguments... arguments) const { run({slot(arguments)...}, 1); }

  void run(std::vector<uint64_t> slots, unsigned threads) const {
    std::vector<uint64_t> launch = {uint64_t(grid[0]), uint64_t(grid[1]), uint64_t(grid[2])};
    launch.insert(launch.end(), slots.begin(), slots.end());
    auto *block = reinterpret_cast<const dg_launch *>(launch.data());
    uint64_t programs = grid[0] * grid[1] * grid[2];
    std::vector<std::thread> others;
    for (unsigned t = 1; t < threads; ++t)
      others.emplace_back([=, this] { entry(block, t, programs, threads); });
    entry(block, 0, programs, threads);
    for (std::thread &other : others)
      other.join();
  }

  template <typename T> static uint64_t slot(T value) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<uint64_t>(value);
    else if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<uint32_t>(value);
    else if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<uint64_t>(value);
    else
      return uint64_t(value);
  }

  // Another kernel of the module.
  void select(const std::string &name) {
    auto kernel = llvm::find_if(compiled.kernels, [&](const CompiledKernel &k) { return k.name == name; });
    if (kernel == compiled.kernels.end())
      throw std::runtime_error("no kernel " + name);
    entry = take(jit->lookup(name)).toPtr<Entry>();
    grid = kernel->grid;
  }
  template <typename... Arguments> void call(const std::string &name, Arguments... arguments) {
    select(name);
    run({slot(arguments)...}, 1);
  }

  CompiledModule compiled;
  std::array<int64_t, 3> grid{};
  Entry entry = nullptr;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace dougong
