// From operator-language source to machine code for a device: the front end and the targets, joined.
#pragma once
#include "compiler/kernel.h"
#include "language/Kernel.h"

namespace dougong {

struct BuiltKernel {
  CompiledModule module;                           // one kernel
  std::vector<language::LaunchArgument> arguments; // what a launch passes, in order
};

struct KernelSource {
  std::string file_name; // for diagnostics
  std::string text;
  std::string function;
  language::Signature signature;
};

// For the NPU that `machine` describes, or for the CPU if it is null. Mistakes in the source come back as the text of all diagnostics.
llvm::Expected<BuiltKernel> build_kernel(const KernelSource &source, const Machine *machine);

// The tile form (ARCHITECTURE.md, section 4) as text.
llvm::Expected<std::string> tile_form_of(const KernelSource &source);

} // namespace dougong
