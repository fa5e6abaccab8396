// An imported model → kernels on devices → one specialisation of an artifact.
//
//   import → precision → kernels → device of each kernel → code → places in memory → steps
//
// A kernel that the NPU's compiler refuses runs on the CPU, and the step says why. NPU and CPU work in one memory, so a value
// has one place whoever writes it. Reshapes are further names of a place.
#pragma once
#include "models/import.h"
#include "runtime/artifact.h"
#include <functional>

namespace dougong {
struct Machine;
}

namespace dougong::models {

struct CompileOptions {
  std::string device = "npu";       // "npu", "cpu", "auto"
  const Machine *machine = nullptr; // the NPU's; needed for "npu" and "auto"
  unsigned threads = 0;             // that compile; 0: one a core of the host
  std::function<void(const std::string &)> progress;
  // If set, called with each kernel in graph form, in the order of Specialisation::kernels, before any is compiled.
  std::function<void(mlir::func::FuncOp)> kernel_formed;
};

// Adds the constants to `artifact` and gives the specialisation. Throws ModelError.
Specialisation compile_model(ImportedModel model, const CompileOptions &options, Artifact &artifact);

// Places for values that live from step `first` to step `last`, both included, so that none that live together overlap.
struct Lifetime {
  uint64_t bytes;
  size_t first, last;
};
// Offsets, multiples of 128; `total` becomes the size of the arena.
std::vector<uint64_t> place_in_arena(const std::vector<Lifetime> &values, uint64_t &total);

} // namespace dougong::models
