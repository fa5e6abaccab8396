// compile_model: the steps in order. Start reading at the end.
#include "models/compile.h"
#include "compiler/graph/graph.h"
#include "machines/machine.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "models/kernel_code.h"
#include "models/model_error.h"

namespace dougong::models {
using namespace mlir;
namespace {

using Region = Specialisation::Buffer::Region;

// On "auto" a model of fewer multiply-adds runs in its own precision on the CPU: the NPU could not earn its launches.
constexpr int64_t auto_threshold = 1 << 22;

ElementType element_type_in_memory(Type type) {
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return ElementType::Bool;
  case 8:
    return ElementType::I8;
  case 16:
    return ElementType::I16;
  case 32:
    return ElementType::I32;
  default:
    return ElementType::I64;
  }
}

// The names of the model's nodes in a location, in order, once each: "Conv 'Conv_12'".
void collect_nodes(Location location, std::vector<std::string> &nodes) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    std::string text = name.getName().str();
    if (text.find('\'') != std::string::npos && !llvm::is_contained(nodes, text))
      nodes.push_back(text);
    return;
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      collect_nodes(part, nodes);
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collect_nodes(call.getCallee(), nodes);
    collect_nodes(call.getCaller(), nodes);
  }
}

// "Conv_12+Add+Clip": the first node's own name, then what was fused to it.
std::string short_name(const std::vector<std::string> &nodes) {
  if (nodes.empty())
    return "copy";
  std::string op = nodes[0].substr(0, nodes[0].find(' ')), own = nodes[0].substr(nodes[0].find('\'') + 1);
  own.pop_back();
  std::string result = own.find(op) == std::string::npos ? op + " " + own : own;
  for (size_t i = 1; i < nodes.size() && i < 5; ++i)
    result += "+" + nodes[i].substr(0, nodes[i].find(' '));
  return nodes.size() > 5 ? result + "+…" : result;
}

std::string tile_text(const CompiledKernel &kernel) {
  std::string text;
  for (const LocalBuffer &buffer : kernel.localBuffers)
    text += (text.empty() ? "" : "; ") + buffer.what;
  return text;
}

// @main as a list of launches on values with places.
class Program {
public:
  Program(ImportedModel &model, Artifact &artifact, Specialisation &result) : model(model), artifact(artifact), result(result) {}

  // A function @copy for results that are no kernel's own memory: an input, a weight, or a value returned twice.
  void separate_results() {
    auto main = model.module->lookupSymbol<func::FuncOp>("main");
    auto end = cast<func::ReturnOp>(main.getBody().front().getTerminator());
    std::set<void *> taken;
    for (OpOperand &operand : end->getOpOperands()) {
      mlir::Value origin = root(operand.get());
      if (origin.getDefiningOp<func::CallOp>() && taken.insert(origin.getAsOpaquePointer()).second)
        continue;
      auto type = cast<RankedTensorType>(operand.get().getType());
      ImplicitLocOpBuilder b(main.getLoc(), model.module->getContext());
      b.setInsertionPointToEnd(model.module->getBody());
      auto copy = func::FuncOp::create(b, fmt::format("copy{}", operand.getOperandNumber()), b.getFunctionType({type}, {type}));
      copy.setPrivate();
      copy->setAttr(kernelAttribute, b.getUnitAttr());
      b.setInsertionPointToEnd(copy.addEntryBlock());
      AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
      mlir::Value memory = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
      mlir::Value value = linalg::GenericOp::create(
                              b, TypeRange(type), ValueRange(copy.getArgument(0)), ValueRange(memory), ArrayRef{identity, identity},
                              SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
                              [](OpBuilder &inner, Location location, ValueRange v) { linalg::YieldOp::create(inner, location, v[0]); })
                              .getResult(0);
      func::ReturnOp::create(b, value);
      b.setInsertionPoint(end);
      mlir::Value argument = operand.get();
      if (auto constant = argument.getDefiningOp<arith::ConstantOp>())
        argument = weight_for(constant);
      operand.set(func::CallOp::create(b, copy, argument).getResult(0));
    }
  }

