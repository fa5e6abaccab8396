// arith and math operations as LLVM IR, for one element or for a vector of them: the types of the operands decide.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/IR/IRBuilder.h"

namespace dougong::npu {

inline constexpr int vectorLanes = 32;

// The LLVM type of an element (index: i64), or of `lanes` of them.
llvm::Type *elementType(mlir::Type type, llvm::LLVMContext &context, int lanes = 1);

// A value in every lane; vectors stay as they are.
llvm::Value *splat(llvm::IRBuilderBase &builder, llvm::Value *value, int lanes);

// The result of `op`, or null for an operation that is not elementwise or whose type the NPU has no code for. Operands
// may mix single elements and vectors.
llvm::Value *emitElementwise(llvm::IRBuilderBase &builder, mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);

// A constant's bits, f16 and bf16 included.
llvm::Constant *emitConstant(mlir::Attribute attribute, llvm::LLVMContext &context);

} // namespace dougong::npu
