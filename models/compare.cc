// Each kernel in graph form is compiled a second time, for the CPU, with f32 where it has f16; then the artifact runs on the
// NPU, and after each step the f32 kernel gets what the step read.
#include "models/compare.h"
#include "compiler/kernel.h"
#include "machines/machine.h"
#include "mlir/IR/Verifier.h"
#include "models/compile.h"
#include "models/model_error.h"
#include <cmath>

namespace dougong::models {
namespace {
using namespace mlir;

Type widened(Type type) {
  if (type.isF16() || type.isBF16())
    return Float32Type::get(type.getContext());
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(widened(shaped.getElementType()));
  return type;
}

Attribute widened(Attribute value) {
  auto wide = [](const APFloat &f) {
    APFloat g = f;
    bool exact;
    g.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &exact);
    return g;
  };
  if (auto number = dyn_cast<FloatAttr>(value); number && widened(number.getType()) != number.getType())
    return FloatAttr::get(widened(number.getType()), wide(number.getValue()));
  if (auto dense = dyn_cast<DenseFPElementsAttr>(value); dense && widened(dense.getType()) != dense.getType())
    return dense.mapValues(Float32Type::get(value.getContext()), [&](const APFloat &f) { return wide(f).bitcastToAPInt(); });
  return value;
}

// f16 → f32 throughout; the conversions between the two disappear.
void widen(func::FuncOp kernel) {
  kernel.walk([](Operation *op) {
    for (OpResult result : op->getResults())
      result.setType(widened(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(widened(argument.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      constant.setValueAttr(cast<TypedAttr>(widened(Attribute(constant.getValue()))));
  });
  SmallVector<Operation *> conversions;
  kernel.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) && op->getOperand(0).getType() == op->getResult(0).getType())
      conversions.push_back(op);
  });
  for (Operation *op : conversions) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  SmallVector<Type> arguments, results;
  for (Type type : kernel.getArgumentTypes())
    arguments.push_back(widened(type));
  for (Type type : kernel.getResultTypes())
    results.push_back(widened(type));
  kernel.setType(FunctionType::get(kernel.getContext(), arguments, results));
}

bool is_half(ElementType type) { return type == ElementType::F16 || type == ElementType::BF16; }

float half_value(uint16_t bits, ElementType type) {
  APFloat value(type == ElementType::F16 ? APFloat::IEEEhalf() : APFloat::BFloat(), APInt(16, bits));
  return value.convertToFloat();
}

// A buffer as the f32 kernel takes it: 16-bit floats widened, all else as it is.
std::vector<uint8_t> for_f32(std::span<const uint8_t> bytes, ElementType type) {
  if (!is_half(type))
    return {bytes.begin(), bytes.end()};
  std::vector<uint8_t> wide(bytes.size() * 2);
  auto *from = reinterpret_cast<const uint16_t *>(bytes.data());
  auto *to = reinterpret_cast<float *>(wide.data());
  for (size_t i = 0; i < bytes.size() / 2; ++i)
    to[i] = half_value(from[i], type);
  return wide;
}

// Adds one result to the operator's line. Both sides as f32 (or equal bytes of another type).
void measure(OperatorDifference &line, const std::vector<uint8_t> &npu, const std::vector<uint8_t> &f32, ElementType stored) {
  if (!is_half(stored) && stored != ElementType::F32) {
    line.elements += npu.size() / size_in_bytes(stored);
    line.roundings = std::max(line.roundings, npu == f32 ? 0. : HUGE_VAL);
    return;
  }
  auto *got = reinterpret_cast<const float *>(npu.data()), *expected = reinterpret_cast<const float *>(f32.data());
  size_t count = npu.size() / sizeof(float);
  line.elements += count;
  double largest = 0;
  for (size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(double(expected[i])));
  line.largest = std::max(line.largest, largest);
  int mantissa = stored == ElementType::F16 ? 11 : stored == ElementType::BF16 ? 8 : 11; // f32 results come from f16 operands
  for (size_t i = 0; i < count; ++i) {
    if (std::isnan(got[i]) && std::isnan(expected[i]))
      continue;
    double difference = std::fabs(double(got[i]) - double(expected[i]));
    double half_spacing = std::ldexp(1, std::ilogb(std::max({std::fabs(double(expected[i])), largest / 256, 0x1p-14})) - mantissa);
    line.difference = std::max(line.difference, std::isnan(difference) ? HUGE_VAL : difference);
    line.roundings = std::max(line.roundings, std::isnan(difference) ? HUGE_VAL : difference / half_spacing);
  }
}

// A kernel's f32 form, loaded on the CPU.
struct Reference {
  KernelHandle kernel = KernelHandle::None;
  std::array<uint64_t, 3> grid{};
  size_t results = 0;
};

llvm::Expected<Reference> load_reference(func::FuncOp kernel, Device &cpu) {
  OwningOpRef<ModuleOp> alone = ModuleOp::create(kernel.getLoc());
  auto copy = cast<func::FuncOp>(kernel->clone());
  alone->getBody()->push_back(copy);
  widen(copy);
  if (failed(verify(*alone)))
    return fail(Status::Unsupported, "kernel {} has no f32 form", kernel.getName().str());
  Reference reference;
  reference.results = copy.getNumResults();
  auto code = compileForCpu(*alone);
  if (!code)
    return code.takeError();
  auto module = cpu.load(code->image);
  if (!module)
    return module.takeError();
  auto handle = cpu.kernel(*module, code->kernels[0].name);
  if (!handle)
    return handle.takeError();
  reference.kernel = *handle;
  for (size_t axis = 0; axis < 3; ++axis)
    reference.grid[axis] = uint64_t(code->kernels[0].grid[axis]);
  return reference;
}

llvm::Expected<OperatorDifference> compare_step(const Executor &executor, size_t index, const Reference &reference, Device &cpu) {
  const Specialisation &program = executor.specialisation();
  const Specialisation::Step &step = program.steps[index];
  OperatorDifference line{step.name, step.nodes, 0, 0, 0, 0};
  std::vector<std::vector<uint8_t>> memory;
  std::vector<uint64_t> arguments;
  for (uint32_t buffer : step.buffers) {
    auto bytes = executor.peek(buffer);
    if (!bytes)
      return bytes.takeError();
    memory.push_back(for_f32(*bytes, program.buffers[buffer].type));
  }
  size_t first_result = memory.size() - reference.results;
  std::vector<std::vector<uint8_t>> npu(memory.begin() + std::ptrdiff_t(first_result), memory.end());
  for (size_t i = first_result; i < memory.size(); ++i)
    std::fill(memory[i].begin(), memory[i].end(), 0);
  for (std::vector<uint8_t> &bytes : memory)
    arguments.push_back(reinterpret_cast<uint64_t>(bytes.data()));
  auto cost = cpu.launch(reference.kernel, reference.grid, arguments);
  if (!cost)
    return cost.takeError();
  for (size_t i = 0; i < npu.size(); ++i)
    measure(line, npu[i], memory[first_result + i], program.buffers[step.buffers[first_result + i]].type);
  return line;
}

} // namespace

