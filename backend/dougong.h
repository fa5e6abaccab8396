// The backend's public face: LLVM modules in, machine code of the NPU's cores out.
//
// compiler/npu and the command-line tools use this and nothing else of backend/. The target is looked up by name
// ("dougong"), never by triple: the stock RISC-V target claims riscv64 too (D3).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace llvm {
class Module;
class raw_pwrite_stream;
} // namespace llvm

namespace dougong {

// The triple and the data layout (clang's for riscv64) of every module that is to be compiled.
inline constexpr const char *targetTriple = "riscv64-dougong-elf";
inline constexpr const char *targetDataLayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128";

// Registers the target, its assembler and disassembler by name. May be called more than once.
void initializeDougongTarget();

// A machine for `optLevel` 0..3. Calls initializeDougongTarget().
std::unique_ptr<llvm::TargetMachine> createDougongMachine(int optLevel);

// The LLVM IR pipeline for `optLevel` (0: none of it), with the target's costs. Sets the module's triple and data layout.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, int optLevel);

// Machine code of `module` on `out`, as assembly or as an ELF object. The module is consumed.
llvm::Error emitModule(llvm::Module &module, llvm::TargetMachine &machine, llvm::raw_pwrite_stream &out, llvm::CodeGenFileType type);

// optimizeModule, then emitModule: the bytes of an ELF object. The module is consumed. What cannot be compiled (an
// inline assembly constraint, a frame larger than the function's attribute "warn-stack-size" allows) comes back as the Error.
llvm::Expected<std::string> compileToObject(llvm::Module &module, int optLevel = 2);

// Links objects of kernels into an ELF executable for the device: text and constants from DG_DRAM_BASE on, no entry
// point and no C library, every function kept and in the symbol table. An undefined symbol is an error that names it.
llvm::Expected<std::string> linkKernels(llvm::ArrayRef<std::string> objects);

} // namespace dougong
