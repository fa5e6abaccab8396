// Is it the hardware, the compiler or the model? The NPU's fused operators one by one against the CPU in f32, each from the
// inputs that the NPU had: what differs beyond the rounding of its type is that operator's own doing.
#pragma once
#include "runtime/executor.h"
#include <map>
#include <string>
#include <vector>

namespace dougong::models {

struct OperatorDifference {
  std::string name; // as reports call it
  std::vector<std::string> nodes;
  double largest = 0;    // |value| of the f32 result
  double difference = 0; // |NPU - f32|, the worst element's
  // The worst element's difference in units of half the spacing of its type at max(|value|, largest / 256): 1 is what one
  // correct rounding may cost; inner values that are stored in that type cost more. 0 for results that are equal.
  double roundings = 0;
  uint64_t elements = 0;
};

// Every step that runs on the NPU, in order. `inputs` as for Session::run.
llvm::Expected<std::vector<OperatorDifference>> compare_operators(const std::string &model, const std::string &machine,
                                                                  const std::map<std::string, Tensor> &inputs,
                                                                  const std::function<void(const std::string &)> &progress);

} // namespace dougong::models