llvm::Expected<std::vector<OperatorDifference>> compare_operators(const std::string &path, const std::string &machine_name,
                                                                  const std::map<std::string, Tensor> &inputs,
                                                                  const std::function<void(const std::string &)> &progress) try {
  Machine machine = Machine::load(machine_name);
  Model model = Model::load(path);
  std::map<std::string, Shape> shapes;
  for (auto &[name, tensor] : inputs)
    shapes[name] = tensor.shape;
  auto cpu = Device::open("cpu"), npu = Device::open("npu:" + machine_name);
  if (!cpu)
    return llvm::joinErrors(cpu.takeError(), npu ? llvm::Error::success() : npu.takeError());
  if (!npu)
    return npu.takeError();

  MLIRContext context;
  load_import_dialects(context);
  std::vector<Reference> references;
  llvm::Error failure = llvm::Error::success();
  CompileOptions options;
  options.machine = &machine;
  options.progress = progress;
  options.kernel_formed = [&](func::FuncOp kernel) {
    auto reference = load_reference(kernel, **cpu);
    if (!reference)
      failure = llvm::joinErrors(std::move(failure), reference.takeError());
    references.push_back(reference ? *reference : Reference());
  };
  auto artifact = std::make_shared<Artifact>();
  artifact->model = path;
  artifact->specialisations.push_back(compile_model(import_model(model, shapes, {}, context), options, *artifact));
  if (failure)
    return std::move(failure);
  auto executor = Executor::create(artifact, 0, *npu, *cpu);
  if (!executor)
    return executor.takeError();

  std::vector<OperatorDifference> lines;
  const Specialisation &program = (*executor)->specialisation();
  (*executor)->after_step = [&](size_t step) -> llvm::Error {
    if (program.target(program.steps[step]) != Target::Npu)
      return llvm::Error::success();
    auto line = compare_step(**executor, step, references[program.steps[step].kernel], **cpu);
    if (!line)
      return line.takeError();
    lines.push_back(std::move(*line));
    return llvm::Error::success();
  };
  std::vector<Tensor> ordered;
  for (const Specialisation::Port &port : program.inputs)
    ordered.push_back(inputs.at(port.name));
  auto outputs = (*executor)->run(ordered);
  if (!outputs)
    return outputs.takeError();
  return lines;
} catch (const ModelError &error) {
  return fail(error.status, "{}", error.what());
} catch (const MachineError &error) {
  return fail(Status::Invalid, "{}", error.what());
}

} // namespace dougong::models
