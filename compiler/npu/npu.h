// The stages of compileForNpu (compiler/kernel.h), for its tests and for dumps.
#pragma once
#include "compiler/kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/IR/Module.h"

namespace dougong::npu {

// Tile form → tile form made of what the emitter knows: linalg.generic with fused elementwise chains, contractions, slices.
mlir::LogicalResult prepare(mlir::ModuleOp module);

// How a kernel's buffers failed to fit, in bytes beyond the capacity; 0 where the failure is another one.
struct EmitResult {
  bool ok = false;
  int64_t missingBytes = 0;
};

// How many vectors elementwise code and window sums take together at most: more hide latencies, and fill registers.
inline constexpr int mostTogether = 8;

// One prepared kernel as a function of `module`. Fills in `kernel`'s local buffers. A kernel that does not fit is reported
// only if `report`.
EmitResult emitKernel(mlir::func::FuncOp kernel, const Machine &machine, llvm::Module &module, CompiledKernel &result, bool report,
                      int together = mostTogether);

// All kernels as LLVM IR, ready for the backend. `kernels` is left as it is.
llvm::Expected<std::vector<CompiledKernel>> emitForNpu(mlir::ModuleOp kernels, const Machine &machine, llvm::Module &module,
                                                       int together = mostTogether);

} // namespace dougong::npu
