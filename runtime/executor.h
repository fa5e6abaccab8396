// Runs one specialisation of an artifact on a pair of devices: an NPU (if it has steps for one) and the CPU.
//
// Memory lies on the NPU where there is one (the CPU's kernels see it through `Device::map`), else on the CPU: nothing is
// copied between the two. Weights are loaded once, when the executor is made, and executors that share them have one copy.
#pragma once
#include "runtime/artifact.h"
#include "runtime/constants.h"
#include "runtime/device.h"
#include <functional>

namespace dougong {

// A dense row-major tensor in host memory, seen or owned.
struct Tensor {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  Tensor() = default;
  Tensor(ElementType type, std::vector<int64_t> shape) : type(type), shape(std::move(shape)) {
    bytes.resize(element_count(this->shape) * size_in_bytes(type));
  }
  template <typename T> T *as() { return reinterpret_cast<T *>(bytes.data()); }
  template <typename T> const T *as() const { return reinterpret_cast<const T *>(bytes.data()); }
};

struct StepProfile {
  uint32_t step = 0; // index in Specialisation::steps
  Statistics statistics;
};

struct RunProfile {
  std::vector<StepProfile> steps;
  double host_seconds = 0; // of the whole run, copies of inputs and outputs included
};

class Executor {
public:
  // `npu` may be null if no step needs it. Fails if the artifact was compiled for another machine or for a CPU with features this one
  // lacks. Constants that stand in `shared` already are not loaded again; null: this executor has its own.
  static llvm::Expected<std::unique_ptr<Executor>> create(std::shared_ptr<const Artifact> artifact, size_t specialisation,
                                                          std::shared_ptr<Device> npu, std::shared_ptr<Device> cpu,
                                                          SharedConstants *shared = nullptr);
  ~Executor();

  const Specialisation &specialisation() const;
  const Artifact &artifact() const;
  std::function<void(size_t done, size_t all)> progress; // if set, called before each step and once after the last
  std::function<llvm::Error(size_t step)> after_step;    // if set, called after each step; peek() then shows what the step read and wrote
  // A buffer's bytes as the last step left them; valid until the next step.
  llvm::Expected<std::span<const uint8_t>> peek(uint32_t buffer) const;
  // Inputs in the order of the ports, of their types and shapes. One run at a time.
  llvm::Expected<std::vector<Tensor>> run(std::span<const Tensor> inputs, RunProfile *profile = nullptr);

private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace dougong
