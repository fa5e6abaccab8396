// Kernels in graph or tile form → tile form → LLVM IR.
//
// A kernel in graph form that does not fit on chip after tiling is tiled again for less memory; one that its author wrote
// in tile form cannot be, and the error says what fills the memory, with the lines that ask for it (D9).
#include "compiler/npu/npu.h"
#include "compiler/npu/KernelEmitter.h"
#include "isa/machine_layout.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace dougong {
namespace npu {
namespace {

constexpr Overlap overlaps[] = {
    {true, 2, 2, 2}, {true, 2, 2, 1}, {true, 2, 1, 1}, {false, 2, 1, 1}, {false, 1, 1, 1},
};

bool isGraphForm(func::FuncOp kernel) { return llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<RankedTensorType>); }

int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() * elementBytes(tensor.getElementType()) : 0;
}

// The work of a kernel as the algorithm states it: in graph form of the whole, in tile form times the grid where that is fixed.
void countWork(func::FuncOp kernel, CompiledKernel &result) {
  bool graph = isGraphForm(kernel);
  int64_t programs = 1;
  if (!graph) {
    auto grid = kernel->getAttrOfType<DenseI64ArrayAttr>("dg.grid");
    if (!grid)
      return;
    programs = grid[0] * grid[1] * grid[2];
  }
  kernel.walk([&](linalg::LinalgOp op) {
    int64_t count = programs;
    for (int64_t size : op.getStaticLoopRanges())
      count *= size;
    for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp())
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        count *= loop.getStaticTripCount().value_or(llvm::APInt(64, 1)).getSExtValue();
    if (isMultiplyAdd(op)) {
      (matchContraction(op) ? result.tensorMacs : result.vectorMacs) += count;
      return;
    }
    for (Operation &inner : op.getBlock()->without_terminator())
      result.vectorElements += isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, linalg::IndexOp>(inner) ? 0 : count;
  });
  if (!graph)
    return;
  for (auto types : {kernel.getArgumentTypes(), kernel.getResultTypes()})
    for (Type type : types)
      result.compulsoryBytes += bytesOf(type);
}

std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

void describe(func::FuncOp kernel, CompiledKernel &result) {
  result.name = kernel.getName().str();
  if (auto grid = kernel->getAttrOfType<DenseI64ArrayAttr>("dg.grid"))
    llvm::copy(grid.asArrayRef(), result.grid.begin());
  for (BlockArgument argument : kernel.getArguments()) {
    KernelArgument description;
    auto memory = dyn_cast<MemRefType>(argument.getType());
    description.memory = bool(memory);
    description.type = typeName(memory ? memory.getElementType() : argument.getType());
    description.written = llvm::any_of(argument.getUsers(), [&](Operation *user) { return dg::writtenMemory(user) == argument; });
    result.arguments.push_back(description);
  }
}

void reportOverflow(func::FuncOp kernel, const Machine &machine, const Layout &layout, int64_t missing) {
  int64_t local = 0;
  std::vector<LocalBuffer> peak = peakBuffers(layout.buffers, false);
  for (const LocalBuffer &buffer : peak)
    local += buffer.bytes;
  bool inLocal = local > machine.lm_bytes() - int64_t(DG_LM_STACK_BYTES);
  if (!inLocal)
    peak = peakBuffers(layout.buffers, true);
  InFlightDiagnostic error = kernel.emitError("kernel '")
                             << kernel.getName() << "' needs " << missing << " bytes more "
                             << (inLocal ? "local memory" : "accumulator memory") << " than a core of '" << machine.name << "' has ("
                             << (inLocal ? machine.lm_bytes() - int64_t(DG_LM_STACK_BYTES) : machine.acc_bytes())
                             << "); make its blocks smaller. At its peak it holds:";
  for (const LocalBuffer &buffer : peak)
    error << "\n  " << buffer.bytes << " bytes: " << buffer.what << " (" << buffer.where << ")";
}

} // namespace

EmitResult emitKernel(func::FuncOp kernel, const Machine &machine, llvm::Module &module, CompiledKernel &result, bool report,
                      int together) {
  int64_t missing = 0;
  for (const Overlap &overlap : overlaps) {
    Layout layout;
    layout.overlap = overlap;
    layout.together = together;
    {
      llvm::Module scratch("measure", module.getContext());
      scratch.setDataLayout(module.getDataLayout());
      if (failed(KernelEmitter(kernel, machine, scratch, layout).run()))
        return {};
    }
    layout.measured = true;
    missing = assignOffsets(layout.buffers, machine.lm_bytes() - DG_LM_STACK_BYTES, machine.acc_bytes());
    if (missing) {
      if (report && &overlap == std::end(overlaps) - 1)
        reportOverflow(kernel, machine, layout, missing);
      continue;
    }
    if (failed(KernelEmitter(kernel, machine, module, layout).run()))
      return {};
    result.localBuffers = peakBuffers(layout.buffers, false);
    llvm::append_range(result.localBuffers, peakBuffers(layout.buffers, true));
    return {true, 0};
  }
  return {false, missing};
}

llvm::Expected<std::vector<CompiledKernel>> emitForNpu(ModuleOp kernels, const Machine &machine, llvm::Module &module, int together) {
  std::string first;
  ScopedDiagnosticHandler handler(kernels.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && first.empty())
      first = describeLocation(diagnostic.getLocation()) + ": " + diagnostic.str();
    return failure();
  });
  auto error = [&](const llvm::Twine &otherwise) { return llvm::createStringError(first.empty() ? otherwise.str() : first); };

  std::vector<CompiledKernel> results;
  for (auto kernel : kernels.getOps<func::FuncOp>()) {
    if (!kernel->hasAttr("dg.kernel"))
      continue;
    CompiledKernel &result = results.emplace_back();
    countWork(kernel, result);
    bool graph = isGraphForm(kernel), done = false;
    for (double budget : {1.0, 0.75, 0.5, 0.35, 0.25, 0.15}) {
      OwningOpRef<ModuleOp> single = ModuleOp::create(kernel.getLoc());
      single->push_back(kernel->clone());
      Machine tiled = machine;
      tiled.core.lm_kib = int(machine.core.lm_kib * budget);
      tiled.core.acc_kib = int(machine.core.acc_kib * budget);
      if (llvm::Error tiling = tileForNpu(*single, tiled))
        return tiling;
      if (failed(prepare(*single)))
        return error("kernel '" + kernel.getName() + "' could not be prepared for the NPU");
      func::FuncOp prepared = *single->getOps<func::FuncOp>().begin();
      EmitResult emitted = emitKernel(prepared, machine, module, result, !graph || budget == 0.15, together);
      if (!emitted.ok && (!emitted.missingBytes || !graph))
        return error("kernel '" + kernel.getName() + "' could not be compiled for the NPU");
      if (!emitted.ok)
        continue;
      describe(prepared, result);
      done = true;
      break;
    }
    if (!done)
      return error("kernel '" + kernel.getName() + "' does not fit in the local memory of '" + machine.name + "'");
  }
  return results;
}

} // namespace npu
} // namespace dougong