  void place_values(llvm::function_ref<uint32_t(StringRef)> kernel_index) {
    auto main = model.module->lookupSymbol<func::FuncOp>("main");
    place_arguments(main);
    auto end = cast<func::ReturnOp>(main.getBody().front().getTerminator());
    std::map<void *, size_t> outputs;
    for (OpOperand &operand : end->getOpOperands())
      outputs[root(operand.get()).getAsOpaquePointer()] = operand.getOperandNumber();
    std::vector<Lifetime> lifetimes;
    std::vector<uint32_t> arena_buffers; // buffer of each lifetime
    std::map<void *, size_t> lifetime_of;
    for (Operation &op : main.getBody().front()) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        size_t step = result.steps.size();
        for (mlir::Value operand : call.getOperands())
          if (auto own = lifetime_of.find(root(operand).getAsOpaquePointer()); own != lifetime_of.end())
            lifetimes[own->second].last = step;
        for (mlir::Value value : call.getResults()) {
          auto output = outputs.find(value.getAsOpaquePointer());
          uint32_t buffer = new_buffer(value.getType(), output == outputs.end() ? Region::Arena : Region::Output,
                                       output == outputs.end() ? 0 : output->second);
          buffers[value.getAsOpaquePointer()] = buffer;
          if (output != outputs.end())
            continue;
          lifetime_of[value.getAsOpaquePointer()] = lifetimes.size();
          lifetimes.push_back({result.buffers[buffer].bytes, step, step});
          arena_buffers.push_back(buffer);
        }
        add_step(call, kernel_index(call.getCallee()));
      } else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
        continue;
      } else if (!isa<func::ReturnOp, arith::ConstantOp>(op)) {
        throw ModelError(Status::Unsupported, fmt::format("'{}' stands outside of the kernels", op.getName().getStringRef().str()));
      }
    }
    std::vector<uint64_t> offsets = place_in_arena(lifetimes, result.arena_bytes);
    for (size_t i = 0; i < offsets.size(); ++i)
      result.buffers[arena_buffers[i]].offset = offsets[i];
  }

private:
  // What gave a value its memory: reshapes only rename it.
  static mlir::Value root(mlir::Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  mlir::Value weight_for(arith::ConstantOp constant) {
    auto splat = cast<DenseElementsAttr>(constant.getValue());
    auto type = cast<RankedTensorType>(constant.getType());
    Tensor data(element_type_in_memory(type.getElementType()), Shape(type.getShape()));
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      if (isa<FloatType>(type.getElementType()))
        set_real(data, i, splat.getSplatValue<APFloat>().convertToDouble());
      else
        set_integer(data, i, splat.getSplatValue<APInt>().getSExtValue());
    auto main = model.module->lookupSymbol<func::FuncOp>("main");
    unsigned at = main.getNumArguments();
    Builder b(main.getContext());
    (void)main.insertArgument(at, type, b.getDictionaryAttr(b.getNamedAttr(weightAttribute, b.getI64IntegerAttr(model.weights.size()))),
                              main.getLoc());
    model.weights.push_back({"constant", std::move(data)});
    return main.getArgument(at);
  }

  uint32_t new_buffer(Type type, Region region, uint64_t offset) {
    auto tensor = cast<RankedTensorType>(type);
    ElementType element = element_type_in_memory(tensor.getElementType());
    Shape shape(tensor.getShape());
    result.buffers.push_back({region, offset, uint64_t(element_count(shape)) * size_in_bytes(element), element, shape});
    return uint32_t(result.buffers.size() - 1);
  }

  // Is it the right operand of a contraction or convolution in some kernel?
  bool feeds_contraction(mlir::Value value) {
    for (OpOperand &use : value.getUses()) {
      if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(use.getOwner())) {
        if (feeds_contraction(use.getOwner()->getResult(0)))
          return true;
      } else if (auto call = dyn_cast<func::CallOp>(use.getOwner())) {
        auto kernel = model.module->lookupSymbol<func::FuncOp>(call.getCallee());
        for (OpOperand &inner : kernel.getArgument(use.getOperandNumber()).getUses()) {
          auto op = dyn_cast<linalg::LinalgOp>(inner.getOwner());
          if (op && inner.getOperandNumber() == 1 && (linalg::isaContractionOpInterface(op) || linalg::isaConvolutionOpInterface(op)))
            return true;
        }
      }
    }
    return false;
  }

  // Weights take the type that the kernels read them in.
  void place_arguments(func::FuncOp main) {
    size_t port = 0;
    for (BlockArgument argument : main.getArguments()) {
      auto index = main.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), weightAttribute);
      if (!index) {
        buffers[argument.getAsOpaquePointer()] = new_buffer(argument.getType(), Region::Input, port++);
        continue;
      }
      if (argument.use_empty())
        continue;
      Weight &weight = model.weights[index.getInt()];
      ElementType wanted = element_type_in_memory(cast<RankedTensorType>(argument.getType()).getElementType());
      if (size_in_bytes(wanted) != size_in_bytes(weight.data.type) || is_float(wanted) != is_float(weight.data.type))
        weight.data =
            is_half(wanted) && feeds_contraction(argument) ? rounded_for_sums(weight.data, wanted) : converted(weight.data, wanted);
      buffers[argument.getAsOpaquePointer()] = new_buffer(argument.getType(), Region::Constant, artifact.add_constant(weight.data.bytes));
    }
  }

  uint32_t buffer_of(mlir::Value value) { return buffers.at(root(value).getAsOpaquePointer()); }

  void add_step(func::CallOp call, uint32_t kernel) {
    Specialisation::Step step;
    step.kernel = kernel;
    for (mlir::Value operand : call.getOperands())
      step.buffers.push_back(buffer_of(operand));
    for (mlir::Value value : call.getResults())
      step.buffers.push_back(buffers.at(value.getAsOpaquePointer()));
    collect_nodes(call.getLoc(), step.nodes);
    if (step.nodes.empty())
      collect_nodes(model.module->lookupSymbol<func::FuncOp>(call.getCallee()).getLoc(), step.nodes);
    step.name = short_name(step.nodes);
    result.steps.push_back(std::move(step));
  }

  ImportedModel &model;
  Artifact &artifact;
  Specialisation &result;
  std::map<void *, uint32_t> buffers;
};

