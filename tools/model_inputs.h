// Inputs of a model from the command line: .npy files, or random numbers. What `run` and `compare` have in common.
#pragma once
#include "tools/model_arguments.h"

namespace dougong {

struct InputArguments {
  std::vector<std::string> files, shapes;
  bool random = false;
  uint64_t seed = 1;
};

// Adds --input, --random, --seed and --shape.
void add_input_options(CLI::App &app, InputArguments &arguments);

// Every input of the session, or an error that names the one that is missing, unknown or of a wrong shape.
llvm::Expected<std::map<std::string, Tensor>> gather_inputs(const models::Session &session, const InputArguments &arguments);

// "x f32 [N, 3, 640, 640], y …"
std::string names_of(const std::vector<models::SessionPort> &ports);

} // namespace dougong
