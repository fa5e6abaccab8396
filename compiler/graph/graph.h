// From a model's graph to kernels: storage precision, and which operators share a kernel.
//
// models/ imports a model as one `func.func @main` of linalg on tensors: NHWC, f32 (or the model's own types), static shapes;
// weights are arguments of @main with the attribute `dg.weight = <index> : i64`. The first two functions below turn it, in this
// order, into what the targets compile:
//
//   usePrecision(main, f16)   %1 = conv(%x : f32) ; %2 = relu(%1)      →  conv(f16, f16) -> f32 ; relu: f32 -> f16
//   formKernels(module)       @main { ops }                            →  @main { calls, reshapes }, @k0 … @kN in graph form
//
// Both keep the module valid and never refuse an operation: what they do not know stays in f32 and becomes a kernel of its own.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dougong {

// Attribute of an argument of @main that is a weight: its index, an i64, in the table that models/ keeps beside the module.
inline constexpr llvm::StringLiteral weightAttribute = "dg.weight";
// Attribute of a function that is a kernel (ARCHITECTURE.md, section 4).
inline constexpr llvm::StringLiteral kernelAttribute = "dg.kernel";

// Stores f32 tensors as `storage` (f16 or bf16) wherever they pass from one kernel to the next. Contractions take operands
// of that type and accumulate in f32; elementwise code and reductions compute in f32. The type of an argument with
// `dg.weight` becomes `storage` unless it is a vector, like a bias (models/ converts the data to the type it finds
// here, after formKernels at the latest). Other f32 arguments and the results of `main` keep their type. Integers are left alone.
mlir::LogicalResult usePrecision(mlir::func::FuncOp main, mlir::FloatType storage);

// Outlines the body of @main into private functions @k0, @k1, … with `dg.kernel`, in graph form, and leaves calls and
// tensor.expand_shape/collapse_shape (an alias of a row-major buffer: free). Equal kernels are one function. A kernel's
// location is the fusion of those of its operations, in order, so the names of the model's nodes are found there.
// All results of a kernel are read by another kernel or returned; every kernel has at least one.
mlir::LogicalResult formKernels(mlir::ModuleOp module);

// Every linalg.softmax below `root` in simpler operations: maximum, subtraction and exponential, sum, quotient.
mlir::LogicalResult decomposeSoftmax(mlir::Operation *root);

} // namespace dougong
