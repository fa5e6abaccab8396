// The front end's interface: a file, a function in it, and the types of its arguments in; a module in tile form out.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace dougong::language {

// What is known of a kernel's arguments at compile time, one text a parameter, as on the command line:
//   "*fp32"   a pointer to global memory        "*fp16:16"  … and its alignment in bytes (a hint)
//   "i32"     an integer, "fp32" a float, given at launch
//   "128", "0.5", "True", "None", "'relu'"      a compile-time constant (tl.constexpr)
struct Signature {
  std::vector<std::string> positional;
  std::map<std::string, std::string> named; // by parameter name; also for parameters beyond the positional ones

  // "*fp32, *fp32, i32, BLOCK=1024"
  static Signature parse(llvm::StringRef text);
};

// One argument that is passed at launch, in order; the constants are gone.
struct LaunchArgument {
  std::string name;
  std::string type; // "*fp32", "i32", …
  bool pointer = false;
};

struct Kernel {
  mlir::OwningOpRef<mlir::ModuleOp> module; // one function in tile form, named as in the source
  std::vector<LaunchArgument> arguments;
};

// Compiles `function` of the source `text`; `fileName` is what diagnostics and debug locations call it. The dialects must be registered in
// `context`. The error's message is the full report: every diagnostic with its place and line.
llvm::Expected<Kernel> compileKernel(mlir::MLIRContext &context, std::string fileName, std::string text, const std::string &function,
                                     const Signature &signature);

// The names of the kernels and device functions that a source defines (those with a `jit` decorator).
std::vector<std::string> functionsOf(std::string fileName, std::string text);

} // namespace dougong::language
