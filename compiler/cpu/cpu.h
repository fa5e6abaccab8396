// The steps from a kernel to host code, in the order in which `Compile.cpp` runs them. Each works on one function unless it
// says otherwise, and each file's header comment shows the IR before and after.
#pragma once
#include "compiler/kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Target/TargetMachine.h"

namespace dougong::cpu {

// The vector registers of the host: what register tiles are sized by.
struct Registers {
  int bits = 256; // of one register
  int count = 16;
  bool masks = false; // loads and stores under a mask cost no more than others
};

// The target machine for the features detected on this host. `without`: features to leave unused, "avx512f,avx512bw" (tests).
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> hostMachine(llvm::StringRef without = "");
Registers hostRegisters(const llvm::TargetMachine &machine);

// compileForCpu for a given machine.
llvm::Expected<CompiledModule> compileForMachine(mlir::ModuleOp module, llvm::TargetMachine &machine);

// Graph form → the tile of one program, on memrefs (Programs.cpp). Returns how many programs the grid has.
mlir::FailureOr<int64_t> formPrograms(mlir::func::FuncOp kernel);

// dg.load, dg.store, dg.gather, dg.scatter → loops over memrefs (Access.cpp).
mlir::LogicalResult lowerAccess(mlir::func::FuncOp kernel);

// Tensors → memrefs; a tile carried by a loop stays in its buffer (Bufferize.cpp).
mlir::LogicalResult bufferizeKernel(mlir::func::FuncOp kernel);

// linalg operations on memrefs → loops around register tiles (Nest.cpp). What does not fit the scheme is left.
void formNests(mlir::func::FuncOp kernel, const Registers &registers);

// The signature of isa/machine_layout.h, the loop over programs, and one block of memory for all temporaries (Entry.cpp).
// `disjoint`: the memrefs among the arguments do not overlap (graph form promises that).
mlir::LogicalResult makeEntry(mlir::func::FuncOp kernel, bool disjoint);

// The module, of functions made by makeEntry, → LLVM dialect → a relocatable object (Object.cpp).
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);
llvm::Expected<std::string> emitObject(mlir::ModuleOp module, llvm::TargetMachine &machine);

} // namespace dougong::cpu
