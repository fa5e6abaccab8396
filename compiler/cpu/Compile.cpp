// compileForCpu: the steps, in order. Start reading here.
#include "compiler/cpu/cpu.h"
#include "compiler/dialect/Dg.h"
#include "compiler/graph/graph.h"

using namespace mlir;
using namespace dougong;

namespace {
bool isGraphForm(func::FuncOp kernel) {
  return kernel.getNumResults() != 0 || llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<TensorType>);
}

std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

// The table's line for a kernel, from its form before anything is changed.
CompiledKernel describe(func::FuncOp kernel) {
  CompiledKernel result;
  result.name = kernel.getName().str();
  bool graph = isGraphForm(kernel);
  auto add = [&](Type type, bool written) {
    auto shaped = dyn_cast<ShapedType>(type);
    result.arguments.push_back({nameOf(shaped ? shaped.getElementType() : type), bool(shaped), written});
    if (graph && shaped && shaped.hasStaticShape())
      result.compulsoryBytes +=
          shaped.getNumElements() * std::max<int64_t>(1, (shaped.getElementType().isIndex() ? 64 : shaped.getElementTypeBitWidth()) / 8);
  };
  for (BlockArgument argument : kernel.getArguments()) {
    bool written = llvm::any_of(argument.getUsers(), [&](Operation *user) { return dg::writtenMemory(user) == argument; });
    add(argument.getType(), written);
  }
  for (Type type : kernel.getResultTypes())
    add(type, true);
  if (graph)
    kernel.walk([&](linalg::LinalgOp op) {
      int64_t work = 1;
      for (int64_t extent : op.getStaticLoopRanges())
        work *= extent;
      bool contraction = linalg::isaContractionOpInterface(op) || linalg::isaConvolutionOpInterface(op);
      if (contraction)
        result.vectorMacs += work;
      else
        result.vectorElements +=
            work * std::max<int64_t>(1, std::distance(op->getRegion(0).front().begin(), op->getRegion(0).front().end()) - 1);
    });
  if (auto grid = kernel->getAttrOfType<DenseI64ArrayAttr>("dg.grid"))
    for (auto [axis, extent] : llvm::enumerate(grid.asArrayRef().take_front(3)))
      result.grid[axis] = extent;
  return result;
}

// Softmax and concatenation in simpler operations, elementwise ones fused, constants and identities folded.
LogicalResult simplifyGraph(ModuleOp module) {
  if (failed(decomposeSoftmax(module)))
    return failure();
  RewritePatternSet patterns(module.getContext());
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *operand) { return operand->get().hasOneUse(); });
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  PassManager passes(module.getContext());
  passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  return passes.run(module);
}

LogicalResult compileKernel(func::FuncOp kernel, const cpu::Registers &registers, CompiledKernel &line) {
  bool graph = isGraphForm(kernel);
  if (graph) {
    FailureOr<int64_t> programs = cpu::formPrograms(kernel);
    if (failed(programs))
      return kernel.emitError("cannot be cut into programs");
    line.grid = {*programs, 1, 1};
  }
  if (failed(cpu::lowerAccess(kernel)) || failed(cpu::bufferizeKernel(kernel)))
    return failure();
  PassManager passes(kernel.getContext(), func::FuncOp::getOperationName());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(kernel)))
    return failure();
  cpu::formNests(kernel, registers);
  return cpu::makeEntry(kernel, graph);
}

// Diagnostics of the context, shown as they would be, and the first kept for the Error.
class FirstError {
public:
  explicit FirstError(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && text.empty()) {
            llvm::raw_string_ostream out(text);
            if (!isa<UnknownLoc>(diagnostic.getLocation()))
              out << diagnostic.getLocation() << ": ";
            out << diagnostic;
          }
          return failure(); // on to the handlers below
        }) {}
  llvm::Error error() const { return llvm::createStringError(text.empty() ? "a kernel cannot be compiled for the CPU" : text); }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};
} // namespace

llvm::Expected<CompiledModule> dougong::compileForCpu(ModuleOp module) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = cpu::hostMachine();
  if (!machine)
    return machine.takeError();
  return cpu::compileForMachine(module, **machine);
}

llvm::Expected<CompiledModule> cpu::compileForMachine(ModuleOp module, llvm::TargetMachine &machine) {
  FirstError first(module.getContext());
  SmallVector<func::FuncOp> kernels;
  for (func::FuncOp function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (function->hasAttr("dg.kernel"))
      kernels.push_back(function);
    else
      function.erase(); // callers of kernels are the runtime's business
  }
  CompiledModule result{"cpu", {}, {}};
  for (func::FuncOp kernel : kernels)
    result.kernels.push_back(describe(kernel));
  if (failed(simplifyGraph(module)))
    return first.error();
  Registers registers = hostRegisters(machine);
  for (auto [kernel, line] : llvm::zip_equal(kernels, result.kernels))
    if (failed(compileKernel(kernel, registers, line)))
      return first.error();
  if (failed(lowerToLLVM(module)))
    return first.error();
  llvm::Expected<std::string> image = emitObject(module, machine);
  if (!image)
    return image.takeError();
  result.image = std::move(*image);
  return result;
}
