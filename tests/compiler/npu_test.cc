// Every kernel text in tests/compiler/npu/, compiled for the NPU and run twice over: as LLVM IR with host engines in three orders
// of commands, and as machine code on the device model, in both modes; against the reference execution or the CPU target; and what the
// compiler says of kernels that it cannot compile.
#include "compiler/npu/npu.h"
#include "machines/machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "sim/device.h"
#include "tests/compiler/cpu_kernel.h"
#include "tests/compiler/npu_engines.h"
#include "tests/compiler/reference_execution.h"
#include "llvm/IR/Verifier.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace mlir;

namespace dougong {
namespace {

std::string textOf(const std::filesystem::path &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// "// RANGE: 0 1" bounds the values of every floating-point argument, "// TOLERANCE: 1e-5" says how far f32 results may lie
// from the reference, relative to the largest; without it they are equal.
double directive(const std::string &text, const std::string &name, double otherwise, int index = 0) {
  size_t at = text.find("// " + name + ":");
  if (at == std::string::npos)
    return otherwise;
  std::istringstream values(text.substr(at + name.size() + 4));
  double value = otherwise;
  for (int i = 0; i <= index; ++i)
    values >> value;
  return value;
}

Type elementOf(Type type) {
  if (auto memory = dyn_cast<MemRefType>(type))
    return memory.getElementType();
  return cast<RankedTensorType>(type).getElementType();
}

size_t bytesOf(Type element) { return std::max(1u, element.getIntOrFloatBitWidth() / 8); }

double get(const Bytes &bytes, Type element, size_t i) {
  auto as = [&](auto value) {
    std::memcpy(&value, &bytes[i * sizeof(value)], sizeof(value));
    return double(value);
  };
  if (element.isF32())
    return as(float());
  if (element.isF16())
    return as(_Float16());
  if (element.isF64())
    return as(double());
  if (element.isInteger(64))
    return as(int64_t());
  if (element.isInteger(32))
    return as(int32_t());
  if (element.isInteger(16))
    return as(int16_t());
  return as(int8_t());
}

void put(Bytes &bytes, Type element, size_t i, double value) {
  auto as = [&](auto converted) { std::memcpy(&bytes[i * sizeof(converted)], &converted, sizeof(converted)); };
  if (element.isF32())
    as(float(value));
  else if (element.isF16())
    as(_Float16(value));
  else if (element.isF64())
    as(value);
  else if (element.isInteger(64))
    as(int64_t(value));
  else if (element.isInteger(32))
    as(int32_t(value));
  else if (element.isInteger(16))
    as(int16_t(value));
  else if (element.isInteger(1))
    as(int8_t(value > 0));
  else
    as(int8_t(value));
}

class Npu : public testing::TestWithParam<std::string> {};

// In graph form buffers are the tensors; in tile form each argument's elements are given by "// SIZES: 1000 1000".
struct Case {
  explicit Case(const std::string &text) : text(text), context(MLIRContext::Threading::DISABLED) {
    registerKernelDialects(context);
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      throw std::runtime_error("the kernel's text is not valid");
    auto kernel = *module->getOps<func::FuncOp>().begin();
    types.assign(kernel.getArgumentTypes().begin(), kernel.getArgumentTypes().end());
    types.append(kernel.getResultTypes().begin(), kernel.getResultTypes().end());
    std::mt19937 random(7);
    double low = directive(text, "RANGE", -2, 0), high = directive(text, "RANGE", 2, 1);
    for (auto [index, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      size_t count = tensor ? tensor.getNumElements() : size_t(directive(text, "SIZES", 0, index));
      Type element = elementOf(type);
      Bytes bytes(count * bytesOf(element), 0);
      std::uniform_real_distribution<double> uniform(low, high);
      for (size_t i = 0; i < count; ++i)
        put(bytes, element, i,
            element.isInteger() && element.getIntOrFloatBitWidth() > 1 ? std::floor(uniform(random) * 50) : uniform(random));
      memory.push_back(std::move(bytes));
    }
    expected = memory;
    if (!kernel->hasAttr("dg.grid")) {
      execute(*module, kernel.getName().str(), expected);
      return;
    }
    // The reference execution knows few operations on tensors outside linalg; the CPU target, no relative of this one, all.
    // A second kernel of the file says the same in other words, where the first has what the CPU target lacks.
    auto kernels = module->getOps<func::FuncOp>();
    CpuKernel reference(text, std::distance(kernels.begin(), kernels.end()) - 1);
    std::vector<uint64_t> slots;
    for (Bytes &buffer : expected)
      slots.push_back(reinterpret_cast<uint64_t>(buffer.data()));
    reference.run(slots, 1);
  }

  void compare(const std::vector<Bytes> &found, const std::string &how) const {
    double tolerance = directive(text, "TOLERANCE", 0);
    for (auto [index, type] : llvm::enumerate(types)) {
      Type element = elementOf(type);
      size_t count = expected[index].size() / bytesOf(element), wrong = 0;
      double largest = 0;
      for (size_t i = 0; i < count; ++i)
        if (double value = get(expected[index], element, i); std::isfinite(value))
          largest = std::max(largest, std::fabs(value));
      double allowed = element.isF16() ? std::max(tolerance, 1e-3) : tolerance;
      for (size_t i = 0; i < count && wrong < 5; ++i) {
        double a = get(expected[index], element, i), b = get(found[index], element, i);
        if (a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= allowed * largest)
          continue;
        ++wrong;
        ADD_FAILURE() << "buffer " << index << " element " << i << ": " << b << ", the reference has " << a << " (" << how << ")";
      }
    }
  }

  std::string text;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<Type> types;
  std::vector<Bytes> memory, expected;
};

void runOnHost(Case &each, Order order, const char *machineName, int cores) {
  std::vector<Bytes> found = each.memory;
  Machine machine = Machine::load(machineName);
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto ir = std::make_unique<llvm::Module>("test", *llvmContext);
  OwningOpRef<ModuleOp> copy = each.module->clone();
  auto compiled = npu::emitForNpu(*copy, machine, *ir);
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  ASSERT_FALSE(llvm::verifyModule(*ir, &stream)) << broken;
  HostKernels kernels(std::move(ir), std::move(llvmContext));
  const CompiledKernel &description = compiled->front();
  uint64_t programs = description.grid[0] * description.grid[1] * description.grid[2];
  std::vector<uint64_t> launch(description.grid.begin(), description.grid.end());
  for (Bytes &buffer : found)
    launch.push_back(reinterpret_cast<uint64_t>(buffer.data()));
  auto entry = kernels[description.name];
  for (int core = 0; core < cores; ++core) {
    HostEngines engines(order, machine.lm_bytes(), machine.acc_bytes());
    entry(reinterpret_cast<const dg_launch *>(launch.data()), core, programs, cores);
    EXPECT_TRUE(engines.idle()) << "the kernel returns while commands are under way";
  }
  each.compare(found, std::string(machineName) + " by host engines, order " + std::to_string(int(order)));
}

std::vector<Bytes> runOnDevice(Case &each, const char *machineName, bool timing, int cores) {
  Machine machine = Machine::load(machineName);
  OwningOpRef<ModuleOp> copy = each.module->clone();
  auto compiled = compileForNpu(*copy, machine);
  if (!compiled)
    throw std::runtime_error(llvm::toString(compiled.takeError()));
  sim::DeviceModel device(machine, {.timing = timing, .cores = cores, .max_instructions = 200000000});
  const sim::Image &image = device.load(compiled->image);
  const CompiledKernel &kernel = compiled->kernels.front();
  uint64_t at = (image.end + 0xffff) / 0x10000 * 0x10000;
  std::vector<uint64_t> launch(kernel.grid.begin(), kernel.grid.end());
  std::vector<uint64_t> places;
  // Each buffer is mapped by itself: an access beyond its end faults.
  for (const Bytes &buffer : each.memory) {
    launch.push_back(at);
    places.push_back(at);
    device.map(at, buffer.size(), "argument");
    std::memcpy(device.dram() + (at - DG_DRAM_BASE), buffer.data(), buffer.size());
    at += (buffer.size() + 0x1ffff) / 0x10000 * 0x10000;
  }
  device.map(at, launch.size() * 8, "launch");
  std::memcpy(device.dram() + (at - DG_DRAM_BASE), launch.data(), launch.size() * 8);
  sim::Result result = device.launch(image.symbols.find(kernel.name)->second, at, kernel.grid[0] * kernel.grid[1] * kernel.grid[2]);
  if (!result.ok())
    throw std::runtime_error(result.message);
  std::vector<Bytes> found = each.memory;
  for (auto [buffer, place] : llvm::zip(found, places))
    std::memcpy(buffer.data(), device.dram() + (place - DG_DRAM_BASE), buffer.size());
  return found;
}

Case load(const std::string &name) { return Case(textOf(std::filesystem::path(DOUGONG_SOURCE_DIR) / "tests/compiler/npu" / name)); }

TEST_P(Npu, WaitsForWhatItNeeds) {
  Case each = load(GetParam());
  for (const char *machine : {"tiny", "phone"})
    for (Order order : {Order::AtOnce, Order::AsLateAsPossible, Order::AtRandom})
      if (!HasFailure())
        runOnHost(each, order, machine, machine[0] == 't' ? 1 : 3);
}

TEST_P(Npu, EqualsTheReferenceOnTheDevice) {
  Case each = load(GetParam());
  for (const char *machine : {"tiny", "phone"}) {
    std::vector<Bytes> first = runOnDevice(each, machine, false, 0);
    each.compare(first, machine);
    EXPECT_EQ(first, runOnDevice(each, machine, true, 1)) << "timing mode, one core";
  }
}

std::vector<std::string> kernelTexts() {
  std::vector<std::string> names;
  for (auto &entry : std::filesystem::directory_iterator(std::filesystem::path(DOUGONG_SOURCE_DIR) / "tests/compiler/npu"))
    if (entry.path().extension() == ".mlir")
      names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Npu, testing::ValuesIn(kernelTexts()), [](const auto &info) {
  std::string name = info.param.substr(0, info.param.size() - 5);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

//===-- Diagnostics -------------------------------------------------------===//

// What the compiler says of a kernel that it refuses; empty if it takes it.
std::string refusal(const std::string &text, const char *machine = "phone") {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerKernelDialects(context);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "the test's text is not valid";
  llvm::LLVMContext llvmContext;
  llvm::Module ir("test", llvmContext);
  auto compiled = npu::emitForNpu(*module, Machine::load(machine), ir);
  return compiled ? "" : llvm::toString(compiled.takeError());
}

std::string inTileForm(const std::string &arguments, const std::string &body) {
  return "func.func @k(" + arguments +
         ") attributes {dg.kernel, dg.grid = array<i64: 1, 1, 1>} {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n" +
         body + "  return\n}\n";
}

void expectSaid(const std::string &said, const std::vector<const char *> &parts) {
  for (const char *part : parts)
    EXPECT_NE(said.find(part), std::string::npos) << "'" << part << "' is missing in: " << said;
}

TEST(NpuDiagnostics, TooMuchLocalMemoryNamesWhatFillsIt) {
  std::string text = inTileForm("%x: memref<?xf32>, %y: memref<?xf32>", R"(
  %t = dg.load %x[%c0] strides [%c1] : memref<?xf32> -> tensor<200000xf32>
  %d = math.exp %t : tensor<200000xf32>
  %e = arith.divf %d, %t : tensor<200000xf32>
  dg.store %e, %y[%c0] strides [%c1] : tensor<200000xf32> -> memref<?xf32>
)");
  expectSaid(refusal(text), {"kernel 'k' needs", "bytes more local memory than a core of 'phone' has (1032192)", "make its blocks smaller",
                             "800128 bytes: loaded tile, 200000xf32", "800128 bytes: computed tile, 200000xf32"});
  EXPECT_EQ(refusal(text, "server"), "");
}

TEST(NpuDiagnostics, TooManyAccumulators) {
  std::string text = inTileForm("%x: memref<?xf16>, %y: memref<?xf32>", R"(
  %z = arith.constant 0.0 : f32
  %t = dg.load %x[%c0] strides [%c1, %c1] : memref<?xf16> -> tensor<512x16xf16>
  %u = dg.load %x[%c0] strides [%c1, %c1] : memref<?xf16> -> tensor<16x256xf16>
  %e = tensor.empty() : tensor<512x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
  %m = linalg.matmul ins(%t, %u : tensor<512x16xf16>, tensor<16x256xf16>) outs(%f : tensor<512x256xf32>) -> tensor<512x256xf32>
  %h = arith.truncf %m : tensor<512x256xf32> to tensor<512x256xf16>
  dg.store %h, %x[%c0] strides [%c1, %c1] : tensor<512x256xf16> -> memref<?xf16>
)");
  expectSaid(refusal(text), {"accumulator memory than a core of 'phone' has (262144)", "524288 bytes: accumulators, 512x256xf32"});
}

TEST(NpuDiagnostics, AnArgumentWithoutRegister) {
  expectSaid(refusal(inTileForm("%x: memref<?xf32>, %c: complex<f32>", "")),
             {"argument 1 has the type 'complex<f32>', which the NPU has no register for"});
}

TEST(NpuDiagnostics, AnOperationThatTheVectorUnitLacks) {
  std::string text = inTileForm("%x: memref<?xf64>", R"(
  %t = dg.load %x[%c0] strides [%c1] : memref<?xf64> -> tensor<64xf64>
  %d = math.log2 %t : tensor<64xf64>
  dg.store %d, %x[%c0] strides [%c1] : tensor<64xf64> -> memref<?xf64>
)");
  expectSaid(refusal(text), {"'math.log2' op is not supported on the NPU for 'f64'"});
}

TEST(NpuDiagnostics, PaddingThatDependsOnThePlace) {
  std::string text = inTileForm("%x: memref<?xf32>", R"(
  %t = dg.load %x[%c0] strides [%c1] : memref<?xf32> -> tensor<60xf32>
  %p = tensor.pad %t low[2] high[2] {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i32
    %v = arith.sitofp %n : i32 to f32
    tensor.yield %v : f32
  } : tensor<60xf32> to tensor<64xf32>
  dg.store %p, %x[%c0] strides [%c1] : tensor<64xf32> -> memref<?xf32>
)");
  expectSaid(refusal(text), {"'tensor.pad' op is not supported on the NPU: padding must be one value"});
}

TEST(NpuDiagnostics, ElementsThatNothingComputes) {
  std::string copy = inTileForm("%x: memref<?xcomplex<f32>>", R"(
  %t = dg.load %x[%c0] strides [%c1] : memref<?xcomplex<f32>> -> tensor<8xcomplex<f32>>
  dg.store %t, %x[%c0] strides [%c1] : tensor<8xcomplex<f32>> -> memref<?xcomplex<f32>>
)");
  expectSaid(refusal(copy), {"'dg.load' op has elements of type 'complex<f32>'; the NPU knows integers and floats of up to 64 bits"});
  std::string small = inTileForm("%x: memref<?xf8E4M3FN>", R"(
  %t = dg.load %x[%c0] strides [%c1] : memref<?xf8E4M3FN> -> tensor<8xf8E4M3FN>
  %n = arith.negf %t : tensor<8xf8E4M3FN>
  dg.store %n, %x[%c0] strides [%c1] : tensor<8xf8E4M3FN> -> memref<?xf8E4M3FN>
)");
  expectSaid(
      refusal(small),
      {"'linalg.generic' op computes with elements of type 'f8E4M3FN', which the NPU can only load, store and multiply in contractions"});
}

TEST(NpuDiagnostics, IntegerSumsThatALoopChangesOtherwise) {
  std::string text = inTileForm("%x: memref<?xi8>, %y: memref<?xi32>", R"(
  %z = arith.constant 0 : i32
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<8x32xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<8x32xi32>) -> tensor<8x32xi32>
  %a = dg.load %x[%c0] strides [%c1, %c1] : memref<?xi8> -> tensor<8x16xi8>
  %b = dg.load %x[%c0] strides [%c1, %c1] : memref<?xi8> -> tensor<16x32xi8>
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %f) -> (tensor<8x32xi32>) {
    %m = linalg.matmul ins(%a, %b : tensor<8x16xi8>, tensor<16x32xi8>) outs(%acc : tensor<8x32xi32>) -> tensor<8x32xi32>
    %d = arith.addi %m, %m : tensor<8x32xi32>
    scf.yield %d : tensor<8x32xi32>
  }
  dg.store %r, %y[%c0] strides [%c1, %c1] : tensor<8x32xi32> -> memref<?xi32>
)");
  expectSaid(
      refusal(text),
      {"'linalg.matmul' op adds integers to a tile that its loop changes otherwise, too; add them to zeros, and the sum afterwards"});
}

TEST(NpuDiagnostics, ASliceWithComputedSteps) {
  std::string text = inTileForm("%x: memref<?xf32>, %s: index", R"(
  %t = dg.load %x[%c0] strides [%c1] : memref<?xf32> -> tensor<64xf32>
  %p = tensor.extract_slice %t[0] [8] [%s] : tensor<64xf32> to tensor<8xf32>
  dg.store %p, %x[%c0] strides [%c1] : tensor<8xf32> -> memref<?xf32>
)");
  expectSaid(refusal(text), {"'tensor.extract_slice' op is not supported on the NPU: a slice's strides must be constants"});
}

} // namespace
} // namespace dougong
