// Machine code for the kernels of one model: each on the device that suits it, in parallel.
#pragma once
#include "compiler/kernel.h"
#include "models/compile.h"

namespace dougong::models {

struct KernelCode {
  CompiledModule code;
  std::string reason; // why on the CPU although an NPU was wanted
};

// One per function of `kernels`, in order; `module` is what they stand in.
std::vector<KernelCode> compile_kernels(llvm::ArrayRef<mlir::func::FuncOp> kernels, const CompileOptions &options);

// Multiply-adds of the contractions and convolutions in `op`.
int64_t multiply_adds(mlir::Operation *op);

} // namespace dougong::models