void run_or_throw(LogicalResult done, const char *what, const std::string &diagnostics) {
  if (failed(done))
    throw ModelError(Status::Unsupported, fmt::format("{}: {}", what, diagnostics));
}

} // namespace

Specialisation compile_model(ImportedModel model, const CompileOptions &options, Artifact &artifact) {
  MLIRContext *context = model.module->getContext();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  CompileOptions chosen = options;
  if (options.device == "auto" && multiply_adds(*model.module) < auto_threshold)
    chosen.device = "cpu";
  if (chosen.device != "cpu")
    run_or_throw(usePrecision(model.module->lookupSymbol<func::FuncOp>("main"), Float16Type::get(context)), "choosing the precision",
                 diagnostics);
  run_or_throw(formKernels(*model.module), "forming kernels", diagnostics);

  Specialisation result;
  Program program(model, artifact, result);
  program.separate_results();
  std::vector<func::FuncOp> kernels;
  std::map<std::string, uint32_t> index;
  for (func::FuncOp function : model.module->getOps<func::FuncOp>())
    if (function->hasAttr(kernelAttribute)) {
      index[function.getName().str()] = uint32_t(kernels.size());
      kernels.push_back(function);
    }
  if (options.kernel_formed)
    for (func::FuncOp kernel : kernels)
      options.kernel_formed(kernel);
  std::vector<KernelCode> code = compile_kernels(kernels, chosen);
  for (KernelCode &kernel : code) {
    CompiledKernel &line = kernel.code.kernels.at(0);
    Target target = kernel.code.target == "npu" ? Target::Npu : Target::Cpu;
    Specialisation::Kernel entry{line.name,
                                 uint32_t(result.images.size()),
                                 {},
                                 uint32_t(line.arguments.size()),
                                 uint64_t(line.tensorMacs),
                                 uint64_t(line.vectorMacs),
                                 uint64_t(line.vectorElements),
                                 uint64_t(line.compulsoryBytes),
                                 tile_text(line),
                                 {}};
    for (size_t axis = 0; axis < 3; ++axis)
      entry.grid[axis] = uint64_t(line.grid[axis]);
    for (const LocalBuffer &buffer : line.localBuffers)
      entry.local_bytes[buffer.what] += uint64_t(buffer.bytes);
    result.kernels.push_back(std::move(entry));
    result.images.push_back({target, std::move(kernel.code.image)});
    if (target == Target::Npu && options.machine)
      artifact.machine = options.machine->name;
    if (target == Target::Cpu)
      artifact.host = host_features();
  }
  for (const ImportedModel::Port &port : model.inputs)
    result.inputs.push_back({port.name, port.type, port.shape});
  for (const ImportedModel::Port &port : model.outputs)
    result.outputs.push_back({port.name, port.type, port.shape});
  program.place_values([&](StringRef name) { return index.at(name.str()); });
  for (Specialisation::Step &step : result.steps)
    step.reason = code[step.kernel].reason;
  return result;
}

} // namespace dougong::models
