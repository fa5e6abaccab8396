// The dg dialect: programs of a grid, and their structured access to global memory. Start reading at DgOps.td.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/DgDialect.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/DgOps.h.inc"

namespace dougong::dg {

// The global memory that an operation writes, and that it reads; null: none.
mlir::Value writtenMemory(mlir::Operation *op);
mlir::Value readMemory(mlir::Operation *op);

} // namespace dougong::dg
