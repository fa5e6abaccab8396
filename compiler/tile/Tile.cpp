// Graph form → tile form, kernel by kernel (see tile.h).
#include "compiler/tile/tile.h"
#include "compiler/kernel.h"
#include "compiler/tile/Emit.h"
#include "compiler/tile/Normalize.h"
#include "compiler/tile/Search.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace dougong {

bool isTileForm(func::FuncOp kernel) {
  return kernel.getNumResults() == 0 && llvm::none_of(kernel.getArgumentTypes(), [](Type type) { return isa<TensorType>(type); });
}

LogicalResult tileKernel(func::FuncOp kernel, const Machine &machine, double budget) {
  // On a copy beside it, which takes its place in the end.
  func::FuncOp normal = kernel.clone();
  kernel->getBlock()->getOperations().insert(std::next(kernel->getIterator()), normal);
  normalize(normal);
  Plan plan;
  if (!searchPlan(normal, machine, budget, plan)) {
    Location loc = plan.refused ? plan.refused->getLoc() : kernel.getLoc();
    normal.erase();
    return emitError(loc) << "cannot be tiled for the NPU: " << plan.reason;
  }
  func::FuncOp tiled = emit(normal, plan);
  kernel.erase();
  IRRewriter rewriter(tiled.getContext());
  DominanceInfo dominance(tiled);
  eliminateCommonSubExpressions(rewriter, dominance, tiled);
  return success();
}

llvm::Error tileForNpu(ModuleOp module, const Machine &machine) {
  std::string first;
  ScopedDiagnosticHandler record(module.getContext(), [&](Diagnostic &diagnostic) {
    if (first.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      first = diagnostic.str();
    return failure(); // others are to see it too
  });
  bool fine = true;
  for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (kernel->hasAttr("dg.kernel") && !isTileForm(kernel))
      fine &= succeeded(tileKernel(kernel, machine));
  return fine ? llvm::Error::success() : llvm::createStringError(first);
}

} // namespace dougong
