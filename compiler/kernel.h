// What a compiler target takes and gives: kernels in, machine code and a table of what is in it out.
//
// Shapes and units: sizes in bytes, work in multiply-adds of the algorithm (padding and halos not counted).
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dougong {

struct Machine;

// One argument of a kernel, in the order of its launch slots.
struct KernelArgument {
  std::string type;     // "f16", "i32", …; for memory the element type
  bool memory = false;  // a pointer to global memory, else a scalar
  bool written = false; // memory that the kernel stores to
};

// Bytes of on-chip memory a kernel holds at its peak, by the source that wants them (D9).
struct LocalBuffer {
  std::string what;  // "tile of the left operand, 128x64xf16, 2 slots"
  std::string where; // source location
  int64_t bytes = 0;
};

struct CompiledKernel {
  std::string name;              // symbol in the image
  std::array<int64_t, 3> grid{}; // programs; all zero: the launch gives it
  std::vector<KernelArgument> arguments;
  int64_t tensorMacs = 0;      // multiply-adds put on the tensor engine, over the whole grid (0 where the grid is not fixed)
  int64_t vectorMacs = 0;      // multiply-adds of contractions put on the vector unit
  int64_t vectorElements = 0;  // elements passed through elementwise and reduction code, one per scalar operation
  int64_t compulsoryBytes = 0; // every distinct byte read or written in global memory, once
  std::vector<LocalBuffer> localBuffers;
};

struct CompiledModule {
  std::string target; // "npu" or "cpu"
  std::string image;  // npu: an ELF executable for the device; cpu: a relocatable host object file
  std::vector<CompiledKernel> kernels;
};

// Every function of `module` with the attribute `dg.kernel`, in graph or tile form (ARCHITECTURE.md, section 4), is
// compiled. Diagnostics go through the module's context; the Error repeats the first. The module is consumed.
llvm::Expected<CompiledModule> compileForNpu(mlir::ModuleOp module, const Machine &machine);
llvm::Expected<CompiledModule> compileForCpu(mlir::ModuleOp module);

// Graph form → tile form in place, for the NPU `machine` describes (compiler/tile); a function in tile form is left as it is.
llvm::Error tileForNpu(mlir::ModuleOp module, const Machine &machine);

// Makes every dialect that either form uses known to `context`.
void registerKernelDialects(mlir::MLIRContext &context);

} // namespace dougong
